"""Absurd puppeteers among props: whatever they ask for, nothing is in anything else, and strings are closed."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision.manifold.touch_rules import Touch
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.figure import Figure
from bunraku.figure.build import box, capsule, figure, fixed, free, rx, sphere, spindle, string, tx, ty, tz
from bunraku.scene import Scene


def contraption() -> Figure:
    """A hand that the puppeteer moves, a pendulum on a string, a ball and a box: all of it touches."""
    return figure(
        "contraption",
        tx("hand_x", ty("hand_y", tz("hand_z", sphere(0.05), start=0.3, kinematic=True), kinematic=True), start=-0.4,
           kinematic=True),
        free("bob", capsule(0.03, 0.1, mass=0.4), rx("tail", capsule(0.02, to=(0, 0, -0.1), mass=0.1), at=(0, 0, -0.09)),
             fixed("top", at=(0, 0, 0.08)), start=(0.25, 0, 0.5, 0, 0, 0)),
        free("ball", sphere(0.06, mass=0.3), start=(0, 0, 0.06, 0, 0, 0)),
        free("crate", box((0.1, 0.1, 0.1), mass=0.5), start=(0, 0.2, 0.05, 0, 0, 0)),
        spindle("bob", at=(0.25, 0, 1.0)),
        strings=[string("bob", "top", "bob_spindle")],
    )  # fmt: skip


def run(seed: int, steps: int) -> None:
    rng, fig = np.random.default_rng(seed), contraption()
    simulation = TouchSimulation(fig, scene=Scene("floor"), touch=Touch(), dt=float(rng.choice([0.002, 0.01, 0.03])))
    kinematic, n = np.array(fig.start[fig.n_dynamic :]), fig.n_dynamic
    wild = rng.choice([0.01, 0.1, 1.0, 30.0])
    for _ in range(steps):
        if rng.random() < 0.3:
            kinematic = fig.start[n:] + wild * rng.normal(size=len(kinematic))
        out = simulation.step(kinematic)
        assert np.isfinite(out.q).all()
        assert not out.bits[0] & STEP_BITS.frozen
        assert simulation.log.gap.max(initial=0.0) < 1e-6
        assert not simulation._overlapping(simulation.q), "seen afresh, nothing is in anything else"
        assert out.gap[0, 0] < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_a_few_absurd_puppeteers(seed: int) -> None:
    run(seed, 25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(500))
def test_five_hundred_absurd_puppeteers(seed: int) -> None:
    run(1000 + seed, 20)
