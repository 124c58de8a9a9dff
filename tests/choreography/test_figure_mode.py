"""Modes of figures: derivatives by switching times against quotients, and against the simulation of the same figure."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.choreography.figure_mode import at_rest, mode_of
from bunraku.choreography.mode_flow import Flow
from bunraku.choreography.show_outcomes import TIMES_OPTIMAL
from bunraku.choreography.switching_derivatives import expand
from bunraku.choreography.switching_times import TimeLimits, TimesOptions, optimize_times
from bunraku.dynamics import settle
from bunraku.dynamics.continuous_events import integrate
from bunraku.errors import UnknownName
from bunraku.figure import Figure, library
from bunraku.kinematics import pose
from tests.differences import difference_quotient, relative_error

CART = library.cart_pendulum(start=(0.0, 0.0))
GOAL = np.array([0.5, 0.0, 0.0, 0.0])


def cart(*, steps: int = 10, end: float = 2.4) -> Flow:
    """Pushed, braked, pushed, braked: the pendulum is to hang still where the cart stands."""
    modes = [mode_of(CART, forces={"x_force": u}) for u in (8.0, -8.0, 8.0, -8.0, 0.0)]
    return Flow(modes, at_rest(CART), end, GOAL, np.diag([0.1, 0.1, 0.0, 0.0]), np.diag([10.0, 10.0, 1.0, 1.0]), steps=steps)


def arm(*, steps: int = 6) -> Flow:
    """An arm on a string that is wound in, held, let go: kinematic accelerations, and a mode with a slack string."""
    figure = library.arm3d()
    q = settle(figure)
    modes = [
        mode_of(figure, kinematic={"hand_length": -0.5}),
        mode_of(figure, kinematic={"hand_length": 0.5}),
        mode_of(figure, slack=["hand"]),
    ]
    size = 2 * figure.n_q
    return Flow(modes, at_rest(figure, q), 0.4, at_rest(figure, q + 0.1), 0.3 * np.eye(size), np.eye(size), steps=steps)


@pytest.mark.parametrize(("flow", "times"), [(cart(steps=4), [0.5, 1.1, 1.6, 2.0]), (arm(), [0.18, 0.34])], ids=["cart", "arm"])
def test_derivatives_by_switching_times(flow: Flow, times: list[float]) -> None:
    tau = np.array(times)
    here = expand(flow, tau)
    assert relative_error(here.gradient, difference_quotient(lambda t: expand(flow, t, second=False).cost, tau)) < 1e-7
    assert relative_error(here.hessian, difference_quotient(lambda t: expand(flow, t, second=False).gradient, tau)) < 1e-7


def test_a_mode_is_the_figure_itself() -> None:
    """Second order toward the continuous model with the same inputs, and the string stays as long as it is wound."""
    tau = np.array([0.5, 1.1, 1.6, 2.0])
    exact = _integrated(CART, tau, 2.4)
    errors = [np.abs(cart(steps=n).run(tau)[-1] - exact).max() for n in (20, 40)]
    assert 3.5 < errors[0] / errors[1] < 4.5
    flow, figure = arm(steps=20), library.arm3d()
    x = flow.run(np.array([0.18, 0.34]))
    gaps = [pose(figure, row[: figure.n_q]).gaps[0] for row in x[:41]]
    assert np.abs(gaps).max() < 1e-4
    assert abs(pose(figure, x[-1, : figure.n_q]).gaps[0]) > 1e-4  # let go


def _integrated(figure: Figure, tau: np.ndarray, end: float) -> np.ndarray:
    marks = [0.0, *tau, end]
    q, v = figure.start, np.zeros(figure.n_q)
    for k, u in enumerate((8.0, -8.0, 8.0, -8.0, 0.0)):
        motion = integrate(figure, duration=marks[k + 1] - marks[k], q=q, v=v, forces=lambda t, u=u: [u])
        assert motion.v is not None
        q, v = motion.q[-1], motion.v[-1]
    return np.concatenate([q, v])


def test_newton_brings_the_pendulum_to_rest() -> None:
    """Four times are enough for four states: the load stands still 1 m away, and Newton's tail is quadratic."""
    modes = [mode_of(CART, forces={"x_force": u}) for u in (10.0, -10.0, 10.0, -10.0, 0.0)]
    goal = np.array([1.0, 0.0, 0.0, 0.0])
    crane = Flow(modes, at_rest(CART), 2.6, goal, np.zeros((4, 4)), np.diag([10.0, 10.0, 1.0, 1.0]), steps=10)
    found = optimize_times(
        crane, times=[0.5, 1.0, 1.5, 2.0], limits=TimeLimits.ordered(4, 2.6, shortest=0.05), options=TimesOptions(tolerance=1e-14)
    )
    assert found.outcome is TIMES_OPTIMAL
    assert found.iterations <= 12
    np.testing.assert_allclose(crane.run(found.times)[-1], goal, atol=1e-6)
    tail = np.array(found.promised[-3:])
    assert (tail[1:] < 100.0 * tail[:-1] ** 2).all()


def test_names_that_nobody_knows() -> None:
    with pytest.raises(UnknownName, match="x_force"):
        mode_of(CART, forces={"force": 1.0})
    with pytest.raises(UnknownName, match="hand_length"):
        mode_of(library.arm3d(), kinematic={"length": 1.0})
    with pytest.raises(UnknownName, match="hand"):
        mode_of(library.arm3d(), slack=["foot"])
