"""The ground itself, not the grid of heights that planning and rechecker have: the top of its boxes and meshes under any point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import trimesh
from numpy.typing import NDArray

from bunraku.collision.triangle_meshes import load
from bunraku.ensemble.errand import Errand
from bunraku.figure.shape import Box, Mesh
from bunraku.scene import Scene

Array = NDArray[np.float64]


def true_heights(errand: Errand) -> Callable[[Array], Array]:
    """A function from points (n, 2) to heights (n,) of what agents of an `errand` may stand on [m]."""
    lowest = 0.0 if errand.scene.floor is None else errand.scene.floor
    parts = [] if errand.team.terrain is None else [_triangles(errand.scene, name) for name in errand.team.terrain.ground]

    def heights(points: Array) -> Array:
        out = np.full(len(points), lowest)
        for triangle in (one for part in parts for one in part):
            low, high = triangle[:, :2].min(0) - 1e-9, triangle[:, :2].max(0) + 1e-9
            near = np.flatnonzero(((points >= low) & (points <= high)).all(1))
            # Barycentric coordinates: p = a + s (b - a) + t (c - a), in the plane of the floor.
            st = np.linalg.solve((triangle[1:, :2] - triangle[0, :2]).T, (points[near] - triangle[0, :2]).T)
            inside = (st >= -1e-9).all(0) & (st.sum(0) <= 1.0 + 1e-9)
            rise = (triangle[1:, 2] - triangle[0, 2]) @ st
            out[near[inside]] = np.maximum(out[near[inside]], triangle[0, 2] + rise[inside])
        return out

    return heights


def _triangles(scene: Scene, name: str) -> Array:
    """Triangles (n, 3, 3) of an obstacle that are not upright."""
    obstacle = scene.obstacle(name)
    match obstacle.geometry:
        case Box(size):
            surface = trimesh.creation.box(size)
        case Mesh():
            surface = load(obstacle.geometry)
        case _:
            surface = obstacle.geometry
    w, x, y, z = obstacle.rotation
    X = trimesh.transformations.quaternion_matrix([w, x, y, z])
    corners = np.asarray(surface.vertices, float) @ X[:3, :3].T + np.asarray(obstacle.position, float)
    out = corners[np.asarray(surface.faces)]
    flat = np.cross(out[:, 1] - out[:, 0], out[:, 2] - out[:, 0])[:, 2]
    return np.asarray(out[np.abs(flat) > 1e-12])
