"""The projection operator: *trep*, eq. 12 and Lemma 3.1, and its derivatives against difference quotients."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.control import projection_derivatives
from bunraku.control.control_problem import Broken, ControlProblem
from bunraku.control.control_system import ControlCurve, Rollout
from bunraku.errors import BunrakuError
from tests.control.problems import arm, blown, cart, change_of, gains_of, moving, shifted


def project(problem: ControlProblem, curve: ControlCurve, gains: np.ndarray) -> Rollout:
    run = problem.project(curve, gains)
    assert isinstance(run, Rollout)
    return run


@pytest.mark.parametrize("make", [cart, arm, blown])
def test_is_a_projection(make) -> None:
    """Lemma 3.1: P(P(ξ)) = P(ξ), for a curve that is no motion."""
    problem = make()
    gains = gains_of(problem)
    wish = shifted(problem, moving(problem), change_of(problem), 0.3)
    once = project(problem, wish, gains)
    twice = project(problem, once, gains)
    assert np.abs(once.x - wish.x).max() > 1e-3
    off, rates = np.abs(twice.x - once.x), problem.system.n_q + problem.system.n
    assert off[:, :rates].max() < 1e-11
    assert problem.system.dt * off[:, rates:].max(initial=0.0) < 1e-11  # rates are differences of positions over dt
    assert np.abs(twice.u - once.u).max() < 1e-11


@pytest.mark.parametrize("make", [cart, arm, blown])
def test_follows_eq_12(make) -> None:
    """x₀ = x̄₀, u = ū − K(x − x̄): minus, where the lemma prints a plus."""
    problem = make()
    s, gains = problem.system, gains_of(problem)
    wish = shifted(problem, moving(problem), change_of(problem), 0.3)
    run = project(problem, wish, gains)
    feedback = np.einsum("kij,kj->ki", gains, run.x[:-1] - wish.x[:-1])
    assert np.array_equal(run.x[0], wish.x[0])
    assert np.abs(run.u[:, s.chosen] - (wish.u[:, s.chosen] - feedback)).max() < 1e-12
    assert np.abs(run.u[:, s.chosen] - (wish.u[:, s.chosen] + feedback)).max() > 1e-3
    assert np.abs(run.x[1:, s.n_q + s.n :] - (run.x[1:, s.n : s.n_q] - run.x[:-1, s.n : s.n_q]) / s.dt).max(initial=0) < 1e-12


@pytest.mark.parametrize("make", [cart, arm, blown])
def test_derivatives(make) -> None:
    problem = make()
    gains, change = gains_of(problem), change_of(problem)
    wish = moving(problem)

    def at(by: float) -> np.ndarray:
        return project(problem, shifted(problem, wish, change, by), gains).x

    here = project(problem, wish, gains)
    h = 0.06
    slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    bend = (16 * (at(h) + at(-h)) - (at(2 * h) + at(-2 * h)) - 30 * here.x) / (12 * h * h)
    first = projection_derivatives.first(problem, here, gains, change).x
    second = projection_derivatives.second(problem, here, gains, change).x
    for exact, quotient in ((first, slope), (second, bend)):
        for part in (slice(0, problem.system.n), slice(problem.system.n_q, problem.system.n_q + problem.system.n)):
            assert np.abs(exact[:, part] - quotient[:, part]).max() < 1e-5 * np.abs(quotient[:, part]).max()


def test_refuses_what_has_no_derivative() -> None:
    """A string wound to nothing: the puppeteer would be held, so the rollout ends there and says so."""
    problem = arm()
    curve = moving(problem)
    u = curve.u.copy()
    u[6:, problem.system.figure.kinematic.index("hand_length")] = 0.01
    broken = problem.project(ControlCurve(curve.x, u))
    assert isinstance(broken, Broken)
    assert broken.step == 6


def test_curves_of_other_figures_are_refused() -> None:
    problem = cart()
    curve = moving(problem)
    with pytest.raises(BunrakuError, match="expected states"):
        problem.project(ControlCurve(curve.x, np.hstack([curve.u, curve.u])))
    with pytest.raises(BunrakuError, match="expected states"):
        problem.project(ControlCurve(curve.x[:, :-1], curve.u))
