"""Samples of a team in coordinates relative to the object: reach holds by construction, or nearly.

The object is placed first, at a height that all arms share. The height of each shoulder over its wrist is then known, so its
shell says how far away the agent may stand; from there, it turns to where it holds. An agent that a second shell refuses is
placed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.kernels import stand
from bunraku.spatial import so3

if TYPE_CHECKING:
    from bunraku.ensemble.team import Agent, Team

Array = NDArray[np.float64]
TRIES = 24  # of placing an agent


class TeamSampler:
    """rng, count ↦ configurations of the team."""

    def __init__(self, team: Team, area: tuple[tuple[float, float], tuple[float, float]]) -> None:
        self.team = team
        low, high = team.heights
        high -= 0.0 if team.terrain is None else team.terrain.span[1] - team.terrain.span[0]
        tilt = team.carried.tilt
        self.lower = np.array([area[0][0], area[1][0], low, -np.pi, -tilt, -tilt])
        self.upper = np.array([area[0][1], area[1][1], high, np.pi, tilt, tilt])

    def __call__(self, rng: np.random.Generator, count: int) -> Array:
        held = rng.uniform(self.lower, self.upper, (count, 6))
        R = so3.about(2, held[:, 3]) @ so3.about(1, held[:, 4]) @ so3.about(0, held[:, 5])
        points = [np.concatenate([agent.wrists(), agent.behind[None, :3]]) for agent in self.team.agents]
        wrists = [held[:, None, :3] + np.einsum("nij,kj->nki", R, own) for own in points]
        raised = _shared_height(self.team, wrists, held[:, 2], rng)
        held[:, 2] += raised
        for own in wrists:
            own[..., 2] += raised[:, None]
        bases = {agent.name: _placed(agent, own, held[:, 3], rng) for agent, own in zip(self.team.agents, wrists, strict=True)}
        return self.team.configuration(bases, held if self.team.terrain is None else self._lifted(held))

    def _lifted(self, held: Array) -> Array:
        """What was placed over level ground, moved to where the ground is, and tilted with it."""
        terrain = self.team.terrain
        assert terrain is not None
        out, tilt = held.copy(), self.team.carried.tilt
        c, s = np.cos(held[:, 3]), np.sin(held[:, 3])
        for k, way, sign in ((4, np.stack([c, s], 1), -1.0), (5, np.stack([-s, c], 1), 1.0)):
            rise = terrain.heights(held[:, :2] + way) - terrain.heights(held[:, :2] - way)
            out[:, k] = np.clip(held[:, k] + sign * np.arctan(rise / 2.0), -tilt, tilt)
        out[:, 2] += terrain.heights(held[:, :2])
        return out


def _shared_height(team: Team, wrists: list[Array], z: Array, rng: np.random.Generator) -> Array:
    """How much to raise each object so that every wrist is at a height that its shoulder reaches, where there is one."""
    ground = 0.0 if team.terrain is None else team.terrain.span[1] - team.terrain.span[0]
    low, high = team.heights[0] - z, team.heights[1] - ground - z
    for agent, own in zip(team.agents, wrists, strict=True):
        for k, reach in enumerate(agent.shells):
            low = np.maximum(low, reach.shoulder[2] - reach.most - own[:, k, 2])
            high = np.minimum(high, reach.shoulder[2] + reach.most - own[:, k, 2])
        level, within = agent.shells[0].shoulder[2] - own[:, -1, 2], agent.behind[3]
        low, high = np.maximum(low, level - within), np.minimum(high, level + within)
    return np.asarray(rng.uniform(np.minimum(low, high), high))


def _placed(agent: Agent, wrists: Array, yaw: Array, rng: np.random.Generator) -> Array:
    """(x, y, heading) from which the agent reaches its holds, after which comes what it stands behind; or the last try."""
    out = np.empty((len(wrists), 3))
    behind, dice = wrists[:, -1].copy(), rng.random((len(wrists), TRIES, 3))
    bearing, spread = (yaw, np.pi) if agent.outward is None else (yaw + agent.outward, agent.approach)
    stand(agent.spheres, agent.facing, bearing, spread, behind, agent.behind[3], np.ascontiguousarray(wrists[:, :-1]), dice, out)
    return out
