"""What joins frames: strings, wires, springs, contacts and closures; and force inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bunraku.figure.build.places import PointLike, at_point, axis_of, vector
from bunraku.figure.contact import Closure, Contact
from bunraku.figure.force import Effort, Push, Spring
from bunraku.figure.frame import WORLD, Variable
from bunraku.figure.pulley import Branch, Drum, Eyelet, Pulley
from bunraku.figure.string import String, Wire


@dataclass(frozen=True)
class StringSpec:
    """A string, and the length variable of its own, if it has one; `taut`: that variable starts at the distance at the start."""

    string: String
    own: Variable | None = field(default=None)
    taut: bool = False


def _stringlike(
    make: type[String], name: str, hook: PointLike, spindle: PointLike, length: float | str | None,
    through: Iterable[PointLike | Branch], variable: str | None, ratio: float, start: float | None,
    limits: tuple[float, float], speed: float, stiffness: float, damping: float,
) -> StringSpec:  # fmt: skip
    """The string or wire that `string` and `wire` describe."""
    eyelets = tuple(p if isinstance(p, Branch) else at_point(p) for p in through)

    def made(length: float, variable: str | None, ratio: float) -> String:
        return make(name, at_point(hook), at_point(spindle), length, variable, ratio, eyelets, stiffness, damping)

    if variable is not None and not isinstance(length, str):
        return StringSpec(made(float(length or 0.0), variable, ratio))
    if isinstance(length, int | float):
        return StringSpec(made(float(length), None, ratio))
    if isinstance(length, str) and start is None:
        return StringSpec(made(0.0, length, ratio))
    own = Variable(
        length or f"{name}_length", "length", kinematic=True, start=start or 0.0, lower=limits[0], upper=limits[1],
        speed=speed,
    )  # fmt: skip
    return StringSpec(made(0.0, own.name, 1.0), own, taut=start is None)


def string(
    name: str, hook: PointLike, spindle: PointLike, length: float | str | None = None, *,
    through: Iterable[PointLike | Branch] = (), variable: str | None = None, ratio: float = 1.0, start: float | None = None,
    limits: tuple[float, float] = (0.0, math.inf), speed: float = math.inf, stiffness: float = math.inf, damping: float = 0.0,
) -> StringSpec:  # fmt: skip
    """A string from hook to spindle, through eyelets and over pulleys on its way.

    name: of the string.
    hook, spindle: where it is fixed to the figure, and where it is wound; a drum may be the spindle.
    length: a number [m], or the name of the variable that winds it, or None: then it has a kinematic variable of its own,
        name_length, and is just taut at the start.
    through: eyelets, pulleys and branches between hook and spindle.
    variable, ratio: with a variable, the string is length + ratio · variable long: wound on a drum, or paid out by a carriage.
    start: length at the start of a variable of its own [m].
    limits: of that variable [m].
    speed: largest speed of that variable [m/s].
    stiffness: tension that would double its length [N]; without it the string does not stretch.
    damping: tension for every strain of 1/s [N·s].
    """
    return _stringlike(String, name, hook, spindle, length, through, variable, ratio, start, limits, speed, stiffness, damping)


def wire(
    name: str, hook: PointLike, spindle: PointLike, length: float | str | None = None, *,
    through: Iterable[PointLike | Branch] = (), variable: str | None = None, ratio: float = 1.0, start: float | None = None,
    limits: tuple[float, float] = (0.0, math.inf), speed: float = math.inf, stiffness: float = math.inf, damping: float = 0.0,
) -> StringSpec:  # fmt: skip
    """A rigid massless rod from hook to spindle, through eyelets and over pulleys on its way.

    name: of the wire.
    hook, spindle: where it is fixed to the figure, and where it is wound; a drum may be the spindle.
    length: a number [m], or the name of the variable that winds it, or None: then it has a kinematic variable of its own,
        name_length, which starts at the distance from hook to spindle.
    through: eyelets, pulleys and branches between hook and spindle.
    variable, ratio: with a variable, the wire is length + ratio · variable long: wound on a drum, or paid out by a carriage.
    start: length at the start of a variable of its own [m].
    limits: of that variable [m].
    speed: largest speed of that variable [m/s].
    stiffness: force that would double its length [N]; without it the wire is rigid.
    damping: force for every strain of 1/s [N·s].
    """
    return _stringlike(Wire, name, hook, spindle, length, through, variable, ratio, start, limits, speed, stiffness, damping)


def eyelet(at: PointLike, friction: float = 0.0) -> Eyelet:
    """A point `at` which a string runs through and rubs.

    friction: μ: where the string bends by φ [rad], the tensions of its two sides differ by no more than the factor exp(μ φ).
    """
    point = at_point(at)
    return Eyelet(point.frame, point.position, float(friction))


def pulley(
    at: PointLike, radius: float, axis: str | Sequence[float] | None = None, *, side: PointLike | None = None, turn: int = 0,
    turns: int = 0, friction: float = 0.0,
) -> Pulley:  # fmt: skip
    """A pulley that a string runs over: a cylinder about an axis, or a sphere.

    at: its centre.
    radius: [m].
    axis: of the cylinder, in the frame of `at`: a letter or three numbers; None makes it a sphere.
    side: a point; the string passes on the side of the pulley that it is on. None: the shorter way. A side inside the pulley makes
        the string run inside it.
    turn: instead of a side: 1 where the string, from hook to spindle, turns counterclockwise about the axis, -1 clockwise. Pulleys
        in a row without an eyelet between them need it.
    turns: whole turns that the string takes round it besides, as round a bollard.
    friction: as that of an eyelet; it needs a turn. A frame that turns about the axis is turned by the string.
    """
    centre = at_point(at)
    return Pulley(
        centre.frame, centre.position, float(radius), None if axis is None else axis_of(axis),
        None if side is None else at_point(side), turn, turns, float(friction),  # type: ignore[arg-type]
    )  # fmt: skip


def drum(
    at: PointLike, radius: float, axis: str | Sequence[float], *, turn: int = 1, towards: Sequence[float] = (1.0, 0.0, 0.0),
    turns: float = math.inf, thickness: float = 0.0,
) -> Drum:  # fmt: skip
    """A drum on which a string is wound: its spindle; the string's variable is the angle that lets it out [rad].

    at: its centre, in the frame that carries it.
    radius: [m].
    axis: in the frame of `at`: a letter or three numbers.
    turn: 1 where the string winds onto it counterclockwise about the axis, -1 clockwise.
    towards: from the drum to about where the string comes from, in the frame of `at`.
    turns, thickness: of a layer [m], where it winds in layers: the first begins at angle 0.
    """
    centre, along = at_point(at), axis_of(axis)
    own: Any = turn
    return Drum(centre.frame, centre.position, float(radius), along, own, vector(towards), float(turns), float(thickness))


def branch(divisor: float = 1.0) -> Branch:
    """Where one branch of a string ends and another begins, whose length counts 1/`divisor`."""
    return Branch(float(divisor))


def spring(name: str, a: PointLike, b: PointLike, stiffness: float, length: float = 0.0, damping: float = 0.0) -> Spring:
    """A spring and a damper between two points.

    name: of the spring.
    a, b: its ends.
    stiffness: [N/m].
    length: at which it exerts no force [m].
    damping: [N·s/m].
    """
    return Spring(name, at_point(a), at_point(b), stiffness, length, damping)


def effort(variable: str, name: str = "", gain: float = 1.0) -> Effort:
    """A force input along `variable`: torque or force = `gain` · input. Without a `name` it is called variable_effort."""
    return Effort(name or f"{variable}_effort", variable, gain)


def push(name: str, at: PointLike, direction: Sequence[float], *, turns: bool = False) -> Push:
    """A force input at a point: force = input · direction.

    name: of the input.
    at: where it acts.
    direction: [N per unit of input].
    turns: whether the direction turns with the frame of `at`, instead of being fixed in the world.
    """
    return Push(name, at_point(at), vector(direction), turns)


def contact(
    name: str, point: PointLike, plane: PointLike = WORLD, normal: Sequence[float] = (0.0, 0.0, 1.0), friction: float = 0.0
) -> Contact:
    """A point that may rest on a plane but not pass through it.

    name: of the contact.
    point: of the figure.
    plane: a point of the plane; its frame carries the plane.
    normal: of the plane, in that frame, on the side where the point may be.
    friction: Coulomb's coefficient.
    """
    return Contact(name, at_point(point), at_point(plane), vector(normal), friction)


def closure(name: str, a: PointLike, b: PointLike, kind: str = "point") -> Closure:
    """A closed loop: two points coincide.

    name: of the closure.
    a, b: the two points.
    kind: "point", "hinge" (z axes agree too), "weld" (all axes agree too), or "plane" (a stays in the x-y plane of b's frame).
    """
    return Closure(name, at_point(a), at_point(b), kind)  # type: ignore[arg-type]
