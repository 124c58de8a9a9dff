"""The frames and variables of a URDF joint."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import did_you_mean
from bunraku.figure import WORLD, Frame, Joint, Variable
from bunraku.figure.frame import AXES, JOINT_MOTIONS, ORIGIN, Vector
from bunraku.io.leftovers import Leftovers
from bunraku.io.urdf.urdf_link import placement
from bunraku.io.xml_text import Element
from bunraku.spatial import so3
from bunraku.spatial.so3 import IDENTITY, Quaternion

Frames = tuple[list[Frame], Joint | None]


def base_frames(frame: str, *, free: bool) -> Frames:
    """The frames of the root link, called `frame`: `free` in the world, or fixed in it."""
    return _chain(frame, WORLD, frame, JOINT_MOTIONS["free"], ORIGIN, IDENTITY) if free else ([Frame(frame)], None)


def joint_frames(joint: Element, frame: str, parent: str, leftovers: Leftovers) -> Frames:
    """The frames from the one called `parent` to the child's, called `frame`, and the ball or free joint that they form, if any.

    What a figure cannot hold is added to `leftovers`. Raises FileError if the `joint` is malformed.
    """
    kind, name = joint.word("type"), joint.attributes["name"]
    position, rotation = placement(joint)
    if joint.child("mimic") is not None:
        leftovers.add("mimic joints, which now move on their own", name)
    match kind:
        case "fixed":
            return [Frame(frame, parent, position, rotation)], None
        case "revolute" | "continuous" | "prismatic":
            return [Frame(frame, parent, position, rotation, _variable(joint, kind, name, leftovers))], None
        case "floating":
            return _chain(frame, parent, name, JOINT_MOTIONS["free"], position, rotation)
        case "spherical":
            return _chain(frame, parent, name, JOINT_MOTIONS["ball"], position, rotation)
        case "planar":
            return _planar(joint, frame, parent, name, position, rotation)
    known = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
    raise joint.error(f"unknown joint type {kind[:40]!r}", "type", advice=did_you_mean(kind, known))


def _axis(joint: Element) -> Vector:
    element = joint.child("axis")
    if element is None:
        return AXES["x"]
    x, y, z = element.numbers("xyz", 3, AXES["x"])
    size = math.hypot(x, y, z)
    if not 1e-9 < size < math.inf:
        raise element.error("the axis has no direction", "xyz", advice="give three numbers that are not all zero")
    return (x / size, y / size, z / size)


def _variable(joint: Element, kind: str, name: str, leftovers: Leftovers) -> Variable:
    limit, dynamics = joint.child("limit"), joint.child("dynamics")
    lower, upper, speed, effort, damping = -math.inf, math.inf, math.inf, math.inf, 0.0
    if limit is not None:
        effort, speed = _positive(limit, "effort"), _positive(limit, "velocity")
        if kind != "continuous":
            lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    elif kind != "continuous":
        hint = 'add <limit lower="…" upper="…"/>' + (", or make it continuous" if kind == "revolute" else "")
        raise joint.error(f"joint {name!r} has no <limit>", advice=hint)
    if dynamics is not None:
        damping = dynamics.number("damping", 0.0)
        if dynamics.number("friction", 0.0) != 0.0:
            leftovers.add("dry friction left out", name)
    with (limit or dynamics or joint).blamed():
        return Variable(
            name, "translate" if kind == "prismatic" else "rotate", _axis(joint), start=min(max(0.0, lower), upper),
            lower=lower, upper=upper, speed=speed, effort=effort, damping=damping,
        )  # fmt: skip


def _positive(limit: Element, field: str) -> float:
    """A limit; files write zero or less where it is not known."""
    value = limit.number(field, 0.0)
    return value if value > 0.0 else math.inf


def _chain(frame: str, parent: str, name: str, letters: Sequence[str], position: Vector, rotation: Quaternion) -> Frames:
    """One frame for each variable of a joint with several; the last one is the link's."""
    frames: list[Frame] = []
    for letter in letters:
        own = frame if letter is letters[-1] else f"{frame}_{letter}"
        moves = Variable(f"{name}_{letter}", "rotate" if letter[0] == "r" else "translate", AXES[letter[1]])
        frames.append(Frame(own, parent, position, rotation, moves))
        parent, position, rotation = own, ORIGIN, IDENTITY
    kind = next((kind for kind, motions in JOINT_MOTIONS.items() if motions == tuple(letters)), None)
    if kind is None:
        return frames, None
    return frames, Joint(frame, kind, tuple(f.name for f in frames))  # type: ignore[arg-type]


def _planar(joint: Element, frame: str, parent: str, name: str, position: Vector, rotation: Quaternion) -> Frames:
    """Slides and turns in the plane perpendicular to the axis; a last frame restores the link's own axes."""
    axis, moves = _axis(joint), ("tx", "ty", "rz")
    if axis == AXES["z"]:
        return _chain(frame, parent, name, moves, position, rotation)
    C = so3.onto_z(axis)
    frames, _ = _chain(f"{frame}_rz", parent, name, moves, position, _quaternion(so3.matrix(rotation) @ C))
    return [*frames, Frame(frame, f"{frame}_rz", ORIGIN, _quaternion(C.T))], None


def _quaternion(R: NDArray[np.float64]) -> Quaternion:
    w, x, y, z = so3.quaternion(R).tolist()
    return (w, x, y, z)
