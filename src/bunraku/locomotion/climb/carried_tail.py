"""The tail: carried so high that it clears the surface, and moved smoothly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from bunraku.kinematics import frames_along
from bunraku.locomotion.climb.any_course import AnyCourse
from bunraku.locomotion.climb.gecko import Gecko, blocks

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TailOptions:
    """Numbers that tune how a tail is carried."""

    margin: float = 0.067
    """Required clearance from the surface [leg lengths]."""
    smoothing: float = 0.3
    """Half the width of the window over which the tail rises and sinks [s]."""
    angles: int = 33
    """Number of angles that are tried, from the rest position to the upper limit."""


def carry_tail(gecko: Gecko, course: AnyCourse, Q: Array, u: Array, dt: float, options: TailOptions = TailOptions()) -> Array:
    """Configurations `Q` (T, n_q) with the tail of a `gecko` raised where the surface of a `course` needs it.

    course: the course
    u: distances along the path of the body (T,) [m]
    dt: time between two samples [s]
    options: clearance and smoothness

    All variables of the tail get the same share of their range. Angles are tried from the rest position up; the first that clears
    the surface is the least at that sample, and the angle that is used is never below the least one, and smooth.
    """
    if not len(gecko.tail):
        return Q
    rest, upper = gecko.start[gecko.tail], np.asarray(gecko.figure.limits[1])[gecko.tail]
    shares = np.linspace(0.0, 1.0, options.angles)
    centre, radius, root = gecko.tail_balls(rest + shares[:, None] * (upper - rest))
    index, measures = gecko.figure.frame_index[root], gecko.measures
    X = np.concatenate([frames_along(gecko.figure, Q[part])[:, index] for part in blocks(len(Q))])
    least, margin = np.zeros(len(Q)), options.margin * measures["leg"]
    for own, faces in course.face_runs(u, max(measures["behind"], measures["tail"]), measures["ahead"]):
        lost = np.arange(own.start, own.stop)  # samples at which no angle tried so far is enough
        best = np.full(len(lost), -np.inf)
        for share, balls in zip(shares, centre, strict=True):
            at = np.einsum("tij,bj->tbi", X[lost, :3, :3], balls) + X[lost, None, :3, 3]
            low = (course.over(at, faces) - radius).min(1)
            higher = low > best
            least[lost[higher]], best[higher] = share, low[higher]
            lost, best = lost[low < margin], best[low < margin]
            if not len(lost):
                break
    width = 2 * max(round(options.smoothing / dt), 1) + 1
    held = maximum_filter1d(least, 2 * width - 1, mode="nearest")
    share = np.clip(uniform_filter1d(uniform_filter1d(held, width, mode="nearest"), width, mode="nearest"), 0.0, 1.0)
    out = Q.copy()
    out[:, gecko.tail] = rest + share[:, None] * (upper - rest)
    return out
