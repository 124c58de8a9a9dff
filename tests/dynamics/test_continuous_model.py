"""The continuous model: the reference's accelerations and tensions, their derivatives, and the limit of the step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import energy, mass_matrix, settle
from bunraku.dynamics.continuous_model import acceleration, acceleration_derivative, acceleration_second_derivative
from bunraku.dynamics.quantities import gap_derivatives
from bunraku.figure import Figure, library
from bunraku.kinematics import pose
from tests.differences import difference_quotient
from tests.dynamics import contraptions
from tests.papers.test_trep import FIGURES, assert_close, reference, span, wired
from tests.slow_cases import cases

Array = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """A state of the reference. Its v need not keep strings at their lengths, and its constraint is |d|² − l²: so

        d d¨ + d˙² = l l¨ + l˙²,        where ours is d¨ = l¨.

    The same thing with an acceleration (l l¨ + l˙² − d˙²)/d of the length.
    """

    fig: Figure
    q: Array
    v: Array
    a: Array
    u: Array

    @property
    def lengths(self) -> list[int]:
        return [self.fig.index(str(s.variable)) for s in self.fig.strings]

    def spans(self, q: Array) -> list[tuple[float, Array, Array]]:
        here = pose(self.fig, q)
        return [span(here, s.name) for s in self.fig.strings]

    def ours(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """(l l¨ + l˙² − d˙²)/d of every string, and its derivative by (q, v, a)."""
        n, nq, value, slope = self.fig.n_dynamic, self.fig.n_q, [], []
        for k, (d, d_q, d_qq) in zip(self.lengths, self.spans(q), strict=True):
            length, rate, other = q[k], v[k], d_q @ v
            value.append((length * a[k - n] + rate**2 - other**2) / d)
            row = np.zeros(2 * nq + len(a))
            row[:nq] = -2 * other * (d_qq @ v) / d - value[-1] * d_q / d
            row[nq : 2 * nq] = -2 * other * d_q / d
            row[k] += a[k - n] / d
            row[nq + k] += 2 * rate / d
            row[2 * nq + k - n] = length / d
            slope.append(row)
        return np.array(value), np.array(slope).reshape(len(value), 2 * nq + len(a))

    @property
    def places(self) -> NDArray[np.int64]:
        """Of the lengths among the kinematic variables."""
        return np.array(self.lengths, np.int64) - self.fig.n_dynamic

    @property
    def arguments(self) -> dict[str, Array]:
        a = self.a.copy()
        a[self.places] = self.ours(self.q, self.v, self.a)[0]
        return {"q": self.q, "v": self.v, "kinematic": a, "forces": self.u}

    @property
    def chain(self) -> Array:
        """∂(our inputs)/∂(the reference's), both in our order."""
        nq, nk = self.fig.n_q, len(self.a)
        J = np.eye(2 * nq + nk + len(self.u))
        J[2 * nq + self.places, : 2 * nq + nk] = self.ours(self.q, self.v, self.a)[1]
        return J


def state(name: str, c: int) -> State:
    fig, ref = library.named(FIGURES[name]), reference(name)
    assert tuple(ref["names"]) == fig.names
    return State(fig, ref[f"c{c}_q"], ref[f"c{c}_v"], ref[f"c{c}_a"], ref[f"c{c}_u"])


@pytest.mark.parametrize("c", [0, 1])
@pytest.mark.parametrize("name", FIGURES)
def test_accelerations_tensions_and_energy_of_the_reference(name: str, c: int) -> None:
    ref, at = reference(name), state(name, c)
    found = acceleration(at.fig, **at.arguments)
    assert_close(found.a, ref[f"c{c}_f"], 1e-10)
    if at.lengths:  # its sign is the other way
        assert_close(found.tension, -2.0 * np.array([d for d, _, _ in at.spans(at.q)]) * ref[f"c{c}_lam"], 1e-10)
    assert_close(np.array(sum(energy(at.fig, at.q, at.v))), ref[f"c{c}_energy"], 1e-10)


def order(fig: Figure) -> NDArray[np.int64]:
    """Our columns are (q, v, a, u), the reference's (q, v, u, a)."""
    nq, nk, nu = fig.n_q, fig.n_q - fig.n_dynamic, len(fig.forces)
    q_v, a, u = np.arange(2 * nq), 2 * nq + np.arange(nk), 2 * nq + nk + np.arange(nu)
    return np.concatenate([q_v, u, a])


def slices(*sizes: int) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(np.cumsum([0, *sizes])) if b > a]


