"""What a course is made of: segments as one writes them, and the pieces of surface that they become."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError
from bunraku.spatial import so3

Array = NDArray[np.float64]


def _refused(field: str, message: str, advice: str) -> FigureError:
    return FigureError(message, kind="segment", field=field, advice=advice)


@dataclass(frozen=True)
class Straight:
    """Ahead by a length [m], along the way of the body."""

    length: float

    def __post_init__(self) -> None:
        if not 0.0 < self.length < math.inf:
            raise _refused("length", f"a straight of {self.length:g} m", "a straight is longer than zero, in metres")

    def __str__(self) -> str:
        return f"straight {1e3 * self.length:.0f} mm"


@dataclass(frozen=True)
class Curve:
    """A turn in the surface: radius [m], angle [rad], to the left where positive."""

    radius: float
    angle: float

    def __post_init__(self) -> None:
        if not 0.0 < self.radius < math.inf:
            raise _refused("radius", f"a radius of {self.radius:g} m", "a radius is more than zero, in metres")
        if not 0.0 < abs(self.angle) < math.inf:
            raise _refused("angle", f"a turn by {self.angle:g}", "turn by an angle that is not zero; to the left where positive")

    def __str__(self) -> str:
        return f"curve {math.degrees(self.angle):.0f}°"


@dataclass(frozen=True)
class Slope:
    """The surface rises (or, where negative, falls away) by an angle [rad] in [−π/2, π/2]: floor to wall is π/2."""

    angle: float

    def __post_init__(self) -> None:
        if not abs(self.angle) <= math.pi / 2 + 1e-9:
            degrees = math.degrees(self.angle)
            raise _refused("angle", f"a slope by {degrees:g}°", "a slope turns by −90° to 90°; sharper ones are two slopes")

    def __str__(self) -> str:
        return f"slope {math.degrees(self.angle):.0f}°"


@dataclass(frozen=True)
class Step:
    """The surface goes on higher, or lower, by a height [m]; an obstacle is a step up, a straight, a step down."""

    height: float

    def __post_init__(self) -> None:
        if not 0.0 < abs(self.height) < math.inf:
            raise _refused("height", f"a step of {self.height:g} m", "a step goes up, or down where negative, in metres")

    def __str__(self) -> str:
        return f"step {1e3 * self.height:.0f} mm"


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
