"""*marionettes* could not plan for the whole figure; here the one of 22 + 18 variables raises a hand round a beam."""

from __future__ import annotations

import pytest

from benchmarks.raised_hand import TARGET, problem, straight_up
from bunraku.kinematics.loci import point_along
from bunraku.planning.strings import recheck, search
from tests.patience import PATIENCE


def test_winding_the_string_alone_hits_the_beam() -> None:
    found = problem().world.check(straight_up())
    assert any("beam" in (hit.a, hit.b) for hit in found.hits)


@pytest.mark.slow
def test_the_hand_gets_above_the_head() -> None:
    found = search(problem(), seed=0, seconds=PATIENCE)
    assert found.motion is not None, found
    report = recheck(found.motion, problem().scene, limits=problem().limits, goal=problem().goal)
    assert report.accepted, report
    assert report.gap <= 1e-3
    hand = point_along(found.motion, "rhand")[-1]
    assert hand[2] > 0.85
    assert sum((a - b) ** 2 for a, b in zip(hand, TARGET, strict=True)) ** 0.5 <= 0.05
