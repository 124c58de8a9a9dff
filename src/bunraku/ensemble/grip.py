"""Grip: whether an agent keeps off itself and off what it holds, apart from any scene; how it bends an arm is chosen by that."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import Agent, Team
from bunraku.ensemble.whole_team import Whole
from bunraku.scene import Scene

Array = NDArray[np.float64]
STRIDE = 4  # samples from one look to the next
OFF = 1e-3  # [m]


@functools.lru_cache(maxsize=16)
def _alone(agent: Agent, team: Team) -> Whole:
    """One agent and the object, and nothing else."""
    return Whole(Team((agent,), team.carried), Scene("nowhere", floor=None))


@dataclass(frozen=True, eq=False)
class Grip:
    """One agent and the object along its way."""

    whole: Whole
    held: Array
    """Of the object (T, 6)."""

    @classmethod
    def of(cls, team: Team, agent: Agent, held: Array) -> Grip:
        return cls(_alone(agent, team), held)

    def clear(self, Q: Array) -> float:
        """How deep the agent, as Q (T, n) has it, is at worst in itself or in what it holds [m], negative; zero where free."""
        every = np.unique(np.append(np.arange(0, len(Q), STRIDE), len(Q) - 1))
        near = self.whole.near(np.hstack([Q[every], self.held[every]]), 0.0, OFF)
        return min(float(near.value.min(initial=OFF)) - OFF, 0.0)
