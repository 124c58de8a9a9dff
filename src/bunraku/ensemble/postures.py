"""Postures: random changes of the active part of a team's closed chains (random loop generator, RLG; *carrying*, ref. 7).

Trunk and limbs are sampled first, within their limits; then the object, along a direction in which all wrists stay within reach;
then the elbows. Small changes are tried before large ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.closed_loops import Loops
from bunraku.ensemble.team import OBJECT

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PostureOptions:
    """Size and cost of changes of posture."""

    count: int = 96
    """Number of samples per level."""
    levels: tuple[float, ...] = (0.15, 0.3, 0.45, 0.65, 0.85, 1.0)
    """Shares of the largest change, tried in this order."""
    farthest: float = 0.12
    """Largest displacement of the object [m]."""
    turn: float = 0.15
    """Largest rotation of the object [rad]."""
    swivel: float = 1.2
    """Largest swivel of an elbow [rad]."""
    weights: Mapping[str, float] = field(default_factory=lambda: {"trunk": 1.0, "limb": 0.4, "swivel": 0.3, "object": 1.5})
    """Weight of a radian or a metre in the size of a change."""
    sideways: float = 1.5
    """Extra factor for a trunk that turns or leans sideways; people prefer to bend forward."""


class Postures:
    """A generator of random changes of posture.

    loops: the closed chains that must stay closed
    owners: the agents, or the object, that are too near to something
    held: whether the object may be moved
    seed: seed of the random numbers
    options: size and cost of changes
    """

    def __init__(
        self,
        loops: Loops,
        owners: Iterable[str],
        *,
        held: bool,
        seed: tuple[int, ...],
        options: PostureOptions = PostureOptions(),
    ) -> None:
        self.loops, self.owners, self.options = loops, tuple(owners), options
        self.rng = np.random.default_rng(list(seed))
        active = loops.active
        people = [name for name in self.owners if name != OBJECT]
        # If the object may be moved, the agents that hold it may move as well.
        both = [agent.name for agent in loops.whole.team.agents] if OBJECT in self.owners or not people else people
        self.trunk, self.limbs, self.elbows = (active.where(kind, both) for kind in ("trunk", "limb", "swivel"))
        self.held = active.where("object")
        self.moves_object = held
        every = active.where("trunk")
        sideways = every[np.arange(len(every)) % 3 != 1]
        self._weights = np.array([options.weights[kind] for kind in active.kind])
        self._weights[sideways] *= options.sideways
        parts = (self.held, self.elbows, np.intersect1d(self.trunk, sideways), self.limbs, np.setdiff1d(self.trunk, sideways))
        self._parts = tuple(part for part in parts if len(part))

    def deformation(self, Z: Array) -> Array:
        """Size of each change of `Z` (m, n_active): square root of the weighted sum of squares; 1 for a radian of the trunk."""
        return np.asarray(np.linalg.norm(np.atleast_2d(Z) * self._weights, axis=1))

    @cached_property
    def _room(self) -> tuple[Array, Array]:
        return self.loops.room

    def sample(self, q: Array, level: float) -> Array:
        """Random changes (count, n_active) of a whole configuration `q`, up to a share `level` of what limits and reach allow."""
        return self.about(q, np.zeros(len(self.loops.active)), level)

    def about(self, q: Array, near: Array, level: float) -> Array:
        """Random changes of `q` about the change `near` (n_active,), up to a share `level` of what limits and reach allow."""
        rng, n, columns = self.rng, self.options.count, self.loops.active.columns
        Z = np.repeat(near[None], n, 0)
        here = q[columns] + near[: len(columns)]
        Z[:, self.trunk] += self._bends(here, level)
        if len(self.limbs):
            u = rng.uniform(-1.0, 1.0, (n, len(self.limbs))) * (rng.random((n, 1)) < 0.7)
            Z[:, self.limbs] += u * level * self._span(here, self.limbs, u)
        if len(self.elbows):
            u = rng.uniform(-1.0, 1.0, (n, len(self.elbows)))
            Z[:, self.elbows] += u * level * self.options.swivel * (rng.random((n, 1)) < 0.6)
        if self.moves_object:
            self._move(q, Z, level)
        return Z

    def milder(self, change: Array, step: float) -> Array:
        """Variations (count, n_active) of a `change`: some parts reduced or left out, others varied by up to a share `step`."""
        rng, n = self.rng, self.options.count
        Z = np.repeat(change[None], n, 0)
        for part in self._parts:
            share = rng.uniform(1.0 - step, 1.0, (n, 1)) * (rng.random((n, 1)) > 0.25)
            Z[:, part] *= np.where(rng.random((n, 1)) < 0.6, share, rng.uniform(1.0 - step, 1.0 + step, (n, len(part))))
        return Z

    def _span(self, here: Array, places: Ints, u: Array) -> Array:
        """The distance to the limit in the direction of the sign of u."""
        lower, upper = (limit[places] for limit in self._room)
        away = np.where(u > 0.0, upper - here[places], here[places] - lower)
        return np.clip(np.where(np.isfinite(away), away, np.pi), 0.0, np.pi)

    def _bends(self, here: Array, level: float) -> Array:
        """Changes of the trunk: its joints bend together, mostly forward or backward, each a little differently."""
        n, k = self.options.count, len(self.trunk)
        if not k:
            return np.zeros((n, 0))
        rng = self.rng
        shared = rng.uniform(-1.0, 1.0, (n, 3)) * np.where(rng.random((n, 1)) < 0.6, [0.15, 1.0, 0.15], [0.7, 1.0, 0.7])
        u = shared[:, np.arange(k) % 3] * rng.uniform(0.6, 1.0, (n, k))
        u *= rng.random((n, 1)) < 0.9
        return np.asarray(u * level * self._span(here, self.trunk, u))

    def _move(self, q: Array, Z: Array, level: float) -> None:
        """Changes of the object: a small rotation, then a random displacement with all wrists in reach."""
        rng, n, farthest = self.rng, len(Z), self.options.farthest
        moves = rng.random(n) < (0.5 if OBJECT in self.owners else 0.3)
        Z[:, self.held[3:]] += rng.uniform(-1.0, 1.0, (n, 3)) * self.options.turn * level * (moves & (rng.random(n) < 0.5))[:, None]
        columns = self.loops.active.columns
        Q = np.repeat(q[None], n, 0)
        Q[:, columns] += Z[:, : len(columns)]
        ways = rng.normal(size=(n, 3))
        ways[rng.random(n) < 0.4, :2] = 0.0  # straight up or down helps most often
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        low, high = self.loops.spans(Q, ways)
        low, high = np.maximum(low, -farthest * level), np.minimum(high, farthest * level)
        far = np.where(high > low, rng.uniform(np.minimum(low, high), np.maximum(low, high)), 0.0)
        Z[:, self.held[:3]] += (far * moves)[:, None] * ways
