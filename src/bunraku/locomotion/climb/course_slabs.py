"""A course as a scene: a stone slab under every piece of its surface."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.shape import Box
from bunraku.locomotion.climb.course import Course
from bunraku.scene import Obstacle, Scene
from bunraku.spatial import so3

Array = NDArray[np.float64]


def scene_of(course: Course, name: str = "course", *, width: float = 10.0 / 3.0, thickness: float = 1.0 / 6.0) -> Scene:
    """The scene `name` of a `course`: one slab of `width` and `thickness` [leg lengths] per piece; arcs in parts of at most 10°."""
    width, thickness = course.leg * width, course.leg * thickness
    slabs: list[Obstacle] = []
    for piece in course.pieces:
        count = max(math.ceil(abs(piece.curvature * piece.length) / math.radians(10.0)), 1)
        for k in range(count if piece.length > 0.0 else 0):
            length = piece.length / count
            X = piece.frame(length * (k + 0.5), 0.0)
            long = length * (1.0 + abs(piece.curvature) * width / 2.0)
            slabs.append(_slab(f"slab{len(slabs)}", X, (long, width, thickness), f"face{piece.face}"))
    return Scene(name, tuple(slabs), floor=None)


def _slab(name: str, X: Array, size: tuple[float, float, float], group: str) -> Obstacle:
    at: Any = tuple((X[:3, 3] - size[2] / 2.0 * X[:3, 2]).tolist())
    turned: Any = tuple(so3.quaternion(X[:3, :3]).tolist())
    return Obstacle(name, Box(size), at, turned, group=group)
