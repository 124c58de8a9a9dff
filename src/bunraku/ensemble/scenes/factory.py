"""A factory: pipes, drums, beams, a balcony at head height, ventilation (*carrying*, Section V-A)."""

from __future__ import annotations

import itertools
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku.ensemble.scenes.meshed_solids import box, tube, turned, written
from bunraku.ensemble.scenes.palette import Palette
from bunraku.figure.shape import Color
from bunraku.scene import Scene

DRUMS = [
    (-3.2, 1.4), (-2.6, 1.6), (-2.9, 2.1), (0.6, -2.6), (1.2, -2.4), (0.9, -1.9), (3.6, 2.2), (4.1, 1.8), (2.2, 3.2), (2.8, 3.4),
    (-5.0, -3.2), (-4.4, -3.3), (-3.8, -3.2), (5.2, 3.2), (5.2, 2.6), (-1.2, 3.3), (-0.6, 3.4),
]  # fmt: skip
"""Positions of drums: (x, y) [m]."""


def _pipe(points: ArrayLike, radius: float, *, flange: float = 1.5) -> list[Any]:
    """A tube with flanges along its straight runs."""
    points = np.asarray(points, float)
    parts = [tube(points, radius)]
    for a, b in itertools.pairwise(points):
        size = float(np.linalg.norm(b - a))
        for s in np.arange(flange, size - 0.3, flange):
            middle, way = a + (b - a) * s / size, (b - a) / size
            parts.append(tube([middle - 0.02 * way, middle + 0.02 * way], 1.5 * radius, sections=24))
    return parts


def _drum(x: float, y: float, z: float = 0.0) -> list[Any]:
    """A barrel with two ribs and a bung."""
    heights = [0.0, 0.02, 0.28, 0.3, 0.32, 0.57, 0.59, 0.61, 0.86, 0.88]
    radii = [0.29, 0.3, 0.28, 0.3, 0.28, 0.28, 0.3, 0.28, 0.3, 0.29]
    return [turned(heights, radii, (x, y, z)), tube([(x + 0.15, y, z + 0.86), (x + 0.15, y, z + 0.9)], 0.035, sections=16)]


def _beam(x: float, y: float, height: float) -> list[Any]:
    """A column of I section on a foot."""
    web = box((0.03, 0.2, height), (x, y, height / 2))
    flanges = [box((0.18, 0.03, height), (x, y + s * 0.1, height / 2)) for s in (-1, 1)]
    return [web, *flanges, box((0.3, 0.34, 0.03), (x, y, 0.015))]


def _balcony(x0: float, x1: float, y0: float, y1: float, z: float) -> list[Any]:
    """A grated walkway on legs with a rail."""
    parts = [box((x1 - x0, 0.08, 0.12), ((x0 + x1) / 2, y, z + 0.06)) for y in (y0, y1)]
    parts += [box((0.04, y1 - y0, 0.06), (x, (y0 + y1) / 2, z + 0.09)) for x in np.arange(x0, x1 + 0.01, 0.1)]
    for x in (x0, x1):
        parts += [tube([(x, y, 0.0), (x, y, z + 0.05)], 0.05, sections=24) for y in (y0, y1)]
    for height in (0.55, 1.05):
        parts += [tube([(x0, y, z + height), (x1, y, z + height)], 0.022, sections=16) for y in (y0, y1)]
    parts += [tube([(x, y, z), (x, y, z + 1.05)], 0.02, sections=16) for y in (y0, y1) for x in np.linspace(x0, x1, 6)]
    return parts


def _ventilation(x: float, y: float, z: float) -> list[Any]:
    """A cabinet with a louvre on either side, a fan housing, and a duct that rises."""
    parts = [box((0.9, 0.7, 1.0), (x, y, z + 0.5)), turned([0.0, 0.1, 0.12, 0.14], [0.3, 0.3, 0.26, 0.1], (x, y, z + 1.0), 48)]
    parts += [box((0.7, 0.06, 0.02), (x, y + s * 0.36, z + h)) for s in (-1, 1) for h in np.arange(0.15, 0.9, 0.05)]
    return [*parts, tube([(x, y, z + 1.1), (x, y, z + 2.6), (x + 2.5, y, z + 2.6)], 0.2, bend=0.4, sections=48, spacing=0.05)]


def _wall(x: float, y: float, door: float) -> list[Any]:
    """A wall across the hall, with a doorway around y."""
    right, left = y - door / 2, y + door / 2
    sides = [box((0.12, b - a, 2.4), (x, (a + b) / 2, 1.2)) for a, b in ((-4.0, right), (left, 4.0))]
    return [*sides, box((0.12, door, 0.3), (x, y, 2.25))]


def factory(folder: str | PathLike[str], *, door: float | None = None) -> Scene:
    """A hall of 12 m by 8 m: pipes, drums, beams, a balcony at head height, ventilation; over 90,000 triangles.

    Its meshes are written to `folder`. With a `door` [m], a wall with an opening of that width crosses the hall.
    """
    groups: dict[str, tuple[list[Any], Color]] = {}
    groups["drums"] = ([part for x, y in DRUMS for part in _drum(x, y)], Palette.blue)
    high: list[Any] = [[(-6, y, 2.7), (6, y, 2.7)] for y in (-3.5, -3.2, 3.3, 3.6)]
    high += [[(x, -4, 3.0), (x, 4, 3.0)] for x in (-4.5, -1.5, 1.5, 4.5)]
    groups["high_pipes"] = ([part for way in high for part in _pipe(way, 0.09)], Palette.steel)
    # These pipes come down to the height at which the object passes.
    low = [
        [(1.4, 4, 2.2), (1.4, 1.6, 2.2), (1.4, 1.6, 1.45), (1.4, -0.4, 1.45), (1.4, -0.4, 3.0)],
        [(1.7, 4, 2.4), (1.7, 1.9, 2.4), (1.7, 1.9, 1.6), (1.7, -0.7, 1.6), (1.7, -0.7, 3.0)],
        [(-2.0, -4, 0.12), (-2.0, -2.3, 0.12), (-2.0, -2.3, 2.7), (3.0, -2.9, 2.7)],
        [(3.4, -4, 0.5), (3.4, -2.6, 0.5), (3.4, -2.6, 2.9)],
    ]
    groups["low_pipes"] = ([part for way in low for part in _pipe(way, 0.07, flange=0.8)], Palette.rust)
    groups["beams"] = (
        [p for x in (-4.0, 0.0, 4.0) for y in (-3.7, 3.9) for p in _beam(x, y, 3.4)] + _beam(-0.6, 1.0, 3.4),
        Palette.green,
    )
    groups["balcony"] = (_balcony(-2.6, -1.75, -2.1, 1.15, 1.62), Palette.yellow)
    groups["ventilation"] = (_ventilation(2.6, -3.2, 0.0) + _ventilation(-5.2, 3.0, 0.0), Palette.steel)
    if door is not None:
        groups["wall"] = (_wall(-1.4, -0.9, door), Palette.plaster)
    return Scene("factory", tuple(written(name, parts, color, Path(folder)) for name, (parts, color) in groups.items()))
