"""Any chain of joints brought to a pose, as a kernel: of all configurations that reach it, the one nearest to a reference.

Each step solves the linearised problem: the least change of (q + step) from the reference such that J step = error. If the step
leaves the limits of a joint, that joint stops at its limit, and the others are solved for again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.tree import on_joint, place
from bunraku.spatial.linalg import cholesky, cholesky_solve


class GeneralArmOptions(NamedTuple):
    """Numbers that tune the iteration."""

    iterations: int = 120
    longest: float = 0.3
    """Largest change of a variable in one step [rad or m]."""
    damping: float = 1e-2
    """Damping of a step, as a multiple of the squared error: large while the target is far, which makes steps near a stretched
    arm shorter; none at the end."""
    reached: float = 1e-11
    """Largest error of a pose that counts as reached [m or rad]."""
    settled: float = 1e-8
    """The iteration ends when no variable changes by more than this [rad or m]."""


@inline
def rotation_error(R, j, tool, X, error):
    """Rotation vector from the tool's axes, R[j] · tool, to those of the target X, into error[3:]; returns its angle [rad]."""
    E = np.zeros((3, 3))
    for a in range(3):  # E = X toolᵀ Rᵀ; R[j, k] is the direction of axis k
        for b in range(3):
            for c in range(3):
                now = R[j, 0, b] * tool[0, c] + R[j, 1, b] * tool[1, c] + R[j, 2, b] * tool[2, c]
                E[a, b] += X[a, c] * now
    x, y, z = 0.5 * (E[2, 1] - E[1, 2]), 0.5 * (E[0, 2] - E[2, 0]), 0.5 * (E[1, 0] - E[0, 1])
    sine, cosine = math.sqrt(x * x + y * y + z * z), 0.5 * (E[0, 0] + E[1, 1] + E[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    scale = angle / sine if sine > 1e-9 else 1.0
    error[3], error[4], error[5] = scale * x, scale * y, scale * z
    return angle


@inline
def bounded_step(J, error, damping, q, reference, lower, upper, step):
    """The step (n,) of least distance from the reference with J step = error, damped, within limits."""
    n = q.shape[0]
    free = np.ones(n, np.bool_)
    A, b = np.empty((6, 6)), np.empty(6)
    for _ in range(n):
        for r in range(6):
            b[r] = error[r]
            for c in range(6):
                A[r, c] = damping if r == c else 0.0
        for k in range(n):
            if free[k]:
                step[k] = reference[k] - q[k]
                for r in range(6):
                    for c in range(r + 1):
                        A[r, c] += J[r, k] * J[c, k]
            for r in range(6):
                b[r] -= J[r, k] * step[k]
        cholesky(A, 6)
        cholesky_solve(A, 6, b)
        stopped = False
        for k in range(n):
            if not free[k]:
                continue
            for r in range(6):
                step[k] += J[r, k] * b[r]
            if q[k] + step[k] > upper[k] or q[k] + step[k] < lower[k]:
                stopped = True
        if not stopped:
            return
        for k in range(n):
            if free[k] and (q[k] + step[k] > upper[k] or q[k] + step[k] < lower[k]):
                step[k] = (upper[k] if q[k] + step[k] > upper[k] else lower[k]) - q[k]
                free[k] = False


@kernel
def nearest_configurations(joints, tool, X, lower, upper, reference, chained, options, out, found):
    """For every pose (T, 4, 4) of the tool: the configuration nearest to its reference; found[t]: whether it reaches the pose.

    If `chained`, the reference of each but the first is the configuration before it; it ends at the first pose that is not reached.

    `joints` are those of the arm alone, the first on its base; `tool` (4, 4) is the tool in the last joint's axes.
    """
    n = joints.shape[0]
    R, p, S, J = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6)), np.empty((6, n))
    error, step, q = np.empty(6), np.empty(n), np.empty(n)
    for t in range(X.shape[0]):
        if chained and t > 0:
            if not found[t - 1]:
                return
            for k in range(n):
                reference[t, k] = out[t - 1, k]
        for k in range(n):
            q[k] = min(max(reference[t, k], lower[k]), upper[k])
        found[t] = False
        for _ in range(options.iterations):
            place(joints, 0, n, q, (0.0, 0.0, 0.0), R, p, S)
            x = on_joint(R, p, n - 1, (tool[0, 3], tool[1, 3], tool[2, 3]))
            for r in range(3):
                error[r] = X[t, r, 3] - x[r]
            off = max(math.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2), rotation_error(R, n - 1, tool, X[t], error))
            for k in range(n):
                w = (S[k, 0], S[k, 1], S[k, 2])
                J[0, k] = S[k, 3] + w[1] * x[2] - w[2] * x[1]
                J[1, k] = S[k, 4] + w[2] * x[0] - w[0] * x[2]
                J[2, k] = S[k, 5] + w[0] * x[1] - w[1] * x[0]
                for r in range(3):
                    J[3 + r, k] = w[r]
            bounded_step(J, error, options.damping * off * off + 1e-14, q, reference[t], lower, upper, step)
            largest = 0.0
            for k in range(n):
                largest = max(largest, abs(step[k]))
            if off < options.reached and largest < options.settled:
                found[t] = True
                break
            scale = min(1.0, options.longest / max(largest, 1e-300))
            for k in range(n):
                q[k] = min(max(q[k] + scale * step[k], lower[k]), upper[k])
        if not found[t] and off < options.reached:  # reached, though another configuration may be slightly nearer
            found[t] = True
        for k in range(n):
            out[t, k] = q[k] if found[t] else math.nan
