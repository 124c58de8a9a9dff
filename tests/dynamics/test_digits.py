"""Derivatives of steps to the last digit: against 50-digit arithmetic, and by the symplectic form, which needs no reference.

The error of a block, say ∂p1/∂q0, is its largest error over its largest entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import bunraku
from bunraku.dynamics import Simulation, StepDerivatives
from bunraku.dynamics.quantities import gap_derivatives
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.step_derivatives import OneStep
from bunraku.dynamics.step_expansion import expand
from bunraku.figure import Figure, library
from bunraku.figure.build import body, drum, figure, ry, string, tx, tz
from bunraku.figure.records import FigureTree
from tests.dynamics import contraptions, test_capstan
from tests.exact_step import ExactDerivatives, ExactStep
from tests.random_steps import RandomStep, random_step
from tests.slow_cases import cases

Array = NDArray[np.float64]
SMALL = ("pendulum", "double_pendulum", "cart_pendulum", "chain5", "arm2d", "arm3d")
LARGE = ("marionette22", "marionette25", "hand", "humanoid", "mannequin", "chain20", "chain80")
BOUNDS = {"chain20": 1e-10, "chain80": 1e-10}
BOUND = 1e-12


def some_step(figure: Figure, seed: int) -> tuple[RandomStep, OneStep]:
    """A whole step in which nothing slides. Figures without strings start anywhere, some of their joints at their stops."""
    strings = len(figure.strings) > 0
    for k in range(20):
        taut = 1.0 if k < 10 else 0.5  # tendons on two sides of a finger cannot all be wound in
        case = random_step(figure, seed + 100 * k, taut=taut, stops=not strings, spread=0.02 if strings else 0.5)
        step = case.solve()
        if not step.bits & ~STEP_BITS.retried and (step.states < 2).all():
            return case, step
    raise AssertionError(f"{figure.name}: every step is held, divided, or slides")


def derivatives(case: RandomStep, step: OneStep, z: Array | None = None) -> StepDerivatives:
    return bunraku.step_derivatives(
        case.figure, case.q0, step.q, step.impulse, step.states, dt=case.dt, forces=case.u, share=case.share,
        order=1 if z is None else 2, covector=z,
    )  # fmt: skip


def error(found: Array, exact: Array, whole: Array) -> float:
    """Of a block; one that is zero must be zero up to rounding of the whole matrix."""
    size = np.abs(exact).max() or np.abs(whole).max()
    return float(np.abs(found - exact).max() / size) if size else 0.0


def first_errors(found: StepDerivatives, exact: Array) -> dict[str, float]:
    blocks = {f"{a} by {b}": (r, c) for a, r in found.outputs.items() for b, c in found.inputs.items()}
    return {name: error(found.D[at], exact[at], exact) for name, at in blocks.items() if exact[at].size}


def second_errors(found: StepDerivatives, exact: Array) -> dict[str, float]:
    blocks = {f"{a}, {b}": (r, c) for a, r in found.inputs.items() for b, c in found.inputs.items()}
    assert found.H is not None
    return {name: error(found.H[at], exact[at], exact) for name, at in blocks.items() if exact[at].size}


def covectors(found: StepDerivatives, step: OneStep, seed: int) -> dict[str, Array]:
    """A random one for each kind of output, of links that act."""
    rng, out = np.random.default_rng(seed), {}
    for name, rows in found.outputs.items():
        z = np.zeros(len(found.D))
        z[rows] = rng.normal(size=rows.stop - rows.start)
        z[found.outputs["impulse"]] *= step.states > 0
        if z.any():
            out[name] = z
    return out


def compared(case: RandomStep, step: OneStep, exact: ExactDerivatives, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Errors of first and second derivatives, by block."""
    first, second = derivatives(case, step), {}
    for name, z in covectors(first, step, seed).items():
        off = second_errors(derivatives(case, step, z), exact.second(z))
        second |= {f"{name} by {block}": e for block, e in off.items()}
    return first_errors(first, exact.first), second


