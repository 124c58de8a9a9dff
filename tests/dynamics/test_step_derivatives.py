"""Derivatives along a motion against those of its steps one by one; contractions against the full second derivative."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, Steps
from bunraku.dynamics.simulation import LEFT_SHARE
from bunraku.dynamics.step_derivatives import expand, expand_along
from bunraku.figure import Figure, library

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
