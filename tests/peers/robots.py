"""Real robots on disk, and the ways between our q and Pinocchio's."""

from __future__ import annotations

import importlib.metadata
import warnings
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from bunraku.errors import BunrakuWarning
from bunraku.figure import Figure
from bunraku.figure.mass import inertia_matrix
from bunraku.io.urdf import urdf_reader
from bunraku.io.urdf.urdf_link import possible
from bunraku.kinematics import Pose

ROBOTS = {  # file, and whether its root is free in the world
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),  # humanoid
    "icub": ("icub_description/robots/icub.urdf", True),  # humanoid
    "g1": ("g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", True),  # humanoid with hands
    "human": ("human_description/robots/human.urdf", False),
    "solo12": ("solo_description/robots/solo12.urdf", True),  # quadruped
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),  # quadruped
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),  # arm
    "panda": ("panda_description/urdf/panda.urdf", False),  # arm with a gripper
    "allegro": ("allegro_hand_description/urdf/allegro_right_hand.urdf", False),  # hand
    "tiago": ("tiago_description/robots/tiago_no_hand.urdf", False),  # mobile base, continuous wheels
    "tiago_pro": ("tiago_pro_description/robots/tiago_pro.urdf", True),  # mobile base
    "baxter": ("baxter_description/urdf/baxter.urdf", False),  # two arms
}


def path_of(name: str) -> Path:
    """The robot's URDF file; the package's own loader is not used."""
    files = importlib.metadata.files("example-robot-data") or []
    ending = f"example-robot-data/robots/{ROBOTS[name][0]}"
    return Path(next(file.locate() for file in files if str(file).endswith(ending)))


def figure_of(path: Path, floating: bool) -> Figure:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)  # tests/io says what is warned of
        return urdf_reader.load(path, floating_base=floating)


def with_possible_inertias(path: Path, folder: Path) -> Path:
    """A copy whose inertias a body can have, for both sides to read: some published ones are impossible."""
    tree = ElementTree.parse(path)
    for inertia in tree.iter("inertia"):
        words = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        xx, xy, xz, yy, yz, zz = (float(inertia.get(word, "0")) for word in words)
        I = possible(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        for word, value in zip(words, I[np.triu_indices(3)], strict=True):
            inertia.set(word, repr(float(value)))
    copy = folder / path.name
    tree.write(copy)
    return copy


@dataclass
class Twin:
    """Pinocchio's model of the same file, asked in our q."""

    figure: Figure
    model: pin.Model
    floating: bool

    @classmethod
    def of(cls, path: Path, floating: bool) -> Twin:
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        return cls(figure_of(path, floating), pin.buildModelFromUrdf(str(path), *root), floating)

    def __post_init__(self) -> None:
        self.data = self.model.createData()
        self.base = self.figure.names[:6] if self.floating else ()

    def joints(self) -> list[tuple[str, pin.JointModel]]:
        """By name, without the universe."""
        return list(zip(self.model.names, self.model.joints, strict=True))[1:]

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """Within the limits, and anything where there are none."""
        lower, upper = (np.clip(limit, -np.pi, np.pi) for limit in self.figure.limits)
        return rng.uniform(lower, upper)

    def q(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's configuration: quaternion for the free joint, cosine and sine for continuous ones."""
        out = np.empty(self.model.nq)
        for name, joint in self.joints():
            if joint.nq == 7:
                turn = Rotation.from_euler("ZYX", q[3:6])
                out[joint.idx_q : joint.idx_q + 7] = *q[:3], *turn.as_quat()
            elif joint.nq == 2:
                angle = q[self.figure.index(name)]
                out[joint.idx_q : joint.idx_q + 2] = np.cos(angle), np.sin(angle)
            elif joint.nq == 1:
                out[joint.idx_q] = q[self.figure.index(name)]
        return out

    def v_dq(self, q: np.ndarray) -> np.ndarray:
        """∂(Pinocchio's velocity)/∂(our velocity): its free joint speaks of the body's own twist."""
        out = np.zeros((self.model.nv, self.figure.n_q))
        for name, joint in self.joints():
            if joint.nv == 6:
                z, y, x = q[3:6]
                to_body = Rotation.from_euler("ZYX", [z, y, x]).inv().as_matrix()
                Rx = Rotation.from_euler("X", x).inv().as_matrix()
                Ry = Rotation.from_euler("Y", y).inv().as_matrix()
                out[joint.idx_v : joint.idx_v + 3, :3] = to_body
                out[joint.idx_v + 3 : joint.idx_v + 6, 3] = Rx @ Ry @ [0, 0, 1]
                out[joint.idx_v + 3 : joint.idx_v + 6, 4] = Rx @ [0, 1, 0]
                out[joint.idx_v + 3 : joint.idx_v + 6, 5] = [1, 0, 0]
            elif joint.nv == 1:
                out[joint.idx_v, self.figure.index(name)] = 1.0
        return out


def mass_matrix(pose: Pose) -> np.ndarray:
    """From the Jacobians and inertias of the bodies: Σ m JᵀJ + J_ωᵀ I J_ω, and what rotors add."""
    figure = pose.figure
    M = np.diag([variable.armature for variable in figure.variables])
    for body in figure.bodies:
        J = pose.point_jacobian(body.frame, body.com)
        W = pose.X(body.frame)[:3, :3].T @ pose.jacobian(body.frame)[3:]
        M += body.mass * J.T @ J + W.T @ inertia_matrix(body.inertia) @ W
    return M
