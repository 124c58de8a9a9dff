"""Joins two motions into one, with or without a blend."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MotionError
from bunraku.motion.interpolate import blended, sampled
from bunraku.motion.track import OPTIONAL_FIELDS, Track

Array = NDArray[np.float64]
Tracks = tuple[Track, ...]


@dataclass(frozen=True, eq=False)
class Seam:
    """Both motions as one; the second was shifted in time by `shift` [s]."""

    t: Array
    tracks: Tracks
    shift: float


def appended(t_a: Array, a: Tracks, t_b: Array, b: Tracks) -> Seam:
    """Tracks `a` with the times `t_a`, then tracks `b` with `t_b` [s]: b starts one of its time steps after a's last sample, or at
    that sample if it is equal to b's first. Raises MotionError for two single samples that differ.
    """
    pairs = tuple(zip(a, b, strict=True))
    if all(np.array_equal(x.q[-1], y.q[0]) for x, y in pairs):
        shift, first = float(t_a[-1] - t_b[0]), 1
    else:
        steps = np.concatenate([np.diff(t_b[:2]), np.diff(t_a[-2:])])
        if not len(steps):
            raise MotionError("cannot join two single samples that differ", advice="give both in one Motion")
        shift, first = float(t_a[-1] + steps[0] - t_b[0]), 0
    t = np.concatenate([t_a, t_b[first:] + shift])
    return Seam(t, tuple(_stacked(x, rows(y, slice(first, None))) for x, y in pairs), shift)


def faded(t_a: Array, a: Tracks, t_b: Array, b: Tracks, blend: float) -> Seam:
    """Tracks `a` with the times `t_a` fade into tracks `b` with `t_b` over `blend` seconds, without a jump in speed."""
    start = float(t_a[-1] - blend)
    shift = start - float(t_b[0])
    t_b = t_b + shift
    before, over = t_a < start - 1e-6 * blend, t_b <= start + blend
    u = np.clip((t_b[over] - start) / blend, 0.0, 1.0)
    s, s_dt = u * u * (3.0 - 2.0 * u), 6.0 * u * (1.0 - u) / blend

    def fade(x: Track, y: Track) -> Track:
        middle = blended(sampled(x, t_a, t_b[over]), rows(y, over), s, s_dt)
        return _stacked(_stacked(rows(x, before), middle), rows(y, ~over))

    return Seam(np.concatenate([t_a[before], t_b]), tuple(starmap(fade, zip(a, b, strict=True))), shift)


def rows(track: Track, which: slice | NDArray[np.bool_]) -> Track:
    """The samples of a `track` at the rows `which`."""
    values = {field: getattr(track, field) for field in ("q", *OPTIONAL_FIELDS)}
    picked: Any = {k: x[which] for k, x in values.items() if x is not None}
    laid = None if track.laid is None else tuple(track.laid[k] for k in np.arange(len(track))[which])
    return Track(track.figure, name=track.name, laid=laid, **picked)


def _stacked(a: Track, b: Track) -> Track:
    """One track after the other, with the fields that both have."""
    pairs = {field: (getattr(a, field), getattr(b, field)) for field in ("q", *OPTIONAL_FIELDS)}
    both: Any = {k: np.concatenate([x, y]) for k, (x, y) in pairs.items() if x is not None and y is not None}
    laid = None
    if a.laid is not None or b.laid is not None:
        laid = tuple(one for track in (a, b) for one in track.laid or ({},) * len(track))
    return Track(a.figure, name=a.name, laid=laid, **both)
