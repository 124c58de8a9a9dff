"""Stabiliser: joint targets for servos in physics, from a performance and from what the robot measures.

Two things are added to the planned joints: what a servo would give way by under the effort that it must give; and at the ankles,
the effort that moves the ZMP after the capture point, ΔZMP = k(ξ − ξ_planned), where ξ is that of the measured centre of mass.
Errors are seen from the feet that stand, so that slipping disturbs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.kinematics import Pose, pose
from bunraku.locomotion.guide.performance import Performance
from bunraku.locomotion.guide.performer import Performer
from bunraku.spatial import so3

Array = NDArray[np.float64]
EVERY = 4
"""Ticks between which planned efforts are drawn straight: where feet take over from each other they jump, and servos would ring."""


@dataclass(frozen=True)
class Gains:
    """Of the feedback."""

    ankle: float = 4.0
    """Metres of ZMP for a metre of capture point; more than 1, or it falls."""
    lag: float = 0.015
    """Time constant with which velocities are measured [s]."""


class Stabiliser:
    """Holds what it measured last; one for each robot. `stiffness` and `damping` (motors,) are those of its servos."""

    def __init__(self, performer: Performer, stiffness: Array, damping: Array, *, gains: Gains = Gains()) -> None:
        self.performer, self.stiffness, self.damping, self.gains = performer, stiffness, damping, gains
        own = performer.guide.humanoid
        self._weight = own.figure.mass * 9.81
        self._ankles = [self._axes(foot) for foot in own.feet]
        self._last: Array | None = None
        self._speed = np.zeros(3)
        self._plan: tuple[Performance, Array] | None = None

    def _axes(self, foot: str) -> tuple[tuple[int, Array], ...]:
        """The last two joints of a leg: place among the motors, and axis in the world at home."""
        figure, here = self.performer.guide.humanoid.figure, self.performer.guide.humanoid.pose
        names: list[str] = []
        frame = figure.frame(foot)
        while len(names) < 2:
            if frame.variable is not None:
                names.append(frame.variable.name)
            frame = figure.frame(frame.parent)
        motors = [figure.names[k] for k in self.performer.body.motors]
        J = here.jacobian(foot)
        return tuple((motors.index(variable), J[3:, figure.index(variable)]) for variable in names)

    def targets(self, done: Performance, k: int, measured: Array, before: Array) -> Array:
        """Joint targets (motors,) for tick k of a performance; `measured` is the configuration that the robot reports."""
        move, own, gains = done.move, self.performer.guide.humanoid, self.gains
        dt, motors = move.segment.dt, self.performer.body.motors
        here = pose(own.figure, measured)
        com = here.com
        if self._last is not None:
            self._speed += (dt / (gains.lag + dt)) * ((com - self._last) / dt - self._speed)
        self._last = com
        shares = done.shares[k]
        error = self._capture_error(here, done, k, shares)
        after = min(k + 1, len(done.q) - 1)
        rate = (done.q[after] - done.q[max(k - 1, 0)])[motors] / (dt * max(after - max(k - 1, 0), 1))
        out = done.q[k][motors] + (self._efforts(done, before)[k] + self.damping * rate) / self.stiffness
        self._push(out, here, move.feet[k, :, 3], shares, gains.ankle * error)
        return np.asarray(out)

    def _efforts(self, done: Performance, before: Array) -> Array:
        if self._plan is None or self._plan[0] is not done:
            ticks = np.arange(len(done.q))
            columns = self.performer.judge.efforts(done, before)[::EVERY].T
            self._plan = done, np.stack([np.interp(ticks, ticks[::EVERY], column) for column in columns], 1)
        return self._plan[1]

    def _capture_error(self, here: Pose, done: Performance, k: int, shares: Array) -> Array:
        own, row = self.performer.guide.humanoid, done.move.segment.samples[k]
        floor = done.move.segment.floors[k]
        omega = math.sqrt(9.81 / (row[2] - floor))
        stands = sum(share * here.point(foot) for share, foot in zip(shares, own.feet, strict=True))
        planned = shares @ done.move.feet[k, :, :3]
        capture = here.com + self._speed / omega - stands
        return np.asarray((capture - (row[:3] + row[3:6] / omega - planned))[:2])

    def _push(self, out: Array, here: Pose, yaws: Array, shares: Array, shift: Array) -> None:
        """Efforts of the ankles that shift the ZMP: a moment of weight × shift about the horizontal axes, shared by the feet."""
        most = 0.4 * np.ptp(self.performer.guide.humanoid.sole, axis=0).min()
        size = float(np.linalg.norm(shift))
        shift = shift * min(1.0, most / max(size, 1e-9))
        # The foot presses where the ZMP shall be: about y for a shift along x, about −x for one along y.
        moment = self._weight * np.array([-shift[1], shift[0], 0.0])
        for foot in (0, 1):
            R = so3.about(2, float(yaws[foot]))
            for motor, axis in self._ankles[foot]:
                out[motor] += shares[foot] * float(moment @ (R @ axis)) / self.stiffness[motor]
