"""Sight: from where a motion is not hidden behind the obstacles of its scene."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.shape import Box
from bunraku.render.camera import Camera
from bunraku.render.triangles import triangles
from bunraku.scene import Plane, Scene
from bunraku.spatial import so3

Array = NDArray[np.float64]


def hidden(points: ArrayLike, eye: ArrayLike, scene: Scene) -> NDArray[np.bool_]:
    """Which of the `points` (n, 3) [m] obstacles of the `scene` hide from the `eye` (3,), or from one eye for each of them."""
    return _hidden(np.asarray(points, float), np.asarray(eye, float), scene, _surfaces(scene))


def _hidden(x: Array, eye: Array, scene: Scene, surfaces: Array) -> NDArray[np.bool_]:
    out = _behind(x, np.broadcast_to(eye, x.shape), surfaces)
    for obstacle in scene.obstacles:
        if isinstance(obstacle.geometry, Box):
            R, half = so3.matrix(obstacle.rotation), np.asarray(obstacle.geometry.size) / 2.0
            a, b = (eye - obstacle.position) @ R, (x - obstacle.position) @ R
            way = np.where(np.abs(b - a) < 1e-12, 1e-12, b - a)
            sides = np.stack([(-half - a) / way, (half - a) / way])  # where along the line of sight each pair of sides is crossed
            enter, leave = sides.min(0).max(1), sides.max(0).min(1)
            out |= (enter < leave) & (leave > 0.0) & (enter < 1.0)
    return out


def _surfaces(scene: Scene) -> Array:
    """A corner and two edges of every triangle of the obstacles that are neither boxes nor planes (m, 3, 3) [m]."""
    found = [np.empty((0, 3, 3))]
    for obstacle in scene.obstacles:
        if not isinstance(obstacle.geometry, Box | Plane):
            of = triangles(obstacle.geometry, segments=8)
            corners = (of.vertices @ so3.matrix(obstacle.rotation).T + obstacle.position)[of.faces]
            found.append(np.stack([corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], 1))
    return np.concatenate(found)


def _behind(x: Array, eye: Array, surfaces: Array) -> NDArray[np.bool_]:
    """Which lines from `eye` to x cross a triangle (Möller and Trumbore)."""
    out = np.zeros(len(x), bool)
    corner, u, v = surfaces[:, 0], surfaces[:, 1], surfaces[:, 2]
    for k in range(len(x) if len(surfaces) else 0):
        way, off = x[k] - eye[k], eye[k] - corner
        across = np.cross(way, v)
        area = np.einsum("ij,ij->i", u, across)
        scale = 1.0 / np.where(np.abs(area) < 1e-15, np.inf, area)
        a, turned = scale * np.einsum("ij,ij->i", off, across), np.cross(off, u)
        b, far = scale * (turned @ way), scale * np.einsum("ij,ij->i", v, turned)
        out[k] = ((area != 0.0) & (a >= 0.0) & (b >= 0.0) & (a + b <= 1.0) & (far > 0.0) & (far < 1.0)).any()
    return out


def clear_view(points: ArrayLike, inner: ArrayLike, scene: Scene | None, *, aspect: float, follow: bool = False) -> Camera:
    """A camera that sees all `points` (n, 3) [m], from the first side from which the fewest of the `inner` ones are hidden.

    points: what the picture must contain; if it follows, relative to the inner points
    inner: places of what is looked at, at several times (k, 3) [m]
    scene: whose obstacles hide things; None hides nothing
    aspect: width / height of the picture
    follow: whether the camera moves along with the inner points
    """

    every = np.asarray(inner, float)
    looked_at = every[:: -(-len(every) // 12)]  # a dozen are enough to choose a side
    surfaces = np.empty((0, 3, 3)) if scene is None else _surfaces(scene)

    def unseen(view: Camera) -> int:
        assert scene is not None
        return int(_hidden(looked_at, np.asarray(view.eye) + (looked_at if follow else 0.0), scene, surfaces).sum())

    usual = Camera.around(points, aspect=aspect)
    if scene is None or not unseen(usual):
        return usual
    turns = [0.9 + k * math.pi / 4.0 for k in (0, -1, 1, -2, 2, -3, 3, 4)]
    views = [
        Camera.around(points, azimuth=a, elevation=e, aspect=aspect) for e, a in itertools.product((0.2, 0.5, 0.9, -0.15), turns)
    ]
    return min(views, key=unseen)
