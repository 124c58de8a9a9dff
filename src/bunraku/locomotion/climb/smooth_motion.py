"""The whole motion at once: joint accelerations as small as can be, standing feet exactly where they belong.

Gauss–Newton over all samples, first on every few of them, then on all. Of an acceleration a the cost is quadratic while it
is small and grows with |a| beyond `knee`, so that their sum falls as well as their squares; beyond `peak` it is steeper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.linalg import LinAlgError, solveh_banded

from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.gecko import Gecko, Wish
from bunraku.locomotion.climb.gecko_kernels import retract_along
from bunraku.locomotion.climb.smooth_kernels import (
    WIDE,
    Aims,
    Ground,
    Rates,
    clearance_along,
    cost_along,
    linearize_along,
    restore_along,
)
from bunraku.motion.orientation import continuous, zyx_along
from bunraku.spatial import so3

Array = NDArray[np.float64]
LIFTED = 0.6  # of the planned height, a swinging foot keeps at least this
BEHIND, AHEAD = 0.2, 0.14  # how far a gecko reaches [m]
PATIENCE = 3  # iterations in a row that gain little: one alone may just have been damped
SPARE = 0.02  # that joints keep from their limits [rad]


@dataclass(frozen=True)
class Weights:
    """What counts. Rates [rad/s]: a deviation x costs as much as an acceleration x·rate². Accelerations [rad/s²]."""

    posture: float = 2.0
    height: float = 3.0
    limits: float = 60.0
    clearance: float = 60.0
    swing: float = 6.0
    damping: float = 4.0
    knee: float = 10.0
    peak: float = 35.0
    steep: float = 20.0


@dataclass(frozen=True, eq=False)
class Terms:
    """Further squared terms: rows (T, r, columns), by scaled columns, values and weights (T, r)."""

    rows: Array
    values: Array
    weights: Array


Further = Callable[[Array, FootPaths], Terms]


def ground_of(course: Course, u: Array) -> Ground:
    """The faces near a body at u (T,), for kernels."""
    first, last = course.faces_between(u, BEHIND, AHEAD)
    normal = np.array([X[:3, 2] for X in course.faces])
    offset = np.array([X[:3, 3] @ X[:3, 2] for X in course.faces])
    return Ground(normal, offset, np.array([*course.convex, False]), first, last)


def skin_clearance(gecko: Gecko, course: Course, Q: Array, u: Array) -> Array:
    """How far every ball of the skin is from the surface (T, n) [m]."""
    skin, radius = gecko.skin
    out = np.empty((len(Q), len(radius)))
    clearance_along(skin, radius, Q, ground_of(course, u), out)
    return out


class Whole:
    """A motion to make smooth, with `dt` [s] between its samples."""

    def __init__(
        self, gecko: Gecko, course: Course, feet: FootPaths, want: Wish, *, margin: float, weights: Weights,
        further: Further | None = None,
    ) -> None:  # fmt: skip
        self.gecko, self.feet, self.weights, self.further = gecko, feet, weights, further
        self.stopped = False
        # Tens of megabytes that are better not asked for at each iteration.
        self._band, self._damped = (np.empty((len(feet.t) * WIDE, 3 * WIDE)) for _ in range(2))
        self.dt = float(feet.t[1] - feet.t[0])
        self.ground = ground_of(course, course.stride * feet.t / (4.0 * feet.quarter))
        sole, unit = gecko.measures["sole"], gecko.measures["leg"]
        lower, upper = gecko.limits()
        height = np.empty(feet.p.shape[:2])
        for a, b in sorted(set(zip(self.ground.first.tolist(), self.ground.last.tolist(), strict=True))):
            own = (self.ground.first == a) & (self.ground.last == b)
            height[own] = course.over(feet.p[own], range(a, b + 1))
        floor = sole + LIFTED * (height - sole)
        self.aims = Aims(
            feet.p, feet.swings, floor, want.joints, np.ascontiguousarray(want.normals), np.ascontiguousarray(want.heights),
            lower + SPARE, upper - SPARE,
        )  # fmt: skip
        w = weights
        self.rates = Rates(w.posture**4, w.height**4, w.limits**4, w.clearance**4, w.swing**4, margin, unit)

    def restore(self, Q: Array, passes: int = 3) -> bool:
        """Puts the standing feet right, in place."""
        return bool(np.isfinite(restore_along(self.gecko.body, Q, self.aims, self.rates.unit, passes)))

    def accelerations(self, Q: Array) -> Array:
        return np.asarray(np.diff(Q[:, self.gecko.active], 2, axis=0) / self.dt**2)

    def cost(self, Q: Array) -> float:
        skin, radius = self.gecko.skin
        total = cost_along(self.gecko.body, skin, radius, self.gecko.apart, Q, self.ground, self.aims, self.rates)
        total += self._bending(Q)[0]
        if self.further is not None:
            terms = self.further(Q, self.feet)
            total += float((terms.weights * terms.values**2).sum())
        return float(total)

    def _bending(self, Q: Array) -> tuple[float, Array, Array]:
        """What accelerations cost, half of its first derivative by each, and half of (at least) its second."""
        w = self.weights
        a = self.accelerations(Q)
        root = np.sqrt(1.0 + (a / w.knee) ** 2)
        above = np.maximum(np.abs(a) - w.peak, 0.0)
        cost = float((2.0 * w.knee**2 * (root - 1.0) + w.steep * above**2).sum())
        return cost, a / root + w.steep * above * np.sign(a), 1.0 / root + w.steep * (above > 0.0)

    def linearized(self, Q: Array) -> tuple[Array, Array, Array]:
        """N (T, columns, WIDE), the banded matrix, and the gradient (T, WIDE)."""
        T, cols = len(Q), len(self.gecko.active) + 6
        _, slope, weight = self._bending(Q)
        pull, bent = np.zeros((T, cols - 6)), np.zeros((T, cols - 6))
        slope, bent[1:-1] = slope / self.dt**2, weight / self.dt**4
        pull[:-2] += slope
        pull[1:-1] -= 2.0 * slope
        pull[2:] += slope
        terms = Terms(np.empty((T, 0, cols)), np.empty((T, 0)), np.empty((T, 0)))
        if self.further is not None:
            terms = self.further(Q, self.feet)
        skin, radius = self.gecko.skin
        N, grad = np.empty((T, cols, WIDE)), np.empty((T, WIDE))
        band = self._band
        band[:] = 0.0
        linearize_along(
            self.gecko.body, skin, radius, self.gecko.apart, Q, self.ground, self.aims, self.rates, bent, pull,
            terms.rows, terms.values, terms.weights, N, band, grad,
        )  # fmt: skip
        return N, band, grad

    def descend(self, Q: Array, *, iterations: int, enough: float, heard: Callable[[int, float], None] | None = None) -> Array:
        """The best motion near Q, whose feet are right. Ctrl-C ends the descent with what there is, and sets `stopped`."""
        damping, cost, stalled = self.weights.damping, self.cost(Q), 0
        try:
            for k in range(iterations):
                found = self._better(Q, cost, damping)
                if found is None:
                    break
                stalled = 0 if found[1] < cost * (1.0 - enough) else stalled + 1
                Q, cost, damping = found
                if heard is not None:
                    heard(k, cost)
                if stalled == PATIENCE:
                    break
        except KeyboardInterrupt:
            self.stopped = True
        return Q

    def _better(self, Q: Array, cost: float, damping: float) -> tuple[Array, float, float] | None:
        """A step that costs less, its cost, and the damping to go on with; nothing where no step does."""
        N, band, grad = self.linearized(Q)
        scale = np.where(np.arange(N.shape[1]) < 3, self.rates.unit, 1.0)
        damped = self._damped
        for _ in range(20):
            np.copyto(damped, band)
            damped[:, 0] += damping**4
            try:
                z = solveh_banded(damped.T, -grad.ravel(), lower=True, check_finite=False, overwrite_ab=True)
            except LinAlgError:
                damping *= 2.0
                continue
            D = np.einsum("tcm,tm->tc", N, z.reshape(grad.shape)) * scale
            trial = Q.copy()
            retract_along(self.gecko.body, trial, D, min(1.0, 0.5 / max(float(np.abs(D).max()), 1e-12)))
            better = self.cost(trial) if self.restore(trial) else np.inf
            if better < cost:
                return trial, better, damping / 2.0
            damping *= 2.0
        return None


STAGES = ((10, 40), (5, 20), (1, 12))
"""Every how many samples, and at most how many iterations."""


@dataclass(frozen=True, eq=False)
class Smoothed:
    """The configurations, what they cost after every iteration of each stage, and whether Ctrl-C ended the work."""

    Q: Array
    costs: tuple[tuple[float, ...], ...]
    stopped: bool


def smooth(
    gecko: Gecko, course: Course, Q: Array, feet: FootPaths, want: Wish, *, margin: float = 0.008,
    weights: Weights = Weights(), stages: Sequence[tuple[int, int]] = STAGES, further: Further | None = None,  # noqa: B008
    progress: Callable[[float], None] | None = None,
) -> Smoothed:  # fmt: skip
    """The configurations near Q with the least joint accelerations; `margin` [m] of clearance is asked for.

    `progress` hears the part of the work that is done, at most 1.
    """
    Q = np.ascontiguousarray(Q).copy()
    T, t, costs, stopped = len(Q), feet.t[: len(Q)], [], False
    effort, done = sum(iterations / every for every, iterations in stages), 0.0
    for every, iterations in (*stages, (1, 0)):  # at the end the feet are put right at every sample
        if feet.steps % every or (T - 1) % every:
            continue
        few = slice(None, None, every)
        own: list[float] = []

        def heard(k: int, cost: float, own: list[float] = own, done: float = done, every: int = every) -> None:
            own.append(cost)
            if progress is not None:
                progress(min((done + (k + 1) / every) / effort, 1.0))

        whole = Whole(
            gecko, course, feet.every(every, T), want.every(every, T), margin=margin, weights=weights, further=further
        )  # fmt: skip
        some = np.ascontiguousarray(Q[few])
        whole.restore(some)
        some = whole.descend(some, iterations=0 if stopped else iterations, enough=1e-3, heard=heard)
        stopped = stopped or whole.stopped
        done += iterations / every
        costs.append(tuple(own))
        Q = between(some, t[few], t) if every > 1 else some
    whole.restore(Q, 5)
    return Smoothed(Q, tuple(costs[:-1]), stopped)


def between(Q: Array, t: Array, fine: Array) -> Array:
    """Splines through configurations at times t, at finer times; the body's rotation by quaternions, which know no poles."""
    out = CubicSpline(t, Q)(fine)
    z, y, x = Q[:, 3:6].T
    turned = continuous(so3.quaternion(so3.about(2, z) @ so3.about(1, y) @ so3.about(0, x)))
    out[:, 3:6] = zyx_along(so3.matrix(CubicSpline(t, turned)(fine)), Q[0, 3:6])
    return np.ascontiguousarray(out)
