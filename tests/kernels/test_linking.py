from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bunraku.kernels.compile import INTERPRETED, inline, kernel
from bunraku.kernels.linking import Linked
from tests.kernels.fresh import Forks

# What an inline says, it says through an object of numba's that lies in memory, where machine code has to find it.
SAYS = """
from bunraku.kernels.compile import inline, kernel
@inline
def half(x):
    print("half of", x)
    return 0.5 * x
@kernel
def quarter(x):
    return 0.5 * half(x)
@kernel
def eighth(x):
    return 0.25 * half(x)
print(quarter(8.0))
print(eighth(16.0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")
def test_two_kernels_take_the_same_function_in(forks: Forks, tmp_path: Path) -> None:
    (tmp_path / "says.py").write_text(SAYS)
    own = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import says"
    for _ in range(2):  # compiled, then from the disk
        done = forks.run(program, tmp_path, own)
        assert done.stdout.split("\n")[:4] == ["half of 8.0", "2.0", "half of 16.0", "2.0"], done.stderr
    assert "compiling" not in done.stderr
    for kept in (tmp_path / "cache").rglob("says.quarter*.nbc"):
        kept.unlink()  # its kernel is compiled again, with the inline from the disk
    done = forks.run(program, tmp_path, own)
    assert done.stdout.split("\n")[:2] == ["half of 8.0", "2.0"], done.stderr


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_only_kernels_become_machine_code() -> None:
    @inline
    def third(x: float) -> float:
        return x / 3.0

    @kernel
    def ninth(x: float) -> float:
        return third(x) / 3.0

    assert ninth(18.0) == 2.0
    (whole,), (part,) = ninth.overloads.values(), third.overloads.values()  # type: ignore[attr-defined]
    assert isinstance(part.library, Linked)
    assert not isinstance(whole.library, Linked)
    assert b"ninth" in whole.library._get_compiled_object()
