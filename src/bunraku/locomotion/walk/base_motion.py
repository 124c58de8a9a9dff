"""The motion of a base (the pelvis projected onto the floor): its velocity in its own axes, and when it moves or stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import gaussian_filter1d

from bunraku.brief import brief

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BaseMotionOptions:
    """How the motion of a base is sampled, and which part of it counts as walking."""

    dt: float = 0.02
    """Time between two samples [s]."""
    smoothing: float = 0.1
    """Standard deviation of the Gaussian that smooths velocities [s]."""
    least_pace: float = 0.02
    """Pace below which the person stands [m/s]."""
    shortest_stop: float = 0.4
    """Stops shorter than this are ignored: the person walks on [s]."""
    shift: float = 0.03
    """Distance that the base may move without a step [m]."""


@dataclass(frozen=True, eq=False)
class BaseMotion:
    """(x, y, heading) of a base over a floor at evenly spaced times, and its velocity."""

    t: Array
    """(n,) [s]."""
    base: Array
    """(n, 3): x, y [m], heading [rad] without jumps of a full turn."""
    velocity: Array
    """(n, 3): forward, to the left [m/s], turning left [rad/s]."""
    options: BaseMotionOptions = BaseMotionOptions()

    __repr__ = brief

    @property
    def dt(self) -> float:
        """Time between two samples [s]."""
        return float(self.t[1] - self.t[0])

    @cached_property
    def pace(self) -> Array:
        """Speed that the feet need for this motion (n,) [m/s]: forward, sideways and turning together."""
        return np.asarray(np.sqrt(self.velocity[:, 0] ** 2 + (1.3 * self.velocity[:, 1]) ** 2 + (0.3 * self.velocity[:, 2]) ** 2))

    @cached_property
    def moved(self) -> Array:
        """The integral of the pace (n,) [m]."""
        return integral(self.t, self.pace)

    @cached_property
    def bouts(self) -> list[tuple[int, int]]:
        """First and last sample of every bout of walking, between two stops."""
        moving = np.concatenate([[False], self.pace > self.options.least_pace, [False]])
        edges = np.flatnonzero(np.diff(moving.astype(int)))
        out: list[tuple[int, int]] = []
        for first, after in zip(edges[::2], edges[1::2], strict=True):
            start, end = max(int(first) - 1, 0), min(int(after), len(self.t) - 1)
            if out and self.t[start] - self.t[out[-1][1]] < self.options.shortest_stop:
                out[-1] = out[-1][0], end
            else:
                out.append((start, end))
        return [(a, b) for a, b in out if self.moved[b] - self.moved[a] > self.options.shift]

    def at(self, times: Array) -> Array:
        """(x, y, heading) at `times` (m,) [s], as (m, 3)."""
        return columns_at(times, self.t, self.base)

    def velocity_at(self, times: Array) -> Array:
        """The velocity at `times` (m,) [s], as (m, 3)."""
        return columns_at(times, self.t, self.velocity)


def base_motion(t: Array, base: Array, *, options: BaseMotionOptions = BaseMotionOptions()) -> BaseMotion:
    """The motion of a base that is at `base` (T, 3) (x, y [m], heading [rad]) at times `t` (T,) [s].

    It is interpolated smoothly, without overshoot. `options` determine the sampling.
    """
    count = max(int(np.ceil((t[-1] - t[0]) / options.dt)), 8)
    times = np.linspace(t[0], t[-1], count + 1)
    curve = PchipInterpolator(t, base, axis=0)
    place = curve(times)
    rate = gaussian_filter1d(curve(times, 1), options.smoothing / (times[1] - times[0]), axis=0, mode="constant")
    c, s = np.cos(place[:, 2]), np.sin(place[:, 2])
    velocity = np.stack([c * rate[:, 0] + s * rate[:, 1], c * rate[:, 1] - s * rate[:, 0], rate[:, 2]], 1)
    return BaseMotion(times, place, velocity, options)


def integral(t: Array, rate: Array) -> Array:
    """The integral of `rate` (n,) over the times `t` (n,) [s], from the first time to each, by trapezoids."""
    return np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(t))])


def columns_at(times: Array, t: Array, values: Array) -> Array:
    """Linear interpolation at `times` (m,) of each column of `values` (n, k), known at `t` (n,); (m, k)."""
    return np.stack([np.interp(times, t, column) for column in values.T], -1)
