"""A climb performed in MuJoCo, driven by the controller of `climb_controller`: servos, and feet whose adhesion is switched.

An adhesion actuator pulls the ball of a standing foot, below its ankle, towards what it touches; it is off while the foot swings.
Toes only support: what sticks is where the plan assumes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, MissingExtra
from bunraku.figure.shape import Box, Capsule, Shape, Sphere
from bunraku.io.mjcf import mjcf_file
from bunraku.kinematics import frames_along
from bunraku.locomotion.climb.climb import Climb
from bunraku.locomotion.climb.climb_controller import ClimbController, HoldOptions, PerformedClimb, sticky_shape
from bunraku.scene import Scene
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MujocoContacts:
    """Steps and contacts of MuJoCo. Times are for swings of 0.25 s, and shorter in proportion where these are."""

    timestep: float = 0.0005
    """Of MuJoCo [s]."""
    gap: float = 0.01
    """Distance from which adhesion pulls a foot towards the surface [leg lengths]."""
    settle: float = 0.002
    """Time constant of contacts [s]."""
    solimp: str = "0.95 0.99 0.0002"
    """MuJoCo's impedance of contacts."""
    friction_ratio: float = 50.0
    """How much stiffer contacts are along the surface than across it (MuJoCo's impratio)."""


def perform_in_mujoco(
    done: Climb, *, adhesion: float | None = None, friction: float = 1.0, seed: int | None = None,
    options: HoldOptions = HoldOptions(), contacts: MujocoContacts = MujocoContacts(),
) -> PerformedClimb:  # fmt: skip
    """Performs a climb in MuJoCo.

    done: the climb
    adhesion: of each foot [weights]; by default 1.3 times what the motion needs
    friction: coefficient of friction of the feet
    seed: of the noise of encoders, places and pushes; None for no noise
    options: servos and noise
    contacts: steps and contacts of MuJoCo

    Raises MissingExtra without MuJoCo, BunrakuError as `ClimbController` does, or if a shape is neither capsule nor sphere.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("mujoco", "mujoco", "climbing in physics") from None
    controller = ClimbController(done, adhesion=adhesion, friction=friction, options=options, seed=seed)
    return _Performance(mujoco, controller, done, friction, contacts).run()


class _Performance:
    """A climb in progress."""

    def __init__(self, mujoco: Any, controller: ClimbController, done: Climb, friction: float, contacts: MujocoContacts) -> None:
        self.mujoco, self.controller, self.gecko, self.contacts = mujoco, controller, controller.gecko, contacts
        self.model = mujoco.MjModel.from_xml_string(self._xml(done.scene, friction))
        self.data = mujoco.MjData(self.model)
        self.substeps = max(round(controller.dt / (controller.longer * contacts.timestep)), 1)
        self.model.opt.timestep = controller.dt / self.substeps
        self._place(np.asarray(done.motion.q[0]))

    def _xml(self, scene: Scene, friction: float) -> str:
        figure, gecko, contacts, controller = self.gecko.figure, self.gecko, self.contacts, self.controller
        root = ElementTree.fromstring(mjcf_file.dumps(figure))
        for name in ("actuator", "contact", "keyframe", "equality", "tendon"):
            for section in root.findall(name):
                root.remove(section)
        option = root.find("option")
        assert option is not None
        option.set("cone", "elliptic")
        option.set("impratio", f"{contacts.friction_ratio}")
        world = root.find("worldbody")
        assert world is not None
        bodies = {element.get("name"): element for element in world.iter("body")}
        for geom in [(body, geom) for body in world.iter("body") for geom in body.findall("geom")]:
            geom[0].remove(geom[1])
        for joint in figure.groups:
            if joint.kind == "free" or (joint.kind == "ball" and any(foot in joint.frames for foot in gecko.roles.feet)):
                for name in joint.frames:
                    for old in bodies[name].findall("joint"):
                        bodies[name].remove(old)
                first = bodies[joint.frames[0]]
                if joint.kind == "free":
                    first.insert(0, Element("freejoint", name="root"))
                else:
                    foot = next(foot for foot in gecko.roles.feet if foot in joint.frames)
                    damping = controller.options.ankle_damping * controller.k_ankle
                    ball = Element("joint", name=f"{foot}_ball", type="ball", damping=f"{damping}", armature="1e-7")
                    first.insert(0, ball)
        solref = f"{controller.longer * contacts.settle} 1"
        contact: Any = {"friction": f"{friction} 0.005 0.0001", "solref": solref, "solimp": contacts.solimp, "condim": "3"}
        gap = f"{contacts.gap * controller.leg}"
        for shape in figure.shapes:
            if shape.collides:
                body: Element = bodies[shape.frame]
                near: Any = {}
                if shape.frame in gecko.roles.feet:
                    sticky = sticky_shape(figure, shape.frame)
                    near = {"gap": gap} if shape is sticky else {}
                    body = body if shape is sticky else SubElement(body, "body")
                SubElement(body, "geom", contype="2", conaffinity="1", **_geom(shape), **contact, **near)
        for obstacle in scene.obstacles:
            assert isinstance(obstacle.geometry, Box)
            size = _text(np.asarray(obstacle.geometry.size) / 2.0)
            at: Any = {"pos": _text(obstacle.position), "quat": _text(obstacle.rotation)}
            SubElement(world, "geom", type="box", size=size, contype="1", conaffinity="2", **at, **contact)
        actuator = SubElement(root, "actuator")
        kp = controller.kp
        for k in controller.motors:
            variable = figure.variables[k]
            limit: Any = {"forcerange": f"{-variable.effort} {variable.effort}"} if np.isfinite(variable.effort) else {}
            SubElement(actuator, "position", joint=variable.name, kp=f"{kp}", kv=f"{controller.options.damping * kp}", **limit)
        for foot in gecko.roles.feet:
            SubElement(actuator, "adhesion", body=foot, ctrlrange="0 1", gain=f"{controller.adhesion * controller.weight}")
        return ElementTree.tostring(root, encoding="unicode")

    def run(self) -> PerformedClimb:
        """Performs the climb until the end, or until it has fallen."""
        mujoco, model, data, controller, gecko = self.mujoco, self.model, self.data, self.controller, self.gecko
        n, body = len(controller.motors), int(model.jnt_bodyid[model.joint("root").id])
        feet, trunk = ([model.body(name).id for name in names] for names in (gecko.roles.feet, gecko.trunk))
        joints = [model.joint(f"{foot}_ball") for foot in gecko.roles.feet]
        dofs = np.array([int(joint.dofadr[0]) for joint in joints])[:, None] + np.arange(3)
        places = np.array([int(joint.qposadr[0]) for joint in joints])[:, None] + np.arange(4)
        turns = so3.quaternion(controller.turns)
        while not controller.ended:
            command = controller.command(np.array(data.xpos[feet]))
            data.ctrl[:n], data.ctrl[n:] = command.targets, command.sticks
            data.xfrc_applied[body, :3] = command.push
            for _ in range(self.substeps):
                data.qfrc_applied[dofs] = controller.k_ankle * _turn_to(data.qpos[places], turns[command.sample])
                mujoco.mj_step(model, data)
            controller.look(np.array(data.xpos[trunk]), self._touches(feet))
        return controller.performed()

    def _touches(self, feet: list[int]) -> NDArray[np.bool_]:
        """Which of the `feet` touch something, or are so near that adhesion pulls them."""
        pairs = self.data.contact.geom[: self.data.ncon]
        return np.isin(feet, self.model.geom_bodyid[pairs])

    def _place(self, q: Array) -> None:
        """Puts the climber where it is at `q`."""
        model, data, figure = self.model, self.data, self.gecko.figure
        self.mujoco.mj_resetData(model, data)
        root = next(joint for joint in figure.groups if joint.kind == "free")
        X = frames_along(figure, q[None])[0, figure.frame_index[root.frames[-1]]]
        at = int(model.joint("root").qposadr[0])
        data.qpos[at : at + 3], data.qpos[at + 3 : at + 7] = X[:3, 3], so3.quaternion(X[:3, :3])
        for k in self.controller.motors:
            data.qpos[int(model.joint(figure.names[k]).qposadr[0])] = q[k]
        for foot, R in zip(self.gecko.roles.feet, self.controller.turns[0], strict=True):
            at = int(model.joint(f"{foot}_ball").qposadr[0])
            data.qpos[at : at + 4] = so3.quaternion(R)
        self.mujoco.mj_forward(model, data)


def _turn_to(a: Array, b: Array) -> Array:
    """Small rotation vectors (n, 3) from quaternions a to b (n, 4), in the axes of a."""
    (w, u), (z, v) = (a[:, :1], a[:, 1:]), (b[:, :1], b[:, 1:])
    vector, scalar = w * v - z * u - np.cross(u, v), w * z + (u * v).sum(1, keepdims=True)
    return np.asarray(2.0 * np.where(scalar < 0.0, -vector, vector))


def _text(values: Any) -> str:
    return " ".join(f"{x:.12g}" for x in values)


def _geom(shape: Shape) -> Any:
    match shape.geometry:
        case Sphere(radius):
            size = {"type": "sphere", "size": f"{radius}"}
        case Capsule(radius, length):
            size = {"type": "capsule", "size": f"{radius} {length / 2.0}"}
        case other:
            raise BunrakuError(f"{shape.name!r} is a {type(other).__name__}\n  advice: climb in MuJoCo with capsules and spheres")
    return {"pos": _text(shape.position), "quat": _text(shape.rotation), "mass": "0", **size}
