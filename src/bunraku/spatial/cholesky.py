"""Small positive definite systems inside kernels, without a call of BLAS for each."""

from __future__ import annotations

import numpy as np

from bunraku.kernels.compile import inline


@inline
def cholesky(A, n):
    """The lower factor in place; false where A is not positive definite."""
    largest = 0.0
    for j in range(n):
        largest = max(largest, abs(A[j, j]))
    floor = 1e-14 * largest
    for j in range(n):
        x = A[j, j]
        for k in range(j):
            x -= A[j, k] * A[j, k]
        if not x > floor:
            return False
        d = np.sqrt(x)
        A[j, j] = d
        for i in range(j + 1, n):
            y = A[i, j]
            for k in range(j):
                y -= A[i, k] * A[j, k]
            A[i, j] = y / d
    return True


@inline
def solve_rows(A, n, Y):
    """Y ← (A Aᵀ)⁻¹ Y for the lower factor A; rows of Y are updated as wholes."""
    w = Y.shape[1]
    for i in range(n):
        for k in range(i):
            a = A[i, k]
            for c in range(w):
                Y[i, c] -= a * Y[k, c]
        a = 1.0 / A[i, i]
        for c in range(w):
            Y[i, c] *= a
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            a = A[k, i]
            for c in range(w):
                Y[i, c] -= a * Y[k, c]
        a = 1.0 / A[i, i]
        for c in range(w):
            Y[i, c] *= a
