"""The sweeps against the same problem written as one dense system; derivatives of the whole cost against quotients."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from bunraku.control import Configuration, Forces, Momentum, optimize
from bunraku.control.control_problem import ControlProblem, MotionExpansion, within
from bunraku.control.control_system import ControlCurve, Rollout, System
from bunraku.dynamics import linearize_at_rest
from bunraku.figure import library
from tests.control.problems import arm, blown, cart, change_of, gains_of, marionette, moving, shifted

MAKERS = [cart, arm, blown, marionette]


def responses(work: MotionExpansion) -> tuple[np.ndarray, np.ndarray]:
    """Every input of every step, and what it does to all states: (inputs, N+1, n_x), (inputs, N, n_u)."""
    s, N = work.problem.system, work.problem.steps
    X, U = [], []
    for k in range(N):
        for a in range(s.n_u):
            work.feed[:] = 0.0
            work.feed[k, a] = -1.0
            one = work.direction(np.zeros((N, s.n_u, s.n_x)))
            X.append(one.x)
            U.append(one.u)
    return np.array(X), np.array(U)


def hessian(work: MotionExpansion, X: np.ndarray, U: np.ndarray, *, exact: bool) -> np.ndarray:
    """Of the quadratic model, over all inputs, entry by entry."""
    s, m, N = work.problem.system, work.slopes, work.problem.steps
    H = np.einsum("aki,ki,bki->ab", X, m.hx, X) + np.einsum("aki,ki,bki->ab", U, m.hu, U)
    if len(m.Hq):
        block = m.Hq + m.bend if exact else m.Hq
        H += np.einsum("aki,kij,bkj->ab", X[..., : s.n_q], block, X[..., : s.n_q])
    if len(m.hl):
        L = np.array([work._impulses(ControlCurve(x, u)) for x, u in zip(X, U, strict=True)])
        H += np.einsum("aki,ki,bki->ab", L, m.hl, L)
    if len(m.acceleration):
        w = X[..., s.n_q + s.n :]
        jerk = (w[:, 1:] - w[:, :-1]) / s.dt
        H += np.einsum("aki,i,bki->ab", jerk, m.acceleration, jerk)
    if len(m.end):
        H += X[:, N] @ m.end @ X[:, N].T
    if exact:
        inner = np.array([within(s, work.steps, ControlCurve(x, u)) for x, u in zip(X, U, strict=True)])
        assert work._H is not None
        H += np.einsum("aki,kij,bkj->ab", inner, work._H, inner)
        if s.pushed:
            middle = 0.5 * (X[:, 1:, : s.n_q] + X[:, :-1, : s.n_q])
            turned = np.einsum("akf,kfi,bki->ab", U[..., len(s.hands) :], work.steps.turn, middle)
            H += turned + turned.T
    return H


@pytest.mark.parametrize("make", MAKERS)
def test_sweep_is_the_dense_solution(make) -> None:
    problem = make()
    run, work = moving(problem), MotionExpansion(problem)
    work.bend_along(run, fresh=False)  # under gains of zero
    gradient = work.gradient.copy()
    expected = work.bend_along(run)
    assert expected == pytest.approx(work.gauss_newton(), rel=1e-12)
    X, U = responses(work)
    for exact in (False, True):
        mu = 5.0 if exact else 0.0
        H = hessian(work, X, U, exact=exact) + mu * hessian(work, X, U, exact=False)
        best = -np.linalg.solve(H, gradient.ravel()).reshape(gradient.shape)
        decrease = work.newton(mu) if exact else work.gauss_newton()
        change = work.direction(work.newton_gains if exact else work.gains)
        assert np.abs(change.u - best).max() < 1e-6 * np.abs(best).max()
        assert decrease == pytest.approx(-float(gradient.ravel() @ best.ravel()), rel=1e-7)
        assert work.slope(change) == pytest.approx(-decrease, rel=1e-7)


def cost_along(problem: ControlProblem, run: Rollout, change: ControlCurve, gains: np.ndarray, by: float) -> float:
    new = problem.project(shifted(problem, run, change, by), gains)
    assert isinstance(new, Rollout)
    assert (new.states == run.states).all()
    return sum(problem.cost(new))


@pytest.mark.parametrize("make", [cart, arm, blown])
def test_cost_has_the_slope_and_the_curvature_that_the_sweeps_say(make) -> None:
    """*trep*, eq. 7: Dg·DP and D²g(DP, DP) + Dg·D²P, for every kind of term, against quotients of g(P(ξ + γζ))."""
    problem = make()
    run, work, gains = moving(problem), MotionExpansion(problem), gains_of(problem)
    work.gains[:] = gains
    work.bend_along(run, fresh=False)
    work.feed[:] = -change_of(problem).u
    change = work.direction(gains)  # a tangent ζ = DP·ζ
    X, U = change.x[None], change.u[None]
    h = 0.05
    at = {by: cost_along(problem, run, change, gains, by * h) for by in (-2, -1, 0, 1, 2)}
    slope = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
    bend = (16 * (at[1] + at[-1]) - (at[2] + at[-2]) - 30 * at[0]) / (12 * h * h)
    assert work.slope(change) == pytest.approx(slope, rel=1e-6)
    assert float(np.vdot(work.gradient, -work.feed)) == pytest.approx(slope, rel=1e-6)
    assert hessian(work, X, U, exact=True)[0, 0] == pytest.approx(bend, rel=1e-5)


def test_steady_gains_are_those_of_the_algebraic_equation() -> None:
    """Far from the end, the gains at an equilibrium solve scipy's discrete algebraic Riccati equation."""
    figure = library.cart_pendulum(start=(0.0, np.pi))
    system = System.of(figure, dt=0.02)
    step = linearize_at_rest(figure, figure.start, dt=0.02)
    Q, R = np.diag([1.0, 10.0, 0.1, 0.1]), np.array([[0.01]])
    P = scipy.linalg.solve_discrete_are(step.A, step.B, Q, R)
    K = np.linalg.solve(R + step.B.T @ P @ step.B, step.B.T @ P @ step.A)
    cost = [Configuration({"x": 50.0, "theta": 500.0}), Momentum(5.0), Forces(0.5)]
    found = optimize(figure, cost, duration=30.0, dt=0.02, iterations=10)  # it stands there already
    assert system.n_x == 4
    assert np.abs(found.gains[0] - K).max() < 1e-7 * np.abs(K).max()
