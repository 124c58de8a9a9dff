"""Swing-ups from rest reach the best optimum that other guesses reach, also where a single descent ends in a poorer one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bunraku import library
from bunraku.control import Configuration, Forces, Momentum, optimize
from bunraku.control.optimize import OptimizeOptions
from bunraku.figure import Effort

CART = library.cart_pendulum(start=(0.0, 0.0))
PENDULUM = replace(library.pendulum(length=0.7, start=0.0), forces=(Effort("motor", "angle"),))
PENDUBOT = replace(library.double_pendulum(), forces=(Effort("shoulder", "upper"),))


def _up_and_down(t: float, start: float = 3.0, end: float = 7.0) -> float:
    return np.pi / 2 * (1 - np.cos(2 * np.pi * (t - start) / (end - start))) if start <= t <= end else 0.0


SWING_UPS: dict[str, tuple[Any, Any, float]] = {
    "cart, free to travel": (
        CART,
        [Configuration({"x": 0.01, "theta": 100.0}, {"theta": _up_and_down}), Momentum(0.01), Forces(0.01)],
        10.0,
    ),
    "cart, held in place": (
        CART,
        [Configuration({"x": 50.0, "theta": 100.0}, {"theta": _up_and_down}), Momentum(0.01), Forces(0.01)],
        10.0,
    ),
    "pendulum with a weak motor": (
        PENDULUM,
        [Configuration(10.0, {"angle": _up_and_down}), Momentum(0.01), Forces(5.0)],
        10.0,
    ),
    "double pendulum with a motor at the shoulder": (
        PENDUBOT,
        [
            Configuration({"upper": 123.2, "lower": 12.32}, {"upper": lambda t: _up_and_down(t, 1.2, 3.0)}),
            Momentum(0.01),
            Forces(0.00315),
        ],
        3.8,
    ),
}
# How a push of the guess swings: amplitude [N or N·m], angular frequency [rad/s].
PUSHES = {"cart": [(10, 3), (30, 3), (30, 4), (60, 2)], "pendulum": [(2, 3), (4, 3.5), (1, 4)], "double": [(2, 3), (5, 2), (4, 5)]}


@pytest.mark.parametrize("name", SWING_UPS)
def test_a_swing_up_from_rest_reaches_the_best_known_optimum(name) -> None:
    figure, cost, duration = SWING_UPS[name]
    told: dict[str, Any] = {"duration": duration, "dt": 0.02, "q": np.zeros(figure.n_q), "iterations": 300}
    found = optimize(figure, cost, **told)
    plain = optimize(figure, cost, **told, options=OptimizeOptions(cheap_prices=()))
    force = figure.forces[0].name
    known = min(
        optimize(figure, cost, **told, tolerance=1e-8, forces={force: lambda t, a=a, w=w: a * np.cos(w * t)}).cost
        for a, w in PUSHES[name.split()[0].rstrip(",")]
    )
    assert found.outcome.ok
    assert found.cost <= known * (1 + 1e-6)
    share = 1.0 if figure is PENDUBOT else 0.75
    assert found.cost <= share * plain.cost, "of carts and pendulum, a single descent from rest ends in a poorer optimum"


def test_the_gains_belong_to_the_motion_that_is_returned() -> None:
    """Whichever of both searches won."""
    figure = library.cart_pendulum(start=(0.0, 0.0))
    cost = [Configuration({"x": 1.0, "theta": 100.0}, {"theta": lambda t: 0.5 * _up_and_down(t)}), Momentum(0.01), Forces(0.01)]
    found = optimize(figure, cost, duration=10.0, dt=0.02)
    again = optimize(figure, cost, duration=10.0, dt=0.02, guess=found)
    assert again.cost == pytest.approx(found.cost, rel=1e-10)
    assert np.allclose(found.gains, again.gains, rtol=1e-4, atol=1e-4 * np.abs(again.gains).max())
