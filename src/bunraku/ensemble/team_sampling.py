"""Random configurations of a team in which arms reach the object by construction, or nearly.

The object is placed first, at a height that all arms can reach. The height of each shoulder over its wrist is then known, so its
shell gives the possible distances of the agent; the agent faces the point that it holds. An agent whose second arm does not reach
is placed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.standing_kernels import stand
from bunraku.spatial import so3

if TYPE_CHECKING:
    from bunraku.ensemble.team import Agent, Team
    from bunraku.ensemble.terrain import Terrain

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TeamSamplerOptions:
    """How agents are placed around the object."""

    tries: int = 24
    """Number of random positions tried for an agent."""
    placings: int = 3
    """On uneven ground, number of iterations for an agent, because its position and its height depend on each other."""


class TeamSampler:
    """A function (random number generator, count) ↦ configurations (count, n_q) of a `team` with its object in an `area` [m].

    They may collide. `options` tune how agents are placed around the object.
    """

    def __init__(
        self,
        team: Team,
        area: tuple[tuple[float, float], tuple[float, float]],
        *,
        options: TeamSamplerOptions = TeamSamplerOptions(),
    ) -> None:
        self.team, self.options = team, options
        low, high = team.heights
        high -= 0.0 if team.terrain is None else team.terrain.span[1] - team.terrain.span[0]
        tilt = team.carried.tilt
        self.lower = np.array([area[0][0], area[1][0], low, -np.pi, -tilt, -tilt])
        self.upper = np.array([area[0][1], area[1][1], high, np.pi, tilt, tilt])

    def __call__(self, rng: np.random.Generator, count: int) -> Array:
        held = rng.uniform(self.lower, self.upper, (count, 6))
        R = _turned(held)
        points = [np.concatenate([agent.wrists(), agent.behind[None, :3]]) for agent in self.team.agents]
        wrists = [held[:, None, :3] + np.einsum("nij,kj->nki", R, own) for own in points]
        raised = _shared_height(self.team, wrists, held[:, 2], rng)
        held[:, 2] += raised
        for own in wrists:
            own[..., 2] += raised[:, None]
        if self.team.terrain is not None:
            held, wrists = self._lifted(self.team.terrain, held, points)
        bases = {agent.name: self._placed(agent, own, held, rng) for agent, own in zip(self.team.agents, wrists, strict=True)}
        return self.team.configuration(bases, held)

    def _placed(self, agent: Agent, wrists: Array, held: Array, rng: np.random.Generator) -> Array:
        """(x, y, heading) from which an agent reaches its grasps; on uneven ground, at the height of the ground there."""
        terrain, dice = self.team.terrain, rng.random((len(wrists), self.options.tries, 3))
        if terrain is None:
            return _stand(agent, wrists, held[:, 3], dice)
        ground = terrain.heights(held[:, :2])
        for _ in range(self.options.placings):
            seen = wrists.copy()
            seen[..., 2] -= ground[:, None]
            out = _stand(agent, seen, held[:, 3], dice)
            ground = terrain.heights(out[:, :2])
        return out

    def _lifted(self, terrain: Terrain, held: Array, points: list[Array]) -> tuple[Array, list[Array]]:
        """The object, placed over level ground, raised to the real ground and tilted with it; and the new positions of `points`."""
        out, tilt = held.copy(), self.team.carried.tilt
        c, s = np.cos(held[:, 3]), np.sin(held[:, 3])
        for k, way, sign in ((4, np.stack([c, s], 1), -1.0), (5, np.stack([-s, c], 1), 1.0)):
            rise = terrain.heights(held[:, :2] + way) - terrain.heights(held[:, :2] - way)
            out[:, k] = np.clip(held[:, k] + sign * np.arctan(rise / 2.0), -tilt, tilt)
        out[:, 2] += terrain.heights(held[:, :2])
        R = _turned(out)
        return out, [out[:, None, :3] + np.einsum("nij,kj->nki", R, own) for own in points]


def _turned(held: Array) -> Array:
    return np.asarray(so3.about(2, held[:, 3]) @ so3.about(1, held[:, 4]) @ so3.about(0, held[:, 5]))


def _shared_height(team: Team, wrists: list[Array], z: Array, rng: np.random.Generator) -> Array:
    """How much to raise each object so that every wrist is at a height that its shoulder reaches, if possible."""
    ground = 0.0 if team.terrain is None else team.terrain.span[1] - team.terrain.span[0]
    low, high = team.heights[0] - z, team.heights[1] - ground - z
    for agent, own in zip(team.agents, wrists, strict=True):
        for k, reach in enumerate(agent.shells):
            low = np.maximum(low, reach.shoulder[2] - reach.most - own[:, k, 2])
            high = np.minimum(high, reach.shoulder[2] + reach.most - own[:, k, 2])
        level, within = agent.shells[0].shoulder[2] - own[:, -1, 2], agent.behind[3]
        low, high = np.maximum(low, level - within), np.minimum(high, level + within)
    return np.asarray(rng.uniform(np.minimum(low, high), high))


def _stand(agent: Agent, wrists: Array, yaw: Array, dice: Array) -> Array:
    """(x, y, heading) from which the agent reaches its grasps, or the last try; the last of `wrists` is what it stands behind."""
    out = np.empty((len(wrists), 3))
    bearing, spread = (yaw, np.pi) if agent.outward is None else (yaw + agent.outward, agent.approach)
    behind, own = np.ascontiguousarray(wrists[:, -1]), np.ascontiguousarray(wrists[:, :-1])
    stand(agent.spheres, agent.facing, bearing, spread, behind, agent.behind[3], own, dice, out)
    return out
