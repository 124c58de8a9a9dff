"""Optimises the whole motion at once: smallest joint accelerations, with the standing feet exactly on their footholds.

Gauss–Newton over all samples, first with every tenth sample, then every fifth, then all. The cost of an acceleration is quadratic
up to `knee` and linear beyond, so that the sum of accelerations falls too; beyond `peak` it is steep.
"""

from __future__ import annotations

from collections.abc import Callable
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
    FREE_DIMENSIONS,
    CostRates,
    MotionAims,
    NearFaces,
    clearance_along,
    cost_along,
    linearize_along,
    restore_along,
)
from bunraku.motion.orientation import continuous, zyx_along
from bunraku.progress import Listener, Progress
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SmoothOptions:
    """Numbers that tune the whole-motion optimisation. A rate [rad/s] is a weight: a deviation x costs as much as an acceleration
    x·rate²."""

    posture: float = 2.0
    """Rate of the posture."""
    height: float = 3.0
    """Rate of the positions of neck, waist and bottom."""
    limits: float = 60.0
    """Rate of the joint limits."""
    clearance: float = 60.0
    """Rate of the clearances."""
    swing: float = 6.0
    """Rate of the swinging foot's path."""
    damping: float = 4.0
    """Rate of the first Levenberg–Marquardt damping."""
    knee: float = 10.0
    """Acceleration beyond which the cost is linear [rad/s²]."""
    peak: float = 35.0
    """Acceleration beyond which the cost is steep [rad/s²]."""
    steep: float = 20.0
    """Factor of the extra squared cost beyond `peak`."""
    margin: float = 0.008
    """Required clearance of the skin from the surface [m]."""
    self_margin: float = 0.004
    """Required clearance of the gecko from itself [m]."""
    joint_margin: float = 0.02
    """Distance that joints keep from their limits [rad]."""
    lifted: float = 0.6
    """Smallest allowed height of a swinging foot, as a share of the planned height."""
    behind: float = 0.2
    """How far a gecko extends behind its reference point [m]."""
    ahead: float = 0.14
    """How far a gecko extends ahead of its reference point [m]."""
    stages: tuple[tuple[int, int], ...] = ((10, 40), (5, 20), (1, 12))
    """For each stage: it uses every n-th sample, and its maximum number of iterations."""
    enough: float = 1e-3
    """Relative decrease of the cost below which an iteration counts as stalled."""
    patience: int = 3
    """Number of stalled iterations in a row that end a stage; a single one may only be damped too much."""


@dataclass(frozen=True, eq=False)
class CostTerms:
    """Further squared terms: derivatives `rows` (T, r, columns) with respect to the scaled columns; `values`, `weights` (T, r)."""

    rows: Array
    values: Array
    weights: Array


FurtherTerms = Callable[[Array, FootPaths], CostTerms]
"""Computes further terms for configurations (T, n_q) and the feet at these samples."""


def _faces_near(course: Course, u: Array, options: SmoothOptions) -> NearFaces:
    """The faces near bodies at u (T,), for kernels."""
    first, last = course.faces_between(u, options.behind, options.ahead)
    normal = np.array([X[:3, 2] for X in course.faces])
    offset = np.array([X[:3, 3] @ X[:3, 2] for X in course.faces])
    return NearFaces(normal, offset, np.array([*course.convex, False]), first, last)


def skin_clearance(gecko: Gecko, course: Course, Q: Array, u: Array, options: SmoothOptions = SmoothOptions()) -> Array:
    """Distance of every ball of the skin of a `gecko` from the surface of a `course` (T, n) [m].

    Q: configurations (T, n_q)
    u: their distances along the path of the body (T,) [m]
    options: `behind` and `ahead` determine which faces count
    """
    skin, radius = gecko.skin
    out = np.empty((len(Q), len(radius)))
    clearance_along(skin, radius, Q, _faces_near(course, u, options), out)
    return out


