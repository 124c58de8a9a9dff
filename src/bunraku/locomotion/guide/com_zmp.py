"""The COM–ZMP model (linear inverted pendulum) in closed form: x″ = ω²(x − b), with a ZMP b that is linear between knots.

With slope m of b, at a time τ after the last knot, where position, velocity and ZMP are (x_i, v_i, b_i):

    x = b(t) + (x_i − b_i) cosh ωτ + (v_i − m)/ω sinh ωτ,      v = m + ω(x_i − b_i) sinh ωτ + (v_i − m) cosh ωτ,

so every later state is linear in the knots. All three axes share one ω (3-D symmetrisation, *guiding* ref. 11): the height z obeys
the same law about c = p_Z + g/ω², where p_Z is the height of the virtual ZMP. We call c the carried height. The ZMP on a floor at
height f is where the line from the centre of mass through the virtual ZMP meets the floor: x − (x − b)·s with s = ω²(z − f)/(z″ +
g).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.spatial.linalg import pivoted_solve

GRAVITY = 9.81
"""[m/s²]."""


@inline
def advanced(w, dt, x, v, b0, b1):
    """Position and velocity after an interval dt in which the ZMP moves linearly from b0 to b1."""
    c, s, m = np.cosh(w * dt), np.sinh(w * dt), (b1 - b0) / dt
    return b1 + (x - b0) * c + (v - m) / w * s, m + w * (x - b0) * s + (v - m) * c


@inline
def responses(w, dt, ticks, X, V):
    """Position X and velocity V at every knot, per unit of each knot, of the initial position and of the initial velocity.

    `ticks` (n,) are the knots' times in steps of dt; X and V are (n, n + 2).
    """
    n = ticks.shape[0]
    for j in range(n + 2):
        X[0, j] = V[0, j] = 0.0
    X[0, n] = V[0, n + 1] = 1.0
    for i in range(n - 1):
        h = (ticks[i + 1] - ticks[i]) * dt
        c, s = np.cosh(w * h), np.sinh(w * h)
        for j in range(n + 2):
            X[i + 1, j] = c * X[i, j] + s / w * V[i, j]
            V[i + 1, j] = w * s * X[i, j] + c * V[i, j]
        X[i + 1, i] += s / (w * h) - c
        X[i + 1, i + 1] += 1.0 - s / (w * h)
        V[i + 1, i] += (c - 1.0) / h - w * s
        V[i + 1, i + 1] += (1.0 - c) / h


@inline
def heights(X, V, z, v, goal, first, out):
    """Knots of the carried height c, changing as little as possible, that end at the goal and at rest.

    `first` is the current carried height; staying near it avoids a jump of the acceleration.
    """
    n = out.shape[0]
    if z == goal and v == 0.0 and first == goal:
        for i in range(n):
            out[i] = goal
        return
    A, last = np.zeros((n + 2, n + 3)), n + 2  # the last column is the right-hand side
    for i in range(n - 1):
        A[i, i] += 1.0
        A[i + 1, i + 1] += 1.0
        A[i, i + 1] -= 1.0
        A[i + 1, i] -= 1.0
    A[0, 0] += 100.0
    A[0, last] += 100.0 * first
    A[n - 1, n - 1] += 10.0  # no acceleration at the end
    A[n - 1, last] += 10.0 * goal
    for j in range(n):
        A[n, j] = A[j, n] = X[n - 1, j]
        A[n + 1, j] = A[j, n + 1] = V[n - 1, j]
    A[n, last] = goal - X[n - 1, n] * z - X[n - 1, n + 1] * v
    A[n + 1, last] = -V[n - 1, n] * z - V[n - 1, n + 1] * v
    pivoted_solve(A, n + 2)
    for i in range(n):
        out[i] = A[i, last]


@kernel
def gait_speeds(w, first, swing, last, stance, by, out):
    """Velocities `out` (2,) with which the centre of mass passes above the middle of the feet, in steps that repeat themselves.

    The ZMP moves from the middle to the standing foot (at `stance`), stays there, and moves on to the next middle (at `by`), in
    `first`, `swing` and `last` seconds. The centre of mass is above these middles at the same times.
    """
    for a in range(2):
        x, v = advanced(w, first, 0.0, 0.0, 0.0, stance[a])
        x, v = advanced(w, swing, x, v, stance[a], stance[a])
        x, v = advanced(w, last, x, v, stance[a], by[a])
        out[a] = w * (by[a] - x) / np.sinh(w * (first + swing + last))


class SampleColumns(NamedTuple):
    """Index of the first column of each quantity in a row of `samples`."""

    position: int = 0
    """Position of the centre of mass (3) [m]."""
    velocity: int = 3
    """(3) [m/s]."""
    acceleration: int = 6
    """(3) [m/s²]."""
    zmp: int = 9
    """ZMP on the floor (2) [m]."""


SAMPLE_COLUMNS = SampleColumns()


@kernel
def samples(w, dt, ticks, knots, floors, p, v, out):
    """The motion at every tick, (ticks, 11), in the order of SAMPLE_COLUMNS.

    `knots` are (n, 3), `floors` (n − 1,) the height of the floor between two knots.
    """
    n = ticks.shape[0]
    x, u = (p[0], p[1], p[2]), (v[0], v[1], v[2])
    for i in range(n - 1):
        h = (ticks[i + 1] - ticks[i]) * dt
        last = ticks[i + 1] + (1 if i == n - 2 else 0)
        for k in range(ticks[i], last):
            tau = (k - ticks[i]) * dt
            for a in range(3):
                b0, m = knots[i, a], (knots[i + 1, a] - knots[i, a]) / h
                c, s, b = np.cosh(w * tau), np.sinh(w * tau), b0 + m * tau
                out[k, SAMPLE_COLUMNS.position + a] = b + (x[a] - b0) * c + (u[a] - m) / w * s
                out[k, SAMPLE_COLUMNS.velocity + a] = m + w * (x[a] - b0) * s + (u[a] - m) * c
                out[k, SAMPLE_COLUMNS.acceleration + a] = w * w * (out[k, SAMPLE_COLUMNS.position + a] - b)
            s = (out[k, SAMPLE_COLUMNS.position + 2] - floors[i]) / (out[k, SAMPLE_COLUMNS.acceleration + 2] + GRAVITY)
            for a in range(2):
                out[k, SAMPLE_COLUMNS.zmp + a] = out[k, SAMPLE_COLUMNS.position + a] - out[k, SAMPLE_COLUMNS.acceleration + a] * s
        ends = (
            advanced(w, h, x[0], u[0], knots[i, 0], knots[i + 1, 0]),
            advanced(w, h, x[1], u[1], knots[i, 1], knots[i + 1, 1]),
            advanced(w, h, x[2], u[2], knots[i, 2], knots[i + 1, 2]),
        )
        x = (ends[0][0], ends[1][0], ends[2][0])
        u = (ends[0][1], ends[1][1], ends[2][1])
