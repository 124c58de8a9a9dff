"""Strings over sheaves and onto drums in motion: closed forms, order in dt, energy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, simulate
from bunraku.figure import Figure
from bunraku.figure.build import FrameNode, body, drum, figure, pulley, rx, ry, string, tz

Array = NDArray[np.float64]
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


# -- a drum of three layers ----------------------------------------------------------------------------------------------

DRUM, LAYER, FULL = 0.05, 0.01, 4.0 * np.pi  # radius and thickness [m], angle of a full layer [rad]


def hoist(reel: FrameNode, start: float = 0.0) -> Figure:
    """A load below a drum that winds in layers of two turns; at the angle `start` it hangs where its rope is taut."""
    rope = drum(TOP, DRUM, "y", turn=-1, towards=(0, 0, -1), turns=2.0, thickness=LAYER)
    return figure(
        "hoist", tz("load", body(2.0), at=(DRUM, 0, -2), start=lifted(start)), reel,
        strings=[string("rope", "load", rope, 3.0, variable="reel")],
    )  # fmt: skip


def lifted(wound: float) -> float:
    """How far the load is up where the drum has `wound` an angle: the mean radius of every layer, away from where one ends."""
    layers = int(wound // FULL)
    return sum(FULL * (DRUM + k * LAYER) for k in range(layers)) + (wound - layers * FULL) * (DRUM + layers * LAYER)


def test_a_drum_of_three_layers_hoists_by_the_radius_of_each() -> None:
    fig = hoist(ry("reel", kinematic=True, at=(0, 0, 1)))
    motion = simulate(fig, lambda t: [-1.4 * FULL * (1.0 - np.cos(np.pi * t / 4))], duration=4.0, dt=0.005)
    wound = -motion.q[:, 1]
    assert wound[-1] > 2.7 * FULL
    away = np.abs((wound + 0.5 * FULL) % FULL - 0.5 * FULL) > 0.5 * np.pi  # a layer grows within a quarter of a turn of its end
    away |= wound < 0.5 * FULL
    assert away.mean() > 0.6
    np.testing.assert_allclose(motion.q[away, 0], [lifted(x) for x in wound[away]], atol=1e-9)
    assert (motion.tension[1:-1] > 0.0).all()
    # Between two layers the radius goes smoothly from one to the other: within their difference of the sharp step, everywhere.
    np.testing.assert_allclose(motion.q[:, 0], [lifted(x) for x in wound], atol=LAYER * 0.5 * np.pi)


def test_a_load_falls_from_three_layers() -> None:
    """The drum has inertia. On a layer of radius ρ the load falls with m ρ²/(I + m ρ²) of g; energy tells its speed on the next."""
    inertia, mass, start = 4e-3, 2.0, 2.5 * FULL
    fig = hoist(ry("reel", body(0.0, inertia=(inertia,) * 3), at=(0, 0, 1), start=-start), start)

    def fall(dt: float) -> tuple[Array, Array, Array]:
        motion = simulate(fig, duration=1.2, dt=dt)
        return motion.t, -motion.q[:, 1], motion.q[:, 0]

    t, wound, height = fall(0.004)
    third = wound > 2.0 * FULL + 0.5 * np.pi
    rho = DRUM + 2 * LAYER
    turned = 0.5 * mass * g * rho / (inertia + mass * rho**2) * t**2
    assert third.sum() > 30
    np.testing.assert_allclose(wound[third], start - turned[third], atol=1e-9)  # constant forces: exact at any dt
    assert wound[-1] < 0.7 * FULL
    errors = []
    for dt in (0.004, 0.002):
        t, wound, height = fall(dt)
        off = 0.0
        for layer in (0, 1, 2):
            on = np.flatnonzero((wound > layer * FULL + 0.6 * np.pi) & (wound < (layer + 1) * FULL - 0.6 * np.pi))[1:-1]
            rate, rho = (wound[on + 1] - wound[on - 1]) / (2 * dt), DRUM + layer * LAYER
            kinetic = 0.5 * (inertia + mass * rho**2) * rate**2
            dropped = mass * g * (lifted(start) - height[on])
            # in the middle of a layer both are exact but for half a step of the discrete energy, which is of second order
            off = max(off, float(np.abs(kinetic / dropped - 1.0)[dropped > 1.0].max()))
        errors.append(off)
    assert errors[0] < 2e-3
    assert 3.0 < errors[0] / errors[1] < 5.5, errors


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
