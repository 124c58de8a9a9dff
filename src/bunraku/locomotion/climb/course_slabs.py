"""A course to see and to collide with: slabs under every piece of its surface."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.shape import Box
from bunraku.locomotion.climb.course import Course
from bunraku.scene import STONE, Obstacle, Scene
from bunraku.spatial import so3

Array = NDArray[np.float64]
WIDTH, THICKNESS = 0.4, 0.02  # of the ribbon [m]


def scene_of(course: Course, name: str = "course") -> Scene:
    """Slabs under every piece of the surface; arcs in parts of at most 10°."""
    slabs: list[Obstacle] = []
    for piece in course.pieces:
        count = max(math.ceil(abs(piece.curvature * piece.length) / math.radians(10.0)), 1)
        for k in range(count if piece.length > 0.0 else 0):
            length = piece.length / count
            X = piece.frame(length * (k + 0.5), 0.0)
            long = length * (1.0 + abs(piece.curvature) * WIDTH / 2.0)
            slabs.append(_slab(f"slab{len(slabs)}", X, long, f"face{piece.face}"))
    return Scene(name, tuple(slabs), floor=None)


def _slab(name: str, X: Array, length: float, group: str) -> Obstacle:
    at: Any = tuple((X[:3, 3] - THICKNESS / 2.0 * X[:3, 2]).tolist())
    turned: Any = tuple(so3.quaternion(X[:3, :3]).tolist())
    return Obstacle(name, Box((length, WIDTH, THICKNESS)), at, turned, STONE, group)
