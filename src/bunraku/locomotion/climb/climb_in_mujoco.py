"""A climb performed in MuJoCo: servos with feed-forward torques, feet whose adhesion is switched, and noise.

A motor is a servo about the planned angle, with the planned velocity and the torque of inverse dynamics added. The forces on the
feet that this torque assumes stay inside the friction cones of feet with the given adhesion, and leave a foot that is about to lift
off. Legs learn where their feet really stand, and the plan waits for a foot that does not touch yet. An adhesion actuator pulls the
ball of a standing foot, below its ankle, towards what it touches; it is off while the foot swings. Toes only support: what sticks
is where the plan assumes it. Ankles are passive: a weak spring keeps a swinging foot as it should land.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from bunraku.locomotion.climb.climb_dynamics import needed_forces, torques
from bunraku.locomotion.climb.climb_pace import PaceOptions
from bunraku.locomotion.climb.foot_forces import foot_forces
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.gecko_kernels import points_along
from bunraku.scene import Scene
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HoldOptions:
    """Servos, contacts and noise of a climb in MuJoCo. Lengths are in lengths of the leg, forces in body weights.

    All are for the default crawl of the library's gecko, with swings of 0.25 s. Where a swing takes less, times are
    shorter in proportion, and where it is quicker for its size, servos are stiffer, with the square.
    """

    timestep: float = 0.0005
    """Of MuJoCo [s]."""
    stiffness: float = 15.0
    """Stiffness of a servo [weights · leg lengths/rad]."""
    damping: float = 0.02
    """Damping of a servo divided by its stiffness [s]."""
    ankle: float = 0.1
    """Stiffness of the spring of an ankle [weights · leg lengths/rad]."""
    gap: float = 0.01
    """Distance from which adhesion pulls a foot towards the surface [leg lengths]."""
    press: float = 0.003
    """How far below the surface a landing foot aims, so that it touches [leg lengths]."""
    probe: float = 0.3
    """Speed at which a foot that should stand, but does not touch, goes on towards the surface [leg lengths/s]."""
    ramp: float = 0.05
    """Time in which a foot takes over its load after landing, and gives it up before lifting off [s]."""
    patience: float = 0.3
    """How long the plan waits, with all feet down, for a foot that does not touch yet [s]."""
    spare: float = 1.08
    """The forces on the feet that motors aim at use this share of the least adhesion, or 0.6 of what there is if that is more."""
    settle: float = 0.03
    """Time in which a leg learns where its foot really stands, so that it does not pull on it [s]."""
    contact_time: float = 0.002
    """Time constant of contacts in MuJoCo [s]."""
    solimp: str = "0.95 0.99 0.0002"
    """MuJoCo's impedance of contacts."""
    friction_ratio: float = 50.0
    """How much stiffer contacts are along the surface than across it (MuJoCo's impratio)."""
    fallen: float = 0.5
    """The climber has fallen if its trunk is farther than this from the plan [leg lengths]."""
    encoder_noise: float = 5e-4
    """Standard deviation of the measured angles, new at every sample of the motion [rad]."""
    push: float = 0.03
    """Standard deviation of each component of a random force on the first body [weights]."""
    push_time: float = 0.05
    """Correlation time of that force [s]."""
    pose_noise: float = 1e-3
    """Standard deviation of the measured places of the feet, new at every sample [leg lengths]."""

    def at_pace(self, longer: float, quick: float) -> HoldOptions:
        """The same with times `longer` by a factor, and servos that move masses `quick` times as fast for their size."""
        times = ("timestep", "damping", "patience", "ramp", "settle", "contact_time", "push_time")
        changed = {name: longer * getattr(self, name) for name in times}
        stiff = {name: quick**2 * getattr(self, name) for name in ("stiffness", "ankle")}
        return replace(self, probe=self.probe / longer, **changed, **stiff)


