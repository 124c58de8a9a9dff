"""Kernels of the gecko: whole-body increments of feet and body, and positions of its points.

The body is a free rigid frame: columns 0–2 move it along the world's axes, columns 3–5 rotate it about them; then come the active
variables. The passive feet have no column: they turn freely.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.tree import on_joint, place
from bunraku.spatial.euler import ball_angles, ball_rotation, exp_rotation, times
from bunraku.spatial.linalg import cholesky, cholesky_solve


class GeckoPoints(NamedTuple):
    """Points fixed to the joints of a gecko, as kernels read them. In `Gecko.body`, the first ones are the feet."""

    joints: Any
    """Records of the joints of the compiled tree."""
    chain: Any
    """For each joint: how many joints carry it, itself included, and their indices."""
    carrier: Any
    """Index of the joint that carries each point (n,)."""
    local: Any
    """Position of each point in its joint's frame (n, 3) [m]."""
    column: Any
    """The column of each variable (n_q,), −1 for the passive feet."""
    active: Any
    """Indices of the variables that motors move."""


@inline
def points(body, q, R, p, S, x, J):
    """Computes positions of the points, x (n, 3), and their Jacobian, J (3n, columns)."""
    joints, chain = body.joints, body.chain
    place(joints, 0, joints.shape[0], q, (0.0, 0.0, 0.0), R, p, S)
    n = body.active.shape[0] + 6
    for i in range(body.carrier.shape[0]):
        j = body.carrier[i]
        y = on_joint(R, p, j, body.local[i])
        for r in range(3):
            x[i, r] = y[r]
            for c in range(n):
                J[3 * i + r, c] = 1.0 if c == r else 0.0
        d0, d1, d2 = y[0] - q[0], y[1] - q[1], y[2] - q[2]
        J[3 * i, 4], J[3 * i, 5] = d2, -d1
        J[3 * i + 1, 3], J[3 * i + 1, 5] = -d2, d0
        J[3 * i + 2, 3], J[3 * i + 2, 4] = d1, -d0
        for a in range(1, chain[j, 0] + 1):
            k = chain[j, a]
            c = body.column[joints[k].variable]
            if c >= 6:
                J[3 * i, c] = S[k, 1] * y[2] - S[k, 2] * y[1] + S[k, 3]
                J[3 * i + 1, c] = S[k, 2] * y[0] - S[k, 0] * y[2] + S[k, 4]
                J[3 * i + 2, c] = S[k, 0] * y[1] - S[k, 1] * y[0] + S[k, 5]


@inline
def retract(body, q, d):
    """Moves q by d, in place."""
    for r in range(3):
        q[r] += d[r]
    R = times(exp_rotation((d[3], d[4], d[5])), ball_rotation(q[3], q[4], q[5]))
    q[3], q[4], q[5] = ball_angles(R, q[3], q[4], q[5])
    for i in range(body.active.shape[0]):
        q[body.active[i]] += d[6 + i]


@inline
def onto_feet(J, ease, e, A, b, d):
    """Adds to d the smallest change, in the metric 1/ease, that gives J d = e at the feet (eq. 13: J⁺ = Jᵀ(JJᵀ)⁻¹)."""
    n, equations = d.shape[0], e.shape[0]
    for i in range(equations):
        b[i] = e[i]
        for c in range(n):
            b[i] -= J[i, c] * d[c]
        for k in range(i + 1):
            total = 0.0
            for c in range(n):
                total += J[i, c] * ease[c] * J[k, c]
            A[i, k] = total
    for i in range(equations):
        A[i, i] += 1e-12
    if not cholesky(A, equations):
        return False
    cholesky_solve(A, equations, b)
    for c in range(n):
        for i in range(equations):
            d[c] += ease[c] * J[i, c] * b[i]
    return True


@kernel
def walk(body, q, feet, normals, heights, wanted, ease, alpha, beta, gamma, unit, correct, Q, error):
    """Closed-loop increments (eq. 16, 17) from q on: feet follow (T, feet, 3), and the null space descends the cost H (eq. 14).

    Returns the number of samples reached. The increment of a foot is its target at t + dt minus its *actual* position.
    """
    n, count = body.joints.shape[0], body.carrier.shape[0]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    x, J = np.empty((count, 3)), np.empty((3 * count, body.active.shape[0] + 6))
    n_feet, equations = feet.shape[1], 3 * feet.shape[1]
    A, b, e, d = np.empty((equations, equations)), np.empty(equations), np.empty(equations), np.empty(J.shape[1])
    for t in range(feet.shape[0]):
        points(body, q, R, p, S, x, J)
        for c in range(d.shape[0]):
            d[c] = 0.0
            if c >= 6:
                d[c] = -2.0 * alpha * (q[body.active[c - 6]] - wanted[t, c - 6])
            for k in range(normals.shape[1]):
                i = n_feet + k % (count - n_feet)
                over = -heights[t, k]
                slope = 0.0
                for r in range(3):
                    over += normals[t, k, r] * x[i, r]
                    slope += normals[t, k, r] * J[3 * i + r, c]
                d[c] -= 2.0 * beta * over * slope / (unit * unit)
            d[c] *= gamma * ease[c]
        for again in range(1 + correct):
            for i in range(n_feet):
                for r in range(3):
                    e[3 * i + r] = feet[t, i, r] - x[i, r]
            if not onto_feet(J, ease, e, A, b, d):
                return t
            retract(body, q, d)
            if again < correct:
                points(body, q, R, p, S, x, J)
                for c in range(d.shape[0]):
                    d[c] = 0.0
        points(body, q, R, p, S, x, J)
        worst = 0.0
        for i in range(n_feet):
            square = 0.0
            for r in range(3):
                square += (feet[t, i, r] - x[i, r]) ** 2
            worst = max(worst, math.sqrt(square))
        error[t] = worst
        if not worst < 1.0:
            return t
        for k in range(q.shape[0]):
            Q[t, k] = q[k]
    return feet.shape[0]


@kernel
def points_along(body, Q, X, J):
    """Points (T, n, 3) and their Jacobians (T, 3n, columns)."""
    n = body.joints.shape[0]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    for t in range(Q.shape[0]):
        points(body, Q[t], R, p, S, X[t], J[t])


@kernel
def retract_along(body, Q, D, share):
    """Moves every sample of Q by `share` times D, in place."""
    for t in range(Q.shape[0]):
        retract(body, Q[t], share * D[t])
