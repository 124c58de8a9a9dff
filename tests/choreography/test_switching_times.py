from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.choreography.show_outcomes import TIMES_OPTIMAL
from bunraku.choreography.switching_times import TimeLimits, TimesOptions, optimize_times
from bunraku.errors import BunrakuError
from bunraku.progress import Progress

from .switched import cart, pushed_pendulum

ORDER = TimeLimits.ordered(2, 4.0, shortest=0.05)


def test_three_modes_with_a_known_optimum() -> None:
    """Push, coast, brake: τ = 2 ∓ √3. Newton's method needs a handful of iterations, the gradient alone over fifty."""
    newton = optimize_times(cart(), times=[1.0, 2.5], limits=ORDER)
    assert newton.outcome is TIMES_OPTIMAL
    np.testing.assert_allclose(newton.times, [2 - math.sqrt(3), 2 + math.sqrt(3)], atol=1e-8)
    assert newton.iterations <= 8
    gradient = optimize_times(cart(), times=[1.0, 2.5], limits=ORDER, method="gradient", options=TimesOptions(iterations=1000))
    np.testing.assert_allclose(gradient.times, newton.times, atol=1e-5)
    assert gradient.iterations > 50


def test_the_tail_is_quadratic() -> None:
    promised = np.array(optimize_times(cart(), times=[1.0, 2.5], limits=ORDER, options=TimesOptions(tolerance=1e-14)).promised)
    tail = promised[promised < 1e-2]
    assert len(tail) >= 3
    assert np.all(np.log(tail[1:]) < 1.7 * np.log(tail[:-1]))


def test_no_mode_gets_shorter_than_it_may() -> None:
    found = optimize_times(pushed_pendulum(), times=[1.0, 2.5], limits=ORDER)
    assert found.outcome is TIMES_OPTIMAL
    np.testing.assert_allclose(found.times[1], 3.95, atol=1e-9)
    assert ORDER.broken(found.times) < 1e-9
    tried = [pushed_pendulum().cost(t, pushed_pendulum().run(t)) for t in found.times + 0.01 * np.array([[1, 0], [-1, 0], [0, -1]])]
    assert found.cost < min(tried)


@settings(max_examples=15)
@given(st.lists(st.floats(0.0, 4.0), min_size=2, max_size=2))
def test_from_anywhere_the_cost_only_falls(start: list[float]) -> None:
    found = optimize_times(pushed_pendulum(), times=start, limits=ORDER, options=TimesOptions(iterations=40))
    assert np.all(np.diff(found.costs) < 0.0)
    assert ORDER.broken(found.times) < 1e-9


def test_what_cannot_fit_is_refused() -> None:
    with pytest.raises(BunrakuError, match="do not fit"):
        TimeLimits.ordered(2, 4.0, shortest=2.0)
    window = TimeLimits(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -2.0]))
    with pytest.raises(BunrakuError, match="no times satisfy"):
        optimize_times(cart(), times=[1.0, 2.5], limits=ORDER.and_also(window))
    with pytest.raises(BunrakuError, match="no method"):
        optimize_times(cart(), times=[1.0, 2.5], limits=ORDER, method="magic")


def test_ctrl_c_keeps_the_best_so_far() -> None:
    heard: list[Progress] = []

    def stop(word: Progress) -> None:
        heard.append(word)
        if len(heard) == 3:
            raise KeyboardInterrupt

    found = optimize_times(cart(), times=[1.0, 2.5], limits=ORDER, progress=stop)
    assert found.outcome.kind == "stopped"
    assert {word.stage for word in heard} == {"timing"}
    assert found.cost < found.costs[0]
