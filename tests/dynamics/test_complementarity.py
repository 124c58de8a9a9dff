"""Strings pull, slacken and catch: complementarity at every step end, impacts that lose energy and keep what momentum they must."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, mass_matrix, momentum, simulate
from bunraku.dynamics.complementarity import complementarity
from bunraku.dynamics.quantities import gap_derivatives
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.figure import Figure, library
from bunraku.figure.build import body, figure, string, tx, ty, tz
from bunraku.figure.records import LINK_RECORD
from bunraku.kinematics import pose

Array = NDArray[np.float64]
g = 9.81


def bob(length: float = 1.0, mass: float = 0.5, *strings: object, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Figure:
    """A point on a string below the origin."""
    ropes = strings or (string("cord", "bob", "world", length),)
    return figure("bob", tx("x", ty("y", tz("bob", body(mass), start=at[2]), start=at[1]), start=at[0]), strings=ropes)  # type: ignore[arg-type]


def rows(fig: Figure, steps: int) -> Array:
    return np.repeat(fig.start[fig.n_dynamic :][None], steps, 0)


def test_dropped_it_catches_when_free_fall_says() -> None:
    """From 0.2 m below its nail on a string of 1 m: slack for √(2·0.8/g), then it hangs still with its weight."""
    fig, due = bob(at=(0.0, 0.0, -0.2)), np.sqrt(2 * 0.8 / g)
    for dt in (0.01, 0.002):
        motion = simulate(fig, duration=1.0, dt=dt)
        caught = next(mark.t for mark in motion.marks if mark.kind == "impact")
        assert abs(caught - due) <= dt
        before, after = motion.t < due - dt, motion.t > due + 2 * dt
        assert not motion.tension[before].any()
        fall = -0.2 - 0.5 * g * motion.t[before] ** 2
        np.testing.assert_allclose(motion.q[before, 2], fall, atol=1e-12)
        np.testing.assert_allclose(motion.q[after, 2], -1.0, atol=1e-12)
        np.testing.assert_allclose(motion.tension[after, 0], 0.5 * g, atol=1e-9)
        # A step closes the gap, the next one stops what speed is left: together the impulse that stops the fall.
        k = int(np.argmax(motion.tension[:, 0] > 0.0))
        np.testing.assert_allclose(motion.tension[k : k + 2, 0].sum() * dt, 0.5 * g * due, rtol=8 * dt)


def test_a_catch_keeps_the_momentum_along_which_it_does_not_pull() -> None:
    fig = bob(at=(0.3, 0.0, -0.5))
    simulation = Simulation(fig, v=[0.4, 0.7, 0.0], dt=1e-3)
    steps = simulation.run(rows(fig, 1000))
    k = int(np.argmax(steps.states[:, 0] > 0))
    assert k > 0
    p0, p1 = steps.momentum[k - 1], steps.momentum[k + 1]  # a step closes the gap, the next one stops what speed is left
    u = steps.q[k] / np.linalg.norm(steps.q[k])
    lost = p0 - p1 + [0.0, 0.0, -0.5 * g * 2e-3]
    np.testing.assert_allclose(np.cross(lost, u), 0.0, atol=2e-3)
    assert lost @ u > 0.5
    assert abs(p1 @ u) < 4e-3
    # about the nail, nothing but weight turns it
    spin = np.cross(steps.q, steps.momentum)
    np.testing.assert_allclose(spin[:, 2], spin[0, 2], atol=1e-12)


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_a_catch_is_the_inelastic_impact_of_the_paper(dt: float) -> None:
    """*marionettes*, eq. 13–15: v⁺ = v⁻ − M⁻¹Aᵀ(A M⁻¹ Aᵀ)⁻¹ A v⁻, as the step grows short."""
    fig = library.arm2d()
    q = fig.configuration(shoulder=1.2, elbow=0.4)
    q[fig.index("hand_length")] = q[fig.index("hand_length")] + 0.05 + pose(fig, q).gaps[0]
    v = np.array([-2.0, -1.0, 0.0, 0.0])
    simulation = Simulation(fig, q, v, dt=dt)
    steps = simulation.run(np.repeat(q[2:][None], round(0.2 / dt), 0))
    k = int(np.argmax(steps.states[:, 0] > 0))
    assert k > 3
    q1 = steps.q[k]
    M = mass_matrix(fig, q1)[:2, :2]
    A = gap_derivatives(fig, q1)[1][:, :2]
    before, after = (np.linalg.solve(mass_matrix(fig, steps.q[j])[:2, :2], steps.momentum[j]) for j in (k - 1, k + 1))
    solve = np.linalg.solve
    expected = before - solve(M, A.T @ solve(A @ solve(M, A.T), A @ before))
    np.testing.assert_allclose(after, expected, atol=300 * dt)
    assert np.abs(before - expected).max() > 0.5


def test_two_strings_that_tighten_together_are_one_impact() -> None:
    """A bob between two strings of one length: it ends at rest in both, and no order of impacts is to be seen."""
    ropes = (string("a", "bob", ("world", (-0.3, 0, 0)), 0.5), string("b", "bob", ("world", (0.3, 0, 0)), 0.5))
    fig = bob(0.0, 0.5, *ropes, at=(0.0, 0.0, -0.1))
    steps = Simulation(fig, dt=1e-3).run(rows(fig, 800))
    np.testing.assert_allclose(steps.impulse[:, 0], steps.impulse[:, 1], atol=1e-12)
    np.testing.assert_allclose(steps.q[-1], [0, 0, -0.4], atol=1e-10)
    np.testing.assert_allclose(steps.impulse[-1] / 1e-3, 0.5 * g * 0.5 / 0.4 / 2, rtol=1e-9)


def test_parallel_strings_share_their_load() -> None:
    ropes = [string(name, "bob", "world", 0.5) for name in "abc"]
    fig = bob(0.0, 0.6, *ropes, at=(0.0, 0.0, -0.5))
    steps = Simulation(fig, dt=0.01).run(rows(fig, 100))
    np.testing.assert_allclose(steps.impulse[-1].sum() / 0.01, 0.6 * g, rtol=1e-9)
    assert steps.impulse.min() >= 0.0
    np.testing.assert_allclose(steps.q[:, 2], -0.5, atol=1e-12)


@pytest.mark.parametrize("name", ["arm2d", "arm3d", "marionette22", "marionette25"])
def test_every_step_end_is_admissible(name: str) -> None:
    fig = library.named(name)
    rng, size = np.random.default_rng(7), 0.06 if len(fig.strings) > 1 else 0.2
    K, t = rows(fig, 500), 0.01 * np.arange(500)
    for k, variable in enumerate(fig.kinematic):
        if variable.endswith("length"):
            K[:, k] += size * np.sin(rng.uniform(3, 12) * t) * (1 - np.exp(-4 * t))
    steps = Simulation(fig).run(K, np.zeros((500, len(fig.forces))))
    ropes = len(fig.strings)
    impulse, gap = steps.impulse[:, :ropes], steps.gap[:, :ropes]
    assert ((steps.states[:, :ropes] == 0).any(0)).all()
    assert impulse.min() >= 0.0
    assert gap.max() <= 1e-10
    assert np.abs(impulse * gap).max() <= 1e-11
    assert np.count_nonzero(steps.bits & STEP_BITS.divided) < 20
    # what was recorded is what is there
    for k in (100, 499):
        np.testing.assert_allclose(pose(fig, steps.q[k]).gaps, gap[k], atol=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_impacts_never_add_energy(seed: int) -> None:
    """A marionette let fall with its strings at random lengths: after a catch it has no more energy than before."""
    rng = np.random.default_rng(seed)
    fig = library.marionette25(damping=0.0)
    q = fig.start.copy()
    for k, variable in enumerate(fig.names):
        if variable.endswith("length"):
            q[k] += rng.uniform(0.0, 0.1)
    simulation = Simulation(fig, q, dt=2e-3)
    steps = simulation.run(np.repeat(q[fig.n_dynamic :][None], 150, 0))
    assert not (steps.bits & (STEP_BITS.held | STEP_BITS.frozen)).any()
    E = steps.energy.sum(1)
    caught = np.flatnonzero((np.diff(steps.states[:, : len(fig.strings)].astype(int), axis=0) > 0).any(1)) + 1
    for k in caught[caught < len(E) - 1]:
        assert E[k + 1] <= E[k - 1] + 1e-3
    assert E.max() <= E[0] + 2e-3


def test_slack_taut_and_slack_again_within_a_step_is_not_lost() -> None:
    """So fast that the free flight of a step would end beyond the string and come back: every end is within reach."""
    fig = bob(0.5, at=(0.0, 0.0, -0.49))
    steps = Simulation(fig, v=[30.0, 0.0, 0.0], dt=0.05).run(rows(fig, 200))
    assert not (steps.bits & (STEP_BITS.held | STEP_BITS.frozen)).any()
    assert np.linalg.norm(steps.q, axis=1).max() <= 0.5 + 1e-10
    assert steps.impulse.min() >= 0.0


# -- the small problem by itself -----------------------------------------------------------------------------


@given(st.integers(0, 10**6))
@settings(max_examples=200)
def test_complementarity_of_random_strings(seed: int) -> None:
    """gap' = g − S δλ ≤ 0, λ' = λ − δλ ≥ 0, one of them zero; wires exactly closed."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 9))
    links = np.zeros(m, LINK_RECORD)
    links["pulls"] = rng.random(m) < 0.8
    A = rng.normal(size=(m, m + int(rng.integers(0, 4))))
    S = -(A @ A.T)
    gap, lam = rng.normal(size=m), np.where(rng.random(m) < 0.5, rng.random(m), 0.0)
    near, alive = np.ones(m, np.bool_), rng.random(m) < 0.5
    delta, block, order = np.zeros(m), np.empty((m, m + 1)), np.empty(m, np.int64)
    assert solve_complementarity(links, S, gap, lam, near, alive, delta, block, order)
    after, pull = gap - S @ delta, lam - delta
    string_ = links["pulls"] > 0
    size = max(1.0, np.abs(pull).max())
    assert after[string_].max(initial=-1.0) < 1e-6 * size
    assert pull[string_].min(initial=0.0) > -1e-9 * size
    assert np.abs(after * pull)[string_].max(initial=0.0) < 1e-6 * size**2
    assert np.abs(after[~string_]).max(initial=0.0) < 1e-6 * size


def solve_complementarity(*arguments: object) -> bool:
    """The kernel, which Python cannot call by itself, inside a small one."""
    return bool(_call()(*arguments))


def _call() -> object:
    import numba

    if not hasattr(_call, "compiled"):
        inner = complementarity

        def outer(links, S, g_, lam, near, alive, delta, block, order):  # type: ignore[no-untyped-def]
            return inner(links, S, g_, lam, near, alive, delta, block, order)

        _call.compiled = outer if numba.config.DISABLE_JIT else numba.njit(outer)  # type: ignore[attr-defined]
    return _call.compiled  # type: ignore[attr-defined]


def test_momentum_is_that_of_the_mass_matrix() -> None:
    fig = library.marionette22()
    rng = np.random.default_rng(0)
    q, v = fig.start + 0.1 * rng.normal(size=fig.n_q), rng.normal(size=fig.n_q)
    n = fig.n_dynamic
    np.testing.assert_allclose(momentum(fig, q, v), (mass_matrix(fig, q) @ v)[:n], atol=1e-10)
