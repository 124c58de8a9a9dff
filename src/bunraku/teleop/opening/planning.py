"""Motion planning among obstacles."""

from __future__ import annotations

import numpy as np

from bunraku.figure import Box
from bunraku.figure.library import named
from bunraku.scene import Obstacle, Scene
from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.opening.recordings import Recording, recorded


def chapter() -> Chapter:
    """The entries of the chapter."""
    about = "An arm on one string swings over a wall. Blue is what the planner tried; turn on Trails for what it chose"
    return Chapter("Planning", [Entry("Over the wall", _over_the_wall, about)])


WALL = Scene("wall", (Obstacle("wall", Box((0.04, 0.4, 0.5)), (0.03, 0.4, -0.42), color=(0.75, 0.3, 0.22)),), floor=-1.0)


def _over_the_wall() -> Recorded:
    from bunraku.planning.strings.tree_picture import with_edges

    known = recorded("over_the_wall")
    return Recorded(known.motion, with_edges(WALL, np.array(known.lines["tree"])))


def swung_over_the_wall() -> Recording:
    """An arm on one string that a hand swings over a wall, and what the search tried."""
    from bunraku.dynamics import settle
    from bunraku.planning.strings import Goal, HandLimits, PlanningProblem, search
    from bunraku.planning.strings.tree_picture import tree_edges

    arm = named("arm3d")
    rest = settle(arm)
    hands = ({"hand_x": -0.3, "hand_y": 0.35}, {"hand_x": 0.35, "hand_y": 0.3})
    start, end = (settle(arm, arm.configuration(rest, hand_length=1.15, **xy)) for xy in hands)
    goal = Goal.at_configuration(arm, end, within=0.03, speed=0.3)
    problem = PlanningProblem(arm, start, goal, WALL, HandLimits.of(arm, start), name="over_the_wall")
    found = search(problem, seed=1, seconds=30)
    assert found.motion is not None, found.outcome
    return Recording(found.motion, lines={"tree": list(tree_edges(found))})
