"""MuJoCo's compiled model → Figure.

A body becomes a frame of the same name, and a hinge or slide a variable of the same name and value. Ball and free
joints become one-variable frames, with angles where MuJoCo has a quaternion.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import WORLD, Body, Frame, Joint, Variable
from bunraku.figure.frame import AXES, JOINT_MOTIONS, Vector
from bunraku.figure.mass import inertia_tuple
from bunraku.io.leftovers import Leftovers
from bunraku.io.mjcf.mjcf_codes import JointType
from bunraku.spatial import se3, so3
from bunraku.spatial.so3 import Quaternion

Array = NDArray[np.float64]


def vector(values: Array) -> Vector:
    """Three `values` as floats of Python."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def quaternion(values: Array) -> Quaternion:
    """Four `values`, w first, as floats of Python."""
    w, x, y, z = (float(value) for value in values)
    return (w, x, y, z)


class BodyTree:
    """Frames, bodies and joints of a compiled `model`; what a figure cannot hold is added to `leftovers`."""

    def __init__(self, model: Any, leftovers: Leftovers) -> None:
        self.model, self.leftovers = model, leftovers
        self.body_frame = [WORLD] + [model.body(b).name or f"body{b}" for b in range(1, model.nbody)]
        self.taken = set(self.body_frame)
        self.frames: list[Frame] = []
        self.bodies: list[Body] = []
        self.groups: list[Joint] = []
        self.joint_variable: dict[int, str] = {}
        # The figure starts at the first keyframe, or else where MuJoCo does.
        self.start: Array = model.key_qpos[0] if model.nkey else model.qpos0
        for b in range(1, model.nbody):
            self._body(b)

    def unused(self, name: str) -> str:
        """The `name`, with underscores appended until no frame has it."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _body(self, b: int) -> None:
        model, name = self.model, self.body_frame[b]
        parent = self.body_frame[model.body_parentid[b]]
        X = se3.pose(model.body_pos[b], model.body_quat[b])
        joints = range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b])
        if model.body_mocapid[b] >= 0:
            parent, X = self._free(name, name, parent, X[:3, 3], X[:3, :3], kinematic=True), np.eye(4)
        for j in joints:
            parent, X = self._joint(j, parent, X, last=j == joints[-1])
        if parent != name:
            self.frames.append(Frame(name, parent, vector(X[:3, 3]), quaternion(so3.quaternion(X[:3, :3]))))
        # MuJoCo requires a mass in everything that moves; files write up to 1e-12 kg where there is none.
        if model.body_mass[b] > 1e-12 or model.body_inertia[b].max() > 1e-12:
            R = so3.matrix(model.body_iquat[b])
            I = inertia_tuple(R @ np.diag(model.body_inertia[b]) @ R.T)
            self.bodies.append(Body(name, float(model.body_mass[b]), vector(model.body_ipos[b]), I))
        if model.body_gravcomp[b]:
            self.leftovers.add("gravity compensation left out", name)

    # -- joints --------------------------------------------------------------------------------------------

    def _joint(self, j: int, parent: str, X: Array, *, last: bool) -> tuple[str, Array]:
        """Adds a joint's frames. Returns the last one, and the constant transform from it to the next joint or to the body."""
        model = self.model
        body = self.body_frame[model.jnt_bodyid[j]]
        name = model.joint(j).name or f"{body}_joint" + (f"{j - model.body_jntadr[model.jnt_bodyid[j]]}" if not last else "")
        self.joint_variable[j] = name
        at, kind = model.jnt_qposadr[j], model.jnt_type[j]
        self._name_friction(j, name)
        if kind == JointType.FREE:
            start = self.start[at : at + 7]
            return self._free(body, name, parent, start[:3], so3.matrix(start[3:])), np.eye(4)
        to_anchor, back = se3.pose(model.jnt_pos[j]), se3.pose(-model.jnt_pos[j])
        X = X @ to_anchor
        straight = last and not model.jnt_pos[j].any()
        if kind == JointType.BALL:
            frame = body if straight else self.unused(f"{body}_ball")
            self._turns(frame, name, parent, X, so3.angles_zyx(so3.matrix(self.start[at : at + 4])))
            return frame, back
        variable = self._variable(j, name)
        # At qpos = `ref` the body is where the file places it.
        back = _moved(variable, -float(model.qpos0[at])) @ back
        frame = body if last and np.array_equal(back, np.eye(4)) else self.unused(f"{body}_{name}")
        self.frames.append(Frame(frame, parent, vector(X[:3, 3]), quaternion(so3.quaternion(X[:3, :3])), variable))
        return frame, back

    def _variable(self, j: int, name: str) -> Variable:
        model = self.model
        dof, at = model.jnt_dofadr[j], model.jnt_qposadr[j]
        lower, upper, effort = -math.inf, math.inf, math.inf
        if model.jnt_limited[j]:
            lower, upper = (float(limit) for limit in model.jnt_range[j])
        if model.jnt_actfrclimited[j]:
            effort = float(np.abs(model.jnt_actfrcrange[j]).max()) or math.inf
        stiffness = float(model.jnt_stiffness[j])
        return Variable(
            name, "translate" if model.jnt_type[j] == JointType.SLIDE else "rotate", vector(model.jnt_axis[j]),
            start=float(self.start[at]), lower=lower, upper=upper, effort=effort, stiffness=stiffness,
            rest=float(model.qpos_spring[at]) if stiffness else 0.0, damping=float(model.dof_damping[dof]),
            armature=float(model.dof_armature[dof]),
        )  # fmt: skip

    def _name_friction(self, j: int, name: str) -> None:
        model, several = self.model, self.model.jnt_type[j] in (JointType.FREE, JointType.BALL)
        count = {JointType.FREE: 6, JointType.BALL: 3}.get(JointType(model.jnt_type[j]), 1)
        dofs = slice(model.jnt_dofadr[j], model.jnt_dofadr[j] + count)
        if model.dof_frictionloss[dofs].any():
            self.leftovers.add("dry friction left out", name)
        if model.jnt_stiffnesspoly[j].any() or model.dof_dampingpoly[dofs].any():
            self.leftovers.add("springs and dampers that are not linear, now linear", name)
        if several and (model.jnt_stiffness[j] or model.dof_damping[dofs].any() or model.dof_armature[dofs].any()):
            self.leftovers.add("springs, dampers and rotors of ball and free joints left out", name)
        if model.jnt_type[j] == JointType.BALL and model.jnt_limited[j]:
            self.leftovers.add("limits of ball joints left out", name)

    def _free(self, frame: str, name: str, parent: str, at: Array, R: Array, *, kinematic: bool = False) -> str:
        frames = []
        for letter, value in zip(JOINT_MOTIONS["free"][:3], at, strict=True):
            moves = Variable(f"{name}_{letter}", "translate", AXES[letter[1]], kinematic=kinematic, start=float(value))
            frames.append(self.unused(f"{frame}_{letter}"))
            self.frames.append(Frame(frames[-1], parent, variable=moves))
            parent = frames[-1]
        frames += self._turns(frame, name, parent, np.eye(4), so3.angles_zyx(R), kinematic=kinematic)
        self.groups[-1] = Joint(frame, "free", tuple(frames))
        return frame

    def _turns(self, frame: str, name: str, parent: str, X: Array, start: Array, *, kinematic: bool = False) -> list[str]:
        letters = JOINT_MOTIONS["ball"]
        frames = [*(self.unused(f"{frame}_{letter}") for letter in letters[:-1]), frame]
        for letter, own, value in zip(letters, frames, start, strict=True):
            moves = Variable(f"{name}_{letter}", "rotate", AXES[letter[1]], kinematic=kinematic, start=float(value))
            self.frames.append(Frame(own, parent, vector(X[:3, 3]), quaternion(so3.quaternion(X[:3, :3])), moves))
            parent, X = own, np.eye(4)
        self.groups.append(Joint(frame, "ball", tuple(frames)))
        return frames


def _moved(variable: Variable, value: float) -> Array:
    axis = np.array(variable.axis)
    return se3.pose(axis * value) if variable.motion == "translate" else se3.pose(rotation=so3.exp(axis * value))
