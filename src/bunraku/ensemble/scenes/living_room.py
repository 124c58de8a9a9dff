"""A living room: desk, chair, sofa, tables, lamps, bookshelves, a rug; and the grand piano that is carried through it.

After *carrying*, Section V-B: the gap between bookshelf and desk is too narrow for the piano, so it is lifted over the desk.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.scenes.meshed_solids import bent_plate, box, pillow, tube, turned, written
from bunraku.ensemble.scenes.palette import Palette
from bunraku.figure.shape import Box, Color, Cylinder, Mesh, Shape
from bunraku.scene import Scene

Array = NDArray[np.float64]
DESK_HEIGHT = 0.68
"""Height of its top [m]."""
PIANO_BLOCKS = (
    ((0.62, 1.43, 0.3), (-0.45, 0.0)), ((0.45, 1.25, 0.3), (0.085, 0.09)), ((0.25, 0.98, 0.3), (0.43, 0.225)),
    ((0.22, 0.62, 0.3), (0.66, 0.3)),
)  # fmt: skip
"""Boxes around its body: (size, middle (x, y)) [m]."""
PIANO_LEGS = ((-0.55, 0.58), (-0.55, -0.58), (0.52, 0.25))
"""Centre of each leg: (x, y) [m]."""


def living_room(folder: str | PathLike[str]) -> Scene:
    """A room of 8.4 m by 6.4 m with two of its walls; over 19,000 triangles, in meshes that are written to `folder`."""
    groups: dict[str, tuple[list[Any], Color]] = {
        "rug": ([pillow((3.6, 1.3, 0.008), (0.8, -2.4, 0.004), 0.003)], Palette.wine),
        "walls": ([box((0.1, 6.38, 2.4), (-4.25, 0, 1.2)), box((8.6, 0.1, 2.4), (0, 3.25, 1.2)), *_skirting()], Palette.cream),
        "windows": (_window(-2.2) + _window(2.4), Palette.oak),
        "desk": (_desk(0.0, 0.17), Palette.walnut),
        "chair": (_chair(0.1, -0.42), Palette.oak),
        "sofa": (_sofa(0.3, -2.55), Palette.teal),
        "coffee_table": (_table(2.0, -2.2, 0.42, 0.45), Palette.oak),
        "side_table": (_table(-3.6, 2.3, 0.3, 0.55), Palette.oak),
        "bookshelf": (_bookshelf(2.2, 3.15), Palette.walnut),
        "lamp": (_lamp(-1.6, -2.6), Palette.brass),
        "floor_shade": ([turned([1.5, 1.8], [0.24, 0.15], (-1.6, -2.6, 0))], Palette.shade),
        "table_shade": ([turned([0.85, 1.05], [0.17, 0.1], (-3.6, 2.3, 0))], Palette.shade),
        "table_lamp": ([turned([0.55, 0.57, 0.6, 0.7, 0.85], [0.08, 0.08, 0.02, 0.05, 0.02], (-3.6, 2.3, 0))], Palette.brass),
        "plant": (_plant(3.7, 2.6), Palette.leaf),
        "pot": ([turned([0.0, 0.02, 0.38, 0.4], [0.16, 0.17, 0.22, 0.2], (3.7, 2.6, 0))], Palette.wine),
    }
    for k, color in enumerate((Palette.wine, Palette.teal, Palette.brass, Palette.leaf)):
        groups[f"books_{k}"] = (_books(2.2, 3.15, k), color)
    return Scene("living_room", tuple(written(name, parts, color, Path(folder)) for name, (parts, color) in groups.items()))


def _skirting() -> list[Any]:
    return [box((0.02, 6.3, 0.1), (-4.18, 0, 0.06)), box((8.3, 0.02, 0.1), (0, 3.18, 0.06))]


def _window(x: float) -> list[Any]:
    """A frame on the wall with two bars, and a sill."""
    y = 3.17
    bars = [box((0.06, 0.05, 1.3), (x + d, y, 1.45)) for d in (-0.6, 0.0, 0.6)]
    return [*bars, *(box((1.26, 0.05, 0.06), (x, y, z)) for z in (0.8, 1.45, 2.1)), box((1.4, 0.14, 0.03), (x, y - 0.04, 0.76))]


def _desk(x: float, y: float) -> list[Any]:
    """A top, a row of drawers on either side, and legs that taper."""
    top = pillow((1.3, 0.86, 0.04), (x, y, DESK_HEIGHT - 0.02), 0.012)
    legs = [turned([0, DESK_HEIGHT - 0.04], [0.02, 0.035], (x + a * 0.59, y + b * 0.37, 0), 24) for a in (-1, 1) for b in (-1, 1)]
    drawers = [pillow((0.34, 0.7, 0.12), (x + a * 0.42, y, DESK_HEIGHT - 0.1), 0.01) for a in (-1, 1)]
    knobs = [turned([0.0, 0.02], [0.015, 0.02], (x + a * 0.42, y - 0.36, DESK_HEIGHT - 0.11), 16) for a in (-1, 1)]
    return [top, *legs, *drawers, *knobs]


def _chair(x: float, y: float) -> list[Any]:
    """A chair tucked under the desk, its back toward the sofa."""
    seat = pillow((0.42, 0.42, 0.04), (x, y, 0.43), 0.015)
    corners = [(a, b) for a in (-1, 1) for b in (-1, 1)]
    legs = [tube([(x + a * 0.18, y + b * 0.18, 0), (x + a * 0.17, y + b * 0.17, 0.42)], 0.018, sections=16) for a, b in corners]
    posts = [tube([(x + a * 0.18, y - 0.19, 0.42), (x + a * 0.17, y - 0.26, 0.9)], 0.016, sections=16) for a in (-1, 1)]
    rungs = [tube([(x - 0.17, y - 0.2 - 0.14 * s, 0.5 + s), (x + 0.17, y - 0.2 - 0.14 * s, 0.5 + s)], 0.012, sections=12)
             for s in (0.1, 0.2, 0.3, 0.38)]  # fmt: skip
    return [seat, *legs, *posts, *rungs]


def _sofa(x: float, y: float) -> list[Any]:
    parts = [pillow((2.1, 0.8, 0.22), (x, y, 0.25), 0.05), pillow((2.1, 0.22, 0.62), (x, y - 0.36, 0.5), 0.08)]
    parts += [pillow((0.22, 0.84, 0.5), (x + a * 1.06, y, 0.36), 0.08) for a in (-1, 1)]
    parts += [pillow((0.9, 0.62, 0.16), (x + a * 0.46, y + 0.07, 0.43), 0.06) for a in (-1, 1)]
    parts += [pillow((0.42, 0.16, 0.4), (x + a * 0.7, y - 0.18, 0.68), 0.07) for a in (-1, 1)]
    return [*parts, *(turned([0, 0.15], [0.02, 0.03], (x + a * 0.95, y + b * 0.32, 0), 16) for a in (-1, 1) for b in (-1, 1))]


def _table(x: float, y: float, radius: float, height: float) -> list[Any]:
    """A round table on a turned foot."""
    edge = [height - 0.03, height - 0.025, height - 0.005, height]
    top = turned(edge, [radius - 0.01, radius, radius, radius - 0.01], (x, y, 0), 64)
    foot = turned([0, 0.03, 0.06, 0.5 * height, height - 0.03], [0.6 * radius, 0.58 * radius, 0.05, 0.035, 0.06], (x, y, 0), 48)
    return [top, foot]


def _bookshelf(y0: float, y1: float, height: float = 2.0) -> list[Any]:
    """A bookshelf open on both sides, across the room from the wall."""
    sides = [box((0.36, 0.03, height), (0, y, height / 2)) for y in (y0 + 0.015, y1 - 0.015)]
    return [*sides, *(box((0.35, y1 - y0 - 0.004, 0.03), (0, 0.5 * (y0 + y1), z)) for z in np.linspace(0.06, height - 0.015, 6))]


def _books(y0: float, y1: float, colour: int) -> list[Any]:
    """Every fourth book, so that their colours mix; some lean, some are missing."""
    rng, out = np.random.default_rng(7), []
    for z in np.linspace(0.06, 1.985, 6)[:-1] + 0.015:
        y, k = y0 + 0.05, 0
        while y < y1 - 0.12:
            thick, tall, deep = rng.uniform(0.02, 0.05), rng.uniform(0.2, 0.31), rng.uniform(0.2, 0.28)
            if rng.random() < 0.88 and k % 4 == colour:
                out.append(pillow((deep, thick, tall), (0, y + thick / 2, z + tall / 2), 0.004, fine=3))
            y, k = y + thick + 0.003, k + 1
    return out


def _lamp(x: float, y: float) -> list[Any]:
    foot = turned([0, 0.015, 0.03, 0.05], [0.17, 0.17, 0.14, 0.02], (x, y, 0), 48)
    return [foot, tube([(x, y, 0.03), (x, y, 1.62)], 0.014, sections=16)]


def _plant(x: float, y: float) -> list[Any]:
    """Leaves that bend outward."""
    rng, out = np.random.default_rng(3), []
    for angle in np.linspace(0, 2 * np.pi, 14, endpoint=False):
        tall, wide = rng.uniform(0.5, 1.0), rng.uniform(0.25, 0.5)
        s = np.linspace(0, 1, 9)
        reach = wide * s**1.6
        points = np.stack([x + reach * np.cos(angle), y + reach * np.sin(angle), 0.36 + tall * np.sin(1.9 * s)], 1)
        out.append(bent_plate(points, 0.09 * np.sin(np.pi * np.clip(s, 0.06, 0.97)), 0.006))
    return out


# -- the piano -------------------------------------------------------------------------------------------------------


def piano(folder: str | PathLike[str]) -> tuple[Shape, ...]:
    """A grand piano with the lid closed: visual meshes, and boxes and cylinders around it for collisions.

    Its keyboard is at −x, its tail at +x, the underside of its body at z = 0, its legs below. Meshes are written to `folder`.
    """
    folder = Path(folder)
    looks = {
        "piano_body": ([_slab(_outline(0.0), 0.0, 0.27), _slab(_outline(0.012), 0.271, 0.295), *_trim(), *_legs()], Palette.black),
        "piano_keys": ([box((0.14, 0.021, 0.018), (-0.67, y, 0.19)) for y in np.linspace(-0.58, 0.58, 52)], Palette.ivory),
        "piano_sharps": ([pillow((0.09, 0.011, 0.014), (-0.64, y + 0.0114, 0.204), 0.003, fine=2) for k, y in
                          enumerate(np.linspace(-0.58, 0.58, 52)[:-1]) if k % 7 not in (1, 4)], Palette.ebony),
        "piano_brass": ([turned([-0.36, -0.34, -0.32], [0.02, 0.03, 0.02], (x, y, 0), 24) for x, y in PIANO_LEGS], Palette.brass),
    }  # fmt: skip
    seen = [written(name, parts, color, folder) for name, (parts, color) in looks.items()]
    out = [Shape("world", o.geometry, color=o.color, name=o.name, collides=False) for o in seen if isinstance(o.geometry, Mesh)]
    out += [
        Shape("world", Box(size), (x, y, 0.15), name=f"piano_{k}", visible=False) for k, (size, (x, y)) in enumerate(PIANO_BLOCKS)
    ]
    around = Cylinder(0.07, 0.36)
    legs = [Shape("world", around, (x, y, -0.18), name=f"piano_leg_{k}", visible=False) for k, (x, y) in enumerate(PIANO_LEGS)]
    return (*out, *legs)


def _outline(out: float) -> Array:
    """Outline of the body, counterclockwise from the keyboard's right end: bent side, tail, straight side."""
    bass, treble, front, tail = 0.7 + out, -0.7 - out, -0.59 - out, 0.75 + out
    bends = [((-0.25, treble), (0.25, -0.65 - out), (0.05, -0.05 - out), (0.45, 0.0 - out)),
             ((0.45, 0.0 - out), (0.65, 0.03 - out), (tail, 0.1), (tail, 0.3)),
             ((tail, 0.3), (tail, 0.55), (0.62, bass - 0.02), (0.4, bass))]  # fmt: skip
    s = np.linspace(0, 1, 25)[:, None]
    weights = np.hstack([(1 - s) ** 3, 3 * (1 - s) ** 2 * s, 3 * (1 - s) * s**2, s**3])
    curves = [weights @ np.array(bend) for bend in bends]
    return np.concatenate([[(front, treble)], curves[0], curves[1][1:], curves[2][1:], [(front, bass)]])


