"""PathTiming: turns a path into a motion that is as fast as limits on speed and acceleration allow.

What is limited, y(q), consists of variables or, for instance, of points in the world. Along a path y(s), with s' = √x and s'' = u,
its velocity is y_s √x, and its acceleration y_s u + y_ss x is linear in u and x.
A backward pass from rest at the end finds, place by place, the largest x from which one can still stop. A forward pass then takes
the largest u that stays below it (reachability analysis, Pham and Pham 2018). Corners, where q_s jumps, are passed at rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter1d

from bunraku.brief import brief
from bunraku.errors import BunrakuError
from bunraku.motion import Motion
from bunraku.planning.ways.fastest_profile import profile
from bunraku.planning.ways.path import Path

Array = NDArray[np.float64]
Limit = ArrayLike | Mapping[str, float]


@dataclass(frozen=True)
class PathTimingOptions:
    """Sampling of the path, and the definition of a corner."""

    spacing: float = 0.02
    """Distance between places at which limits are applied [weighted m]."""
    fewest: int = 64
    """The least number of places on a smooth part of the path."""
    most: int = 20_000
    """The largest number of places on a smooth part of the path."""
    rate: float = 120.0
    """Rate of the samples that are checked against the limits [1/s]."""
    corner: float = 0.02
    """The path stops where its direction turns by more than this, over a thousandth of its length [rad]."""
    smoothing: float = 0.0
    """Limits hold after smoothing by `steadied` with this standard deviation [s]; corners of chains then count less."""
    inner_corner: float = 0.3
    """The same between straight pieces of one curve [rad]; pieces of a round corner turn less."""


@dataclass(frozen=True, eq=False)
class PathLimits:
    """What moves along a path, in groups of values, and the largest speed and acceleration of each group."""

    values: Callable[[Array], Array]
    """Configurations (T, n_q) ↦ values (T, m), in the order of the groups."""
    sizes: tuple[int, ...]
    """Number of values in each group: 3 for a point in space, whose speed is the length of its velocity; 1 for an angle."""
    speed: Array
    """Of each group (g,) [m/s or rad/s]."""
    acceleration: Array
    """Of each group (g,) [m/s² or rad/s²]."""

    __repr__ = brief

    @property
    def first(self) -> NDArray[np.int64]:
        """The first column of each group, and the number of columns (g + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def size(self, values: Array) -> Array:
        """The length of each group of `values` (T, m), as (T, g)."""
        return np.sqrt(np.add.reduceat(values**2, self.first[:-1], axis=1))


@dataclass(frozen=True, eq=False)
class PathTiming:
    """The `place` on a path [weighted m] and its `rate` at times `t` [s]; the rate is linear in between."""

    path: Path
    t: Array
    place: Array
    rate: Array

    __repr__ = brief

    @property
    def duration(self) -> float:
        """Duration of the whole path [s]."""
        return float(self.t[-1])

    def motion(self, dt: float = 1 / 60) -> Motion:
        """A motion with samples every `dt` [s] or slightly less, all on the path; raises BunrakuError if `dt` is not positive."""
        if not 0.0 < dt < math.inf:
            raise BunrakuError(f"dt = {dt} s\n  advice: give a positive number of seconds")
        return self.samples(max(math.ceil(self.duration / dt - 1e-9), 1) + 1)

    def at(self, t: Array) -> Array:
        """Configurations (T, n_q) at increasing times `t` (T,) [s]."""
        return self.path.sample(self.places(t))

    def places(self, t: Array) -> Array:
        """Places on the path (T,) [weighted m] at times `t` (T,) [s]."""
        k = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2)
        since, step = t - self.t[k], self.t[k + 1] - self.t[k]
        return np.asarray(self.place[k] + since * (self.rate[k] + 0.5 * since / step * (self.rate[k + 1] - self.rate[k])))

    def samples(self, count: int) -> Motion:
        """A motion of `count` samples, evenly spaced in time."""
        t = np.linspace(0.0, self.duration, max(count, 2))
        return Motion.of(self.path.space.figure, t, self.at(t))


def timed(
    path: Path, *, speed: Limit = 1.0, acceleration: Limit = 1.0, limits: PathLimits | None = None, slower: Array | None = None,
    options: PathTimingOptions = PathTimingOptions(),
) -> PathTiming:  # fmt: skip
    """The fastest timing of a `path` within limits, at rest at both ends and at corners.

    speed: of every variable [m/s or rad/s]: one number, one for each, or a mapping by name; names not given have the limit 1.
    acceleration: the same [m/s² or rad/s²].
    limits: what is limited instead of the variables; then `speed` and `acceleration` are ignored.
    slower: (n, 2) places along the path [weighted m], and the largest rate there [weighted m/s].
    options: sampling of the path.
    Raises BunrakuError for a path of length zero, for limits that are not positive, or if no speed along the path satisfies them.
    """
    if limits is None:
        v, a = (_limit(path, limit, what) for limit, what in ((speed, "speed"), (acceleration, "acceleration")))
        limits = PathLimits(lambda Q: Q, (1,) * path.space.n, v, a)
    if path.length < 1e-9:
        raise BunrakuError("start and goal are the same: there is no path to time\n  advice: give another goal")
    parts = [np.zeros((1, 3))]
    for start, end in _smooth_parts(path, options):
        own = _fastest(path, start, end, limits, slower, options)[1:]
        own[:, 0] += parts[-1][-1, 0]
        parts.append(own)
    timing = PathTiming(path, *np.concatenate(parts).T)
    # Between places limits may be exceeded a little. Check samples, and stretch time accordingly.
    excess = _excess(timing, limits, options)
    stretch = math.sqrt(max(excess, 1.0))
    return PathTiming(path, stretch * timing.t, timing.place, timing.rate / stretch)


