from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.choreography.mode_flow import Flow
from bunraku.choreography.switching_derivatives import expand
from tests.differences import difference_quotient, relative_error

from .switched import cart, pushed_pendulum

SYSTEMS = pytest.mark.parametrize("system", [cart(), pushed_pendulum()], ids=["cart", "pendulum"])


@SYSTEMS
@settings(max_examples=15)
@given(st.lists(st.floats(0.05, 3.95), min_size=2, max_size=2).map(sorted))
def test_derivatives_by_switching_times(system: Flow, times: list[float]) -> None:
    tau = np.array(times)
    here = expand(system, tau)
    assert relative_error(here.gradient, difference_quotient(lambda t: expand(system, t, second=False).cost, tau)) < 1e-8
    assert relative_error(here.hessian, difference_quotient(lambda t: expand(system, t, second=False).gradient, tau)) < 1e-8


def test_the_hessian_is_symmetric_and_the_cost_is_what_a_run_costs() -> None:
    system, tau = pushed_pendulum(), np.array([0.9, 2.2])
    here = expand(system, tau)
    np.testing.assert_array_equal(here.hessian, here.hessian.T)
    assert here.cost == system.cost(tau, system.run(tau))
