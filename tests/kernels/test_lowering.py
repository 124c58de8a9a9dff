"""Elements of arrays, in compiled functions and in the interpreter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.kernels.compile import INTERPRETED, inline, kernel
from tests.kernels.fresh import Forks


@inline
def _mixed(a, b, c, i, j, k):  # type: ignore[no-untyped-def]
    """Reads and writes elements by variables, by constants from either end, and by tuples of three."""
    c[i, j, k] = a[i, j] + 2 * b[k]
    c[0, -1, k] += a[-1, j] * b[-1]
    c[i, j, -1] -= a[i, 1]
    b[k] = c[i, j, k] + c[-1, -2, 0]
    return a[i, j] * b[k] + c[i, j, k]


@kernel
def _compiled(a, b, c, i, j, k):  # type: ignore[no-untyped-def]
    return _mixed(a, b, c, i, j, k)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "integers": lambda x: x.astype(np.int32),
}


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("layout", LAYOUTS)
@given(seed=st.integers(0, 2**20))
def test_elements_are_those_of_numpy(layout: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 6, size=3)
    made = LAYOUTS[layout]
    a, b, c = (made(rng.integers(-9, 10, size=size).astype(float)) for size in (shape[:2], shape[2], shape))
    index = [int(rng.integers(size)) for size in shape]
    theirs = [made(np.array(x)) for x in (a, b, c)]
    assert _compiled(a, b, c, *index) == _mixed.py_func(*theirs, *index)
    for ours, other in zip((a, b, c), theirs, strict=True):
        np.testing.assert_array_equal(ours, other)


OUTSIDE = """
import numpy as np
from bunraku.kernels.compile import inline, kernel
@inline
def element(x, i, j):
    return x[i, j]
@kernel
def of(x, i, j):
    return element(x, i, j)
x = np.arange(6.0).reshape(2, 3)
print(of(x, 1, 2))
for i, j in ((-1, 0), (0, -1), (2, 0), (0, 3)):
    try:
        print(of(x, i, j))
    except IndexError:
        print("outside")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")
def test_indices_outside_are_found_on_request(forks: Forks, tmp_path: Path) -> None:
    """By NUMBA_BOUNDSCHECK=1; negative ones included."""
    (tmp_path / "outside.py").write_text(OUTSIDE)
    own = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_BOUNDSCHECK": "1"}
    done = forks.run(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import outside", tmp_path, own)
    assert done.stdout.split() == ["5.0", *["outside"] * 4], done.stderr
