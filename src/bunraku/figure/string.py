"""Strings, which only pull, and wires, which also push."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bunraku.errors import FigureError
from bunraku.figure.frame import Point


@dataclass(frozen=True)
class String:
    """Massless, pulls only: the distance from hook over eyelets to spindle is ≤ length, tension ≥ 0.

    The free length [m] is `length + ratio · q[variable]`; without a variable it is `length`. A string of variable length usually
    has a kinematic variable of its own, with length 0 and ratio 1; one that is wound on a drum names the drum's variable.

    A string does not stretch unless it has a `stiffness` [N]: the tension that would double its length. Its `damping` [N·s] is the
    tension for every strain of 1/s. Both are those of the material: a longer piece gives way more.
    """

    name: str
    hook: Point
    spindle: Point
    length: float = 0.0
    variable: str | None = None
    ratio: float = 1.0
    eyelets: tuple[Point, ...] = ()
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
    def path(self) -> tuple[Point, ...]:
        """From the hook through the eyelets to the spindle."""
        return (self.hook, *self.eyelets, self.spindle)


@dataclass(frozen=True)
class Wire(String):
    """A rigid massless rod: the distance equals the length, and it pushes as well as pulls."""

    kind = "wire"
    pulls_only = False
