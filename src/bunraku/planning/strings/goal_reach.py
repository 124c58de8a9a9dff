"""Goals that no input can reach, because limbs or strings are too short."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import WORLD, Figure
from bunraku.figure.frame import Frame, Point
from bunraku.figure.string import String
from bunraku.planning.strings.hand_limits import HandLimits

Array = NDArray[np.float64]


def short_of(figure: Figure, at: Point, target: Array, limits: HandLimits) -> tuple[float, str]:
    """A lower bound on the distance of a point from its target, from the lengths of limbs and strings alone.

    figure: has the limbs and strings. at: the point. target: its target [m]. limits: how far the hands may move.
    Returns the missing length [m] (−inf if lengths give no bound), and which part is too short.
    """
    worst, why = -math.inf, ""
    foot = _foot(figure, at)
    if foot is not None:
        base, length = foot
        worst, why = float(np.linalg.norm(target - base)) - length, "its own limbs are too short"
    for string in figure.strings:
        missing = _string_short_of(figure, string, at, target, limits)
        if missing > worst:
            worst, why = missing, f"the string {string.name} is too short, even at its longest and nearest"
    return worst, why


def _chain(figure: Figure, name: str) -> list[Frame]:
    """The frames from `name` up to the world."""
    out = []
    while name != WORLD:
        out.append(figure.frame(name))
        name = out[-1].parent
    return out


def _length(frames: list[Frame]) -> float:
    """The largest distance of the first frame from the parent of the last [m]; infinite if a frame slides."""
    slides = any(f.variable is not None and f.variable.motion != "rotate" for f in frames)
    return math.inf if slides else math.fsum(math.hypot(*f.position) for f in frames)


def _foot(figure: Figure, at: Point) -> tuple[Array, float] | None:
    """Where the chain that carries a point is fixed in the world, and its stretched length; None if it is not fixed."""
    chain = _chain(figure, at.frame)
    moving = [k for k, frame in enumerate(chain) if frame.variable is not None]
    if not moving or any(f.rotation != (1.0, 0.0, 0.0, 0.0) for f in chain[moving[-1] + 1 :]):
        return None
    first = moving[-1]
    length = _length(chain[:first]) + math.hypot(*at.position)
    rotates = chain[first].variable is not None and chain[first].variable.motion == "rotate"  # type: ignore[union-attr]
    if not rotates or not math.isfinite(length):
        return None
    return np.sum([frame.position for frame in chain[first:]], axis=0), length


def _string_short_of(figure: Figure, string: String, at: Point, target: Array, limits: HandLimits) -> float:
    """A lower bound on the distance at which one string keeps a point from a target [m]; −inf if unknown."""
    box = _spindle_box(figure, string, limits)
    if box is None or string.eyelets or string.wraps:
        return -math.inf
    mine, other = _chain(figure, at.frame), _chain(figure, string.hook.frame)
    shared = {frame.name for frame in mine} & {frame.name for frame in other}
    if not shared:
        return -math.inf
    between = _length([f for f in mine if f.name not in shared]) + _length([f for f in other if f.name not in shared])
    between += math.hypot(*at.position) + math.hypot(*string.hook.position)
    longest = string.length
    if string.variable is not None:
        turn = limits.upper if string.ratio > 0.0 else limits.lower
        longest = string.wound(float(turn[figure.kinematic.index(string.variable)]))
    return float(np.linalg.norm(target - np.clip(target, *box))) - longest - between


def _spindle_box(figure: Figure, string: String, limits: HandLimits) -> tuple[Array, Array] | None:
    """Corners of the box in which a spindle slides along the axes; None if it moves otherwise."""
    if string.variable is not None and string.variable not in figure.kinematic:
        return None
    low = high = np.array(string.spindle.position, float)
    for frame in _chain(figure, string.spindle.frame):
        if frame.rotation != (1.0, 0.0, 0.0, 0.0):
            return None
        low, high = low + frame.position, high + frame.position
        if frame.variable is not None:
            if frame.variable.motion != "translate" or not frame.variable.kinematic:
                return None
            k, axis = figure.kinematic.index(frame.variable.name), np.array(frame.variable.axis)
            ends = np.outer([limits.lower[k], limits.upper[k]], axis)
            low, high = low + ends.min(0), high + ends.max(0)
    return low, high
