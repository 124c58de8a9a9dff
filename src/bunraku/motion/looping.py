"""Closes a motion to a loop: its end is bent so that pose and velocity there are those of the start.

Over the last `blend` seconds, s from 0 to 1, a cubic is added to every variable:

    c(s) = d (3 s² − 2 s³) + w blend (s³ − s²)

It begins with value and slope 0, and ends with the value d and the slope w. d is what the end lacks to the start's pose; w is what
its velocity lacks, by differences of second order over three samples, and solved for with the same differences of c: the
velocities of both ends, measured in this way, agree to rounding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MotionError
from bunraku.figure import Figure, plain_kinematics
from bunraku.figure.frame import WORLD, Frame
from bunraku.motion.track import FORCE_FIELDS, Track

Array = NDArray[np.float64]


def closed(track: Track, t: Array, blend: float, travel: bool) -> Track:
    """A `track` with the times `t` [s] whose last `blend` seconds return to the start, except for its way along the floor
    if it may `travel`. Raises MotionError if the blend holds fewer than three samples or is longer than the track.
    """
    over = t > t[-1] - blend * (1.0 + 1e-9)
    if not 0.0 < blend <= (t[-1] - t[0]) * (1.0 + 1e-9) or over.sum() < 4 or len(t) < 5:
        longest = t[-1] - t[0]
        raise MotionError(
            f"cannot close a loop over {blend:g} s", advice=f"give a time of at least three samples, up to {longest:.3g} s"
        )
    lack = track.q[0] - track.q[-1]
    endless = [k for k, v in enumerate(track.figure.variables) if v.motion == "rotate" and np.isinf([v.lower, v.upper]).all()]
    lack[endless] -= 2.0 * np.pi * np.round(lack[endless] / (2.0 * np.pi))
    if travel and travels(track.figure):
        lack += _way(track)
    s = np.clip((t - (t[-1] - blend)) / blend, 0.0, 1.0)
    rise, bend = s * s * (3.0 - 2.0 * s), blend * s * s * (s - 1.0)
    # The blend may reach back to the first samples: their velocity changes with it.
    gap, gap_rise, gap_bend = (_slope(t[:3], x[:3], t[0]) - _slope(t[-3:], x[-3:], t[-1]) for x in (track.q, rise, bend))
    w = -(gap + lack * gap_rise) / gap_bend
    q = track.q + rise[:, None] * lack + bend[:, None] * w
    lower, upper = track.figure.limits
    q = np.clip(q, np.minimum(lower, track.q.min(0)), np.maximum(upper, track.q.max(0)))
    q[-1] = track.q[-1] + lack
    v = None
    if track.v is not None:
        v = track.v + (6.0 * s * (1.0 - s) / blend)[:, None] * lack + (s * (3.0 * s - 2.0))[:, None] * w
        v[-1] = track.v[0]
    return replace(track, q=q, v=v, gap=None, laid=None, **dict.fromkeys(FORCE_FIELDS))  # type: ignore[arg-type]


def travels(figure: Figure) -> bool:
    """Whether some variable moves a `figure` along the floor as a whole."""
    return bool(sliding(figure))


def repeated(track: Track, times: int) -> Track:
    """A closed `track`, so many `times` in a row; each goes on from where the last one ended."""
    gain = track.q[-1] - track.q[0]
    rounds = [track.q[:-1] + k * gain for k in range(times)]
    q = np.concatenate([*rounds, track.q[-1:] + (times - 1) * gain])
    v = None if track.v is None else np.concatenate([*[track.v[:-1]] * times, track.v[-1:]])
    none: Any = dict.fromkeys(("gap", "laid", *FORCE_FIELDS))
    return replace(track, q=q, v=v, **none)


def _slope(t: Array, x: Array, at: float) -> Array:
    """The derivative at a time of the parabola through three samples `x` (3, …)."""
    a, b, c = t
    weights = np.array(
        [(2 * at - b - c) / ((a - b) * (a - c)), (2 * at - a - c) / ((b - a) * (b - c)), (2 * at - a - b) / ((c - a) * (c - b))]
    )
    return np.asarray(np.tensordot(weights, x, 1))


def _way(track: Track) -> Array:
    """How far every variable that moves something along the floor as a whole goes on, (n_q,): as far as what carries most."""
    figure = track.figure
    axes = sliding(figure)
    heaviest = max(axes, key=lambda name: _carried(figure, name))
    chain = [name for name in axes if _trunk(figure, name) == _trunk(figure, heaviest)]
    way = sum(((track.column(name)[-1] - track.column(name)[0]) * axes[name] for name in chain), np.zeros(3))
    out = np.zeros(figure.n_q)
    for name, axis in axes.items():
        out[figure.index(name)] = way @ axis
    return out


def sliding(figure: Figure) -> dict[str, Array]:
    """Variables of a `figure` that slide level, with nothing above them that turns; and their directions in the world."""
    X_W = plain_kinematics.poses(figure.frames, dict.fromkeys(figure.names, 0.0))
    slides, out = {WORLD: True}, {}
    for frame in figure.frames:
        variable = frame.variable
        slides[frame.name] = slides[frame.parent] and (variable is None or variable.motion == "translate")
        if variable is not None and slides[frame.name]:
            axis = X_W[frame.name][:3, :3] @ np.array(variable.axis, float)
            if abs(axis[2]) < 1e-9:
                out[variable.name] = axis
    return out


def _frame_of(figure: Figure, variable: str) -> Frame:
    return next(frame for frame in figure.frames if frame.variable is not None and frame.variable.name == variable)


def _trunk(figure: Figure, variable: str) -> str:
    """The uppermost frame above a variable."""
    frame = _frame_of(figure, variable)
    while frame.parent != WORLD:
        frame = figure.frame(frame.parent)
    return frame.name


def _carried(figure: Figure, variable: str) -> int:
    """How many frames a variable moves."""
    moved = {_frame_of(figure, variable).name}
    for frame in figure.frames:
        if frame.parent in moved:
            moved.add(frame.name)
    return len(moved)
