"""Light climbs: pauses on all four feet, the least adhesion that is possible at all, and where the body sways."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.figure import library
from bunraku.locomotion.adhesion import hold
from bunraku.locomotion.course import Course
from bunraku.locomotion.footsteps import footsteps
from bunraku.locomotion.gecko import Gecko, wish
from bunraku.locomotion.light import SIDE, least, swayed
from bunraku.locomotion.segments import Slope, Straight
from bunraku.locomotion.swing import FootPaths, foot_paths
from bunraku.spatial import so3

GECKO = Gecko(library.named("gecko"))
CEILING = (Straight(0.06), Slope(math.pi / 2), Straight(0.3), Slope(math.pi / 2), Straight(0.4))


def planned(segments, pause):
    m = GECKO.measures
    course = Course(segments, height=m["height"], spread=m["spread"])
    return course, foot_paths(footsteps(course, front=m["front"], rear=m["rear"]), centre=m["sole"], pause=pause)


def test_all_four_feet_stand_in_a_pause():
    _, plain = planned((Straight(0.12),), 0.0)
    _, feet = planned((Straight(0.12),), 0.15)
    assert feet.quarter == pytest.approx(0.40)
    assert feet.pause == pytest.approx(0.15)
    assert feet.every(10, len(feet.t)).quarter == pytest.approx(feet.quarter)
    quarters = feet.swings[:-1].reshape(-1, 80)
    assert (quarters[:, 50:] == -1).all()
    np.testing.assert_array_equal(quarters[:, :50], plain.swings[:-1].reshape(-1, 50))
    np.testing.assert_array_equal(feet.p[:-1].reshape(-1, 80, 4, 3)[:, :50], plain.p[:-1].reshape(-1, 50, 4, 3))
    assert np.ptp(feet.p[:-1].reshape(-1, 80, 4, 3)[:, 50:], axis=1).max() == 0.0


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0, math.pi), st.floats(0.3, 1.5), st.integers(-1, 3), st.integers(0, 10**6))
def test_wherever_the_weight_is_feet_on_one_face_need_no_less(angle, friction, swings, seed):
    rng, R = np.random.default_rng(seed), so3.about(1, angle)
    p = (rng.uniform(-0.1, 0.1, (4, 3)) * [1.0, 1.0, 0.0]) @ R.T
    feet = FootPaths(np.zeros(1), p[None], np.tile(R, (1, 4, 1, 1)), np.array([swings]), 1)
    stands = [k for k in range(4) if k != swings]
    centre = p[stands].mean(0) + 0.04 * R[:, 2] + rng.normal(size=3) * 0.02
    held = hold(p[stands], np.tile(R[:, 2], (len(stands), 1)), centre, friction=friction)
    assert held.adhesion >= least(feet, friction)[0] - 1e-9


def test_the_bound_is_reached_beside_the_middle_of_the_triangle():
    p = np.array([[0.0, 0.1, 0.1], [0.0, -0.1, 0.1], [0.0, 0.1, -0.1]])
    wall = np.tile([-1.0, 0, 0], (3, 1))
    assert hold(p, wall, [-0.04, p[:, 1].mean(), 0.0]).adhesion == pytest.approx(1.0 / 3.0, abs=1e-9)
    ceiling = np.tile([0.0, 0, -1], (3, 1))
    flat = p[:, [2, 1, 0]]
    assert hold(flat, ceiling, flat.mean(0) - [0, 0, 0.04]).adhesion == pytest.approx(1.0 / 3.0, abs=1e-9)


def test_the_body_sways_away_from_the_swinging_foot_where_feet_must_stick():
    course, feet = planned(CEILING, 0.15)
    plain = wish(GECKO, course, feet)
    moved = (swayed(plain, feet).heights - plain.heights)[:, 6]
    assert abs(moved[0]) < 1e-9  # on the floor nothing need stick
    hangs = (feet.R[:, :, 2, 2] < -0.9).all(1)
    assert 0.9 * SIDE <= moved[hangs].max() <= SIDE  # a little less for the pauses
    for foot, side in enumerate((-1.0, 1.0, -1.0, 1.0)):  # left feet swing while the body is to the right
        assert (side * moved[hangs & (feet.swings == foot)] > 0.0).all()
