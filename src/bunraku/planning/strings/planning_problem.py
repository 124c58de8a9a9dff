"""PlanningProblem: figure, start, goal, scene and limits. Impossible problems are refused before the search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.collision import World
from bunraku.dynamics.simulation import MAX_START_GAP
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.build import figure, sphere, translate
from bunraku.kinematics.forward import Pose, configuration
from bunraku.outcome import Outcome
from bunraku.planning.planning_outcomes import (
    GOAL_BLOCKED,
    GOAL_OUT_OF_REACH,
    NO_INPUT,
    START_BLOCKED,
    START_OUTSIDE_LIMITS,
    STRINGS_TOO_SHORT,
)
from bunraku.planning.strings.goal import Goal
from bunraku.planning.strings.goal_reach import short_of
from bunraku.planning.strings.hand_limits import HandLimits
from bunraku.planning.strings.recheck_plan import PlanRecheckOptions, pierced
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlanningProblem:
    """From a start at rest into a goal region, with hands within their limits and without collisions."""

    figure: Figure
    start: Array
    """The configuration at the start, at rest."""
    goal: Goal
    scene: Scene
    limits: HandLimits
    allowed: tuple[tuple[str, str], ...] = ()
    """Pairs that may touch, by names of shapes, frames or obstacles."""
    segment: float = 0.15
    """Duration of a segment, in which the hands have one input [s]."""
    steps: int = 8
    """Simulation steps per segment."""
    margin: float = 0.003
    """Smallest allowed distance of any pair that may collide [m]."""
    name: str = "problem"

    __repr__ = brief

    def __post_init__(self) -> None:
        configuration(self.figure, self.start)
        if not (0.0 < self.segment < math.inf and self.steps >= 1 and 0.0 <= self.margin < math.inf):
            said = f"segments of {self.segment} s in {self.steps} steps, a margin of {self.margin} m"
            raise BunrakuError(f"{self.name}: {said}\n  advice: give positive numbers; a margin may be zero")

    def __getstate__(self) -> dict[str, object]:
        """The state without the world, which each worker rebuilds."""
        return {key: value for key, value in self.__dict__.items() if key != "world"}

    @property
    def dt(self) -> float:
        """The simulation step [s]."""
        return self.segment / self.steps

    @cached_property
    def world(self) -> World:
        """The figure and the scene, for collision checks."""
        return World(self.figure, self.scene, allowed=self.allowed)

    def refusal(self) -> Outcome | None:
        """Why no search can succeed, with details; None if one may."""
        pose = Pose(self.figure, self.start)
        ropes = (*self.figure.strings, *self.figure.wires)
        short = [f"{rope.name} by {1e3 * gap:.3g} mm" for rope, gap in zip(ropes, pose.gaps, strict=True) if gap > MAX_START_GAP]
        if short:
            return STRINGS_TOO_SHORT.because(f"strings do not reach at the start: {', '.join(short[:4])}")
        touching = self.world.contacts(self.start)
        if touching:
            worst = touching[0]
            return START_BLOCKED.because(f"{worst.a} is {-1e3 * worst.value:.3g} mm deep in {worst.b} at the start")
        near = self.world.distance(self.start)
        if near.value < self.margin:
            apart = f"{near.a} is {1e3 * near.value:.3g} mm from {near.b}, nearer than the margin of {1e3 * self.margin:.3g} mm"
            return START_BLOCKED.because(f"at the start {apart}")
        for _, what in pierced(self.figure, self.scene, self.start[None], thread=PlanRecheckOptions().thread):
            return START_BLOCKED.because(f"at the start {what}")
        checks = (self._handless, self._beyond, self._unreachable, self._blocked)
        return next((refused for check in checks if (refused := check()) is not None), None)

    def _handless(self) -> Outcome | None:
        """The refusal if no hand can move anything."""
        if not self.figure.kinematic:
            advice = "for figures without strings use bunraku.planning.ways.find_way"
            return NO_INPUT.because(f"{self.figure.name} has no kinematic variable", advice=advice)
        if not self.limits.free.any() or not (self.limits.upper >= self.limits.lower).all():
            empty = [name for name, on in zip(self.figure.kinematic, self.limits.free, strict=True) if not on]
            return NO_INPUT.because(f"{', '.join(empty[:4])} cannot move")
        return None

    def _beyond(self) -> Outcome | None:
        """The refusal if a hand starts outside its limits."""
        hands = self.start[self.figure.n_dynamic :]
        for name, x, low, high in zip(self.figure.kinematic, hands, self.limits.lower, self.limits.upper, strict=True):
            if not low - 1e-9 <= x <= high + 1e-9:
                return START_OUTSIDE_LIMITS.because(f"{name} starts at {x:.4g}, outside of {low:.4g} to {high:.4g}")
        return None

    def _unreachable(self) -> Outcome | None:
        """The refusal if limbs or strings are too short for the goal."""
        for at, target in zip(self.goal.points, self.goal.targets, strict=True):
            missing, why = short_of(self.figure, at, target, self.limits)
            if missing > self.goal.within:
                return GOAL_OUT_OF_REACH.because(f"{at.frame} stays {1e3 * missing:.3g} mm short of the goal: {why}")
        return None

    def _blocked(self) -> Outcome | None:
        """The refusal if a target is so deep inside an obstacle that the whole goal region is."""
        for at, target in zip(self.goal.points, self.goal.targets, strict=True):
            probe = World(_ball(at.frame), self.scene)
            for touch in probe.contacts(target)[:1]:
                if -touch.value > self.goal.within:
                    return GOAL_BLOCKED.because(f"at the goal {at.frame} would be {-1e3 * touch.value:.3g} mm deep in {touch.b}")
        return None


def _ball(name: str) -> Figure:
    """A tiny ball that can be placed anywhere, to test positions for collisions."""
    slides = translate("x", "x", translate("y", "y", translate("z", "z", sphere(1e-6, name=name))))
    return figure("speck", slides)
