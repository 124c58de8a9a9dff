"""Climbs that arrive, and climbs that say where and why they do not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.locomotion.climb import climb
from bunraku.locomotion.obstruction import Outcome
from bunraku.locomotion.segments import Curve, Slope, Step, Straight

UP = Slope(math.pi / 2)


def test_a_short_climb_arrives():
    done = climb([Straight(0.12)], optimized=False)
    assert done.outcome is Outcome.ARRIVED, str(done)
    assert len(done.motion.t) == 401
    assert np.isfinite(done.motion.q).all()
    assert done.adhesion.adhesion.max() < 0.2


@pytest.mark.parametrize(
    ("segments", "options", "outcomes"),
    [
        ([Straight(0.1), Curve(0.08, 2.0)], {}, {Outcome.TOO_TIGHT}),
        ([Straight(0.8)], {"stride": 0.4}, {Outcome.UNREACHABLE, Outcome.LIMITS}),
        ([Straight(0.2), Step(0.2), Straight(0.3)], {}, {Outcome.UNREACHABLE, Outcome.LIMITS, Outcome.COLLIDES}),
        ([Straight(0.2), UP, Straight(0.01), UP, Straight(0.3)], {}, {Outcome.UNREACHABLE, Outcome.LIMITS, Outcome.COLLIDES}),
    ],
    ids=["radius", "stride", "obstacle", "slopes"],
)
def test_the_impossible_ends_with_the_place_the_reason_and_the_motion_so_far(segments, options, outcomes):
    done = climb(segments, optimized=False, **options)
    assert done.outcome in outcomes
    assert done.why
    assert "advice" in str(done)
    assert 0.0 <= done.where < sum(s.length for s in segments if isinstance(s, Straight)) + 0.3
    assert 1 <= len(done.motion.t) < len(done.feet.t)
    assert np.isfinite(done.motion.q).all()
