"""Path: a chain of curves, without time. `shortcut` shortens it, `rounded` rounds its corners."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator, make_interp_spline

from bunraku.collision.way_curve import WayCurve
from bunraku.errors import BunrakuError
from bunraku.kernels.clock import worked
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.steer import Differential, length, part_of, samples

Array = NDArray[np.float64]


@dataclass(eq=False)
class MeasuredCurve:
    """A curve, its weighted length, and a function from shares of its length to parameters, once it was asked for."""

    curve: WayCurve
    length: float
    parameter: Callable[[Array], Array] | None = None


@dataclass(frozen=True, eq=False)
class Path:
    """A chain of curves, each beginning where the last one ended. A place on it is a number from 0 to the weighted length."""

    space: FreeSpace
    curves: tuple[WayCurve, ...]
    measured: dict[int, MeasuredCurve] = field(default_factory=dict, repr=False)
    """What is known of curves, by their `id`; paths that share curves may share it."""

    def __post_init__(self) -> None:
        if not self.curves:
            raise BunrakuError("a path without a curve\n  advice: a path that stays in place has one curve of length zero")

    @cached_property
    def knots(self) -> Array:
        """Places where curves begin, and the end of the last."""
        return np.concatenate([[0.0], np.cumsum([self._measured(curve).length for curve in self.curves])])

    @property
    def length(self) -> float:
        """Weighted length [m]."""
        return float(self.knots[-1])

    def _measured(self, curve: WayCurve) -> MeasuredCurve:
        found = self.measured.get(id(curve))
        if found is None or found.curve is not curve:
            found = self.measured[id(curve)] = MeasuredCurve(curve, length(curve, self.space.weights))
        return found

    def _parameters(self, k: int, shares: Array) -> Array:
        """Parameters of curve `k` at shares of its length."""
        curve = self.curves[k]
        if not len(curve.bends) and len(curve.knots) == 2:
            return shares
        own = self._measured(curve)
        if own.parameter is None and len(curve.bends):
            s = np.linspace(0.0, 1.0, 129)
            own.parameter = PchipInterpolator(self._shares(curve, s), s)
        elif own.parameter is None:
            own.parameter = make_interp_spline(self._shares(curve, curve.knots), curve.knots, k=1)
        return np.asarray(own.parameter(shares))

    def _shares(self, curve: WayCurve, s: Array) -> Array:
        """Shares of the length at parameters s."""
        steps = np.linalg.norm(np.diff(samples(curve, s), axis=0) * self.space.weights, axis=1)
        along = np.concatenate([[0.0], np.cumsum(np.maximum(steps, 1e-12))])
        return np.asarray(along / along[-1])

    @property
    def inner_knots(self) -> Array:
        """Places inside curves where straight pieces meet."""
        spans = zip(self.knots[:-1], self.knots[1:], self.curves, strict=True)
        straight = [a + (b - a) * self._shares(c, c.knots)[1:-1] for a, b, c in spans if not len(c.bends)]
        return np.concatenate([np.zeros(0), *straight])

    @cached_property
    def waypoints(self) -> Array:
        """Ends of the curves (n + 1, n_q), with angles that do not jump."""
        ends = np.stack([*(samples(curve, 0.0) for curve in self.curves), samples(self.curves[-1], 1.0)])
        return self._unwrapped(ends)

    def sample(self, places: ArrayLike) -> Array:
        """Configurations (T, n_q) at increasing `places` along the path [weighted m]; angles do not jump."""
        s = np.clip(np.asarray(places, float), 0.0, self.length)
        which = np.clip(np.searchsorted(self.knots, s, side="right") - 1, 0, len(self.curves) - 1)
        out = np.empty((len(s), self.space.n))
        for k in np.unique(which).tolist():
            own = which == k
            size = self.knots[k + 1] - self.knots[k]
            at = (s[own] - self.knots[k]) / size if size > 0.0 else np.zeros(int(own.sum()))
            out[own] = samples(self.curves[k], self._parameters(k, at))
        return self._unwrapped(out)

    def _unwrapped(self, Q: Array) -> Array:
        wraps = self.space.steering.wraps
        out = Q.copy()
        out[:, wraps] = np.unwrap(Q[:, wraps], axis=0, period=math.tau)
        return out

    def dense(self, step: float = 0.005) -> Array:
        """Configurations so close that no point of a shape moves farther than `step` [m] from one to the next."""
        coarse = self.sample(np.linspace(0.0, self.length, max(int(np.ceil(self.length / (4.0 * step))), 2)))
        return self.space.world.denser(coarse, step=step)

    @property
    def free(self) -> bool:
        """Whether every curve is proven free."""
        return all(self.space.free_along(curve) for curve in self.curves)

    def __repr__(self) -> str:
        return f"<Path: {len(self.curves)} curves, {self.length:.3g} m>"


def through(space: FreeSpace, waypoints: Sequence[Array] | Array) -> Path:
    """The path in a `space` that steers from each of the `waypoints` (n, n_q) to the next; raises BunrakuError for a single one."""
    return Path(space, tuple(space.curve(a, b) for a, b in pairwise(waypoints)))


def _between(path: Path, start: float, end: float) -> tuple[WayCurve, ...]:
    """The curves of the path between two places."""
    knots, out = path.knots, []
    for k, curve in enumerate(path.curves):
        size = knots[k + 1] - knots[k]
        low, high = max(start - knots[k], 0.0), min(end - knots[k], size)
        if high - low > 1e-9 * max(path.length, 1.0):
            if low <= 0.0 and high >= size:
                out.append(curve)
                continue
            ends = path._parameters(k, np.array([low, high]) / size)
            out.append(part_of(curve, float(ends[0]), float(ends[1])))
    return tuple(out)


def shortcut(path: Path, *, seed: int = 0, tries: int = 100, seconds: float = np.inf) -> Path:
    """A shorter path between the same ends: pairs of places are joined directly if the curve between them is free.

    path: the path. seed: of the random places. tries: number of pairs. seconds: budget of processor time [s].
    """
    rng, begun = np.random.default_rng(seed), worked()
    for _ in range(tries):
        if len(path.curves) < 2 or worked() - begun > seconds:
            break
        start, end = np.sort(rng.uniform(0.0, path.length, 2))
        if rng.random() < 0.3:  # pairs of waypoints, so that whole curves are dropped
            a, b = np.sort(rng.choice(len(path.knots), 2, replace=False))
            start, end = path.knots[a], path.knots[b]
        q_a, q_b = path.sample([start, end])
        curve = path.space.curve(q_a, q_b)
        if length(curve, path.space.weights) < (end - start) * (1.0 - 1e-6) and path.space.free_along(curve):
            curves = (*_between(path, 0.0, start), curve, *_between(path, end, path.length))
            path = Path(path.space, curves, path.measured)
    return path


def rounded(path: Path, *, radius: float = 0.4, smallest: float = 0.02, pieces: int = 96) -> Path:
    """A `path` with rounded corners, each as wide as the free space allows.

    A round corner is a chain of short straight pieces along a cubic curve, tangent to both sides. If no round corner is free, the
    corner stays, and a motion along the path must stop there. Paths of wheels that cannot roll sideways keep their corners.

    radius: maximum length that a round corner replaces on either side [weighted m].
    smallest: corners that would be smaller than this are left [weighted m].
    pieces: number of straight pieces in a round corner; with 96, the turn from one to the next is negligible.
    """
    if any(isinstance(part, Differential) for part in path.space.steering.parts):
        return path
    curves = list(path.curves)
    out: list[WayCurve] = []
    for k, curve in enumerate(curves):
        if k == 0:
            out.append(curve)
            continue
        before = out.pop()
        corner = _corner(path.space, before, curve, radius, smallest, pieces)
        out += [before, curve] if corner is None else [part for part in corner if part is not None]
    return Path(path.space, tuple(out))


def _corner(
    space: FreeSpace, before: WayCurve, after: WayCurve, radius: float, smallest: float, pieces: int
) -> tuple[WayCurve | None, WayCurve, WayCurve] | None:  # fmt: skip
    l_a, l_b = length(before, space.weights), length(after, space.weights)
    if min(l_a, l_b) < 1e-6:
        return None
    # The curve ahead keeps half of its length for the next corner; the curve behind may be used up.
    size = min(radius, 0.9 * l_a, 0.5 * l_b)
    while size > smallest:
        a, b = 1.0 - size / l_a, size / l_b
        bend = _bend(space, before, after, a, b, pieces)
        if space.free_along(bend) and space.within(bend.Q).all():
            return part_of(before, 0.0, a), bend, part_of(after, b, 1.0)
        size *= 0.5
    return None


def _bend(space: FreeSpace, before: WayCurve, after: WayCurve, a: float, b: float, pieces: int) -> WayCurve:
    """A cubic Hermite curve in q, as a chain, from `before` at a to `after` at b, tangent to both."""
    h = 1e-4
    start, near = samples(before, [a, a + h * (1.0 - a)])
    far, end = samples(after, [b - h * b, b])
    v_a = space.steering.difference(start, near) / h
    v_b = space.steering.difference(far, end) / h
    # Quadratic if both sides are straight: each handle reaches two thirds of the way to the corner.
    finish = start + space.steering.difference(start, end)
    s = np.linspace(0.0, 1.0, pieces + 1)[:, None]
    p1, p2 = start + 2.0 / 3.0 * v_a, finish - 2.0 / 3.0 * v_b
    Q = space.steering.tied((1 - s) ** 3 * start + 3 * (1 - s) ** 2 * s * p1 + 3 * (1 - s) * s**2 * p2 + s**3 * finish)
    # The parameter is proportional to length, so that the speed is continuous where the corner begins and ends.
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(Q, axis=0) * space.weights, axis=1))])
    return WayCurve(np.ascontiguousarray(Q), along / along[-1])
