"""Strings over sheaves and onto drums in motion: closed forms, order in dt, energy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bunraku.dynamics import Simulation, simulate
from bunraku.figure import Figure
from bunraku.figure.build import body, drum, figure, pulley, rx, ry, string, tz

g = 9.81
LEFT, RIGHT, SHEAVE = 1.5, 1.0, 0.1
TOP = ("world", (0.0, 0.0, 1.0))


def atwood() -> Figure:
    """Two weights on a string over a sheave that does not turn: frictionless."""
    return figure(
        "atwood",
        tz("left", body(LEFT), at=(-SHEAVE, 0, 0)),
        tz("right", body(RIGHT), at=(SHEAVE, 0, -0.2)),
        strings=[string("rope", "left", "right", np.pi * SHEAVE + 2.2, through=[pulley(TOP, SHEAVE, "y", turn=1)])],
    )


def sheave_with_inertia(inertia: float) -> Figure:
    """The same, with a sheave that turns with the string: it is wound off one side of it and onto the other."""
    return figure(
        "sheave",
        tz("left", body(LEFT), at=(-SHEAVE, 0, 0)),
        tz("right", body(RIGHT), at=(SHEAVE, 0, -0.2)),
        ry("sheave", body(0.0, inertia=(inertia, inertia, inertia)), at=(0, 0, 1)),
        strings=[
            string("down", "left", drum(TOP, SHEAVE, "y", turn=1, towards=(0, 0, -1)), 1.0, variable="sheave", ratio=-1.0),
            string("up", "right", drum(TOP, SHEAVE, "y", turn=-1, towards=(0, 0, -1)), 1.2, variable="sheave"),
        ],
    )


def swinging() -> Figure:
    """Two pendulums on one string over a sheave: nothing here is linear."""
    return figure(
        "swinging",
        ry("left_swing", tz("left", body(LEFT, inertia=(1e-3, 1e-3, 1e-3)), start=-0.8), at=(-0.3, 0, 0.9)),
        ry("right_swing", tz("right", body(RIGHT, inertia=(1e-3, 1e-3, 1e-3)), start=-0.7), at=(0.25, 0, 0.95)),
        strings=[string("rope", "left", "right", through=[pulley(TOP, SHEAVE, "y", turn=1)])],
    )


@pytest.mark.parametrize("dt", [0.01, 0.001])
def test_atwood_falls_as_in_the_book(dt: float) -> None:
    """With vertical strings and constant forces the discrete motion is the exact one, at any dt."""
    motion = simulate(atwood(), duration=0.5, dt=dt)
    fall = 0.5 * g * (LEFT - RIGHT) / (LEFT + RIGHT) * motion.t**2
    np.testing.assert_allclose(motion.q[:, 0], -fall, atol=1e-9)
    np.testing.assert_allclose(motion.q[:, 1], fall, atol=1e-9)
    np.testing.assert_allclose(motion.tension[1:-1, 0], 2.0 * g * LEFT * RIGHT / (LEFT + RIGHT), rtol=1e-6)


@pytest.mark.parametrize("inertia", [1e-3, 2e-2])
def test_a_sheave_with_inertia_slows_it(inertia: float) -> None:
    motion = simulate(sheave_with_inertia(inertia), duration=0.5, dt=0.005)
    fall = 0.5 * g * (LEFT - RIGHT) / (LEFT + RIGHT + inertia / SHEAVE**2) * motion.t**2
    np.testing.assert_allclose(motion.q[:, 0], -fall, atol=1e-9)
    np.testing.assert_allclose(np.abs(motion.q[:, 2]) * SHEAVE, fall, atol=1e-9)
    assert (motion.tension[1:-1, 0] > motion.tension[1:-1, 1] + 0.1 * inertia).all()  # the sheave takes the difference


def test_a_tackle_halves_the_force() -> None:
    """From an anchor down round a moving sheave, up over a fixed one and down: two sheaves in a row."""
    through = [
        pulley(("block", (0, 0, 0)), 0.05, "y", turn=-1),
        pulley(("world", (0.15, 0, 1)), 0.1, "y", turn=1),
    ]
    length = 2 * 1.0 + np.pi * 0.05 + np.pi * 0.1 + 1.3
    tackle = figure(
        "tackle",
        tz("block", body(2.0), at=(0, 0, 0)),
        tz("weight", body(1.0), at=(0.25, 0, -0.3)),
        strings=[string("fall", ("world", (-0.05, 0, 1)), "weight", length, through=through)],
    )
    motion = simulate(tackle, duration=0.5)
    np.testing.assert_allclose(motion.q, 0.0, atol=1e-9)  # 2 kg on two falls, 1 kg on one
    np.testing.assert_allclose(motion.tension[1:-1, 0], g, rtol=1e-9)


def test_a_winch_hoists_by_its_radius() -> None:
    crane = figure(
        "crane",
        tz("load", body(1.0), at=(0.1, 0, 0)),
        rx("winch", kinematic=True, at=(0, 0, 1)),
        strings=[string("rope", "load", drum(("world", (0, 0, 1)), 0.1, "y", turn=-1, towards=(0, 0, -1)), 1.0, variable="winch")],
    )
    motion = simulate(crane, lambda t: [-0.5 * (1.0 - np.cos(np.pi * t))], duration=1.0)
    np.testing.assert_allclose(motion.q[:, 0], -0.1 * motion.q[:, 1], atol=1e-9)
    assert motion.q[-1, 0] > 0.07


def test_order_two_where_nothing_switches() -> None:
    ends = []
    for halvings in range(4):
        motion = simulate(swinging(), duration=0.4, dt=0.02 / 2**halvings, v=[1.0, 0.0, -1.5, 0.0, 0.0])
        assert (motion.tension[1:-1] > 0.5).all()
        ends.append(motion.q[-1])
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    ratios = [a / b for a, b in pairwise(errors)]
    assert all(3.7 < ratio < 4.3 for ratio in ratios), ratios


def bounded() -> Figure:
    """A pendulum whose string runs over a sheave to a weight on a spring: it swings for ever."""
    return figure(
        "bounded",
        ry("swing", tz("bob", body(1.0, inertia=(1e-3, 1e-3, 1e-3)), start=-0.8), at=(-0.3, 0, 0.9)),
        tz("weight", body(1.0), at=(0.25, 0, 0.2), stiffness=200.0),
        strings=[string("rope", "bob", "weight", through=[pulley(TOP, SHEAVE, "y", turn=1)])],
    )


@pytest.mark.slow
def test_energy_over_a_million_steps() -> None:
    """It neither grows nor decays: all that is seen is the ripple of a symplectic method of second order."""
    fig = bounded()
    simulation, n = Simulation(fig, v=[0.8, 0.0, 0.0, 0.0], dt=0.002), fig.n_dynamic
    means, ripple = [], 0.0
    for _ in range(10):
        steps = simulation.run(np.tile(simulation.q[n:], (100_000, 1)), np.zeros((100_000, 0)))
        assert (steps.states[:, 0] == 1).all()  # always taut
        total = steps.energy.sum(1)
        means.append(total.mean())
        ripple = max(ripple, float(np.ptp(total)))
    swing = steps.energy[:, 0].max()
    print(f"drift {np.ptp(means):.2e} J, ripple {ripple:.2e} J, of {swing:.3f} J kinetic")
    assert np.ptp(means) < 0.02 * ripple
    assert ripple < 1e-3 * swing
