"""The simulation of a scheduler's load agrees with what can be said without one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.cluster_load import Costs, Load, simulated

FREE = Costs(0.0, 0.0, 0.0)


def test_one_core() -> None:
    took = simulated(Load(runs=10, seconds=2.0, cores=1, batch=1), Costs())
    assert took.seconds == pytest.approx(20.0, rel=1e-3)
    assert took.busy == pytest.approx(1.0, rel=1e-3)


def test_without_costs_all_cores_work() -> None:
    took = simulated(Load(runs=1000, seconds=1.0, cores=100, batch=1), FREE)
    assert took.seconds == pytest.approx(10.0)
    assert took.busy == pytest.approx(1.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 300), st.floats(0.001, 3.0), st.integers(1, 60), st.integers(1, 20), st.booleans())
def test_no_server_works_more_than_all_the_time(runs: int, seconds: float, cores: int, batch: int, shared: bool) -> None:
    """The time is at least that of each resource alone, and at most their sum."""
    costs, batches = Costs(), -(-runs // batch)
    took = simulated(Load(runs, seconds, cores, batch, shared), costs)
    sweep = batches * costs.sweep + (0.0 if shared else costs.row * batch * batches)
    rounds = -(-batches // cores) * batch * seconds
    assert took.seconds >= max(batches * costs.scheduler, sweep, rounds) * (1 - 1e-9)
    assert took.seconds <= (batches * costs.scheduler + sweep + rounds) * (1 + 1e-9) + batch * seconds
    assert took.scheduler <= 1.0 + 1e-9
    assert took.sweep <= 1.0 + 1e-9


def test_the_scheduler_is_the_limit() -> None:
    took = simulated(Load(runs=5000, seconds=0.1, cores=500, batch=1), Costs())
    assert took.seconds == pytest.approx(5000 * Costs().scheduler, rel=0.02)
    assert took.scheduler > 0.98
