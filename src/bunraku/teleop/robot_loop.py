"""The control loop of a robot: a session plans, a stabiliser balances, the robot moves and measures.

The same loop drives a robot in MuJoCo and one behind a socket, on the stage and without it:

    loop = RobotLoop(session, robot)
    session.command = Command("trunk", move=(1, 0, 0))
    tick, measured = loop.tick()
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bunraku.kinematics import pose
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.navigation_points import Points
from bunraku.locomotion.guide.segment import ComState
from bunraku.locomotion.guide.session import Session, Tick
from bunraku.locomotion.guide.stabiliser import Stabiliser, StabiliserOptions
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


class Robot(Protocol):
    """The interface of a robot that takes joint targets."""

    motors: tuple[str, ...]
    """Names of the variables that have a motor."""
    dt: float
    """Control period [s]."""

    @property
    def servos(self) -> tuple[Array, Array]:
        """Stiffness and damping of the motors."""
        ...

    @property
    def q(self) -> Array:
        """The measured configuration."""
        ...

    @property
    def soles(self) -> Array | None:
        """What the ground does to each sole (2, 3): the force along its z axis [N], and its moments about its x and y axes [N m].
        None if the robot does not feel it."""
        ...

    def step(self, targets: Array) -> Array:
        """One control period with joint `targets`, in the order of `motors`; returns the measured configuration."""
        ...

    def ahead(self, targets: Array) -> None:
        """Joint `targets` (n, motors), one row for each control period from the next step on, that end at rest: what to play if
        nothing more is heard."""
        ...

    @property
    def late(self) -> int:
        """How many control periods it has already played by itself, because targets came too late."""
        ...

    def skip(self, ticks: int) -> None:
        """Leaves out so many `ticks`, which it has played by itself."""
        ...


class RobotLoop:
    """Plays a session on a robot, tick by tick.

    session: plans the motion
    robot: moves
    gains: of the stabiliser
    ease: how long it takes from the posture of the robot to that of the session [s]
    """

    def __init__(
        self, session: Session, robot: Robot, *, gains: StabiliserOptions = StabiliserOptions(), ease: float = 1.0
    ) -> None:  # fmt: skip
        self.session, self.robot, self._ease = session, robot, ease
        self.humanoid = session.performer.guide.humanoid
        self._stabiliser = Stabiliser(session.performer, *robot.servos, options=gains)
        self._brisk = session.performer.guide.options.brisk  # its moves leave no time to wait
        self._motors = self.humanoid.figure.indices(robot.motors)
        self._told: GuidedMove | None = None
        self._away = robot.q[self._motors] - session.before[-1, self._motors]  # it may begin in another posture
        session.slip = lambda done, k: slipped(self.humanoid, done, k, self.robot.q)

    def tick(self) -> tuple[Tick, Array]:
        """Advances by one control period; returns the sample of the plan and the measured configuration (n_q,)."""
        late = self.robot.late
        if late:  # it has gone on with this move
            self.session.play_on(late)
            self.robot.skip(late)
        tick = self.session.tick()
        told = self._told is not None and tick.performance in (self._told, self._told.stop)
        if not told:
            self._told = tick.performance
            self.robot.ahead(tick.performance.to_rest[tick.k :, self._motors] + self._stabiliser.shift)
        left = 1.0 - float(eased(np.array(min(tick.t / self._ease, 1.0))))
        targets = self._stabiliser.targets(tick.performance, tick.k, self.robot.q, self.robot.soles) + left * self._away
        self.session.unsteady = self._stabiliser.unsteady and not self._brisk
        return tick, self.robot.step(targets)

    @property
    def fallen(self) -> bool:
        """Whether its centre of mass is too low for standing."""
        return fallen(self.humanoid, self.robot.q)


def fallen(humanoid: Humanoid, q: Array, *, share: float = 0.6) -> bool:
    """Whether the centre of mass of a `humanoid` at `q` (n_q,) is lower than a `share` of its height above the soles at home."""
    here = pose(humanoid.figure, q)
    high = float(here.com[2] - min(here.point(foot)[2] for foot in humanoid.feet))
    return high < share * humanoid.height


def standing_points(guide: Guide, q: Array) -> Points:
    """The points of a robot of this `guide` that stands at rest at `q` (n_q,), on both feet, wherever they are."""
    own, here, feet = guide.humanoid, pose(guide.humanoid.figure, q), []
    for foot, axes in zip(own.feet, own.foot_axes, strict=True):
        R, (x, y, _) = here.X(foot)[:3, :3] @ axes.T, here.point(foot)
        feet.append([x, y, 0.0, math.atan2(R[1, 0], R[0, 0])])
    feet[1][3] = feet[0][3] + math.remainder(feet[1][3] - feet[0][3], 2.0 * math.pi)
    for at in feet:
        at[2] = guide.ground.under(own.sole, np.array(at))[0]
    where = np.array(feet)
    x, y, _, yaw = where.mean(0).tolist()
    return replace(guide.start(x=x, y=y, yaw=yaw), com=ComState.at_rest(here.com), feet=where, stood=where)


def slipped(humanoid: Humanoid, done: GuidedMove, k: int, measured: Array) -> tuple[Array, float]:
    """How far the standing feet of a `humanoid` have moved from the plan at tick `k` of the move `done`: (x, y) [m] and yaw [rad].

    measured: the measured configuration (n_q,). Later moves start from the actual state (*guiding* V).
    """
    planned, here = done.move.feet[k], pose(humanoid.figure, measured)
    stand = [foot for foot in (0, 1) if done.move.stands(foot)[k]]
    turns = []
    for foot in stand:
        R = here.X(humanoid.feet[foot])[:3, :3] @ humanoid.foot_axes[foot].T
        turns.append(math.remainder(math.atan2(R[1, 0], R[0, 0]) - float(planned[foot, 3]), 2.0 * math.pi))
    turn, about = float(np.mean(turns)), done.end.feet[:, :2].mean(0)
    c, s = math.cos(turn), math.sin(turn)
    away = planned[:, :2] - about
    turned = about + np.stack([c * away[:, 0] - s * away[:, 1], s * away[:, 0] + c * away[:, 1]], 1)
    off = [here.point(humanoid.feet[foot])[:2] - turned[foot] for foot in stand]
    return np.asarray(np.mean(off, axis=0)), turn


@dataclass
class Drive:
    """Planned and measured configurations at every tick."""

    planned: list[Array] = field(default_factory=list)
    measured: list[Array] = field(default_factory=list)


def drive(
    session: Session, robot: Robot, commands: Iterable[Command], *, gains: StabiliserOptions = StabiliserOptions(),
    going: Callable[[], bool] = lambda: True, keep: bool = True,
) -> Drive:  # fmt: skip
    """Performs commands with a robot, one move for each. The targets of each tick depend on the measurement of the tick before.

    session: plans the motion
    robot: the robot, or a link to one
    commands: the operator's commands, in order
    gains: gains of the stabiliser
    going: called after every tick; the drive ends when it returns False
    keep: whether configurations are recorded

    Returns the recording; raises BunrakuError if the robot no longer answers.
    """
    loop, record = RobotLoop(session, robot, gains=gains), Drive()
    for command in commands:
        session.command = command
        while True:
            began = perf_counter()
            tick, measured = loop.tick()
            session.times.timed(perf_counter() - began)
            if keep:
                record.planned.append(tick.q)
                record.measured.append(measured)
            if not going():
                return record
            if session.idle:
                break
    return record
