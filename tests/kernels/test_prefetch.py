"""Memory that is brought near stays as it is."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from bunraku.kernels.prefetch import bring_near


@numba.njit
def near(A):  # type: ignore[no-untyped-def]
    bring_near(A)


@pytest.mark.parametrize("shape", [(0, 5), (1, 1), (7, 9), (80, 80)])
def test_nothing_changes(shape: tuple[int, ...]) -> None:
    A = np.random.default_rng(0).normal(size=shape)
    before = A.copy()
    near(A)
    np.testing.assert_array_equal(A, before)


def test_the_processor_is_asked() -> None:
    near(np.zeros((3, 3)))
    code = near.inspect_llvm(near.signatures[0])
    assert "call void @llvm.prefetch" in code


def test_an_array_with_gaps_is_refused() -> None:
    with pytest.raises(TypingError, match="without gaps"):
        near(np.zeros((8, 8))[:, ::2])
