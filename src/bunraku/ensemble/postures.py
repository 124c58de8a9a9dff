"""Postures: random changes of the active part of a team's closed chains (RLG, *carrying*, ref. 7).

What is sampled first leaves room for what comes after: trunk and limbs within their limits, then the object along a way inside
the part of all shells that is reachable from there, then elbows. Small changes come before large ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.closed_loops import Loops
from bunraku.ensemble.team import OBJECT

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
COUNT = 96  # samples of a level
FARTHEST, TURN = 0.12, 0.15  # [m], [rad] that the object may be moved
SWIVEL = 1.2  # [rad]
WEIGHT = {"trunk": 1.0, "limb": 0.4, "swivel": 0.3, "object": 1.5}  # of a radian or a metre in a deformation
SIDEWAYS = 1.5  # times that, to turn or lean sideways: people bend forward
LEVELS = (0.15, 0.3, 0.45, 0.65, 0.85, 1.0)


class Postures:
    """A source of changes for those who are too near to something."""

    def __init__(self, loops: Loops, owners: Iterable[str], *, held: bool, seed: tuple[int, ...]) -> None:
        self.loops, self.owners = loops, tuple(owners)
        self.rng = np.random.default_rng(list(seed))
        self.levels = LEVELS
        active = loops.active
        people = [name for name in self.owners if name != OBJECT]
        # Who holds what is to be moved moves with it, if that helps.
        both = [agent.name for agent in loops.whole.team.agents] if OBJECT in self.owners or not people else people
        self.trunk, self.limbs, self.elbows = (active.where(kind, both) for kind in ("trunk", "limb", "swivel"))
        self.held = active.where("object")
        self.moves_object = held
        every = active.where("trunk")
        sideways = every[np.arange(len(every)) % 3 != 1]
        self._weights = np.array([WEIGHT[kind] for kind in active.kind])
        self._weights[sideways] *= SIDEWAYS
        parts = (self.held, self.elbows, np.intersect1d(self.trunk, sideways), self.limbs, np.setdiff1d(self.trunk, sideways))
        self._parts = tuple(part for part in parts if len(part))

    def deformation(self, Z: Array) -> Array:
        """How much changes deform: the root of the sum of squares, a radian of the trunk counting as one."""
        return np.asarray(np.linalg.norm(np.atleast_2d(Z) * self._weights, axis=1))

    @cached_property
    def _room(self) -> tuple[Array, Array]:
        return self.loops.room

    def sample(self, q: Array, level: float) -> Array:
        """Changes of a configuration, up to a share of what limits and reach allow."""
        return self.about(q, np.zeros(len(self.loops.active)), level)

    def about(self, q: Array, near: Array, level: float) -> Array:
        """The same about another change."""
        rng, n, columns = self.rng, COUNT, self.loops.active.columns
        Z = np.repeat(near[None], n, 0)
        here = q[columns] + near[: len(columns)]
        Z[:, self.trunk] += self._bends(here, level)
        if len(self.limbs):
            u = rng.uniform(-1.0, 1.0, (n, len(self.limbs))) * (rng.random((n, 1)) < 0.7)
            Z[:, self.limbs] += u * level * self._span(here, self.limbs, u)
        if len(self.elbows):
            u = rng.uniform(-1.0, 1.0, (n, len(self.elbows)))
            Z[:, self.elbows] += u * level * SWIVEL * (rng.random((n, 1)) < 0.6)
        if self.moves_object:
            self._move(q, Z, level)
        return Z

    def milder(self, change: Array, step: float) -> Array:
        """Changes like this one with some of their parts smaller, or left out, and the others a little different."""
        rng, n = self.rng, COUNT
        Z = np.repeat(change[None], n, 0)
        for part in self._parts:
            share = rng.uniform(1.0 - step, 1.0, (n, 1)) * (rng.random((n, 1)) > 0.25)
            Z[:, part] *= np.where(rng.random((n, 1)) < 0.6, share, rng.uniform(1.0 - step, 1.0 + step, (n, len(part))))
        return Z

    def _span(self, here: Array, places: Ints, u: Array) -> Array:
        """How far it is to the limit on the side that u is on."""
        lower, upper = (limit[places] for limit in self._room)
        away = np.where(u > 0.0, upper - here[places], here[places] - lower)
        return np.clip(np.where(np.isfinite(away), away, np.pi), 0.0, np.pi)

    def _bends(self, here: Array, level: float) -> Array:
        """Of the trunk: its joints bend together, mostly forward or backward, each a little differently."""
        n, k = COUNT, len(self.trunk)
        if not k:
            return np.zeros((n, 0))
        rng = self.rng
        shared = rng.uniform(-1.0, 1.0, (n, 3)) * np.where(rng.random((n, 1)) < 0.6, [0.15, 1.0, 0.15], [0.7, 1.0, 0.7])
        u = shared[:, np.arange(k) % 3] * rng.uniform(0.6, 1.0, (n, k))
        u *= rng.random((n, 1)) < 0.9
        return np.asarray(u * level * self._span(here, self.trunk, u))

    def _move(self, q: Array, Z: Array, level: float) -> None:
        """Of the object: turned a little, then along a random way as far as all wrists stay inside their shells."""
        rng, n = self.rng, len(Z)
        moves = rng.random(n) < (0.5 if OBJECT in self.owners else 0.3)
        Z[:, self.held[3:]] += rng.uniform(-1.0, 1.0, (n, 3)) * TURN * level * (moves & (rng.random(n) < 0.5))[:, None]
        columns = self.loops.active.columns
        Q = np.repeat(q[None], n, 0)
        Q[:, columns] += Z[:, : len(columns)]
        ways = rng.normal(size=(n, 3))
        ways[rng.random(n) < 0.4, :2] = 0.0  # up or down is what helps most often
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        low, high = self.loops.spans(Q, ways)
        low, high = np.maximum(low, -FARTHEST * level), np.minimum(high, FARTHEST * level)
        far = np.where(high > low, rng.uniform(np.minimum(low, high), np.maximum(low, high)), 0.0)
        Z[:, self.held[:3]] += (far * moves)[:, None] * ways
