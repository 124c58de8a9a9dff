"""*marionettes*: mixed dynamic–kinematic model, strings that slacken and catch, motors in place of hands.

The numbers of an independent program are compared in test_trep.py (steps) and tests/dynamics/test_mixed.py (accelerations).
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, energy, mass_matrix, settle, simulate
from bunraku.dynamics.continuous_events import impact, integrate
from bunraku.dynamics.continuous_model import acceleration
from bunraku.dynamics.quantities import gap_derivatives
from bunraku.dynamics.servo import servo
from bunraku.figure import Figure, library
from bunraku.figure.actuated import actuated

Array = NDArray[np.float64]


def test_figures_of_the_paper() -> None:
    """Fig. 2: an arm in a plane, one string. Fig. 3: 25 dynamic variables and a string for each of seven places."""
    arm, puppet = library.arm2d(), library.marionette25()
    assert (arm.n_dynamic, len(arm.kinematic), len(arm.strings)) == (2, 2, 1)
    assert (puppet.n_dynamic, len(puppet.kinematic), len(puppet.strings)) == (25, 21, 7)


@pytest.mark.parametrize("name", ["arm2d", "arm3d", "marionette25"])
def test_kinematic_variables_do_without_dynamics(name: str) -> None:
    """Eq. 10–11: what hands weigh, and what moves them, is in no equation; their acceleration acts through strings alone."""
    figure = library.named(name)
    rng = np.random.default_rng(0)
    n, q, v = figure.n_dynamic, figure.start, 0.2 * rng.normal(size=figure.n_q)
    hands = rng.normal(size=figure.n_q - n)
    states = np.zeros(len(figure.compiled.tree.links), np.int8)
    slack = acceleration(figure, q, v, kinematic=hands, states=states)
    np.testing.assert_allclose(slack.a, acceleration(figure, q, v, kinematic=0 * hands, states=states).a, atol=1e-9)
    states[: len(figure.strings)] = 1
    taut = acceleration(figure, q, v, kinematic=hands, states=states)
    A = gap_derivatives(figure, q)[1][:, :n]
    M = mass_matrix(figure, q)[:n, :n]
    np.testing.assert_allclose(M @ (taut.a - slack.a), -A.T @ taut.tension, atol=1e-8 * max(1.0, np.abs(taut.tension).max()))


@pytest.mark.parametrize("name", ["arm2d", "arm3d", "marionette25"])
def test_an_impact_is_the_projection_of_the_paper(name: str) -> None:
    """Eq. 13–15, where every string that is closed stays closed: what is lost is kinetic, and lies along the strings."""
    figure = library.named(name)
    n, q = figure.n_dynamic, figure.start
    ropes, rng = len(figure.strings), np.random.default_rng(1)
    M, A = mass_matrix(figure, q)[:n, :n], gap_derivatives(figure, q)[1][:ropes, :n]
    v = np.zeros(figure.n_q)
    v[:n] = np.linalg.solve(M, A.T @ rng.uniform(0.1, 1.0, ropes))  # as if each string had been struck
    after, pull = impact(figure, q, v)
    expected = v[:n] - np.linalg.solve(M, A.T @ np.linalg.solve(A @ np.linalg.solve(M, A.T), A @ v[:n]))
    np.testing.assert_allclose(after[:n], expected, atol=1e-9 * np.abs(v).max())
    assert pull[:ropes].min() > 0.0
    np.testing.assert_allclose(M @ (v - after)[:n], A.T @ pull[:ropes], atol=1e-9)
    assert energy(figure, q, after)[0] < energy(figure, q, v)[0]


def test_an_impact_keeps_the_momentum_that_no_string_takes() -> None:
    """Along every direction in which no closed string pulls, also when some strings let go in it."""
    figure = library.marionette25()
    n, q = figure.n_dynamic, figure.start
    A = gap_derivatives(figure, q)[1][: len(figure.strings), :n]
    free = np.linalg.svd(A)[2][len(figure.strings) :]
    M = mass_matrix(figure, q)[:n, :n]
    for seed in range(10):
        v = np.zeros(figure.n_q)
        v[:n] = np.random.default_rng(seed).normal(size=n)
        after, _ = impact(figure, q, v, closed=np.arange(len(figure.compiled.tree.links)) < len(figure.strings))
        np.testing.assert_allclose(free @ M @ (after - v)[:n], 0.0, atol=1e-10)


def hopping(figure: Figure) -> Array:
    """Ten seconds in which all strings but two are let out and wound in, faster than limbs fall."""
    t, n = 0.01 * np.arange(1, 1001), figure.n_dynamic
    K = np.repeat(figure.start[n:][None], len(t), 0)
    for k, name in enumerate(figure.kinematic):
        if name.endswith("length") and "shoulder" not in name and "torso" not in name:
            K[:, k] += 0.04 * (1 - np.cos((5.0 + 0.7 * k) * t))
    return K


@pytest.mark.parametrize("name", ["marionette22", "marionette25"])
def test_the_two_models_tell_the_same_story(name: str) -> None:
    """The continuous model with its events, and the step without any: apart by no more than the step is long.

    marionette22's strings catch each other's load hundreds of times within a millisecond: the former follows each of these catches,
    the latter solves them together, and what they then differ by does not shrink with the step.
    """
    figure = library.named(name)
    q = settle(figure)
    n, k = figure.n_dynamic, figure.index("left_arm_length") - figure.n_dynamic

    def hands(t: float) -> tuple[Array, Array, Array]:
        place, rate, second = q[n:].copy(), np.zeros(figure.n_q - n), np.zeros(figure.n_q - n)
        w, size = 4 * np.pi, 0.05
        place[k] += size * (1 - np.cos(w * t)) / 2
        rate[k], second[k] = size * w * np.sin(w * t) / 2, size * w * w * np.cos(w * t) / 2
        return place, rate, second

    duration = 0.2 if name == "marionette22" else 0.5
    exact = integrate(figure, hands, duration=duration, q=q, samples=100.0)
    assert max(gap_derivatives(figure, q)[0][: len(figure.strings)].max() for q in exact.q) < 1e-7
    late, off = (19 if name == "marionette22" else 51), []
    for dt in (5e-3, 1e-3):
        motion = simulate(figure, lambda t: hands(t)[0], duration=duration, dt=dt, q=q)
        off.append(np.abs(motion.q[:: round(0.01 / dt)] - exact.q).max(1))
    assert off[0].max() < 0.02
    assert off[1].max() < 0.02
    assert off[1][:late].max() < 0.4 * off[0][:late].max()


@pytest.mark.parametrize("name", ["marionette22", "marionette25"])
def test_no_string_ever_pushes_or_stretches(name: str) -> None:
    figure = library.named(name)
    K = hopping(figure)
    steps = Simulation(figure).run(K, np.zeros((len(K), len(figure.forces))))
    ropes = slice(0, len(figure.strings))
    assert (steps.states[:, ropes] == 0).any()
    assert steps.impulse[:, ropes].min() >= 0.0
    assert steps.gap[:, ropes].max() <= 1e-10


# -- section VI: motors --------------------------------------------------------------------------------------


def distance(figure: Figure, bandwidth: float, dt: float = 0.002) -> float:
    """Between the figure on motors and the same in the puppeteer's hands, over a second and a half."""
    rest, n = settle(figure), figure.n_dynamic
    lengths = [k for k, name in enumerate(figure.kinematic) if name.endswith("length")]

    def asked(t: float) -> Array:
        s = np.clip(t, 0.0, 1.0)
        ramp, place = s**3 * (10 - 15 * s + 6 * s * s), rest[n:].copy()
        place[lengths[-1]] -= 0.1 * ramp
        place[lengths[0]] += 0.03 * ramp if len(lengths) > 1 else 0.0
        return place

    by_hand = simulate(figure, asked, duration=1.5, dt=dt, q=rest)
    driven = actuated(figure, bandwidth=bandwidth)
    start = driven.configuration(**dict(zip(figure.names, rest.tolist(), strict=True)))
    motion = simulate(driven, duration=1.5, dt=dt, q=start, forces=servo(driven, asked, dt=dt))
    return float(np.abs(motion.q[:, driven.indices(figure.dynamic)] - by_hand.q[:, :n]).max())


@pytest.mark.parametrize("name", ["arm3d", "marionette25"])
def test_stiff_motors_are_the_puppeteers_hands(name: str) -> None:
    """Section VI as a measured curve: four times nearer for twice the bandwidth."""
    off = np.array([distance(library.named(name), bandwidth) for bandwidth in (20.0, 40.0, 80.0)])
    np.testing.assert_allclose(np.log2(off[:-1] / off[1:]), 2.0, atol=0.15)
    assert off[-1] < 5e-3
