"""Arms that follow an object straight down, until it lies; body and legs stay as they are."""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World
from bunraku.ensemble.free_moves import swivel_of
from bunraku.ensemble.grips import pose_of
from bunraku.ensemble.members import Agent
from bunraku.figure import Figure
from bunraku.scene import Scene

Array = NDArray[np.float64]


def lowered(
    agent: Agent, q: Array, way: Array, *, turns: tuple[float, ...] = (0.0, 0.15, -0.15, 0.3, -0.3, 0.5, -0.5)
) -> Array | None:  # fmt: skip
    """Configurations (T, n) of an `agent` that holds an object on its `way` (T, 6); None if it cannot without touching itself.

    q: the first configuration
    way: poses of the object (x, y, z [m], yaw, pitch, roll [rad])
    turns: angles by which elbows may swivel meanwhile; the smallest that helps is taken [rad]
    """
    X_WO = np.array([pose_of(held) for held in way])
    share = np.linspace(0.0, 1.0, len(way))
    share = share**2 * (3.0 - 2.0 * share)
    every = [turns if agent.arm(hold).swivels else (0.0,) for hold in agent.holds]
    own = _alone(agent.figure)
    for chosen in sorted(itertools.product(*every), key=lambda some: sum(map(abs, some))):
        Q = _following(agent, q, X_WO, np.array(chosen)[:, None] * share)
        if Q is not None and not any(own.collides(Q[k]) for k in np.linspace(len(Q) - 1, 0, 8).astype(int)):
            return Q
    return None


def _following(agent: Agent, q: Array, X_WO: Array, turned: Array) -> Array | None:
    """The same with elbows that have `turned` (arms, T) [rad]."""
    out = np.repeat(q[None], len(X_WO), 0)
    for hold, turn in zip(agent.holds, turned, strict=True):
        arm = agent.arm(hold)
        near = np.repeat(q[None, arm.indices], len(X_WO), 0)
        angles, found = arm.nearest_many(X_WO @ hold.X_OT, q, swivel=swivel_of(arm, q) + turn, near=near)
        if not found.all():
            return None
        out[:, arm.indices] = angles
    return out if np.abs(np.diff(out, axis=0)).max() < 0.1 and np.abs(out[0] - q).max() < 1e-6 else None


@lru_cache(maxsize=8)
def _alone(figure: Figure) -> World:
    return World(figure, Scene("nothing", floor=None))
