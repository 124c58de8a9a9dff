"""Pace: slows a timing down where joints move fast, so that no joint jumps from one sample to the next.

With few samples, legs swing through a large part of a step from one sample to the next. Times are stretched there, and never
shortened, so limits of speed still hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from bunraku.motion import Motion
from bunraku.planning.ways.path_timing import PathTiming

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Paced(PathTiming):
    """A timing with a nonuniform clock."""

    clock: Array
    """(n, 2): its own times, and the corresponding times of the original timing [s]."""

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.clock[-1, 0])

    def at(self, t: Array) -> Array:
        """Configurations (T, n) at times `t` (T,) [s]."""
        return super().at(np.interp(t, *self.clock.T))


def paced(timing: PathTiming, motion: Motion, *, calm: float = 0.17) -> Paced:
    """A `timing` slowed down where joints of its `motion` change by more than `calm` [rad] between samples."""
    old = timing.clock[:, 1] if isinstance(timing, Paced) else np.linspace(0.0, timing.duration, len(motion))
    now = timing.clock[:, 0] if isinstance(timing, Paced) else old
    wide = max(len(motion) // 20, 1)
    need = maximum_filter1d(np.maximum(jumps(motion) / calm, 1e-3), 2 * wide + 1)
    need = gaussian_filter1d(need, wide, mode="nearest")
    # Each interval gets a duration in proportion to its need, and intervals with little need at most their original share.
    share = np.maximum(need, min(1.0, _floor(need)))
    t = np.concatenate([[0.0], np.cumsum(share)])
    places = np.interp(motion.t, now, old)
    steps = np.diff(places)
    stretch = float((steps / np.maximum(np.diff(t), 1e-12)).max())  # nowhere faster than before
    return Paced(timing.path, timing.t, timing.place, timing.rate, np.stack([stretch * t, places], 1))


def _floor(need: Array) -> float:
    """The smallest share for which all shares sum to the number of intervals, if possible; at least 0.2."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.maximum(need, middle).sum() < len(need) else (low, middle)
    return max(low, 0.2)


def jumps(motion: Motion) -> Array:
    """The largest change of an angle of the `motion` from each sample to the next (T − 1,) [rad]."""
    out = np.zeros(len(motion) - 1)
    for track in motion.tracks:
        angles = [k for k, variable in enumerate(track.figure.variables) if variable.motion == "rotate"]
        if angles:
            out = np.maximum(out, np.abs(np.diff(track.q[:, angles], axis=0)).max(1))
    return out