def exactly(case: RandomStep, step: OneStep) -> ExactDerivatives:
    """At the step that was found."""
    exact = ExactStep(case.figure.compiled.tree, step.states, case.q0, step.q, step.impulse)
    return exact.at(case.q0, step.q, step.impulse, case.u, case.dt, case.share)


def check(name: str, seed: int, share: float = 0.5) -> None:
    case, _ = some_step(library.named(name), seed)
    case = replace(case, share=share)
    step = case.solve()
    first, second = compared(case, step, exactly(case, step), seed)
    bound = BOUNDS.get(name, BOUND)
    assert {block: f"{off:.1e}" for block, off in (first | second).items() if not off <= bound} == {}


@pytest.mark.parametrize("name", SMALL)
def test_small_figures_in_fifty_digits(name: str) -> None:
    check(name, 31)
    check(name, 32, share=0.8)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_figures_in_fifty_digits(name: str) -> None:
    check(name, 33)


@pytest.mark.parametrize("name", ["arm2d", "chain5", "arm3d"])
def test_steps_solved_again_in_fifty_digits(name: str) -> None:
    """Newton's method leaves so little that derivatives at its result are those of the step from the same start."""
    case, step = some_step(library.named(name), 34)
    exact = ExactStep(case.figure.compiled.tree, step.states, case.q0, step.q, step.impulse)
    again = exact.solve(case.q0, case.p0, case.k1, case.u, case.dt, case.share, step.q, step.impulse)
    np.testing.assert_allclose(step.q[: case.figure.n_dynamic], again.q1, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(step.momentum, again.p1, rtol=0.0, atol=1e-11 * np.abs(again.p1).max())
    assert max(first_errors(derivatives(case, step), again.first).values()) <= BOUND


# -- strings that rub, stretch, run over pulleys, lie on drums --------------------------------------------------------------


def after(fig: Figure, steps: int, dt: float = 0.005, v: list[float] | None = None) -> RandomStep:
    """The last step of a simulation in which no kinematic variable moves."""
    simulation, n = Simulation(fig, v=v, dt=dt), fig.n_dynamic
    k = np.tile(simulation.q[n:], (steps + 1, 1))
    made = simulation.run(k)
    assert not (made.bits & ~STEP_BITS.retried).any()
    return RandomStep(fig, made.q[-2], made.momentum[-2], k[-1], np.zeros(len(fig.forces)), dt)


def layered() -> Figure:
    """A swinging load on a drum that turns, amid the second of its layers."""
    rope = drum(("world", (0, 0, 1)), 0.05, "y", turn=-1, towards=(1, 0, 0), turns=1.0, thickness=0.02)
    return figure(
        "layered", ry("reel", body(0.5, inertia=(1e-3, 2e-3, 1e-3)), at=(0, 0, 1), start=-2.0 * np.pi - 0.3),
        tx("x", tz("load", body(0.4), start=-0.2), start=0.3),
        strings=[string("rope", "load", rope, variable="reel", length=1.7)],
    )  # fmt: skip


STRINGS: dict[str, tuple[Callable[[], RandomStep], list[int]]] = {
    "pulleys, a ring, branches, a drum": (lambda: random_step(contraptions.rigged(), 57, pull=1e-3), [1, 1, 1, 1]),
    "stretching": (lambda: random_step(contraptions.stretched(), 11, pull=4e-3), [1, 0, 1, 1, 1]),
    "slipping on a bollard": (lambda: after(test_capstan.swinging(0.15), 4, v=[1.0, 0.2, -1.5, -0.2, 0.0]), [1, 2]),
    "sticking on a bollard": (lambda: after(test_capstan.swinging(0.9), 9, v=[1.0, 0.0, -1.5, 0.0, 0.0]), [1, 1]),
    "slipping and sticking": (lambda: after(test_capstan.tilted(0.15), 16), [1, 2, 2, 1, 2]),
    "a drum in layers": (lambda: after(layered(), 30), [1]),
    "crane": (lambda: some_step(library.crane(), 37)[0], [1]),
}


# The slow one: its derivatives stand beside quotients, too (tests/derivatives/test_dynamics.py).
@pytest.mark.parametrize("what", cases(STRINGS, slow=("pulleys, a ring, branches, a drum",)))
def test_strings_of_all_kinds_in_fifty_digits(what: str) -> None:
    make, states = STRINGS[what]
    case = make()
    step = case.solve()
    assert step.states.tolist() == states
    first, second = compared(case, step, exactly(case, step), 36)
    assert {block: f"{off:.1e}" for block, off in (first | second).items() if not off <= BOUND} == {}


# -- the symplectic form -----------------------------------------------------------------------------------------------


def without_damping(tree: FigureTree) -> FigureTree:
    joints = tree.joints.copy()
    joints["damping"] = 0.0
    return tree._replace(joints=joints)


def symplectic_error(case: RandomStep, step: OneStep) -> float:
    """How far dq1 ∧ dp1 is from dq0 ∧ (dp0 − Σ A0 dλ), over the largest product in it.

    Of L_d alone, (q0, −D1 L_d) ↦ (q1, D2 L_d) keeps the form. Links subtract A(q0)ᵀλ from p0 first. So for variations that leave
    the gaps at q0 as they are, as a step before this one does, taut strings keep the form too.
    """
    figure = case.figure
    n, nq, nc = figure.n_dynamic, figure.n_q, len(step.impulse)
    D, none = np.empty((2 * n + nc, 2 * nq)), np.empty((0, 2 * nq, 2 * nq))
    expand(
        without_damping(figure.compiled.tree), step.states, case.q0, step.q, step.impulse, case.u, case.dt, case.share,
        np.empty((0, 2 * n + nc)), D, none,
    )  # fmt: skip
    own = [*range(n), *range(nq, nq + n)]  # q0 and p0 of dynamic variables
    q1, lam, p1 = np.split(D[:, own], [n, n + nc])
    q0, p0 = np.split(np.eye(2 * n), 2)
    _, A0 = gap_derivatives(figure, case.q0)
    left = p0 - A0[:, :n].T @ lam
    after, before = q1.T @ p1, q0.T @ left
    size = np.abs(q1).T @ np.abs(p1) + np.abs(q0).T @ np.abs(left)
    off = (after - after.T) - (before - before.T)
    return float(np.abs(off).max() / size.max())


@pytest.mark.parametrize("name", [*library.names(), "chain20", "chain80"])
def test_steps_are_symplectic(name: str) -> None:
    for seed in (41, 42):
        case, step = some_step(library.named(name), seed)
        assert symplectic_error(case, step) <= BOUNDS.get(name, BOUND)


def test_taut_strings_keep_the_symplectic_form_of_what_they_leave_free() -> None:
    """Plainly: variations within the constraint, of a puppet all of whose strings are taut."""
    figure = library.marionette22()
    case, step = some_step(figure, 43)
    assert (step.states == 1).all()
    n, nq, nc = figure.n_dynamic, figure.n_q, len(step.impulse)
    D, none = np.empty((2 * n + nc, 2 * nq)), np.empty((0, 2 * nq, 2 * nq))
    expand(
        without_damping(figure.compiled.tree), step.states, case.q0, step.q, step.impulse, case.u, case.dt, case.share,
        np.empty((0, 2 * n + nc)), D, none,
    )  # fmt: skip
    _, A0 = gap_derivatives(figure, case.q0)
    free = np.linalg.svd(A0[:, :n])[2][nc:].T  # dq0 with A0 dq0 = 0
    inputs = np.zeros((2 * nq, free.shape[1] + n))
    inputs[:n, : free.shape[1]] = free
    inputs[nq : nq + n, free.shape[1] :] = np.eye(n)
    q1, _, p1 = np.split(D @ inputs, [n, n + nc])
    q0, p0 = inputs[:n], inputs[nq : nq + n]
    form = q1.T @ p1 - p1.T @ q1
    size = (np.abs(q1).T @ np.abs(p1)).max()
    np.testing.assert_allclose(form, q0.T @ p0 - p0.T @ q0, rtol=0.0, atol=BOUND * size)
