"""Polytopes: vertices, edges and faces of the convex hull of points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from bunraku.errors import BunrakuError
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Polytope:
    """A convex polytope in its own axes [m]."""

    vertices: Array
    """(n, 3)"""
    faces: tuple[tuple[int, ...], ...]
    """Vertices around each face, counterclockwise from outside."""
    normals: Array
    """(faces, 3) outward."""
    edges: NDArray[np.int64]
    """(edges, 2) vertices."""
    directions: Array
    """(k, 3) unit vectors along the edges, one of those that are parallel."""


def polytope(points: Array, *, name: str) -> Polytope:
    """The convex hull of `points` (n, 3) [m] of the shape called `name`. Raises BunrakuError where they lie in a plane."""
    try:
        hull = ConvexHull(points)
    except QhullError:
        raise BunrakuError(
            f"{name} is flat and cannot touch\n  advice: give it some thickness, or leave it out of `touch`"
        ) from None
    flat = 1e-9 * float(np.ptp(points, axis=0).max())  # how far from a plane the vertices of one face may be
    used = hull.vertices
    vertices = points[used]
    near, kept = np.array([1e-7, 1e-7, 1e-7, flat]), list[int]()
    for k, equation in enumerate(hull.equations):
        if not np.any(np.all(np.abs(hull.equations[kept] - equation) < near, axis=1)):
            kept.append(k)
    faces, normals = [], []
    for equation in hull.equations[kept]:
        on = np.flatnonzero(np.abs(vertices @ equation[:3] + equation[3]) < 10 * flat)
        if len(on) >= 3:
            faces.append(_around(vertices, on, equation[:3]))
            normals.append(equation[:3])
    pairs = {tuple(sorted((face[k - 1], face[k]))) for face in faces for k in range(len(face))}
    edges = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return Polytope(vertices, tuple(faces), np.array(normals), edges, _directions(vertices, edges))


def _around(vertices: Array, on: NDArray[np.int64], normal: Array) -> tuple[int, ...]:
    """The vertices `on` a face, counterclockwise about its `normal`."""
    own = vertices[on] - vertices[on].mean(0)
    x = own[0] / np.linalg.norm(own[0])
    angle = np.arctan2(own @ so3.cross(normal, x), own @ x)
    return tuple(int(k) for k in on[np.argsort(angle)])


def _directions(vertices: Array, edges: NDArray[np.int64]) -> Array:
    u = vertices[edges[:, 1]] - vertices[edges[:, 0]]
    u /= np.linalg.norm(u, axis=1)[:, None]
    kept: list[int] = []
    for k in range(len(u)):
        if not np.any(np.linalg.norm(np.cross(u[kept], u[k]), axis=1) < 1e-7):
            kept.append(k)
    return np.asarray(u[kept])
