"""A loading bay: a ramp that leads up to a platform, steps on its side, parapets, crates, cones and posts."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.scenes.meshed_solids import box, pillow, tube, turned, written
from bunraku.ensemble.scenes.palette import Palette
from bunraku.figure.shape import Color
from bunraku.scene import Scene

Array = NDArray[np.float64]


class Bay(NamedTuple):
    """The sizes of the loading bay [m]."""

    foot: float = -1.5
    """The x at which the ramp begins."""
    top: float = 3.5
    """The x at which the ramp ends and the platform begins."""
    end: float = 8.5
    """The x at which the platform ends."""
    half: float = 1.7
    """Half the width of the ramp."""
    side: float = 2.6
    """Half the width of the platform."""
    height: float = 0.6
    """Height of the platform."""


BAY = Bay()


def ramp(folder: str | PathLike[str]) -> Scene:
    """A loading bay whose ramp rises 0.6 m over 5 m; one can stand on `ramp`, `platform` and `steps`.

    Its meshes are written to `folder`.
    """
    groups: dict[str, tuple[list[Any], Color]] = {
        "ramp": ([_wedge()], Palette.concrete),
        "platform": (
            [box((BAY.end - BAY.top, 2 * BAY.side, BAY.height), (0.5 * (BAY.top + BAY.end), 0, BAY.height / 2))],
            Palette.concrete,
        ),
        "steps": (_steps(), Palette.gray),
        "parapets": (_parapets(), Palette.gray),
        "rails": (_rails(), Palette.zinc),
        "crates": (
            [*_crate(-2.6, 1.75), *_crate(-1.9, 2.6), *_crate(4.05, -2.15, BAY.height), *_crate(4.05, 2.15, BAY.height)],
            Palette.pine,
        ),
        "cones": ([p for x, y in ((-4.4, -2.1), (-3.0, -1.95), (-1.7, -2.2)) for p in _cone(x, y)], Palette.orange),
        "posts": (
            [tube([(x, y, z), (x, y, 3.2)], 0.09, sections=40) for x, y, z in ((6.6, 1.9, BAY.height), (-3.4, 3.2, 0.0))],
            Palette.zinc,
        ),
    }
    return Scene("ramp", tuple(written(name, parts, color, Path(folder)) for name, (parts, color) in groups.items()))


def _wedge() -> Any:
    import trimesh

    x = np.linspace(BAY.foot, BAY.top, 21)
    z = BAY.height * (x - BAY.foot) / (BAY.top - BAY.foot)
    z[0] = 1e-3  # gives its lower edge some thickness
    n = len(x)
    rows = [np.column_stack([x, np.full(n, y), h]) for y in (-BAY.half, BAY.half) for h in (np.full(n, -0.05), z)]
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
    """Four steps, down from the far side of the platform."""
    rise, tread = BAY.height / 4, 0.3
    return [box((1.4, tread, rise * (4 - k)), (7.4, BAY.side + 0.002 + tread * (k + 0.5), rise * (4 - k) / 2)) for k in range(1, 4)]


def _parapets() -> list[Any]:
    """Low walls along all edges except at the ramp and the steps."""
    tall, thick = BAY.height + 0.35, 0.12
    out = [box((BAY.top - BAY.foot, thick, tall), (0.5 * (BAY.foot + BAY.top), s * (BAY.half + 0.06), tall / 2)) for s in (-1, 1)]
    wide = BAY.side - BAY.half
    out += [box((thick, wide, tall), (BAY.top - 0.07, s * (BAY.half + 0.125 + wide / 2), tall / 2)) for s in (-1, 1)]
    out.append(box((BAY.end - BAY.top, thick, tall), (0.5 * (BAY.top + BAY.end), -BAY.side - 0.07, tall / 2)))
    out.append(box((thick, 2 * BAY.side, tall), (BAY.end + 0.07, 0, tall / 2)))
    out.append(box((6.7 - BAY.top, thick, tall), (0.5 * (BAY.top + 6.7), BAY.side + 0.07, tall / 2)))
    out.append(box((BAY.end - 8.1, thick, tall), (0.5 * (8.1 + BAY.end), BAY.side + 0.07, tall / 2)))
    return out


def _rails() -> list[Any]:
    """Handrails on the parapets of ramp and platform."""
    tall = BAY.height + 0.35
    out = []
    for s in (-1, 1):
        y = s * (BAY.half + 0.06)
        out.append(tube([(BAY.foot, y, tall + 0.15), (BAY.top, y, tall + 0.15)], 0.025, sections=24))
        out += [
            tube([(x, y, tall), (x, y, tall + 0.15)], 0.016, sections=16) for x in np.linspace(BAY.foot + 0.1, BAY.top - 0.1, 6)
        ]
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
