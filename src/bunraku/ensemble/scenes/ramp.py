"""A loading bay: a ramp that leads up to a platform, steps on its side, parapets, and what stands about."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.scenes.meshed_solids import box, pillow, tube, turned, written
from bunraku.figure.shape import Color
from bunraku.scene import Scene

Array = NDArray[np.float64]
CONCRETE, DARK, PINE, ORANGE, STEEL = (0.72, 0.71, 0.68), (0.5, 0.5, 0.5), (0.78, 0.6, 0.38), (0.9, 0.4, 0.1), (0.55, 0.6, 0.66)
FOOT, TOP, END, HALF, SIDE, HEIGHT = -1.5, 3.5, 8.5, 1.7, 2.6, 0.6
"""Along x: where the ramp begins, where the platform does, where it ends [m]; half the width of ramp and platform; its height."""


def ramp(folder: str | PathLike[str]) -> Scene:
    """The ramp rises 0.6 m over 5 m; `ramp`, `platform` and `steps` are what one can stand on."""
    groups: dict[str, tuple[list[Any], Color]] = {
        "ramp": ([_wedge()], CONCRETE),
        "platform": ([box((END - TOP, 2 * SIDE, HEIGHT), (0.5 * (TOP + END), 0, HEIGHT / 2))], CONCRETE),
        "steps": (_steps(), DARK),
        "parapets": (_parapets(), DARK),
        "rails": (_rails(), STEEL),
        "crates": ([*_crate(-2.6, 1.75), *_crate(-1.9, 2.6), *_crate(4.05, -2.15, HEIGHT), *_crate(4.05, 2.15, HEIGHT)], PINE),
        "cones": ([p for x, y in ((-4.4, -2.1), (-3.0, -1.95), (-1.7, -2.2)) for p in _cone(x, y)], ORANGE),
        "posts": ([tube([(x, y, z), (x, y, 3.2)], 0.09, sections=40) for x, y, z in ((6.6, 1.9, HEIGHT), (-3.4, 3.2, 0.0))], STEEL),
    }
    return Scene("ramp", tuple(written(name, parts, color, Path(folder)) for name, (parts, color) in groups.items()))


def _wedge() -> Any:
    import trimesh

    x = np.linspace(FOOT, TOP, 21)
    z = HEIGHT * (x - FOOT) / (TOP - FOOT)
    z[0] = 1e-3  # a rim that is not thinner than nothing
    n = len(x)
    rows = [np.column_stack([x, np.full(n, y), h]) for y in (-HALF, HALF) for h in (np.full(n, -0.05), z)]
    vertices = np.concatenate(rows)
    k = np.arange(n - 1)
    faces = []
    for a, b in ((0, 1), (1, 3), (3, 2), (2, 0)):  # around: right side, top, left side, underside
        p, q = a * n + k, b * n + k
        faces += [np.stack([p, p + 1, q + 1], 1), np.stack([p, q + 1, q], 1)]
    ends = [[0, n, 3 * n], [0, 3 * n, 2 * n], [n - 1, 3 * n - 1, 4 * n - 1], [n - 1, 4 * n - 1, 2 * n - 1]]
    out: Any = trimesh.Trimesh(vertices, np.concatenate([*faces, np.array(ends)]), process=False)
    out.fix_normals()
    return out


def _steps() -> list[Any]:
    """Four, down from the far side of the platform."""
    rise, tread = HEIGHT / 4, 0.3
    return [box((1.4, tread, rise * (4 - k)), (7.4, SIDE + 0.002 + tread * (k + 0.5), rise * (4 - k) / 2)) for k in range(1, 4)]


def _parapets() -> list[Any]:
    """Low walls along every edge but where the ramp and the steps are."""
    tall, thick = HEIGHT + 0.35, 0.12
    out = [box((TOP - FOOT, thick, tall), (0.5 * (FOOT + TOP), s * (HALF + 0.06), tall / 2)) for s in (-1, 1)]
    wide = SIDE - HALF
    out += [box((thick, wide, tall), (TOP - 0.07, s * (HALF + 0.125 + wide / 2), tall / 2)) for s in (-1, 1)]
    out.append(box((END - TOP, thick, tall), (0.5 * (TOP + END), -SIDE - 0.07, tall / 2)))
    out.append(box((thick, 2 * SIDE, tall), (END + 0.07, 0, tall / 2)))
    out.append(box((6.7 - TOP, thick, tall), (0.5 * (TOP + 6.7), SIDE + 0.07, tall / 2)))
    out.append(box((END - 8.1, thick, tall), (0.5 * (8.1 + END), SIDE + 0.07, tall / 2)))
    return out


def _rails() -> list[Any]:
    """Handrails on the parapets of ramp and platform."""
    tall = HEIGHT + 0.35
    out = []
    for s in (-1, 1):
        y = s * (HALF + 0.06)
        out.append(tube([(FOOT, y, tall + 0.15), (TOP, y, tall + 0.15)], 0.025, sections=24))
        out += [tube([(x, y, tall), (x, y, tall + 0.15)], 0.016, sections=16) for x in np.linspace(FOOT + 0.1, TOP - 0.1, 6)]
    return out


def _crate(x: float, y: float, z: float = 0.0) -> list[Any]:
    """Slats on a frame."""
    parts = [pillow((0.62, 0.62, 0.52), (x, y, z + 0.3), 0.01)]
    for s in (-1, 1):
        parts += [pillow((0.66, 0.025, 0.09), (x, y + s * 0.325, z + h), 0.006) for h in (0.08, 0.3, 0.52)]
        parts += [pillow((0.025, 0.66, 0.09), (x + s * 0.325, y, z + h), 0.006) for h in (0.08, 0.3, 0.52)]
    return parts


def _cone(x: float, y: float) -> list[Any]:
    return [turned([0.03, 0.5], [0.14, 0.025], (x, y, 0), 40), pillow((0.36, 0.36, 0.03), (x, y, 0.015), 0.01)]
