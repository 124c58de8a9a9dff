"""Move: the motion of all points during a segment, from its first tick to its last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.navigation_points import NO_FOOT, Points, Rates, Subgoals
from bunraku.locomotion.guide.point_paths import Swing, SwingOptions, led, quintic, swung, turned
from bunraku.locomotion.guide.segment import Segment
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]
RATE_STEP = 1e-5
"""Step of the difference quotients in time [s]: paths are polynomials, so the error is rounding."""


def swing_of(
    start: Points, goals: Subgoals, clearance: float, between: float, options: SwingOptions = SwingOptions()
) -> tuple[Swing, float]:  # fmt: skip
    """The shape of the foot's swing from `start` to `goals`, and its top height [m].

    clearance: height of a swing above the ground [m]
    between: height of the ground on the foot's way [m]
    options: shapes of swings
    """
    foot = goals.swings
    a, b = float(start.feet[foot, 2]), float(goals.feet[foot, 2])
    if not goals.lands:
        return options.lifts, b
    if start.aloft == foot:
        return options.lands, a
    top = max(a, b, between) + clearance
    flat = abs(a - b) < options.one_level and between - max(a, b) < options.one_level
    level = options.level if start.onward is None and goals.onward is None else options.onward
    return (level if flat else options.stairs), top


@dataclass(frozen=True, eq=False)
class Move:
    """The motion of all points from one set of subgoals to the next."""

    start: Points
    goals: Subgoals
    segment: Segment
    swing: Swing = Swing()
    top: float = 0.0
    """Top height of the swinging foot [m]."""

    @property
    def n(self) -> int:
        """Number of ticks."""
        return self.segment.n

    @property
    def air(self) -> tuple[int, int]:
        """First and last tick of the swing."""
        ends = self.segment.ends
        if self.goals.swings == NO_FOOT:
            return (0, 0)
        if self.start.aloft != NO_FOOT:
            return (0, ends[0])
        return (ends[0], ends[1])

    def stands(self, foot: int) -> NDArray[np.bool_]:
        """Whether a `foot` (0 left, 1 right) is on the ground, at every tick (n + 1,)."""
        out = np.ones(self.n + 1, bool)
        if foot in (self.start.aloft, self.goals.swings):
            first, last = self.air if self.goals.swings != NO_FOOT else (0, self.n)
            out[first + 1 : last] = False
            out[0], out[-1] = self.start.aloft != foot, self.goals.swings == foot and self.goals.lands
        return out

    def shares(self, zmp: Array) -> Array:
        """Share of the contact force that each foot bears (k, 2), for a `zmp` (k, 2) [m] at the first k ticks.

        On two feet the share depends on where the ZMP projects onto the line between them.
        """
        places = self.feet[: len(zmp), :, :2]
        way = places[:, 1] - places[:, 0]
        s = np.clip(((zmp - places[:, 0]) * way).sum(1) / (way * way).sum(1), 0.0, 1.0)
        s[~self.stands(0)[: len(zmp)]], s[~self.stands(1)[: len(zmp)]] = 1.0, 0.0
        return np.stack([1.0 - s, s], 1)

    @cached_property
    def feet(self) -> Array:
        """Positions of the feet (x, y, z, yaw) at every tick, (n + 1, 2, 4)."""
        return self._feet(np.arange(self.n + 1.0))

    @cached_property
    def trunk(self) -> Array:
        """Roll, pitch and yaw of the trunk, (n + 1, 3) [rad]."""
        return self._trunk(np.arange(self.n + 1.0))

    @cached_property
    def turns(self) -> Array:
        """Rotations of the trunk relative to the home configuration (n + 1, 3, 3)."""
        return matrices(self.trunk)

    @cached_property
    def hands(self) -> Array:
        """Positions of the hands in the world, (n + 1, 2, 3) [m]."""
        return self._hands(np.arange(self.n + 1.0)) + self.segment.samples[:, None, :3] * self._carried

    @cached_property
    def hand_axes(self) -> Array:
        """Axes of the hands in the world (n + 1, 2, 3, 3); only approximate for a hand that is free to turn."""
        return self._hand_axes(np.arange(self.n + 1.0))

    @property
    def held(self) -> tuple[bool, bool]:
        """Whether each hand follows `hand_axes`; otherwise it is free to turn."""
        left, right = self.goals.hand_axes
        return left is not None, right is not None

    @property
    def releases(self) -> bool:
        """Whether a hand that was held becomes free to turn."""
        return any(before and not now for before, now in zip(self.start.held, self.held, strict=True))

    # -- at any moment, in ticks -----------------------------------------------------------------------------------

    def _feet(self, ticks: Array) -> Array:
        out = np.tile(self.start.feet, (len(ticks), 1, 1))
        foot = self.goals.swings
        if foot != NO_FOOT:
            first, last = self.air
            s = (ticks - first) / (last - first)
            v, a = (rate[foot] for rate in self.start.rates.feet)
            out[:, foot] = swung(self.start.feet[foot], self.goals.feet[foot], self.top, self.swing, s)
            out[:, foot] += led(v, a, (last - first) * self.segment.dt, s)
        return out

    def _trunk(self, ticks: Array) -> Array:
        s = ticks / self.n
        out = quintic(self.start.trunk, *self.start.rates.trunk, self.goals.trunk, self.segment.duration, s)
        if self.goals.sway:
            out[:, 0] += self.goals.sway * eased(2.0 * np.minimum(s, 1.0 - s))
        return out

    @property
    def _carried(self) -> Array:
        """1 for a hand that the body carries, otherwise 0, (2, 1)."""
        return np.array([[not in_world] for in_world, _ in self.goals.hands], float)

    def _hands(self, ticks: Array) -> Array:
        """Positions of the hands; for hands that the body carries, relative to the centre of mass."""
        out, T, s = np.empty((len(ticks), 2, 3)), self.segment.duration, ticks / self.n
        for hand, (in_world, goal) in enumerate(self.goals.hands):
            p, v, a = self.start.hands[hand], self.start.hand_speeds[hand], self.start.rates.hands[hand]
            if in_world:
                out[:, hand] = quintic(p, v, a, goal, T, s)
            else:
                out[:, hand] = (matrices(self._trunk(ticks)) @ self._seen(p, v, a, goal, T, s)[:, :, None])[:, :, 0]
        return out

    def _seen(self, p: Array, v: Array, a: Array, goal: Array, T: float, s: Array) -> Array:
        """A hand relative to the centre of mass, in the axes of the trunk: r = Rᵀ(p − c), with its rates from those of R."""
        row, (turning, bending) = self.segment.samples[0], self.start.rates.trunk
        away, speed, push = p - row[:3], v - row[3:6], a - row[6:9]
        t = RATE_STEP * np.arange(-2.0, 3.0)[:, None]
        turns = matrices(self.start.trunk + t * turning + 0.5 * t * t * bending)
        (rate, bend), R = _rates(turns), turns[2]
        r = R.T @ away
        r_v = R.T @ (speed - rate @ r)
        # Between two moves only the centre of mass accelerates.
        r_a = np.zeros(3) if self.start.rates.between else R.T @ (push - bend @ r - 2.0 * rate @ r_v)
        return quintic(r, r_v, r_a, goal, T, s)

    def _hand_axes(self, ticks: Array) -> Array:
        out, T, s = np.empty((len(ticks), 2, 3, 3)), self.segment.duration, ticks / self.n
        trunk, rates = matrices(self._trunk(ticks)), self.start.rates
        A = matrices(self.start.trunk[None])[0]
        for hand, ((in_world, _), goal) in enumerate(zip(self.goals.hands, self.goals.hand_axes, strict=True)):
            R, v, a = self.start.hand_axes[hand], rates.turning[0][hand], rates.turning[1][hand]
            if goal is None:
                out[:, hand] = trunk @ A.T @ R
            elif in_world:
                out[:, hand] = turned(R, v, a, goal, T, s)
            else:  # relative to the trunk, which turns as well
                t = RATE_STEP * np.arange(-2.0, 3.0)[:, None]
                w, b = _turning(matrices(self.start.trunk + t * rates.trunk[0] + 0.5 * t * t * rates.trunk[1]))
                out[:, hand] = trunk @ turned(A.T @ R, A.T @ (v - w), A.T @ (a - b - np.cross(w, v - w)), goal, T, s)
        return out

    def at(self, tick: int) -> Points:
        """Positions and rates of all points at a `tick` between the first and the last."""
        ticks = tick + RATE_STEP / self.segment.dt * np.arange(-2.0, 3.0)
        row, state = self.segment.samples[tick], self.segment.at(tick)
        hand_v, hand_a = _rates(self._hands(ticks))
        aloft = NO_FOOT if self.stands(0)[tick] and self.stands(1)[tick] else 0 if self.stands(1)[tick] else 1
        touch = (self.air[1] - tick) * self.segment.dt if self.goals.swings == aloft and self.goals.lands else 0.0
        hand_v, hand_a = hand_v + row[3:6] * self._carried, hand_a + row[6:9] * self._carried
        left, right = (_turning(path) for path in np.moveaxis(self._hand_axes(ticks), 1, 0))
        turning = np.array([left[0], right[0]]), np.array([left[1], right[1]])
        return Points(
            state, self.feet[tick].copy(), aloft, self.trunk[tick].copy(), self.hands[tick].copy(), hand_v,
            self.hand_axes[tick].copy(), self.feet[tick].copy() if aloft == NO_FOOT else self.start.stood, self.goals.height,
            self.start.last if self.goals.swings == NO_FOOT else self.goals.swings, self.held,
            Rates(_rates(self._feet(ticks)), _rates(self._trunk(ticks)), hand_a, turning, max(touch, 0.0)), self.start.posture,
        )  # fmt: skip

    @cached_property
    def end(self) -> Points:
        """Positions of all points at its end."""
        state = self.segment.end
        speeds = np.array([np.zeros(3) if in_world else state.v for in_world, _ in self.goals.hands])
        lands = self.goals.swings == NO_FOOT or self.goals.lands
        return Points(
            state, self.goals.feet.copy(), NO_FOOT if lands else self.goals.swings, self.goals.trunk.copy(),
            self.hands[-1].copy(), speeds, self.hand_axes[-1].copy(), self.goals.feet.copy() if lands else self.start.stood,
            self.goals.height, self.start.last if self.goals.swings == NO_FOOT else self.goals.swings, self.held,
            onward=self.goals.onward,
        )  # fmt: skip


def _rates(path: Array) -> tuple[Array, Array]:
    """Velocity and acceleration at the middle of five samples, RATE_STEP apart."""
    a, b, c, d, e = path
    return (8.0 * (d - b) - (e - a)) / (12.0 * RATE_STEP), (d - 2.0 * c + b) / RATE_STEP**2


def _turning(path: Array) -> tuple[Array, Array]:
    """Angular velocity and acceleration at the middle of five rotations, RATE_STEP apart: R′Rᵀ = [ω], R″Rᵀ = [α] + [ω]²."""
    out = []
    for rate in _rates(path):
        W = rate @ path[2].T
        out.append(0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]))
    return out[0], out[1]


def matrices(angles: Array) -> Array:
    """Rotations Rz Ry Rx (k, 3, 3) of `angles` (k, 3): roll, pitch, yaw [rad]."""
    (a, b, c), (x, y, z) = np.cos(angles).T, np.sin(angles).T
    out = np.empty((len(angles), 3, 3))
    out[:, 0, 0], out[:, 0, 1], out[:, 0, 2] = c * b, c * y * x - z * a, c * y * a + z * x
    out[:, 1, 0], out[:, 1, 1], out[:, 1, 2] = z * b, z * y * x + c * a, z * y * a - c * x
    out[:, 2, 0], out[:, 2, 1], out[:, 2, 2] = -y, b * x, b * a
    return out
