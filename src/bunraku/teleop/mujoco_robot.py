"""A robot in MuJoCo that takes joint targets, in place of a real one.

Its joints are position servos with the figure's effort limits; the corners of its soles touch the ground. It measures its joints
and the pose of its trunk, as encoders, an inertial sensor and odometry would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, MissingExtra, NotFinite
from bunraku.figure.shape import Box
from bunraku.io.mjcf import mjcf_file
from bunraku.io.mjcf.mjcf_servos import Servo
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.whole_body import WholeBody
from bunraku.scene import Scene
from bunraku.teleop.robot_loop import fallen

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RobotOptions:
    """Servos and contacts of the simulated robot."""

    timestep: float = 0.001
    """Of MuJoCo [s]."""
    friction: float = 0.8
    """Sliding friction of the soles."""
    solref: str = "0.004 1"
    """MuJoCo's stiffness of contacts, as high as the time step allows: a millimetre of softness tilts a robot with narrow feet."""
    solimp: str = "0.95 0.99 0.0005"
    """MuJoCo's impedance of contacts."""
    stiffness: float = 65.0
    """Stiffness of a servo divided by its maximum effort [1/rad], where the robot's file has no gains."""
    damping: float = 0.4
    """Damping of a servo divided by its maximum effort [s/rad], where the robot's file has no gains."""
    unlimited: float = 3.0
    """Effort for each unit of the robot's mass from which gains of a motor without a limit follow [m²/s²]."""

    @property
    def contact(self) -> Any:
        """Attributes of a geom with contact."""
        friction = f"{self.friction} 0.005 0.0001"
        return {"condim": "3", "friction": friction, "solref": self.solref, "solimp": self.solimp}


class MujocoRobot:
    """A humanoid in a scene, stepped at the control rate."""

    def __init__(
        self,
        humanoid: Humanoid,
        scene: Scene,
        q: Array,
        *,
        dt: float = GUIDE_TICK,
        options: RobotOptions = RobotOptions(),
    ) -> None:
        """A `humanoid` at rest at `q` in a `scene` of floors and boxes.

        dt: control period [s].
        options: servos and contacts.

        Raises MissingExtra without MuJoCo, BunrakuError if an obstacle of the scene is not a box.
        """
        try:
            import mujoco
        except ImportError:
            raise MissingExtra("mujoco", "mujoco", "a robot in physics") from None
        self._mujoco: Any = mujoco
        self.humanoid, self.dt, self.options = humanoid, dt, options
        body = WholeBody(humanoid)
        self.motors = tuple(humanoid.figure.names[k] for k in body.motors)
        self.model = mujoco.MjModel.from_xml_string(_xml(humanoid, scene, body, options))
        self.data = mujoco.MjData(self.model)
        names = [mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(self.model.njnt)]
        self._order = np.array([names.index(name) for name in humanoid.figure.names])
        self._motors = body.motors
        self._feet = [mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, foot) for foot in humanoid.feet]
        self._substeps = max(round(dt / options.timestep), 1)
        self.place(q)

    def place(self, q: Array) -> None:
        """Places it at rest at `q`."""
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._order] = q
        self.data.ctrl[:] = q[self._motors]
        self._mujoco.mj_forward(self.model, self.data)

    @property
    def servos(self) -> tuple[Array, Array]:
        """Stiffness [N·m/rad] and damping [N·m·s/rad] of the servos."""
        return np.array(self.model.actuator_gainprm[:, 0]), -np.array(self.model.actuator_biasprm[:, 2])

    @property
    def q(self) -> Array:
        """The measured configuration, (n_q,)."""
        return np.array(self.data.qpos[self._order])

    @property
    def v(self) -> Array:
        """The measured velocities, (n_q,)."""
        return np.array(self.data.qvel[self._order])

    @property
    def com(self) -> tuple[Array, Array]:
        """Centre of mass [m] and its velocity [m/s]."""
        self._mujoco.mj_subtreeVel(self.model, self.data)
        return np.array(self.data.subtree_com[0]), np.array(self.data.subtree_linvel[0])

    @property
    def feet(self) -> Array:
        """Positions of the soles [m], (2, 3)."""
        return np.array(self.data.xpos[self._feet])

    @property
    def soles(self) -> Array:
        """What the ground does to each sole (2, 3): the vertical force [N], and its moments about the sole's x and y axes [N m]."""
        out, touch = np.zeros((2, 3)), self.data.contact
        on = np.flatnonzero(touch.efc_address >= 0)
        bodies = self.model.geom_bodyid[touch.geom[on]]
        forces = self.data.efc_force[touch.efc_address[on, None] + np.arange(3)]
        for (one, other), frame, at, force in zip(bodies, touch.frame[on], touch.pos[on], forces, strict=True):
            sign = 1.0 if other in self._feet else -1.0
            if sign < 0.0 and one not in self._feet:
                continue
            foot = self._feet.index(other if sign > 0.0 else one)
            R = self.data.xmat[self._feet[foot]].reshape(3, 3)
            F, arm = sign * R.T @ (frame.reshape(3, 3).T @ force), R.T @ (at - self.data.xpos[self._feet[foot]])
            out[foot] += F[2], arm[1] * F[2] - arm[2] * F[1], arm[2] * F[0] - arm[0] * F[2]
        return out

    @property
    def fallen(self) -> bool:
        """Whether its centre of mass is too low for standing."""
        return fallen(self.humanoid, self.q)

    def step(self, targets: Array) -> Array:
        """One control period with joint `targets` (order of `motors`); returns the measured configuration; raises NotFinite."""
        targets = np.asarray(targets, float)
        if targets.shape != (len(self.motors),) or not np.isfinite(targets).all():
            raise NotFinite(f"expected {len(self.motors)} finite targets, one for each motor")
        self.data.ctrl[:] = targets
        for _ in range(self._substeps):
            self._mujoco.mj_step(self.model, self.data)
        if not np.isfinite(self.data.qpos).all():
            raise NotFinite("the simulated robot has diverged: its configuration is not finite")
        return self.q

    def ahead(self, targets: Array) -> None:
        """Needs no `targets` (n, motors) for later: whoever steps it cannot be cut off from it."""

    @property
    def late(self) -> int:
        """Never late: it moves only when it is stepped."""
        return 0

    def skip(self, ticks: int) -> None:
        """Has no `ticks` to leave out."""


