"""Solids for scenes, as meshes: boxes, tubes, solids of revolution; and writing them to files."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.shape import Color, Mesh
from bunraku.scene import Obstacle

Array = NDArray[np.float64]


def tube(points: ArrayLike, radius: float, *, bend: float = 0.25, sections: int = 32, spacing: float = 0.15) -> Any:
    """A pipe of this `radius` [m] along a polyline `points` (n, 3) [m], closed at both ends.

    Corners become arcs that begin `bend` [m] before them. Each ring has `sections` points, and rings are `spacing` [m] apart.
    """
    import trimesh

    way = _rounded(np.asarray(points, float), bend, spacing)
    tangents = np.gradient(way, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    side = np.cross(tangents[0], [0.3, 0.5, 0.81])
    rings = []
    angles = np.linspace(0.0, 2.0 * np.pi, sections, endpoint=False)
    for p, t in zip(way, tangents, strict=True):
        side = side - (side @ t) * t  # transported without twist
        side /= np.linalg.norm(side)
        rings.append(p + radius * (np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * np.cross(t, side)))
    n = len(way)
    vertices = np.concatenate([np.concatenate(rings), way[[0, -1]]])
    k, j = np.meshgrid(np.arange(n - 1), np.arange(sections), indexing="ij")
    a, b = k * sections + j, k * sections + (j + 1) % sections
    c, d = a + sections, b + sections
    walls = np.stack([a, b, c, b, d, c], -1).reshape(-1, 3)
    around, middle = np.arange(sections), np.full(sections, n * sections)
    ahead, last = (around + 1) % sections, (n - 1) * sections
    low, high = np.stack([middle, ahead, around], 1), np.stack([middle + 1, last + around, last + ahead], 1)
    return trimesh.Trimesh(vertices, np.concatenate([walls, low, high]), process=False)


def _rounded(points: Array, bend: float, spacing: float) -> Array:
    """The polyline with arcs for corners, in short steps."""
    out = [points[0]]
    for k in range(1, len(points) - 1):
        u, v = points[k - 1] - points[k], points[k + 1] - points[k]
        size = min(bend, 0.49 * np.linalg.norm(u), 0.49 * np.linalg.norm(v))
        a, b = points[k] + size * u / np.linalg.norm(u), points[k] + size * v / np.linalg.norm(v)
        s = np.linspace(0.0, 1.0, 9)[:, None]
        out += list((1 - s) ** 2 * a + 2 * (1 - s) * s * points[k] + s**2 * b)
    out.append(points[-1])
    way = [out[0]]
    for a, b in itertools.pairwise(out):
        n = max(int(np.ceil(np.linalg.norm(b - a) / spacing)), 1)
        way += [a + (b - a) * k / n for k in range(1, n + 1)]
    return np.array([p for k, p in enumerate(way) if k == 0 or np.linalg.norm(p - way[k - 1]) > 1e-9])


def box(size: ArrayLike, at: ArrayLike) -> Any:
    """A box of this `size` (3,) [m] with its middle `at` (3,) [m]."""
    import trimesh

    out: Any = trimesh.creation.box(size)
    out.apply_translation(at)
    return out


def turned(heights: list[float], radii: list[float], at: tuple[float, float, float], sections: int = 40) -> Any:
    """A solid of revolution about z with `radii` [m] at `heights` [m], its origin `at` (3,) [m], with `sections` per turn."""
    import trimesh

    profile = [(0.0, heights[0]), *zip(radii, heights, strict=True), (0.0, heights[-1])]
    out: Any = trimesh.creation.revolve(np.array(profile), sections=sections)
    out.apply_translation(at)
    return out


def written(name: str, parts: list[Any], color: Color, folder: Path) -> Obstacle:
    """An obstacle called `name` of meshes `parts` in one `color`, written to a file in `folder`."""
    import trimesh

    from bunraku.writing import writing

    mesh: Any = trimesh.util.concatenate(parts)
    target = folder / f"{name}.stl"
    with writing(target) as temporary:
        temporary.write_bytes(mesh.export(file_type="stl"))
    return Obstacle(name, Mesh(str(target)), color=color)


def pillow(size: ArrayLike, at: ArrayLike, radius: float, *, fine: int = 4) -> Any:
    """A box of `size` (3,) [m] centred `at` (3,) [m], edges rounded with a `radius` [m] in `fine` steps per quarter turn."""
    import trimesh

    half = np.asarray(size, float) / 2
    r = min(radius, 0.999 * float(half.min()))
    angle = np.linspace(0.0, np.pi / 2, fine + 1)
    corner = np.stack(np.meshgrid(angle, angle, indexing="ij"), -1).reshape(-1, 2)
    u, v = corner.T
    ball = np.stack([np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v)], 1)
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    points = (signs[:, None] * (r * ball + (half - r))).reshape(-1, 3)
    out: Any = trimesh.convex.convex_hull(points)
    out.apply_translation(at)
    return out


def bent_plate(points: Array, widths: Array, thick: float) -> Any:
    """A leaf: a plate along a curve `points` (n, 3) [m], `widths` (n,) [m] to either side, `thick` [m] in the middle."""
    import trimesh

    along = np.gradient(points, axis=0)
    side = np.cross(along, [0.0, 0.0, 1.0])
    side /= np.maximum(np.linalg.norm(side, axis=1), 1e-9)[:, None]
    up = np.cross(side, along)
    up *= 0.5 * thick / np.maximum(np.linalg.norm(up, axis=1), 1e-9)[:, None]
    ring = np.stack([points + widths[:, None] * side, points + up, points - widths[:, None] * side, points - up], 1)
    n = len(points)
    vertices = ring.reshape(-1, 3)
    k, j = np.meshgrid(np.arange(n - 1), np.arange(4), indexing="ij")
    a, b = 4 * k + j, 4 * k + (j + 1) % 4
    walls = np.stack([a, b, a + 4, b, b + 4, a + 4], -1).reshape(-1, 3)
    ends = np.array([[0, 2, 1], [0, 3, 2], [4 * n - 4, 4 * n - 3, 4 * n - 2], [4 * n - 4, 4 * n - 2, 4 * n - 1]])
    out: Any = trimesh.Trimesh(vertices, np.concatenate([walls, ends]), process=False)
    out.fix_normals()
    return out
