"""All solids of a picture as one array of triangles (a heap), made once and moved by 4×4 matrices."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.figure import Figure
from bunraku.figure.frame import Vector
from bunraku.figure.shape import Capsule, Color, Cylinder, Shape, Sphere
from bunraku.render.triangles import triangles
from bunraku.scene import Scene, Surface
from bunraku.spatial import se3
from bunraku.spatial.so3 import Quaternion

Array = NDArray[np.float64]


class DrawnSolid(NamedTuple):
    """A geometry with its pose and colour."""

    geometry: Surface
    position: Vector
    rotation: Quaternion
    color: Color


class Heap(NamedTuple):
    """Triangles of many solids; `owner` is the solid that each vertex belongs to."""

    vertices: Array
    normals: Array
    owner: NDArray[np.int64]
    faces: NDArray[np.int64]
    places: Array
    """Pose of every solid in the frame that carries it."""
    colors: Array
    """Colours of the solids, in linear light (not values of a screen)."""
    boxes: Array
    """Eight corners of the box around every solid, (solids, 8, 3), in the solid's own axes."""


@functools.lru_cache(maxsize=64)
def heap(solids: tuple[DrawnSolid, ...]) -> Heap:
    """The triangles of `solids`."""
    parts = [triangles(solid.geometry, _segments(solid.geometry)) for solid in solids]
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    cube = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    nothing = np.zeros((0, 3))
    return Heap(
        np.concatenate([nothing, *(part.vertices for part in parts)]),
        np.concatenate([nothing, *(part.normals for part in parts)]),
        np.repeat(np.arange(len(parts)), [len(part.vertices) for part in parts]),
        np.concatenate([nothing, *(part.faces + k for part, k in zip(parts, first, strict=False))]).astype(np.int64),
        np.array([se3.pose(solid.position, solid.rotation) for solid in solids]).reshape(-1, 4, 4),
        np.clip(np.array([solid.color for solid in solids]).reshape(-1, 3), 0.0, 1.0) ** 2.2,
        np.array([np.where(cube, part.vertices.max(0), part.vertices.min(0)) for part in parts]).reshape(-1, 8, 3),
    )


def _segments(geometry: Surface) -> int:
    """How many sides approximate a round solid; small ones need fewer."""
    match geometry:
        case Sphere(radius) | Capsule(radius, _) | Cylinder(radius, _):
            return 28 if radius > 0.03 else 20 if radius > 0.012 else 12
        case _:
            return 0


@functools.lru_cache(maxsize=64)
def shapes_of(shapes: tuple[Shape, ...]) -> tuple[DrawnSolid, ...]:
    """The solids of those `shapes` that are visible."""
    return tuple(DrawnSolid(s.geometry, s.position, s.rotation, s.color) for s in shapes if s.visible)


def obstacles_of(scene: Scene) -> tuple[DrawnSolid, ...]:
    """The solids of a `scene`."""
    return tuple(DrawnSolid(o.geometry, o.position, o.rotation, o.color) for o in scene.obstacles)


def carriers(figure: Figure, frames: Array) -> Array:
    """X_WF of the frame that carries each visible shape of a `figure` whose frames are `frames` (n, 4, 4)."""
    index = figure.frame_index
    chosen = [index.get(shape.frame, len(index)) for shape in figure.shapes if shape.visible]
    return np.asarray(np.concatenate([frames, np.eye(4)[None]])[chosen])


def corners(boxes: Array, X: Array) -> Array:
    """Corners of `boxes` (n, 8, 3) moved by the poses `X` (n, 4, 4), as points (8n, 3)."""
    return np.asarray(boxes @ np.swapaxes(X[:, :3, :3], 1, 2) + X[:, None, :3, 3]).reshape(-1, 3)