def steadied(Q: Array, width: float) -> Array:
    """Values `Q` (T, n) that begin and end at rest, smoothed by a Gaussian of this `width` [samples].

    They stay at either end for four widths longer, so the result is longer by ⌈4 width⌉ samples on both sides.
    """
    if width <= 0.0:
        return Q
    far = math.ceil(4.0 * width)
    padded = np.pad(Q, ((far, far), (0, 0)), mode="edge")
    return np.asarray(gaussian_filter1d(padded, width, axis=0, mode="nearest", truncate=4.0))


def _excess(timing: PathTiming, limits: PathLimits, options: PathTimingOptions) -> float:
    """The factor by which accelerations exceed their limits."""
    t = np.linspace(0.0, timing.duration, max(int(options.rate * timing.duration), 8))
    y = limits.values(steadied(timing.at(t), options.smoothing / t[1]))
    speed = np.diff(y, axis=0) / t[1]
    still = np.zeros((1, y.shape[1]))
    change = np.diff(np.concatenate([still, speed, still]), axis=0) / t[1]
    fast = limits.size(speed) / limits.speed
    return float(max((limits.size(change) / limits.acceleration).max(), fast.max() ** 2))


def _limit(path: Path, limit: Limit, what: str) -> Array:
    figure = path.space.figure
    if isinstance(limit, Mapping):
        out = np.ones(figure.n_q)
        for name, value in limit.items():
            out[figure.index(name)] = value
    else:
        out = np.broadcast_to(np.asarray(limit, float), (figure.n_q,)).copy()
    if not ((out > 0.0) & np.isfinite(out)).all():
        raise BunrakuError(f"{what}: {out.min():.3g} for {figure.names[int(out.argmin())]}\n  advice: give positive limits")
    return out


def _smooth_parts(path: Path, options: PathTimingOptions) -> list[tuple[float, float]]:
    """The parts of the path between corners."""
    w = path.space.weights
    h = 1e-3 * path.length / max(len(path.curves), 1)
    outer = ((s, options.corner + 20.0 * h) for s in path.knots[1:-1])
    inner = [*outer, *((s, options.inner_corner) for s in path.inner_knots)]
    if not inner:
        return [(0.0, path.length)]
    at, sharp = np.array(sorted(inner)).T
    here = path.sample(at)
    before = path.space.steering.difference(path.sample(at - h), here) * w
    after = path.space.steering.difference(here, path.sample(at + h)) * w
    size = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosine = np.einsum("ij,ij->i", before, after) / np.maximum(size, 1e-300)
    corners = at[(size > 0.0) & (np.arccos(np.clip(cosine, -1.0, 1.0)) > sharp)]
    places = [0.0, *corners.tolist(), path.length]
    return [(a, b) for a, b in pairwise(places) if b - a > 1e-9]


def _fastest(
    path: Path, start: float, end: float, limits: PathLimits, slower: Array | None, options: PathTimingOptions
) -> Array:  # fmt: skip
    """Times, places and rates of one smooth part, at rest at both ends."""
    sizes = [b - a for a, b, curve in zip(path.knots[:-1], path.knots[1:], path.curves, strict=True) if len(curve.knots) > 2]
    spacing = min([options.spacing, *(size / 20 for size in sizes)])
    n = min(max(options.fewest, math.ceil((end - start) / spacing)), options.most) + 1
    s = np.linspace(start, end, n)
    y = limits.values(path.sample(s))
    h = s[1] - s[0]
    if options.smoothing > 0.0:  # straight pieces of a chain, not shorter than the spacing, meet in small corners
        y = gaussian_filter1d(y, 2.0, axis=0, mode="nearest")
    # Differences from place to place, and of these: the limits then hold for the samples.
    y_s = np.gradient(y, h, axis=0, edge_order=2)
    y_ss = np.zeros_like(y)
    y_ss[1:-1] = (y[2:] - 2.0 * y[1:-1] + y[:-2]) / (h * h)
    x, rate = np.empty(n), np.full(n, 1e6) if slower is None else np.interp(s, *slower.T)
    if not profile(y_s, y_ss, limits.first, limits.speed, limits.acceleration, rate, h, x):
        raise BunrakuError("no speed along the path satisfies the limits\n  advice: allow larger accelerations")
    root = np.sqrt(x)
    # u is constant from place to place, so the mean speed between two places is the mean of theirs.
    t = np.concatenate([[0.0], np.cumsum(2.0 * h / np.maximum(root[1:] + root[:-1], 1e-9))])
    return np.stack([t, s, root], 1)
