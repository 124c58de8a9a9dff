"""Following: curves of a reduced team on which agents that cannot move sideways do not, although others lead.

The leader is steered, the object and the other agents move straight relative to each other, which determines the way of every
base. An agent with differential drive, or one that walks along curves, then heads along its way, forward or backward. Where its way
begins, ends or has a corner, all stop and it turns on the spot. The middle of the axle is a flat output of a differential drive:
any way of it is driven without slip if the heading is along it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.way_curve import WayCurve
from bunraku.figure import Figure
from bunraku.planning.ways.steer import Bezier, Holonomic, Planar, Steering, length, samples

if TYPE_CHECKING:
    from bunraku.ensemble.members import Agent
    from bunraku.ensemble.team import Team

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FollowOptions:
    """How finely ways of followers are sampled, and how much sideways motion counts as slip."""

    spacing: float = 0.04
    """Distance between knots [weighted m]."""
    most: int = 64
    """Largest number of knots between two corners."""
    slip: float = 0.02
    """A curve on which the sideways part of a way exceeds this share is not used."""
    still: float = 1e-6
    """Ways shorter than this are not ways [m]."""


class Following(Steering):
    """Curves of the reduced `team`, whose `figure` it is.

    `parts` steer its leader, `weights` (n_q,) measure lengths, `options` tune the sampling.
    """

    def __init__(
        self, figure: Figure, *parts: Planar, team: Team, weights: Array, options: FollowOptions = FollowOptions()
    ) -> None:  # fmt: skip
        super().__init__(figure, *parts)
        self._team, self._weights, self.options = team, weights, options
        self._followers = followers(team)
        self._heading = [figure.index(agent.variables[2]) for agent in self._followers]

    @property
    def straight(self) -> bool:
        """Always False: followers head along their ways."""
        return False

    def curve(self, q_a: Array, q_b: Array) -> WayCurve:
        """From `q_a` to `q_b`; the end differs from `q_b` by full turns at most."""
        plain = super().curve(q_a, q_b)
        rows = [plain.Q[0]]
        for a, b in pairwise(plain.knots.tolist()):
            rows += self._piece(plain, a, b, rows[-1], plain.Q[-1])
        end = samples(plain, 1.0)
        for k in self._heading:
            end[k] = rows[-1][k] + math.remainder(end[k] - rows[-1][k], math.tau)
        rows.append(end)
        Q = np.array(rows)
        steps = np.linalg.norm(np.diff(Q, axis=0) * self._weights, axis=1)
        keep = np.concatenate([[True], steps > 1e-9])
        if keep.sum() < 2:
            return WayCurve(Q[[0, -1]])
        Q = Q[keep]
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(Q, axis=0) * self._weights, axis=1))])
        return WayCurve(np.ascontiguousarray(Q), along / along[-1])

    def _piece(self, plain: WayCurve, a: float, b: float, now: Array, goal: Array) -> list[Array]:
        """The rows of a smooth piece between the places a and b of a curve; first those who follow turn on the spot."""
        share = (b - a) * length(plain, self._weights)
        n = int(np.clip(np.ceil(share / self.options.spacing), 4, self.options.most)) + 1
        Q = samples(plain, np.linspace(a, b, n))
        bases, held = self._team.in_world(Q)
        for k, agent in zip(self._heading, self._followers, strict=True):
            way = bases[agent.name][:, :2]
            far = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
            if issubclass(agent.moves, Bezier) and far <= Bezier(*agent.variables).step:
                continue  # a sidestep
            first = now[k] + held[0, 3]
            heading = np.full(n, first) if far < self.options.still else _along(way, first, goal[k] + held[-1, 3])
            Q[:, k] = heading - held[:, 3]
        turned = Q[0].copy()
        other = np.setdiff1d(np.arange(len(now)), self._heading)
        turned[other] = now[other]
        return [turned, *Q[1:]]

    def holds(self, curve: WayCurve) -> bool:
        """Whether nobody who cannot move sideways does so on a `curve`."""
        n = min(4 * len(curve.Q), 400)
        bases, _ = self._team.in_world(samples(curve, np.linspace(0.0, 1.0, n)))
        return all(
            aside(bases[agent.name]) <= self.options.slip for agent in self._followers if not issubclass(agent.moves, Bezier)
        )


def followers(team: Team) -> tuple[Agent, ...]:
    """The agents of a `team` that follow the leader and cannot move sideways."""
    return tuple(agent for agent in team.agents if agent is not team.leader and not issubclass(agent.moves, Holonomic))


def aside(base: Array, *, least: float = 0.01) -> float:
    """The sideways share of the way of a `base` (T, 3) (x, y [m], heading [rad]); of ways shorter than `least` [m], that of it."""
    step, heading = np.diff(base[:, :2], axis=0), 0.5 * (base[1:, 2] + base[:-1, 2])
    off = np.abs(np.cos(heading) * step[:, 1] - np.sin(heading) * step[:, 0]).sum()
    return float(off / max(np.linalg.norm(step, axis=1).sum(), least))


def _along(way: Array, first: float, last: float) -> Array:
    """Headings along a `way` (n, 2), forward or backward, as near as possible to the headings before and after."""
    step = np.gradient(way, axis=0, edge_order=2)
    size = np.linalg.norm(step, axis=1)
    good = size > 1e-3 * size.max()
    places = np.arange(len(way))
    angle = np.unwrap(np.arctan2(step[good, 1], step[good, 0]), period=math.pi)
    out = np.interp(places, places[good], angle)
    options = []
    for turn in (0.0, math.pi):
        own = out + turn
        own = own + math.tau * round((first - own[0]) / math.tau)
        options.append((abs(own[0] - first) + abs(math.remainder(own[-1] - last, math.tau)), own))
    return np.asarray(min(options, key=lambda option: option[0])[1])
