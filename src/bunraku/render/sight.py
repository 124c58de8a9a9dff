"""Sight: from where a motion is not hidden behind the boxes of its scene."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.shape import Box
from bunraku.render.camera import Camera
from bunraku.scene import Scene
from bunraku.spatial import so3

Array = NDArray[np.float64]


def hidden(points: ArrayLike, eye: ArrayLike, scene: Scene) -> NDArray[np.bool_]:
    """Which of the `points` (n, 3) [m] boxes of the `scene` hide from the `eye` (3,), or from one eye for each point (n, 3) [m]."""
    x, start = np.asarray(points, float), np.asarray(eye, float)
    out = np.zeros(len(x), bool)
    for obstacle in scene.obstacles:
        if isinstance(obstacle.geometry, Box):
            R, half = so3.matrix(obstacle.rotation), np.asarray(obstacle.geometry.size) / 2.0
            a, b = (start - obstacle.position) @ R, (x - obstacle.position) @ R
            way = np.where(np.abs(b - a) < 1e-12, 1e-12, b - a)
            sides = np.stack([(-half - a) / way, (half - a) / way])  # where along the line of sight each pair of sides is crossed
            enter, leave = sides.min(0).max(1), sides.max(0).min(1)
            out |= (enter < leave) & (leave > 0.0) & (enter < 1.0)
    return out


def clear_view(points: ArrayLike, inner: ArrayLike, scene: Scene | None, *, aspect: float, follow: bool = False) -> Camera:
    """A camera that sees all `points` (n, 3) [m], from the first side from which the fewest of the `inner` ones are hidden.

    points: what the picture must contain; if it follows, relative to the inner points
    inner: places of what is looked at, at several times (k, 3) [m]
    scene: whose boxes hide things; None hides nothing
    aspect: width / height of the picture
    follow: whether the camera moves along with the inner points
    """

    def unseen(view: Camera) -> int:
        assert scene is not None
        return int(hidden(inner, np.asarray(view.eye) + (np.asarray(inner) if follow else 0.0), scene).sum())

    usual = Camera.around(points, aspect=aspect)
    if scene is None or not unseen(usual):
        return usual
    turns = [0.9 + k * math.pi / 4.0 for k in (0, -1, 1, -2, 2, -3, 3, 4)]
    views = [Camera.around(points, azimuth=a, elevation=e, aspect=aspect) for e, a in itertools.product((0.2, 0.5, -0.15), turns)]
    return min(views, key=unseen)
