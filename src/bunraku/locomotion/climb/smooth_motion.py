"""Optimises the whole motion at once: smallest accelerations, with the standing feet exactly on their footholds.

Gauss–Newton over all samples of a window, first with every tenth sample, then every fifth, then all. The window slides along the
path, so that time and memory grow linearly with its length. Accelerations are those of the joints, of
the ankles (on which the feet turn against the legs, whatever the angles that describe it) and of the trunk; the climber stands
still before and after. The cost of an
acceleration is quadratic up to `knee` and linear beyond, so that the sum of accelerations falls too; beyond `peak` it is steep. At
the beginning and the end of a swing the foot is held to its path, which starts and lands at rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.linalg import LinAlgError, solveh_banded

from bunraku.locomotion.climb.any_course import AnyCourse
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.gecko import Gecko, Wish, blocks
from bunraku.locomotion.climb.gecko_kernels import retract_along
from bunraku.locomotion.climb.ground_kernels import Ground
from bunraku.locomotion.climb.smooth_kernels import (
    CostRates,
    MotionAims,
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
    pace: float = 0.25
    """Duration of a swing for which all rates and accelerations are given [s]: a faster climb is the same motion, faster."""
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
    stages: tuple[tuple[int, int], ...] = ((10, 40), (5, 20), (1, 20))
    """For each stage: it uses every n-th sample, and its maximum number of iterations."""
    enough: float = 1e-3
    """Relative decrease of the cost below which an iteration counts as stalled."""
    patience: int = 3
    """Number of stalled iterations in a row that end a stage; a single one may only be damped too much."""
    window: int = 120
    """Number of cycles that are optimised together; a longer motion is optimised window by window."""
    overlap: int = 6
    """Number of cycles at the end of a window that the next one optimises again."""


@dataclass(frozen=True, eq=False)
class CostTerms:
    """Further squared terms: derivatives `rows` (T, r, columns) with respect to the scaled columns; `values`, `weights` (T, r)."""

    rows: Array
    values: Array
    weights: Array


FurtherTerms = Callable[[Array, FootPaths], CostTerms]
"""Computes further terms for configurations (T, n_q) and the feet at these samples."""


def ground_near(gecko: Gecko, course: AnyCourse, u: Array) -> Ground:
    """The surface of a `course` near a `gecko` at distances `u` (T,) along the path of the body [m], for kernels."""
    return course.ground(u, gecko.measures["behind"], gecko.measures["ahead"])


def skin_clearance(gecko: Gecko, course: AnyCourse, Q: Array, u: Array) -> Array:
    """Distance of every ball of the skin of a `gecko` from the surface of a `course` (T, n) [m].

    Q: configurations (T, n_q)
    u: their distances along the path of the body (T,) [m]
    """
    skin, radius, _ = gecko.skin
    out = np.empty((len(Q), len(radius)))
    clearance_along(skin, radius, Q, ground_near(gecko, course, u), out)
    return out


class WholeMotion:
    """The optimisation of a motion whose samples are `dt` [s] apart at the pace of `options`.

    gecko, course: the gecko and its course
    feet: the paths of the feet
    want: what the null space follows
    options: weights and margins
    further: computes further terms of the cost, if any
    fixed: number of samples at the beginning that must not change
    rests: whether it stands still before the first sample and after the last; otherwise these have no acceleration
    """

    def __init__(
        self, gecko: Gecko, course: AnyCourse, feet: FootPaths, want: Wish, *, options: SmoothOptions,
        further: FurtherTerms | None = None, fixed: int = 0, rests: tuple[bool, bool] = (True, True),
    ) -> None:  # fmt: skip
        self.gecko, self.feet, self.options, self.further, self.fixed, self.rests = gecko, feet, options, further, fixed, rests
        self.stopped = False
        self.dt = float(feet.t[1] - feet.t[0]) * options.pace / (feet.quarter - feet.pause)
        cols, n_feet, n_spine = len(gecko.active) + 6, feet.p.shape[1], len(gecko.trunk)
        self.free = cols - 3 * (n_feet - int(feet.aloft.sum(1).max()))  # dimensions of the null space while feet swing
        self._shares = np.repeat([1.0, options.trunk, options.ankle], [cols - 6, 3 * n_spine, 3 * gecko.n_ankles])
        self._seen: tuple[Array, Array, Array] | None = None
        self.ground = ground_near(gecko, course, course.pace.at(feet.t / feet.cycle))
        soles, lift = self._lifted(course)
        lower, upper = gecko.limits()
        self.aims = MotionAims(
            feet.p, np.ascontiguousarray(feet.R[:, : gecko.n_ankles]), feet.loose(options.landing), soles, lift, want.joints,
            np.ascontiguousarray(want.normals), np.ascontiguousarray(want.heights), lower + options.joint_margin,
            upper - options.joint_margin, gecko.shanks, math.cos(gecko.roles.lean - options.joint_margin),
        )  # fmt: skip
        o, unit = options, gecko.measures["leg"]
        self.rates = CostRates(o.posture**4, o.height**4, o.limits**4, o.clearance**4, o.swing**4, o.self_margin * unit, unit)
        _, radius, near = gecko.skin
        self._keep = radius + unit * np.where(near, o.near_margin, o.margin)

    def _lifted(self, course: AnyCourse) -> tuple[Array, Array]:
        """The balls of the feet relative to their centres (T, feet, balls, 3), and the least height of the centres of those of
        swinging feet (T, feet, balls)."""
        feet = self.feet
        local, radius = self.gecko.soles
        soles = np.einsum("tfij,fbj->tfbi", feet.R, local)
        height, places = np.zeros(soles.shape[:3]), feet.p[:, :, None] + soles
        measures = self.gecko.measures
        for own, faces in course.face_runs(course.pace.at(feet.t / feet.cycle), measures["behind"], measures["ahead"]):
            swings = feet.aloft[own]
            above = height[own]
            above[swings] = course.over(places[own][swings], faces)
            height[own] = above
        planned = np.maximum(height - radius, 0.0)
        rise = self.options.swing_margin * self.gecko.measures["leg"] * np.clip(feet.share(self.options.landing) / 0.1, 0.0, 1.0)
        return soles, radius + self.options.lifted * planned + rise[:, None, None]

    @cached_property
    def _bands(self) -> tuple[Array, Array]:
        """Room for the normal equations, tens of megabytes, allocated once rather than at each iteration."""
        size = len(self.feet.t) * self.free, 3 * self.free
        return np.empty(size), np.empty(size)

    def restore(self, Q: Array, passes: int = 3) -> bool:
        """Moves the standing feet of `Q` to their footholds by `passes` Newton steps; False if they are out of reach."""
        kept, feet, loose = self.fixed, self.aims.feet, self.aims.loose
        return bool(np.isfinite(restore_along(self.gecko.body, Q[kept:], feet[kept:], loose[kept:], self.rates.unit, passes)))

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
            self.gecko.body, skin, self._keep, self.gecko.apart, Q, self.ground, self.aims, self.rates, spine, legs
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
        w = np.zeros((T + 1, legs.shape[1], 3))  # nothing turns before the first sample and after the last
        turning_along(legs, self.aims.turns, w[1:-1])
        straight = np.concatenate([Q[:, self.gecko.active], spine.reshape(T, -1) / self.rates.unit], 1)
        still = np.concatenate([straight[:1], straight, straight[-1:]])
        a = np.concatenate([np.diff(still, 2, axis=0), np.diff(w, axis=0).reshape(T, -1)], 1) * self._shares / self.dt**2
        a[: 1 - self.rests[0]], a[T - 1 + self.rests[1] :] = 0.0, 0.0
        o = self.options
        root = np.sqrt(1.0 + (a / o.knee) ** 2)
        above = np.maximum(np.abs(a) - o.peak, 0.0)
        cost = float((2.0 * o.knee**2 * (root - 1.0) + o.steep * above**2).sum())
        slope = (a / root + o.steep * above * np.sign(a)) * self._shares / self.dt**2
        bent, pull = (1.0 / root + o.steep * (above > 0.0)) * self._shares**2 / self.dt**4, np.zeros((T, a.shape[1]))
        bent[: 1 - self.rests[0]], bent[T - 1 + self.rests[1] :] = 0.0, 0.0
        k = n + 3 * spine.shape[1]
        padded = np.concatenate([slope[:1, :k], slope[:, :k], slope[-1:, :k]])
        pull[:, :k] = np.diff(padded, 2, axis=0)
        by_turn = -np.diff(slope[:, k:], axis=0).reshape(T - 1, -1, 3)  # half the gradient by the rotation vectors between samples
        before, after = _turned_by(w[1:-1], by_turn)
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
        band = self._bands[0]
        band[:] = 0.0
        linearize_along(
            self.gecko.body, self.gecko.skin[0], self._keep, self.gecko.apart, Q, self.ground, self.aims, self.rates, bent, pull,
            terms.rows, terms.values, terms.weights, N, band, grad,
        )  # fmt: skip
        kept = self.fixed * self.free
        band[:kept], grad[: self.fixed] = 0.0, 0.0  # the unknowns of fixed samples are zero
        band[:kept, 0] = 1.0
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
        damped = self._bands[1]
        for _ in range(20):
            np.copyto(damped, band)
            damped[:, 0] += damping**4
            try:
                z = solveh_banded(damped.T, -grad.ravel(), lower=True, check_finite=False, overwrite_ab=True)
            except LinAlgError:
                damping *= 2.0
                continue
            D = np.einsum("tcm,tm->tc", N, z.reshape(grad.shape)) * scale
            trial, kept = Q.copy(), self.fixed
            retract_along(self.gecko.body, trial[kept:], D[kept:], min(1.0, 0.5 / max(float(np.abs(D).max()), 1e-12)))
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
    """Configurations `Q` (T, n_q), `costs` after every iteration of each stage of each window, and whether Ctrl-C `stopped` it."""

    Q: Array
    costs: tuple[tuple[float, ...], ...]
    stopped: bool


def smooth(
    gecko: Gecko, course: AnyCourse, Q: Array, feet: FootPaths, want: Wish, *, options: SmoothOptions = SmoothOptions(),
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
    costs: list[tuple[float, ...]] = []
    stopped = False
    windows = _windows(len(Q), feet, options)
    for k, (since, kept, until) in enumerate(windows):

        def part(done: float, k: int = k) -> None:
            if progress is not None:
                progress(Progress("smoothing", min((k + done) / len(windows), 1.0)))

        own_feet, own_want, fixed = feet.every(1, until, since), want.every(1, until, since), kept - since
        last = until == len(Q)
        found = _smooth_window(gecko, course, Q[since:until], fixed, last, own_feet, own_want, options, further, part, stopped)
        Q[kept:until], stopped = found.Q[fixed:], found.stopped
        costs += found.costs
    return Smoothed(Q, tuple(costs), stopped)


def _windows(T: int, feet: FootPaths, options: SmoothOptions) -> list[tuple[int, int, int]]:
    """First sample of every window, its first one that is not fixed, and the end; all windows but the first begin with a step that
    is fixed, so that accelerations are continuous."""
    cycle = feet.steps * feet.parts
    window, advance = options.window * cycle, max(options.window - options.overlap, 1) * cycle
    found = [(0, 0, min(window + 1, T))]
    while found[-1][2] < T:
        begin = len(found) * advance
        found.append((begin - feet.steps, begin + 1, min(begin + window + 1, T)))
    return found


def _smooth_window(
    gecko: Gecko, course: AnyCourse, Q: Array, fixed: int, last: bool, feet: FootPaths, want: Wish, options: SmoothOptions,
    further: FurtherTerms | None, progress: Callable[[float], None], stopped: bool,
) -> Smoothed:  # fmt: skip
    """`smooth` for one window, whose first `fixed` samples do not change; at the end of the `last` one it stands still."""
    T, t, first, costs = len(Q), feet.t, Q[:fixed].copy(), []
    effort, done = sum(iterations / every for every, iterations in options.stages), 0.0
    for every, iterations in (*options.stages, (1, 0)):  # the last stage only corrects the feet at every sample
        if feet.steps % every or (T - 1) % every:
            continue
        own: list[float] = []

        def after(k: int, cost: float, own: list[float] = own, done: float = done, every: int = every) -> None:
            own.append(cost)
            progress((done + (k + 1) / every) / effort)

        own_options = replace(options, landing=0.0) if stopped else options  # what was not smoothed would jump there
        whole = WholeMotion(
            gecko, course, feet.every(every, T), want.every(every, T), options=own_options, further=further,
            fixed=-(-fixed // every), rests=(fixed == 0, last),
        )  # fmt: skip
        some = np.ascontiguousarray(Q[::every])
        whole.restore(some)
        some = whole.descend(some, iterations=0 if stopped else iterations, after=after)
        stopped = stopped or whole.stopped
        done += iterations / every
        costs.append(tuple(own))
        Q = between(some, t[::every], t) if every > 1 else some
        Q[:fixed] = first
    whole.restore(Q, 5)
    return Smoothed(Q, tuple(costs[:-1]), stopped)


def refined(gecko: Gecko, Q: Array, feet: FootPaths, fine: FootPaths, options: SmoothOptions = SmoothOptions()) -> Array:
    """Configurations at the samples of `fine`, which are the paths of the `feet` at shorter intervals, with all feet in place.

    Splines through `Q` (T, n_q) of a `gecko` give the samples in between; `options` say how long a landing foot keeps to its path.
    """
    if len(Q) < 2:
        return Q.copy()
    times, far = fine.steps // feet.steps, 50  # a spline forgets by a quarter at each sample
    out = np.empty(((len(Q) - 1) * times + 1, Q.shape[1]))
    for part in blocks(len(Q)):
        near, inner = slice(max(part.start - far, 0), part.stop + far), slice(part.start * times, part.stop * times)
        out[inner] = between(Q[near], feet.t[: len(Q)][near], fine.t[: len(out)][inner])
    restore_along(gecko.body, out, fine.p[: len(out)], fine.loose(options.landing)[: len(out)], gecko.measures["leg"], 5)
    return out


def between(Q: Array, t: Array, fine: Array) -> Array:
    """Splines through configurations `Q` (T, n_q) at times `t` (T,), evaluated at `fine` times [s]; the body's rotation is
    interpolated by quaternions."""
    out = CubicSpline(t, Q)(fine)
    z, y, x = Q[:, 3:6].T
    turned = continuous(so3.quaternion(so3.about(2, z) @ so3.about(1, y) @ so3.about(0, x)))
    out[:, 3:6] = zyx_along(so3.matrix(CubicSpline(t, turned)(fine)), Q[0, 3:6])
    return np.ascontiguousarray(out)
