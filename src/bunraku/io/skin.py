"""Meshes of a figure for animation programs: shapes and strings, each vertex skinned to one bone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Shape, String
from bunraku.figure.shape import Color
from bunraku.io.skeleton import Skeleton
from bunraku.kinematics.ways import ways_along
from bunraku.motion import Track
from bunraku.render.strands import StrandColors
from bunraku.render.triangles import triangles
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SkinnedMesh:
    """A mesh in the world, while the figure is at its start."""

    name: str
    """Names need not differ."""
    vertices: Array
    """(n, 3) [m]."""
    normals: Array
    faces: Numbers
    """Numbers of vertices (m, 3), counterclockwise from outside."""
    color: Color
    bones: Numbers
    """The bone that carries each vertex, (n,)."""


def skinned_meshes(bones: Skeleton) -> Iterator[SkinnedMesh]:
    """The visible shapes of the figure of `bones`, and its strings and wires that run straight from point to point."""
    figure = bones.figure
    X = bones.frames_at_rest()
    for shape in figure.shapes:
        if shape.visible:
            yield _of_shape(bones, shape, X[shape.frame])
    for rope in (*figure.strings, *figure.wires):
        if not rope.wraps:
            yield _of_string(bones, rope, X)


def winding_ropes(track: Track, pieces: int = 32) -> Iterator[tuple[String, Array]]:
    """Strings and wires of a `track` that run over pulleys.

    Yields each with the points (T, pieces + 1, 3) [m] that cut one of its branches into equal `pieces`.
    """
    for rope in (*track.figure.strings, *track.figure.wires):
        ways = ways_along(track.figure, track.q, rope) if rope.wraps else []
        for branch in range(len(ways[0]) if ways else 0):
            yield rope, np.array([_resampled(way[branch].points, pieces) for way in ways])


def _of_shape(bones: Skeleton, shape: Shape, X_WF: Array) -> SkinnedMesh:
    X = X_WF @ se3.pose(shape.position, shape.rotation)
    vertices, normals, faces = triangles(shape.geometry)
    carried = np.full(len(vertices), bones.of_frame[shape.frame])
    return SkinnedMesh(
        f"{shape.name} shape", se3.transform(X, vertices), normals @ X[:3, :3].T, np.asarray(faces), shape.color, carried
    )


def _of_string(bones: Skeleton, rope: String, X: dict[str, Array]) -> SkinnedMesh:
    """Straight pieces. Each end is skinned to the bone that it is tied to, so that a string follows what an animator changes."""
    ends = [se3.transform(X[at.frame], at.position) for at in rope.path]
    carriers = [bones.of_frame[at.frame] for at in rope.path]
    vertices: list[Array] = []
    normals: list[Array] = []
    faces: list[Numbers] = []
    carried: list[Numbers] = []
    for (a, b), ends_on in zip(itertools.pairwise(ends), itertools.pairwise(carriers), strict=True):
        rings, outward, sides = _tube(a, b)
        faces.append(sides + sum(len(part) for part in vertices))
        vertices.append(rings)
        normals.append(outward)
        carried.append(np.repeat(ends_on, len(rings) // 2))
    return SkinnedMesh(
        f"{rope.name} {rope.kind}", np.vstack(vertices), np.vstack(normals), np.vstack(faces), StrandColors.plain,
        np.concatenate(carried),
    )  # fmt: skip


def _tube(a: Array, b: Array, radius: float = 0.0015, sides: int = 6) -> tuple[Array, Array, Numbers]:
    """Vertices, normals and faces of a thin tube from `a` to `b`; the first half of the vertices is at `a`.

    It consists of three tubes, whose rings lie in orthogonal planes: when its ends turn with their bones, one stays open.
    """
    length = float(np.linalg.norm(b - a))
    R = so3.onto_z(((b - a) / length).tolist()) if length > 1e-9 else np.eye(3)
    angle = 2 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(angle), np.sin(angle)], 1)
    rings = np.concatenate([circle @ R[:, pair].T for pair in ([0, 1], [1, 2], [2, 0])])
    this = np.arange(3 * sides)
    following = this // sides * sides + (this + 1) % sides
    other = 3 * sides
    faces = np.concatenate(
        [np.stack([this, following, following + other], 1), np.stack([this, following + other, this + other], 1)]
    )
    return np.concatenate([a + radius * rings, b + radius * rings]), np.concatenate([rings, rings]), faces


def _resampled(points: Array, pieces: int) -> Array:
    run = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    where = np.linspace(0.0, run[-1], pieces + 1)
    return np.stack([np.interp(where, run, x) for x in points.T], 1)
