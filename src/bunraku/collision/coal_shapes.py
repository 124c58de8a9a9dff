"""Geometries for collision checking: coal's geometry, and a capsule (a segment with a radius) that contains it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import triangle_meshes
from bunraku.collision.coal_extra import coal
from bunraku.collision.triangle_meshes import TriangleSurface
from bunraku.figure.shape import Box, Capsule, Cylinder, Geometry, Mesh, Sphere

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CollisionSolid:
    """A geometry in its own axes, with a capsule that contains it."""

    shape: Geometry | TriangleSurface
    start: Array
    end: Array
    radius: float
    """Every point of the geometry is within `radius` of the segment start–end [m]."""
    half: Array
    """Every point is in the box ± half about the middle of the segment [m]; for a flat geometry this is tighter."""
    round: bool = False
    """Whether the geometry is equal to the capsule."""
    surface: TriangleSurface | None = None
    """Its triangles, if it is a box, a mesh or a heightfield."""
    point: Array | None = None
    """A point of the geometry; None: the middle of the segment is one."""

    @functools.cached_property
    def coal(self) -> Any:
        """coal's geometry; raises MissingExtra where coal is not installed."""
        match self.shape:
            case Sphere(radius):
                return coal.Sphere(radius)
            case Capsule(radius, length):
                return coal.Capsule(radius, length)
            case Cylinder(radius, length):
                return coal.Cylinder(radius, length)
            case Box(size):
                return coal.Box(*size)
            case TriangleSurface():
                return _convex(self.shape) if self.shape.convex else _triangles(self.shape)
            case _:
                raise TypeError(f"{self.shape!r} is not a sphere, capsule, cylinder, box or mesh")


@functools.lru_cache(maxsize=1024)
def solid(geometry: Geometry) -> CollisionSolid:
    """The solid of a shape's or an obstacle's `geometry`; raises TypeError for planes and heightfields."""
    match geometry:
        case Sphere(radius):
            return CollisionSolid(geometry, np.zeros(3), np.zeros(3), radius, np.full(3, radius), round=True)
        case Capsule(radius, length):
            end = np.array([0.0, 0.0, length / 2])
            return CollisionSolid(geometry, -end, end, radius, end + radius, round=True)
        case Cylinder(radius, length):
            tip, reach = _tip(np.array([[radius, length / 2]]))
            half = np.array([radius, radius, length / 2])
            return CollisionSolid(geometry, np.array([0, 0, -tip]), np.array([0, 0, tip]), reach, half)
        case Box(size):
            surface = triangle_meshes.of_box(size)
            return CollisionSolid(geometry, *_hull(surface.vertices), surface=surface)
        case Mesh():
            return of_surface(triangle_meshes.load(geometry))
        case _:
            raise TypeError(f"{geometry!r} is not a sphere, capsule, cylinder, box or mesh")


def of_surface(surface: TriangleSurface) -> CollisionSolid:
    """The solid of a `surface` of triangles."""
    hull = _hull(surface.vertices)
    point = np.asarray(surface.vertices[0])
    return CollisionSolid(surface, *hull, surface=surface, point=point)


def _triangles(surface: TriangleSurface) -> Any:
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(surface.faces), len(surface.vertices))
    model.addVertices(np.asfortranarray(surface.vertices))
    model.addTriangles(np.asfortranarray(surface.faces.astype(np.int32)))
    model.endModel()
    model.computeLocalAABB()
    return model


def _convex(surface: TriangleSurface) -> Any:
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(surface.vertices))
    faces.extend([coal.Triangle(*map(int, face)) for face in surface.faces])
    return coal.Convex(points, faces)


def _tip(profile: Array) -> tuple[float, float]:
    """Half length and radius of the smallest capsule about the z axis around points given as (distance from the axis, |z|)."""
    far = float(profile[:, 1].max())
    tips = np.linspace(0.0, far, 33)
    beyond = np.maximum(profile[:, 1] - tips[:, None], 0.0)
    reach = np.hypot(profile[:, 0], beyond).max(1)
    best = int(np.argmin(reach**2 * (2 * tips + 4 / 3 * reach)))
    return float(tips[best]), float(reach[best])


def _hull(points: Array) -> tuple[Array, Array, float, Array]:
    """A capsule around the points (start, end, radius), along the best of six axes; half sizes of a box about its middle."""
    middle = (points.min(0) + points.max(0)) / 2
    _, _, axes = np.linalg.svd(points - points.mean(0), full_matrices=False)
    found = []
    for axis in (*axes, *np.eye(3)):
        along = (points - middle) @ axis
        centre = middle + (along.min() + along.max()) / 2 * axis
        x = points - centre
        z = x @ axis
        distance = np.linalg.norm(x - z[:, None] * axis, axis=1)
        tip, reach = _tip(np.stack([distance, np.abs(z)], 1))
        found.append((reach**2 * (2 * tip + 4 / 3 * reach), reach, centre - tip * axis, centre + tip * axis))
    _, reach, start, end = min(found, key=lambda item: item[0])
    half = np.abs(points - (start + end) / 2).max(0)
    # A little larger, so that rounding leaves no point outside.
    return start, end, reach * (1.0 + 1e-12) + 1e-15, half * (1.0 + 1e-12) + 1e-15
