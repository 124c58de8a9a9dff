"""Figure → MJCF, so that simulations can be checked in MuJoCo.

Every frame becomes a body and every variable a hinge or slide, of the same names, so that qpos is q and the mass matrices
are equal. Strings become spatial tendons. Shapes do not collide, because contacts of a figure are points on planes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError
from bunraku.figure import WORLD, Body, Figure, Frame, Variable
from bunraku.figure.mass import inertia_matrix
from bunraku.io.leftovers import Leftovers
from bunraku.io.mjcf.mjcf_attach import Attachments
from bunraku.io.mjcf.mjcf_codes import MjcfOptions
from bunraku.io.mjcf.mjcf_tag import tag
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]
Kinematic = Literal["joints", "fixed"]


def to_xml(figure: Figure, q: Array, kinematic: Kinematic, meshes: bool, leftovers: Leftovers, options: MjcfOptions) -> str:
    """The MJCF text of a `figure` at `q`.

    kinematic: "joints" makes kinematic variables joints that servos hold, "fixed" makes them constants
    meshes: whether meshes are written
    leftovers: collects what MuJoCo does not have
    options: numbers for what MuJoCo can only approximate
    """
    root = Element("mujoco", model=figure.name)
    tag(root, "compiler", angle="radian", autolimits=True, inertiafromgeom=False)
    tag(root, "option", gravity=figure.gravity, timestep=0.001, integrator="implicitfast")
    # As stiff as is stable at this timestep: strings and joint limits hardly give.
    defaults = tag(root, "default")
    tag(defaults, "joint", solreflimit=(0.004, 1.0), solimplimit=(0.99, 0.999, 1e-4, 0.5, 2.0))
    tag(defaults, "tendon", solreflimit=(0.004, 1.0), solimplimit=(0.99, 0.999, 1e-4, 0.5, 2.0), width=0.001)
    tag(defaults, "equality", solref=(0.004, 1.0), solimp=(0.99, 0.999, 1e-4, 0.5, 2.0))
    sections = {name: tag(root, name) for name in ("asset", "worldbody", "tendon", "equality", "contact", "actuator")}
    bodies = _bodies(figure, q, kinematic, sections, options)
    attachments = Attachments(figure, q, kinematic, bodies, sections, leftovers, options)
    attachments.everything(meshes=meshes)
    _keyframe(root, figure, q, attachments.controls, sections)
    for section in list(root):
        if section.tag in sections and not len(section):
            root.remove(section)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _bodies(
    figure: Figure, q: Array, kinematic: Kinematic, sections: dict[str, Element], options: MjcfOptions
) -> dict[str, Element]:
    """A body for every frame, dynamic branches first, so that qpos is in the order of q where a tree allows it."""
    own: dict[str, list[Body]] = {}
    for body in figure.bodies:
        own.setdefault(body.frame, []).append(body)
    below: dict[str, list[Frame]] = {}
    for frame in figure.frames:
        below.setdefault(frame.parent, []).append(frame)
    dynamic = _leads_to_dynamic(figure)
    bodies = {WORLD: sections["worldbody"]}
    stack = _sorted(below.get(WORLD, []), dynamic)
    while stack:
        frame = stack.pop()
        fixed = kinematic == "fixed"
        bodies[frame.name] = _body(figure, frame, q, fixed, bodies[frame.parent], own.get(frame.name, []), options)
        stack.extend(_sorted(below.get(frame.name, []), dynamic))
    return bodies


def _leads_to_dynamic(figure: Figure) -> set[str]:
    out: set[str] = set()
    for frame in reversed(figure.frames):
        if frame.name in out or (frame.variable is not None and not frame.variable.kinematic):
            out |= {frame.name, frame.parent}
    return out


def _sorted(frames: list[Frame], dynamic: set[str]) -> list[Frame]:
    """The frames in the order of a stack: the one to take first comes last."""
    return sorted(frames, key=lambda frame: frame.name not in dynamic)[::-1]


def _body(
    figure: Figure, frame: Frame, q: Array, fixed: bool, parent: Element, own: Sequence[Body], options: MjcfOptions
) -> Element:
    variable = frame.variable
    moves = variable is not None and not (variable.kinematic and fixed)
    X = se3.pose(frame.position, frame.rotation)
    if variable is not None and not moves:
        X = X @ _motion(variable, float(q[figure.index(variable.name)]))
    element = tag(parent, "body", name=frame.name, pos=X[:3, 3], quat=so3.quaternion(X[:3, :3]))
    if variable is not None and moves:
        _joint(element, variable, options)
    if own or moves:
        mass, com, moments, axes = _inertial(own, options.least_inertia)
        tag(element, "inertial", pos=com, quat=axes, mass=mass, diaginertia=moments)
    return element


def _motion(variable: Variable, value: float) -> Array:
    """The transform by which a variable of this value moves its frame."""
    axis = np.array(variable.axis)
    if variable.motion == "rotate":
        return se3.pose(rotation=so3.exp(axis * value))
    return se3.pose(axis * value)


def _joint(body: Element, variable: Variable, options: MjcfOptions) -> None:
    if variable.motion == "screw":
        raise FigureError(
            "MuJoCo has no screw joint", kind="variable", name=variable.name, field="motion",
            advice="make it a rotation or a translation before you write MJCF",
        )  # fmt: skip
    limited = math.isfinite(variable.lower) or math.isfinite(variable.upper)
    tag(
        body, "joint", name=variable.name, type="hinge" if variable.motion == "rotate" else "slide", axis=variable.axis,
        range=(max(variable.lower, -1e9), min(variable.upper, 1e9)) if limited else None,
        stiffness=variable.stiffness or None, springref=variable.rest or None, damping=variable.damping or None,
        armature=(variable.armature + (options.rotor if variable.kinematic else 0.0)) or None,
    )  # fmt: skip


def _inertial(bodies: Sequence[Body], least: float) -> tuple[float, Array, Array, Array]:
    """Mass, centre, principal moments and their axes (a quaternion) of bodies in one frame, as MuJoCo takes them."""
    mass = max(math.fsum(body.mass for body in bodies), least)
    com = np.sum([body.mass * np.array(body.com) for body in bodies], axis=0) / mass if bodies else np.zeros(3)
    I = np.zeros((3, 3))
    for body in bodies:
        d = np.array(body.com) - com
        I += inertia_matrix(body.inertia) + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    moments, axes = np.linalg.eigh(I)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    # MuJoCo requires A + B ≥ C of the moments exactly, and rounding may violate it.
    excess = max(float(moments[2] - moments[0] - moments[1]), 0.0)
    return mass, com, np.maximum(moments, 0.0) + least + 2.0 * excess, so3.quaternion(axes)


def _keyframe(root: Element, figure: Figure, q: Array, controls: dict[str, str], sections: dict[str, Element]) -> None:
    """The configuration, and the controls that hold the kinematic variables there."""
    joints = [element.attrib["name"] for element in sections["worldbody"].iter("joint")]
    actuators = [element.attrib["name"] for element in sections["actuator"]]
    qpos = [float(q[figure.index(name)]) for name in joints]
    ctrl = [float(q[figure.index(controls[name])]) if name in controls else 0.0 for name in actuators]
    tag(tag(root, "keyframe"), "key", name="start", qpos=qpos or None, ctrl=ctrl or None)
