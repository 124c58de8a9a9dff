"""Triangles of meshes, boxes and heightfields for collision checking: oriented, and known to be closed, convex or neither."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.mesh_file import read_mesh
from bunraku.figure.shape import Mesh
from bunraku.scene import Heightfield

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TriangleSurface:
    """Triangles: vertices (n, 3) [m] and faces (m, 3), counterclockwise from outside.

    A `solid` one is closed and has an inside; a `convex` one is also equal to its convex hull.
    """

    vertices: Array
    faces: NDArray[np.int64]
    solid: bool
    convex: bool = False

    def corners(self) -> Array:
        """The three corners of each triangle, (m, 3, 3)."""
        return self.vertices[self.faces]


@functools.lru_cache(maxsize=256)
def load(geometry: Mesh) -> TriangleSurface:
    """The scaled triangles in the file of a mesh `geometry`, coinciding corners merged; raises FileError for a bad file."""
    _, vertices, faces = read_mesh(geometry, joined=True)
    return of_triangles(vertices, faces)


def of_triangles(vertices: ArrayLike, faces: ArrayLike) -> TriangleSurface:
    """A surface of `vertices` (n, 3) [m] and `faces` (m, 3), examined whether it is closed and whether it is convex."""
    import trimesh

    mesh: Any = trimesh.Trimesh(vertices, faces, process=False)
    solid = bool(mesh.is_watertight and mesh.is_winding_consistent)
    # Only a closed surface of one piece can be convex.
    convex = solid and mesh.body_count == 1 and bool(mesh.is_convex)
    return TriangleSurface(np.array(mesh.vertices, float), np.array(mesh.faces, np.int64), solid, convex)


def of_box(size: tuple[float, float, float]) -> TriangleSurface:
    """The twelve triangles of a box of `size` (x, y, z) [m] centred at the origin."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [(a, b, c) for a, b, c, _ in quads] + [(a, c, d) for a, _, c, d in quads]
    return TriangleSurface(signs * np.array(size) / 2, np.array(faces, np.int64), solid=True, convex=True)


def of_heights(field: Heightfield, *, depth: float = 10.0) -> TriangleSurface:
    """The ground under a heightfield `field`: a closed block that reaches `depth` [m] below its lowest point."""
    top, up = field.vertices, field.faces
    bottom = top.copy()
    bottom[:, 2] = top[:, 2].min() - depth
    index = np.arange(len(top)).reshape(len(field.heights), -1)
    # The rim, counterclockwise seen from above.
    rim = np.concatenate([index[0], index[1:, -1], index[-1, -2::-1], index[-2:0:-1, 0]])
    along, low = np.roll(rim, -1), len(top)
    sides = np.concatenate([np.stack([rim, rim + low, along + low], 1), np.stack([rim, along + low, along], 1)])
    return TriangleSurface(np.vstack([top, bottom]), np.concatenate([up, up[:, ::-1] + low, sides]), solid=True)
