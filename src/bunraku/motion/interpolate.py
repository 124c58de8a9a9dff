"""Interpolation: linear for numbers, along the shortest rotation for orientations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.figure import Figure
from bunraku.motion.laid_strings import laid_between
from bunraku.motion.orientation import turns
from bunraku.motion.track import FORCE_FIELDS, OPTIONAL_FIELDS, Track
from bunraku.spatial import so3

Array = NDArray[np.float64]


def between(figure: Figure, a: Array, b: Array, s: Array) -> Array:
    """Configurations (k, n_q) of a `figure` between `a` (s = 0) and `b` (s = 1), both (k, n_q), at the fractions `s` (k,)."""
    q = straight(a, b, s)
    inside = (s > 0.0) & (s < 1.0)
    for turn in turns(figure):
        start, end = turn.quaternion(a[inside]), turn.quaternion(b[inside])
        R = so3.matrix(so3.slerp(start, end, s[inside]))
        # Of the equivalent triples of angles, the one nearest to linear interpolation continues the samples on both sides.
        q[np.ix_(inside, turn.columns)] = turn.angles(R, q[np.ix_(inside, turn.columns)])
    return q


def straight(a: Array, b: Array, s: Array) -> Array:
    """`a` + `s` (`b` − `a`), and exactly b at s = 1."""
    s = s[:, None]
    return np.where(s == 1.0, b, a + s * (b - a))


def sampled(track: Track, t: Array, times: Array) -> Track:
    """The `track`, whose samples are at `t`, at other `times` [s]; before its start and after its end it does not move."""
    if len(t) == 1:
        before, after, s = np.zeros(len(times), int), np.zeros(len(times), int), np.zeros(len(times))
    else:
        before = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
        after = before + 1
        s = np.clip((times - t[before]) / (t[after] - t[before]), 0.0, 1.0)

    def linear(values: Array | None) -> Array | None:
        return None if values is None else straight(values[before], values[after], s)

    q, laid = between(track.figure, track.q[before], track.q[after], s), None
    if track.laid is not None:
        laid = tuple(laid_between(track.laid[a], track.laid[b], x) for a, b, x in zip(before, after, s.tolist(), strict=True))
    fields = {field: linear(getattr(track, field)) for field in OPTIONAL_FIELDS}
    return replace(track, q=q, laid=laid, **fields)  # type: ignore[arg-type]


def blended(a: Track, b: Track, s: Array, s_dt: Array) -> Track:
    """A track that changes from `a` to `b`, which have the same times, as `s` goes from 0 to 1 at the rate `s_dt` [1/s].

    Forces, and where strings lie on bodies, belong to the physics of one motion or the other, and are left out.
    """
    v = None
    if a.v is not None and b.v is not None:
        v = straight(a.v, b.v, s) + s_dt[:, None] * (b.q - a.q)
    q = between(b.figure, a.q, b.q, s)
    return replace(b, q=q, v=v, gap=None, laid=None, **dict.fromkeys(FORCE_FIELDS))  # type: ignore[arg-type]


def unwrapped(track: Track) -> Track:
    """The `track` without jumps by whole turns, as some files contain; rotations with limits stay within them."""
    q = np.array(track.q)
    turning = [(k, v) for k, v in enumerate(track.figure.variables) if v.motion == "rotate"]
    endless = [k for k, v in turning if np.isinf([v.lower, v.upper]).all()]
    q[:, endless] = np.unwrap(q[:, endless], axis=0)
    for turn in turns(track.figure):
        if set(turn.columns.tolist()) <= set(endless):
            q[:, turn.columns] = turn.along(so3.matrix(turn.quaternion(q)), q[0, turn.columns])
    return replace(track, q=q)
