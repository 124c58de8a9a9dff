"""Light climbs: pauses on all four feet, the least adhesion that is possible at all, and where the body sways."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.figure import library
from bunraku.locomotion.climb.adhesion import adhesion_along, hold
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import FootPaths, foot_paths
from bunraku.locomotion.climb.footsteps import footsteps
from bunraku.locomotion.climb.gecko import Gecko, gait, stand, wish
from bunraku.locomotion.climb.gecko_kernels import retract_along
from bunraku.locomotion.climb.light_climb import LightOptions, bearable, least_adhesion, lighter, swayed, upright
from bunraku.locomotion.climb.path_segments import Arc, Slope, Straight
from bunraku.spatial import so3

GECKO = Gecko(library.named("gecko"))
TURN = (Straight(0.06), Slope(math.pi / 2), Straight(0.3), Arc(0.25, math.pi / 2))
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
    quarters = feet.aloft[:-1].reshape(-1, 80, 4)
    assert not quarters[:, 50:].any()
    np.testing.assert_array_equal(quarters[:, :50], plain.aloft[:-1].reshape(-1, 50, 4))
    np.testing.assert_array_equal(feet.p[:-1].reshape(-1, 80, 4, 3)[:, :50], plain.p[:-1].reshape(-1, 50, 4, 3))
    assert np.ptp(feet.p[:-1].reshape(-1, 80, 4, 3)[:, 50:], axis=1).max() == 0.0


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0, math.pi), st.floats(0.3, 1.5), st.integers(-1, 3), st.integers(0, 10**6))
def test_wherever_the_weight_is_feet_on_one_face_need_no_less(angle, friction, swings, seed):
    rng, R = np.random.default_rng(seed), so3.about(1, angle)
    p = (rng.uniform(-0.1, 0.1, (4, 3)) * [1.0, 1.0, 0.0]) @ R.T
    feet = FootPaths(np.zeros(1), p[None], np.tile(R, (1, 4, 1, 1)), (np.arange(4) == swings)[None], 1, 4)
    stands = [k for k in range(4) if k != swings]
    centre = p[stands].mean(0) + 0.04 * R[:, 2] + rng.normal(size=3) * 0.02
    held = hold(p[stands], np.tile(R[:, 2], (len(stands), 1)), centre, friction=friction)
    assert held.adhesion >= least_adhesion(feet, friction)[0] - 1e-9


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
    side = 0.12 * LightOptions().side
    assert 0.9 * side <= moved[hangs].max() <= side  # a little less for the pauses
    for foot, side in enumerate((-1.0, 1.0, -1.0, 1.0)):  # left feet swing while the body is to the right
        assert (side * moved[hangs & feet.aloft[:, foot]] > 0.0).all()


def walked(segments):
    course, feet = planned(segments, 0.0)
    want = wish(GECKO, course, feet)
    Q, _ = gait(GECKO, stand(GECKO, course, feet, want)[0], feet, want)
    return feet.every(7, len(feet.t)), np.ascontiguousarray(Q[::7])


@pytest.mark.parametrize(
    "terms", [lighter(GECKO, options=LightOptions(rate=12.0, firm=60.0, enough=0.0)), bearable(GECKO)], ids=["lighter", "bearable"]
)
def test_terms_change_as_their_rows_say(terms):
    feet, Q = walked(TURN)
    now = terms(Q, feet)
    assert now.values.max() > 0.0
    scale = np.where(np.arange(25) < 3, GECKO.measures["leg"], 1.0)
    D = np.random.default_rng(5).standard_normal((len(Q), 25))
    changed = []
    for h in (1e-6, -1e-6):
        trial = Q.copy()
        retract_along(GECKO.body, trial, h * D * scale, 1.0)
        changed.append(terms(trial, feet).values)
    slope = (changed[0] - changed[1]) / 2e-6
    kinks = np.abs((changed[0] + changed[1] - 2.0 * now.values) / 1e-6) > 1e-3 * np.abs(slope).max()  # another foot begins to hold
    assert kinks.mean() < 0.02
    expected = np.einsum("trc,tc->tr", now.rows, D)
    np.testing.assert_allclose(slope[~kinks], expected[~kinks], rtol=1e-4, atol=1e-4 * np.abs(slope).max())


def test_a_wall_is_where_standing_feet_share_a_face_that_neither_lies_nor_hangs():
    _, feet = planned(CEILING, 0.0)
    up, wall = feet.R[:, :, 2, 2], upright(feet)
    stands = ~feet.aloft
    np.testing.assert_array_equal(wall, (np.abs(up) < 0.1).all(1, where=stands))
    assert (wall & (np.abs(up) > 0.1).any(1)).any()  # the swinging foot may be elsewhere


def test_a_plain_climb_leans_only_on_walls_and_where_feet_would_bear_more():
    feet, Q = walked(TURN)
    wall, values = upright(feet), bearable(GECKO)(Q, feet).values[:, 0]
    need = adhesion_along(GECKO, Q, feet).adhesion
    np.testing.assert_array_equal(values > 0.0, wall & (need > LightOptions().bearable))
    np.testing.assert_allclose(values[values > 0.0], need[values > 0.0] - LightOptions().bearable)
    flat, Q = walked((Straight(0.12),))
    assert not bearable(GECKO)(Q, flat).values.any()
