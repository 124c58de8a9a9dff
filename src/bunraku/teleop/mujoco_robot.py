"""A robot in MuJoCo that takes joint targets: the stand-in for a real one.

Its joints are position servos with the figure's own effort limits; it touches the ground with the corners of its soles. It
reports its joints and where its trunk is, as encoders, an inertial sensor and odometry would.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, MissingExtra, NotFinite
from bunraku.figure.shape import Box
from bunraku.io.mjcf import mjcf_file
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.whole_body import WholeBody
from bunraku.scene import Scene

Array = NDArray[np.float64]
TIMESTEP = 0.001
FRICTION = 0.8
HARD: Any = {"solref": "0.004 1", "solimp": "0.95 0.99 0.0005"}
"""Ground that gives way by a millimetre tilts a robot on narrow feet: contacts as stiff as the timestep allows."""
STIFF = 65.0
"""Stiffness of a servo, in its largest efforts a radian."""
DAMPED = 0.4
"""Its damping, in those a radian a second."""
FALLEN = 0.6
"""Part of its height at home below which the trunk has fallen."""


class MujocoRobot:
    """A humanoid in a scene, stepped at the control rate."""

    def __init__(self, humanoid: Humanoid, scene: Scene, q: Array, *, dt: float = GUIDE_TICK) -> None:
        try:
            import mujoco
        except ImportError:
            raise MissingExtra("mujoco", "mujoco", "a robot in physics") from None
        self._mujoco: Any = mujoco
        self.humanoid, self.dt = humanoid, dt
        body = WholeBody(humanoid)
        self.motors = tuple(humanoid.figure.names[k] for k in body.motors)
        self.model = mujoco.MjModel.from_xml_string(_xml(humanoid, scene, body))
        self.data = mujoco.MjData(self.model)
        names = [mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(self.model.njnt)]
        self._order = np.array([names.index(name) for name in humanoid.figure.names])
        self._motors = body.motors
        self._feet = [mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, foot) for foot in humanoid.feet]
        self._substeps = max(round(dt / TIMESTEP), 1)
        self.place(q)

    def place(self, q: Array) -> None:
        """Puts it at rest at q."""
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._order] = q
        self.data.ctrl[:] = q[self._motors]
        self._mujoco.mj_forward(self.model, self.data)

    @property
    def servos(self) -> tuple[Array, Array]:
        """Stiffness and damping of the motors."""
        return np.array(self.model.actuator_gainprm[:, 0]), -np.array(self.model.actuator_biasprm[:, 2])

    @property
    def q(self) -> Array:
        """What is measured, in the figure's order."""
        return np.array(self.data.qpos[self._order])

    @property
    def v(self) -> Array:
        return np.array(self.data.qvel[self._order])

    @property
    def com(self) -> tuple[Array, Array]:
        """Centre of mass and its velocity."""
        self._mujoco.mj_subtreeVel(self.model, self.data)
        return np.array(self.data.subtree_com[0]), np.array(self.data.subtree_linvel[0])

    @property
    def feet(self) -> Array:
        """Where the soles are, (2, 3)."""
        return np.array(self.data.xpos[self._feet])

    @property
    def fallen(self) -> bool:
        high = self.data.subtree_com[0][2] - min(self.data.xpos[foot][2] for foot in self._feet)
        return bool(high < FALLEN * self.humanoid.height)

    def step(self, targets: Array) -> Array:
        """One control period with these joint targets (in the order of `motors`); what is measured then."""
        targets = np.asarray(targets, float)
        if targets.shape != (len(self.motors),) or not np.isfinite(targets).all():
            raise NotFinite(f"a robot with {len(self.motors)} motors takes as many finite targets")
        self.data.ctrl[:] = targets
        for _ in range(self._substeps):
            self._mujoco.mj_step(self.model, self.data)
        if not np.isfinite(self.data.qpos).all():
            raise NotFinite("the physics is no longer finite")
        return self.q


def _xml(humanoid: Humanoid, scene: Scene, body: WholeBody) -> str:
    figure = humanoid.figure.replace(shapes=(), forces=(), contacts=(), springs=())
    root = ElementTree.fromstring(mjcf_file.dumps(figure, q=humanoid.home))
    option = root.find("option")
    assert option is not None
    option.set("timestep", f"{TIMESTEP}")
    option.set("cone", "elliptic")
    option.set("impratio", "10")
    for keyframe in root.findall("keyframe"):
        root.remove(keyframe)
    world = root.find("worldbody")
    assert world is not None
    bodies = {element.get("name"): element for element in world.iter("body")}
    for foot in humanoid.feet:
        _soles(bodies[foot], humanoid.sole)
    _ground(world, scene)
    actuator = SubElement(root, "actuator")
    variables = {v.name: v for v in figure.variables}
    for name in (figure.names[k] for k in body.motors):
        effort = min(variables[name].effort, 1e4)
        if not variables[name].effort < 1e4:
            effort = 3.0 * figure.mass
        SubElement(
            actuator, "position", name=name, joint=name, kp=f"{STIFF * effort}", kv=f"{DAMPED * effort}",
            forcerange=f"{-effort} {effort}",
        )  # fmt: skip
    return ElementTree.tostring(root, encoding="unicode")


def _soles(foot: Element, sole: Array) -> None:
    """Small balls under the corners: clean contacts with floors and edges alike."""
    radius = 0.04 * float(np.ptp(sole[:, 0]))
    for x, y in sole:
        SubElement(
            foot, "geom", type="sphere", size=f"{radius}", pos=f"{x} {y} {radius}", contype="2", conaffinity="1", condim="3",
            friction=f"{FRICTION} 0.005 0.0001", mass="0", **HARD,
        )  # fmt: skip


def _ground(world: Element, scene: Scene) -> None:
    common: Any = {"contype": "1", "conaffinity": "2", "condim": "3", "friction": f"{FRICTION} 0.005 0.0001", **HARD}
    if scene.floor is not None:
        SubElement(world, "geom", type="plane", size="0 0 1", pos=f"0 0 {scene.floor}", **common)
    for obstacle in scene.obstacles:
        if not isinstance(obstacle.geometry, Box):
            raise BunrakuError(f"{obstacle.name!r} is not a box\n  advice: physics of the guided robot takes floors and boxes")
        size = " ".join(f"{s / 2}" for s in obstacle.geometry.size)
        pos, quat = (" ".join(f"{x}" for x in values) for values in (obstacle.position, obstacle.rotation))
        SubElement(world, "geom", type="box", size=size, pos=pos, quat=quat, **common)
