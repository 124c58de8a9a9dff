"""Feedback along an optimum: what it recovers of pushes and of a wrong model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.control import Configuration, Forces, Momentum, Optimum, optimize
from bunraku.control.tracking import track
from bunraku.errors import BunrakuError
from bunraku.figure import library


@pytest.fixture(scope="module")
def balancing() -> Optimum:
    """A cart that balances its pendulum while it moves a metre: unstable without feedback."""
    figure = library.cart_pendulum(start=(0.0, np.pi))
    cost = [Configuration({"x": 10.0, "theta": 10.0}, {"x": lambda t: float(t > 1.0), "theta": np.pi}), Momentum(0.1), Forces(0.01)]
    return optimize(figure, cost, duration=4.0, dt=0.01)


def test_undisturbed_it_is_the_optimum(balancing: Optimum) -> None:
    found = track(balancing)
    assert found.error.max() < 1e-6


def test_recovers_from_a_push(balancing: Optimum) -> None:
    def push(k: int, x: np.ndarray) -> np.ndarray:
        x[3] += 0.3 * (k == 50)
        return x

    found = track(balancing, disturb=push)
    print(found)
    assert found.recovered > 0.9
    assert found.error[300] < 0.1 < 1.0 < found.error_without[300]


def test_bears_a_wrong_model(balancing: Optimum) -> None:
    heavier = library.cart_pendulum(start=(0.0, np.pi), mass=1.3, length=1.05)
    found = track(balancing, figure=heavier, disturb=lambda k, x: x + 1e-3 * (k == 0))
    print(found)
    assert found.recovered > 0.8
    with pytest.raises(BunrakuError, match="other variables"):
        track(balancing, figure=replace(library.pendulum(), forces=()))
