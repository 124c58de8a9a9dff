"""Things as convex bodies in flat arrays, for proofs that curves are free. What is not convex is covered by convex pieces."""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from bunraku.collision.coal_shapes import CollisionSolid
from bunraku.collision.gjk import CORE
from bunraku.collision.things import Thing
from bunraku.collision.triangle_meshes import TriangleSurface
from bunraku.figure.shape import Box, Cylinder
from bunraku.spatial import se3

Array = NDArray[np.float64]

Bodies = namedtuple("Bodies", "own kind half radius points first count pose")
"""Thing k has the pieces own[k] to own[k + 1] − 1. A piece is a core with a radius: the core has a kind (one of CORE), half sizes,
for a hull `count` points from `first` on, and a pose (its three axes, then its centre) in the joint that carries it."""


class ConvexPiece(NamedTuple):
    """A convex core with a radius; X is the pose of the core in the thing's own axes."""

    kind: int
    half: Array
    radius: float = 0.0
    points: Array = np.zeros((0, 3))
    X: Array = np.eye(4)


def bodies(things: list[Thing]) -> Bodies:
    """Pieces of all `things`. Planes, and static things with triangles, have none: kernels use the half-space and the triangles."""
    rows: list[tuple[ConvexPiece, Array]] = []
    own = [0]
    for thing in things:
        if thing.solid is not None and (thing.figure >= 0 or thing.solid.surface is None):
            rows += [(piece, thing.X @ piece.X) for piece in pieces(thing.solid)]
        own.append(len(rows))
    counts = np.array([len(piece.points) for piece, _ in rows], np.int64)
    poses = [np.concatenate([X[:3, :3].T.ravel(), X[:3, 3]]) for _, X in rows]
    return Bodies(
        own=np.array(own, np.int64),
        kind=np.array([piece.kind for piece, _ in rows], np.int64),
        half=np.array([piece.half for piece, _ in rows], float).reshape(-1, 3),
        radius=np.array([piece.radius for piece, _ in rows], float),
        points=np.concatenate([np.zeros((0, 3)), *(piece.points for piece, _ in rows)]),
        first=np.cumsum(counts) - counts,
        count=counts,
        pose=np.array(poses).reshape(-1, 12),
    )


def pieces(solid: CollisionSolid, *, most: int = 16) -> list[ConvexPiece]:
    """Convex pieces that cover a `solid`: one where it is convex, else at most `most`."""
    if solid.round:
        return [ConvexPiece(CORE.segment, np.array([0.0, 0.0, np.linalg.norm(solid.end - solid.start) / 2]), solid.radius)]
    if isinstance(solid.shape, Box):
        return [ConvexPiece(CORE.box, 0.5 * np.array(solid.shape.size))]
    if isinstance(solid.shape, Cylinder):
        radius = solid.shape.radius
        return [ConvexPiece(CORE.cylinder, np.array([radius, radius, 0.5 * solid.shape.length]))]
    assert solid.surface is not None
    return [_hull(points) for points in _clusters(solid.surface, most)]


def _hull(points: Array) -> ConvexPiece:
    """The convex hull of points."""
    middle = (points.min(0) + points.max(0)) / 2
    try:
        corners = points[ConvexHull(points).vertices]
    except QhullError:  # the points lie in a plane
        corners = np.unique(points, axis=0)
    return ConvexPiece(CORE.hull, np.abs(corners - middle).max(0), 0.0, corners - middle, se3.pose(middle))


def _clusters(surface: TriangleSurface, most: int) -> list[Array]:
    """Corners of the parts of a surface: of one part if it is convex, else of at most `most` whose hulls cover every triangle."""
    parts = [surface.corners()]
    while not surface.convex and len(parts) < most:  # the longest part is halved
        spans = [float(np.ptp(part.reshape(-1, 3), axis=0).max()) if len(part) > 1 else 0.0 for part in parts]
        k = int(np.argmax(spans))
        if spans[k] == 0.0:
            break
        part = parts.pop(k)
        axis = int(np.argmax(np.ptp(part.reshape(-1, 3), axis=0)))
        order = np.argsort(part[:, :, axis].mean(1), kind="stable")
        parts += [part[order[: len(part) // 2]], part[order[len(part) // 2 :]]]
    return [part.reshape(-1, 3) for part in parts]
