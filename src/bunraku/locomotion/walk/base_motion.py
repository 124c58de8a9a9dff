"""How a base goes: forward, sideways and turning, and when it moves and when it stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import gaussian_filter1d

from bunraku.brief import brief

Array = NDArray[np.float64]
DT = 0.02  # [s] between looks at the way
SMOOTH = 0.1  # [s] over which speeds are averaged
STILL = 0.02  # [m/s] below which nobody walks
PAUSE = 0.4  # [s] shorter stops are walked through
SHIFT = 0.03  # [m] a base may move without a step


@dataclass(frozen=True, eq=False)
class Going:
    """A way over a floor: (x, y, heading) at times, looked at every DT."""

    t: Array
    base: Array
    """(n, 3), the heading without jumps."""
    velocity: Array
    """(n, 3): forward, to the left [m/s], turning left [rad/s]."""

    __repr__ = brief

    @property
    def dt(self) -> float:
        return float(self.t[1] - self.t[0])

    @cached_property
    def pace(self) -> Array:
        """How much is going on [m/s]: sideways and turning count as feet have to move for them."""
        return np.asarray(np.sqrt(self.velocity[:, 0] ** 2 + (1.3 * self.velocity[:, 1]) ** 2 + (0.3 * self.velocity[:, 2]) ** 2))

    @cached_property
    def moved(self) -> Array:
        """The integral of pace [m]."""
        return summed(self.t, self.pace)

    @cached_property
    def bouts(self) -> list[tuple[int, int]]:
        """First and last look of every stretch of walking."""
        moving = np.concatenate([[False], self.pace > STILL, [False]])
        edges = np.flatnonzero(np.diff(moving.astype(int)))
        out: list[tuple[int, int]] = []
        for first, after in zip(edges[::2], edges[1::2], strict=True):
            start, end = max(int(first) - 1, 0), min(int(after), len(self.t) - 1)
            if out and self.t[start] - self.t[out[-1][1]] < PAUSE:
                out[-1] = out[-1][0], end
            else:
                out.append((start, end))
        return [(a, b) for a, b in out if self.moved[b] - self.moved[a] > SHIFT]

    def at(self, times: Array) -> Array:
        return columns_at(times, self.t, self.base)

    def velocity_at(self, times: Array) -> Array:
        return columns_at(times, self.t, self.velocity)


def going(t: Array, base: Array) -> Going:
    """Between samples the base goes smoothly, without overshoot."""
    count = max(int(np.ceil((t[-1] - t[0]) / DT)), 8)
    looks = np.linspace(t[0], t[-1], count + 1)
    curve = PchipInterpolator(t, base, axis=0)
    place = curve(looks)
    rate = gaussian_filter1d(curve(looks, 1), SMOOTH / (looks[1] - looks[0]), axis=0, mode="constant")
    c, s = np.cos(place[:, 2]), np.sin(place[:, 2])
    velocity = np.stack([c * rate[:, 0] + s * rate[:, 1], c * rate[:, 1] - s * rate[:, 0], rate[:, 2]], 1)
    return Going(looks, place, velocity)


def summed(t: Array, rate: Array) -> Array:
    """The integral of a rate from the first time on."""
    return np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(t))])


def columns_at(times: Array, t: Array, values: Array) -> Array:
    return np.stack([np.interp(times, t, column) for column in values.T], -1)
