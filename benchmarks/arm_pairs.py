"""Ten starts and goals for the puppet arm, five of them with obstacles that the straight way would hit."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics import settle, simulate
from bunraku.figure import Box, Figure, Sphere, library
from bunraku.motion import Motion
from bunraku.planning.strings import Goal, HandLimits, PlanningProblem
from bunraku.scene import Obstacle, Scene

Array = NDArray[np.float64]
Hands = tuple[float, float, float]  # hand_x, hand_y, hand_length
WITHIN, SLOWER = 0.03, 0.3  # [m], [m/s]: how near to the goal every body and hook must get, and how slowly arrive
FREE = Scene("nothing", floor=-1.0)
RED = (0.75, 0.3, 0.22)


def _scene(name: str, *obstacles: Obstacle) -> Scene:
    return Scene(name, obstacles, floor=-1.0)


PAIRS: tuple[tuple[str, Hands, Hands, Scene], ...] = (
    ("lift", (-0.05, 0.42, 1.1), (0.3, 0.3, 0.75), FREE),
    ("across", (0.35, 0.15, 1.0), (-0.35, 0.3, 0.8), FREE),
    ("lower", (0.0, 0.45, 0.6), (0.2, 0.4, 1.2), FREE),
    ("round", (-0.2, 0.45, 0.7), (0.4, 0.3, 1.1), FREE),
    ("unfold", (0.0, 0.3, 0.5), (-0.3, 0.1, 1.0), FREE),
    (
        "over a block", (0.4, 0.3, 1.1), (-0.3, 0.35, 1.05),
        _scene("block", Obstacle("block", Box((0.1, 0.14, 0.3)), (0.0, 0.31, -0.42), color=RED)),
    ),
    (
        "round a ball", (0.2, 0.4, 1.2), (-0.15, 0.4, 0.7),
        _scene("ball", Obstacle("ball", Sphere(0.06), (0.05, 0.3, -0.15), color=RED)),
    ),
    (
        "between two posts", (-0.35, 0.2, 1.0), (0.35, 0.25, 0.9),
        _scene(
            "posts",
            Obstacle("left", Box((0.05, 0.05, 0.6)), (-0.08, 0.32, -0.5), color=RED),
            Obstacle("right", Box((0.05, 0.05, 0.6)), (0.13, 0.26, -0.42), color=RED),
        ),
    ),
    (
        "over a wall", (-0.3, 0.35, 1.15), (0.35, 0.3, 1.15),
        _scene("wall", Obstacle("wall", Box((0.04, 0.4, 0.5)), (0.03, 0.4, -0.42), color=RED)),
    ),
    (
        "beside a pillar", (-0.35, 0.15, 0.85), (0.2, 0.4, 0.75),
        _scene("pillar", Obstacle("pillar", Box((0.06, 0.06, 1.6)), (-0.08, 0.25, -0.2), color=RED)),
    ),
)  # fmt: skip


@functools.cache
def arm() -> Figure:
    return library.named("arm3d")


def at_rest(hands: Hands) -> Array:
    """Where the arm hangs with the hands there."""
    figure = arm()
    x, y, length = hands
    return settle(figure, figure.configuration(settle(figure), hand_x=x, hand_y=y, hand_length=length))


@functools.cache
def problems() -> tuple[PlanningProblem, ...]:
    figure, out = arm(), []
    for name, start, goal, scene in PAIRS:
        q = at_rest(start)
        wanted = Goal.at_configuration(figure, at_rest(goal), within=WITHIN, speed=SLOWER)
        out.append(PlanningProblem(figure, q, wanted, scene, HandLimits.of(figure, at_rest((0.0, 0.4, 1.0))), name=name))
    return tuple(out)


def straight_way(problem: PlanningProblem, *, seconds: float = 3.0) -> Motion:
    """The hands go straight to where they are at the goal, from rest to rest."""
    assert problem.goal.kinematic is not None
    a, b = problem.start[problem.figure.n_dynamic :], problem.goal.kinematic

    def hands(t: float) -> Array:
        s = min(t / seconds, 1.0)
        return np.asarray(a + (b - a) * s * s * (3.0 - 2.0 * s))

    return simulate(problem.figure, hands, duration=seconds, dt=0.005, q=problem.start)
