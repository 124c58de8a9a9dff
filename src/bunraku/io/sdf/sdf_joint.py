"""The variables of an SDF joint."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import did_you_mean
from bunraku.figure import Variable
from bunraku.figure.frame import AXES, Vector
from bunraku.io.leftovers import Leftovers
from bunraku.io.sdf.sdf_poses import ModelPoses
from bunraku.io.xml_text import Element

Array = NDArray[np.float64]


def joint_variables(joint: Element, poses: ModelPoses, version: float, leftovers: Leftovers) -> list[Variable]:
    """The variables of a `joint`, from its parent to its child, with axes in its own frame; none if it is fixed.

    poses: where things are in the model. version: of SDF. What a figure cannot hold is added to `leftovers`.
    """
    kind, name = joint.word("type"), joint.word("name")
    match kind:
        case "fixed":
            return []
        case "revolute" | "continuous" | "prismatic" | "screw":
            return [_variable(joint, joint.needed("axis"), name, kind, poses, version, leftovers)]
        case "universal" | "revolute2":
            axes = [joint.needed("axis"), joint.needed("axis2")]
            return [_variable(joint, axis, f"{name}_{k + 1}", "revolute", poses, version, leftovers) for k, axis in enumerate(axes)]
        case "ball":
            return [Variable(f"{name}_{letter}", "rotate", AXES[letter[1]]) for letter in ("rz", "ry", "rx")]
    known = ("revolute", "continuous", "prismatic", "fixed", "ball", "universal", "revolute2", "screw", "gearbox")
    raise joint.error(f"unknown joint type {kind[:40]!r}", "type", advice=did_you_mean(kind, known))


def joint_axis(joint: Element, axis: Element, poses: ModelPoses, version: float) -> Vector:
    """The direction of an `axis` in the frame of its `joint`; `poses` and `version` as in `joint_variables`."""
    own = axis.child("xyz")
    direction = np.array((0.0, 0.0, 1.0) if own is None else own.inner(3))
    size = float(np.linalg.norm(direction))
    if not 1e-9 < size < math.inf:
        raise (own or axis).error("the axis has no direction", advice="give three numbers that are not all zero")
    flag = axis.child("use_parent_model_frame")
    by_model = version < 1.5 or (flag is not None and flag.text.strip() in ("1", "true"))
    expressed = "" if own is None else own.attributes.get("expressed_in", "").strip()
    base = expressed or ("__model__" if by_model else "")
    if base:
        R = poses.X(joint.word("name"), joint)[:3, :3].T @ poses.X(base, axis)[:3, :3]
        direction = R @ direction
    x, y, z = (direction / size).tolist()
    return (x, y, z)


def _variable(
    joint: Element, axis: Element, name: str, kind: str, poses: ModelPoses, version: float, leftovers: Leftovers
) -> Variable:  # fmt: skip
    limit, dynamics = axis.child("limit"), axis.child("dynamics")
    lower = _number(limit, "lower", -math.inf) if kind != "continuous" else -math.inf
    upper = _number(limit, "upper", math.inf) if kind != "continuous" else math.inf
    if _number(dynamics, "friction", 0.0) != 0.0:
        leftovers.add("dry friction left out", name)
    with (limit or dynamics or joint).blamed():
        return Variable(
            name, {"prismatic": "translate", "screw": "screw"}.get(kind, "rotate"),  # type: ignore[arg-type]
            joint_axis(joint, axis, poses, version), _pitch(joint) if kind == "screw" else 0.0,
            lower=lower, upper=upper,
            speed=_positive(_number(limit, "velocity", math.inf)), effort=_positive(_number(limit, "effort", math.inf)),
            stiffness=_number(dynamics, "spring_stiffness", 0.0), rest=_number(dynamics, "spring_reference", 0.0),
            damping=_number(dynamics, "damping", 0.0),
        )  # fmt: skip


def _pitch(joint: Element) -> float:
    """The advance of a screw [m/rad]."""
    if (own := joint.child("screw_thread_pitch")) is not None:
        return own.inner(1)[0] / (2.0 * math.pi)
    turns = _number(joint, "thread_pitch", 1.0)  # the old word: radians per metre, left-handed
    if turns == 0.0:
        raise joint.error("a thread_pitch of 0", advice="use screw_thread_pitch, metres per turn")
    return -1.0 / turns


def _number(element: Element | None, tag: str, default: float) -> float:
    """The number in a child; 1e15 and more, and `inf`, stand for no limit."""
    own = None if element is None else element.child(tag)
    if own is None:
        return default
    word = own.text.strip().lower()
    if word in ("inf", "+inf", "-inf", "infinity", "-infinity"):
        return -math.inf if word.startswith("-") else math.inf
    value = own.inner(1)[0]
    return math.copysign(math.inf, value) if abs(value) >= 1e15 else value


def _positive(value: float) -> float:
    """A limit of effort or speed: SDF writes −1, and many files 0, where there is none."""
    return value if value > 0.0 else math.inf
