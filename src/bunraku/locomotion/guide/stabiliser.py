"""Stabiliser: joint targets for simulated servos, from a guided move and the robot's measured configuration.

Two corrections are added to the planned joints: the deflection of each servo under its planned effort and friction; and, at the
ankles, an effort that shifts the ZMP by ΔZMP = k(ξ − ξ_planned), where ξ is the capture point of the measured centre of mass.
Errors are relative to the standing feet, so slipping has no effect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.kinematics import Pose, pose
from bunraku.locomotion.guide.com_zmp import GRAVITY
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.performer import Performer
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StabiliserOptions:
    """Numbers that tune the feedback."""

    ankle: float = 4.0
    """Gain k from capture point to ZMP [m/m]; at 1 or below the robot falls."""
    lag: float = 0.015
    """Time constant of the low-pass filter of measured velocities [s]."""
    edge: float = 0.1
    """Distance that a shifted ZMP keeps from the edge of the support polygon, as a share of the smaller size of a sole."""
    creep: float = 0.05
    """Speed above which the dry friction of a joint is compensated in full [rad/s]."""
    every: int = 4
    """Planned efforts are interpolated over this number of ticks: they jump when one foot takes over from the other, and servos
    would oscillate."""


class Stabiliser:
    """Feedback for one robot; it stores the last measurement.

    performer: plans the moves that are played
    stiffness, damping: of the servos (motors,) [N m/rad, N m s/rad]
    options: gains
    """

    def __init__(
        self, performer: Performer, stiffness: Array, damping: Array, *, options: StabiliserOptions = StabiliserOptions()
    ) -> None:  # fmt: skip
        self.performer, self.stiffness, self.damping, self.options = performer, stiffness, damping, options
        own = performer.guide.humanoid
        self._weight = own.figure.mass * GRAVITY
        names = [own.figure.names[j] for j in performer.body.motors]
        self._viscous = np.array([own.figure.variables[j].damping for j in performer.body.motors])
        self._dry = np.array([own.servos[name].friction if name in own.servos else 0.0 for name in names])
        self._ankles = [self._axes(foot) for foot in own.feet]
        self._last: Array | None = None
        self._speed = np.zeros(3)
        self._plan: tuple[GuidedMove, Array] | None = None

    def _axes(self, foot: str) -> tuple[tuple[int, Array], ...]:
        """The last two joints of a leg: index among the motors, and axis in the world in the home configuration."""
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

    def targets(self, done: GuidedMove, k: int, measured: Array) -> Array:
        """Joint targets (motors,) for tick `k` of the move `done`, which must have its `efforts`.

        `measured` (n_q,) is the configuration that the robot reports.
        """
        move, own, options = done.move, self.performer.guide.humanoid, self.options
        dt, motors = move.segment.dt, self.performer.body.motors
        here = pose(own.figure, measured)
        com = here.com
        if self._last is not None:
            self._speed += (dt / (options.lag + dt)) * ((com - self._last) / dt - self._speed)
        self._last = com
        shares = done.shares[k]
        error = self._capture_error(here, done, k, shares)
        after = min(k + 1, len(done.q) - 1)
        rate = (done.q[after] - done.q[max(k - 1, 0)])[motors] / (dt * max(after - max(k - 1, 0), 1))
        lost = (self.damping + self._viscous) * rate + self._dry * np.tanh(rate / options.creep)
        out = done.q[k][motors] + (self._efforts(done)[k] + lost) / self.stiffness
        self._push(out, here, move.feet[k, :, 3], shares, self._inside(done, k, options.ankle * error))
        return np.asarray(out)

    def _efforts(self, done: GuidedMove) -> Array:
        if self._plan is None or self._plan[0] is not done:
            assert done.efforts is not None, "only planned moves have efforts"
            ticks, every = np.arange(len(done.q)), self.options.every
            columns = done.efforts[::every].T
            self._plan = done, np.stack([np.interp(ticks, ticks[::every], column) for column in columns], 1)
        return self._plan[1]

    def _capture_error(self, here: Pose, done: GuidedMove, k: int, shares: Array) -> Array:
        own, row = self.performer.guide.humanoid, done.move.segment.samples[k]
        floor = done.move.segment.floors[k]
        omega = math.sqrt(GRAVITY / (row[2] - floor))
        stands = sum(share * here.point(foot) for share, foot in zip(shares, own.feet, strict=True))
        planned = shares @ done.move.feet[k, :, :3]
        capture = here.com + self._speed / omega - stands
        return np.asarray((capture - (row[:3] + row[3:6] / omega - planned))[:2])

    def _inside(self, done: GuidedMove, k: int, shift: Array) -> Array:
        """The shift of the ZMP (2,) [m], reduced where the ZMP would come too near to an edge of the support polygon."""
        segment, planned = done.move.segment, done.zmp[k]
        own = segment.phases[int(segment.phase_of(np.array([k]))[0])].region
        near = self.options.edge * float(np.ptp(self.performer.guide.humanoid.bearing, axis=0).min())
        at = planned + shift
        for _ in range(2):  # a corner takes two
            for x, y, offset in own.edges:
                short = min(offset + near, x * planned[0] + y * planned[1]) - (x * at[0] + y * at[1])
                at = at + max(short, 0.0) * np.array([x, y])
        return np.asarray(at - planned)

    def _push(self, out: Array, here: Pose, yaws: Array, shares: Array, shift: Array) -> None:
        """Adds efforts of the ankles that shift the ZMP: a moment of weight × shift, divided between the feet."""
        # The moment acts about y for a shift along x, and about −x for one along y.
        moment = self._weight * np.array([-shift[1], shift[0], 0.0])
        for foot in (0, 1):
            R = so3.about(2, float(yaws[foot]))
            for motor, axis in self._ankles[foot]:
                out[motor] += shares[foot] * float(moment @ (R @ axis)) / self.stiffness[motor]