def inputs(fig: Figure) -> list[slice]:
    return slices(fig.n_q, fig.n_q, len(fig.forces), fig.n_q - fig.n_dynamic)


@pytest.mark.parametrize("c", [0, 1])
@pytest.mark.parametrize("name", FIGURES)
def test_first_derivatives_of_the_reference(name: str, c: int) -> None:
    at, theirs = state(name, c), reference(name)[f"c{c}_d1"].copy()
    n, nq = at.fig.n_dynamic, at.fig.n_q
    D = (acceleration_derivative(at.fig, **at.arguments) @ at.chain)[:, order(at.fig)]
    found = acceleration(at.fig, **at.arguments)
    for k, (d, d_q, _) in enumerate(at.spans(at.q)):  # τ = −2 d λ
        theirs[n + k] *= -2.0 * d
        theirs[n + k, :nq] += found.tension[k] / d * d_q
    for r in slices(n, len(at.lengths)):
        for x in inputs(at.fig):
            assert_close(D[r, x], theirs[r, x], 1e-8)


@pytest.mark.parametrize("name", FIGURES)
def test_second_derivatives_of_the_reference(name: str) -> None:
    at, ref = state(name, 0), reference(name)
    fig, n, nq = at.fig, at.fig.n_dynamic, at.fig.n_q
    own, J, turn = acceleration_derivative(fig, **at.arguments), at.chain, order(fig)
    H = J.T @ acceleration_second_derivative(fig, **at.arguments) @ J
    x0, m = np.concatenate([at.q, at.v, at.a]), 2 * nq + len(at.a)
    bend = difference_quotient(lambda x: at.ours(*np.split(x, [nq, 2 * nq]))[1], x0, step=1e-3)
    H[:, :m, :m] += np.einsum("oc,cxy->oxy", own[:, 2 * nq + at.places], bend)
    D = own @ J
    found = acceleration(fig, **at.arguments)
    for k, (d, d_q, d_qq) in enumerate(at.spans(at.q)):  # λ = −τ/2d
        s, s_q = -0.5 / d, np.zeros(H.shape[1])
        s_q[:nq] = 0.5 * d_q / d**2
        H[n + k] = s * H[n + k] + np.outer(s_q, D[n + k]) + np.outer(D[n + k], s_q)
        H[n + k, :nq, :nq] += found.tension[k] * (0.5 * d_qq / d**2 - np.outer(d_q, d_q) / d**3)
    H = H[:, turn][:, :, turn]
    for z, upper in zip(ref["c0_covectors"], ref["c0_contracted"], strict=True):
        theirs = np.zeros(H.shape[1:])
        theirs[np.triu_indices(len(theirs))] = upper
        theirs += np.triu(theirs, 1).T
        ours = np.einsum("o,oxy->xy", z, H)
        for a in inputs(fig):
            for b in inputs(fig):
                assert_close(ours[a, b], theirs[a, b], 1e-8)


# -- against quotients ---------------------------------------------------------------------------------------

CASES: dict[str, Callable[[], Figure]] = {
    **{name: partial(library.named, name) for name in library.names()},
    **{
        make.__name__: make
        for make in (contraptions.springy, contraptions.reeved, contraptions.carried, contraptions.looped, contraptions.rigged)
    },
}


def random_state(fig: Figure) -> dict[str, Array]:
    rng = np.random.default_rng(4)
    return {
        "q": fig.start + rng.uniform(-0.1, 0.1, fig.n_q), "v": rng.normal(size=fig.n_q),
        "kinematic": rng.normal(size=fig.n_q - fig.n_dynamic), "forces": rng.normal(size=len(fig.forces)),
    }  # fmt: skip


def independent(fig: Figure, q: Array, wanted: NDArray[np.int64]) -> NDArray[np.int8]:
    """Without links that others already hold, as those of a sole's third corner: it is open which of them carry the load."""
    A, states = gap_derivatives(fig, q)[1][:, : fig.n_dynamic], np.zeros(len(wanted), np.int8)
    for c in np.flatnonzero(wanted):
        states[c] = 1
        states[c] = np.linalg.matrix_rank(A[states > 0], tol=1e-9) == states.sum()
    return states


