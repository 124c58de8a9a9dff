"""Performer: moves that a whole body can perform: the ZMP of all bodies inside, motors within their limits, nothing touching.

The point mass of a segment is not the body: swinging limbs move the ZMP. So a segment is followed once by inverse kinematics, the
error of the ZMP measured, and the segment planned again with the polygons moved by that error (a dynamics filter that cannot
leave the polygon and joins exactly). What still fails is lengthened; what no duration mends is asked for by halves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.kinematics import pose
from bunraku.locomotion.guide.com_zmp import FLOOR
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command, trusted
from bunraku.locomotion.guide.judge import Judge
from bunraku.locomotion.guide.move import Move
from bunraku.locomotion.guide.navigation_points import NONE, REST, Points, Subgoals
from bunraku.locomotion.guide.performance import ARM, WRIST, ZMP, Fault, Performance
from bunraku.locomotion.guide.segment import DT
from bunraku.locomotion.guide.whole_body import FREE, WholeBody
from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import PEAK

Array = NDArray[np.float64]
FILTERED = 0.5
"""Of the planner's margin: what the ZMP keeps in the polygon when the error of the model is allowed for."""
SHARES = ((1.0, 10.0), (0.5, 3.0), (0.25, 2.5))
"""Parts of a command that are tried, and how many segments of the default duration are followed for each before it is given up:
a refusal must not take longer than an answer may."""
REDIRECTING = 4.0
"""The same for one that shall begin at once."""
REACHING, NEARER = 2, 2.5
"""Times that a hand's goal is brought nearer (an arm at its limits ends elsewhere with another goal), and segments for each."""
SLOWER = (1.0, 1.5, 2.0, 3.0, 5.0)
"""Times as long as speeds ask for: stops that are tried."""
BEFORE = 5
"""Samples before a move that its first derivatives look back on."""