@dataclass(frozen=True, eq=False)
class PerformedClimb:
    """What became of a climb in MuJoCo."""

    fell: bool
    """Whether the trunk got lost."""
    seconds: float
    """When it ended [s]; later than planned if feet had to be waited for."""
    errors: Array
    """Largest distance of a point of the trunk from the plan, every time that it was looked at (n,) [m]."""
    trunk: Array
    """Where the first point of the trunk was, at these times (n, 3) [m]."""
    dt: float
    """Time between two of them [s]."""
    adhesion: float
    """The adhesion of each foot [weights]."""

    @property
    def end_error(self) -> float:
        """Largest distance of a point of the trunk from the plan at the end [m]."""
        return float(self.errors[-1])

    def __str__(self) -> str:
        how = "fell" if self.fell else "arrived"
        off = f"{1e3 * self.end_error:.2f} mm from the plan (at most {1e3 * self.errors.max():.2f} mm)"
        return f"{how} after {self.seconds:.2f} s, {off}, adhesion {self.adhesion:.3f} weights a foot"


def perform_in_mujoco(
    done: Climb, *, adhesion: float | None = None, friction: float = 1.0, seed: int | None = None,
    options: HoldOptions = HoldOptions(),
) -> PerformedClimb:  # fmt: skip
    """Performs a climb in MuJoCo.

    done: the climb
    adhesion: of each foot [weights]; by default 1.3 times what the motion needs
    friction: coefficient of friction of the feet
    seed: of the noise of encoders and pushes; None for no noise
    options: servos, contacts and noise

    Raises MissingExtra without MuJoCo, BunrakuError if feet have no ankles, the surface is a mesh, or a shape is neither capsule
    nor sphere.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("mujoco", "mujoco", "climbing in physics") from None
    gecko = Gecko(done.motion.figure, done.roles)
    if not gecko.n_ankles:
        raise BunrakuError("feet without ankles\n  advice: climb in MuJoCo with feet on ball joints")
    if not all(isinstance(obstacle.geometry, Box) for obstacle in done.scene.obstacles):
        raise BunrakuError("a climb over a mesh\n  advice: climb in MuJoCo along segments, on flat faces")
    holds = 1.3 * float(done.moving.adhesion.max()) if adhesion is None else adhesion
    return _Performance(mujoco, done, gecko, holds, friction, options).run(None if seed is None else np.random.default_rng(seed))


class _Performance:
    """A climb in progress."""

    def __init__(
        self, mujoco: Any, done: Climb, gecko: Gecko, adhesion: float, friction: float, options: HoldOptions
    ) -> None:  # fmt: skip
        self.mujoco, self.done, self.gecko, self.adhesion, self.options = mujoco, done, gecko, adhesion, options
        figure, Q = gecko.figure, np.asarray(done.motion.q)
        self.weight, self.leg = 9.81 * figure.mass, gecko.measures["leg"]
        swing = done.feet.quarter - done.feet.pause
        quick = PaceOptions().swing * np.sqrt(self.leg / 9.81) / swing
        self.options = options = options.at_pace(swing / 0.25, quick)
        self.motors = [*gecko.active.tolist(), *gecko.tail.tolist()]
        self.model = mujoco.MjModel.from_xml_string(self._xml(done.scene, friction))
        self.data = mujoco.MjData(self.model)
        dt = float(done.motion.t[1])
        self.substeps = max(round(dt / options.timestep), 1)
        self.model.opt.timestep = dt / self.substeps
        T = len(Q)
        feet = done.feet.part(slice(0, T))
        needed = needed_forces(gecko, Q, dt)
        least = np.asarray(done.moving.adhesion)
        aimed = np.minimum(np.maximum(options.spare * least, 0.6 * adhesion), 0.95 * adhesion)
        forces = foot_forces(needed, feet, friction=friction, adhesion=aimed, ramp=options.ramp)
        torque = torques(gecko, needed, feet.p, forces)
        kp = options.stiffness * self.weight * self.leg
        v = np.gradient(Q[:, self.motors], dt, axis=0)
        self.ctrl = Q[:, self.motors] + options.damping * v + torque / kp
        self.sticks = (~feet.aloft).astype(float)
        self.frames = needed.frames
        self.legs = _leg_moves(gecko, Q)
        index = figure.frame_index
        self.trunk = self.frames[:, [index[name] for name in gecko.trunk]][..., :3, 3]

    def _xml(self, scene: Scene, friction: float) -> str:
        figure, gecko, options = self.gecko.figure, self.gecko, self.options
        root = ElementTree.fromstring(mjcf_file.dumps(figure))
        for name in ("actuator", "contact", "keyframe", "equality", "tendon"):
            for section in root.findall(name):
                root.remove(section)
        option = root.find("option")
        assert option is not None
        option.set("cone", "elliptic")
        option.set("integrator", "implicitfast")
        option.set("impratio", f"{options.friction_ratio}")
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
                    k = options.ankle * self.weight * self.leg
                    ball = Element(
                        "joint", name=f"{foot}_ball", type="ball", damping=f"{0.2 * options.damping * k}", armature="1e-7"
                    )
                    first.insert(0, ball)
        contact: Any = {
            "friction": f"{friction} 0.005 0.0001",
            "solref": f"{options.contact_time} 1",
            "solimp": options.solimp,
            "condim": "3",
        }
        gap = f"{options.gap * self.leg}"
        for shape in figure.shapes:
            if shape.collides:
                body: Element = bodies[shape.frame]
                near: Any = {}
                if shape.frame in gecko.roles.feet:
                    sticky = min((s for s in figure.shapes if s.frame == shape.frame), key=_from_ankle)
                    near = {"gap": gap} if shape is sticky else {}
                    body = body if shape is sticky else SubElement(body, "body")
                SubElement(body, "geom", contype="2", conaffinity="1", **_geom(shape), **contact, **near)
        for obstacle in scene.obstacles:
            assert isinstance(obstacle.geometry, Box)
            size = _text(np.asarray(obstacle.geometry.size) / 2.0)
            at: Any = {"pos": _text(obstacle.position), "quat": _text(obstacle.rotation)}
            SubElement(world, "geom", type="box", size=size, contype="1", conaffinity="2", **at, **contact)
        actuator = SubElement(root, "actuator")
        kp = options.stiffness * self.weight * self.leg
        for k in self.motors:
            variable = figure.variables[k]
            limit: Any = {"forcerange": f"{-variable.effort} {variable.effort}"} if np.isfinite(variable.effort) else {}
            SubElement(actuator, "position", joint=variable.name, kp=f"{kp}", kv=f"{options.damping * kp}", **limit)
        for foot in gecko.roles.feet:
            SubElement(actuator, "adhesion", body=foot, ctrlrange="0 1", gain=f"{self.adhesion * self.weight}")
        return ElementTree.tostring(root, encoding="unicode")

    def run(self, rng: np.random.Generator | None) -> PerformedClimb:
        """Performs the climb, with noise from `rng`, until the end or until it has fallen."""
        mujoco, model, data, options, gecko = self.mujoco, self.model, self.data, self.options, self.gecko
        figure, done = gecko.figure, self.done
        self._place()
        n, T = len(self.motors), len(self.ctrl)
        body = int(model.jnt_bodyid[model.joint("root").id])
        points = [model.body(name).id for name in gecko.trunk]
        joints = [model.joint(f"{foot}_ball") for foot in gecko.roles.feet]
        dofs = np.array([int(joint.dofadr[0]) for joint in joints])[:, None] + np.arange(3)
        places = np.array([int(joint.qposadr[0]) for joint in joints])[:, None] + np.arange(4)
        turns = so3.quaternion(self._ankle_turns(figure))
        k_ankle, push = options.ankle * self.weight * self.leg, np.zeros(3)
        dt = model.opt.timestep * self.substeps
        keep = np.exp(-dt / options.push_time)
        errors, learn, seen_at = [], min(dt / options.settle, 1.0), []
        feet = [model.body(name).id for name in gecko.roles.feet]
        off = np.zeros((len(feet), 3))  # where the feet stand, relative to the plan
        press = np.full(len(feet), options.press * self.leg)
        t = waited = 0
        while t < T:
            seen, normal = np.array(data.xpos[feet]) - done.feet.p[t], done.feet.R[t, :, :, 2]
            if rng is not None:
                seen += options.pose_noise * self.leg * rng.standard_normal(seen.shape)
            seen -= (np.einsum("fi,fi->f", seen, normal) + press)[:, None] * normal
            off += learn * (self.sticks[t][:, None] * seen - off)
            data.ctrl[:n], data.ctrl[n:] = self.ctrl[t] + np.einsum("fmi,fi->m", self.legs[t], off), self.sticks[t]
            if rng is not None:
                data.ctrl[:n] += options.encoder_noise * rng.standard_normal(n)
                push = keep * push + np.sqrt(1.0 - keep**2) * options.push * self.weight * rng.standard_normal(3)
                data.xfrc_applied[body, :3] = push
            for _ in range(self.substeps):
                data.qfrc_applied[dofs] = k_ankle * _turn_to(data.qpos[places], turns[t])
                mujoco.mj_step(model, data)
            here = np.array(data.xpos[points])
            errors.append(float(np.linalg.norm(here - self.trunk[t], axis=1).max()) if np.isfinite(here).all() else np.inf)
            seen_at.append(here[0])
            if not errors[-1] < options.fallen * self.leg:
                return PerformedClimb(True, dt * len(errors), np.array(errors), np.array(seen_at), dt, self.adhesion)
            lost = (self.sticks[t] > 0.0) & ~self._touches(feet)
            press = np.where(lost, press + options.probe * self.leg * dt, options.press * self.leg)
            waits = bool(lost.any()) and bool(self.sticks[t].all()) and waited < options.patience / dt
            t, waited = (t, waited + 1) if waits else (t + 1, 0)
        return PerformedClimb(False, dt * len(errors), np.array(errors), np.array(seen_at), dt, self.adhesion)

    def _touches(self, feet: list[int]) -> NDArray[np.bool_]:
        """Which of the `feet` touch something, or are so near that adhesion pulls them."""
        pairs = self.data.contact.geom[: self.data.ncon]
        return np.isin(feet, self.model.geom_bodyid[pairs])

    def _ankle_turns(self, figure: Any) -> Array:
        """Rotations of the feet against the links above, at zero of which the ball joint is (T, feet, 3, 3)."""
        index, gecko = figure.frame_index, self.gecko
        above = [index[name] for name in gecko.holders]
        R = self.frames[:, above][..., :3, :3]
        return np.asarray(np.swapaxes(R, 2, 3) @ self.done.feet.R[: len(R)])

    def _place(self) -> None:
        model, data, figure = self.model, self.data, self.gecko.figure
        self.mujoco.mj_resetData(model, data)
        q = np.asarray(self.done.motion.q[0])
        root = next(joint for joint in figure.groups if joint.kind == "free")
        X = frames_along(figure, q[None])[0, figure.frame_index[root.frames[-1]]]
        at = int(model.joint("root").qposadr[0])
        data.qpos[at : at + 3], data.qpos[at + 3 : at + 7] = X[:3, 3], so3.quaternion(X[:3, :3])
        for k in self.motors:
            data.qpos[int(model.joint(figure.names[k]).qposadr[0])] = q[k]
        turns = self._ankle_turns(figure)[0]
        for foot, R in zip(self.gecko.roles.feet, turns, strict=True):
            at = int(model.joint(f"{foot}_ball").qposadr[0])
            data.qpos[at : at + 4] = so3.quaternion(R)
        self.mujoco.mj_forward(model, data)


def _leg_moves(gecko: Gecko, Q: Array) -> Array:
    """How the motors of each leg move to shift its foot (T, feet, motors, 3) [rad/m], all other motors at rest."""
    n, m = len(gecko.roles.feet), len(gecko.active)
    X, J = np.empty((len(Q), len(gecko.body.carrier), 3)), np.empty((len(Q), 3 * len(gecko.body.carrier), m + 6))
    points_along(gecko.body, np.require(Q, float, ["C", "W"]), X, J)
    rows = J[:, : 3 * n, 6:].reshape(len(Q), n, 3, m)
    moves = np.abs(rows).max((0, 2)) > 0.0
    rows = rows * (moves & (moves.sum(0) == 1))[None, :, None]
    out = np.zeros((len(Q), n, m + len(gecko.tail), 3))
    across = np.swapaxes(rows, 2, 3)
    out[:, :, :m] = across @ np.linalg.inv(rows @ across + 1e-6 * gecko.measures["leg"] ** 2 * np.eye(3))
    return out


def _turn_to(a: Array, b: Array) -> Array:
    """Small rotation vectors (n, 3) from quaternions a to b (n, 4), in the axes of a."""
    (w, u), (z, v) = (a[:, :1], a[:, 1:]), (b[:, :1], b[:, 1:])
    vector, scalar = w * v - z * u - np.cross(u, v), w * z + (u * v).sum(1, keepdims=True)
    return np.asarray(2.0 * np.where(scalar < 0.0, -vector, vector))


def _from_ankle(shape: Shape) -> float:
    return float(np.linalg.norm(shape.position))


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
