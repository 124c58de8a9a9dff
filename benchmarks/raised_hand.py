"""The marionette of 22 + 18 variables raises a hand above its head, round a beam that is in the way."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics import settle, simulate
from bunraku.figure import Box, Figure, library
from bunraku.motion import Motion
from bunraku.planning.strings import Goal, HandLimits, PlanningProblem
from bunraku.scene import Obstacle, Scene

Array = NDArray[np.float64]
BEAM = Obstacle("beam", Box((0.4, 0.07, 0.1)), (0.34, 0.39, 0.6), color=(0.75, 0.3, 0.22))
TARGET = (0.16, 0.3, 0.92)  # above the hat, which ends at 0.83 m
HANDS = ("right_arm_x", "right_arm_y", "right_arm_length")


@functools.cache
def puppet() -> Figure:
    return library.named("marionette22")


@functools.cache
def problem() -> PlanningProblem:
    figure, q = puppet(), settle(puppet())
    goal = Goal.at_points(figure, {"rhand": TARGET}, within=0.05)
    limits = HandLimits.of(figure, q, speed=0.6, reach=0.7)
    return PlanningProblem(figure, q, goal, Scene("beam", (BEAM,), floor=-1.2), limits, steps=12, name="raise a hand")


def straight_up(*, seconds: float = 4.0) -> Motion:
    """Only the string of the hand is wound in."""
    figure, q = puppet(), problem().start
    k = figure.kinematic.index("right_arm_length")

    def hands(t: float) -> Array:
        out = q[figure.n_dynamic :].copy()
        s = min(t / seconds, 1.0)
        out[k] -= 0.62 * s * s * (3.0 - 2.0 * s)
        return out

    return simulate(figure, hands, duration=seconds, q=q)
