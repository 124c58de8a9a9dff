"""Searches that keep every string taut."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from bunraku import library, simulate
from bunraku.control import Acceleration, Configuration, ControlCurve, Momentum, Optimum, Rollout, Speed, System, gestures, optimize
from bunraku.control.cost import Term
from bunraku.control.imitate import imitate
from bunraku.control.optimize import problem_of
from bunraku.control.taut_problem import TautExpansion, TautProblem, fitted, wired
from bunraku.control.taut_search import at_rest
from bunraku.errors import BunrakuError
from bunraku.kinematics.ways import lengths_along
from bunraku.motion import Motion
from bunraku.progress import Progress
from tests.control.imitation_trials import rechecked

FIGURE = library.marionette22()


@pytest.fixture(scope="module")
def waving() -> Motion:
    return imitate(gestures.wave(2.0, rate=2.0), FIGURE, exaggerate=1.5, lead=0.3, trail=0.3)


@pytest.fixture(scope="module")
def best(waving: Motion) -> Optimum:
    weight = dict.fromkeys(FIGURE.dynamic, 10.0) | dict.fromkeys(FIGURE.names[:6], 100.0) | dict.fromkeys(FIGURE.kinematic, 1.0)
    cost: list[Term] = [Configuration(weight, waving), Momentum(0.01), Speed(0.1), Acceleration(0.1)]
    return optimize(FIGURE, cost, duration=2.0, q=waving.q[0], inputs=FIGURE.kinematic, guess=waving, taut=True)


def test_a_quick_wave_converges_quadratically_with_taut_strings(best: Optimum) -> None:
    assert best.outcome.kind == "converged"
    assert best.tail[-1] < 1e-12
    assert best.tail[-1] < 0.01 * best.tail[-2] < 0.1 * best.tail[-3]
    assert best.motion.tension is not None
    assert best.motion.tension.min() > 0.0


def test_no_change_of_the_inputs_is_better_and_the_simulation_agrees(best: Optimum, waving: Motion) -> None:
    found = rechecked(waving, best, seed=3)
    assert found["lowest"] > -1e-8
    assert found["slope_to_curvature"] < 0.1
    assert found["simulated_apart"] < 1e-6
    assert found["least_tension"] > 0.0
    assert best.cost < min(found["rest"], found["guess"])


def test_the_price_of_low_tension_is_smooth_and_its_slopes_are_exact(waving: Motion) -> None:
    system = System.of(wired(FIGURE), dt=0.02, inputs=FIGURE.kinematic)
    problem = problem_of(system, [Configuration(1.0), Speed(1.0)], duration=0.4, q=waving.q[0])
    priced = TautProblem.of(problem, 6, 0.7, 0.5)
    run = at_rest(priced)
    tension = np.linspace(-3.0, 40.0, run.impulse.size).reshape(run.impulse.shape)  # on both sides of the softness
    at = replace(run, impulse=tension * system.dt)
    first, second = priced.price_slopes(at)
    h = 1e-7
    for k, c in ((0, 0), (0, 5), (3, 2), (19, 5)):
        moved = []
        for sign in (1.0, -1.0):
            impulse = at.impulse.copy()
            impulse[k, c] += sign * h
            moved.append(replace(at, impulse=impulse))
        quotient = (priced.total(moved[0]) - priced.total(moved[1])) / (2.0 * h)
        slopes = [priced.price_slopes(one)[0][k, c] for one in moved]
        assert first[k, c] == pytest.approx(quotient, rel=1e-5, abs=1e-6)
        assert second[k, c] == pytest.approx((slopes[0] - slopes[1]) / (2.0 * h), rel=1e-5, abs=1e-6)


def test_the_price_of_leaning_has_exact_slopes(waving: Motion) -> None:
    system = System.of(FIGURE, dt=0.02, inputs=FIGURE.kinematic)
    priced = TautProblem.of(problem_of(system, [Configuration(1.0), Speed(1.0)], duration=0.1, q=waving.q[0]), 6, 0.2, 0.01)
    assert [FIGURE.names[i] for i in priced.leans] == ["torso_ry", "lhip_ry", "rhip_ry", "lshoulder_ry", "rshoulder_ry"]
    run, i, h = at_rest(priced), priced.leans[3], 1e-6
    plain = replace(priced, lean_price=0.0)
    for lean in (-1.1, 0.85, 1.0):
        price, slope = [], []
        for off in (h, 0.0, -h):
            x = run.x.copy()
            x[2, i] = lean + off
            at = replace(run, x=x)
            price.append(priced.total(at) - plain.total(at))
            slope.append(priced.lean_slopes(at)[0][2, 3])
        assert slope[1] == pytest.approx((price[0] - price[2]) / (2.0 * h), rel=1e-5, abs=1e-9)
        assert priced.lean_slopes(at)[1][2, 3] == pytest.approx((slope[0] - slope[2]) / (2.0 * h), rel=1e-4, abs=1e-9)


def test_the_gradient_is_that_of_the_cost(waving: Motion) -> None:
    problem = problem_of(
        System.of(FIGURE, dt=0.02, inputs=FIGURE.kinematic),
        [Configuration(1.0), Speed(1.0), Acceleration(0.01)], duration=0.4, q=waving.q[0],
    )  # fmt: skip
    priced = TautProblem.of(problem, 6, 0.7, 0.5)
    run, work = at_rest(priced), TautExpansion(priced)
    assert work.safe_along(run) is not None
    change = work.direction(work.gains)
    costs = []
    for gamma in (1e-5, -1e-5):
        u = run.u.copy()
        u[:, problem.system.chosen] += gamma * change.u
        moved = priced.project(ControlCurve(run.x + gamma * change.x, u), work.gains)
        assert isinstance(moved, Rollout)
        costs.append(priced.total(moved))
    assert work.slope(change) == pytest.approx((costs[0] - costs[1]) / 2e-5, rel=1e-5)


def test_wires_move_as_taut_strings_do(best: Optimum) -> None:
    steps = simulate(wired(FIGURE), best.motion, duration=1.0, dt=0.01, q=best.motion.q[0])
    assert np.abs(steps.q - best.motion.q[: len(steps.q)]).max() < 1e-8


def test_fitted_strings_are_as_long_as_their_ways(best: Optimum) -> None:
    run, system = best.run, best.system
    same = fitted(system, run)
    assert np.abs(same.x - run.x).max() < 1e-9  # every string of the optimum is taut
    assert np.abs(same.u - run.u).max() < 1e-11
    bent = run.x.copy()
    bent[1:, system.figure.index("lelbow_rx")] += 0.3
    curve = fitted(system, ControlCurve(bent, run.u))
    q = curve.x[:, : system.n_q]
    lengths = q[:, [system.figure.index(rope.variable) for rope in system.figure.strings if rope.variable is not None]]
    assert np.abs(lengths - lengths_along(system.figure, q)).max() < 1e-12
    assert np.abs(curve.u[:, : system.n_kin] - q[1:, system.n :]).max() < 1e-15
    assert np.abs(curve.x[1:, system.n_q + system.n :] * system.dt - np.diff(q[:, system.n :], axis=0)).max() < 1e-9


def test_fitting_changes_a_tangent_to_second_order_only(best: Optimum) -> None:
    work = TautExpansion(TautProblem.of(best.problem, 6, 0.2, 0.01))
    assert work.safe_along(best.run) is not None
    work.feed[:] = np.sin(np.arange(work.feed.size)).reshape(work.feed.shape)
    change, off = work.direction(work.gains), []
    scale = 0.01 / np.abs(change.x[:, : best.system.n_q]).max()
    for gamma in (scale, 0.5 * scale):
        u = best.run.u.copy()
        u[:, best.system.chosen] += gamma * change.u
        off.append(np.abs(fitted(best.system, ControlCurve(best.run.x + gamma * change.x, u)).u - u).max())
    assert off[0] > 1e-9
    assert off[1] == pytest.approx(0.25 * off[0], rel=0.1)


@pytest.mark.parametrize("after", [3, 20])
def test_an_interrupted_search_returns_the_best_motion_so_far(waving: Motion, after: int) -> None:
    said: list[Progress] = []

    def interrupt(progress: Progress) -> None:
        said.append(progress)
        if len(said) == after:
            raise KeyboardInterrupt

    cost: list[Term] = [Configuration(10.0, waving), Speed(0.1), Acceleration(0.1)]
    best = optimize(FIGURE, cost, duration=1.0, q=waving.q[0], inputs=FIGURE.kinematic, guess=waving, taut=True, progress=interrupt)
    assert best.outcome.kind == "stopped"
    assert len(best.history) == after
    assert best.cost <= best.problem.total(at_rest(best.problem))
    assert all(a.done <= b.done for a, b in pairwise(said))


def test_refuses_what_does_not_go_together() -> None:
    cost: list[Term] = [Configuration(1.0), Speed(1.0)]
    with pytest.raises(BunrakuError, match="has no strings"):
        wired(library.cart_pendulum())
    with pytest.raises(BunrakuError, match="does not go with limits"):
        optimize(FIGURE, cost, duration=0.4, inputs=FIGURE.kinematic, taut=True, method="newton")
