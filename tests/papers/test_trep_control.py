"""*trep*, sections II-B and III–IV: its optimal-control examples, each to the optimum that CasADi with IPOPT finds too."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.control import Configuration, Forces, Momentum, Optimum, Outcome, optimize
from bunraku.figure import library
from tests.papers import discrete

Array = NDArray[np.float64]


def quadratic(optimum: Optimum, *, rows: int = 3) -> None:
    """The tail of the decrease falls quadratically: each of the last is about the square of the one before."""
    tail = np.array([i.decrease for i in optimum.history])[-rows:]
    print("expected decrease:", " ".join(f"{i.decrease:.1e}" for i in optimum.history))
    assert optimum.outcome is Outcome.CONVERGED
    assert [i.kind for i in optimum.history[-rows:]] == ["newton"] * rows
    orders = np.log10(tail[1:]) - np.log10(tail[:-1])
    assert (tail[1:] <= 1e-2 * tail[:-1]).all()
    assert (orders[1:] <= 1.5 * orders[:-1]).all() or tail[-1] < 1e-14 * optimum.cost  # digits multiply


def same_as_ipopt(optimum: Optimum, steps: discrete.Steps) -> None:
    sheet, rng = optimum.problem.sheet, np.random.default_rng(1)
    n = steps.n
    x, u = optimum.run.x.copy(), optimum.forces.copy()
    x[1:] += 0.02 * rng.normal(size=x[1:].shape)  # near the same optimum, but not at it
    u += 0.02 * np.abs(u).max() * rng.normal(size=u.shape)
    least, q = steps.minimum(sheet.wx, sheet.rx, sheet.wu, x, u)
    assert optimum.cost == pytest.approx(least, rel=1e-6)
    assert np.abs(optimum.run.x[:, :n] - q).max() < 1e-4


def bump(degrees: float):
    """Up between 3 s and 7 s and back: no motion of the cart makes the pendulum do that."""
    return lambda t: np.radians(degrees) / 2 * (1 - np.cos(np.pi / 2 * (t - 3))) if 3 <= t <= 7 else 0.0


def swing_up(degrees: float, **options) -> Optimum:
    cost = [Configuration({"x": 1.0, "theta": 100.0}, {"theta": bump(degrees)}), Momentum(0.01), Forces(1e-3)]
    return optimize(library.cart_pendulum(start=(0.0, 0.0)), cost, duration=10.0, dt=0.01, **options)


def test_cart_pendulum_swings_up_and_back() -> None:
    """Fig. 4(a): from hanging, toward an infeasible reference, in two stages of 1,000 steps."""
    first = swing_up(130)
    quadratic(first)
    second = swing_up(180, guess=first)
    quadratic(second)
    theta = second.motion.column("theta")
    assert np.degrees(theta.max()) > 175  # inverted
    assert abs(np.degrees(theta[-1])) < 5  # and back
    same_as_ipopt(second, discrete.Steps(discrete.cart_pendulum, 2, np.array([[1.0], [0.0]]), 0.01, 0.01))
