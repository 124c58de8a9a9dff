"""A trot: two feet at a time, which cannot hold the body still, and must be quick."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.errors import FigureError
from bunraku.figure import library
from bunraku.locomotion.climb.climb import climb
from bunraku.locomotion.climb.climb_dynamics import tipping_angles
from bunraku.locomotion.climb.climb_in_mujoco import perform_in_mujoco
from bunraku.locomotion.climb.climb_pace import climb_pace
from bunraku.locomotion.climb.footsteps import swing_groups
from bunraku.locomotion.climb.path_segments import Slope, Straight
from tests.locomotion.climb.climbers import scaled
from tests.locomotion.climb.judge import frames_of

SIZE = 0.4  # 15 cm from snout to vent, 24 g: a tokay gecko


def wall(size=SIZE, long=0.9):
    return [Straight(0.06 * size), Slope(math.pi / 2), Straight(long * size)]


def test_half_of_the_feet_swing_at_a_time():
    assert swing_groups(4, "trot") == ((1, 2), (0, 3))  # front right and rear left, front left and rear right
    tripods = swing_groups(6, "trot")
    assert sorted(sum(tripods, ())) == list(range(6))
    assert all({foot % 2 for foot in tripod} == {0, 1} and len({foot // 2 for foot in tripod}) == 3 for tripod in tripods)


def test_gait_and_step_follow_from_the_speed():
    slow, fast = climb_pace(0.12, 4, speed=0.05), climb_pace(0.12, 4, speed=0.5)
    assert (slow.gait, fast.gait) == ("crawl", "trot")
    assert slow.stride / (4 * slow.quarter) == pytest.approx(0.05)
    assert fast.stride / (2 * fast.quarter) == pytest.approx(0.5)
    assert climb_pace(0.12, 4).quarter == pytest.approx(0.25)
    assert climb_pace(0.03, 4).quarter == pytest.approx(0.125)
    with pytest.raises(FigureError, match="gallop"):
        climb_pace(0.12, 4, gait="gallop")
    with pytest.raises(FigureError, match="quarter"):
        climb_pace(0.12, 4, speed=0.1, quarter=0.2)


def test_a_body_on_two_feet_falls_as_a_pencil_does():
    """A constant acceleration a, upright at both ends of a step of T: the largest angle is a T²/8."""
    a = np.zeros(1201)
    a[100:1100] = 3.0
    assert np.abs(tipping_angles(a, 1e-3)).max() == pytest.approx(3.0 / 8.0, rel=5e-3)
    assert tipping_angles(a, 1e-3)[[0, 99, 1100, 1200]] == pytest.approx(0.0, abs=1e-12)


def test_a_quick_trot_arrives_and_a_slow_one_tips_over():
    figure = scaled(library.named("gecko"), SIZE)
    done = climb(wall(long=0.3), figure=figure, gait="trot", speed=0.6)
    assert done.outcome.ok, str(done)
    assert set(done.feet.aloft.sum(1).tolist()) == {0, 2}
    frames = frames_of(figure, done.motion.q)
    for foot, name in enumerate(done.roles.feet):
        stands = ~done.feet.aloft[: len(done.motion), foot]
        assert np.linalg.norm(frames[name][1] - done.feet.p[: len(done.motion), foot], axis=1)[stands].max() < 1e-8
    slow = climb(wall(long=0.3), figure=figure, gait="trot", quarter=0.15)
    assert slow.outcome.kind == "tips"
    assert "line between two feet" in str(slow.outcome)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_up_a_wall_at_more_than_half_a_metre_per_second_in_mujoco(seed):
    pytest.importorskip("mujoco")
    done = climb(wall(), figure=scaled(library.named("gecko"), SIZE), gait="trot", speed=0.6)
    assert done.outcome.ok, str(done)
    performed = perform_in_mujoco(done, seed=seed)
    assert not performed.fell, str(performed)
    assert performed.end_error < 1e-3
    z = performed.trunk[:, 2]
    on = np.flatnonzero((z > 0.25 * z.max()) & (z < 0.9 * z.max()))  # on the wall, before it slows down to stand
    speed = (z[on[-1]] - z[on[0]]) / (performed.dt * (on[-1] - on[0]))
    assert speed > 0.5  # m/s, with all times in which the plan waited for a foot