def _xml(humanoid: Humanoid, scene: Scene, body: WholeBody, options: RobotOptions) -> str:
    figure = humanoid.figure.replace(shapes=(), forces=(), contacts=(), springs=())
    root = ElementTree.fromstring(mjcf_file.dumps(figure, q=humanoid.home))
    option = root.find("option")
    assert option is not None
    option.set("timestep", f"{options.timestep}")
    option.set("cone", "elliptic")
    option.set("impratio", "10")
    for keyframe in root.findall("keyframe"):
        root.remove(keyframe)
    world = root.find("worldbody")
    assert world is not None
    bodies = {element.get("name"): element for element in world.iter("body")}
    for foot in humanoid.feet:
        _soles(bodies[foot], humanoid.sole, options)
    _ground(world, scene, options)
    actuator = SubElement(root, "actuator")
    joints = {element.get("name"): element for element in world.iter("joint")}
    variables = {v.name: v for v in figure.variables}
    for name in (figure.names[k] for k in body.motors):
        servo, effort = humanoid.servos.get(name, Servo()), variables[name].effort
        limit: dict[str, Any] = {"forcerange": f"{-effort} {effort}"} if effort < math.inf else {}
        if not limit:
            effort = options.unlimited * figure.mass
        kp = servo.stiffness or options.stiffness * effort
        kv = servo.damping if servo.stiffness else options.damping * effort
        SubElement(actuator, "position", name=name, joint=name, kp=f"{kp}", kv=f"{kv}", **limit)
        if servo.friction:
            joints[name].set("frictionloss", f"{servo.friction}")
    return ElementTree.tostring(root, encoding="unicode")


def _soles(foot: Element, sole: Array, options: RobotOptions) -> None:
    """Small balls at the corners, whose contacts with floors and edges are well defined."""
    radius = 0.04 * float(np.ptp(sole[:, 0]))
    for x, y in sole:
        SubElement(
            foot, "geom", type="sphere", size=f"{radius}", pos=f"{x} {y} {radius}", contype="2", conaffinity="1", mass="0",
            **options.contact,
        )  # fmt: skip


def _ground(world: Element, scene: Scene, options: RobotOptions) -> None:
    common = {"contype": "1", "conaffinity": "2", **options.contact}
    if scene.floor is not None:
        SubElement(world, "geom", type="plane", size="0 0 1", pos=f"0 0 {scene.floor}", **common)
    for obstacle in scene.obstacles:
        if not isinstance(obstacle.geometry, Box):
            raise BunrakuError(f"{obstacle.name!r} is not a box\n  advice: a robot in physics takes floors and boxes only")
        size = " ".join(f"{s / 2}" for s in obstacle.geometry.size)
        pos, quat = (" ".join(f"{x}" for x in values) for values in (obstacle.position, obstacle.rotation))
        SubElement(world, "geom", type="box", size=size, pos=pos, quat=quat, **common)
