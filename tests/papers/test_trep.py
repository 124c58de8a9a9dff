"""*trep*: the steps and derivatives of an independent implementation, on the figures of the paper (tests/reference)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import mass_matrix
from bunraku.dynamics.rollout import rollout
from bunraku.dynamics.simulation import STEP_TOLERANCE
from bunraku.dynamics.step_derivatives import step_derivatives
from bunraku.dynamics.step_expansion import expand
from bunraku.figure import Figure, Wire, library
from bunraku.kinematics import pose

Array = NDArray[np.float64]
FOLDER = Path(__file__).parents[1] / "reference"
FIGURES = {"marionette_smooth": "marionette22", "cart_pendulum": "cart_pendulum", "chain5": "chain5", "chain10": "chain10"}


@cache
def reference(name: str) -> dict[str, Array]:
    with np.load(FOLDER / f"{name}.npz") as file:
        return dict(file)


def wired(figure: Figure) -> Figure:
    """The same figure on rods: they push as well."""
    rods = (Wire(s.name, s.hook, s.spindle, s.length, s.variable, s.ratio, s.eyelets) for s in figure.strings)
    return figure.replace(strings=(), wires=tuple(rods))


@dataclass(frozen=True)
class Run:
    q: Array
    p: Array
    impulse: Array
    gap: Array
    states: NDArray[np.int8]
    bits: NDArray[np.int64]


def replay(figure: Figure, ref: dict[str, Array]) -> Run:
    """Our steps from the reference's start under its inputs, by its rule for forces."""
    assert tuple(ref["names"]) == figure.names
    tree, n, N = figure.compiled.tree, figure.n_dynamic, len(ref["k"])
    nc, nb = len(tree.links), len(tree.balls)
    run = Run(
        np.empty((N, figure.n_q)), np.empty((N, n)), np.empty((N, nc)), np.empty((N, nc)), np.empty((N, nc), np.int8),
        np.empty(N, np.int64),
    )  # fmt: skip
    rollout(
        tree, np.repeat(ref["q"][:1], 4, 0), ref["p"][0].copy(), np.zeros(nc), np.repeat(np.eye(3)[None], nb, 0),
        np.zeros(nc, np.bool_), ref["k"], np.ascontiguousarray(ref["u"]), float(ref["dt"]), 1.0, STEP_TOLERANCE, run.q, run.p,
        run.impulse, run.gap, np.empty((0, 2)), run.states, run.bits,
    )  # fmt: skip
    return run


