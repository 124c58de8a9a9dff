"""Corners of the overlap of two faces, and how they move with the configuration.

Face g of body a is clipped to what is above face f of body b (bunraku.collision.manifold.separating_axes). With n the normal of f,
a corner that is no vertex of g is

    where an edge of g from y to z crosses the plane above a side of f from b to c:
        x = y + s (z − y),   m·x = m·b,   m = n × (c − b)
    or a point of g above a vertex b of f:
        x = b + h n,         l·x = l·y,   l the normal of g, y on it

An edge that lies across the end of a cylinder of radius r, with the centre c and the normal n, crosses its rim where

        x = y + s (z − y),   |x − c − n·(x − c) n| = r
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_arrays import BODY, TouchWorld
from bunraku.errors import BunrakuError
from bunraku.kinematics.forward import Pose
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Corner:
    """A corner that is given by points and directions of two bodies."""

    joints: list[int]
    """That carry these."""
    weights: Array
    """1 for a point, 0 for a direction."""
    points: Array
    """(n, 3) where they are [m]."""
    place: Callable[[Any], Any]
    """Where it is if they are where its argument says."""


def _on_edge(p: Any) -> Any:
    """y, z of the edge; b, c of the side; the normal of its face."""
    m = so3.cross(p[4], p[3] - p[2])
    return p[0] + (m @ (p[2] - p[0])) / (m @ (p[1] - p[0])) * (p[1] - p[0])


def _above_vertex(p: Any) -> Any:
    """y and the normal of the face of a; the vertex b and the normal of its face."""
    return p[2] + (p[1] @ (p[0] - p[2])) / (p[1] @ p[3]) * p[3]


def _over_rim(radius: float, side: int) -> Callable[[Any], Any]:
    """y, z of the edge; the centre and normal of the end."""

    def place(p: Any) -> Any:
        u, d = p[1] - p[0], p[0] - p[2]
        v, d = u - (p[3] @ u) * p[3], d - (p[3] @ d) * p[3]
        root = np.sqrt((v @ d) ** 2 - (v @ v) * (d @ d - radius**2))
        return p[0] + (side * root - v @ d) / (v @ v) * u

    return place


def corner_of(world: TouchWorld, key: NDArray[np.int64], here: Pose, row: Array, *, near: float = 1e-9) -> Corner | None:
    """The corner that is the contact with this `key`, whose normal row has the points `row` [m]; None where it is a fixed point.

    world: all bodies
    here: the pose at the start of the step
    near: how far it may be from where the faces say that it is at the pose `here` [m]

    Raises BunrakuError where it is elsewhere: the contact was found at the end of the step.
    """
    a, b, point, face = (int(k) for k in key)
    if not (BODY.corner <= point < BODY.face and BODY.face <= face < BODY.rim):
        return None
    ja, jb, f = int(world.joint[a]), int(world.joint[b]), face - BODY.face
    Xa, Xb = here.X_joint(ja), here.X_joint(jb)
    if point >= BODY.edge:
        found = _on_end(world, point - BODY.edge, b, f, Xa, Xb, ja, jb)
    else:
        found = _on_face(world, a, f, Xa, Xb, ja, jb)
    best = min(found, key=lambda corner: float(np.linalg.norm(corner.place(corner.points) - row[0])))
    if not np.linalg.norm(best.place(best.points) - row[0]) <= near:
        raise BunrakuError("the step has no derivative here: where faces meet changed within it\n  advice: take a shorter step")
    return best


def _on_face(world: TouchWorld, a: int, f: int, Xa: Array, Xb: Array, ja: int, jb: int) -> list[Corner]:
    """All corners that the face of body a that looks at face f may have above it."""
    n = Xb[:3, :3] @ world.faces[f]
    faces = range(int(world.first[a, 2]), int(world.first[a, 2] + world.count[a, 2]))
    g = min(faces, key=lambda k: float(n @ (Xa[:3, :3] @ world.faces[k])))
    own, other, l = _loop(world, g, Xa), _loop(world, f, Xb), Xa[:3, :3] @ world.faces[g]
    edges = [
        Corner([ja, ja, jb, jb, jb], np.array([1.0, 1, 1, 1, 0]), np.array([y, z, b, c, n]), _on_edge)
        for y, z in pairwise([*own, own[0]])
        for b, c in pairwise([*other, other[0]])
        if abs(so3.cross(n, c - b) @ (z - y)) > 1e-9 * np.linalg.norm(c - b) * np.linalg.norm(z - y)
    ]
    return edges + [Corner([ja, ja, jb, jb], np.array([1.0, 0, 1, 0]), np.array([own[0], l, b, n]), _above_vertex) for b in other]


def _on_end(world: TouchWorld, e: int, b: int, f: int, Xa: Array, Xb: Array, ja: int, jb: int) -> list[Corner]:
    """Where edge e crosses the rim of the end f of the cylinder b."""
    y, z = world.vertices[world.edges[e]] @ Xa[:3, :3].T + Xa[:3, 3]
    c = Xb[:3, :3] @ world.vertices[world.first[b, 0] + f - world.first[b, 2]] + Xb[:3, 3]
    points, radius = np.array([y, z, c, Xb[:3, :3] @ world.faces[f]]), float(world.radius[b])
    return [Corner([ja, ja, jb, jb], np.array([1.0, 1, 1, 0]), points, _over_rim(radius, side)) for side in (-1, 1)]


def _loop(world: TouchWorld, face: int, X: Array) -> Array:
    """The vertices around a face (n, 3), of a joint at X."""
    first, count = (int(k) for k in world.loop[face])
    return np.asarray(world.vertices[world.loops[first : first + count]] @ X[:3, :3].T + X[:3, 3])
