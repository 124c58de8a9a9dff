"""Stabiliser: joint targets for simulated servos, from a guided move and the robot's measured configuration.

Two corrections are added to the planned joints: the deflection of each servo under its planned effort and friction; and efforts
that shift the ZMP by ΔZMP = k(ξ − ξ_planned), where ξ is the capture point of the measured centre of mass. On two feet the legs
shift it from one foot towards the other, by bearing more or less; ankles do the rest.
Errors are relative to the standing feet, so slipping has no effect. With a robot that feels the ground, the legs also follow the
`FeltGround`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.kinematics import Pose, pose
from bunraku.locomotion.guide.com_zmp import GRAVITY
from bunraku.locomotion.guide.error_filter import ErrorFilter
from bunraku.locomotion.guide.felt_ground import FeltGround
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.leg_shift import LegShift
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StabiliserOptions:
    """Numbers that tune the feedback."""

    ankle: float = 4.0
    """Gain k from capture point to ZMP [m/m]; at 1 or below the robot falls."""
    lag: float = 0.015
    """Time constant with which errors of the centre of mass are followed, if measurements are without noise [s]."""
    noise: float = 0.004
    """Noise that may be left in the velocity of the centre of mass, as a share of √(g · height): more noise, slower filter."""
    noisy: float = 2.0
    """If noise makes the filter slower than this factor, the plan's ground is trusted more than the soles."""
    upright: float = 1.0
    """How long it takes to stand upright, if it begins to lean because the ground slopes [s]."""
    rise: float = 0.08
    """Time constant with which the body follows the height of the ground below the standing feet [s]."""
    pushed: float = 0.4
    """Distance of the capture point from the plan, as a share of the width of a sole, from which no step should begin."""
    settled: float = 0.1
    """The same for the end of a disturbance: the distance must stay below it."""
    settling: float = 0.2
    """For how long [s]."""
    patience: float = 2.0
    """How long steps wait at most [s]."""
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
        height = own.height
        self._error = ErrorFilter(GUIDE_TICK, options.lag, options.noise * math.sqrt(GRAVITY * height))
        self._ticks, self._left = 0, 1.0
        self._lean = np.zeros(2)
        self._raised = 0.0
        self._unsteady, self._calm = 0.0, 0.0
        self.ground = FeltGround(own, GUIDE_TICK)
        self._legs = LegShift(own)
        order = {int(k): motor for motor, k in enumerate(performer.body.motors)}
        self._leg_motors = [np.array([order[int(k)] for k in joints]) for joints in self._legs.joints]
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

    @property
    def shift(self) -> Array:
        """By how much the joints (motors,) are moved now, because the ground is not where the plan has it [rad]."""
        return np.asarray(self._legs.last[self.performer.body.motors])

    @property
    def unsteady(self) -> bool:
        """Whether the capture point has been far from the plan, and has not come back for long enough."""
        return 0.0 < self._unsteady <= self.options.patience

    def _watch(self, away: float) -> None:
        """Notes how far `away` the capture point is from the plan [m]."""
        options, width = self.options, float(np.ptp(self.performer.guide.humanoid.sole[:, 1]))
        self._calm = self._calm + GUIDE_TICK if away < options.settled * width else 0.0
        if self._calm > options.settling:
            self._unsteady = 0.0
        elif self._unsteady or away > options.pushed * width:
            self._unsteady += GUIDE_TICK

    def targets(self, done: GuidedMove, k: int, measured: Array, soles: Array | None = None) -> Array:
        """Joint targets (motors,) for tick `k` of the move `done`, which must have its `efforts`.

        measured: the configuration that the robot reports (n_q,)
        soles: of each sole the force [N] and its moments about x and y [N m] (2, 3), if the robot feels them
        """
        move, own, options = done.move, self.performer.guide.humanoid, self.options
        dt, motors = move.segment.dt, self.performer.body.motors
        here = pose(own.figure, measured)
        shares = done.shares[k]
        self._left = 1.0 - float(eased(np.array(min(self._ticks * dt / options.upright, 1.0))))
        self._ticks += 1
        error = self._capture_error(here, done, k, shares)
        self._watch(float(np.hypot(*error)))
        after = min(k + 1, len(done.q) - 1)
        rates, wanted = (done.q[after] - done.q[max(k - 1, 0)]) / (dt * max(after - max(k - 1, 0), 1)), done.q[k]
        if soles is not None and not self.performer.guide.options.brisk:  # steps in motion leave no time to yield
            if self._error.slower < options.noisy:
                self.ground.feel(done, k, here, soles, float(np.hypot(*error)))
                for foot in np.flatnonzero(self.ground.early(done, k)):
                    rates[self._legs.joints[foot]] = 0.0
            else:
                self.ground.forget()
            lean = self._left * self.ground.first
            heights = self.ground.heights - move.feet[k, :, :2] @ np.array([-lean[1], lean[0]])
            self._raised += dt / (options.rise + dt) * (float(shares @ heights) - self._raised)
            wanted = self._legs.shifted(wanted, heights - self._raised, self.ground.tilts - lean)
        rate = rates[motors]
        lost = (self.damping + self._viscous) * rate + self._dry * np.tanh(rate / options.creep)
        out = wanted[motors] + (self._efforts(done)[k] + lost) / self.stiffness
        shift = self._inside(done, k, options.ankle * error)
        if move.stands(0)[k] and move.stands(1)[k] and not self.performer.guide.options.brisk:
            shift, shares = self._weigh(out, here, move.feet[k, :, :2], shares, shift)
        self._push(out, here, move.feet[k, :, 3], shares, shift)
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
        omega = math.sqrt(GRAVITY / (row[2] - done.move.segment.floors[k]))
        stands = sum(share * here.point(foot) for share, foot in zip(shares, own.feet, strict=True))
        planned = row[:3] - shares @ done.move.feet[k, :, :3]
        away = (here.com - stands - planned)[:2]
        begins = round(self.ground.options.begins / GUIDE_TICK)
        self._lean = self._lean + (away - self._lean) / self._ticks if self._ticks <= begins else self._lean
        position, velocity = self._error.followed(away - self._left * self._lean)
        return np.asarray(position + velocity / omega)

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

    def _weigh(self, out: Array, here: Pose, places: Array, shares: Array, shift: Array) -> tuple[Array, Array]:
        """Adds efforts of the legs that shift the ZMP along the line between two standing feet: one bears more, the other less.

        Returns the rest of the `shift` and the new shares of both feet.
        """
        way, feet = places[1] - places[0], self.performer.guide.humanoid.feet
        right = min(max(float(shares[1] + shift @ way / (way @ way)), 0.0), 1.0)
        more = self._weight * (right - float(shares[1]))
        for foot, force in ((0, -more), (1, more)):
            motors = self._leg_motors[foot]
            out[motors] -= force * here.jacobian(feet[foot])[2, self._legs.joints[foot]] / self.stiffness[motors]
        return shift - (right - shares[1]) * way, np.array([1.0 - right, right])

    def _push(self, out: Array, here: Pose, yaws: Array, shares: Array, shift: Array) -> None:
        """Adds efforts of the ankles that shift the ZMP: a moment of weight × shift, divided between the feet."""
        # The moment acts about y for a shift along x, and about −x for one along y.
        moment = self._weight * np.array([-shift[1], shift[0], 0.0])
        for foot in (0, 1):
            R = so3.about(2, float(yaws[foot]))
            for motor, axis in self._ankles[foot]:
                out[motor] += shares[foot] * float(moment @ (R @ axis)) / self.stiffness[motor]
