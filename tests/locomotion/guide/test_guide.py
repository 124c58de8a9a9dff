"""Any command, at any time: the property that the whole scheme rests on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.figure.shape import Box
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import GUIDED_POINTS, Command
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.wander import Tally, wander
from bunraku.scene import Obstacle, Scene

ROOM = Scene(
    "room",
    (
        Obstacle("upper", Box((0.5, 0.8, 0.04)), (-0.05, 0.0, 0.02)),
        Obstacle("lower", Box((0.2, 0.8, 0.02)), (0.3, 0.0, 0.01)),
        Obstacle("wall", Box((0.02, 2.0, 0.6)), (1.0, 0.0, 0.3)),
    ),
)


@pytest.fixture(scope="module")
def guide() -> Guide:
    return Guide(small_humanoid())


def assert_sound(tally: Tally) -> None:
    assert tally.violations == 0
    assert tally.fallbacks == 0
    assert tally.join < 1e-9
    assert tally.zmp_jump <= 0.020
    assert tally.realised >= 0.9


@settings(max_examples=6)
@given(st.integers(0, 2**31))
def test_random_input_never_breaks_the_plan(guide: Guide, seed: int) -> None:
    assert_sound(wander(guide, seconds=40.0, seed=seed))


@settings(max_examples=4)
@given(st.integers(0, 2**31))
def test_random_input_on_stairs_and_at_a_wall(seed: int) -> None:
    assert_sound(wander(Guide(small_humanoid(), ROOM), seconds=40.0, seed=seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_an_hour_of_random_input(guide: Guide, seed: int) -> None:
    assert_sound(wander(guide, seconds=3600.0, seed=seed))


def test_the_same_seed_gives_the_same_moves(guide: Guide) -> None:
    assert wander(guide, seconds=20.0, seed=3) == wander(guide, seconds=20.0, seed=3)


def test_walking_forward_steps_with_alternate_feet(guide: Guide) -> None:
    points, feet = guide.start(), []
    for _ in range(8):
        move = guide.next(points, Command("trunk", (1.0, 0.0, 0.0)))
        feet.append(move.goals.swings)
        points = move.end
    assert points.com.p[0] > 0.2
    stepped = [foot for foot in feet if foot != -1]
    assert all(a != b for a, b in pairwise(stepped)), stepped


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_feet_never_cross_on_a_sidestep(guide: Guide, side: float) -> None:
    points = guide.start()
    for _ in range(10):
        points = guide.next(points, Command("trunk", (0.0, side, 0.0))).end
        left, right = points.feet
        assert left[1] - right[1] >= guide.humanoid.limits.apart[0] - 1e-9
    assert side * points.com.p[1] > 0.1


def test_turning_on_the_spot(guide: Guide) -> None:
    points = guide.start()
    for _ in range(20):
        points = guide.next(points, Command("trunk", turn=(0.0, 0.0, 1.0))).end
    assert points.yaw > 1.0
    assert np.linalg.norm(points.com.p[:2]) < 0.05


def test_a_foot_in_the_air_is_landed_before_a_switch(guide: Guide) -> None:
    points = guide.next(guide.start(), Command("left_foot", lift=(1.0, 0.0))).end
    assert points.aloft == 0
    for guided in GUIDED_POINTS[1:]:
        move = guide.next(points, Command(guided, (1.0, 0.0, 0.0), lift=(0.0, 1.0)))
        assert move.goals.lands
        assert move.goals.swings == 0
        assert move.end.aloft == -1


def test_a_far_hand_draws_the_body_after_it(guide: Guide) -> None:
    points = guide.start()
    for _ in range(8):
        points = guide.next(points, Command("left_hand", (1.0, 0.0, 0.3))).end
    assert points.com.p[0] > 0.05
    assert points.hands[0, 0] > points.com.p[0] + 0.05


def test_down_the_stairs_by_the_feet() -> None:
    guide = Guide(small_humanoid(), ROOM)
    points = guide.start(x=0.1)
    assert points.feet[:, 2] == pytest.approx(0.04)
    for _ in range(12):
        for foot in ("left_foot", "right_foot"):
            points = guide.next(points, Command(foot, (1.0, 0.0, 0.0))).end
    assert points.feet[:, 2] == pytest.approx(0.0)


def test_a_wall_stops_it_and_says_why() -> None:
    guide = Guide(small_humanoid(), ROOM)
    points, notices = guide.start(x=0.7), []
    for _ in range(15):
        move = guide.next(points, Command("trunk", (1.0, 0.0, 0.0)))
        notices.append(move.goals.notice)
        points = move.end
    assert points.feet[:, 0].max() < 1.0 - 0.0495
    assert "wall" in notices[-1]
    assert np.linalg.norm(points.com.v) < 0.03


@pytest.mark.parametrize(
    "command",
    [
        Command("trunk", (float("nan"), 0.0, 0.0)), Command("trunk", (float("inf"), 0.0, 0.0)), Command("tail"),  # type: ignore[arg-type]
        Command("trunk", (1.0, 0.0)), Command("trunk", ("a", "b", "c")),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_nonsense_is_a_stand_and_a_notice(guide: Guide, command: Command) -> None:
    points = guide.next(guide.start(), Command("trunk", (1.0, 0.0, 0.0))).end
    move = guide.next(points, command)
    assert move.goals.notice
    assert move.goals.swings == -1
    assert np.isfinite(move.segment.samples).all()


def test_out_of_range_is_brought_into_range(guide: Guide) -> None:
    far = guide.next(guide.start(), Command("trunk", (40.0, 0.0, 0.0)))
    full = guide.next(guide.start(), Command("trunk", (1.0, 0.0, 0.0)))
    assert "outside" in far.goals.notice
    assert np.array_equal(far.goals.com, full.goals.com)
