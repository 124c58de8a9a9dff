"""Motion planning among obstacles."""

from __future__ import annotations

from bunraku.figure import Box
from bunraku.figure.library import named
from bunraku.scene import Obstacle, Scene
from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter


def chapter() -> Chapter:
    """The entries of the chapter."""
    about = "An arm on one string swings over a wall. Blue is what the planner tried; turn on Trails for what it chose"
    return Chapter("Planning", [Entry("Over the wall", _over_the_wall, about)])


def _over_the_wall() -> Recorded:
    from bunraku.dynamics import settle
    from bunraku.planning.strings import Goal, HandLimits, PlanningProblem, search
    from bunraku.planning.strings.tree_picture import on_stage

    arm = named("arm3d")
    rest = settle(arm)
    hands = ({"hand_x": -0.3, "hand_y": 0.35}, {"hand_x": 0.35, "hand_y": 0.3})
    start, end = (settle(arm, arm.configuration(rest, hand_length=1.15, **xy)) for xy in hands)
    wall = Obstacle("wall", Box((0.04, 0.4, 0.5)), (0.03, 0.4, -0.42), color=(0.75, 0.3, 0.22))
    goal = Goal.at_configuration(arm, end, within=0.03, speed=0.3)
    problem = PlanningProblem(arm, start, goal, Scene("wall", (wall,), floor=-1.0), HandLimits.of(arm, start), name="over_the_wall")
    return on_stage(search(problem, seed=1, seconds=30))
