"""Felt ground: where the soles really stand, as force sensors feel it: heights and tilts of the ground that the plan does not know.

A sole that meets the ground before its time ends its swing there, and yields until it lies flat; one that finds no ground goes on
down. While a sole lies flat, its tilt and the height between both feet are those of the ground, whatever the servos do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.kinematics import Pose
from bunraku.locomotion.guide.com_zmp import GRAVITY
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.navigation_points import NO_FOOT

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FeltGroundOptions:
    """How quickly what the feet feel is followed."""

    touch: float = 0.04
    """Share of the weight on a sole from which it stands; below half of it, it does not."""
    settling: float = 0.12
    """How long after its touchdown a sole yields to the ground [s]."""
    yielding: float = 1.5
    """Speed with which a sole turns that stands on its edge then [rad/s]."""
    hesitating: float = 0.06
    """How long it takes from the touchdown to that speed [s]: a measurement that is late must not turn it too far."""
    begins: float = 0.08
    """How long the ground is measured at first [s]."""
    pushed: float = 0.3
    """Distance of the capture point from the plan, as a share of the width of a sole, from which feet neither yield nor reach: then
    stiff ankles are the better catch."""
    recovering: float = 0.5
    """How long this lasts after the capture point has come back [s]."""
    leaning: float = 0.03
    """Tilt from which a sole stands on its edge because the body leans [rad]."""
    slow: float = 0.3
    """Time constant of a sole that lies flat, and of the slope below both feet [s]."""
    flat: float = 0.1
    """A sole lies flat if its centre of pressure is farther inside than this share of its size."""
    late: float = 0.02
    """How late a foot touches the ground at least when it reaches for it [s]."""
    down: float = 0.4
    """Speed with which a foot reaches for ground that is missing, in heights of the centre of mass per second."""
    deep: float = 0.04
    """How far below the plan it reaches, as a share of that height."""
    steep: float = 0.2
    """Largest tilt [rad]."""


class FeltGround:
    """The ground below both soles of one robot; it stores what they felt.

    humanoid: the robot
    dt: control period [s]
    options: how quickly it follows
    """

    def __init__(self, humanoid: Humanoid, dt: float, *, options: FeltGroundOptions = FeltGroundOptions()) -> None:
        self.humanoid, self.dt, self.options = humanoid, dt, options
        self._weight = humanoid.figure.mass * GRAVITY
        self.tilts = np.zeros((2, 2))
        """Rotation of the ground below each sole about the world's x and y axes [rad]."""
        self.heights = np.zeros(2)
        """Height of the ground below each sole, relative to the plan's; only their difference matters [m]."""
        self.slope = np.zeros(2)
        """Rotation of the ground at large [rad]."""
        self.first = np.zeros(2)
        """The same where it began."""
        self.touching = np.array([True, True])
        """Which soles touch the ground."""
        self._since = np.full(2, np.inf)
        self._planned: Array | None = None
        self._taken, self._pushed = 0, 0.0

    def early(self, done: GuidedMove, k: int) -> NDArray[np.bool_]:
        """Which feet (2,) touch the ground at tick `k` of the move `done`, although they are planned to be on their way down."""
        first, last = done.move.air
        foot, out = done.move.goals.swings, np.zeros(2, bool)
        if foot != NO_FOOT and done.move.goals.lands and first < k < last:
            late = k - first > 0.5 * (last - first) or done.move.start.aloft != NO_FOOT
            out[foot] = late and self.touching[foot]
        return out

    def feel(self, done: GuidedMove, k: int, here: Pose, soles: Array, away: float = 0.0) -> None:
        """Takes a measurement at tick `k` of the move `done`.

        here: the measured pose
        soles: of each sole the force [N] and its moments about its x and y axes [N m], (2, 3)
        away: distance of the capture point from the plan [m]
        """
        planned, options = done.move.feet[min(k, done.move.n)], self.options
        if self._taken * self.dt < options.begins:
            self._begin(here, planned)
        self._touch(soles)
        stand, early = np.array([done.move.stands(foot)[k] for foot in (0, 1)]), self.early(done, k)
        if self._planned is not None:
            self.heights[early] -= (planned[:, 2] - self._planned)[early]
        self._planned = planned[:, 2].copy()
        on = (stand | early) & self.touching
        flat = on & self._flat(soles)
        self._since[flat] = np.maximum(self._since[flat], options.settling)
        self._pushed = max(self._pushed - self.dt, options.recovering * (away > options.pushed * np.ptp(self.humanoid.sole[:, 1])))
        calm = self._pushed <= 0.0
        if calm:
            for foot in np.flatnonzero(on & ~flat & (self._since < options.settling)).tolist():
                self._yield(foot, planned, soles, self._tilt(here, foot) - self.slope)
            self._reach(done, k)
        self._lie(flat, here, soles[:, 0])
        if calm and on.all():
            self._level(here, planned, soles[:, 0])
        for foot in np.flatnonzero(~stand & ~early).tolist():
            self._swing(foot, planned, done)

    def forget(self) -> None:
        """Takes the ground more and more for that of the plan, while measurements are too noisy to tell."""
        left = 1.0 - self.dt / self.options.slow
        self.tilts, self.heights, self.slope, self.first = (
            left * self.tilts,
            left * self.heights,
            left * self.slope,
            left * self.first,
        )
        self._planned = None

    def _touch(self, soles: Array) -> None:
        """Which soles touch the ground, and since when."""
        least = self.options.touch * self._weight * np.where(self.touching, 0.5, 1.0)
        self.touching = soles[:, 0] > least
        self._since[self.touching] += self.dt

    def _reach(self, done: GuidedMove, k: int) -> None:
        """Moves a foot down that should stand and has not touched the ground yet."""
        foot, own = done.move.goals.swings, self.humanoid
        late = (k - done.move.air[1]) * self.dt > self.options.late
        if foot != NO_FOOT and late and done.move.goals.lands and not self._since[foot]:
            deepest = self.heights[1 - foot] - self.options.deep * own.height
            self.heights[foot] = max(self.heights[foot] - self.options.down * own.height * self.dt, deepest)

    def _lie(self, flat: NDArray[np.bool_], here: Pose, loads: Array) -> None:
        """Follows the tilts of `flat` soles, and the slope below them."""
        rate, load = self.dt / (self.options.slow + self.dt), np.maximum(loads, 0.0) * flat
        for foot in np.flatnonzero(flat).tolist():
            self.tilts[foot] += rate * (self._tilt(here, foot) - self.tilts[foot])
        if load.any():
            slower = self.dt / (2.0 * self.options.slow + self.dt)
            self.slope = self.slope + slower * (load @ self.tilts / load.sum() - self.slope)

    def _level(self, here: Pose, planned: Array, loads: Array) -> None:
        """Follows the height between two soles on the ground: the foot that came last moves."""
        missing = self._missing(here, planned) - (self.heights[1] - self.heights[0])
        foot = int(np.argmin(self._since)) if self._since[0] != self._since[1] else int(np.argmin(loads))
        self.heights[foot] += self.dt / (self.options.slow + self.dt) * missing * (1.0 if foot == 1 else -1.0)

    def _missing(self, here: Pose, planned: Array) -> float:
        """How much higher the right foot is than planned, relative to the left one [m]."""
        left, right = (float(here.point(foot)[2]) for foot in self.humanoid.feet)
        return (right - left) - float(planned[1, 2] - planned[0, 2])

    def _begin(self, here: Pose, planned: Array) -> None:
        """At first it stands at rest with flat soles: takes the mean of some measurements."""
        self._taken += 1
        self.tilts = self.tilts + (np.array([self._tilt(here, foot) for foot in (0, 1)]) - self.tilts) / self._taken
        self.heights[1] += (self._missing(here, planned) - self.heights[1]) / self._taken
        self.slope = self.first = self.tilts.mean(0)

    def _tilt(self, here: Pose, foot: int) -> Array:
        """Rotation of a sole about the world's x and y axes [rad]."""
        up = here.X(self.humanoid.feet[foot])[:3, :3] @ self.humanoid.foot_axes[foot].T[:, 2]
        return np.asarray(np.clip([-up[1], up[0]], -self.options.steep, self.options.steep))

    def _flat(self, soles: Array) -> NDArray[np.bool_]:
        """Which soles (2,) are pressed so far inside that they must lie flat."""
        return np.asarray((np.abs(self._pressed(soles)) < 0.5 - self.options.flat).all(1))

    def _pressed(self, soles: Array) -> Array:
        """Where soles are pressed, (2, 2), relative to their middle, in shares of their length and width."""
        own = self.humanoid.sole
        at = np.stack([-soles[:, 2], soles[:, 1]], 1) / np.maximum(soles[:, :1], 1e-9)
        return np.asarray((at - 0.5 * (own.min(0) + own.max(0))) / np.ptp(own, axis=0))

    def _yield(self, foot: int, planned: Array, soles: Array, askew: Array) -> None:
        """Turns a sole away from the edge on which it stands; not if that edge is lower because the body leans, by `askew` (2,)
        [rad]: then the pressure there rights the body."""
        x, y = np.clip(2.0 * self._pressed(soles)[foot], -1.0, 1.0)
        c, s = np.cos(planned[foot, 3]), np.sin(planned[foot, 3])
        way = np.array([c * y + s * x, s * y - c * x])
        way[np.sign(way) * askew < -self.options.leaning] = 0.0
        speed = self.options.yielding * min(self._since[foot] / self.options.hesitating, 1.0)
        turned = self.tilts[foot] + speed * self.dt * way
        self.tilts[foot] = np.clip(turned, -self.options.steep, self.options.steep)

    def _swing(self, foot: int, planned: Array, done: GuidedMove) -> None:
        """A foot in the air expects the slope below the other one."""
        rate, self._since[foot] = self.dt / (0.3 * self.options.slow + self.dt), 0.0
        away = (done.move.goals.feet[foot] - planned[1 - foot])[:2]
        expected = self.heights[1 - foot] + self.slope[0] * away[1] - self.slope[1] * away[0]
        self.tilts[foot] += rate * (self.slope - self.tilts[foot])
        self.heights[foot] += rate * (expected - self.heights[foot])