@dataclass(frozen=True, eq=False)
class Performer:
    """A guide whose moves are performed by a whole body."""

    guide: Guide
    body: WholeBody = field(init=False)
    judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", WholeBody(self.guide.humanoid))
        object.__setattr__(self, "judge", Judge(self.guide, self.body))

    def next(self, points: Points, command: Command, before: Array) -> Performance:
        """The move that obeys a command as far as the whole body can; `before` are its last samples (≥ BEFORE, n_q)."""
        command, wrong = trusted(command)
        points = self._with_axes(points, before)
        rules, why = self.guide.rules, ""
        for share, most in SHARES:
            asked = command if share == 1.0 else _part(command, share)
            goals = rules.subgoals(points, asked)
            done, fault = self._realise(points, goals, before, most)
            for _ in range(REACHING if share == 1.0 else 1):
                if done is not None and fault in (ARM, WRIST):
                    goals, why = self._within_reach(goals, done.q[-1]), why or fault
                    done, fault = self._realise(points, goals, before, min(most, NEARER))
            if done is not None and not fault:
                return replace(done, notice=wrong or goals.notice or why)
            why = why or fault
            if command.idle and not any(command.lift):
                break
        return self._stop(points, rules.subgoals(points, command), before, why)

    def redirect(self, done: Performance, k: int, command: Command) -> Performance | None:
        """A performance under way, from its tick k on obeying another command; nothing where that cannot be done at once."""
        command, wrong = trusted(command)
        if done.quiet or done.move.releases or k < BEFORE or any(0 < k - end < 3 for end in done.move.segment.ends):
            return None  # the samples just before must have stood on the same feet
        points = self._with_axes(done.move.at(k), done.q[: k + 1])
        for goals in self._elsewhere(done.move, points, command):
            new, fault = self._realise(points, goals, done.q[k + 1 - BEFORE : k + 1], REDIRECTING)
            if new is not None and not fault and self._above_ground(new.move) and done.stands_at(k, new.zmp[0]):
                return replace(new, notice=wrong or goals.notice)
        return None

    def _elsewhere(self, move: Move, points: Points, command: Command) -> Iterator[Subgoals]:
        """What may be made of a command in the middle of a move: a foot that swings steps where the command would have had it
        step in the first place, or is put down not far ahead."""
        rules, foot = self.guide.rules, points.aloft
        if not points.rates.touch or command.guided == ("left_foot", "right_foot")[foot]:
            yield rules.subgoals(points, command)
            return
        if move.start.aloft == NONE:
            first = rules.subgoals(move.start, command)
            if first.swings == foot and first.lands:
                yield first
        ahead = points.feet.copy()
        ahead[foot] += 0.5 * points.rates.touch * points.rates.feet[0][foot]
        yield rules.landing(replace(points, feet=ahead), command.guided)

    def _above_ground(self, move: Move) -> bool:
        """A foot that is turned back on its way down must not go through the floor."""
        foot = move.goals.swings
        if foot == NONE:
            return True
        way, sole = move.feet[:, foot], self.guide.humanoid.sole
        some = way[:: max(len(way) // 12, 1)]
        return all(float(at[2]) >= self.guide.ground.under(sole, at)[0] - 1e-6 for at in (*some, way[way[:, 2].argmin()]))

    def _stop(self, points: Points, goals: Subgoals, before: Array, why: str) -> Performance:
        """Comes to rest, upright and with the arms at home, or as it is; where even that breaks a limit, the one that
        breaks them least: above all the ZMP stays on the feet."""
        found = []
        if points.posture is None:  # nothing pulls any more: the trunk goes on from where it is
            points = replace(points, trunk=self._attitude(points, before[-1]))
        for home in (True, False):
            stop = (self.guide.rules.stopping if home else self.guide.rules.holding)(points, goals)
            for done in self._quietly(points, stop, before, home=home):
                found.append(replace(done, notice=f"{why or stop.notice}: that cannot be done from here"))
                if not self.judge.fault(done, before, strength=1.0).why:
                    return found[-1]
        assert found, "a stop can always be planned"
        return min(found, key=lambda done: self.judge.excess(done, before))

    def _quietly(self, points: Points, stop: Subgoals, before: Array, *, home: bool) -> Iterator[Performance]:
        """Slower and slower, with arms that stay, or go home joint by joint."""
        away = np.abs(self.guide.humanoid.home - before[-1])[self.body.motors] / self.judge.speed * home
        phases, whole, lasts = self.guide.prepared(points, stop)
        lasts = max(lasts, PEAK * float(away.max()))
        for slower in SLOWER:
            segment = self.guide.planner.attempt(points.com, phases, stop.com, slower * lasts)
            if segment is not None:
                move = whole(segment)
                Q, posture = self.body.follow_quietly(move, before[-1], home=home)
                yield replace(self._judged(move, Q, before), end=self._ended(move, Q[-1], posture), quiet=True)

    def _within_reach(self, goals: Subgoals, q: Array) -> Subgoals:
        """The same with the guided hand where the arm has brought it."""
        here = pose(self.guide.humanoid.figure, q)
        hands, axes = list(goals.hands), list(goals.hand_axes)
        for k, frame in enumerate(self.guide.humanoid.hands):
            if goals.hands[k][0]:
                X_WH = here.X(frame)
                hands[k], axes[k] = (True, X_WH[:3, 3].copy()), None if axes[k] is None else X_WH[:3, :3].copy()
        return replace(goals, hands=(hands[0], hands[1]), hand_axes=(axes[0], axes[1]))

    def _with_axes(self, points: Points, Q: Array) -> Points:
        """With hands that nobody holds turned, and turning, as they do at the last of these samples."""
        if all(points.held):
            return points
        own = self.guide.humanoid
        before, now = (pose(own.figure, q) for q in Q[-2:])
        axes, (turning, bending) = points.hand_axes.copy(), (rate.copy() for rate in points.rates.turning)
        for k, frame in enumerate(own.hands):
            if not points.held[k]:
                axes[k] = now.X(frame)[:3, :3]
                turning[k], bending[k] = so3.log(axes[k] @ before.X(frame)[:3, :3].T) / DT, 0.0
        rates = points.rates if points.rates is REST else replace(points.rates, turning=(turning, bending))
        return replace(points, hand_axes=axes, rates=rates)

    def _realise(self, points: Points, goals: Subgoals, before: Array, most: float) -> tuple[Performance | None, str]:
        """The shortest performance that keeps every limit, found by following at most so many segments of the default length; or
        the last that was tried, and what is wrong with it."""
        planner = self.guide.planner
        phases, whole, lasts = self.guide.prepared(points, goals)
        done, why, last, passes, left = None, ZMP, Fault(), 0, most * planner.duration
        while lasts <= min(planner.longest, left if passes else math.inf) + 1e-9:
            segment = planner.attempt(points.com, phases, goals.com, lasts)
            step = planner.longer
            if segment is not None and max(segment.miss) <= planner.near:
                done = self._follow(whole(segment), before)
                fault, passes, left = self.judge.fault(done, before), passes + 1, left - lasts
                if fault.why == ZMP:
                    off = done.zmp - segment.samples[:, FLOOR:]
                    closer = replace(planner, margin=FILTERED * planner.margin)
                    segment = closer.attempt(points.com, phases, goals.com, lasts, off=off)
                    if segment is not None and max(segment.miss) <= 2.0 * planner.near:
                        done = self._follow(whole(segment), before)
                        fault, passes, left = self.judge.fault(done, before), passes + 1, left - lasts
                if not fault.why:
                    return replace(done, passes=passes), ""
                why, step = fault.said, fault.longer
                if not step or fault.hopeless(last, left / lasts):
                    return done, why
                last = fault
            lasts += max(step, planner.longer)
        return done, why

    def _follow(self, move: Move, before: Array) -> Performance:
        return self._judged(move, self.body.follow(move, before[-1]), before)

    def _judged(self, move: Move, Q: Array, before: Array) -> Performance:
        segment, floors = move.segment, move.segment.floors
        Q[0] = before[-1]  # what is played: where the body was not quite in its place, the first step makes up for it
        whole = np.concatenate([before[-3:-1], Q])
        zmp, _ = self.body.zmp(whole, before[:-3], np.concatenate([floors[[0, 0]], floors]), segment.dt)
        # The last two samples see only one side of themselves; the next move looks at them.
        last, zmp = zmp[:2], zmp[2:]
        zmp[-2:] = segment.samples[-2:, FLOOR:] + (zmp[-3] - segment.samples[-3, FLOOR:])
        least = min(float(segment.margin_of(zmp).min()), float(segment.phases[0].region.margin(last).min()))
        return Performance(move, Q, zmp, least, 1, move.end)

    def _attitude(self, points: Points, q: Array) -> Array:
        """Roll, pitch and yaw of the trunk at q."""
        own = self.guide.humanoid
        yaw, pitch, roll = so3.angles_zyx(pose(own.figure, q).X(own.trunk)[:3, :3] @ own.facing.T)
        turned = points.trunk[2] + math.remainder(float(yaw - points.trunk[2]), 2.0 * math.pi)
        return np.array([roll, pitch, turned])

    def _ended(self, move: Move, q: Array, posture: Array) -> Points:
        """The end of a quiet move, with hands where the joints have them."""
        here = pose(self.guide.humanoid.figure, q)
        hands = np.array([here.point(hand) for hand in self.guide.humanoid.hands])
        return replace(move.end, hands=hands, held=FREE, posture=posture)


def _part(command: Command, share: float) -> Command:
    (x, y, z), (roll, pitch, yaw) = command.move, command.turn
    return replace(command, move=(share * x, share * y, share * z), turn=(share * roll, share * pitch, share * yaw))
