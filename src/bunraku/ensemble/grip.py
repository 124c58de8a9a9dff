"""Grip: whether an agent collides with itself or with the object that it holds, without any scene. Used to choose arm solutions."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import Agent, Team
from bunraku.ensemble.whole_team import WholeTeam
from bunraku.scene import Scene

Array = NDArray[np.float64]


@functools.lru_cache(maxsize=16)
def _alone(agent: Agent, team: Team) -> WholeTeam:
    """One agent and the object, without the others."""
    return WholeTeam(Team((agent,), team.carried), Scene("nowhere", floor=None))


@dataclass(frozen=True, eq=False)
class Grip:
    """One agent and the object along its motion."""

    whole: WholeTeam
    held: Array
    """Poses of the object (T, 6)."""
    stride: int = 4
    """Every n-th sample is checked."""
    gap: float = 1e-3
    """Smallest distance of the agent from itself and from the object [m]."""

    @classmethod
    def of(cls, team: Team, agent: Agent, held: Array, *, stride: int = 4) -> Grip:
        """The grip of one `agent` of a `team` whose object is at `held` (T, 6) (x, y, z [m], yaw, pitch, roll [rad]).

        Every `stride`-th sample is checked.
        """
        return cls(_alone(agent, team), held, stride)

    def clear(self, Q: Array) -> float:
        """Minus the deepest penetration of the agent into itself or the object in configurations `Q` (T, n) [m]; 0 if free."""
        every = np.unique(np.append(np.arange(0, len(Q), self.stride), len(Q) - 1))
        near = self.whole.near(np.hstack([Q[every], self.held[every]]), 0.0, self.gap)
        return min(float(near.value.min(initial=self.gap)) - self.gap, 0.0)
