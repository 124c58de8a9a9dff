"""Performer: moves that the whole body can perform: ZMP inside the support polygon, motors within limits, no collisions.

The point mass of a segment is only a model: swinging limbs move the ZMP. So inverse kinematics follows a segment once and measures
the error of the ZMP; then the segment is planned again with support polygons shifted by that error. This dynamics filter cannot
leave the polygon, and moves join exactly. If a limit is still violated, the move is made longer; if no duration helps, a half and
then a quarter of the command is tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.kinematics import pose
from bunraku.locomotion.guide.com_zmp import SAMPLE_COLUMNS
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command, trusted
from bunraku.locomotion.guide.guided_move import Fault, GuidedMove, Reason
from bunraku.locomotion.guide.judge import Judge
from bunraku.locomotion.guide.move import Move
from bunraku.locomotion.guide.navigation_points import NO_FOOT, Points, Subgoals
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.whole_body import WholeBody
from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import PEAK

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PerformerOptions:
    """How much a performer computes. The unit of effort is following one segment of the default duration. The efforts are bounded
    so that a refusal does not take longer than a move."""

    filtered: float = 0.5
    """Share of the planner's margin that the ZMP keeps after the model's error has been compensated."""
    wider: float = 1.6
    """The margin of a step that ends in motion, in multiples of the planner's: feedback needs more room than in a step to rest."""
    finer: float = 0.5
    """By how much a segment that begins or ends in motion is made longer, as a share of what others are."""
    filters: int = 2
    """How many times a segment that begins or ends in motion is planned again with the error of the model, before it is made
    longer; others only once."""
    shares: tuple[tuple[float, float], ...] = ((1.0, 10.0), (0.5, 3.0), (0.25, 2.5))
    """Shares of a command that are tried, and the maximum effort for each."""
    onward_shares: tuple[tuple[float, float], ...] = ((1.0, 4.0), (0.75, 3.0), (0.5, 3.0))
    """The same for steps that end in motion, which are tried first."""
    redirecting: float = 4.0
    """Maximum effort for a command that begins in the middle of a move."""
    reaching: int = 2
    """How many times a hand's goal is replaced by the position that the arm reaches. At joint limits, that differs each time."""
    stopping: float = 3.0
    """Maximum effort for each way to stop after a step that ends in motion."""
    nearer: float = 2.5
    """Maximum effort for each of these."""
    slower: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0, 5.0)
    """Durations of stops that are tried, in multiples of the shortest."""
    nearly: float = 0.1
    """Excess, as a share of the limit, below which longer moves are always tried."""
    look_back: int = 5
    """Number of samples before a move that its derivatives at the start need."""


