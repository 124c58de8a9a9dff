"""Camera: where a picture is taken from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import NotFinite
from bunraku.figure.frame import Vector

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Camera:
    """An eye that looks at a target; `field` is the vertical angle of view [rad]."""

    eye: Vector
    target: Vector
    up: Vector = (0.0, 0.0, 1.0)
    field: float = 0.5

    @property
    def axes(self) -> Array:
        """Right, up and back as rows."""
        back = np.subtract(self.eye, self.target)
        back = back / np.linalg.norm(back)
        right = np.cross(self.up, back)
        size = float(np.linalg.norm(right))
        right = np.array([0.0, 1.0, 0.0]) if size < 1e-9 else right / size  # it looks straight up or down
        return np.array([right, np.cross(back, right), back])

    @staticmethod
    def around(
        points: ArrayLike, *, azimuth: float = 0.9, elevation: float = 0.2, field: float = 0.5, aspect: float = 4 / 3,
        margin: float = 1.12,
    ) -> Camera:  # fmt: skip
        """A camera that sees all `points` (n, 3) [m].

        azimuth: direction of the eye from +x toward +y [rad]
        elevation: of the eye above the points [rad]
        field: vertical angle of view [rad]
        aspect: width / height of the picture
        margin: 1.12 leaves 12 % around the points

        Raises NotFinite if there are no points, or they are not finite.
        """
        points = np.asarray(points, float).reshape(-1, 3)
        if not len(points) or not np.isfinite(points).all():
            raise NotFinite("a camera needs finite points to look at")
        level = math.cos(elevation)
        back = np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])
        axes = Camera(tuple(back), (0.0, 0.0, 0.0)).axes
        seen = points @ axes.T
        # The view is bounded by four planes, and all points must be inside of them: the eye is where the tightest planes meet.
        x, y, z = seen.T
        tall = math.tan(field / 2) / margin
        wide = aspect * tall
        right, left = np.max(x + wide * z), np.max(wide * z - x)
        high, low = np.max(y + tall * z), np.max(tall * z - y)
        away = max((right + left) / (2 * wide), (high + low) / (2 * tall), z.max() + 0.01)
        eye = np.array([(right - left) / 2, (high - low) / 2, away]) @ axes
        return Camera(vector(eye), vector(eye - (away - (z.min() + z.max()) / 2) * back), field=field)


def vector(x: Array) -> Vector:
    """The array `x` (3,) as floats of Python."""
    return (float(x[0]), float(x[1]), float(x[2]))
