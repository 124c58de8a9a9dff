from __future__ import annotations

import numpy as np

from bunraku.choreography.mode_flow import Field
from bunraku.choreography.mode_insertion import best_insertion, inserted
from bunraku.choreography.switching_times import TimeLimits, TimesOptions, optimize_times

from .switched import cart

COAST = Field.linear([[0, 1], [0, 0]], [0, 0])


def test_a_mode_goes_in_where_it_lowers_the_cost() -> None:
    """Push and brake alone overshoot; with a stretch of coasting the goal is met."""
    flow = cart((1.0, -1.0), steps=20)
    without = optimize_times(flow, times=[1.0], limits=TimeLimits.ordered(1, 4.0))
    place = best_insertion(flow, without.times, COAST)
    assert place.helps
    wider, times = inserted(flow, without.times, COAST, place)
    np.testing.assert_allclose(wider.cost(times, wider.run(times)), without.cost, rtol=1e-12)
    found = optimize_times(wider, times=times, limits=TimeLimits.ordered(3, 4.0))
    assert without.cost > 0.5
    assert found.cost < 1e-10


def test_the_rate_is_the_slope_of_the_cost() -> None:
    flow = cart((1.0, -1.0), steps=400)
    times = np.array([1.3])
    place = best_insertion(flow, times, COAST)
    wider, tau = inserted(flow, times, COAST, place)
    longer = tau + np.array([0.0, 1e-4, 0.0]) if place.mode == 0 else tau + np.array([0.0, 0.0, 1e-4])
    slope = (wider.cost(longer, wider.run(longer)) - wider.cost(tau, wider.run(tau))) / 1e-4
    np.testing.assert_allclose(slope, place.rate, rtol=2e-2)


def test_at_an_optimum_the_same_mode_helps_nowhere() -> None:
    flow = cart(steps=20)
    found = optimize_times(flow, times=[1.0, 2.5], limits=TimeLimits.ordered(2, 4.0), options=TimesOptions(tolerance=1e-20))
    assert abs(best_insertion(flow, found.times, COAST).rate) < 1e-6