class WholeMotion:
    """The optimisation of a motion whose samples are `dt` [s] apart.

    gecko, course: the gecko and its course
    feet: the paths of the feet
    want: what the null space follows
    options: weights and margins
    further: computes further terms of the cost, if any
    """

    def __init__(
        self, gecko: Gecko, course: Course, feet: FootPaths, want: Wish, *, options: SmoothOptions,
        further: FurtherTerms | None = None,
    ) -> None:  # fmt: skip
        self.gecko, self.feet, self.options, self.further = gecko, feet, options, further
        self.stopped = False
        # Tens of megabytes, allocated once rather than at each iteration.
        self._band, self._damped = (np.empty((len(feet.t) * FREE_DIMENSIONS, 3 * FREE_DIMENSIONS)) for _ in range(2))
        self.dt = float(feet.t[1] - feet.t[0])
        self.faces = _faces_near(course, course.stride * feet.t / (4.0 * feet.quarter), options)
        sole, unit = gecko.measures["sole"], gecko.measures["leg"]
        lower, upper = gecko.limits()
        height = np.empty(feet.p.shape[:2])
        for a, b in sorted(set(zip(self.faces.first.tolist(), self.faces.last.tolist(), strict=True))):
            own = (self.faces.first == a) & (self.faces.last == b)
            height[own] = course.over(feet.p[own], range(a, b + 1))
        floor = sole + options.lifted * (height - sole)
        self.aims = MotionAims(
            feet.p, feet.swings, floor, want.joints, np.ascontiguousarray(want.normals), np.ascontiguousarray(want.heights),
            lower + options.joint_margin, upper - options.joint_margin,
        )  # fmt: skip
        o = options
        self.rates = CostRates(
            o.posture**4, o.height**4, o.limits**4, o.clearance**4, o.swing**4, o.margin, o.self_margin, unit
        )  # fmt: skip

    def restore(self, Q: Array, passes: int = 3) -> bool:
        """Moves the standing feet of `Q` to their footholds by `passes` Newton steps; False if they are out of reach."""
        return bool(np.isfinite(restore_along(self.gecko.body, Q, self.aims, self.rates.unit, passes)))

    def accelerations(self, Q: Array) -> Array:
        """Accelerations of the active joints along `Q` (T − 2, n) [rad/s²]."""
        return np.asarray(np.diff(Q[:, self.gecko.active], 2, axis=0) / self.dt**2)

    def cost(self, Q: Array) -> float:
        """The cost of a motion `Q` (T, n_q)."""
        skin, radius = self.gecko.skin
        total = cost_along(self.gecko.body, skin, radius, self.gecko.apart, Q, self.faces, self.aims, self.rates)
        total += self._bending(Q)[0]
        if self.further is not None:
            terms = self.further(Q, self.feet)
            total += float((terms.weights * terms.values**2).sum())
        return float(total)

    def _bending(self, Q: Array) -> tuple[float, Array, Array]:
        """Cost of the accelerations, half its derivative with respect to each, and half (a bound on) its second derivative."""
        w = self.options
        a = self.accelerations(Q)
        root = np.sqrt(1.0 + (a / w.knee) ** 2)
        above = np.maximum(np.abs(a) - w.peak, 0.0)
        cost = float((2.0 * w.knee**2 * (root - 1.0) + w.steep * above**2).sum())
        return cost, a / root + w.steep * above * np.sign(a), 1.0 / root + w.steep * (above > 0.0)

    def linearized(self, Q: Array) -> tuple[Array, Array, Array]:
        """Null-space bases N (T, columns, 16), the banded matrix, and the gradient (T, 16) at `Q`."""
        T, cols = len(Q), len(self.gecko.active) + 6
        _, slope, weight = self._bending(Q)
        pull, bent = np.zeros((T, cols - 6)), np.zeros((T, cols - 6))
        slope, bent[1:-1] = slope / self.dt**2, weight / self.dt**4
        pull[:-2] += slope
        pull[1:-1] -= 2.0 * slope
        pull[2:] += slope
        terms = CostTerms(np.empty((T, 0, cols)), np.empty((T, 0)), np.empty((T, 0)))
        if self.further is not None:
            terms = self.further(Q, self.feet)
        skin, radius = self.gecko.skin
        N, grad = np.empty((T, cols, FREE_DIMENSIONS)), np.empty((T, FREE_DIMENSIONS))
        band = self._band
        band[:] = 0.0
        linearize_along(
            self.gecko.body, skin, radius, self.gecko.apart, Q, self.faces, self.aims, self.rates, bent, pull,
            terms.rows, terms.values, terms.weights, N, band, grad,
        )  # fmt: skip
        return N, band, grad

    def descend(self, Q: Array, *, iterations: int, after: Callable[[int, float], None] | None = None) -> Array:
        """The best motion near `Q`, whose feet must be on their footholds, after at most `iterations` iterations.

        `after` is called with the number and the cost of every iteration. Ctrl-C ends the descent with the best so far and sets
        `stopped`.
        """
        damping, cost, stalled = self.options.damping, self.cost(Q), 0
        try:
            for k in range(iterations):
                found = self._better(Q, cost, damping)
                if found is None:
                    break
                stalled = 0 if found[1] < cost * (1.0 - self.options.enough) else stalled + 1
                Q, cost, damping = found
                if after is not None:
                    after(k, cost)
                if stalled == self.options.patience:
                    break
        except KeyboardInterrupt:
            self.stopped = True
        return Q

    def _better(self, Q: Array, cost: float, damping: float) -> tuple[Array, float, float] | None:
        """A motion of lower cost, its cost, and the next damping; None if no step lowers the cost."""
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


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Configurations `Q` (T, n_q), `costs` after every iteration of each stage, and whether Ctrl-C `stopped` the work."""

    Q: Array
    costs: tuple[tuple[float, ...], ...]
    stopped: bool


def smooth(
    gecko: Gecko, course: Course, Q: Array, feet: FootPaths, want: Wish, *, options: SmoothOptions = SmoothOptions(),
    further: FurtherTerms | None = None, progress: Listener | None = None,
) -> Smoothed:  # fmt: skip
    """The configurations near `Q` with the smallest joint accelerations.

    gecko, course: the gecko and its course
    Q: the first guess (T, n_q)
    feet: the paths of the feet
    want: what the null space follows
    options: weights, margins and stages
    further: computes further terms of the cost
    progress: called after every iteration

    Ctrl-C returns the best motion so far.
    """
    Q = np.ascontiguousarray(Q).copy()
    T, t, costs, stopped = len(Q), feet.t[: len(Q)], [], False
    effort, done = sum(iterations / every for every, iterations in options.stages), 0.0
    for every, iterations in (*options.stages, (1, 0)):  # the last stage only corrects the feet at every sample
        if feet.steps % every or (T - 1) % every:
            continue
        few = slice(None, None, every)
        own: list[float] = []

        def after(k: int, cost: float, own: list[float] = own, done: float = done, every: int = every) -> None:
            own.append(cost)
            if progress is not None:
                progress(Progress("smoothing", min((done + (k + 1) / every) / effort, 1.0)))

        whole = WholeMotion(gecko, course, feet.every(every, T), want.every(every, T), options=options, further=further)
        some = np.ascontiguousarray(Q[few])
        whole.restore(some)
        some = whole.descend(some, iterations=0 if stopped else iterations, after=after)
        stopped = stopped or whole.stopped
        done += iterations / every
        costs.append(tuple(own))
        Q = _between(some, t[few], t) if every > 1 else some
    whole.restore(Q, 5)
    return Smoothed(Q, tuple(costs[:-1]), stopped)


def _between(Q: Array, t: Array, fine: Array) -> Array:
    """Splines through configurations at times t, evaluated at finer times; the body's rotation is interpolated by quaternions."""
    out = CubicSpline(t, Q)(fine)
    z, y, x = Q[:, 3:6].T
    turned = continuous(so3.quaternion(so3.about(2, z) @ so3.about(1, y) @ so3.about(0, x)))
    out[:, 3:6] = zyx_along(so3.matrix(CubicSpline(t, turned)(fine)), Q[0, 3:6])
    return np.ascontiguousarray(out)
