"""*marionettes*, section VII: an expansive-space tree plans for a puppet arm of four dynamic and three kinematic variables.

Every plan here ends in the rechecker, which simulates it again by itself.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.arm_pairs import PAIRS, arm, at_rest, problems, straight_way
from bunraku import library
from bunraku.errors import BunrakuError
from bunraku.figure import Box
from bunraku.planning.planning_outcomes import (
    GOAL_BLOCKED,
    GOAL_OUT_OF_REACH,
    NO_BUDGET,
    NO_INPUT,
    START_BLOCKED,
    START_OUTSIDE_LIMITS,
    STRINGS_TOO_SHORT,
)  # fmt: skip
from bunraku.planning.strings import Goal, HandLimits, Plan, PlanningProblem, recheck, search
from bunraku.scene import Obstacle, Scene
from tests.patience import PATIENCE
from tests.slow_cases import cases

NAMES = tuple(pair[0] for pair in PAIRS)


@pytest.fixture
def problem(request: pytest.FixtureRequest) -> PlanningProblem:
    """By its name. They are not made when tests are collected, which would compile half of the dynamics."""
    return problems()[NAMES.index(request.param)]


def accepted(found: Plan) -> bool:
    """By the rechecker, once more and from the motion alone."""
    assert found.motion is not None
    problem = found.problem
    report = recheck(found.motion, problem.scene, limits=problem.limits, goal=problem.goal, allowed=problem.allowed)
    assert report.gap <= 1e-3, "string error"
    return report.accepted


@pytest.mark.parametrize("problem", NAMES[5:], indirect=True)
def test_the_straight_way_hits_the_obstacle(problem: PlanningProblem) -> None:
    found = problem.world.check(straight_way(problem))
    obstacles = {obstacle.name for obstacle in problem.scene.obstacles}
    assert any({hit.a, hit.b} & obstacles for hit in found.hits)
    assert problem.refusal() is None


@pytest.mark.parametrize("problem", cases(NAMES, slow=("between two posts", "over a wall", "beside a pillar")), indirect=True)
def test_each_of_the_ten_is_solved(problem: PlanningProblem) -> None:
    found = search(problem, seed=1, seconds=PATIENCE)
    assert found.motion is not None, found
    assert accepted(found)


@pytest.mark.slow
def test_bias_toward_the_goal_saves_most_of_the_work() -> None:
    """ "The performance … is drastically improved by biasing the random selection … closer to the desired configuration." """
    easy = dataclasses.replace(problems()[0], goal=Goal.at_configuration(arm(), at_rest(PAIRS[0][2]), within=0.08))
    effort: dict[str, list[int]] = {"est-uniform": [], "est-goal": []}
    for name, counts in effort.items():
        for seed in range(4):
            found = search(easy, name, seed=seed, seconds=PATIENCE, segments=12_000)
            counts.append(found.segments)
            assert found.motion is None or accepted(found)
    assert np.median(effort["est-goal"]) < 0.3 * np.median(effort["est-uniform"])


def test_the_same_seed_gives_the_same_plan() -> None:
    first, again, other = (search(problems()[8], seed=seed) for seed in (3, 3, 4))
    assert first.motion == again.motion
    assert first.segments == again.segments
    assert first.motion != other.motion


def test_plans_may_let_a_string_go_slack_and_catch() -> None:
    """Fast hands: some string of some plan hangs through and tightens again, and the plan still holds."""
    fast = HandLimits.of(arm(), at_rest((0.0, 0.4, 1.0)), speed=2.5, acceleration=25.0)
    kinds: set[str] = set()
    for seed in range(5):
        found = search(dataclasses.replace(problems()[1], limits=fast, steps=15), seed=seed, seconds=PATIENCE, segments=8000)
        if found.motion is not None:
            assert accepted(found)
            kinds |= {mark.kind for mark in found.motion.marks}
        if "impact" in kinds:
            return
    raise AssertionError(f"only {kinds}")


@pytest.mark.parametrize(("name", "share"), [("ao-est", 0.75), pytest.param("sst", 0.75, marks=pytest.mark.slow)])
def test_cost_falls_with_time(name: str, share: float) -> None:
    first = last = 0.0
    for seed in range(1, 5):  # of single seeds some begin with a plan that is hard to better
        found = search(problems()[2], name, seed=seed, seconds=PATIENCE, segments=12_000)
        assert found.motion is not None
        assert accepted(found)
        costs = [cost for _, cost in found.history]
        assert all(b < a for a, b in pairwise(costs))
        assert found.cost == costs[-1]
        first, last = first + costs[0], last + costs[-1]
    assert last < share * first


# -- what cannot be solved is told at once ---------------------------------------------------------------------------


def outcome(problem: PlanningProblem, **options: float) -> tuple[str, str]:
    """Kind and reason of a problem that no tree is grown for."""
    found = search(problem, **options)  # type: ignore[arg-type]
    assert found.segments == 0
    assert found.motion is None
    assert not found.outcome.ok
    assert found.tree is None
    assert found.outcome.why in str(found)
    assert found.outcome.advice in str(found)
    return found.outcome.kind, found.outcome.why


def test_start_in_collision() -> None:
    block = Scene("block", (Obstacle("block", Box((0.1, 0.1, 0.1)), (0.0, 0.2, -0.3)),), floor=-1.0)
    what, why = outcome(dataclasses.replace(problems()[0], scene=block))
    assert what == START_BLOCKED.kind
    assert "block" in why


def test_a_string_that_starts_through_an_obstacle() -> None:
    bead = Scene("bead", (Obstacle("bead", Box((0.06, 0.06, 0.02)), (-0.045, 0.36, 0.2)),), floor=-1.0)
    what, why = outcome(dataclasses.replace(problems()[0], scene=bead))
    assert what == START_BLOCKED.kind
    assert "the string hand" in why
    assert "bead" in why


def test_goal_out_of_reach_of_every_string() -> None:
    short = HandLimits.of(
        arm(), problems()[0].start, boxes={"hand_length": (0.3, 1.11), "hand_x": (-0.1, 0.1), "hand_y": (0.3, 0.5)}
    )
    low = Goal.at_points(arm(), {"tip": (0.0, 0.05, -0.57)})
    what, why = outcome(dataclasses.replace(problems()[0], goal=low, limits=short))
    assert what == GOAL_OUT_OF_REACH.kind
    assert "the string hand is too short" in why
    far = Goal.at_points(arm(), {"tip": (0.9, 0.0, 0.0)})
    what, why = outcome(dataclasses.replace(problems()[0], goal=far))
    assert what == GOAL_OUT_OF_REACH.kind
    assert "limbs" in why
    # With a longer string the first of the two is no longer refused.
    longer = HandLimits.of(arm(), problems()[0].start, boxes={"hand_length": (0.3, 1.5)})
    assert dataclasses.replace(problems()[0], goal=low, limits=longer).refusal() is None


def test_goal_inside_an_obstacle() -> None:
    block = Scene("block", (Obstacle("block", Box((0.2, 0.2, 0.2)), (0.3, 0.3, 0.0)),), floor=-1.0)
    goal = Goal.at_points(arm(), {"tip": (0.3, 0.3, 0.0)}, within=0.03)
    what, why = outcome(dataclasses.replace(problems()[0], scene=block, goal=goal))
    assert what == GOAL_BLOCKED.kind
    assert "block" in why


def test_empty_box_of_inputs() -> None:
    for limits in (
        HandLimits.of(arm(), problems()[0].start, speed=0.0),
        HandLimits.of(arm(), problems()[0].start, held=arm().kinematic),
    ):
        what, why = outcome(dataclasses.replace(problems()[0], limits=limits))
        assert what == NO_INPUT.kind
        assert "hand_x" in why


def test_a_hand_that_starts_outside_of_its_box() -> None:
    beyond = HandLimits.of(arm(), problems()[0].start, boxes={"hand_x": (1.0, 2.0)})
    what, why = outcome(dataclasses.replace(problems()[0], limits=beyond))
    assert what == START_OUTSIDE_LIMITS.kind
    assert "hand_x" in why


def test_a_start_nearer_to_something_than_the_margin() -> None:
    near = problems()[0].world.distance(problems()[0].start).value
    assert dataclasses.replace(problems()[0], margin=0.9 * near).refusal() is None
    what, why = outcome(dataclasses.replace(problems()[0], margin=1.1 * near))
    assert what == START_BLOCKED.kind
    assert "nearer than the margin" in why


def test_a_figure_without_hands() -> None:
    robot = library.mobile_manipulator()
    goal = Goal.at_points(robot, {"tool": (1.0, 0.0, 1.0)})
    what, why = outcome(PlanningProblem(robot, robot.start, goal, Scene("nothing", floor=None), HandLimits.of(robot, robot.start)))
    assert what == NO_INPUT.kind
    assert "no kinematic variable" in why


@pytest.mark.parametrize("wrong", [{"margin": np.nan}, {"margin": -1.0}, {"steps": 0}, {"segment": 0.0}, {"segment": np.nan}])
def test_numbers_that_no_search_can_use(wrong: dict[str, float]) -> None:
    with pytest.raises(BunrakuError, match="advice"):
        dataclasses.replace(problems()[0], **wrong)  # type: ignore[arg-type]
    with pytest.raises(BunrakuError, match="a whole number, zero or more"):
        search(problems()[0], seed=-1)


def test_zero_budget() -> None:
    assert outcome(problems()[0], seconds=0.0)[0] == NO_BUDGET.kind
    assert outcome(problems()[0], segments=0)[0] == NO_BUDGET.kind


def test_strings_too_short_at_the_start() -> None:
    q = problems()[0].start.copy()
    q[-1] -= 0.05
    assert outcome(dataclasses.replace(problems()[0], start=q))[0] == STRINGS_TOO_SHORT.kind
