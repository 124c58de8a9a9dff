"""Grip: whether an agent keeps off itself and off what it holds, apart from any scene. The bend of an arm is chosen by that."""

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
    """One agent and the object, and nothing else."""
    return WholeTeam(Team((agent,), team.carried), Scene("nowhere", floor=None))


@dataclass(frozen=True, eq=False)
class Grip:
    """One agent and the object along its path."""

    whole: WholeTeam
    held: Array
    """Of the object (T, 6)."""
    stride: int = 4
    """Every so many samples are looked at."""
    gap: float = 1e-3
    """The distance that the agent keeps from itself and from the object [m]."""

    @classmethod
    def of(cls, team: Team, agent: Agent, held: Array) -> Grip:
        """That of one `agent` of a `team`, whose object is at `held` (T, 6) (x, y, z [m], yaw, pitch, roll [rad])."""
        return cls(_alone(agent, team), held)

    def clear(self, Q: Array) -> float:
        """How deep the agent in configurations `Q` (T, n) is at worst in itself or in what it holds: negative [m]; 0 where free."""
        every = np.unique(np.append(np.arange(0, len(Q), self.stride), len(Q) - 1))
        near = self.whole.near(np.hstack([Q[every], self.held[every]]), 0.0, self.gap)
        return min(float(near.value.min(initial=self.gap)) - self.gap, 0.0)
