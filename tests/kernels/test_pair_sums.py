"""Sums over two parts of a row, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.kernels.compile import kernel
from bunraku.kernels.pair_sums import (
    add_pairs_1,
    add_pairs_2,
    add_pairs_3,
    pair_sums_1,
    pair_sums_2,
    pair_sums_3,
)


@kernel
def _sums_and_adds(A, Q, out, added):
    out[0] = pair_sums_1(A, 1, Q, 0, 2)[0]
    out[1], out[2] = pair_sums_2(A, 0, Q, 2, 1)
    out[3], out[4], out[5] = pair_sums_3(A, 1, Q, 1, 0)
    add_pairs_1(added, 0, 2, A, 1, (0.5,))
    add_pairs_2(added, 2, 1, A, 0, (2.0, -1.0))
    add_pairs_3(added, 1, 0, A, 1, (1.0, 3.0, -2.0))


@pytest.mark.parametrize("seed", range(3))
def test_sums_and_additions_are_those_of_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, Q, start, out = rng.normal(size=(8, 8)), rng.normal(size=(3, 8)), rng.normal(size=(3, 8)), np.zeros(6)
    added = start.copy()
    _sums_and_adds(A, Q, out, added)

    def total(k: int, a: int, b: int) -> float:
        return float(A[2 * k] @ Q[a] + A[2 * k + 1] @ Q[b])

    expected = [total(1, 0, 2), total(0, 2, 1), total(1, 2, 1), total(1, 1, 0), total(2, 1, 0), total(3, 1, 0)]
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-14)
    for k, a, b, factor in ((1, 0, 2, 0.5), (0, 2, 1, 2.0), (1, 2, 1, -1.0), (1, 1, 0, 1.0), (2, 1, 0, 3.0), (3, 1, 0, -2.0)):
        start[a] += factor * A[2 * k]
        start[b] += factor * A[2 * k + 1]
    np.testing.assert_allclose(added, start, rtol=1e-13, atol=1e-14)
