"""The rechecker's measurements of speed, acceleration and slip, in the world, from samples alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import OBJECT, Agent, Team
from bunraku.ensemble.world_limits import JointLimits, is_joint
from bunraku.figure import Capsule, Cylinder, Figure, Sphere
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion
from bunraku.planning.ways.steer import Differential
from bunraku.spatial import se3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WorldSpeeds:
    """What an errand allows; the rechecker tests all of it."""

    speed: float
    """Of bases, object and hands [m/s]."""
    acceleration: float
    """Of bases, object and hands [m/s²], and of turns [rad/s²]."""
    turning: float
    """Of bases and object [rad/s]."""


@dataclass(frozen=True)
class SpeedOptions:
    """Tolerances of speeds."""

    rounding: float = 0.01
    """Speeds and accelerations may exceed their limits by this share, because they are differences of samples."""
    slip: float = 0.005
    """Largest sideways speed of a base with differential drive, and of a wheel's contact against its rolling [m/s]."""
    joints: JointLimits = JointLimits()


def too_fast(
    team: Team, motion: Motion, allowed: WorldSpeeds | None, *, options: SpeedOptions = SpeedOptions()
) -> Iterator[tuple[int, str, float]]:  # fmt: skip
    """Whatever of a `team` is too fast in a `motion`: sample, description, amount [m, rad and s].

    allowed: limits of bases, object and hands; None leaves these out
    options: tolerances, and limits of joints
    """
    more, joints = 1.0 + options.rounding, options.joints
    if allowed is not None:
        for name, points in _points(team, motion):
            yield from _over(motion.t, name, points, allowed.speed * more, allowed.acceleration * more, "m")
        for name, angle in _turns(team, motion):
            yield from _over(motion.t, f"{name}, turning,", angle, allowed.turning * more, allowed.acceleration * more, "rad")
    for agent in team.agents:
        q = motion.track(agent.name).q
        for k, variable in enumerate(agent.figure.variables):
            if is_joint(variable.name, agent.base):
                fastest = min(variable.speed, joints.speed) * more
                yield from _over(
                    motion.t, f"{agent.name}'s {variable.name}", q[:, [k]], fastest, joints.acceleration * more,
                    "m" if variable.motion == "translate" else "rad",
                )  # fmt: skip


def slips(team: Team, motion: Motion) -> Array:
    """The largest sideways speed of bases of a `team` with differential drive, between samples of a `motion` (T − 1,) [m/s]."""
    out = np.zeros(max(len(motion) - 1, 1))
    for agent in team.agents:
        if issubclass(agent.moves, Differential):
            x, y, turn = _base(agent, motion).T
            middle = 0.5 * (turn[1:] + turn[:-1])
            aside = np.cos(middle) * np.diff(y) - np.sin(middle) * np.diff(x)
            out = np.maximum(out, np.abs(aside) / np.diff(motion.t))
    return out


def wheel_slips(team: Team, motion: Motion) -> Array:
    """The largest difference between the speed of a wheel's hub and that of its rim, in the direction in which the wheel rolls.

    Between samples of a `motion` of a `team` (T − 1,) [m/s]. Wheels are joints with "wheel" in their names; those of an
    agent that moves in any direction have rollers at 45°, on which they move freely.
    """
    out, dt = np.zeros(max(len(motion) - 1, 1)), np.diff(motion.t)
    for agent in team.agents:
        figure, q = agent.figure, motion.track(agent.name).q
        wheels = [frame for frame in figure.frames if frame.variable is not None and "wheel" in frame.variable.name]
        if not wheels:
            continue
        X = frames_along(figure, q)
        own = X[:, figure.frame_index[agent.base[2]]]
        for frame in wheels:
            assert frame.variable is not None
            hub, before = X[:, figure.frame_index[frame.name]], X[:, figure.frame_index[frame.parent]]
            v = np.diff(hub[:, :3, 3], axis=0) / dt[:, None]
            axle = before[:, :3, :3] @ se3.pose(rotation=frame.rotation)[:3, :3] @ np.array(frame.variable.axis, float)
            axle = axle[1:] + axle[:-1]
            along = np.cross(axle, [0.0, 0.0, 1.0])
            along /= np.linalg.norm(along, axis=1, keepdims=True)
            across = np.cross([0.0, 0.0, 1.0], along)
            x, y, _ = np.einsum("tji,tj->ti", own[:, :3, :3], hub[:, :3, 3] - own[:, :3, 3])[0]
            rim = np.diff(q[:, figure.index(frame.variable.name)]) / dt * wheel_radius(figure, frame.name, float(hub[0, 2, 3]))
            free = np.sign(x * y) * (across * v).sum(1) if agent.has_rollers else 0.0
            out = np.maximum(out, np.abs((along * v).sum(1) - free - rim))
    return out


def wheel_radius(figure: Figure, frame: str, height: float) -> float:
    """Radius of the largest round shape of a `figure` on the `frame` of a wheel; without one, the `height` of its hub [m]."""
    round_ = [s.geometry.radius for s in figure.shapes if s.frame == frame and isinstance(s.geometry, Cylinder | Capsule | Sphere)]
    return max(round_, default=abs(height) or 1.0)


def _base(agent: Agent, motion: Motion) -> Array:
    q = motion.track(agent.name).q[:, agent.figure.indices(agent.base[:3])].copy()
    q[:, 2] = np.unwrap(q[:, 2])
    return np.asarray(q)


def _points(team: Team, motion: Motion) -> Iterator[tuple[str, Array]]:
    """Positions (T, 2 or 3) of bases, object and hands, by name."""
    yield f"the {OBJECT}", motion.track(OBJECT).q[:, :3]
    for agent in team.agents:
        yield agent.name, _base(agent, motion)[:, :2]
        X = frames_along(agent.figure, motion.track(agent.name).q)
        for hold in agent.holds:
            yield f"{agent.name}'s {hold.tool}", X[:, agent.figure.frame_index[hold.tool], :3, 3]


def _turns(team: Team, motion: Motion) -> Iterator[tuple[str, Array]]:
    """Angles (T, 1) of bases and object, by name."""
    held = np.unwrap(motion.track(OBJECT).q[:, 3:], axis=0)
    yield from ((f"the {OBJECT}'s {word}", held[:, [k]]) for k, word in enumerate(("yaw", "pitch", "roll")))
    yield from ((agent.name, _base(agent, motion)[:, [2]]) for agent in team.agents)


def _over(t: Array, name: str, values: Array, speed: float, acceleration: float, unit: str) -> Iterator[tuple[int, str, float]]:
    """At most one objection to the speed and one to the acceleration of `values` (T, k)."""
    if len(t) < 2:
        return
    dt, still = np.diff(t), np.zeros((1, values.shape[1]))
    v = np.diff(values, axis=0) / dt[:, None]
    steps = np.concatenate([dt[:1], 0.5 * (dt[1:] + dt[:-1]), dt[-1:]])
    a = np.diff(np.concatenate([still, v, still]), axis=0) / steps[:, None]
    for sizes, most, text in ((v, speed, f"{unit}/s"), (a, acceleration, f"{unit}/s²")):
        size = np.linalg.norm(sizes, axis=1)
        bad = np.flatnonzero(~(size <= most))
        if len(bad):
            worst = float(size.max())
            yield int(min(bad[0], len(t) - 1)), f"{name} moves with {worst:.3g} {text}, where {most:.3g} are allowed", worst
