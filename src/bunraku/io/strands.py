"""Strings as they are drawn: straight where taut, sagging where slack, warm where they pull."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.figure import Figure
from bunraku.figure.frame import WORLD, Point
from bunraku.figure.shape import Color
from bunraku.spatial import se3

Array = NDArray[np.float64]

SLACK: Color = (0.30, 0.31, 0.33)
PLAIN: Color = (0.36, 0.26, 0.18)
LIGHT: Color = (0.62, 0.42, 0.12)
STRONG: Color = (0.80, 0.12, 0.05)


@dataclass(frozen=True)
class Strand:
    """One string as it is drawn: places from hook to spindle [m], wound length if known [m], tension if known [N]."""

    points: Array
    length: float | None = None
    tension: float | None = None


def strands(
    figure: Figure, frames: Array, q: ArrayLike | None = None, tension: ArrayLike | None = None
) -> tuple[Strand, ...]:
    """Strings and wires of a figure; with q slack strings sag, with tensions taut ones glow."""
    index = {frame.name: k for k, frame in enumerate(figure.frames)}

    def place(at: Point) -> Array:
        return np.asarray(at.position, float) if at.frame == WORLD else se3.transform(frames[index[at.frame]], at.position)

    values = None if q is None else np.asarray(q, float)
    pulls = None if tension is None else np.asarray(tension, float)
    out = []
    for k, string in enumerate((*figure.strings, *figure.wires)):
        length = None
        if values is not None and string.pulls_only:
            wound = 0.0 if string.variable is None else float(values[figure.index(string.variable)])
            length = string.length + string.ratio * wound
        pull = float(pulls[k]) if pulls is not None and k < len(pulls) else None
        out.append(Strand(np.array([place(at) for at in string.path]), length, pull))
    return tuple(out)


def color(strand: Strand, slack: bool, most: float) -> Color:
    """Grey where slack; from ochre to red the harder it pulls, `most` newtons being red."""
    if slack:
        return SLACK
    if strand.tension is None:
        return PLAIN
    share = min(max(strand.tension / most, 0.0), 1.0)
    r, g, b = (light + share * (strong - light) for light, strong in zip(LIGHT, STRONG, strict=True))
    return (r, g, b)


def hanging(strand: Strand) -> tuple[Array, bool]:
    """The path, with the spare length of a slack string hanging down in its longest segment (a parabola)."""
    path = np.asarray(strand.points, float)
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    spare = 0.0 if strand.length is None else strand.length - float(steps.sum())
    pulled = strand.tension is not None and strand.tension > 0.0
    if pulled or spare <= 1e-4 * max(strand.length or 0.0, 1e-9):
        return path, False
    k = int(np.argmax(steps))
    a, b = path[k], path[k + 1]
    across = float(np.hypot(*(b - a)[:2]))
    # Arc length of a parabola of sag s over a span d is about d + 8 s² / 3 d; a vertical one just folds down.
    sag = min(math.sqrt(3.0 / 8.0 * max(steps[k], 1e-6) * spare), spare / 2 + 0.25 * across)
    t = np.linspace(0.0, 1.0, 25)[:, None]
    curve = a + t * (b - a) - 4 * t * (1 - t) * np.array([0.0, 0.0, sag])
    if across < 0.3 * sag:  # a loop that hangs straight would hide behind itself
        side = np.array([-(b - a)[1], (b - a)[0], 0.0]) if across > 1e-9 else np.array([1.0, 0.0, 0.0])
        curve = curve + 0.25 * sag * np.sin(2 * np.pi * t) * side / np.linalg.norm(side)
    return np.concatenate([path[:k], curve, path[k + 2 :]]), True
