"""Springs, dampers and pushes: periods, decay and work that a textbook knows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, energy
from bunraku.figure import Figure
from bunraku.figure.build import body, effort, figure, free, push, rx, rz, spindle, spring, tx, tz

Array = NDArray[np.float64]


def oscillator(stiffness: float = 40.0, damping: float = 0.0, start: float = -1.1) -> Figure:
    """A mass below a nail on a spring of 1 m."""
    return figure(
        "oscillator", tz("z", body(0.5), start=start), springs=[spring("s", "z", "world", stiffness, 1.0, damping)],
        gravity=(0, 0, 0),
    )  # fmt: skip


def test_period_of_a_mass_on_a_spring() -> None:
    w, dt = math.sqrt(40.0 / 0.5), 1e-3
    q = Simulation(oscillator(), dt=dt).run(np.zeros((3000, 0))).q[:, 0]
    exact = -1.0 - 0.1 * np.cos(w * dt * np.arange(1, 3001))
    np.testing.assert_allclose(q, exact, atol=2e-5)


def test_a_damper_lets_it_die_away() -> None:
    w, c, dt = math.sqrt(40.0 / 0.5), 0.8, 1e-3
    d = c / (2 * 0.5)
    wd, t = math.sqrt(w**2 - d**2), 1e-3 * np.arange(1, 3001)
    q = Simulation(oscillator(damping=c), dt=dt).run(np.zeros((3000, 0))).q[:, 0]
    exact = -1.0 - 0.1 * np.exp(-d * t) * (np.cos(wd * t) + d / wd * np.sin(wd * t))
    np.testing.assert_allclose(q, exact, atol=3e-5)


def test_energy_of_springs_is_counted() -> None:
    fig = oscillator()
    np.testing.assert_allclose(energy(fig, [-1.3], [0.7]), [0.25 * 0.49, 20.0 * 0.09], rtol=1e-12)
    E = Simulation(fig, dt=0.01).run(np.zeros((2000, 0))).energy.sum(1)
    assert np.ptp(E) < 2e-3 * E.mean()


def test_a_spring_of_a_joint_is_one_too() -> None:
    fig = figure("hinge", rx("hinge", body(1.0, inertia=(0.2,) * 3), stiffness=3.0, rest=0.5), gravity=(0, 0, 0))
    t = 1e-3 * np.arange(1, 2001)
    q = Simulation(fig, dt=1e-3).run(np.zeros((2000, 0))).q[:, 0]
    np.testing.assert_allclose(q, 0.5 - 0.5 * np.cos(math.sqrt(15.0) * t), atol=1e-5)


def test_a_carriage_pulls_by_a_spring() -> None:
    """Far slower than it swings, the mass follows the puppeteer's hand."""
    fig = figure(
        "led", tx("x", body(0.3), damping=2.0), spindle("hand", at=(0.5, 0, 0), moves="x"),
        springs=[spring("s", "x", "hand_spindle", 50.0, 0.5)], gravity=(0, 0, 0),
    )  # fmt: skip
    K = np.linspace(0.5, 1.5, 2000)[:, None]
    steps = Simulation(fig, dt=0.01).run(K)
    lag = 2.0 * (1.0 / 20.0) / 50.0  # damping times speed over stiffness
    np.testing.assert_allclose(steps.q[-1, 0], 1.0 - lag, atol=1e-4)


def test_a_push_fixed_in_the_world() -> None:
    wind = push("wind", "puck", (3.0, 0.0, 1.0))
    fig = figure("puck", free("puck", body(2.0, inertia=(0.1,) * 3)), forces=[wind], gravity=(0, 0, 0))
    steps = Simulation(fig, dt=0.01).run(np.zeros((100, 0)), np.full((100, 1), 0.5))
    np.testing.assert_allclose(steps.q[-1, :3], 0.5 * np.array([1.5, 0.0, 0.5]) / 2.0, rtol=1e-9, atol=1e-12)
    assert np.abs(steps.q[:, 3:]).max() < 1e-12


def test_a_push_that_turns_with_its_body() -> None:
    """A jet on an arm turns it as a torque does; one that is fixed in the world does not."""
    inputs = push("jet", ("arm", (0.5, 0, 0)), (0, 1, 0), turns=True), effort("arm", gain=0.5)
    jet, torque = (
        figure("arm", rz("arm", body(1.0, inertia=(0.2, 0.2, 0.3))), forces=[force], gravity=(0, 0, 0)) for force in inputs
    )
    u = np.full((300, 1), 0.7)
    a, b = (Simulation(fig, dt=0.01).run(np.zeros((300, 0)), u).q for fig in (jet, torque))
    assert b[-1, 0] > 4.0
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_the_work_of_a_push_is_what_energy_gains() -> None:
    fig = figure(
        "pushed", rx("a", body(0.5, (0, 0, -0.3), (0.01,) * 3), rx("b", body(0.3, (0, 0, -0.2), (0.01,) * 3), at=(0, 0, -0.5))),
        forces=[push("hand", ("b", (0, 0, -0.4)), (0.0, 1.0, 0.3))],
    )  # fmt: skip
    from bunraku.kinematics import pose

    dt, u = 1e-3, 2.0
    simulation = Simulation(fig, dt=dt)
    steps = simulation.run(np.zeros((800, 0)), np.full((800, 1), u))
    tip = np.array([pose(fig, q).point("b", (0, 0, -0.4)) for q in steps.q])
    work = u * (tip - tip[0]) @ [0.0, 1.0, 0.3]
    gained = steps.energy.sum(1) - steps.energy[0].sum()
    between = 0.5 * (work[1:] + work[:-1])
    np.testing.assert_allclose(gained[2:], between[1:], atol=2e-3)
    assert work.max() > 0.3


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_weightless_springs_keep_momentum(share: float) -> None:
    """Two masses on a damped spring: their centre goes on as it went."""
    fig = figure(
        "pair", tx("x", tz("one", body(0.4))), tx("y", tz("two", body(0.7), start=0.3), start=0.2),
        springs=[spring("s", "one", "two", 30.0, 0.2, 1.0)], gravity=(0, 0, 0),
    )  # fmt: skip
    simulation = Simulation(fig, v=[0.1, 0.2, -0.3, 0.4], dt=0.01, share=share)
    steps = simulation.run(np.zeros((200, 0)))
    total = steps.momentum[:, :2] + steps.momentum[:, 2:]
    np.testing.assert_allclose(total, np.broadcast_to([0.04 - 0.21, 0.08 + 0.28], total.shape), atol=1e-12)
