"""Small dense linear systems inside kernels, without calls of BLAS: one Cholesky factorization, one pivoted solve.

The sparse elimination of a simulation step is in `dynamics.kkt`.
"""

from __future__ import annotations

import math

from bunraku.kernels.blocks import add_row
from bunraku.kernels.compile import bare, woven


@bare
def cholesky(A, n):
    """The lower Cholesky factor of the leading n × n block of A, in place, with its diagonal inverted. Reads the lower half only.

    Returns whether A is positive definite. Where it is not, pivots below rounding error are replaced by small positive numbers,
    so that `cholesky_solve` still gives a descent direction.
    """
    definite = True
    for j in range(n):
        pivot = A[j, j]
        least = 1e-14 * pivot  # a smaller pivot is rounding error
        for k in range(j):
            pivot -= A[j, k] * A[j, k]
        if not pivot > least:
            definite = False
        inverse = 1.0 / math.sqrt(max(pivot, least, 1e-300))
        A[j, j] = inverse
        for i in range(j + 1, n):
            x = A[i, j]
            for k in range(j):
                x -= A[i, k] * A[j, k]
            A[i, j] = x * inverse
    return definite


@bare
def cholesky_solve(L, n, b):
    """b becomes A⁻¹ b, for the factor L of A that `cholesky` left."""
    for i in range(n):
        x = b[i]
        for k in range(i):
            x -= L[i, k] * b[k]
        b[i] = x * L[i, i]
    for i in range(n - 1, -1, -1):
        x = b[i] * L[i, i]
        b[i] = x
        for k in range(i):  # by rows of L, which are contiguous in memory
            b[k] -= L[i, k] * x


@bare
def cholesky_solve_rows(L, n, Y):
    """Y (n, w) becomes A⁻¹ Y, for the factor L of A that `cholesky` left; works on whole rows of Y."""
    w = Y.shape[1]
    for i in range(n):
        for k in range(i):
            a = L[i, k]
            for c in range(w):
                Y[i, c] -= a * Y[k, c]
        a = L[i, i]
        for c in range(w):
            Y[i, c] *= a
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            a = L[k, i]
            for c in range(w):
                Y[i, c] -= a * Y[k, c]
        a = L[i, i]
        for c in range(w):
            Y[i, c] *= a


@woven
def pivoted_solve(B, m):
    """Solves M x = b for B = [M, b], (m, m + 1), with partial pivoting; x replaces b, and M is overwritten.

    Returns False where M is singular; the last column is then meaningless.
    """
    for a in range(m):
        best = a
        for b in range(a + 1, m):
            if abs(B[b, a]) > abs(B[best, a]):
                best = b
        if not abs(B[best, a]) > 0.0:
            return False
        if best != a:
            for k in range(a, m + 1):
                B[a, k], B[best, k] = B[best, k], B[a, k]
        inverse = 1.0 / B[a, a]
        for b in range(a + 1, m):
            f = B[b, a] * inverse
            if f != 0.0:
                for k in range(a + 1, m + 1):
                    B[b, k] -= f * B[a, k]
    for a in range(m - 1, -1, -1):
        x = B[a, m]
        for b in range(a + 1, m):
            x -= B[a, b] * B[b, m]
        B[a, m] = x / B[a, a]
    return True


@bare
def padded_solve(B, m):
    """`pivoted_solve` of a B whose rows are padded to a multiple of eight numbers, eight at a time. What is below the diagonal,
    and behind the right side, becomes meaningless."""
    for a in range(m):
        best = a
        for b in range(a + 1, m):
            if abs(B[b, a]) > abs(B[best, a]):
                best = b
        if not abs(B[best, a]) > 0.0:
            return False
        if best != a:
            for k in range(a, m + 1):
                B[a, k], B[best, k] = B[best, k], B[a, k]
        inverse = 1.0 / B[a, a]
        for b in range(a + 1, m):
            f = B[b, a] * inverse
            if f != 0.0:
                add_row(B, b, -f, B, a, a + 1, m + 1)
    for a in range(m - 1, -1, -1):
        x = B[a, m]
        for b in range(a + 1, m):
            x -= B[a, b] * B[b, m]
        B[a, m] = x / B[a, a]
    return True
