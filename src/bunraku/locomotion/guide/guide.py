"""Guide: from a command to the next move, whatever the command.

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

from bunraku.locomotion.guide.ground import Ground
from bunraku.locomotion.guide.guide_command import Command, trusted
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.move import Move, swing_of
from bunraku.locomotion.guide.navigation_points import NONE, Points, Subgoals, standing_at
from bunraku.locomotion.guide.segment import Phase, Planner, Segment
from bunraku.locomotion.guide.support_polygon import Region, region
from bunraku.locomotion.guide.synergy import REACHED, TURNED, Rules
from bunraku.scene import Scene
from bunraku.spatial.rest_to_rest import PEAK

Array = NDArray[np.float64]
STEP, LIFT, LAND = (0.3, 0.5, 0.2), (0.5, 0.5), (0.6, 0.4)
"""Shares of a segment: both feet, one, both; both, one; one, both."""


@dataclass(frozen=True, eq=False)
class Guide:
    """A humanoid, what is around, and how its segments are planned."""

    humanoid: Humanoid
    scene: Scene = Scene("room")
    planner: Planner = field(default_factory=Planner)

    @cached_property
    def ground(self) -> Ground:
        return Ground(self.scene)

    @cached_property
    def rules(self) -> Rules:
        return Rules(self.humanoid, self.ground, self.planner.rest_margin + 0.006)

    def start(self, *, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Points:
        """At home and at rest, on the ground that is there."""
        here = standing_at(self.humanoid, x=x, y=y, yaw=yaw)
        z = max(self.ground.under(self.humanoid.sole, foot)[0] for foot in here.feet)
        return standing_at(self.humanoid, x=x, y=y, z=z, yaw=yaw)

    def next(self, points: Points, command: Command) -> Move:
        """The move that obeys a command, as far as it can be obeyed. Where nothing of it can be planned, the move that comes to
        rest; its notice says so."""
        command, wrong = trusted(command)
        goals = self.rules.subgoals(points, command)
        if wrong:
            goals = replace(goals, notice=wrong)
        move = self.plan(points, goals)
        if move is not None:
            return move
        stop = self.rules.stopping(points, goals)
        move = self.plan(points, stop)
        if move is None:  # holding the ZMP under the capture point is always a motion
            raise AssertionError("no stop could be planned")
        return move

    def plan(self, points: Points, goals: Subgoals) -> Move | None:
        """A move to these subgoals, of the default duration, or as much longer as speeds and the ZMP ask for."""
        phases, whole, needed = self.prepared(points, goals)
        segment = self.planner.plan(points.com, phases, goals.com, duration=needed)
        return None if segment is None else whole(segment)

    def prepared(self, points: Points, goals: Subgoals) -> tuple[tuple[Phase, ...], Callable[[Segment], Move], float]:
        """Phases for subgoals, what makes a move of a segment, and the shortest duration."""
        phases = self.phases(points, goals)
        if goals.swings == NONE:
            return phases, lambda segment: Move(points, goals, segment), self._needed(points, goals, phases, 1.0)
        swing, top = swing_of(points, goals, 0.6 * self.humanoid.limits.lift, self._between(points, goals))
        needed = self._needed(points, goals, phases, swing.width)
        return phases, lambda segment: Move(points, goals, segment, swing, top), needed

    # -- phases --------------------------------------------------------------------------------------------------

    def phases(self, points: Points, goals: Subgoals) -> tuple[Phase, ...]:
        """Which feet stand when, and the polygons that they span."""
        sole, foot = self.humanoid.sole, goals.swings
        if foot == NONE:
            here = region(sole, points.standing, points.com.p)
            return (_phase(1.0, here, goals.com),)
        one = region(sole, points.feet[1 - foot][None], points.com.p)
        if points.aloft == NONE:
            two = region(sole, points.feet, points.com.p)
            if not goals.lands:
                return _phase(LIFT[0], two, two.centre), _phase(LIFT[1], one, one.centre)
            after = region(sole, goals.feet, goals.com)
            return _phase(STEP[0], two, two.centre), _phase(STEP[1], one, one.centre), _phase(STEP[2], after, goals.com)
        if not goals.lands:
            return (_phase(1.0, one, one.centre),)
        alone, both = self._landing(points)
        return _phase(alone, one, one.centre), _phase(both, region(sole, goals.feet, goals.com), goals.com)

    def _landing(self, points: Points) -> tuple[float, float]:
        """Seconds on one foot and then on two where the other is put down: it lands when it was to land."""
        lasts, touch = self.planner.duration, points.rates.touch
        return (touch, max(lasts - touch, 0.5 * lasts)) if touch > 0.0 else (LAND[0] * lasts, LAND[1] * lasts)

    def _between(self, points: Points, goals: Subgoals) -> float:
        """Height of the highest ground on the way of the swinging foot."""
        foot = goals.swings
        if foot == NONE or not len(self.ground.boxes):
            return -math.inf
        ways = [points.feet[foot] + s * (goals.feet[foot] - points.feet[foot]) for s in (0.0, 0.25, 0.5, 0.75, 1.0)]
        return max(self.ground.under(self.humanoid.sole, way)[0] for way in ways)

    def _needed(self, points: Points, goals: Subgoals, phases: tuple[Phase, ...], width: float) -> float:
        """The duration that speeds and the fall of gravity ask for."""
        limits, foot = self.humanoid.limits, goals.swings
        times = [math.sqrt(5.8 * abs(goals.com[2] - points.com.p[2]) / (0.2 * 9.81))]
        times.append(PEAK * float(np.abs(goals.trunk - points.trunk).max()) / limits.trunk_speed)
        for hand, (in_world, goal) in enumerate(goals.hands):
            here = points.hands[hand] if in_world else self.rules.seen(points, hand)
            times.append(PEAK * float(np.linalg.norm(goal - here)) / limits.hand_speed)
            times.append(PEAK * self.rules.turn_left(points, goals, hand) / (TURNED * limits.hand_speed / (REACHED * limits.reach)))
        if points.rates.touch > 0.0 and goals.lands:
            times.append(sum(self._landing(points)))
        if foot != NONE:
            share = phases[0 if points.aloft != NONE else 1].share / sum(phase.share for phase in phases)
            way = goals.feet[foot] - points.feet[foot]
            turn = abs(way[3]) / (2.5 * limits.trunk_speed)
            times.append(PEAK * max(float(np.linalg.norm(way[:3])) / limits.foot_speed, turn) / (share * width))
        return max(*times, self.planner.duration)


def _phase(share: float, own: Region, reference: Array) -> Phase:
    return Phase(share, own, reference[:2])
