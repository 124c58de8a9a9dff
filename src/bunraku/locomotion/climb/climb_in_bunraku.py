"""A climb performed in bunraku's own simulation: bodies that touch, rub and stick, driven by the controller of `climb_controller`.

Servos are springs and dampers of the variables, whose inputs move their rest. The ball of a standing foot, below its ankle, sticks
to the one slab that it is nearest to; it does so only where it touches, and not while the foot swings. Everything else of the
climber can touch the surface, too, but does not stick.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_rules import Matter, Touch, TouchPair
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.figure.figure import Figure
from bunraku.figure.force import Effort, Push
from bunraku.figure.frame import AXES, Frame, Point
from bunraku.figure.shape import Box, Shape
from bunraku.kinematics import frames_along
from bunraku.locomotion.climb.climb import Climb
from bunraku.locomotion.climb.climb_controller import ClimbCommand, ClimbController, HoldOptions, PerformedClimb, sticky_shape
from bunraku.motion import Motion
from bunraku.motion.orientation import zyx_along
from bunraku.scene import Scene
from bunraku.spatial import so3

Array = NDArray[np.float64]


def perform_in_bunraku(
    done: Climb, *, adhesion: float | None = None, friction: float = 1.0, seed: int | None = None, substeps: int = 1,
    options: HoldOptions = HoldOptions(),
) -> PerformedClimb:  # fmt: skip
    """Performs a climb in bunraku's simulation, with touch and adhesion.

    done: the climb
    adhesion: of each foot [weights]; by default 1.3 times what the motion needs
    friction: coefficient of friction of the whole climber
    seed: of the noise of encoders, places and pushes; None for no noise
    substeps: steps of the simulation for each sample of the motion
    options: servos and noise

    Returns what became of it, with the motion and the pull of each foot. Raises BunrakuError as `ClimbController` does.
    """
    controller = ClimbController(done, adhesion=adhesion, friction=friction, options=options, seed=seed)
    return _Performance(controller, done, friction, substeps).run()


class _Performance:
    """A climb in progress."""

    def __init__(self, controller: ClimbController, done: Climb, friction: float, substeps: int) -> None:
        self.controller, gecko = controller, controller.gecko
        self.substeps, self.slabs = substeps, _Slabs(done.scene)
        middle = _mean_rotations(controller.turns)
        turns = np.swapaxes(middle, 1, 2) @ controller.turns
        self.angles = np.concatenate([zyx_along(turns[:, k], np.zeros(3)) for k in range(len(middle))], 1)
        self.figure = _driven(controller, middle)
        q = np.array(done.motion.q[0])
        q[np.ravel(gecko.ankles)] = self.angles[0]
        self.balls = [sticky_shape(gecko.figure, foot) for foot in gecko.roles.feet]
        touch = Touch(tuple(TouchPair(gecko.figure.name, slab) for slab in self.slabs.names), Matter(friction=friction))
        self.simulation = TouchSimulation(self.figure, q, scene=done.scene, touch=touch, dt=controller.dt / substeps)
        names = self.simulation.bodies.names
        self.sticky = np.array([names.index(_full_name(ball)) for ball in self.balls])
        index = self.figure.frame_index
        self.feet, self.trunk = ([index[name] for name in names] for names in (gecko.roles.feet, gecko.trunk))
        self.stuck: list[str | None] = [None] * len(self.feet)

    def run(self) -> PerformedClimb:
        """Performs the climb until the end, or until it has fallen."""
        controller, simulation = self.controller, self.simulation
        Q, pulls, v = [simulation.q], [], np.zeros(self.figure.n_q)
        X = frames_along(self.figure, Q[-1][None])[0]
        while not controller.ended:
            command = controller.command(X[self.feet][:, :3, 3])
            self._stick(command.sticks, X)
            u = self._inputs(command, Q[-1], v)
            steps = simulation.run(np.zeros((self.substeps, 0)), np.tile(u, (self.substeps, 1)), energy=False)
            v = (steps.q[-1] - Q[-1]) / controller.dt
            Q.append(steps.q[-1])
            X = frames_along(self.figure, Q[-1][None])[0]
            touching = (simulation.log.bodies[:, :, None] == self.sticky).any(1)  # (contacts, feet)
            pulls.append(-simulation.log.normal @ touching / (controller.dt * controller.weight))
            controller.look(X[self.trunk][:, :3, 3], touching[simulation.log.step == self.substeps - 1].any(0))
        motion = Motion.of(self.figure, controller.dt * np.arange(len(Q)), Q)
        return controller.performed(motion, np.array(pulls))

    def _inputs(self, command: ClimbCommand, q: Array, v: Array) -> Array:
        """Inputs that pull motors and ankles to where they should be, motors within their efforts; and the push."""
        controller, figure = self.controller, self.figure
        motors, kp = controller.motors, controller.kp
        effort = np.array([figure.variables[k].effort for k in motors])
        held = kp * q[motors] + controller.options.damping * kp * v[motors]
        pulled = np.clip(kp * command.targets, held - effort, held + effort)
        return np.concatenate([pulled, controller.k_ankle * self.angles[command.sample], command.push])

    def _stick(self, sticks: NDArray[np.bool_], X: Array) -> None:
        """Lets the ball of every standing foot stick to the slab that it is nearest to, and others to nothing."""
        force = self.controller.adhesion * self.controller.weight
        for k, ball in enumerate(self.balls):
            name, at = _full_name(ball), X[self.feet[k]] @ [*ball.position, 1.0]
            slab = self.slabs.nearest(at[:3]) if sticks[k] else None
            if slab != self.stuck[k]:
                if (before := self.stuck[k]) is not None:
                    self.simulation.stick(name, before, 0.0)
                if slab is not None:
                    self.simulation.stick(name, slab, force)
                self.stuck[k] = slab


class _Slabs:
    """The boxes of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.names = [slab.name for slab in scene.obstacles]
        self.R = so3.matrix([slab.rotation for slab in scene.obstacles])
        self.p = np.array([slab.position for slab in scene.obstacles])
        self.half = np.array([slab.geometry.size for slab in scene.obstacles if isinstance(slab.geometry, Box)]) / 2.0

    def nearest(self, x: Array) -> str:
        """The name of the box that is nearest to a point."""
        local = np.einsum("bji,bj->bi", self.R, x - self.p)
        away = np.maximum(np.abs(local) - self.half, 0.0)
        return self.names[int((away * away).sum(1).argmin())]


