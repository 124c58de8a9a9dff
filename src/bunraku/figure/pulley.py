"""What a string runs through or over, or is wound on: eyelets, pulleys and drums; and where it divides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bunraku.errors import FigureError
from bunraku.figure.frame import Point, Vector


def _unit(axis: Vector, name: str) -> Vector:
    size = math.sqrt(sum(x * x for x in axis))
    if not 1e-9 < size < math.inf:
        raise FigureError(f"{name} has no direction", field=name, advice="give three numbers that are not all zero")
    # What has been normalised once stays as it is, to the last digit.
    return axis if abs(size - 1.0) < 1e-15 else (axis[0] / size, axis[1] / size, axis[2] / size)


def _check_radius(radius: float) -> None:
    if not 0.0 < radius < math.inf:
        raise FigureError(f"a radius of {radius} m", field="radius", advice="give a positive radius in metres")


def _check_friction(friction: float) -> None:
    if not 0.0 <= friction < math.inf:
        raise FigureError(f"a friction of {friction}", field="friction", advice="give zero or more; hemp on wood is about 0.4")


@dataclass(frozen=True)
class Eyelet(Point):
    """A point through which a string runs, with capstan friction: see Pulley."""

    friction: float = 0.0

    def __post_init__(self) -> None:
        _check_friction(self.friction)


@dataclass(frozen=True)
class Pulley(Point):
    """A cylinder or sphere about a point of a frame, over which a string runs.

    Where the straight way misses it, the way is straight: a string wraps and unwraps by itself. With neither `side` nor
    `turn` it takes the shorter way round.
    """

    radius: float = 0.0
    """[m]."""
    axis: Vector | None = None
    """Of the cylinder, which has no ends, in the frame; None makes the pulley a sphere."""
    side: Point | None = None
    """The string passes on the side that this point is on. Inside the pulley: the string runs inside it, as through a ring."""
    turn: Literal[-1, 0, 1] = 0
    """1: the string, seen from hook to spindle, turns counterclockwise about `axis`; −1: clockwise; 0: as `side` has it.
    Pulleys in a row without an eyelet between them need it. The arc is at most three quarters of a turn."""
    turns: int = 0
    """Whole turns that the string takes round it besides, as round a bollard; then it never leaves the pulley."""
    friction: float = 0.0
    """μ: where the string bends by φ [rad], the tensions of its two sides differ by no more than the factor exp(μ φ), and it slips
    where they differ by that. It rubs on the frame that carries the pulley: one that turns about the axis turns with the string."""

    def __post_init__(self) -> None:
        _check_radius(self.radius)
        _check_friction(self.friction)
        if (self.turns or self.friction) and not self.turn:
            raise FigureError(
                "turns and friction need a turn", field="turns" if self.turns else "friction",
                advice="give axis and turn; where a string only passes a point, use an eyelet",
            )  # fmt: skip
        if self.turns != int(self.turns) or self.turns < 0:
            raise FigureError(f"{self.turns} turns", field="turns", advice="give a whole number that is not negative")
        if self.turn not in (-1, 0, 1):
            raise FigureError(f"a turn of {self.turn!r}", field="turn", advice="1 is counterclockwise about the axis, -1 clockwise")
        if self.turn and (self.axis is None or self.side is not None):
            raise FigureError("a turn needs an axis, and no side", field="turn", advice="give axis and turn, or side")
        if self.axis is not None:
            object.__setattr__(self, "axis", _unit(self.axis, "axis"))


@dataclass(frozen=True)
class Drum(Point):
    """A spindle with a radius: the string is wound on it, and leaves it along a tangent.

    It stands in the frame that carries it; the string's variable is the angle by which it has let string out [rad]. The wound
    length is `length + radius · angle` of the free string when that comes from `towards`; what lies on the drum beyond that
    counts too. The string leaves in the plane square to the axis, as if led by a fairlead.
    """

    radius: float = 0.0
    """Of the first layer, to the middle of the string [m]."""
    axis: Vector = (0.0, 0.0, 1.0)
    """In the frame."""
    turn: Literal[-1, 1] = 1
    """The way of the string onto the drum: 1 counterclockwise about the axis, −1 clockwise."""
    towards: Vector = (1.0, 0.0, 0.0)
    """From the drum to about where the string comes from, in the frame: where the free length begins. It may come from half a
    turn to either side of it."""
    turns: float = math.inf
    """In a layer. Winding in begins at angle 0 with the first; each full layer makes the radius of the next one larger by
    `thickness`, over half a turn."""
    thickness: float = 0.0
    """Of a layer [m]. How much string a turn takes grows with it; the place where the string leaves is that of the first layer."""

    def __post_init__(self) -> None:
        _check_radius(self.radius)
        if self.turn not in (-1, 1):
            raise FigureError(f"a turn of {self.turn!r}", field="turn", advice="1 is counterclockwise about the axis, -1 clockwise")
        if not self.turns >= 1.0 or not 0.0 <= self.thickness < math.inf or math.isinf(self.turns) != (self.thickness == 0.0):
            raise FigureError(
                f"layers of {self.turns} turns, {self.thickness} m thick", field="turns",
                advice="give turns (at least 1) and thickness together, or neither",
            )  # fmt: skip
        axis = _unit(self.axis, "axis")
        along = sum(a * b for a, b in zip(axis, self.towards, strict=True))
        if abs(along) < 1e-15:
            along = 0.0
        across = (self.towards[0] - along * axis[0], self.towards[1] - along * axis[1], self.towards[2] - along * axis[2])
        object.__setattr__(self, "axis", axis)
        object.__setattr__(self, "towards", _unit(across, "towards"))

    @property
    def layered(self) -> bool:
        """Whether it winds in layers."""
        return math.isfinite(self.turns)

    def let_out(self, angle: Any) -> Any:
        """How much string [m] an `angle` [rad] lets out, from 0; arrays are welcome."""
        if not self.layered:
            return self.radius * angle
        wound, full = -np.asarray(angle, float), 2.0 * math.pi * self.turns
        layers = np.maximum(np.floor(wound / full + 0.5), 0.0)
        x = (wound - layers * full) / math.pi + 0.5
        s = np.clip(x, 0.0, 1.0)
        last = np.where(layers > 0.0, math.pi * (s**6 - 3.0 * s**5 + 2.5 * s**4 + np.maximum(x - 1.0, 0.0)), 0.0)
        below = np.maximum(layers - 1.0, 0.0)
        return -(self.radius * wound + self.thickness * (below * (wound - 0.5 * layers * full) + last))

    def angle(self, length: Any) -> Any:
        """The angle [rad] that lets out a `length` [m]: the inverse of `let_out`."""
        out = np.asarray(length, float) / self.radius
        for _ in range(
            100 if self.layered else 0
        ):  # a secant through ±1e-3 rad: what is let out grows with the angle, and smoothly
            off = self.let_out(out) - length
            slope = (self.let_out(out + 1e-3) - self.let_out(out - 1e-3)) / 2e-3
            out = out - off / slope
            if np.abs(off).max(initial=0.0) < 1e-14:
                break
        return out


@dataclass(frozen=True)
class Branch:
    """Here one branch of a string ends and another begins, whose length counts 1/divisor, as on one end of a tackle."""

    divisor: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.divisor < math.inf:
            raise FigureError(f"a divisor of {self.divisor}", field="divisor", advice="give a positive number")
