"""Derivatives along a motion against those of its steps one by one; contractions against the full second derivative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bunraku
from bunraku.dynamics import Simulation, StepDerivatives, Steps
from bunraku.dynamics.simulation import LEFT_SHARE
from bunraku.dynamics.step_derivatives import OneStep
from bunraku.dynamics.step_expansion import expand, expand_along
from bunraku.errors import BunrakuError
from bunraku.figure import Figure, library
from tests.differences import difference_quotient
from tests.dynamics import contraptions
from tests.random_steps import RandomStep, random_step

Array = NDArray[np.float64]
DT = 0.01


@cache
def let_out(name: str, count: int = 5) -> tuple[Figure, Array, Steps]:
    """Steps in which the first string is let out and goes slack; the others stay taut."""
    figure = library.named(name)
    simulation = Simulation(figure, dt=DT)
    q0, n = simulation.q, figure.n_dynamic
    K = np.repeat(q0[None, n:], count, 0)
    K[:, figure.index(figure.strings[0].variable or "") - n] += 0.02 * np.arange(1, count + 1)
    steps = simulation.run(K)
    assert set(steps.states[:, : len(figure.strings)].ravel()) == {0, 1}
    return figure, np.concatenate([q0[None], steps.q]), steps


def sizes(figure: Figure) -> tuple[int, int]:
    return 2 * figure.n_dynamic + len(figure.compiled.tree.links), 2 * figure.n_q


def along(figure: Figure, Q: Array, steps: Steps, Z: Array) -> tuple[Array, Array]:
    outputs, inputs = sizes(figure)
    U = np.zeros((len(steps.q), len(figure.forces)))
    D, H = np.empty((len(U), outputs, inputs)), np.empty((len(Z), inputs, inputs))
    expand_along(figure.compiled.tree, steps.states, Q, steps.impulse, U, DT, LEFT_SHARE, Z, D, H)
    return D, H


def alone(figure: Figure, Q: Array, steps: Steps, k: int, Z: Array) -> tuple[Array, Array]:
    outputs, inputs = sizes(figure)
    D, H = np.empty((outputs, inputs)), np.empty((len(Z), inputs, inputs))
    u = np.zeros(len(figure.forces))
    expand(figure.compiled.tree, steps.states[k], Q[k], Q[k + 1], steps.impulse[k], u, DT, LEFT_SHARE, Z, D, H)
    return D, H


@pytest.mark.parametrize("name", ["marionette22", "marionette25"])
def test_every_step_of_a_motion(name: str) -> None:
    figure, Q, steps = let_out(name)
    Z = np.random.default_rng(0).normal(size=(len(steps.q), sizes(figure)[0]))
    D, H = along(figure, Q, steps, Z)
    for k in range(len(steps.q)):
        D1, H1 = alone(figure, Q, steps, k, Z[k : k + 1])
        np.testing.assert_allclose(D[k], D1, rtol=0.0, atol=1e-13 * np.abs(D1).max())
        np.testing.assert_allclose(H[k], H1[0], rtol=0.0, atol=1e-12 * np.abs(H1).max())


def test_first_derivatives_alone() -> None:
    """Without weights the same D."""
    figure, Q, steps = let_out("marionette22")
    outputs, _ = sizes(figure)
    plain, _ = along(figure, Q, steps, np.empty((0, outputs)))
    weighted, _ = along(figure, Q, steps, np.ones((len(steps.q), outputs)))
    np.testing.assert_array_equal(plain, weighted)


def test_contraction_is_that_of_the_full_tensor() -> None:
    figure, Q, steps = let_out("marionette22")
    outputs, _ = sizes(figure)
    z = np.random.default_rng(1).normal(size=outputs)
    for k in (0, len(steps.q) - 1):
        _, full = alone(figure, Q, steps, k, np.eye(outputs))
        _, H = alone(figure, Q, steps, k, z[None])
        expected = np.einsum("o,oxy->xy", z, full)
        np.testing.assert_allclose(H[0], expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())


def test_second_derivatives_are_symmetric() -> None:
    figure, Q, steps = let_out("marionette25")
    _, full = alone(figure, Q, steps, 2, np.eye(sizes(figure)[0]))
    np.testing.assert_allclose(full, full.transpose(0, 2, 1), rtol=0.0, atol=1e-13 * np.abs(full).max())


# -- by name -------------------------------------------------------------------------------------------------------------


def named_step(figure: Figure, seed: int = 3) -> tuple[RandomStep, OneStep]:
    case = random_step(figure, seed)
    return case, case.solve()


def derivatives(case: RandomStep, step: OneStep, **options: Any) -> StepDerivatives:
    return bunraku.step_derivatives(
        case.figure, case.q0, step.q, step.impulse, step.states, dt=case.dt, forces=case.u, share=case.share, **options
    )


def test_blocks_are_parts_of_the_whole() -> None:
    figure = library.named("arm3d")
    n, nq = figure.n_dynamic, figure.n_q
    first, second = (derivatives(*named_step(figure), order=order) for order in (1, 2))
    np.testing.assert_array_equal(first.block("p1", "q0"), first.D[-n:, :nq])
    np.testing.assert_array_equal(second.block("q1", "k1"), first.block("q1", "k1"))
    assert second.H is not None
    np.testing.assert_array_equal(second.block("p1", "q0", "k1"), second.H[-n:, :nq, nq + n :])
    np.testing.assert_array_equal(second.block("p1", "q0", "k1"), second.block("p1", "k1", "q0").transpose(0, 2, 1))
    assert first.block("impulse", "u").shape == (3, 0)


@pytest.mark.parametrize("make", [library.marionette22, contraptions.springy], ids=["marionette22", "springy"])
def test_a_covector_weighs_the_full_tensor(make: Callable[[], Figure]) -> None:
    case, step = named_step(make())
    full = derivatives(case, step, order=2)
    z = np.random.default_rng(1).normal(size=len(full.D))
    parts = {name: z[rows] for name, rows in full.outputs.items()}
    assert full.H is not None
    for covector in (z, parts):
        weighted = derivatives(case, step, order=2, covector=covector)
        expected = np.einsum("o,oxy->xy", z, full.H)
        np.testing.assert_allclose(weighted.H, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())
        assert weighted.H is not None
        np.testing.assert_array_equal(weighted.block("q0", "u"), weighted.H[full.inputs["q0"], full.inputs["u"]])
    only = derivatives(case, step, order=2, covector={"p1": parts["p1"]})
    np.testing.assert_allclose(only.H, np.einsum("o,oxy->xy", parts["p1"], full.H[full.outputs["p1"]]), atol=1e-9)


@pytest.mark.parametrize(
    "make", [library.cart_pendulum, library.marionette22, contraptions.springy], ids=["cart", "puppet", "springy"]
)
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_second_derivatives_by_force_inputs(make: Callable[[], Figure], share: float) -> None:
    """Against difference quotients of the first, of steps that are solved anew."""
    case = replace(random_step(make(), 3), share=share)
    step = case.solve()
    exact = derivatives(case, step, order=2)
    z = np.random.default_rng(2).normal(size=len(exact.D))
    z[exact.outputs["impulse"]] *= step.states > 0

    def slope(dx: Array) -> Array:
        there = case.moved(dx)
        return np.asarray(z @ derivatives(there, there.solve()).D)

    quotient = difference_quotient(slope, np.zeros(len(case.x)), step=1e-4) / case.scale
    weighted = derivatives(case, step, order=2, covector=z)
    assert weighted.H is not None
    for a in exact.inputs:
        expected = quotient[exact.inputs[a], exact.inputs["u"]]
        np.testing.assert_allclose(weighted.block(a, "u"), expected, atol=1e-5 * max(np.abs(expected).max(initial=0.0), 1e-9))


def test_what_cannot_be_asked_for() -> None:
    case, step = named_step(library.arm2d())
    for wrong, words in (
        ({"order": 3}, "order is 3"), ({"covector": np.ones(5)}, "order=2"),
        ({"order": 2, "covector": np.ones(4)}, "covector has shape"),
        ({"order": 2, "covector": {"q2": [1.0]}}, "no output is called 'q2'"),
    ):  # fmt: skip
        with pytest.raises(BunrakuError, match=words):
            derivatives(case, step, **wrong)
    first = derivatives(case, step)
    with pytest.raises(BunrakuError, match="order=2"):
        first.block("p1", "q0", "q0")
    with pytest.raises(BunrakuError, match="no input is called 'k0'"):
        first.block("p1", "k0")
    with pytest.raises(BunrakuError, match="impulse has shape"):
        bunraku.step_derivatives(case.figure, case.q0, step.q, [], step.states, dt=0.01)
    with pytest.raises(BunrakuError, match="share is 2"):
        bunraku.step_derivatives(case.figure, case.q0, step.q, step.impulse, step.states, dt=0.01, share=2)