@pytest.mark.parametrize("name", FIGURES)
def test_three_hundred_steps(name: str) -> None:
    ref = reference(name)
    run = replay(library.named(FIGURES[name]), ref)
    for k, q, p in zip(ref["steps"][1:], ref["q"][1:], ref["p"][1:], strict=True):
        np.testing.assert_allclose(run.q[k - 1], q, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(run.p[k - 1], p, rtol=0.0, atol=1e-9)
    assert not run.bits.any()
    if run.gap.size:
        assert np.abs(run.gap).max() < 1e-10
        np.testing.assert_allclose(run.impulse.min() / ref["dt"], ref["lowest_tension"], rtol=1e-6)


def test_wires_push_where_the_reference_does() -> None:
    ref = reference("marionette_slack_bilateral")
    run = replay(wired(library.marionette22()), ref)
    np.testing.assert_allclose(run.q[ref["steps"][1:] - 1], ref["q"][1:], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.p[ref["steps"][1:] - 1], ref["p"][1:], rtol=0.0, atol=1e-9)
    assert ref["lowest_tension"] < -400.0
    np.testing.assert_allclose(run.impulse.min() / ref["dt"], ref["lowest_tension"], rtol=1e-6)


def test_strings_do_not() -> None:
    ref = reference("marionette_slack_bilateral")
    run = replay(library.marionette22(), ref)
    assert run.impulse.min() >= 0.0
    assert run.gap.max() <= 1e-10
    assert np.abs(run.impulse * run.gap).max() <= 1e-10
    slack = run.states == 0
    assert slack.any()
    assert not run.impulse[slack].any()
    assert np.abs(run.q - replay(wired(library.marionette22()), ref).q).max() > 0.3


# -- derivatives of a step -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Derivatives:
    """Of step 100, in the reference's terms: rows (q1, its λ, p1), columns (q0, p0, u, k1)."""

    first: Array
    second: Array


def in_their_terms(figure: Figure, ref: dict[str, Array]) -> Derivatives:
    tree, n, nq, nu = figure.compiled.tree, figure.n_dynamic, figure.n_q, len(figure.forces)
    nc, dt = len(tree.links), float(ref["dt"])
    q0, q1 = ref["q"][1], ref["q"][2]
    here = pose(figure, q0)
    spans = [span(here, string.name) for string in figure.strings]
    lam = np.array([2.0 * d for d, _, _ in spans]) * ref["lam"][0]
    D, H = np.empty((2 * n + nc, 2 * nq)), np.empty((2 * n + nc, 2 * nq, 2 * nq))
    expand(tree, np.ones(nc, np.int8), q0, q1, lam, ref["u"][100].copy(), dt, 1.0, np.eye(2 * n + nc), D, H)
    for c, (d, d_q, d_qq) in enumerate(spans):
        # λ_ref = s λ with s = 1/(2 d(q0))
        s, s_q = 0.5 / d, np.zeros(2 * nq)
        s_q[:nq] = -0.5 * d_q / d**2
        row = n + c
        own = D[row].copy()
        H[row] = s * H[row] + np.outer(s_q, own) + np.outer(own, s_q)
        H[row, :nq, :nq] += lam[c] * (np.outer(d_q, d_q) / d**3 - 0.5 * d_qq / d**2)
        D[row] = s * own + lam[c] * s_q
    # Forces enter like momentum: their columns are dt·gain times those of p0.
    spread = np.zeros((2 * nq, 2 * nq + nu))
    spread[: nq + n, : nq + n] = np.eye(nq + n)
    for k, force in enumerate(figure.forces):
        spread[nq + figure.index(force.variable), nq + n + k] = dt * force.gain  # type: ignore[union-attr]
    spread[nq + n :, nq + n + nu :] = np.eye(nq - n)
    return Derivatives(D @ spread, spread.T @ H @ spread)


def span(here: object, name: str) -> tuple[float, Array, Array]:
    """Distance from hook to spindle with its first and second derivative by q."""
    string = next(s for s in here.figure.strings if s.name == name)  # type: ignore[attr-defined]
    a, b = string.path
    x = here.point(a.frame, a.position) - here.point(b.frame, b.position)  # type: ignore[attr-defined]
    J = here.point_jacobian(a.frame, a.position) - here.point_jacobian(b.frame, b.position)  # type: ignore[attr-defined]
    K = here.point_dqdq(a.frame, a.position) - here.point_dqdq(b.frame, b.position)  # type: ignore[attr-defined]
    d = float(np.linalg.norm(x))
    d_q = x @ J / d
    return d, d_q, (np.einsum("k,kij->ij", x, K) + J.T @ J - np.outer(d_q, d_q)) / d


def blocks(figure: Figure) -> tuple[list[slice], list[slice]]:
    n, nq, nu, nc = figure.n_dynamic, figure.n_q, len(figure.forces), len(figure.strings)
    return _slices(n, nc, n), _slices(nq, n, nu, nq - n)


def _slices(*sizes: int) -> list[slice]:
    ends = np.cumsum([0, *sizes])
    return [slice(int(a), int(b)) for a, b in pairwise(ends) if b > a]


def assert_close(ours: Array, theirs: Array, tolerance: float = 1e-8) -> None:
    """Relative to the largest entry of the block."""
    size = np.abs(theirs).max()
    if size == 0.0:
        np.testing.assert_array_equal(ours, theirs)
    else:
        assert np.abs(ours - theirs).max() <= tolerance * size


@pytest.mark.parametrize("name", FIGURES)
def test_first_derivatives(name: str) -> None:
    figure, ref = library.named(FIGURES[name]), reference(name)
    first = in_their_terms(figure, ref).first
    rows, columns = blocks(figure)
    for r in rows:
        for c in columns:
            assert_close(first[r, c], ref["d1"][r, c])


@pytest.mark.parametrize("name", FIGURES)
def test_second_derivatives(name: str) -> None:
    figure, ref = library.named(FIGURES[name]), reference(name)
    second = in_their_terms(figure, ref).second
    rows, columns = blocks(figure)
    upper = np.triu_indices(second.shape[1])
    for z, theirs in zip(ref["covectors"], ref["contracted"], strict=True):
        full = np.zeros(second.shape[1:])
        full[upper] = theirs
        full = full + np.triu(full, 1).T
        ours = np.einsum("o,oxy->xy", z, second)
        for a in columns:
            for b in columns:
                assert_close(ours[a, b], full[a, b])
    for x, theirs in zip(ref["directions"], ref["directed"], strict=True):
        ours = second @ x
        for r in rows:
            for c in columns:
                assert_close(ours[r, c], theirs[r, c])


def test_one_row_of_weights_is_a_row_of_the_tensor() -> None:
    """The contraction alone gives what the full tensor, contracted afterwards, gives."""
    figure, ref = library.marionette22(), reference("marionette_smooth")
    tree, n, nq = figure.compiled.tree, figure.n_dynamic, figure.n_q
    nc, dt = len(tree.links), float(ref["dt"])
    lam = np.array([2.0 * span(pose(figure, ref["q"][1]), s.name)[0] for s in figure.strings]) * ref["lam"][0]
    states, u = np.ones(nc, np.int8), ref["u"][100].copy()
    D, full = np.empty((2 * n + nc, 2 * nq)), np.empty((2 * n + nc, 2 * nq, 2 * nq))
    expand(tree, states, ref["q"][1], ref["q"][2], lam, u, dt, 1.0, np.eye(2 * n + nc), D, full)
    z = np.random.default_rng(0).normal(size=(1, 2 * n + nc))
    H = np.empty((1, 2 * nq, 2 * nq))
    expand(tree, states, ref["q"][1], ref["q"][2], lam, u, dt, 1.0, z, D, H)
    assert_close(H[0], np.einsum("o,oxy->xy", z[0], full), 1e-12)


def test_step_derivative_is_the_same_matrix() -> None:
    figure, ref = library.cart_pendulum(), reference("cart_pendulum")
    none, dt = np.zeros(0), float(ref["dt"])
    step = step_derivatives(figure, ref["q"][1], ref["q"][2], none, none, dt=dt, forces=ref["u"][100], share=1.0)
    np.testing.assert_allclose(step.D, ref["d1"], rtol=1e-8, atol=1e-12)  # no kinematic variables: columns (q0, p0, u)


@pytest.mark.parametrize("name", FIGURES)
def test_mass_matrix(name: str) -> None:
    figure, ref = library.named(FIGURES[name]), reference(name)
    n = figure.n_dynamic
    for c in (0, 1):
        np.testing.assert_allclose(mass_matrix(figure, ref[f"c{c}_q"])[:n, :n], ref[f"c{c}_M"], rtol=0.0, atol=1e-11)
