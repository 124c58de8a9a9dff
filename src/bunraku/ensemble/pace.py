"""Pace: a timing that lingers where joints move fast, so that no joint jumps from one sample to the next.

People who take few samples on their way swing their legs by a large part of a step in each. Times are stretched where that
is, and shortened nowhere: limits of speed are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from bunraku.motion import Motion
from bunraku.planning.ways.path_timing import PathTiming

Array = NDArray[np.float64]
CALM = 0.17  # [rad] that a joint should move at most from one sample to the next


@dataclass(frozen=True, eq=False)
class Paced(PathTiming):
    """A timing whose clock runs unevenly: `clock` (n, 2) are its own times and those of the timing it was made of."""

    clock: Array

    @property
    def duration(self) -> float:
        return float(self.clock[-1, 0])

    def at(self, t: Array) -> Array:
        return super().at(np.interp(t, *self.clock.T))


def paced(timing: PathTiming, motion: Motion) -> Paced:
    """Slower where joints of the motion, made of this timing, jump; times are evenly spaced all the same."""
    old = timing.clock[:, 1] if isinstance(timing, Paced) else np.linspace(0.0, timing.duration, len(motion))
    now = timing.clock[:, 0] if isinstance(timing, Paced) else old
    wide = max(len(motion) // 20, 1)
    need = maximum_filter1d(np.maximum(jumps(motion) / CALM, 1e-3), 2 * wide + 1)
    need = gaussian_filter1d(need, wide, mode="nearest")
    # Each interval gets its share of the samples; those that need little keep what even times give them, if there is room.
    share = np.maximum(need, min(1.0, _floor(need)))
    t = np.concatenate([[0.0], np.cumsum(share)])
    places = np.interp(motion.t, now, old)
    steps = np.diff(places)
    stretch = float((steps / np.maximum(np.diff(t), 1e-12)).max())  # no faster anywhere than it was
    return Paced(timing.path, timing.t, timing.place, timing.rate, np.stack([stretch * t, places], 1))


def _floor(need: Array) -> float:
    """The least share such that all shares together are the number of intervals, where that is possible."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.maximum(need, middle).sum() < len(need) else (low, middle)
    return max(low, 0.2)


def jumps(motion: Motion) -> Array:
    """The largest change of an angle from each sample to the next (T − 1,)."""
    out = np.zeros(len(motion) - 1)
    for track in motion.tracks:
        angles = [k for k, variable in enumerate(track.figure.variables) if variable.motion == "rotate"]
        if angles:
            out = np.maximum(out, np.abs(np.diff(track.q[:, angles], axis=0)).max(1))
    return out
