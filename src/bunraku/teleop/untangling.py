"""Untangling: an unseen helper carries a puppet back into order, while time, recording and other figures go on.

Limbs go from where they are to where they hang at the start, on the shortest rotations, and spindles to their places above them.
The puppet stays where it is on the floor. Strings that can be wound are let out as far as the way needs, so that none is too short.
Then the helper lets go, and physics goes on from rest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import WORLD, Figure, Frame
from bunraku.kinematics import pose
from bunraku.motion.interpolate import between
from bunraku.motion.looping import sliding

Array = NDArray[np.float64]


def in_order(figure: Figure, q: Array, start: Array) -> Array:
    """The configuration of a puppet in order: that of its `start`, moved along the floor to where its spindles are at `q`.

    What hangs on no string of the `figure` (a ball beside it) stays where it is.
    """
    out = np.where(_hangs(figure), start, q)
    lower, upper = figure.limits
    axes = {figure.index(name): axis for name, axis in sliding(figure).items()}
    spindles = [k for k in axes if figure.names[k] in figure.kinematic]
    if not spindles:
        return out
    here, then = (pose(figure, at) for at in (q, start))
    points = [string.spindle for string in figure.strings if string.spindle.frame != WORLD]
    way = np.mean([here.point(at.frame, at.position) - then.point(at.frame, at.position) for at in points], axis=0)
    for _ in range(2):  # as far as all of them can go
        for k in spindles:
            room = np.clip(start[k] + way @ axes[k], lower[k], upper[k]) - start[k]
            way = way + (room - way @ axes[k]) * axes[k]
    moved = _hangs(figure)
    for k, axis in axes.items():
        if moved[k]:
            out[k] = start[k] + way @ axis
    return out


def carried(figure: Figure, q: Array, goal: Array, steps: int) -> Iterator[Array]:
    """Configurations of a `figure` from `q` to the `goal`, in so many `steps`, slow at both ends; the last one is the goal."""
    for k in range(1, steps):
        s = k / steps
        s = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)  # velocity and acceleration are 0 at both ends
        yield _let_out(figure, between(figure, q[None], goal[None], np.array([s]))[0])
    yield goal.copy()


def _let_out(figure: Figure, q: Array) -> Array:
    """With strings that are at least as long as their ways."""
    gaps = pose(figure, q).gaps
    for string, gap in zip(figure.strings, gaps, strict=False):
        if gap > 0.0 and string.variable is not None and string.ratio != 0.0:
            k = figure.index(string.variable)
            q[k] = float(string.winding(string.wound(q[k]) + gap))
    return q


def _hangs(figure: Figure) -> NDArray[np.bool_]:
    """Whether each variable moves something that hangs on a string, or a string itself."""
    strung = {at.frame for string in figure.strings for at in (string.hook, string.spindle)}
    tops = {_top(figure, name) for name in strung if name != WORLD}
    moved = {frame.variable.name for frame in figure.frames if frame.variable is not None and _top(figure, frame.name) in tops}
    moved |= {string.variable for string in figure.strings if string.variable is not None}
    return np.array([name in moved for name in figure.names], bool)


def _top(figure: Figure, name: str) -> str:
    """The uppermost frame above a frame."""
    frame: Frame = figure.frame(name)
    while frame.parent != WORLD:
        frame = figure.frame(frame.parent)
    return frame.name
