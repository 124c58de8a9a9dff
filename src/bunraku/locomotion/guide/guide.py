"""Guide: turns any command into the next move.

guide = Guide(small_humanoid(), Scene("room"))
points = guide.start()
move = guide.next(points, Command("trunk", move=(1, 0, 0)))
points = move.end
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.com_zmp import GRAVITY, gait_speeds
from bunraku.locomotion.guide.ground import SceneGround
from bunraku.locomotion.guide.guide_command import Command, trusted
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.move import Move, swing_of
from bunraku.locomotion.guide.navigation_points import NO_FOOT, Points, Subgoals, standing_at
from bunraku.locomotion.guide.point_paths import SwingOptions
from bunraku.locomotion.guide.rule_options import RuleOptions
from bunraku.locomotion.guide.segment import Phase, Segment, SegmentPlanner
from bunraku.locomotion.guide.support_polygon import Region, region
from bunraku.locomotion.guide.synergy import SynergyRules
from bunraku.scene import Scene
from bunraku.spatial.rest_to_rest import PEAK

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Guide:
    """A humanoid, its scene, and a planner of segments."""

    humanoid: Humanoid
    scene: Scene = Scene("room")
    planner: SegmentPlanner = field(default_factory=SegmentPlanner)
    options: RuleOptions = RuleOptions()

    @cached_property
    def ground(self) -> SceneGround:
        """The ground of the scene."""
        return SceneGround(self.scene)

    @cached_property
    def rules(self) -> SynergyRules:
        """The rules that turn commands into subgoals."""
        return SynergyRules(self.humanoid, self.ground, self.planner.rest_margin + 0.006, self.options)

    def start(self, *, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Points:
        """The points of a humanoid at rest at (`x`, `y`) [m], facing `yaw` [rad], on the ground."""
        here = standing_at(self.humanoid, x=x, y=y, yaw=yaw)
        z = max(self.ground.under(self.humanoid.sole, foot)[0] for foot in here.feet)
        return standing_at(self.humanoid, x=x, y=y, z=z, yaw=yaw)

    def next(self, points: Points, command: Command) -> Move:
        """The move from `points` that obeys a `command` as far as possible; if none can be planned, a move that comes to rest.

        Its notice says how the move differs from the command.
        """
        command, wrong = trusted(command)
        goals = self.rules.subgoals(points, command)
        if wrong:
            goals = replace(goals, notice=wrong)
        move = self.plan(points, goals)
        if move is not None:
            return move
        stop = self.rules.stopping(points, goals)
        move = self.plan(points, stop)
        if move is None:  # never: holding the ZMP at the capture point always stops the body
            raise AssertionError("no stop could be planned")
        return move

    def plan(self, points: Points, goals: Subgoals) -> Move | None:
        """A move from `points` to the subgoals `goals`, as long as speed limits and the ZMP require. None if there is none."""
        phases, whole, needed = self.prepared(points, goals)
        segment = self.planner.plan(points.com, phases, goals.com, duration=needed)
        return None if segment is None else whole(segment)

    def prepared(self, points: Points, goals: Subgoals) -> tuple[tuple[Phase, ...], Callable[[Segment], Move], float]:
        """Phases from `points` to `goals`, a function that turns a segment into a move, and the shortest duration [s]."""
        phases = self.phases(points, goals)
        if goals.swings == NO_FOOT:
            return phases, lambda segment: Move(points, goals, segment), self._needed(points, goals, phases, 1.0)
        swing, top = swing_of(points, goals, 0.6 * self.humanoid.limits.lift, self._between(points, goals))
        needed = self._needed(points, goals, phases, swing.width)
        return phases, lambda segment: Move(points, goals, segment, swing, top), needed

    # -- phases --------------------------------------------------------------------------------------------------

    def phases(self, points: Points, goals: Subgoals) -> tuple[Phase, ...]:
        """The phases from `points` to `goals`: which feet stand, and their support polygons."""
        sole, foot = self.humanoid.bearing, goals.swings
        if foot == NO_FOOT:
            here = region(sole, points.standing, points.com.p)
            return (_phase(1.0, here, goals.com),)
        one = region(sole, points.feet[1 - foot][None], points.com.p)
        if points.aloft == NO_FOOT:
            two = region(sole, points.feet, points.com.p)
            if not goals.lands:
                first, last = self.planner.lift_shares
                return _phase(first, two, two.centre), _phase(last, one, one.centre)
            first, swing, last = self._step_shares(points, goals)
            after = region(sole, goals.feet, goals.com)
            return _phase(first, two, two.centre), _phase(swing, one, one.centre), _phase(last, after, goals.com)
        if not goals.lands:
            return (_phase(1.0, one, one.centre),)
        alone, both = self._landing(points)
        return _phase(alone, one, one.centre), _phase(both, region(sole, goals.feet, goals.com), goals.com)

    def _step_shares(self, points: Points, goals: Subgoals) -> tuple[float, float, float]:
        """Shares of a step's duration on both feet, on one, and on both."""
        rest, onward = self.planner.step_shares, self.planner.onward_shares
        first = onward[0] if points.onward is not None else rest[0]
        last = rest[2] if goals.onward is None else onward[2]
        return (first, 1.0 - first - last, last) if (first, last) != (rest[0], rest[2]) else rest

    def speed(self, points: Points, goals: Subgoals, duration: float) -> Array | None:
        """The velocity (3,) [m/s] with which a step from `points` to `goals` that lasts this `duration` [s] should end, so that
        another follows. None if it comes to rest.

        Every other step is then the same: with the ZMP below the middle of the feet, then at the standing foot, then below the next
        middle, the centre of mass moves from above one middle to above the next. As the ZMP is symmetrical in time, so is the
        motion: a step ends with the velocity with which the one after the next begins.
        """
        if goals.onward is None:
            return None
        width, way = SwingOptions().onward.width, 2.0 * float(np.linalg.norm(goals.onward.by))
        quick = self.planner.onward_shares[1] * width * self.options.onward_swings
        least = max(self.planner.duration * self.planner.onward_duration, self._swung_in(way, quick))
        duration = max(least, self.planner.quicker * duration) if points.aloft == NO_FOOT else least
        first, swing, last = (share * duration for share in self.planner.onward_shares)
        floor, out = float(goals.feet[:, 2].mean()), np.zeros(3)
        omega = math.sqrt(GRAVITY / (float(goals.com[2]) - floor))
        gait_speeds(omega, first, swing, last, goals.onward.stance, goals.onward.by, out)
        return out

    def _landing(self, points: Points) -> tuple[float, float]:
        """Seconds on one foot and then on two when a foot is put down. A touchdown that is already planned keeps its time."""
        lasts, touch = self.planner.duration, points.rates.touch
        alone, both = self.planner.land_shares
        return (touch, max(lasts - touch, 0.5 * lasts)) if touch > 0.0 else (alone * lasts, both * lasts)

    def _between(self, points: Points, goals: Subgoals) -> float:
        """Height of the highest ground on the way of the swinging foot."""
        foot = goals.swings
        if foot == NO_FOOT or not len(self.ground.boxes):
            return -math.inf
        ways = [points.feet[foot] + s * (goals.feet[foot] - points.feet[foot]) for s in (0.0, 0.25, 0.5, 0.75, 1.0)]
        return max(self.ground.under(self.humanoid.sole, way)[0] for way in ways)

    def _needed(self, points: Points, goals: Subgoals, phases: tuple[Phase, ...], width: float) -> float:
        """The shortest duration [s] that speed limits and gravity allow."""
        limits, rules, foot = self.humanoid.limits, self.options, goals.swings
        times = [math.sqrt(5.8 * abs(goals.com[2] - points.com.p[2]) / (0.2 * GRAVITY))]
        times.append(PEAK * float(np.abs(goals.trunk - points.trunk).max()) / limits.trunk_speed)
        for hand, (in_world, goal) in enumerate(goals.hands):
            here = points.hands[hand] if in_world else self.rules.seen(points, hand)
            times.append(PEAK * float(np.linalg.norm(goal - here)) / limits.hand_speed)
            times.append(
                PEAK
                * self.rules.turn_left(points, goals, hand)
                / (rules.turned * limits.hand_speed / (rules.reached * limits.reach))
            )
        if points.rates.touch > 0.0 and goals.lands:
            times.append(sum(self._landing(points)))
        if foot != NO_FOOT:
            share = phases[0 if points.aloft != NO_FOOT else 1].share / sum(phase.share for phase in phases)
            way = goals.feet[foot] - points.feet[foot]
            turn = abs(way[3]) / (2.5 * limits.trunk_speed)
            quick = 1.0 if points.onward is None and goals.onward is None else rules.onward_swings
            times += [self._swung_in(float(np.linalg.norm(way[:3])), share * width * quick), PEAK * turn / (share * width)]
        return max(
            *times, self.planner.duration * (1.0 if points.onward is None or goals.onward is None else self.planner.onward_duration)
        )

    def _swung_in(self, way: float, share: float) -> float:
        """The shortest duration [s] of a step in which a foot moves by `way` [m] during this `share` of the duration."""
        return PEAK * way / (share * self.humanoid.limits.foot_speed)


def _phase(share: float, own: Region, reference: Array) -> Phase:
    return Phase(share, own, reference[:2])
