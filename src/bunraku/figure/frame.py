"""Frames: the nodes of the tree, and the variables that move them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from bunraku.errors import FigureError
from bunraku.spatial.so3 import IDENTITY, Quaternion

Vector = tuple[float, float, float]
ORIGIN: Vector = (0.0, 0.0, 0.0)
AXES: dict[str, Vector] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
WORLD = "world"
JOINT_MOTIONS: dict[str, tuple[str, ...]] = {"ball": ("rz", "ry", "rx"), "free": ("tx", "ty", "tz", "rz", "ry", "rx")}
"""Variables of a joint that has several, parents first: r turns about an axis, t slides along it."""


def axis_letter(axis: Vector) -> str | None:
    """The letter of `axis` if it is x, y or z, otherwise None."""
    return next((letter for letter, own in AXES.items() if own == axis), None)


@dataclass(frozen=True)
class Variable:
    """One scalar of q [rad or m]. Dynamic: moved by physics. Kinematic: set by the puppeteer.

    A "rotate" turns about `axis`, a "translate" slides along it, a "screw" does both and advances `pitch` metres per
    radian, and a "length" is the free length of a string, which moves no frame.
    """

    name: str
    motion: Literal["rotate", "translate", "screw", "length"] = "rotate"
    axis: Vector = AXES["z"]
    pitch: float = 0.0
    kinematic: bool = False
    start: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    speed: float = math.inf
    """Largest speed [rad/s or m/s]."""
    effort: float = math.inf
    """Largest effort [N·m or N]."""
    stiffness: float = 0.0
    """Spring toward `rest` [N·m/rad or N/m]."""
    rest: float = 0.0
    damping: float = 0.0
    """Viscous [N·m·s/rad or N·s/m]."""
    armature: float = 0.0
    """Inertia of the motor's rotor, reflected through the gear; it acts on this variable only [kg·m² or kg]."""

    def __post_init__(self) -> None:
        def refuse(field: str, message: str, advice: str) -> None:
            raise FigureError(message, kind="variable", name=self.name, field=field, advice=advice)

        if self.motion not in ("rotate", "translate", "screw", "length"):
            refuse("motion", f"unknown motion {self.motion!r}", "choose rotate, translate, screw or length")
        if not all(map(math.isfinite, (*self.axis, self.pitch, self.start, self.rest))):
            refuse("axis", "not a finite number", "axis, pitch, start and rest must be finite")
        size = math.sqrt(sum(x * x for x in self.axis))
        if not abs(size - 1.0) < 1e-9:
            if size < 1e-9:
                refuse("axis", "the axis has no direction", "give three numbers that are not all zero, or x, y, z")
            object.__setattr__(self, "axis", tuple(x / size for x in self.axis))
        if math.isnan(self.lower) or math.isnan(self.upper) or self.lower > self.upper:
            refuse("limits", f"lower {self.lower} is above upper {self.upper}", "give limits as [lower, upper]")
        for field in ("speed", "effort"):
            if not getattr(self, field) > 0.0:
                refuse(field, "must be positive", f"leave {field} out where there is no limit")
        for field in ("stiffness", "damping", "armature"):
            if not 0.0 <= getattr(self, field) < math.inf:
                refuse(field, "must be zero or positive, and finite", f"leave {field} out where there is none")


@dataclass(frozen=True)
class Frame:
    """A coordinate frame: a constant transform from its parent, followed by the motion of one variable, if any."""

    name: str
    parent: str = WORLD
    position: Vector = ORIGIN
    rotation: Quaternion = IDENTITY
    variable: Variable | None = None

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (*self.position, *self.rotation))):
            raise FigureError(
                "not a finite number", kind="frame", name=self.name, field="at", advice="positions are three finite numbers"
            )
        size = math.sqrt(sum(x * x for x in self.rotation))
        if size < 1e-9:
            raise FigureError(
                "the quaternion is zero", kind="frame", name=self.name, field="quaternion", advice="no rotation is [1, 0, 0, 0]"
            )
        if abs(size - 1.0) > 1e-15:
            object.__setattr__(self, "rotation", tuple(x / size for x in self.rotation))


@dataclass(frozen=True)
class Joint:
    """Frames that form one joint, grouped for people and for files: a ball joint is three rotations z, y, x about one point."""

    name: str
    kind: Literal["hinge", "slide", "screw", "ball", "free"]
    frames: tuple[str, ...]


@dataclass(frozen=True)
class Point:
    """A point fixed in a frame."""

    frame: str
    position: Vector = ORIGIN
