"""Limits in the world: how fast bases, the object and hands move, whatever they are relative to in planning.

timed(path, limits=world_limits(team, speed=0.6, acceleration=0.8, turning=0.5))     # a path of the reduced team
unhurried(team, motion, limits)                                                      # a motion of full figures
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import OBJECT, Team
from bunraku.motion import Motion
from bunraku.planning.ways.fastest_profile import profile
from bunraku.planning.ways.path_timing import PathLimits
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JointLimits:
    """How fast joints of agents may move; a joint's own limit of speed, if lower, counts as well."""

    speed: float = 9.0
    """[rad/s]; knees of people who walk briskly reach 7."""
    acceleration: float = 900.0
    """[rad/s²]; knees that are nearly straight bend so fast when a foot is set down in a turn."""


def world_limits(team: Team, *, speed: float, acceleration: float, turning: float) -> PathLimits:
    """Limits for configurations of the reduced `team`, in the world.

    speed: of bases over the floor, of the object and of hands [m/s]
    acceleration: the same [m/s²], and of turns [rad/s²]
    turning: speed of turns of bases and object [rad/s]
    """
    hands = np.array([hold.X_OT[:3, 3] for agent in team.agents for hold in agent.holds])
    sizes = (*(2, 1) * len(team.agents), 3, 1, 1, 1, *(3,) * len(hands))

    def values(Q: Array) -> Array:
        bases, held = team.in_world(Q)
        return _values([bases[agent.name] for agent in team.agents], held, hands)

    fastest = np.array([turning if size == 1 else speed for size in sizes])
    return PathLimits(values, sizes, fastest, np.full(len(sizes), acceleration))


def _values(bases: list[Array], held: Array, hands: Array) -> Array:
    R = so3.about(2, held[:, 3]) @ so3.about(1, held[:, 4]) @ so3.about(0, held[:, 5])
    points = held[:, None, :3] + np.einsum("tij,kj->tki", R, hands)
    return np.hstack([*(base[:, :3] for base in bases), held, points.reshape(len(held), -1)])


def unhurried(team: Team, motion: Motion, limits: PathLimits, joints: JointLimits = JointLimits()) -> Motion:
    """The same configurations at later times, such that the limits hold.

    team: whose motion it is
    motion: of all agents and the object
    limits: those of `world_limits`
    joints: limits of all joints but bases and wheels
    """
    y, limits = _moving(team, motion, limits, joints)
    t = motion.t
    if _excess(t, y, limits) <= 1.0:
        return motion
    h = float(np.diff(t).mean())
    y_s, y_ss = np.gradient(y, h, axis=0, edge_order=2), np.zeros_like(y)
    y_ss[1:-1] = (y[2:] - 2.0 * y[1:-1] + y[:-2]) / (h * h)
    x = np.empty(len(t))
    if profile(y_s, y_ss, limits.first, limits.speed, limits.acceleration, np.ones(len(t)), h, x):
        root = np.sqrt(x)
        root[[0, -1]] = root[[1, -2]]  # all stand at both ends
        t = np.concatenate([[0.0], np.cumsum(2.0 * h / np.maximum(root[1:] + root[:-1], 1e-6))])
    return motion.replace(t=np.sqrt(max(_excess(t, y, limits), 1.0)) * t)


def _moving(team: Team, motion: Motion, limits: PathLimits, joints: JointLimits) -> tuple[Array, PathLimits]:
    """Bases, object, hands and joints at all samples, and their limits."""
    hands = np.array([hold.X_OT[:3, 3] for agent in team.agents for hold in agent.holds])
    bases, angles, fastest = [], [], []
    for agent in team.agents:
        figure, q = agent.figure, motion.track(agent.name).q
        bases.append(q[:, figure.indices(agent.base[:3])])
        own = [k for k, v in enumerate(figure.variables) if is_joint(v.name, agent.base)]
        angles.append(q[:, own])
        fastest += [min(figure.variables[k].speed, joints.speed) for k in own]
    y = np.hstack([_values(bases, motion.track(OBJECT).q, hands), *angles])
    many = len(fastest)
    speed, change = np.append(limits.speed, fastest), np.append(limits.acceleration, np.full(many, joints.acceleration))
    return y, replace(limits, sizes=(*limits.sizes, *(1,) * many), speed=speed, acceleration=change)


def haste(team: Team, motion: Motion, limits: PathLimits, joints: JointLimits = JointLimits()) -> Array:
    """By which factor everybody must be slower for limits of speed and acceleration, at each sample (T,).

    team, motion, limits, joints: as for `unhurried`
    """
    y, limits = _moving(team, motion, limits, joints)
    v, a = _rates(motion.t, y)
    fast, hard = (limits.size(v) / limits.speed).max(1), np.sqrt((limits.size(a) / limits.acceleration).max(1))
    return np.asarray(np.maximum(hard, np.maximum(np.append(fast, fast[-1]), np.append(fast[0], fast))))


def is_joint(name: str, base: tuple[str, ...]) -> bool:
    """Whether a variable of this `name` is a joint, not one of the `base` and not a wheel."""
    return name not in base and "wheel" not in name


def _rates(t: Array, y: Array) -> tuple[Array, Array]:
    """Velocities between samples (T − 1, m), and accelerations at samples (T, m), at rest before and after."""
    dt, still = np.diff(t)[:, None], np.zeros((1, y.shape[1]))
    v = np.diff(y, axis=0) / dt
    steps = np.concatenate([dt[:1], 0.5 * (dt[1:] + dt[:-1]), dt[-1:]])
    return v, np.diff(np.concatenate([still, v, still]), axis=0) / steps


def _excess(t: Array, y: Array, limits: PathLimits) -> float:
    """The factor by which accelerations exceed their limits, or squared speeds theirs."""
    v, a = _rates(t, y)
    return float(max((limits.size(a) / limits.acceleration).max(), (limits.size(v) / limits.speed).max() ** 2))
