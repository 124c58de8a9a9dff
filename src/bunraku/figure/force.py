"""Springs between points, and force inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bunraku.errors import FigureError
from bunraku.figure.frame import Point, Vector


@dataclass(frozen=True)
class Spring:
    """A spring and damper between two points, pulled together by stiffness · (distance − length) + damping · d(distance)/dt."""

    name: str
    a: Point
    b: Point
    stiffness: float = 0.0
    length: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        for field in ("stiffness", "length", "damping"):
            value = getattr(self, field)
            if not math.isfinite(value) or value < 0.0:
                raise FigureError(
                    f"{value} is not allowed", kind="spring", name=self.name, field=field,
                    advice="stiffness [N/m], length [m] and damping [N·s/m] are zero or positive",
                )  # fmt: skip


@dataclass(frozen=True)
class Effort:
    """A force input that acts along one dynamic variable: torque or force = gain · input."""

    name: str
    variable: str
    gain: float = 1.0


@dataclass(frozen=True)
class Push:
    """A force input at a point: force = input · direction. The direction is fixed in the world, or turns with the point's frame."""

    name: str
    at: Point
    direction: Vector
    turns: bool = False

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.direction)) or not any(self.direction):
            raise FigureError(
                "no direction", kind="force", name=self.name, field="direction", advice="give three numbers, not all zero"
            )


Force = Effort | Push
