"""Limits on forces, variables, speeds and tensions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.control import Acceleration, Configuration, Forces, Limits, Momentum, Speed, optimize
from bunraku.dynamics import settle
from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import Figure, library


def test_force_and_rail_are_kept() -> None:
    """A cart that is to be a metre away within a second, on a short rail, with a weak motor."""
    figure = library.cart_pendulum(start=(0.0, 0.0))
    cost = [Configuration({"x": 100.0, "theta": 1.0}, {"x": 1.0}), Momentum(0.01), Forces(1e-4)]
    free = optimize(figure, cost, duration=3.0, dt=0.01)
    assert np.abs(free.forces).max() > 60
    assert free.motion.column("x").max() > 1.001
    limits = Limits(variables={"x": (None, 1.0)}, forces={"x_force": (-40.0, 40.0)})
    held = optimize(figure, cost, duration=3.0, dt=0.01, limits=limits, guess=free, iterations=150)
    assert held.outcome.kind == "converged"
    assert np.abs(held.forces).max() < 40 + 2e-6
    assert held.motion.column("x").max() < 1 + 2e-6
    assert (np.abs(held.forces) > 39.99).sum() > 5  # it uses what it has
    assert held.cost > free.cost


def test_hands_are_slow_and_strings_taut() -> None:
    figure = library.arm2d(damping=0.02)
    q = settle(figure)
    wish = {"elbow": lambda t: q[1] + 0.5 * (t > 0.5)}
    cost = [Configuration({"shoulder": 1.0, "elbow": 20.0}, wish), Momentum(0.01), Speed(1e-3), Acceleration(1e-4)]
    free = optimize(figure, cost, duration=1.5, dt=0.01, q=q)
    rate = free.run.x[:, 6:]
    limits = Limits(speeds={"hand_x": 0.5, "hand_length": 0.5}, tensions={"hand": (0.3, None)})
    held = optimize(figure, cost, duration=1.5, dt=0.01, q=q, limits=limits, iterations=200)
    assert np.abs(rate).max() > 0.6
    assert np.abs(held.run.x[:, 6:]).max() < 0.5 + 2e-6
    assert held.motion.tension.min() > 0.3 - 2e-4
    assert held.outcome.kind == "converged"


def test_string_length_and_joint_limits_are_kept() -> None:
    """A string of which only so much can be wound up, as the figure itself says, and an elbow that is to bend only so far."""
    figure = library.arm2d(damping=0.02)
    q = settle(figure)
    cost = [Configuration({"shoulder": 1.0, "elbow": 20.0}, {"elbow": q[1] + 0.4}), Momentum(0.01), Speed(1e-2), Acceleration(1e-4)]
    free = optimize(figure, cost, duration=1.0, dt=0.01, q=q)
    length = free.motion.column("hand_length")
    shortest, stop = float(length[0] - 0.2 * np.ptp(length)), q[1] + 0.2
    assert length.min() < shortest
    assert free.motion.column("elbow").max() > stop
    for limits, figure_ in (
        (Limits(variables={"hand_length": (shortest, None), "elbow": (None, stop)}), figure),
        (Limits(variables={"elbow": (None, stop)}, joints=True), wound(figure, shortest)),
    ):
        held = optimize(figure_, cost, duration=1.0, dt=0.01, q=q, limits=limits, iterations=200)
        assert held.outcome.kind == "converged"
        assert held.motion.column("elbow").max() < stop + 2e-6
        assert held.motion.column("hand_length").min() == pytest.approx(shortest, abs=2e-6)


def wound(figure: Figure, shortest: float) -> Figure:
    """The same with a limit of its own on the string's length."""
    return replace(figure, lengths=tuple(replace(length, lower=shortest) for length in figure.lengths))


def test_soft_limits_cost_what_exceeds_them() -> None:
    figure = library.cart_pendulum(start=(0.0, 0.0))
    cost = [Configuration({"x": 100.0, "theta": 1.0}, {"x": 1.0}), Momentum(0.01), Forces(1e-4)]
    free = optimize(figure, cost, duration=3.0, dt=0.01)
    soft = optimize(figure, cost, duration=3.0, dt=0.01, limits=Limits(forces={"x_force": (-40.0, 40.0)}, soft=True))
    assert soft.outcome.kind == "converged"
    assert 40.0 < np.abs(soft.forces).max() < 0.8 * np.abs(free.forces).max()


def test_limits_that_cannot_be_met_are_told() -> None:
    """The cart's rail ends before where it starts."""
    figure = library.cart_pendulum(start=(0.0, 0.0))
    cost = [Configuration({"x": 1.0, "theta": 1.0}), Momentum(0.01), Forces(1e-2)]
    found = optimize(figure, cost, duration=1.0, dt=0.01, limits=Limits(variables={"x": (None, -0.5)}), iterations=300)
    assert found.outcome.kind == "beyond limits"
    assert "loosen" in found.outcome.advice


def test_nonsense_is_refused() -> None:
    figure = library.cart_pendulum()
    with pytest.raises(UnknownName, match="did you mean"):
        optimize(figure, [Forces(1.0)], duration=1.0, limits=Limits(forces={"x_forc": (0, 1)}))
    with pytest.raises(BunrakuError, match="lower bound first"):
        optimize(figure, [Forces(1.0)], duration=1.0, limits=Limits(variables={"x": (1.0, -1.0)}))
