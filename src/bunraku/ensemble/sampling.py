"""Samples of a team in coordinates relative to the object: reach holds by construction, or nearly.

The object is placed first, at a height that all arms share. The height of each shoulder over its wrist is then known, so its
shell says how far away the agent may stand; from there, it turns to where it holds. Only the agent that a second shell
refuses is placed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.spatial import so3

if TYPE_CHECKING:
    from bunraku.ensemble.team import Agent, Team

Array = NDArray[np.float64]
ROUNDS = 8  # an agent is placed again, at most
SQUARE = 0.45  # [rad] off squarely that two hands may be held


class TeamSampler:
    """rng, count ↦ configurations of the team."""

    def __init__(self, team: Team, area: tuple[tuple[float, float], tuple[float, float]]) -> None:
        self.team = team
        low, high = team.heights
        tilt = team.carried.tilt
        self.lower = np.array([area[0][0], area[1][0], low, -np.pi, -tilt, -tilt])
        self.upper = np.array([area[0][1], area[1][1], high, np.pi, tilt, tilt])

    def __call__(self, rng: np.random.Generator, count: int) -> Array:
        held = rng.uniform(self.lower, self.upper, (count, 6))
        R = so3.about(2, held[:, 3]) @ so3.about(1, held[:, 4]) @ so3.about(0, held[:, 5])
        wrists = [held[:, None, :3] + np.einsum("nij,kj->nki", R, agent.wrists()) for agent in self.team.agents]
        raised = _shared_height(self.team, wrists, held[:, 2], rng)
        held[:, 2] += raised
        for own in wrists:
            own[..., 2] += raised[:, None]
        bases = {agent.name: _placed(agent, own, rng) for agent, own in zip(self.team.agents, wrists, strict=True)}
        return self.team.configuration(bases, held)


def _shared_height(team: Team, wrists: list[Array], z: Array, rng: np.random.Generator) -> Array:
    """How much to raise each object so that every wrist is at a height that its shoulder reaches, where there is one."""
    low, high = team.heights[0] - z, team.heights[1] - z
    for agent, own in zip(team.agents, wrists, strict=True):
        for k, reach in enumerate(agent.shells):
            low = np.maximum(low, reach.shoulder[2] - reach.most - own[:, k, 2])
            high = np.minimum(high, reach.shoulder[2] + reach.most - own[:, k, 2])
    return np.asarray(rng.uniform(np.minimum(low, high), high))


def _placed(agent: Agent, wrists: Array, rng: np.random.Generator) -> Array:
    """(x, y, heading) from which the agent reaches its holds; where no round found one, the last try."""
    out = _bases(agent, wrists, rng)
    for _ in range(ROUNDS):
        again = ~_reaches(agent, out, wrists)
        if not again.any():
            break
        out[again] = _bases(agent, wrists[again], rng)
    return out


def _reaches(agent: Agent, bases: Array, wrists: Array) -> NDArray[np.bool_]:
    """Whether every wrist is within its shell, and ahead."""
    ok = np.ones(len(bases), np.bool_)
    c, s = np.cos(bases[:, 2]), np.sin(bases[:, 2])
    for k, reach in enumerate(agent.shells):
        for centre, least, most in ((reach.shoulder, reach.least, reach.most), (*reach.ahead(agent.facing),)):
            x = bases[:, 0] + c * centre[0] - s * centre[1] - wrists[:, k, 0]
            y = bases[:, 1] + s * centre[0] + c * centre[1] - wrists[:, k, 1]
            d = np.sqrt(x * x + y * y + (centre[2] - wrists[:, k, 2]) ** 2)
            ok &= (d >= least) & (d <= most)
    return ok


def _bases(agent: Agent, wrists: Array, rng: np.random.Generator) -> Array:
    """Tries: all arms as one, the middle of the shoulders and the middle of the wrists."""
    n = len(wrists)
    shoulders = np.array([reach.shoulder for reach in agent.shells])
    middle, wrist = shoulders.mean(0), wrists.mean(1)
    drop = wrist[:, 2] - middle[2]
    most, least = min(reach.most for reach in agent.shells), max(reach.least for reach in agent.shells)
    far = np.sqrt(np.maximum(most**2 - drop**2, 1e-6))
    near = np.minimum(np.sqrt(np.maximum(least**2 - drop**2, 0.0)), far)
    rho = np.sqrt(rng.uniform(near**2, far**2))
    bearing, turn = rng.uniform(-np.pi, np.pi, n), rng.uniform(-agent.facing, agent.facing, n)
    if len(shoulders) > 1:  # two hands: their line is faced squarely
        line, own = wrists[:, 0] - wrists[:, 1], shoulders[0] - shoulders[1]
        square = np.arctan2(line[:, 1], line[:, 0]) - np.arctan2(own[1], own[0])
        bearing, turn = square + np.pi + rng.uniform(-SQUARE, SQUARE, n), rng.uniform(-SQUARE, SQUARE, n)
    heading = bearing + np.pi + turn  # stands at `bearing` from the wrist, and faces back
    c, s = np.cos(heading), np.sin(heading)
    x = wrist[:, 0] + rho * np.cos(bearing) - (c * middle[0] - s * middle[1])
    y = wrist[:, 1] + rho * np.sin(bearing) - (s * middle[0] + c * middle[1])
    return np.stack([x, y, np.remainder(heading + np.pi, 2.0 * np.pi) - np.pi], 1)
