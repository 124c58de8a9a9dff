"""Contacts of points with planes, and closed loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from bunraku.errors import FigureError
from bunraku.figure.frame import WORLD, Point, Vector


@dataclass(frozen=True)
class Contact:
    """A point of the figure that may rest on a plane but not pass through it, with Coulomb friction.

    The plane goes through `plane.position` of the frame `plane.frame`; `normal` is in that frame's axes.
    """

    name: str
    point: Point
    plane: Point = Point(WORLD)
    normal: Vector = (0.0, 0.0, 1.0)
    friction: float = 0.0

    def __post_init__(self) -> None:
        size = math.sqrt(sum(x * x for x in self.normal))
        if not 1e-9 < size < math.inf:
            raise FigureError(
                "the normal has no direction", kind="contact", name=self.name, field="normal", advice="up is [0, 0, 1]"
            )
        if not 0.0 <= self.friction < math.inf:
            raise FigureError(
                "must be zero or positive", kind="contact", name=self.name, field="friction", advice="wood on wood is 0.4"
            )
        object.__setattr__(self, "normal", tuple(x / size for x in self.normal))


@dataclass(frozen=True)
class Closure:
    """A closed loop of the figure: two points coincide; some kinds also align axes.

    "point": the points coincide (3 equations). "hinge": also their frames' z axes (5). "weld": also all axes (6).
    "plane": point a stays on the plane through b whose normal is b's z axis (1).
    """

    name: str
    a: Point
    b: Point
    kind: Literal["point", "hinge", "weld", "plane"] = "point"
