"""Optimises the whole motion at once: smallest accelerations, with the standing feet exactly on their footholds.

Gauss–Newton over all samples, first with every tenth sample, then every fifth, then all. Accelerations are those of the joints, of
the ankles (on which the feet turn against the legs, whatever the angles that describe it) and of the trunk. The cost of an
acceleration is quadratic up to `knee` and linear beyond, so that the sum of accelerations falls too; beyond `peak` it is steep. At
the beginning and the end of a swing the foot is held to its path, which starts and lands at rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.linalg import LinAlgError, solveh_banded

from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.gecko import Gecko, Wish
from bunraku.locomotion.climb.gecko_kernels import retract_along
from bunraku.locomotion.climb.smooth_kernels import (
    CostRates,
    MotionAims,
    NearFaces,
    clearance_along,
    cost_along,
    linearize_along,
    restore_along,
    turning_along,
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
    trunk: float = 1.2
    """How much an acceleration of the trunk counts, in leg lengths/s², compared with one of a joint in rad/s²."""
    ankle: float = 0.4
    """How much an acceleration of an ankle counts, compared with one of a joint."""
    landing: float = 0.045
    """The share of a swing at its beginning and at its end in which the foot is held to its path."""
    margin: float = 0.067
    """Required clearance of the skin from the surface [leg lengths]; the links above the feet need `near_margin`."""
    near_margin: float = 0.035
    """Required clearance of the links that end in the feet [leg lengths]."""
    swing_margin: float = 0.004
    """Clearance of the swinging foot that is required in addition to its share `lifted` [leg lengths]."""
    self_margin: float = 0.034
    """Required clearance of the climber from itself [leg lengths]."""
    joint_margin: float = 0.02
    """Distance that joints keep from their limits [rad]."""
    lifted: float = 0.6
    """Smallest allowed height of a swinging foot, as a share of the planned height."""
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


def faces_near(gecko: Gecko, course: Course, u: Array) -> NearFaces:
    """The faces of a `course` near a `gecko` at distances `u` (T,) along the path of the body [m], for kernels."""
    first, last = course.faces_between(u, gecko.measures["behind"], gecko.measures["ahead"])
    normal = np.array([X[:3, 2] for X in course.faces])
    offset = np.array([X[:3, 3] @ X[:3, 2] for X in course.faces])
    return NearFaces(normal, offset, np.array([*course.convex, False]), first, last)


def skin_clearance(gecko: Gecko, course: Course, Q: Array, u: Array) -> Array:
    """Distance of every ball of the skin of a `gecko` from the planes of a `course` (T, n) [m].

    Q: configurations (T, n_q)
    u: their distances along the path of the body (T,) [m]
    """
    skin, radius, _ = gecko.skin
    out = np.empty((len(Q), len(radius)))
    clearance_along(skin, radius, Q, faces_near(gecko, course, u), out)
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
        self.dt = float(feet.t[1] - feet.t[0])
        cols, n_feet, n_spine = len(gecko.active) + 6, feet.p.shape[1], len(gecko.trunk)
        self.free = cols - 3 * (n_feet - 1)  # dimensions of the null space while one foot swings
        self._shares = np.repeat([1.0, options.trunk, options.ankle], [cols - 6, 3 * n_spine, 3 * gecko.n_ankles])
        self._seen: tuple[Array, Array, Array] | None = None
        # Tens of megabytes, allocated once rather than at each iteration.
        self._band, self._damped = (np.empty((len(feet.t) * self.free, 3 * self.free)) for _ in range(2))
        self.faces = faces_near(gecko, course, course.stride * feet.t / feet.cycle)
        soles, lift = self._lifted(course)
        lower, upper = gecko.limits()
        self.aims = MotionAims(
            feet.p, np.ascontiguousarray(feet.R[:, : gecko.n_ankles]), feet.held(options.landing), soles, lift, want.joints,
            np.ascontiguousarray(want.normals), np.ascontiguousarray(want.heights), lower + options.joint_margin,
            upper - options.joint_margin,
        )  # fmt: skip
        o, unit = options, gecko.measures["leg"]
        self.rates = CostRates(o.posture**4, o.height**4, o.limits**4, o.clearance**4, o.swing**4, o.self_margin * unit, unit)
        _, radius, near = gecko.skin
        self._keep = radius + unit * np.where(near, o.near_margin, o.margin)

    def _lifted(self, course: Course) -> tuple[Array, Array]:
        """The balls of the swinging foot relative to its centre (T, balls, 3), and the least height of their centres (T, balls)."""
        feet = self.feet
        local, radius = self.gecko.soles
        foot, T = np.maximum(feet.swings, 0), np.arange(len(feet.t))
        soles = np.einsum("tij,tbj->tbi", feet.R[T, foot], local[foot])
        height, places = np.empty(soles.shape[:2]), feet.p[T, foot][:, None] + soles
        for a, b in sorted(set(zip(self.faces.first.tolist(), self.faces.last.tolist(), strict=True))):
            own = (self.faces.first == a) & (self.faces.last == b)
            height[own] = course.over(places[own], range(a, b + 1))
        planned = np.maximum(height - radius[foot], 0.0)
        rise = self.options.swing_margin * self.gecko.measures["leg"] * np.clip(feet.share(self.options.landing) / 0.1, 0.0, 1.0)
        return soles, radius[foot] + self.options.lifted * planned + rise[:, None]

    def restore(self, Q: Array, passes: int = 3) -> bool:
        """Moves the standing feet of `Q` to their footholds by `passes` Newton steps; False if they are out of reach."""
        return bool(np.isfinite(restore_along(self.gecko.body, Q, self.aims, self.rates.unit, passes)))

    def cost(self, Q: Array) -> float:
        """The cost of a motion `Q` (T, n_q)."""
        total = self._look(Q) + self._bending(Q)[0]
        if self.further is not None:
            terms = self.further(Q, self.feet)
            total += float((terms.weights * terms.values**2).sum())
        return float(total)

    def _look(self, Q: Array) -> float:
        """The cost of `Q` without accelerations; keeps the points of the trunk and the rotations of the legs, which they need."""
        skin, _, _ = self.gecko.skin
        spine, legs = np.empty((len(Q), len(self.gecko.trunk), 3)), np.empty((len(Q), self.gecko.n_ankles, 3, 3))
        total = cost_along(
            self.gecko.body, skin, self._keep, self.gecko.apart, Q, self.faces, self.aims, self.rates, spine, legs
        )  # fmt: skip
        self._seen = Q, spine, legs
        return float(total)

    def _bending(self, Q: Array) -> tuple[float, Array, Array]:
        """Cost of the accelerations, half its gradient by the quantities of each sample (T, k), and half (a bound on) its second
        derivative by each acceleration (T, k)."""
        if self._seen is None or self._seen[0] is not Q:
            self._look(Q)
        assert self._seen is not None
        _, spine, legs = self._seen
        T, n = len(Q), len(self.gecko.active)
        w = np.empty((T - 1, legs.shape[1], 3))
        turning_along(legs, self.aims.turns, w)
        straight = np.concatenate([Q[:, self.gecko.active], spine.reshape(T, -1) / self.rates.unit], 1)
        a = np.concatenate([np.diff(straight, 2, axis=0), np.diff(w, axis=0).reshape(T - 2, -1)], 1) * self._shares / self.dt**2
        o = self.options
        root = np.sqrt(1.0 + (a / o.knee) ** 2)
        above = np.maximum(np.abs(a) - o.peak, 0.0)
        cost = float((2.0 * o.knee**2 * (root - 1.0) + o.steep * above**2).sum())
        slope = (a / root + o.steep * above * np.sign(a)) * self._shares / self.dt**2
        bent, pull = np.zeros((T, a.shape[1])), np.zeros((T, a.shape[1]))
        bent[1:-1] = (1.0 / root + o.steep * (above > 0.0)) * self._shares**2 / self.dt**4
        k = n + 3 * spine.shape[1]
        pull[:-2, :k] += slope[:, :k]
        pull[1:-1, :k] -= 2.0 * slope[:, :k]
        pull[2:, :k] += slope[:, :k]
        by_turn = np.zeros(w.shape)  # half the gradient by the rotation vectors between samples
        by_turn[1:] += slope[:, k:].reshape(T - 2, -1, 3)
        by_turn[:-1] -= slope[:, k:].reshape(T - 2, -1, 3)
        before, after = _turned_by(w, by_turn)
        pull[:-1, k:] += before.reshape(T - 1, -1)
        pull[1:, k:] += after.reshape(T - 1, -1)
        return cost, pull, bent

    def linearized(self, Q: Array) -> tuple[Array, Array, Array]:
        """Null-space bases N (T, columns, free), the banded matrix, and the gradient (T, free) at `Q`."""
        T, cols = len(Q), len(self.gecko.active) + 6
        _, pull, bent = self._bending(Q)
        terms = CostTerms(np.empty((T, 0, cols)), np.empty((T, 0)), np.empty((T, 0)))
        if self.further is not None:
            terms = self.further(Q, self.feet)
        N, grad = np.empty((T, cols, self.free)), np.empty((T, self.free))
        band = self._band
        band[:] = 0.0
        linearize_along(
            self.gecko.body, self.gecko.skin[0], self._keep, self.gecko.apart, Q, self.faces, self.aims, self.rates, bent, pull,
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


def _turned_by(w: Array, g: Array) -> tuple[Array, Array]:
    """From the gradient `g` by rotation vectors w = log(AᵀB) (..., 3), those by small rotations of A and of B, in their own axes.

    dw = J(w) δB − J(−w) δA, with the inverse right Jacobian J(w) = 1 + [w]/2 + κ [w]², κ = 1/θ² − (1 + cos θ)/(2 θ sin θ).
    """
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    near = angle < 1e-2
    safe = np.where(near, 1.0, angle)
    kappa = np.where(near, 1.0 / 12.0 + angle**2 / 720.0, 1.0 / safe**2 - (1.0 + np.cos(safe)) / (2.0 * safe * np.sin(safe)))
    once = np.cross(w, g)
    twice = kappa * np.cross(w, once)
    return -(g + 0.5 * once + twice), g - 0.5 * once + twice


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
    """The configurations near `Q` with the smallest accelerations.

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

        own_options = (
            replace(options, landing=0.0) if stopped else options
        )  # what was not smoothed would jump to the landing's path
        whole = WholeMotion(gecko, course, feet.every(every, T), want.every(every, T), options=own_options, further=further)
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
