"""Synergetic rules: from a command to a consistent set of subgoals (*guiding* II-B, eq. 3–7).

Corrections to the paper: r_LH and r_RH are swapped in its list; "left foot" before eq. 5 means the left hand; eq. 7 would move the
height of the centre of mass without bound. An impossible command is not discarded but replaced by the nearest possible one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.com_zmp import GRAVITY
from bunraku.locomotion.guide.foot_placement import bounded, clear_of_walls, foothold
from bunraku.locomotion.guide.ground import SceneGround
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.navigation_points import NO_FOOT, Points, Subgoals, attitude, heading
from bunraku.locomotion.guide.onward_step import next_step, step_by, trunk_by
from bunraku.locomotion.guide.rule_options import RuleOptions
from bunraku.locomotion.guide.support_polygon import region
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SynergyRules:
    """The rules for one humanoid on one ground."""

    humanoid: Humanoid
    ground: SceneGround
    stand_on: float
    """The stand-on region is the support polygon shrunk by this [m] (Fig. 5)."""
    options: RuleOptions = RuleOptions()

    def subgoals(self, points: Points, command: Command, *, onward: bool = False) -> Subgoals:
        """Subgoals of the next segment, from `points`, for a `command`. With `onward` the body need not rest between two steps."""
        match command.guided:
            case "left_foot" | "right_foot":
                return self._foot(points, command, 0 if command.guided == "left_foot" else 1)
            case _ if points.aloft != NO_FOOT:
                return self.landing(points, command.guided)
            case "trunk":
                goals = self._trunk(points, command)
                return self._going_on(points, goals, command) if onward else goals
            case _ if self.humanoid.armless:
                return replace(self._rest(points, command.guided), notice="it has no arms")
            case _:
                return self._hand(points, command, 0 if command.guided == "left_hand" else 1)

    # -- foot ----------------------------------------------------------------------------------------------------

    def _foot(self, points: Points, command: Command, foot: int) -> Subgoals:
        if points.aloft == 1 - foot:
            return self.landing(points, command.guided)
        limits, now, stance = self.humanoid.limits, points.feet[foot], points.feet[1 - foot]
        lift = command.lift[foot]
        if command.idle and points.aloft == NO_FOOT and lift == 0.0:
            return self._rest(points, command.guided)
        wanted = now.copy()
        wanted[:2] += (heading(float(stance[3])) @ np.array([command.move[0], command.move[1], 0.0]))[:2] * 0.6 * limits.forward
        wanted[3] += command.turn[2] * limits.turn[1]
        notice = ""
        if lift > 0.0:
            goal = bounded(self.humanoid, foot, wanted, stance)
            below = max(self.ground.under(self.humanoid.sole, goal)[0], stance[2] - limits.rise)
            if below - stance[2] > limits.rise:  # hold the foot in front of a wall, not inside it
                goal, notice = self._foothold(foot, wanted, stance, now)
                below = goal[2]
            goal[2] = below + lift * limits.lift
        else:
            goal, notice = self._foothold(foot, wanted, stance, now)
            if points.aloft == foot and np.array_equal(goal, now):
                goal = points.stood[foot].copy()
        return self._stepped(points, foot, goal, lands=lift == 0.0, guided=command.guided, notice=notice)

    def _foothold(
        self, foot: int, wanted: Array, stance: Array, now: Array, *, in_motion: bool = False
    ) -> tuple[Array, str]:  # fmt: skip
        own = self.humanoid, self.ground
        return foothold(*own, foot, wanted, stance, now, tries=self.options.tries, in_motion=in_motion)

    def landing(self, points: Points, guided: str) -> Subgoals:
        """Subgoals that put the lifted foot of `points` down where it is, or near; `guided` names the guided point."""
        foot = points.aloft
        now, stance = points.feet[foot], points.feet[1 - foot]
        goal, _ = self._foothold(foot, now, stance, now)
        if np.array_equal(goal, now):  # no foothold nearby
            goal = points.stood[foot].copy()
        return self._stepped(points, foot, goal, lands=True, guided=guided)

    def _stepped(
        self, points: Points, foot: int, goal: Array, *, lands: bool, guided: str, notice: str = "", trunk: Array | None = None
    ) -> Subgoals:
        """Eq. 3: the centre of mass above the stance foot, or above the middle of both if the foot is put down."""
        feet = points.feet.copy()
        feet[foot] = goal
        place = feet[:, :3].mean(0) if lands else points.feet[1 - foot, :3]
        com = np.array([place[0], place[1], place[2] + points.height if lands else points.com.p[2]])
        turned = points.trunk.copy() if trunk is None else trunk
        if trunk is None:
            turned[2] = 0.5 * (feet[0, 3] + feet[1, 3])
        com[2] = self.low_enough(com, feet, float(turned[2]), points, foot)
        hands, axes = self._hands(points), self._hand_axes(points)
        return Subgoals(com, feet, foot, lands, turned, hands, points.height, axes, guided, notice)

    # -- trunk ---------------------------------------------------------------------------------------------------

    def _trunk(self, points: Points, command: Command) -> Subgoals:
        limits = self.humanoid.limits
        if command.idle:
            return replace(self._rest(points, "trunk"), hands=self._at_home(), hand_axes=(None, None))
        yaw, middle = float(points.trunk[2]), points.feet[:, :2].mean(0)
        by = trunk_by(limits, self._onward_stride if points.onward is not None else self.options.stride, command, yaw)
        if points.onward is not None and by[:2] @ points.com.v[:2] < 0.0:  # first it comes to rest
            return replace(self._rest(points, "trunk"), hands=self._at_home(), hand_axes=(None, None))
        com = points.com.p + by
        if points.onward is not None:
            com[:2] = middle + step_by(points.feet, points.last, yaw, by[:2], self._apart)
        com[2] = points.feet[:, 2].mean() + points.height + by[2]
        if not (command.move[0] or command.move[1]):
            com[:2] = middle if command.turn[2] else com[:2]
        trunk = points.trunk.copy()
        sideways, behind = self.options.sideways, self.options.back
        lean, back = limits.lean * np.array([sideways, 1.0]), limits.lean * np.array([-sideways, -behind])
        trunk[:2] = np.clip(trunk[:2] + np.array(command.turn[:2]) * lean / 2, back, lean)
        trunk[2] += command.turn[2] * 0.5 * limits.turn[1]
        goals = self._carried(points, com, trunk, "trunk")
        return replace(goals, hands=self._at_home(), hand_axes=(None, None))

    @property
    def _onward_stride(self) -> float:
        """As `stride`, if the step begins or ends in motion."""
        own, longest = self.options, self.humanoid.limits.forward
        room = float(np.ptp(self.humanoid.sole[:, 0])) - 2.0 * self.stand_on
        return min(own.onward_stride, 0.5 * own.onward_soles * room / longest)

    @property
    def _apart(self) -> float:
        """Lateral distance between the feet while they walk straight on [m]."""
        least, home = self.humanoid.limits.apart[0], self.humanoid.home_apart
        return least + self.options.onward_apart * (home - least)

    def last_step(self, points: Points) -> Subgoals:
        """Subgoals from `points` in motion: the step that was expected, after which the body comes to rest."""
        assert points.onward is not None
        com = np.array([*(points.feet[:, :2].mean(0) + points.onward.by), points.com.p[2]])
        goals = self._carried(points, com, points.trunk.copy(), "trunk")
        return self._in_motion(points, replace(goals, hands=self._at_home(), hand_axes=(None, None)))

    def _going_on(self, points: Points, goals: Subgoals, command: Command) -> Subgoals:
        """The `goals` of a step that ends in motion, if one can follow it: the body is as low as that one needs."""
        own, yaw = self.options, float(goals.trunk[2])
        onward = next_step(goals, trunk_by(self.humanoid.limits, self._onward_stride, command, yaw)[:2], self._apart)
        if onward is None:
            return goals
        goals = self._in_motion(points, goals)
        com, ways = goals.com.copy(), (goals.com[:2], goals.com[:2] + own.ahead * onward.by)
        reached = (self._reached(way, goals.feet[k], k, yaw, own.onward_stretch) for way in ways for k in (0, 1))
        com[2] = max(min(com[2], *reached), goals.feet[0, 2] + own.lowest * self.humanoid.height)
        return replace(goals, com=com, onward=onward)

    def _carried(self, points: Points, com: Array, trunk: Array, guided: str) -> Subgoals:
        """Moves the centre of mass to a goal: both feet stay if it is in the stand-on region, otherwise one steps (Fig. 5)."""
        humanoid, limits = self.humanoid, self.humanoid.limits
        com, notice = clear_of_walls(humanoid, self.ground, com, points.com.p, tries=self.options.tries)
        floor = float(points.feet[:, 2].mean())
        height = min(max(float(com[2]) - floor, humanoid.height - limits.crouch), humanoid.height)
        com[2] = floor + height
        points = replace(points, height=height)
        own = region(humanoid.bearing, points.feet, com)
        twist = float(trunk[2]) - points.yaw
        away = float(np.linalg.norm(com[:2] - points.feet[:, :2].mean(0)))
        near = away <= self.options.stand_on * limits.forward and abs(twist) <= 0.6 * limits.turn[0]
        if near and own.margin(com[:2]) >= self.stand_on and points.onward is None:
            com[2] = self.low_enough(com, points.feet, float(trunk[2]), points)
            hands, axes = self._hands(points), self._hand_axes(points)
            return Subgoals(com, points.feet.copy(), NO_FOOT, True, trunk, hands, height, axes, guided, notice)
        options = [self._step_to(points, foot, com, trunk, guided) for foot in (0, 1)]
        # The farther foot steps, unless that would cross the feet: then the one that brings the body nearer to its goal.
        far = [float(np.linalg.norm(points.feet[foot, :2] - com[:2])) for foot in (0, 1)]
        missed = [self._missed(option, com, trunk) for option in options]
        first = 0 if far[0] > far[1] else 1
        if abs(far[0] - far[1]) < 0.05 * limits.forward and points.last != NO_FOOT:
            first = 1 - points.last
        best = first if missed[first] <= missed[1 - first] + 0.1 * limits.forward else 1 - first
        if points.onward is not None:  # the body already moves toward the foot that has just landed
            best = 1 - points.last
        return replace(options[best], notice=notice or options[best].notice)

    def _step_to(self, points: Points, foot: int, com: Array, trunk: Array, guided: str) -> Subgoals:
        """Eq. 4: the middle of the feet moves below the goal; the foot turns twice as far as the trunk."""
        stance, now = points.feet[1 - foot], points.feet[foot]
        place = 2.0 * com[:2] - stance[:2]
        if np.array_equal(com[:2], points.feet[:, :2].mean(0)):  # a turn on the spot: each foot stays on its own side
            place = com[:2] + (heading(float(trunk[2])) @ _across(foot, 0.5 * self.humanoid.home_apart))[:2]
        wanted = np.array([*place, now[2], 2.0 * trunk[2] - stance[3]])
        goal, notice = self._foothold(foot, wanted, stance, now, in_motion=points.onward is not None)
        turned = trunk.copy()
        turned[2] = 0.5 * (goal[3] + stance[3])
        return self._stepped(points, foot, goal, lands=True, guided=guided, notice=notice, trunk=turned)

    def _missed(self, goals: Subgoals, com: Array, trunk: Array) -> float:
        leg = self.humanoid.limits.forward
        return float(np.linalg.norm(goals.com[:2] - com[:2])) + leg * abs(float(goals.trunk[2] - trunk[2]))

    # -- hand ----------------------------------------------------------------------------------------------------

    def _hand(self, points: Points, command: Command, hand: int) -> Subgoals:
        limits, now = self.humanoid.limits, points.hands[hand]
        if command.idle:
            return self._rest(points, command.guided, hand)
        by = heading(float(points.trunk[2])) @ np.array(command.move) * self.options.reached * limits.reach
        goal, notice = self._outside(now + by, now)
        goal = self._not_through(points, goal, hand)
        shoulder = points.com.p + attitude(points.trunk) @ self.humanoid.home_shoulders[hand]
        away = goal - shoulder
        l = float(np.linalg.norm(away))  # eq. 5
        pull = max(l - limits.reach, 0.0) / max(l, 1e-9) * away  # eq. 6
        com = points.com.p + pull  # eq. 7
        com[2] = points.feet[:, 2].mean() + points.height + pull[2]
        goals = self._carried(points, com, points.trunk.copy(), command.guided)
        # If the body cannot follow, the hand cannot get there either.
        moved = shoulder + (goals.com - points.com.p)
        left = goal - moved
        l = float(np.linalg.norm(left))
        if l > limits.reach:
            goal = moved + left * limits.reach / l
        hands, axes = list(goals.hands), list(goals.hand_axes)
        hands[hand], axes[hand] = (True, goal), self._turned(points, command, hand)
        return replace(goals, hands=(hands[0], hands[1]), hand_axes=(axes[0], axes[1]), notice=notice or goals.notice)

    def _turned(self, points: Points, command: Command, hand: int) -> Array | None:
        """Axes of the hand in the world, turned about the axes of the body; None if it was never turned."""
        if not (any(command.turn) or points.held[hand]):
            return None
        R = heading(float(points.trunk[2]))
        return np.asarray(so3.exp(R @ np.array(command.turn) * self.options.turned) @ points.hand_axes[hand])

    def _outside(self, goal: Array, now: Array) -> tuple[Array, str]:
        """The position nearest to the goal at which the hand touches nothing; and why it is not the goal."""
        radius = 0.06 * self.humanoid.height
        least = max(self.ground.depth(now, radius), 0.0)
        for k in range(11):
            place = goal + 0.1 * k * (now - goal)
            if self.ground.depth(place, radius) <= least:
                return place, "something is in the way of the hand" if k else ""
        return now, "something is in the way of the hand"

    def _not_through(self, points: Points, goal: Array, hand: int) -> Array:
        """The goal, moved to the hand's own side and out of the trunk."""
        R, side = heading(float(points.trunk[2])), 1.0 if hand == 0 else -1.0
        seen = R.T @ (goal - points.com.p)
        home = self.humanoid.home_hands[hand]
        shoulder = self.humanoid.home_shoulders[hand]
        across = side * seen[1]
        inner = 0.25 * abs(home[1]) if seen[0] > 0.35 * self.humanoid.limits.reach else 0.85 * abs(home[1])
        seen[1] = side * max(across, inner)
        seen[0] = max(seen[0], shoulder[0] - 0.25 * self.humanoid.limits.reach)
        seen[2] = max(seen[2], shoulder[2] - 1.05 * self.humanoid.limits.reach)
        return np.asarray(points.com.p + R @ seen)

    # -- the rest ------------------------------------------------------------------------------------------------

    def _rest(self, points: Points, guided: str, hand: int = NO_FOOT) -> Subgoals:
        """Come to rest at the capture point, or nearer to the middle of the feet if that is not well inside the support polygon."""
        own = region(self.humanoid.bearing, points.standing, points.com.p)
        com = points.com.p.copy()
        com[:2] = com[:2] + points.com.v[:2] * np.sqrt((com[2] - own.floor) / GRAVITY)
        if own.margin(com[:2]) < self.stand_on:
            middle = points.standing[:, :2].mean(0)
            steps = [com[:2] + s * (middle - com[:2]) for s in (0.25, 0.5, 0.75, 1.0)]
            com[:2] = next((place for place in steps if own.margin(place) >= self.stand_on), middle)
        com[2] = points.feet[:, 2].mean() + points.height
        com[2] = self.low_enough(com, points.feet, float(points.trunk[2]), points)
        hands, axes = list(self._hands(points)), list(self._hand_axes(points))
        if hand != NO_FOOT:
            hands[hand], axes[hand] = (True, points.hands[hand]), points.hand_axes[hand] if points.held[hand] else None
        both, turned = (hands[0], hands[1]), (axes[0], axes[1])
        return Subgoals(com, points.feet.copy(), NO_FOOT, True, points.trunk.copy(), both, points.height, turned, guided)

    def stopping(self, points: Points, goals: Subgoals) -> Subgoals:
        """Subgoals from `points` that replace `goals` by a stop: feet stay, trunk and hands return to the home configuration."""
        upright = points if points.aloft != NO_FOOT else replace(points, height=self.humanoid.height)
        trunk = np.array([0.0, 0.0, points.yaw])
        return replace(self._stopped(upright, goals), trunk=trunk, hands=self._at_home(), hand_axes=(None, None))

    def holding(self, points: Points, goals: Subgoals) -> Subgoals:
        """Subgoals from `points` that replace `goals` by a stop: only the centre of mass moves until it is at rest."""
        own = self._stopped(points, goals)
        return replace(own, com=np.array([own.com[0], own.com[1], points.com.p[2]]))

    def _stopped(self, points: Points, goals: Subgoals) -> Subgoals:
        aloft, rest = points.aloft, self._rest(points, goals.guided)
        com = np.array([rest.com[0], rest.com[1], points.com.p[2] if aloft != NO_FOOT else rest.com[2]])
        notice = f"{goals.notice}; " if goals.notice else ""
        return replace(
            rest, com=com, swings=aloft, lands=aloft == NO_FOOT, notice=f"{notice}that cannot be done from here", stops=True
        )

    def seen(self, points: Points, hand: int) -> Array:
        """Position of a `hand` (0 left, 1 right) of `points` relative to the centre of mass, in the trunk's axes (3,) [m]."""
        return np.asarray(attitude(points.trunk).T @ (points.hands[hand] - points.com.p))

    def turn_left(self, points: Points, goals: Subgoals, hand: int) -> float:
        """By how much a `hand` has to turn from `points` to `goals` [rad]."""
        goal, (in_world, _), R = goals.hand_axes[hand], goals.hands[hand], points.hand_axes[hand]
        if goal is None:
            return 0.0
        return float(np.linalg.norm(so3.log(goal @ (R if in_world else attitude(points.trunk).T @ R).T)))

    def _hands(self, points: Points) -> tuple[tuple[bool, Array], tuple[bool, Array]]:
        """Goals that keep both hands at their positions relative to the body."""
        return (False, self.seen(points, 0)), (False, self.seen(points, 1))

    def _hand_axes(self, points: Points) -> tuple[Array | None, Array | None]:
        """Axes of the hands that are held, relative to the trunk."""
        A = attitude(points.trunk)
        left, right = (np.asarray(A.T @ R) if held else None for R, held in zip(points.hand_axes, points.held, strict=True))
        return left, right

    def _at_home(self) -> tuple[tuple[bool, Array], tuple[bool, Array]]:
        left, right = ((False, hand) for hand in self.humanoid.home_hands)
        return left, right

    def low_enough(self, com: Array, feet: Array, yaw: float, points: Points, foot: int = NO_FOOT) -> float:
        """The largest height of the centre of mass, up to that of `com` (3,), at which both legs reach their feet [m].

        They must reach them now, at `points`; at the end, at `feet` (2, 4) with the trunk at `yaw` [rad]; and when a swinging
        `foot` leaves or touches the ground, with the centre of mass between the two.
        """
        z, goal, most = float(com[2]), com[:2], self.options.stretch
        z = min(z, *(self._reached(goal, places[k], k, yaw, most) for places in (feet, points.feet) for k in (0, 1)))
        if foot != NO_FOOT:
            between = 0.6 * goal + 0.4 * points.feet[1 - foot, :2]
            z = min(z, *(self._reached(between, places[foot], foot, yaw, most) for places in (feet, points.feet)))
        return max(z, float(feet[:, 2].mean()) + self.options.lowest * self.humanoid.height)

    def _in_motion(self, points: Points, goals: Subgoals) -> Subgoals:
        """The `goals` of a step, with a trunk that leans over the standing foot, and as low as legs need where a foot leaves and
        where it touches the ground."""
        yaw, com, stance = float(goals.trunk[2]), goals.com.copy(), 1 - goals.swings
        by, most = com[:2] - points.com.p[:2], self.options.onward_stretch
        leaves, lands = points.com.p[:2] + self.options.ahead * by, com[:2] - self.options.ahead * by
        ways = ((leaves, points.feet, 0), (leaves, points.feet, 1), (lands, goals.feet, 0), (lands, goals.feet, 1))
        reached = [self._reached(at, feet[k], k, yaw, most) for at, feet, k in (*ways, (com[:2], goals.feet, stance))]
        floor = float(goals.feet[:, 2].mean())
        com[2] = max(min(floor + points.height, *reached), floor + self.options.lowest * self.humanoid.height)
        return replace(goals, com=com, sway=-self.options.sway if stance == 0 else self.options.sway)

    def _reached(self, com: Array, place: Array, foot: int, yaw: float, stretch: float) -> float:
        """The largest height of the centre of mass above (x, y) at which a leg reaches the foot's position."""
        hips, ankles, leg = self.humanoid.legs
        hip = com + (heading(yaw) @ hips[foot])[:2]
        ankle = place[:3] + heading(float(place[3])) @ ankles[foot]
        flat = hip - ankle[:2]
        most = float(np.sqrt(max((stretch * leg) ** 2 - flat @ flat, 0.01 * leg**2)))
        return float(ankle[2]) + most - float(hips[foot, 2])


def _across(foot: int, by: float) -> Array:
    return np.array([0.0, by if foot == 0 else -by, 0.0])
