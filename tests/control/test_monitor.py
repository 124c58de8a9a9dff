"""What monitors hear, and that Ctrl-C keeps the best so far."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pytest
from rich.console import Console

from bunraku.control import Configuration, Forces, Iteration, Momentum, Outcome, Speed, optimize
from bunraku.control.monitor import Plot, Record, bar, told
from bunraku.errors import BunrakuError
from bunraku.figure import library

FIGURE = library.cart_pendulum(start=(0.0, 0.0))
COST = [Configuration({"x": 10.0, "theta": 1.0}, {"x": 0.5}), Momentum(0.01), Forces(0.01)]


def test_all_hear_the_same() -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    record, text = Record(), io.StringIO()
    plot = Plot(pyplot.figure().gca())
    with bar(Console(file=text, force_terminal=True, width=120)) as progress:

        def hear(i: Iteration) -> None:
            for monitor in (record, plot, progress):
                monitor(i)

        found = optimize(FIGURE, COST, duration=1.0, monitor=hear)
    pyplot.close()
    assert tuple(record.iterations) == found.history
    assert plot.record.iterations == record.iterations
    assert "cost" in text.getvalue()
    assert "newton" in told(found.history[-1])


def test_ctrl_c_returns_the_best_so_far() -> None:
    def impatient(i: Iteration) -> None:
        if i.number == 1:
            raise KeyboardInterrupt

    start = optimize(FIGURE, COST, duration=1.0, iterations=1).history[0].cost
    found = optimize(FIGURE, COST, duration=1.0, monitor=impatient)
    assert found.outcome is Outcome.STOPPED
    assert found.cost < start
    assert found.gains.shape == (100, 1, 4)


@pytest.mark.parametrize("method", ["steepest", "gauss-newton", "newton", "auto"])
def test_all_methods_lead_to_the_same_place(method) -> None:
    best = optimize(FIGURE, COST, duration=1.0)
    found = optimize(FIGURE, COST, duration=1.0, method=method, iterations=400, tolerance=1e-10, threads=2)
    assert found.cost == pytest.approx(best.cost, rel=1e-7)
    assert np.isfinite(found.run.x).all()


def test_an_input_without_a_price_is_refused() -> None:
    with pytest.raises(BunrakuError, match="leaves an input free: x_force\n"):
        optimize(FIGURE, [Configuration({"x": 0.0})], duration=1.0)


def test_a_start_that_is_out_of_joint_is_refused() -> None:
    """Before there was an "optimum" of what the first step tore into place."""
    arm = library.arm2d()
    short = arm.configuration(hand_length=arm.start[-1] - 0.1)
    with pytest.raises(BunrakuError, match=r"strings do not reach: hand by 0\.1 m"):
        optimize(arm, [Configuration(1.0), Speed(0.1)], duration=0.5, q=short)
