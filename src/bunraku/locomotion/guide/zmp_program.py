"""The quadratic program of a segment: knots of the ZMP, under relaxed boundary conditions and within the support polygons.

The initial state is given. Weighted in the cost: final position and velocity, first and last knot, the knots' references and their
differences (boundary-condition relaxation, *guiding* ref. 12). Hard constraints: the ZMP is inside the polygon of its phase at
every knot, and hence between knots; it starts where it was, up to a small jump; and the final capture point is inside the last
polygon. If the segment ends at rest, the capture point is also near the ZMP, so that holding the ZMP there is always a feasible
stop. If it ends in motion, the last knot's weight keeps the ZMP below the centre of mass, and the stop is planned by the caller.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.locomotion.guide.com_zmp import GRAVITY, heights, responses


class SegmentWeights(NamedTuple):
    """Weights of the relaxed boundary conditions."""

    goal: float = 300.0
    """Weight of the final position."""
    rest: float = 300.0
    """Weight of the error of the final velocity, divided by ω."""
    first: float = 3.0
    """Weight of the first knot at the current ZMP."""
    last: float = 3.0
    """Weight of the last knot under the centre of mass."""
    reference: float = 0.02
    """Weight of every knot at its reference."""
    difference: float = 0.3
    """Weight of the differences between knots."""


@inline
def _add(H, f, row, constant, weight, b):
    """Adds weight · (row·knots + constant − b)² for both axes."""
    n = row.shape[0]
    for i in range(n):
        if row[i] != 0.0:
            for j in range(n):
                H[i, j] += weight * row[i] * row[j]
            for a in range(2):
                f[a, i] += weight * row[i] * (constant[a] - b[a])


@inline
def _cost(ticks, X, V, w, state, goal, first, reference, weights, H, f):
    """Hessian H of the cost of one axis (the same for both), and gradients f (2, n)."""
    n = ticks.shape[0]
    row, x, v = np.empty(n), np.empty(2), np.empty(2)
    H[:] = 0.0
    f[:] = 0.0
    for a in range(2):
        x[a] = X[n - 1, n] * state[0, a] + X[n - 1, n + 1] * state[1, a]
        v[a] = V[n - 1, n] * state[0, a] + V[n - 1, n + 1] * state[1, a]
    zero = np.zeros(2)
    _add(H, f, X[n - 1, :n], x, weights.goal, goal[0])
    _add(H, f, V[n - 1, :n], v, weights.rest / (w * w), goal[1])
    for i in range(n):
        row[i] = -X[n - 1, i]
    row[n - 1] += 1.0
    _add(H, f, row, -x, weights.last, zero)
    for i in range(n):
        row[:] = 0.0
        row[i] = 1.0
        _add(H, f, row, zero, weights.reference, reference[i])
        if i == 0:
            _add(H, f, row, zero, weights.first, first)
        else:
            row[i - 1] = -1.0
            _add(H, f, row, zero, weights.difference, zero)


@inline
def _inside(row, own, x, n, normal, share, bound):
    """normal·(share·b_i + (1 − share)·x_i) ≥ bound as a row; returns the remaining bound. `own` is the knot's index, or −1."""
    left = bound
    for a in range(2):
        for j in range(n):
            row[a * n + j] = normal[a] * (1.0 - share) * x[j]
        if own >= 0:
            row[a * n + own] += normal[a] * share
        left -= normal[a] * (1.0 - share) * x[n + a]
    return left


@kernel
def program(
    w, w_end, dt, ticks, state, goal, first, reference, edges, counts, floors, margins, weights, knots_z, H, f, A, low, high
):
    """Writes the program into H (2n, 2n), f (2n,), A, low, high, and the knots of height; returns the number of rows.

    `state` and `goal` are (2, 3): position and velocity. `first` (3,): the current virtual ZMP (x, y, carried height).
    `edges` (n, m, 3) holds normals and offsets of the polygon at each knot, `counts` (n,) their number, `floors` (n,) its height.
    `margins`: of the ZMP, of the final capture point, the largest jump, and the largest final distance of the capture point from
    the ZMP [m].
    """
    n = ticks.shape[0]
    X, V = np.empty((n, n + 2)), np.empty((n, n + 2))
    responses(w, dt, ticks, X, V)
    heights(X, V, state[0, 2], state[1, 2], goal[0, 2], first[2], knots_z)
    H1, f1 = np.empty((n, n)), np.empty((2, n))
    _cost(ticks, X, V, w, state, goal, first, reference, weights, H1, f1)
    H[:] = 0.0
    for i in range(n):
        for a in range(2):
            f[a * n + i] = f1[a, i]
            for j in range(n):
                H[a * n + i, a * n + j] = H1[i, j]
    A[:] = 0.0
    x = np.empty(n + 2)  # a knot's position: per unit of each knot, then the constant part for each axis
    r, unbounded = 0, 1e30  # DAQP's value for "no bound"
    for i in range(n):
        z = X[i, n] * state[0, 2] + X[i, n + 1] * state[1, 2]
        for j in range(n):
            z += X[i, j] * knots_z[j]
            x[j] = X[i, j]
        share = w * w * (z - floors[i]) / (w * w * (z - knots_z[i]) + GRAVITY)
        for a in range(2):
            x[n + a] = X[i, n] * state[0, a] + X[i, n + 1] * state[1, a]
        for k in range(counts[i]):
            low[r] = _inside(A[r], i, x, n, edges[i, k], share, edges[i, k, 2] + margins[0])
            high[r] = unbounded
            r += 1
    for j in range(n):
        x[j] = X[n - 1, j] + V[n - 1, j] / w_end
    for a in range(2):
        x[n + a] = (X[n - 1, n] + V[n - 1, n] / w_end) * state[0, a] + (X[n - 1, n + 1] + V[n - 1, n + 1] / w_end) * state[1, a]
    for k in range(counts[n - 1]):
        low[r] = _inside(A[r], -1, x, n, edges[n - 1, k], 0.0, edges[n - 1, k, 2] + margins[1])
        high[r] = unbounded
        r += 1
    for a in range(2):
        A[r, a * n] = 1.0
        low[r], high[r] = first[a] - margins[2], first[a] + margins[2]
        for j in range(n):
            A[r + 1, a * n + j] = -x[j]
        A[r + 1, a * n + n - 1] += 1.0
        low[r + 1], high[r + 1] = x[n + a] - margins[3], x[n + a] + margins[3]
        r += 2
    return r
