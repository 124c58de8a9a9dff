from __future__ import annotations

import numpy as np
import pytest

from bunraku.dynamics import simulate
from bunraku.dynamics.settle import settle
from bunraku.dynamics.step_map import StepMap
from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import library
from tests.step_maps import in_motion, quotient


def test_a_rollout_is_a_simulation() -> None:
    figure = library.named("marionette22")
    own = StepMap(figure)
    rest = settle(figure)
    n = figure.n_dynamic
    inputs = np.tile(own.hold(rest), (40, 1))
    inputs[:, 0] += 0.1 * np.sin(0.1 * np.arange(40))
    states = own.roll(own.state(rest), inputs)
    motion = simulate(figure, inputs[:, : figure.n_q - n], q=rest, duration=0.4)
    assert np.allclose(states[:, : figure.n_q], motion.q, atol=1e-9)


@pytest.mark.parametrize("name", ["double_pendulum", "arm2d", "marionette22"])
def test_derivatives_are_those_of_difference_quotients(name: str) -> None:
    own, x, u, dx, du = in_motion(name)
    dz = np.concatenate([dx, du])
    D = own.jacobian(x, u)
    assert np.allclose(D @ dz, quotient(lambda h: own.step(x + h * dx, u + h * du)), atol=1e-7, rtol=1e-7)
    bent = own.hessian_along(x, u, dz)
    assert np.allclose(bent, quotient(lambda h: own.jacobian(x + h * dx, u + h * du)), atol=1e-6, rtol=1e-6)
    rng = np.random.default_rng(4)
    M, w = rng.normal(size=D.shape), rng.normal(size=own.n_x)
    assert np.isclose(own.hessian_of(x, u, M) @ dz, np.sum(M * bent))
    assert np.allclose(own.weighted_hessian(x, u, w) @ dz, w @ bent)


def test_batches_of_any_shape() -> None:
    own, x, u, dx, _ = in_motion("arm2d")
    many = x + 0.1 * np.arange(6).reshape(2, 3, 1) * dx
    together = own.step(many, u)
    assert together.shape == (2, 3, own.n_x)
    assert np.array_equal(together[1, 2], own.step(many[1, 2], u))
    assert own.jacobian(many, u).shape == (2, 3, own.n_x, own.n_x + own.n_u)
    assert own.roll(many, np.tile(u, (4, 1))).shape == (2, 3, 5, own.n_x)


def test_momentum_stays_in_the_coordinates_of_the_file() -> None:
    """A ball joint turns past the angle at which a simulation changes its coordinates."""
    figure = library.named("mannequin").replace(gravity=(0.0, 0.0, 0.0))
    q = figure.start.copy()
    lean = figure.index("pelvis_ry")
    q[lean] = 1.04
    v = np.zeros(figure.n_q)
    v[lean], v[figure.index("pelvis_rz")] = 3.0, 1.0
    apart = []
    for dt in (0.002, 0.001):
        own = StepMap(figure, dt=dt)
        u = own.hold(q)
        states = own.roll(own.state(q, v), np.tile(u, (round(0.06 / dt), 1)))
        assert states[-1, lean] > 1.15  # past 1.05 rad
        motion = simulate(figure, q=q, v=v, duration=0.06, dt=dt)
        apart.append(np.max(np.abs(states[:, : figure.n_q] - motion.q)))
    assert apart[1] < 1e-4
    assert 3.5 < apart[0] / apart[1] < 4.5  # a simulation takes these steps in other coordinates; both are of second order
    D, dx = own.jacobian(states[-2], u), np.zeros(own.n_x)
    dx[[lean, figure.n_q + lean]] = 1.0, 0.1
    change = quotient(lambda h: own.step(states[-2] + h * dx, u), 1e-4)
    assert np.allclose(D[:, : own.n_x] @ dx, change, atol=1e-6, rtol=1e-6)


def test_errors_say_what_is_wrong() -> None:
    own = StepMap(library.arm2d())
    with pytest.raises(BunrakuError, match="u has shape"):
        own.step(own.state(), np.zeros(own.n_u + 1))
    with pytest.raises(NotFinite, match="arm2d"):
        own.step(own.state() * np.nan, own.hold())
    with pytest.raises(BunrakuError, match="time step"):
        StepMap(library.arm2d(), dt=0.0)
