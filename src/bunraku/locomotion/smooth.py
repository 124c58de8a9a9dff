"""The whole motion at once: joint accelerations as small as can be, feet exactly where they belong.

Gauss–Newton over all samples. At each sample the increment is split into the part that puts the feet right and a part
N z in the null space of the feet's equations; second differences couple three samples, so that the normal equations in
z are banded and cost time in proportion to the motion's length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from bunraku.locomotion.course import Course
from bunraku.locomotion.gecko import Gecko, Wish
from bunraku.locomotion.kernels import (
    add_rows,
    add_second_differences,
    places_along,
    points_along,
    retract_along,
    rows_along,
)
from bunraku.locomotion.swing import FootPaths

Array = NDArray[np.float64]
LIFTED = 0.6  # of the planned height, a swinging foot keeps at least this
BEHIND, AHEAD = 0.2, 0.14  # how far a gecko reaches [m]


@dataclass(frozen=True)
class Weights:
    """What else counts besides acceleration, each as a rate [rad/s]: a deviation x costs as much as an acceleration x·rate²."""

    posture: float = 3.0
    height: float = 3.0
    limits: float = 60.0
    clearance: float = 60.0
    swing: float = 6.0
    damping: float = 8.0


@dataclass(frozen=True, eq=False)
class _Problem:
    gecko: Gecko
    feet: FootPaths
    want: Wish
    weights: Weights
    scale: Array
    runs: list[tuple[NDArray[np.int64], range]]
    course: Course
    margin: float
    floor: Array


def smooth(
    gecko: Gecko, course: Course, Q: Array, feet: FootPaths, want: Wish, *, quarter: float = 0.25, margin: float = 0.008,
    weights: Weights = Weights(), iterations: int = 30, heard: Callable[[int, float], None] | None = None,  # noqa: B008
) -> Array:  # fmt: skip
    """The configurations near Q with the least joint accelerations; `margin` [m] of clearance is asked for."""
    Q = np.ascontiguousarray(Q).copy()
    u = course.stride * feet.t[: len(Q)] / (4.0 * quarter)
    first, last = course.faces_between(u, BEHIND, AHEAD)
    runs = [
        (np.flatnonzero((first == a) & (last == b)), range(a, b + 1))
        for a, b in sorted(set(zip(first.tolist(), last.tolist(), strict=True)))
    ]
    scale = np.ones(len(gecko.active) + 6)
    scale[:3] = gecko.measures["leg"]
    floor = np.empty((len(Q), 4))
    for samples, faces in runs:
        over = course.over(feet.p[samples], faces)
        floor[samples] = gecko.measures["sole"] + LIFTED * (over - gecko.measures["sole"])
    problem = _Problem(gecko, feet, want, weights, scale, runs, course, margin, floor)
    damping, cost = weights.damping, _restored(problem, Q)
    for k in range(iterations):
        step = _Step(problem, Q)
        for _ in range(8):
            trial = Q.copy()
            D = step.increment(damping)
            retract_along(gecko.body, trial, D, min(1.0, 0.5 / max(float(np.abs(D).max()), 1e-12)))
            better = _restored(problem, trial)
            if better < cost:
                break
            damping *= 2.0
        else:
            break
        gain, Q, cost = (cost - better) / cost, trial, better
        damping /= 2.0
        if heard is not None:
            heard(k, cost)
        if gain < 2e-3:
            break
    for _ in range(3):
        retract_along(gecko.body, Q, _split(problem, Q)[0] * scale, 1.0)
    return Q


def _restored(problem: _Problem, Q: Array) -> float:
    """Puts the feet right, in place, and returns what the motion costs."""
    for _ in range(2):
        retract_along(problem.gecko.body, Q, _split(problem, Q)[0] * problem.scale, 1.0)
    w, joints, dt = problem.weights, Q[:, problem.gecko.active], float(problem.feet.t[1])
    total = float((np.diff(joints, 2, axis=0) ** 2).sum()) * dt**-4
    total += w.posture**4 * float(((joints - problem.want.joints[: len(Q)]) ** 2).sum())
    total += w.limits**4 * float((_beyond(problem, joints) ** 2).sum())
    for terms in (_heights, _clearance, _swing):
        _, value, weight = terms(problem, Q)
        total += float((weight * value**2).sum())
    return total


def _beyond(problem: _Problem, joints: Array) -> Array:
    lower, upper = problem.gecko.limits()
    return np.asarray(np.minimum(joints - lower - 0.02, 0.0) + np.maximum(joints - upper + 0.02, 0.0))


def _split(problem: _Problem, Q: Array) -> tuple[Array, Array]:
    """What puts the standing feet right (T, columns), and a basis of what they do not feel (T, columns, 16), in scaled columns."""
    T, n = len(Q), len(problem.scale)
    X, J = np.empty((T, 7, 3)), np.empty((T, 21, n))
    points_along(problem.gecko.body, Q, X, J)
    A = J[:, :12] * problem.scale
    error = (problem.feet.p[:T] - X[:, :4]).reshape(T, 12)
    fix, N = np.empty((T, n)), np.zeros((T, n, n - 9))
    for foot in range(-1, 4):
        own = np.flatnonzero(problem.feet.swings[:T] == foot)
        stands = [i for i in range(12) if i // 3 != foot]
        k = len(stands)
        basis, upper = np.linalg.qr(np.swapaxes(A[own][:, stands], 1, 2), mode="complete")
        along = np.linalg.solve(np.swapaxes(upper[:, :k], 1, 2), error[own][:, stands, None])
        fix[own] = (basis[:, :, :k] @ along)[:, :, 0]
        N[own, :, : n - k] = basis[:, :, k:]
    return fix, N


class _Step:
    """One linearisation: the normal equations in z, to be damped and solved."""

    def __init__(self, problem: _Problem, Q: Array) -> None:
        gecko, w = problem.gecko, problem.weights
        T, dt = len(Q), float(problem.feet.t[1])
        self.problem = problem
        self.fix, self.N = fix, N = _split(problem, Q)
        m = N.shape[2]
        B = np.ascontiguousarray(N[:, 6:])
        self.ab, self.g = np.zeros((3 * m, T * m)), np.zeros((T, m))
        joints = Q[:, gecko.active] + fix[:, 6:]
        add_second_differences(B, self.ab, dt**-4)
        bent = np.diff(joints, 2, axis=0) * dt**-4
        pull = np.zeros_like(joints)
        pull[:-2] += bent
        pull[1:-1] -= 2.0 * bent
        pull[2:] += bent
        beyond = _beyond(problem, joints)
        pull += w.posture**4 * (joints - problem.want.joints[:T]) + w.limits**4 * beyond
        self.g += np.einsum("tam,ta->tm", B, pull)
        add_rows(B, self.ab, w.posture**4 + w.limits**4 * (beyond != 0.0))
        for rows, value, weight in (terms(problem, Q) for terms in (_heights, _clearance, _swing)):
            moved = value + np.einsum("tac,tc->ta", rows, fix)
            reduced = rows @ N
            add_rows(reduced, self.ab, weight)
            self.g += np.einsum("tam,ta->tm", reduced, weight * moved)

    def increment(self, damping: float) -> Array:
        ab = self.ab.copy()
        ab[0] += damping**4
        z = solveh_banded(ab, -self.g.ravel(), lower=True, check_finite=False, overwrite_ab=True).reshape(self.g.shape)
        return np.asarray((self.fix + np.einsum("tcm,tm->tc", self.N, z)) * self.problem.scale)


def _swing(problem: _Problem, Q: Array) -> tuple[Array, Array, Array]:
    """The swinging foot: near its path, and not much lower over the surface, in lengths of the leg."""
    body, T, unit = problem.gecko.body, len(Q), problem.gecko.measures["leg"]
    body = body._replace(carrier=np.repeat(body.carrier[:4], 4), local=np.repeat(body.local[:4], 4, axis=0))
    X = np.empty((T, 16, 3))
    places_along(body, Q, X)
    normals = np.empty((T, 16, 3))
    away = X.reshape(T, 4, 4, 3) - problem.feet.p[:T, :, None]
    value = np.empty((T, 4, 4))
    for i in range(3):
        normals.reshape(T, 4, 4, 3)[:, :, i] = np.eye(3)[i]
        value[:, :, i] = away[:, :, i, i]
    low = np.empty((T, 4))
    for samples, faces in problem.runs:
        over, normal = problem.course.nearest(X[samples][:, ::4], faces)
        normals[samples, 3::4] = normal
        low[samples] = over - problem.floor[samples]
    swings = problem.feet.swings[:T, None] == np.arange(4)
    value[:, :, 3] = np.minimum(low, 0.0)
    active = np.repeat(swings, 4, axis=1)
    active[:, 3::4] &= low < 0.0
    rows = np.empty((T, 16, len(problem.scale)))
    rows_along(body, Q, normals, active, rows)
    weight = np.tile([problem.weights.swing**4] * 3 + [problem.weights.clearance**4], 4) * active
    return rows * problem.scale / unit, value.reshape(T, 16) / unit, weight


def _heights(problem: _Problem, Q: Array) -> tuple[Array, Array, Array]:
    """Neck, waist and bottom over their planes, in lengths of the leg: rows, values, weights."""
    body, T, unit = problem.gecko.body, len(Q), problem.gecko.measures["leg"]
    normals = np.ascontiguousarray(problem.want.normals[:T])
    count = normals.shape[1]
    body = body._replace(carrier=np.tile(body.carrier[4:7], count // 3), local=np.tile(body.local[4:7], (count // 3, 1)))
    X, rows = np.empty((T, count, 3)), np.empty((T, count, len(problem.scale)))
    places_along(body, Q, X)
    rows_along(body, Q, normals, np.ones((T, count), bool), rows)
    value = np.einsum("tai,tai->ta", X, normals) - problem.want.heights[:T]
    return rows * problem.scale / unit, value / unit, np.full((T, count), problem.weights.height**4)


def clearance(gecko: Gecko, course: Course, Q: Array, runs: list[tuple[NDArray[np.int64], range]]) -> tuple[Array, Array]:
    """How far every ball of the skin is from the surface (T, n) [m], and the normals (T, n, 3)."""
    body, radius = gecko.skin
    X = np.empty((len(Q), len(radius), 3))
    places_along(body, Q, X)
    over, normal = np.empty(X.shape[:2]), np.empty(X.shape)
    for samples, faces in runs:
        over[samples], normal[samples] = course.nearest(X[samples], faces)
    return over - radius, normal


def _clearance(problem: _Problem, Q: Array) -> tuple[Array, Array, Array]:
    """What comes nearer than the margin, in lengths of the leg."""
    gecko, unit = problem.gecko, problem.gecko.measures["leg"]
    over, normal = clearance(gecko, problem.course, Q, problem.runs)
    near = over < problem.margin
    rows = np.empty((*near.shape, len(problem.scale)))
    rows_along(gecko.skin[0], Q, normal, near, rows)
    value = np.where(near, over - problem.margin, 0.0) / unit
    return rows * problem.scale / unit, value, np.asarray(problem.weights.clearance**4 * near, float)
