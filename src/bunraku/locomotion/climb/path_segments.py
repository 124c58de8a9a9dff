"""Segments of a path, as the user writes them, and the pieces of surface that they become."""

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
    """Straight ahead by a length [m], along the path of the body."""

    length: float

    def __post_init__(self) -> None:
        if not 0.0 < self.length < math.inf:
            raise _refused("length", f"a straight of {self.length:g} m", "give a length above zero")

    def __str__(self) -> str:
        return f"straight {1e3 * self.length:.0f} mm"


@dataclass(frozen=True)
class Arc:
    """A curve within the surface: radius [m] and angle [rad], positive to the left."""

    radius: float
    angle: float

    def __post_init__(self) -> None:
        if not 0.0 < self.radius < math.inf:
            raise _refused("radius", f"a radius of {self.radius:g} m", "give a radius above zero")
        if not 0.0 < abs(self.angle) < math.inf:
            raise _refused("angle", f"a turn by {self.angle:g} rad", "give an angle other than zero; positive turns left")

    def __str__(self) -> str:
        return f"curve {math.degrees(self.angle):.0f}°"


@dataclass(frozen=True)
class Slope:
    """A crease: the surface turns up (down if negative) by an angle [rad] in [−π/2, π/2]. From floor to wall is π/2."""

    angle: float

    def __post_init__(self) -> None:
        if not abs(self.angle) <= math.pi / 2 + 1e-9:
            degrees = math.degrees(self.angle)
            raise _refused("angle", f"a slope of {degrees:g}°", "give −90° to 90°; write a sharper one as two slopes")

    def __str__(self) -> str:
        return f"slope {math.degrees(self.angle):.0f}°"


@dataclass(frozen=True)
class Step:
    """A step up (down if negative) by a height [m]. An obstacle is a step up, a straight, and a step down."""

    height: float

    def __post_init__(self) -> None:
        if not 0.0 < abs(self.height) < math.inf:
            raise _refused("height", f"a step of {self.height:g} m", "give a height other than zero; negative goes down")

    def __str__(self) -> str:
        return f"step {1e3 * self.height:.0f} mm"


PathSegment = Straight | Arc | Slope | Step


@dataclass(frozen=True, eq=False)
class SurfacePiece:
    """A part of one face from distance `s` [m] on with a constant `curvature` [1/m]; X has columns ahead, left, normal."""

    s: float
    length: float
    curvature: float
    X: Array
    face: int

    def frame(self, ds: float, y: float) -> Array:
        """Pose of the surface (4, 4) at a distance `ds` along the piece and `y` to the left [m]."""
        local = np.eye(4)
        turn = self.curvature * ds
        local[:3, :3] = so3.about(2, turn)
        if self.curvature:
            local[0, 3], local[1, 3] = math.sin(turn) / self.curvature, (1.0 - math.cos(turn)) / self.curvature
        else:
            local[0, 3] = ds
        local[:3, 3] += y * local[:3, 1]
        return np.asarray(self.X @ local)