def _driven(controller: ClimbController, middle: Array) -> Figure:
    """The figure with servos on its motors and springs on its ankles, whose angles are zero in the `middle` (feet, 3, 3), so that
    they stay away from 90°, where the three angles of a ball joint are singular."""
    gecko, options = controller.gecko, controller.options
    figure = gecko.figure
    stiff = {figure.names[k]: (controller.kp, options.damping) for k in controller.motors}
    ankles = [figure.names[k] for ankle in gecko.ankles for k in ankle]
    stiff |= dict.fromkeys(ankles, (controller.k_ankle, options.ankle_damping))
    first = {figure.names[ankle[0]]: so3.quaternion(R) for ankle, R in zip(gecko.ankles, middle, strict=True)}

    def driven(frame: Frame) -> Frame:
        variable = frame.variable
        if variable is None or variable.name not in stiff:
            return frame
        k, damping = stiff[variable.name]
        limits: Any = {"lower": -np.inf, "upper": np.inf} if variable.name in ankles else {}
        servo = replace(variable, stiffness=k, damping=damping * k, rest=0.0, **limits)
        return replace(frame, variable=servo, rotation=tuple(first.get(variable.name, frame.rotation)))

    root = next(joint for joint in figure.groups if joint.kind == "free")
    body = next(body for body in figure.bodies if body.frame == root.frames[-1])
    pushes = (Push(f"push_{axis}", Point(body.frame, body.com), AXES[axis]) for axis in "xyz")
    return figure.replace(
        frames=tuple(map(driven, figure.frames)), groups=(root,), contacts=(),
        forces=(*(Effort(f"{name}_servo", name) for name in stiff), *pushes),
    )  # fmt: skip


def _mean_rotations(R: Array) -> Array:
    """The rotations (n, 3, 3) nearest to the means of R (T, n, 3, 3)."""
    U, _, V = np.linalg.svd(R.mean(0))
    U[..., 2] *= np.linalg.det(U @ V)[:, None]
    return np.asarray(U @ V)


def _full_name(shape: Shape) -> str:
    """How rules of touch call a `shape` of which every foot has one."""
    return f"{shape.frame}.{shape.name}"