def _slab(outline: Array, low: float, high: float) -> Any:
    """A prism over a star-shaped outline."""
    import trimesh

    n, middle = len(outline), (-0.2, 0.1)
    rings = [np.column_stack([outline, np.full(n, z)]) for z in (low, high)]
    vertices = np.concatenate([*rings, [[*middle, low], [*middle, high]]])
    k, ahead = np.arange(n), (np.arange(n) + 1) % n
    walls = np.concatenate([np.stack([k, ahead, n + k], 1), np.stack([ahead, n + ahead, n + k], 1)])
    caps = np.concatenate([np.stack([np.full(n, 2 * n), ahead, k], 1), np.stack([np.full(n, 2 * n + 1), n + k, n + ahead], 1)])
    return trimesh.Trimesh(vertices, np.concatenate([walls, caps]), process=False)


def _trim() -> list[Any]:
    """Cheeks beside the keys, the key bed, the music desk, the lyre of the pedals."""
    cheeks = [pillow((0.17, 0.09, 0.16), (-0.67, a * 0.65, 0.15), 0.015) for a in (-1, 1)]
    bed = pillow((0.17, 1.39, 0.15), (-0.67, 0, 0.1), 0.012)
    return [*cheeks, bed, pillow((0.03, 0.7, 0.2), (-0.42, 0, 0.39), 0.008)]


def _legs() -> list[Any]:
    heights, radii = [-0.34, -0.3, -0.2, -0.08, -0.04, 0.01], [0.028, 0.035, 0.04, 0.055, 0.065, 0.065]
    return [turned(heights, radii, (x, y, 0), 32) for x, y in PIANO_LEGS]
