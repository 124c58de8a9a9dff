"""Climbs that arrive, and climbs that say where and why they do not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.errors import BunrakuError, FigureError
from bunraku.locomotion.climb.climb import climb
from bunraku.locomotion.climb.climb_outcomes import BODY_TOUCHES, CURVE_TOO_TIGHT, FEET_SLIP, FOOT_OUT_OF_REACH, JOINT_AT_LIMIT
from bunraku.locomotion.climb.path_segments import Arc, Slope, Step, Straight

UP = Slope(math.pi / 2)


def test_a_short_climb_arrives():
    done = climb([Straight(0.12)], optimized=False)
    assert done.outcome.ok, str(done)
    assert len(done.motion.t) == 801
    assert np.isfinite(done.motion.q).all()
    assert done.adhesion.adhesion.max() < 0.2


@pytest.mark.parametrize(
    ("segments", "options", "outcomes"),
    [
        ([Straight(0.1), Arc(0.08, 2.0)], {}, {CURVE_TOO_TIGHT}),
        ([Straight(0.8)], {"stride": 0.4}, {FOOT_OUT_OF_REACH, JOINT_AT_LIMIT}),
        ([Straight(0.2), Step(0.2), Straight(0.3)], {}, {FOOT_OUT_OF_REACH, JOINT_AT_LIMIT, BODY_TOUCHES}),
        ([Straight(0.2), UP, Straight(0.01), UP, Straight(0.3)], {}, {FOOT_OUT_OF_REACH, JOINT_AT_LIMIT, BODY_TOUCHES}),
    ],
    ids=["radius", "stride", "obstacle", "slopes"],
)
def test_the_impossible_ends_with_the_place_the_reason_and_the_motion_so_far(segments, options, outcomes):
    done = climb(segments, optimized=False, **options)
    assert done.outcome.kind in {outcome.kind for outcome in outcomes}
    assert "m along" in done.outcome.why
    assert "advice" in str(done)
    assert 0.0 <= done.where < sum(s.length for s in segments if isinstance(s, Straight)) + 0.3
    assert 1 <= len(done.motion.t) < len(done.feet.t)
    assert np.isfinite(done.motion.q).all()


def test_where_nothing_holds_the_feet_slip():
    done = climb([Straight(0.2), Slope(-math.pi / 4), Straight(0.3)], friction=1e-6, optimized=False)
    assert done.outcome.kind == FEET_SLIP.kind, str(done)
    assert "slip" in done.outcome.why
    assert 0.0 < done.where < done.course.length
    assert np.isfinite(done.adhesion.adhesion).all()
    assert len(done.adhesion.adhesion) == len(done.motion) < len(done.feet.t)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stride": math.nan}, "stride"),
        ({"stride": 0.0}, "stride"),
        ({"quarter": -1.0}, "quarter"),
        ({"dt": 0.1}, "samples in a step"),
        ({"friction": 0.0}, "friction"),
        ({"friction": math.inf}, "friction"),
        ({"grip": math.nan}, "grip"),
        ({"pause": math.nan}, "pause"),
    ],
)
def test_numbers_that_are_none_are_refused(options, said):
    with pytest.raises(BunrakuError, match=said):
        climb([Straight(0.12)], **options)


def test_a_path_has_segments():
    with pytest.raises(FigureError, match="without segments"):
        climb([])
