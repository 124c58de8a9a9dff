"""Strings, which only pull, and wires, which also push."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError
from bunraku.figure.frame import Point
from bunraku.figure.pulley import Branch, Drum, Eyelet, Pulley


@dataclass(frozen=True)
class String:
    """Massless, pulls only: the distance from hook over eyelets and pulleys to spindle is ≤ length, tension ≥ 0.

    The free length [m] is `length + ratio · q[variable]` (see `wound`); without a variable it is `length`. A string of variable
    length usually has a kinematic variable of its own, with length 0 and ratio 1; one on a drum names that of the drum. A spindle
    that is a `Drum` has a radius, as a pulley has.

    A string does not stretch unless it has a `stiffness` [N]: the tension that would double its length. Its `damping` [N·s] is the
    tension for every strain of 1/s. Both are those of the material: a longer piece gives way more.
    """

    name: str
    hook: Point
    spindle: Point
    length: float = 0.0
    variable: str | None = None
    ratio: float = 1.0
    eyelets: tuple[Point | Branch, ...] = ()
    """What it runs through and over on its way: points, pulleys, and the beginnings of other branches."""
    stiffness: float = math.inf
    damping: float = 0.0

    kind = "string"
    pulls_only = True

    def __post_init__(self) -> None:
        if not math.isfinite(self.length) or not math.isfinite(self.ratio):
            raise FigureError("not a finite number", kind=self.kind, name=self.name, field="length", advice="lengths are in metres")
        if self.variable is None and self.length <= 0.0:
            raise FigureError(
                f"a length of {self.length} m is not possible", kind=self.kind, name=self.name, field="length",
                advice="give a positive length in metres, or the name of the variable that sets it",
            )  # fmt: skip
        if not self.stiffness > 0.0:
            raise FigureError(
                f"a stiffness of {self.stiffness} N", kind=self.kind, name=self.name, field="stiffness",
                advice="give the tension in newtons that would double its length, or leave it out: then it does not stretch",
            )  # fmt: skip
        if not 0.0 <= self.damping < math.inf or (self.damping > 0.0 and not self.elastic):
            raise FigureError(
                f"a damping of {self.damping} N·s", kind=self.kind, name=self.name, field="damping",
                advice="give a number that is not negative, and a stiffness: only what stretches is damped",
            )  # fmt: skip

    @property
    def elastic(self) -> bool:
        """Whether it is elastic."""
        return self.stiffness < math.inf

    @property
    def way(self) -> tuple[Point | Branch, ...]:
        """From the hook through the eyelets, over the pulleys and from branch to branch, to the spindle."""
        return (self.hook, *self.eyelets, self.spindle)

    @property
    def path(self) -> tuple[Point, ...]:
        """All points of the way; of pulleys and drums, the centres."""
        return tuple(at for at in self.way if isinstance(at, Point))

    def reframed(self, frame: Callable[[str], str]) -> Self:
        """The same string where every frame has another name: `frame` gives it."""

        def moved(at: Point) -> Point:
            return replace(at, frame=frame(at.frame))

        def along(part: Point | Branch) -> Point | Branch:
            if isinstance(part, Pulley) and part.side is not None:
                part = replace(part, side=moved(part.side))
            return moved(part) if isinstance(part, Point) else part

        return replace(self, hook=moved(self.hook), spindle=moved(self.spindle), eyelets=tuple(map(along, self.eyelets)))

    @overload
    def wound(self, value: float) -> float: ...
    @overload
    def wound(self, value: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def wound(self, value: float | NDArray[np.float64]) -> float | NDArray[np.float64]:
        """The wound length [m] where its variable has this `value` [m or rad]; without a variable, that does not matter."""
        if self.variable is None:
            return self.length + 0.0 * value
        turns = self.ratio * value
        return self.length + (self.spindle.let_out(turns) if isinstance(self.spindle, Drum) else turns)

    def winding(self, length: float | NDArray[np.float64]) -> Any:
        """The value of its variable at which the wound length is `length` [m]. Its ratio must not be 0."""
        turns = length - self.length
        return (self.spindle.angle(turns) if isinstance(self.spindle, Drum) else turns) / self.ratio

    @property
    def wraps(self) -> bool:
        """Whether its way is more than straight lines from point to point."""
        return any(isinstance(at, Pulley | Drum | Branch) for at in self.way)

    @property
    def rubbing(self) -> tuple[int, ...]:
        """The places on its way where it has friction, from the spindle to the hook."""
        return tuple(k for k in range(len(self.way) - 2, 0, -1) if _friction(self.way[k]) > 0.0)


def _friction(at: Point | Branch) -> float:
    return at.friction if isinstance(at, Eyelet | Pulley) else 0.0


@dataclass(frozen=True)
class Wire(String):
    """A rigid massless rod: the distance equals the length, and it pushes as well as pulls."""

    kind = "wire"
    pulls_only = False
