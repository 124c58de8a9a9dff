"""Holdable: whether arms really hold the object along a curve of the reduced team, with their joint limits.

Reach links bound the distance from shoulder to wrist only. A hand that is held too high or too near may be beyond the limits of
its wrist all the same, which the inverse kinematics of an agent who stands upright tells in microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.way_curve import WayCurve
from bunraku.ensemble.members import Agent, Grasp
from bunraku.ensemble.team import Team
from bunraku.kinematics.inverse.general_arm import GeneralArm
from bunraku.planning.ways.steer import length, samples
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class HoldableOptions:
    """How finely curves are sampled, and how arms are tried."""

    spacing: float = 0.3
    """Distance between samples of a curve [weighted m]."""
    most: int = 20
    """Largest number of samples of a curve."""
    swivels: int = 8
    """Number of elbow swivels that are tried, evenly spaced over a full turn."""
    references: int = 4
    """Number of configurations that are tried for an arm without a closed form."""
    sway: tuple[tuple[float, float, float], ...] = ((0.0, 0.0, 0.01), (0.03, 0.0, -0.04))
    """While people walk, their shoulders move by about this, forward, to the left and up [m]; arms must hold with each."""


class Holdable:
    """Whether the arms of a `team` hold the object; agents who cannot in one of the `known` configurations (k, n_q) do not count.

    `weights` (n_q,) measure lengths of curves. `options` tune it.
    """

    def __init__(self, team: Team, known: Array, weights: Array, *, options: HoldableOptions = HoldableOptions()) -> None:
        self.team, self.weights, self.options = team, weights, options
        self._references: dict[tuple[str, str], list[Array]] = {}
        self._agents = [agent for agent in team.agents if self._held_by(agent, known).all()]

    @property
    def by_all(self) -> bool:
        """Whether everybody holds in all of the known configurations."""
        return len(self._agents) == len(self.team.agents)

    def along(self, curve: WayCurve) -> bool:
        """Whether all samples of a `curve` are held."""
        count = int(np.clip(length(curve, self.weights) / self.options.spacing, 1, self.options.most)) + 1
        Q = samples(curve, np.linspace(0.0, 1.0, count))
        return all(self._held_by(agent, Q).all() for agent in self._agents)

    def _held_by(self, agent: Agent, Q: Array) -> Bools:
        """Whether all arms of an agent hold, in each configuration Q (T, n_q) of the team."""
        bases, held = self.team.in_world(Q)
        X_BO = se3.inverse(_base(self.team, bases[agent.name])) @ _pose(held[:, :3], held[:, 3:])
        rest = agent.figure.configuration(**dict.fromkeys(agent.base, 0.0))
        out = np.ones(len(Q), np.bool_)
        for hold in agent.holds:
            arm, X = agent.arm(hold), X_BO @ hold.X_OT
            if isinstance(arm, GeneralArm):
                out &= self._reached(agent, hold, arm, X, rest)
                continue
            middle = 0.5 * (arm.limits[0] + arm.limits[1])
            if not arm.swivels:
                out &= arm.nearest_many(X, rest, near=middle)[1]
                continue
            swivel = np.linspace(-np.pi, np.pi, self.options.swivels, endpoint=False)
            for offset in self.options.sway:
                every, n = np.repeat(X, len(swivel), 0), len(X)
                every[:, :3, 3] -= offset
                _, found = arm.nearest_many(every, rest, swivel=np.tile(swivel, n), near=np.tile(middle, (len(every), 1)))
                out &= found.reshape(n, -1).any(1)
        return out

    def _reached(self, agent: Agent, hold: Grasp, arm: GeneralArm, X: Array, rest: Array) -> Bools:
        """Whether an arm reaches poses X (T, 4, 4) from a configuration in which it reaches the first ones that it was asked for.

        The first ones are those of start and goal. Only configurations that serve for all of these are kept, so that the arm need
        not change from one to another on the way.
        """
        key = agent.name, hold.tool
        if key not in self._references:
            tried = [own for end in X for own in arm.solutions(end, rest)]
            serve = [own for own in tried if arm.nearest_many(X, rest, near=own)[1].all()]
            self._references[key] = serve[: self.options.references]
        out = np.zeros(len(X), np.bool_)
        for own in self._references[key]:
            if not out.all():
                out[~out] = arm.nearest_many(X[~out], rest, near=own)[1]
        return out


def _base(team: Team, base: Array) -> Array:
    """Poses (T, 4, 4) of the base of an agent that stands upright at (x, y, heading), or with the height and slope it has."""
    if base.shape[1] == 6:
        return _pose(base[:, [0, 1, 3]], base[:, [2, 4, 5]])
    up = np.zeros(len(base)) if team.terrain is None else team.terrain.smooth.heights(base[:, :2])
    return _pose(np.column_stack([base[:, :2], up]), np.column_stack([base[:, 2], np.zeros((len(base), 2))]))


def _pose(position: Array, turns: Array) -> Array:
    """Poses (T, 4, 4) at positions (T, 3), turned by yaw, pitch and roll (T, 3)."""
    out = np.zeros((len(position), 4, 4))
    out[:, :3, :3] = so3.about(2, turns[:, 0]) @ so3.about(1, turns[:, 1]) @ so3.about(0, turns[:, 2])
    out[:, :3, 3], out[:, 3, 3] = position, 1.0
    return out