WITHOUT_LINKS = ("pendulum", "double_pendulum", "chain", "cart_pendulum", "springy", "carried")
LARGE = ("actor", "humanoid", "mannequin", "gecko", "hand", "marionette25")


@pytest.mark.parametrize("name", CASES)
def test_derivatives_against_quotients(name: str) -> None:
    against_quotients(CASES[name](), taut=True)


@pytest.mark.parametrize("name", cases([name for name in CASES if name not in WITHOUT_LINKS], slow=LARGE))
def test_derivatives_where_half_of_the_links_are_slack(name: str) -> None:
    against_quotients(CASES[name](), taut=False)


def against_quotients(fig: Figure, *, taut: bool) -> None:
    at, nc = random_state(fig), len(fig.compiled.tree.links)
    stops = np.array([n.endswith((".upper", ".lower")) for n in fig.compiled.link_names], bool)
    states = independent(fig, at["q"], np.where(stops, 0, 1 if taut else np.arange(nc) % 2))
    cuts = np.cumsum([fig.n_q, fig.n_q, fig.n_q - fig.n_dynamic])
    x0 = np.concatenate(list(at.values()))

    def split(x: Array) -> dict[str, Array]:
        q, v, a, u = np.split(x, cuts)
        return {"q": q, "v": v, "kinematic": a, "forces": u, "states": states}

    def value(x: Array) -> Array:
        found = acceleration(fig, **split(x))
        return np.concatenate([found.a, found.tension])

    def first(x: Array) -> Array:
        return acceleration_derivative(fig, **split(x))

    D = first(x0)
    assert_close(D, difference_quotient(value, x0, step=1e-4), 1e-7)
    H = acceleration_second_derivative(fig, **split(x0))
    np.testing.assert_allclose(H, H.transpose(0, 2, 1), atol=1e-9 * max(np.abs(H).max(), 1.0))
    assert_close(H, difference_quotient(first, x0, step=1e-4), 1e-6)


# -- what it means -------------------------------------------------------------------------------------------


def test_the_equations_hold() -> None:
    """M a + bias = forces − Aᵀ τ, and taut gaps do not accelerate."""
    fig = library.marionette22()
    at = random_state(fig)
    found = acceleration(fig, **at)
    n, e = fig.n_dynamic, 1e-4
    a = np.concatenate([found.a, at["kinematic"]])
    q, v = at["q"], at["v"]

    def gaps(t: float) -> Array:
        return gap_derivatives(fig, q + t * v + 0.5 * t * t * a)[0]

    second = (-gaps(2 * e) + 16 * gaps(e) - 30 * gaps(0) + 16 * gaps(-e) - gaps(-2 * e)) / (12 * e * e)
    np.testing.assert_allclose(second, 0.0, atol=1e-5)
    # all strings slack, then pulled: the difference of accelerations is what tension does
    free = acceleration(fig, q, v, kinematic=at["kinematic"], forces=at["forces"], states=np.zeros(6))
    M, A = mass_matrix(fig, q)[:n, :n], gap_derivatives(fig, q)[1][:, :n]
    np.testing.assert_allclose(M @ (found.a - free.a), -A.T @ found.tension, atol=1e-7 * np.abs(found.tension).max())
    assert not free.tension.any()


def test_a_hanging_marionette_carries_its_weight() -> None:
    fig = library.marionette25()
    q = settle(fig)
    slack = pose(fig, q).gaps < -1e-9
    states = np.zeros(len(fig.compiled.tree.links), np.int8)
    states[: len(fig.strings)] = ~slack
    found = acceleration(fig, q, np.zeros(fig.n_q), states=states)
    assert np.abs(found.a).max() < 1e-6
    pull = 0.0
    for k, string in enumerate(fig.strings):
        a, b = pose(fig, q).path(string.name)
        pull += found.tension[k] * (b - a)[2] / np.linalg.norm(b - a)
    np.testing.assert_allclose(pull, 9.81 * sum(body.mass for body in fig.bodies), rtol=1e-8)


def test_wires_may_push_in_the_second_state_of_the_reference() -> None:
    """There a string would be slack: the model says so by a negative tension, and leaves the choice to its caller."""
    at = state("marionette_smooth", 1)
    found = acceleration(wired(at.fig), **at.arguments)
    assert found.tension.min() < -0.5
