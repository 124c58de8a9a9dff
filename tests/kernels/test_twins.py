"""Compiled kernels and the same lines in the interpreter give the same numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.kernels import twins

ROOT = Path(__file__).parents[2]
SOURCES = str(Path(twins.bunraku.__file__).parents[1])


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    file = tmp_path_factory.mktemp("twins") / "interpreted.npz"
    own = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": SOURCES}
    subprocess.run([sys.executable, "-m", "tests.kernels.twins", str(file)], cwd=ROOT, env=own, check=True)
    with np.load(file) as arrays:
        return dict(arrays)


def test_one_is_compiled_and_the_other_is_not(interpreted: dict[str, np.ndarray]) -> None:
    assert interpreted["interpreted"]
    assert not twins.INTERPRETED
    assert len(interpreted) > 2 * len(twins.PARTS)


@pytest.mark.parametrize("part", twins.PARTS, ids=lambda part: part.__name__)
def test_the_same_numbers(interpreted: dict[str, np.ndarray], part: twins.Part) -> None:
    """But for rounding: the compiler may change the order of sums."""
    for name, values in part().items():
        ours, theirs = np.asarray(values), interpreted[f"{part.__name__}.{name}"]
        assert ours.size > 0
        assert np.isfinite(ours).all()
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=name)
