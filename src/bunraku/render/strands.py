"""Strings as they are drawn: straight where taut, sagging where slack, coloured by tension."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.figure import Figure
from bunraku.figure.plain_wrapping import Branched, branches
from bunraku.figure.pulley import Drum
from bunraku.figure.shape import Color
from bunraku.kinematics.ways import placing
from bunraku.motion.laid_strings import LaidPoints

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StrandColors:
    """Colours of strings in pictures."""

    slack: Color = (0.30, 0.31, 0.33)
    """A string that does not pull."""
    plain: Color = (0.36, 0.26, 0.18)
    """A taut string whose tension is not known."""
    tension: tuple[Color, Color, Color] = ((0.06, 0.50, 0.55), (0.82, 0.53, 0.0), (0.75, 0.11, 0.07))
    """Taut strings, as on the stage: without tension, with half of the largest, with the largest; mixed in between."""


@dataclass(frozen=True)
class Strand:
    """One string as it is drawn: points from hook to spindle [m], length if known [m], tension if known [N]."""

    points: Array
    length: float | None = None
    tension: float | None = None


def strands(
    figure: Figure, frames: Array, q: ArrayLike | None = None, tension: ArrayLike | None = None, laid: LaidPoints | None = None
) -> tuple[Strand, ...]:
    """The strings and wires of a `figure` whose frames X_WF are `frames` (n, 4, 4).

    q: configuration [rad, m], so that slack strings sag
    tension: of strings, then wires [N], so that taut ones are coloured by it
    laid: points of strings that lie on bodies, as a sample of `Track.laid` has them
    """
    where = placing(figure, frames)
    values = None if q is None else np.asarray(q, float)
    pulls = None if tension is None else np.asarray(tension, float)
    out = []
    for k, string in enumerate((*figure.strings, *figure.wires)):
        length, wound = None, isinstance(string.spindle, Drum)  # what lies on a drum is not drawn
        if values is not None and string.pulls_only:
            length = string.wound(0.0 if string.variable is None else float(values[figure.index(string.variable)]))
        pull = float(pulls[k]) if pulls is not None and k < len(pulls) else None
        ways = branches(where, string)
        if laid and k in laid:  # straight from the hook to the bodies, along them, and straight to the spindle
            points = np.concatenate([ways[0].points[:1], laid[k], ways[0].points[-1:]])
            ways = [Branched(points, float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()))]
        if length is not None and len(ways) == 1:  # an arc is drawn in straight pieces, which are shorter
            length += float(np.linalg.norm(np.diff(ways[0].points, axis=0), axis=1).sum()) - ways[0].length
        out += [Strand(way.points, length if len(ways) == 1 and not wound else None, pull) for way in ways]
    return tuple(out)


def color(strand: Strand, slack: bool, most: float, colors: StrandColors = StrandColors()) -> Color:
    """The colour of a `strand` that is `slack` or not, out of `colors`; `most` is the largest tension of the picture [N]."""
    if slack:
        return colors.slack
    if strand.tension is None:
        return colors.plain
    share = min(max(strand.tension / most, 0.0), 1.0)
    r, g, b = (float(np.interp(share, (0.0, 0.5, 1.0), channel)) for channel in zip(*colors.tension, strict=True))
    return (r, g, b)


def hanging(strand: Strand) -> tuple[Array, bool]:
    """The path of a `strand`, and whether it is slack; if so, its longest segment gets all the excess length and sags."""
    path = np.asarray(strand.points, float)
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    spare = 0.0 if strand.length is None else strand.length - float(steps.sum())
    pulled = strand.tension is not None and strand.tension > 0.0
    if pulled or spare <= 1e-4 * max(strand.length or 0.0, 1e-9):
        return path, False
    k = int(np.argmax(steps))
    curve = catenary(path[k], path[k + 1], float(steps[k]) + spare)
    return np.concatenate([path[:k], curve, path[k + 2 :]]), True


def catenary(a: Array, b: Array, length: float, pieces: int = 32) -> Array:
    """A string of `length` [m] that hangs between `a` and `b`, whose distance is shorter, as points (`pieces` + 1, 3)."""
    along = np.array([b[0] - a[0], b[1] - a[1], 0.0])
    across, up = max(float(np.linalg.norm(along)), 1e-3 * length), float(b[2] - a[2])
    along = along / across if along.any() else np.array([1.0, 0.0, 0.0])
    # sinh(x)/x = √(length² − up²)/across gives the size of the curve; Newton's method converges, since it starts above the root.
    ratio = max(math.sqrt(max(length**2 - up**2, 0.0)) / across, 1.0 + 1e-9)
    x = math.sqrt(6.0 * (ratio - 1.0)) if ratio < 3.0 else 2.0 * math.log(2.0 * ratio)
    for _ in range(50):
        x -= (math.sinh(x) - ratio * x) / (math.cosh(x) - ratio)
    size = across / (2.0 * x)
    lowest = length / 2 - size * math.sinh(math.atanh(up / length)) * math.cosh(x)
    arc = np.linspace(0.0, length, pieces + 1) - lowest
    level, height = size * np.arcsinh(arc / size), np.hypot(size, arc)
    # Corrects rounding, so that the curve ends exactly at b.
    curve = a + np.outer(level - level[0], along) + np.outer(height - height[0], (0.0, 0.0, 1.0))
    return np.asarray(curve + np.outer(np.linspace(0.0, 1.0, pieces + 1), b - curve[-1]))
