"""Move: a planned segment of all points, from the first tick to the last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.paths import LANDS, LEVEL, LIFTS, STAIRS, Swing, quintic, swung
from bunraku.locomotion.guide.points import NONE, Points, Subgoals
from bunraku.locomotion.guide.segment import Segment

Array = NDArray[np.float64]
LEVEL_ENOUGH = 0.004
"""Feet that differ less in height are on one level [m]."""


def swing_of(start: Points, goals: Subgoals, clearance: float, between: float) -> tuple[Swing, float]:
    """How the foot swings, and the height that it passes. `between` is the height of the ground on its way."""
    foot = goals.swings
    a, b = float(start.feet[foot, 2]), float(goals.feet[foot, 2])
    if not goals.lands:
        return LIFTS, b
    if start.aloft == foot:
        return LANDS, a
    top = max(a, b, between) + clearance
    flat = abs(a - b) < LEVEL_ENOUGH and between - max(a, b) < LEVEL_ENOUGH
    return (LEVEL if flat else STAIRS), top


@dataclass(frozen=True, eq=False)
class Move:
    """What all points do from one set of subgoals to the next."""

    start: Points
    goals: Subgoals
    segment: Segment
    swing: Swing = LEVEL
    top: float = 0.0

    @property
    def n(self) -> int:
        return self.segment.n

    @property
    def air(self) -> tuple[int, int]:
        """First and last tick of the swing."""
        ends = self.segment.ends
        if self.goals.swings == NONE:
            return (0, 0)
        if self.start.aloft != NONE:
            return (0, ends[0])
        return (ends[0], ends[1])

    def stands(self, foot: int) -> NDArray[np.bool_]:
        """Whether a foot is on the ground, at every tick."""
        out = np.ones(self.n + 1, bool)
        if foot in (self.start.aloft, self.goals.swings):
            first, last = self.air if self.goals.swings != NONE else (0, self.n)
            out[first + 1 : last] = False
            out[0], out[-1] = self.start.aloft != foot, self.goals.swings == foot and self.goals.lands
        return out

    def shares(self, zmp: Array) -> Array:
        """How the floor's push is shared by the feet (n + 1, 2): on two, by where the ZMP is on the line from one to the other."""
        places = self.feet[:, :, :2]
        way = places[:, 1] - places[:, 0]
        s = np.clip(((zmp - places[:, 0]) * way).sum(1) / (way * way).sum(1), 0.0, 1.0)
        s[~self.stands(0)], s[~self.stands(1)] = 1.0, 0.0
        return np.stack([1.0 - s, s], 1)

    @cached_property
    def feet(self) -> Array:
        """(n + 1, 2, 4)."""
        out = np.tile(self.start.feet, (self.n + 1, 1, 1))
        foot = self.goals.swings
        if foot != NONE:
            first, last = self.air
            s = (np.arange(self.n + 1) - first) / (last - first)
            out[:, foot] = swung(self.start.feet[foot], self.goals.feet[foot], self.top, self.swing, s)
        return out

    @cached_property
    def trunk(self) -> Array:
        """Roll, pitch and yaw, (n + 1, 3)."""
        return quintic(self.start.trunk, np.zeros(3), self.goals.trunk, self.segment.duration, self.n)

    @cached_property
    def turns(self) -> Array:
        """The trunk against its home, as matrices (n + 1, 3, 3)."""
        return matrices(self.trunk)

    @cached_property
    def hands(self) -> Array:
        """In the world, (n + 1, 2, 3)."""
        out, T = np.empty((self.n + 1, 2, 3)), self.segment.duration
        com, v = self.segment.samples[:, :3], self.segment.samples[0, 3:6]
        R = self.turns
        for hand, (in_world, goal) in enumerate(self.goals.hands):
            p, u = self.start.hands[hand], self.start.hand_speeds[hand]
            if in_world:
                out[:, hand] = quintic(p, u, goal, T, self.n)
            else:
                seen = quintic(R[0].T @ (p - com[0]), R[0].T @ (u - v), goal, T, self.n)
                out[:, hand] = com + (R @ seen[:, :, None])[:, :, 0]
        return out

    @cached_property
    def end(self) -> Points:
        """Where everything is when it is over."""
        state = self.segment.end
        speeds = np.array([np.zeros(3) if in_world else state.v for in_world, _ in self.goals.hands])
        lands = self.goals.swings == NONE or self.goals.lands
        return Points(
            state, self.goals.feet.copy(), NONE if lands else self.goals.swings, self.goals.trunk.copy(),
            self.hands[-1].copy(), speeds, self.goals.feet.copy() if lands else self.start.stood, self.goals.height,
            self.start.last if self.goals.swings == NONE else self.goals.swings,
        )  # fmt: skip


def matrices(angles: Array) -> Array:
    """Rz Ry Rx of rows (roll, pitch, yaw), (k, 3, 3)."""
    (a, b, c), (x, y, z) = np.cos(angles).T, np.sin(angles).T
    out = np.empty((len(angles), 3, 3))
    out[:, 0, 0], out[:, 0, 1], out[:, 0, 2] = c * b, c * y * x - z * a, c * y * a + z * x
    out[:, 1, 0], out[:, 1, 1], out[:, 1, 2] = z * b, z * y * x + c * a, z * y * a - c * x
    out[:, 2, 0], out[:, 2, 1], out[:, 2, 2] = -y, b * x, b * a
    return out
