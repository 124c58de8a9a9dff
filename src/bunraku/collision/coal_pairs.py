"""Distances by coal, for the pairs whose distance the kernel of `near_pairs` only bounds."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.coal_extra import coal
from bunraku.collision.near_pairs import contains
from bunraku.collision.shape_motion import shape_poses
from bunraku.collision.things import Thing
from bunraku.collision.world_arrays import WorldArrays

Array = NDArray[np.float64]


class Witness(NamedTuple):
    """Signed distance of two things [m], and the points between which it is measured: p_B − p_A = value · normal."""

    value: float
    p_A: Array
    p_B: Array
    normal: Array


@dataclass(frozen=True, eq=False)
class NarrowPhase:
    """The things of a world as coal's geometries, with the poses of the static ones."""

    flat: WorldArrays
    things: tuple[Thing, ...]
    static: tuple[Thing, ...]

    @functools.cached_property
    def geometries(self) -> tuple[Any, ...]:
        """coal's geometries of all things; raises MissingExtra where coal is not installed."""
        half_space = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        return tuple(half_space if thing.solid is None else thing.solid.coal for thing in self.things)

    @functools.cached_property
    def places(self) -> tuple[Any, ...]:
        """The poses of the static things."""
        return tuple(coal.Transform3s(thing.X[:3, :3], thing.X[:3, 3]) for thing in self.static)

    @classmethod
    def of(cls, flat: WorldArrays, moving: list[Thing], static: list[Thing]) -> NarrowPhase:
        """Made of the things of a world, `moving` and `static`, and of its arrays `flat`."""
        return cls(flat, (*moving, *static), tuple(static))

    def at(self, q: Array) -> CoalQuery:
        """Queries at the configuration `q`."""
        return CoalQuery(self, q)


class CoalQuery:
    """Queries about the things in `narrow` at one configuration `q`."""

    def __init__(self, narrow: NarrowPhase, q: Array) -> None:
        self._narrow = narrow
        flat = narrow.flat
        self._poses = np.empty((len(flat.joint), 4, 3))  # columns of the rotation, then the position
        shape_poses(flat.joints, flat.joint, flat.pose, q, self._poses)
        self._places: dict[int, Any] = {}

    def _place(self, i: int) -> Any:
        n = len(self._poses)
        if i >= n:
            return self._narrow.places[i - n]
        if i not in self._places:
            pose = self._poses[i]
            self._places[i] = coal.Transform3s(pose[:3].T, pose[3])
        return self._places[i]

    def _pair(self, i: int, j: int) -> tuple[Any, Any, Any, Any]:
        geometries = self._narrow.geometries
        return geometries[i], self._place(i), geometries[j], self._place(j)

    def any_nearer(self, pairs: Iterable[tuple[int, int]], margin: float) -> bool:
        """Whether any of the `pairs`, given as numbers of things, is nearer than `margin` [m]."""
        request: Any = None
        result: Any = None
        for i, j in pairs:
            if request is None:
                request, result = coal.CollisionRequest(), coal.CollisionResult()
                request.enable_contact = False
                request.security_margin = margin
            result.clear()
            if coal.collide(*self._pair(i, j), request, result) or self._swallowed(i, j):
                return True
        return False

    def distance(self, i: int, j: int, *, bound: float = math.inf) -> Witness | None:
        """The signed distance of the things with numbers `i` and `j`; None where it is not below `bound` [m]."""
        pair, result = self._pair(i, j), coal.DistanceResult()
        swallowed = self._swallowed(i, j)
        value = _distance(pair, result, math.inf if swallowed else bound)
        if value <= 0.0 and any(geometry.getObjectType() == coal.OT_BVH for geometry in pair[::2]):
            deepest = _deepest(pair)
            return deepest if deepest.value < bound else None
        p_A, p_B = np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())
        gap = p_B - p_A
        size = float(np.linalg.norm(gap))
        # Between meshes coal does not set the normal.
        normal = gap / size * math.copysign(1.0, value) if size > 1e-9 else np.array(result.normal)
        if swallowed:  # wholly inside: the way out is at least as long as the distance to the surface
            value, normal = -value, -normal
        return Witness(float(value), p_A, p_B, normal) if value < bound else None

    def _swallowed(self, i: int, j: int) -> bool:
        """Whether a point of the moving thing i is inside of the static mesh j, of which coal knows only the triangles."""
        n, solid = len(self._poses), self._narrow.things[j].solid
        if j < n or solid is None or solid.surface is None or solid.surface.convex or not solid.surface.solid:
            return False
        flat = self._narrow.flat
        return bool(contains(flat.ints, flat.boxes, flat.triangles, flat.root[j - n], self._point(i)))

    def _point(self, i: int) -> Array:
        """A point of the moving thing i, in the world."""
        solid, pose = self._narrow.things[i].solid, self._poses[i]
        assert solid is not None
        own = (solid.start + solid.end) / 2 if solid.point is None else solid.point
        return np.asarray(own @ pose[:3] + pose[3])


def _distance(pair: tuple[Any, Any, Any, Any], result: Any, bound: float) -> float:
    request, far = coal.DistanceRequest(), 1e200
    # Normals, which gradients need, are accurate to the root of the tolerance. Below 1e-10 coal errs on some triangles of a mesh.
    request.gjk_tolerance = 1e-9 if any(shape.getObjectType() == coal.OT_BVH for shape in pair[::2]) else 1e-12
    result.min_distance = min(max(bound, 1e-9), far)  # coal does not look at triangles farther away
    value = coal.distance(*pair, request, result)
    # coal did not converge: it returned `far`, or gave up and reported contact. Its default tolerance may do better.
    if abs(value) >= far or value <= 0.0:
        request.gjk_tolerance = coal.DistanceRequest().gjk_tolerance
        result.clear()
        result.min_distance = min(max(bound, 1e-9), far)
        value = coal.distance(*pair, request, result)
    return float(value)


def _deepest(pair: tuple[Any, Any, Any, Any]) -> Witness:
    """The deepest contact of a pair that overlaps; coal's distance stops at the first triangle that does."""
    many = 4096  # the most contacts of a mesh among which the deepest is sought
    request, result = coal.CollisionRequest(coal.CollisionRequestFlag.CONTACT, many), coal.CollisionResult()
    coal.collide(*pair, request, result)
    contacts = list(result.getContacts())
    if not contacts:  # touching to within rounding
        return Witness(0.0, np.zeros(3), np.zeros(3), np.array([0.0, 0.0, 1.0]))
    contact = min(contacts, key=lambda contact: contact.penetration_depth)
    value, normal, middle = float(contact.penetration_depth), np.array(contact.normal), np.array(contact.pos)
    return Witness(value, middle - 0.5 * value * normal, middle + 0.5 * value * normal, normal)
