"""A small linear program: min c·x with M x = b, x ≥ 0. Two phases, Bland's rule against cycling; for a handful of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.kernels import pivot

Array = NDArray[np.float64]


def least(cost: Array, M: Array, b: Array) -> Array | None:
    """The best x, or None where nothing fulfils the equations (or the program has no bottom)."""
    rows, n = M.shape
    sign = np.where(b < 0.0, -1.0, 1.0)
    table = np.zeros((rows + 2, n + rows + 1))
    table[:rows, :n] = sign[:, None] * M
    table[:rows, n : n + rows] = np.eye(rows)
    table[:rows, -1] = sign * b
    table[rows, :n] = cost
    table[rows + 1, :n] = -table[:rows, :n].sum(0)  # phase one: how much is still missing
    table[rows + 1, -1] = -table[:rows, -1].sum()
    basis = np.arange(n, n + rows)
    if not pivot(table, basis, rows + 1, n + rows) or table[rows + 1, -1] < -1e-9:
        return None
    if not pivot(table, basis, rows, n):
        return None
    x = np.zeros(n + rows)
    x[basis] = table[:rows, -1]
    return x[:n]
