"""A coarse grid first leads to the same optimum of the fine one."""

from __future__ import annotations

import pytest

from bunraku.control import Acceleration, Configuration, Forces, Momentum, PointAt, Speed, Tension, optimize
from bunraku.dynamics import settle
from bunraku.errors import BunrakuError
from bunraku.figure import library


def test_same_optimum() -> None:
    figure = library.cart_pendulum(start=(0.0, 0.0))
    cost = [Configuration({"x": 10.0, "theta": 10.0}, {"x": 0.5}, at_end=1.0), Momentum(0.01), Forces(0.01)]
    plain, found = optimize(figure, cost, duration=2.0), optimize(figure, cost, duration=2.0, coarse=4)
    assert found.outcome.kind == "converged"
    assert found.cost == pytest.approx(plain.cost, rel=1e-10)
    assert len(found.history) <= len(plain.history)
    with pytest.raises(BunrakuError, match="not a multiple"):
        optimize(figure, cost, duration=2.0, coarse=7)


def test_same_optimum_with_strings() -> None:
    figure = library.arm3d()
    q = settle(figure)
    cost = [
        Configuration(1.0, q), PointAt("tip", (0.05, 0.3, -0.05), 5.0), Momentum(0.01), Speed(0.1), Acceleration(0.01),
        Tension(1e-3),
    ]  # fmt: skip
    plain, found = optimize(figure, cost, duration=1.0, q=q), optimize(figure, cost, duration=1.0, q=q, coarse=4)
    assert found.outcome.kind == "converged"
    assert found.cost == pytest.approx(plain.cost, rel=1e-9)
