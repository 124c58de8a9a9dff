from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from bunraku.choreography.mode_flow import Field, Flow
from bunraku.errors import BunrakuError

from .switched import PUSHES, cart, pendulum, pushed_pendulum


def test_the_cart_goes_as_the_textbook_says() -> None:
    """Constant accelerations are exact for the midpoint rule."""
    a, b, end = 0.7, 2.9, 4.0
    x, v = cart().run(np.array([a, b]))[-1]
    np.testing.assert_allclose([x, v], [a * a / 2 + a * (end - a) - (end - b) ** 2 / 2, a - (end - b)], rtol=1e-12)


def test_the_pendulum_converges_with_second_order() -> None:
    tau = np.array([0.7, 2.9])
    x = np.array([0.1, 0.3])
    for u, begin, end in zip(PUSHES, (0.0, 0.7, 2.9), (0.7, 2.9, 4.0), strict=True):
        x = solve_ivp(lambda t, x, u=u: pendulum(u).f(x), (begin, end), x, rtol=1e-11, atol=1e-12).y[:, -1]
    errors = [np.abs(pushed_pendulum(steps=n).run(tau)[-1] - x).max() for n in (40, 80)]
    assert 3.6 < errors[0] / errors[1] < 4.4


def test_one_mode_is_refused() -> None:
    with pytest.raises(BunrakuError, match="no switching time"):
        Flow([Field.linear(np.eye(1))], np.ones(1), 1.0, np.zeros(1), np.eye(1), np.eye(1))
