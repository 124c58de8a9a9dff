"""Plans smoothed by optimal control, and the feedback that holds a figure to them."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.arm_pairs import problems
from bunraku.control.tracking import track
from bunraku.errors import BunrakuError
from bunraku.planning.strings import Plan, PlanningProblem, recheck, search, smooth, stabilize


@functools.cache
def wall() -> PlanningProblem:
    return problems()[8]


@pytest.fixture(scope="module")
def found() -> Plan:
    return search(wall(), seed=1)


def test_smoother_hands_and_the_rechecker_still_accepts(found: Plan) -> None:
    better = smooth(found)
    assert found.motion is not None
    assert better.motion is not None
    assert better.motion.duration == pytest.approx(found.motion.duration)
    assert better.roughness < 0.1 * found.roughness
    assert better.rough == found.roughness
    assert set(better.seconds) == {"search", "smooth"}
    report = recheck(better.motion, wall().scene, limits=wall().limits, goal=wall().goal, allowed=wall().allowed)
    assert report.accepted, str(report)


def test_gains_bring_a_pushed_figure_back(found: Plan) -> None:
    held = stabilize(smooth(found))
    s = held.system
    assert held.gains.shape == (len(held.run), s.n_u, s.n_x)

    def push(k: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        kick = np.zeros_like(x)
        kick[s.n_q : s.n_q + s.n] = 0.02 * (-1.0) ** np.arange(s.n) if k == 20 else 0.0
        return x + kick

    seen = track(held, disturb=push)
    late = slice(len(seen.error) // 2, None)
    assert seen.error_without.max() > 0.05
    assert np.sqrt((seen.error[late] ** 2).mean()) < 0.6 * np.sqrt((seen.error_without[late] ** 2).mean())
    assert seen.recovered > 0.05


def test_what_was_not_found_stays_so() -> None:
    nothing = search(wall(), seed=1, segments=3)
    assert smooth(nothing) is nothing
    with pytest.raises(BunrakuError, match="no motion"):
        stabilize(nothing)


def test_a_plan_that_cannot_be_bettered_is_kept(found: Plan) -> None:
    """A goal that only this end is in, and a wall as near as it may be: whatever the weight, the plan stays valid."""
    tight = dataclasses.replace(wall().goal, within=1e-9)
    kept = smooth(dataclasses.replace(found, problem=dataclasses.replace(wall(), goal=tight)), iterations=3)
    assert kept.motion is found.motion
