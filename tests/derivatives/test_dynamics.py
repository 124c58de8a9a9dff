"""Derivatives of a step against difference quotients: every figure of the library, and what the library has not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.step_derivatives import OneStep
from bunraku.figure import Figure, library
from tests.differences import difference_quotient
from tests.dynamics import contraptions
from tests.random_steps import RandomStep, random_step

Array = NDArray[np.float64]
NAMES = (*library.names(), "chain6")
STEPS = (1e-3, 1e-4, 1e-2, 1e-5, 1e-6, 1e-7)  # the likeliest first


def outputs(step: OneStep, n: int) -> Array:
    return np.concatenate([step.q[:n], step.impulse, step.momentum])


def slices(*sizes: int) -> list[slice]:
    return [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *sizes])) if b > a]


class Agreement:
    """A block of an exact derivative agrees with some quotient: with long steps where rounding is the trouble, with short ones
    where curvature is. A wrong derivative agrees with none."""

    def __init__(self, exact: Array, rows: list[slice], columns: list[slice], tolerance: float) -> None:
        self.exact, self.tolerance = exact, tolerance
        self.blocks = {(r.start, c.start): (..., r, c) for r in rows for c in columns}
        self.best = dict.fromkeys(self.blocks, np.inf)

    def compare(self, quotient: Array) -> None:
        for key, block in self.blocks.items():
            size = np.abs(quotient[block]).max()
            off = np.abs(self.exact[block] - quotient[block]).max()
            self.best[key] = min(self.best[key], off / size if size > 1e-12 else off)

    @property
    def reached(self) -> bool:
        return max(self.best.values()) < self.tolerance

    def check(self) -> None:
        assert self.reached, {key: f"{off:.1e}" for key, off in self.best.items()}


def check(case: RandomStep, *, rows: int = 3) -> OneStep:
    """First derivative, and the second contracted with a few covectors, against quotients."""
    f, here = case.figure, case.solve()
    assert not here.bits & ~STEP_BITS.retried
    n, nq, nu, nc = f.n_dynamic, f.n_q, len(f.forces), len(here.impulse)
    z = np.random.default_rng(0).normal(size=(rows, 2 * n + nc))
    z[:, n : n + nc] *= here.states > 0
    first = Agreement(case.first(here), slices(n, nc, n), slices(nq, n, nq - n, nu), 1e-7)
    second = Agreement(case.second(here, z), slices(nq, n, nq - n), slices(nq, n, nq - n), 1e-6)
    for step in STEPS:

        def solve(dx: Array) -> tuple[RandomStep, OneStep]:
            there = case.moved(dx)
            taken = there.solve()
            if taken.bits & ~STEP_BITS.retried or (taken.states != here.states).any():
                raise Switched
            return there, taken

        def slope(dx: Array) -> Array:
            there, taken = solve(dx)
            return np.asarray(z @ there.first(taken)[:, : 2 * nq])

        with suppress(Switched):
            if not first.reached:
                values = difference_quotient(lambda dx: outputs(solve(dx)[1], n), np.zeros(2 * nq + nu), step=step)
                first.compare(values / case.scale)
            if not second.reached:
                second.compare(difference_quotient(slope, np.zeros(2 * nq), step=step) / case.scale[: 2 * nq])
    first.check()
    second.check()
    return here


class Switched(Exception):
    """Within this step of a quotient, some link has changed its state."""


@pytest.mark.parametrize("name", NAMES)
def test_library(name: str) -> None:
    check(random_step(library.named(name), 2, taut=0.5 if name == "finger" else 1.0))  # one tendon of two


@pytest.mark.parametrize("name", ["arm2d", "arm3d", "marionette22", "marionette25", "hand"])
def test_some_strings_slack(name: str) -> None:
    figure = library.named(name)
    step = check(random_step(figure, 5, taut=0.5 if len(figure.strings) > 1 else 0.0, pull=0.004))
    assert (step.states[: len(figure.strings)] == 0).any()


@pytest.mark.parametrize("name", ["marionette22", "marionette25"])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_forces_on_one_side(name: str, share: float) -> None:
    check(replace(random_step(library.named(name), 2), share=share))


# Where seed 2 throws the gecko's light tail, quotients have only five digits (the derivatives have twelve: tests/digits.py).
@pytest.mark.parametrize(("name", "seed"), [("arm3d", 2), ("marionette25", 2), ("mobile_manipulator", 2), ("gecko", 4)])
def test_joints_at_their_stops(name: str, seed: int) -> None:
    figure = library.named(name)
    step = check(random_step(figure, seed, taut=0.0, stops=True))
    acting = {n for n, s in zip(figure.compiled.link_names, step.states, strict=True) if s and n.endswith((".upper", ".lower"))}
    assert acting


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("make", contraptions.ALL[:-1], ids=lambda make: make.__name__)
def test_contraptions(make: Callable[[], Figure], seed: int) -> None:
    check(random_step(make(), seed))


def test_eyelets_and_drums_taut() -> None:
    step = check(random_step(contraptions.reeved(), 17, pull=0.0))
    assert (step.states == 1).all()


def test_contacts_stick_and_slide() -> None:
    """One foot sticks while two slide; then all of them slide."""
    slips = [k for k, name in enumerate(contraptions.sliding().compiled.link_names) if ".slip" in name]
    some, all_ = (check(random_step(contraptions.sliding(), seed)).states[slips] for seed in (1, 6))
    assert {1, 2} <= set(some)
    assert (all_[:6] == 2).all()


def test_the_hessian_of_every_row_stands_alone() -> None:
    """What one row of weights leaves behind must not show in the next."""
    case = random_step(contraptions.springy(), 1)
    here = case.solve()
    z = np.random.default_rng(0).normal(size=(4, 2 * case.figure.n_dynamic))
    together = case.second(here, z)
    for row, H in zip(z, together, strict=True):
        np.testing.assert_array_equal(case.second(here, row[None])[0], H)
