"""What a course is made of: segments as one writes them, and the pieces of surface that they become."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Straight:
    """Ahead by a length [m], along the way of the body."""

    length: float


@dataclass(frozen=True)
class Curve:
    """A turn in the surface: radius [m], angle [rad], to the left where positive."""

    radius: float
    angle: float


@dataclass(frozen=True)
class Slope:
    """The surface rises (or, where negative, falls away) by an angle [rad] in [−π/2, π/2]: floor to wall is π/2."""

    angle: float


@dataclass(frozen=True)
class Step:
    """The surface goes on higher, or lower, by a height [m]; an obstacle is a step up, a straight, a step down."""

    height: float


Segment = Straight | Curve | Slope | Step


@dataclass(frozen=True, eq=False)
class Piece:
    """A stretch of one face, straight or an arc of constant curvature [1/m], from s on; X has columns ahead, left, normal."""

    s: float
    length: float
    curvature: float
    X: Array
    face: int

    def frame(self, ds: float, y: float) -> Array:
        """X of the surface at a distance along, and to the left."""
        local = np.eye(4)
        turn = self.curvature * ds
        local[:3, :3] = so3.about(2, turn)
        if self.curvature:
            local[0, 3], local[1, 3] = math.sin(turn) / self.curvature, (1.0 - math.cos(turn)) / self.curvature
        else:
            local[0, 3] = ds
        local[:3, 3] += y * local[:3, 1]
        return np.asarray(self.X @ local)
