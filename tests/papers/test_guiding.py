"""*guiding*: what the paper reports, as acceptance tests."""

from __future__ import annotations

import numpy as np

from bunraku.locomotion.guide.command import Command
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.points import Points, Subgoals
from bunraku.locomotion.guide.segment import Planner, Segment

STEP = 0.03


def sidesteps(planner: Planner) -> list[Segment]:
    """Fig. 8: the right foot 0.03 m to the right, and another 0.03 m."""
    guide = Guide(small_humanoid(), planner=planner)
    points, out = guide.start(), []
    for _ in range(2):
        goals = aside(guide, points)
        move = guide.plan(points, goals)
        assert move is not None
        out.append(move.segment)
        points = move.end
    return out


def aside(guide: Guide, points: Points) -> Subgoals:
    """The subgoals of a foot-guided step (eq. 3)."""
    reach = 0.6 * guide.humanoid.limits.forward
    return guide.rules.subgoals(points, Command("right_foot", move=(0.0, -STEP / reach, 0.0)))


def test_figure_8_without_correction_the_zmp_leaves_the_region() -> None:
    free = Planner.of_paper(longest=0.5, margin=-1.0)
    first, second = sidesteps(free)
    assert (first.duration, second.duration) == (0.5, 0.5)
    assert np.allclose(second.goal[1] - first.goal[1], -STEP / 2)
    assert first.margin.min() > 0.0, "the first step is fine"
    assert second.margin.min() < 0.0, "the second is not"


def test_figure_8_least_squares_lengthens_the_second_step() -> None:
    first, second = sidesteps(Planner.of_paper())
    assert first.duration == 0.5
    assert second.duration == 1.0, "as the paper prints"
    assert min(first.margin.min(), second.margin.min()) > 0.0


def test_figure_8_the_program_keeps_half_a_second() -> None:
    planner = Planner()
    for segment in sidesteps(planner):
        assert segment.duration == 0.5
        assert segment.margin.min() >= planner.margin - 1e-4
        assert max(segment.miss) <= planner.near