@dataclass(frozen=True, eq=False)
class Performer:
    """A guide whose moves are checked on, and performed by, a whole body."""

    guide: Guide
    options: PerformerOptions = PerformerOptions()
    body: WholeBody = field(init=False)
    judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", WholeBody(self.guide.humanoid))
        object.__setattr__(self, "judge", Judge(self.guide, self.body))

    def next(
        self, points: Points, command: Command, before: Array, *, onward: bool = False, stop: GuidedMove | None = None
    ) -> GuidedMove:  # fmt: skip
        """The move from `points` that obeys a `command` as far as the whole body can.

        `before` (≥ `options.look_back`, n_q) are the last samples. If the command cannot be obeyed at all, the move comes to rest
        and is `refused`. With `onward` a step may end in motion, if a stop after it can be planned, too. `stop` is that of the move
        before, if that ended so.
        """
        command, wrong = trusted(command)
        points = self._with_axes(points, before)
        rules, options, why = self.guide.rules, self.options, ""
        for share, most in options.onward_shares if onward else ():
            goals = rules.subgoals(points, _part(command, share), onward=True)
            if stop is not None and goals.swings == NO_FOOT:
                return replace(stop, notice=wrong)
            if goals.onward is None:
                break
            done, fault = self._onward(points, goals, before, most)
            if done is not None:
                return replace(done, notice=wrong or goals.notice or why)
            why = why or fault.said
        for share, most in options.shares:
            asked = command if share == 1.0 else _part(command, share)
            goals = replace(rules.subgoals(points, asked, onward=onward), onward=None)
            done, fault = self._realise(points, goals, before, most)
            for _ in range(options.reaching if share == 1.0 else 1):
                if done is not None and fault.why in (Reason.ARM, Reason.WRIST):
                    goals, why = self._within_reach(goals, done.q[-1]), why or fault.said
                    done, fault = self._realise(points, goals, before, min(most, options.nearer))
            if done is not None and not fault.why:
                return replace(done, notice=wrong or goals.notice or why)
            why = why or fault.said
            if command.idle and not any(command.lift):
                break
        if stop is not None:
            return replace(stop, notice=wrong or why)
        return self._stop(points, rules.subgoals(points, command), before, why)

    def _onward(self, points: Points, goals: Subgoals, before: Array, most: float) -> tuple[GuidedMove | None, Fault]:
        """A step that ends in motion, with the stop that could follow it; otherwise None, and why not."""
        done, fault = self._realise(points, goals, before, most)
        if done is None or fault.why:
            return None, fault
        stop = self._stop_after(done)
        return (None, Fault(Reason.STOP)) if stop is None else (replace(done, stop=stop), fault)

    def _stop_after(self, done: GuidedMove) -> GuidedMove | None:
        """A move that comes to rest after `done`, where the feet stand or with one more step."""
        points, before, rules = done.end, done.q[-self.options.look_back :], self.guide.rules
        for goals in (rules.subgoals(points, Command()), rules.last_step(points)):
            stop, fault = self._realise(points, goals, before, self.options.stopping)
            if stop is not None and not fault.why:
                return stop
        return None

    def redirect(self, done: GuidedMove, k: int, command: Command, *, onward: bool = False) -> GuidedMove | None:
        """A move that takes over at tick `k` of the move `done` and obeys another `command`; None if none can begin at once.

        `onward` is as in `next`.
        """
        command, wrong = trusted(command)
        if not self.interruptible(done, k):
            return None
        points = self._with_axes(done.move.at(k), done.q[: k + 1])
        before, most = done.q[k + 1 - self.options.look_back : k + 1], self.options.redirecting
        for goals in self._elsewhere(done.move, points, command, onward):
            realise = self._realise if goals.onward is None else self._onward
            new, fault = realise(points, replace(goals, sway=0.0), before, most)
            if new is not None and not fault.why and self._above_ground(new.move) and done.stands_at(k, new.zmp[0]):
                return replace(new, notice=wrong or goals.notice)
        return None

    def interruptible(self, done: GuidedMove, k: int) -> bool:
        """Whether another move may take over at tick `k` of the move `done`: the samples just before must have the same standing
        feet."""
        ends = done.move.segment.ends
        return not (done.quiet or done.move.releases or k < self.options.look_back or any(0 < k - end < 3 for end in ends))

    def _elsewhere(self, move: Move, points: Points, command: Command, onward: bool) -> Iterator[Subgoals]:
        """Subgoals for a command in the middle of a move: a swinging foot either steps where the command would have sent it at the
        start of the move, or is put down a little ahead."""
        rules, foot = self.guide.rules, points.aloft
        if not points.rates.touch or command.guided == ("left_foot", "right_foot")[foot]:
            yield rules.subgoals(points, command, onward=onward)
            return
        if move.start.aloft == NO_FOOT:
            first = rules.subgoals(move.start, command, onward=onward)
            if first.swings == foot and first.lands:
                yield first
        ahead = points.feet.copy()
        ahead[foot] += 0.5 * points.rates.touch * points.rates.feet[0][foot]
        yield rules.landing(replace(points, feet=ahead), command.guided)

    def _above_ground(self, move: Move) -> bool:
        """Whether a swinging foot stays above the ground after its goal has changed."""
        foot = move.goals.swings
        if foot == NO_FOOT:
            return True
        way, sole = move.feet[:, foot], self.guide.humanoid.sole
        some = way[:: max(len(way) // 12, 1)]
        return all(float(at[2]) >= self.guide.ground.under(sole, at)[0] - 1e-6 for at in (*some, way[way[:, 2].argmin()]))

    def _stop(self, points: Points, goals: Subgoals, before: Array, why: str) -> GuidedMove:
        """A move that comes to rest, upright with arms as in the home configuration, or in the current posture. If all candidates
        violate a limit, it is the one that violates least; keeping the ZMP on the feet comes first."""
        found = []
        if points.posture is None:  # no hand pulls any more: start from the trunk's actual attitude
            points = replace(points, trunk=self._attitude(points, before[-1]))
        for home in (True, False):
            stop = (self.guide.rules.stopping if home else self.guide.rules.holding)(points, goals)
            for done in self._quietly(points, stop, before, home=home):
                found.append(replace(done, refused=True, notice=f"{why or stop.notice}: that cannot be done from here"))
                if not self.judge.fault(done, before, strength=1.0).why:
                    return found[-1]
        assert found, "a stop can always be planned"
        return min(found, key=lambda done: self.judge.excess(done, before))

    def _quietly(self, points: Points, stop: Subgoals, before: Array, *, home: bool) -> Iterator[GuidedMove]:
        """Stops of increasing duration, with arms that stay or return home joint by joint."""
        away = np.abs(self.guide.humanoid.home - before[-1])[self.body.motors] / self.judge.speed * home
        phases, whole, lasts = self.guide.prepared(points, stop)
        lasts = max(lasts, PEAK * float(away.max()))
        for slower in self.options.slower:
            segment = self.guide.planner.attempt(points.com, phases, stop.com, slower * lasts)
            if segment is not None:
                move = whole(segment)
                Q, posture = self.body.follow_quietly(move, before[-1], home=home)
                yield replace(self._judged(move, Q, before), end=self._ended(move, Q[-1], posture), quiet=True)

    def _within_reach(self, goals: Subgoals, q: Array) -> Subgoals:
        """The same subgoals, with the guided hand's goal where the arm actually ends."""
        here = pose(self.guide.humanoid.figure, q)
        hands, axes = list(goals.hands), list(goals.hand_axes)
        for k, frame in enumerate(self.guide.humanoid.hands):
            if goals.hands[k][0]:
                X_WH = here.X(frame)
                hands[k], axes[k] = (True, X_WH[:3, 3].copy()), None if axes[k] is None else X_WH[:3, :3].copy()
        return replace(goals, hands=(hands[0], hands[1]), hand_axes=(axes[0], axes[1]))

    def _with_axes(self, points: Points, Q: Array) -> Points:
        """The points, with axes and angular velocities of free hands taken from the last samples."""
        if all(points.held):
            return points
        own = self.guide.humanoid
        before, now = (pose(own.figure, q) for q in Q[-2:])
        axes, (turning, bending) = points.hand_axes.copy(), (rate.copy() for rate in points.rates.turning)
        for k, frame in enumerate(own.hands):
            if not points.held[k]:
                axes[k] = now.X(frame)[:3, :3]
                turning[k], bending[k] = so3.log(axes[k] @ before.X(frame)[:3, :3].T) / GUIDE_TICK, 0.0
        rates = points.rates if points.rates.between else replace(points.rates, turning=(turning, bending))
        return replace(points, hand_axes=axes, rates=rates)

    def _realise(self, points: Points, goals: Subgoals, before: Array, most: float) -> tuple[GuidedMove | None, Fault]:
        """The shortest move without a fault, or the last one tried, with its fault.

        `most` is the maximum effort, in segments of the default duration.
        """
        planner, options = self.guide.planner, self.options
        if goals.onward is not None:
            planner = replace(planner, margin=options.wider * planner.margin)
        moving = points.onward is not None or goals.onward is not None
        phases, whole, lasts = self.guide.prepared(points, goals)
        done, last, passes, left = None, Fault(), 0, most * planner.duration
        fault = Fault(Reason.ZMP)
        while lasts <= min(planner.longest, left if passes else math.inf) + 1e-9:
            speed = self.guide.speed(points, goals, lasts)
            segment = planner.attempt(points.com, phases, goals.com, lasts, speed=speed)
            step, near = planner.longer, planner.near if speed is None else planner.onward_near
            if segment is not None and max(segment.miss) <= near:
                done = self._follow(whole(segment), before)
                fault, passes, left = self.judge.fault(done, before), passes + 1, left - lasts
                for _ in range(options.filters if moving else 1):
                    if fault.why != Reason.ZMP:
                        break
                    off = done.zmp - done.move.segment.samples[:, SAMPLE_COLUMNS.zmp :]
                    closer = replace(planner, margin=options.filtered * planner.margin)
                    segment = closer.attempt(points.com, phases, goals.com, lasts, off=off, speed=speed, closely=moving)
                    if segment is None or max(segment.miss) > 2.0 * near:
                        break
                    done = self._follow(whole(segment), before)
                    fault, passes, left = self.judge.fault(done, before), passes + 1, left - lasts
                if not fault.why:
                    return replace(done, passes=passes), fault
                step = fault.longer
                if not step or fault.hopeless(last, left / lasts, options.nearly):
                    return done, fault
                last = fault
            lasts += max(step, planner.longer) * (options.finer if moving else 1.0)
        return done, fault

    def _follow(self, move: Move, before: Array) -> GuidedMove:
        return self._judged(move, self.body.follow(move, before[-1]), before)

    def _judged(self, move: Move, Q: Array, before: Array) -> GuidedMove:
        segment, floors = move.segment, move.segment.floors
        Q[0] = before[-1]  # the sample that was played; the first step corrects any difference
        whole = np.concatenate([before[-3:-1], Q])
        zmp, _, grip = self.body.contact(whole, before[:-3], np.concatenate([floors[[0, 0]], floors]), segment.dt)
        alone = ~(move.stands(0) & move.stands(1))
        alone[-2:] = False  # one-sided differences
        # The last two samples have one-sided differences only; they are checked with the next move.
        last, zmp = zmp[:2], zmp[2:]
        zmp[-2:] = segment.samples[-2:, SAMPLE_COLUMNS.zmp :] + (zmp[-3] - segment.samples[-3, SAMPLE_COLUMNS.zmp :])
        least = min(float(segment.margin_of(zmp).min()), float(segment.phases[0].region.margin(last).min()))
        needs = grip[2:][alone].max(0) if alone.any() else np.zeros(2)
        return GuidedMove(move, Q, zmp, least, 1, move.end, grip=(float(needs[0]), float(needs[1])))

    def _attitude(self, points: Points, q: Array) -> Array:
        """Roll, pitch and yaw of the trunk at q [rad]."""
        own = self.guide.humanoid
        yaw, pitch, roll = so3.angles_zyx(pose(own.figure, q).X(own.trunk)[:3, :3] @ own.facing.T)
        turned = points.trunk[2] + math.remainder(float(yaw - points.trunk[2]), 2.0 * math.pi)
        return np.array([roll, pitch, turned])

    def _ended(self, move: Move, q: Array, posture: Array) -> Points:
        """The points at the end of a quiet move (whose arms move joint by joint), with hand positions computed from the joints."""
        here = pose(self.guide.humanoid.figure, q)
        hands = np.array([here.point(hand) for hand in self.guide.humanoid.hands])
        return replace(move.end, hands=hands, held=(False, False), posture=posture)


def _part(command: Command, share: float) -> Command:
    (x, y, z), (roll, pitch, yaw) = command.move, command.turn
    return replace(command, move=(share * x, share * y, share * z), turn=(share * roll, share * pitch, share * yaw))
