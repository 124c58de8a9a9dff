"""Strings that stretch: against closed forms, integration by scipy, MuJoCo, and strings that do not stretch."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from bunraku.dynamics.continuous_model import acceleration, acceleration_derivative
from bunraku.dynamics.settle import settle
from bunraku.dynamics.simulate import simulate
from bunraku.dynamics.simulation import Simulation
from bunraku.errors import FigureError
from bunraku.figure import Figure
from bunraku.figure.build import body, figure, spindle, string, tx, tz, wire
from bunraku.io.mjcf import mjcf_file
from bunraku.io.yaml.figure_file import figure_yaml, parse_figure
from tests.differences import difference_quotient, relative_error

GRAVITY = 9.81


def bungee(stiffness: float = 100.0, damping: float = 0.0) -> Figure:
    """A mass of 1 kg that slides up and down on a string of 1 m, just unstretched at the start."""
    return figure(
        "bungee",
        tz("z", body(1.0), start=-1.0),
        spindle("hand", moves="z"),
        strings=[string("rubber", "z", "hand_spindle", 1.0, stiffness=stiffness, damping=damping)],
    )


def swing(stiffness: float = 60.0, damping: float = 0.4) -> Figure:
    """A mass of 0.5 kg in a plane, on a rubber that runs through an eyelet and is paid out by the hand, and on a springy rod."""
    return figure(
        "swing",
        tx("x", tz("z", body(0.5), start=-0.8), start=0.3),
        strings=[
            string(
                "rubber", "z", ("world", (0.4, 0.0, 0.0)), "out", through=[("world", (0.0, 0.0, 0.0))], start=1.0,
                stiffness=stiffness, damping=damping,
            ),
            wire("rod", "z", ("world", (-0.5, 0.0, -0.9)), 0.8, stiffness=2.0 * stiffness),
        ],
    )  # fmt: skip


def true_swing(t: NDArray[np.float64], out: NDArray[np.float64], figure_: Figure) -> NDArray[np.float64]:
    """(x, z) of `swing` by the closed-form forces and an integrator of order 8, while its string is paid out as given."""
    k, c = figure_.strings[0].stiffness, figure_.strings[0].damping

    def slopes(time: float, y: NDArray[np.float64]) -> list[float]:
        at, rate = y[:2], y[2:]
        length, speed = np.interp(time, t, out), (out[1] - out[0]) / (t[1] - t[0])
        d, e = at, at - np.array([-0.5, -0.9])
        gap, shrink = np.linalg.norm(d) + 0.4 - length, d @ rate / np.linalg.norm(d) - speed
        pull = max(0.0, (k * gap + c * shrink) / length)
        push = 2.0 * k * (np.linalg.norm(e) - 0.8) / 0.8
        force = -pull * d / np.linalg.norm(d) - push * e / np.linalg.norm(e) - np.array([0.0, 0.5 * GRAVITY])
        return [*rate, *(force / 0.5)]

    found = solve_ivp(slopes, (0.0, t[-1]), [0.3, -0.8, 0.0, 0.0], "DOP853", t, rtol=1e-11, atol=1e-12)
    return np.asarray(found.y[:2].T)


def test_oscillates_as_the_closed_form_with_second_order() -> None:
    errors = []
    for dt in (0.02, 0.01, 0.005):
        motion = simulate(bungee(), duration=2.0, dt=dt)
        true = -1.0 - GRAVITY / 100.0 * (1.0 - np.cos(10.0 * motion.t))
        assert motion.tension is not None
        errors.append((np.abs(motion.q[:, 0] - true).max(), np.abs(motion.tension[:, 0] - 100.0 * (-1.0 - true)).max()))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.9).all(), (errors, orders)


def test_keeps_its_energy() -> None:
    """At 60 steps a period, over a hundred periods: the numerical damping is of fifth order in dt."""
    motion = simulate(bungee(), duration=60.0, dt=0.01)
    assert motion.energy is not None
    lost = motion.energy.sum(1) - motion.energy[0].sum()
    assert np.abs(lost).max() < 2e-3 * GRAVITY**2 / 100.0


def test_swings_as_an_integrator_of_high_order() -> None:
    errors = []
    for dt in (0.008, 0.004, 0.002):
        t = dt * np.arange(round(1.2 / dt) + 1)
        out = 1.0 + 0.1 * t
        steps = Simulation(swing(), dt=dt).run(out[1:, None])
        assert not steps.bits.any()
        errors.append(np.abs(steps.q[:, :2] - true_swing(t, out, swing())[1:]).max())
    assert (np.log2(np.array(errors[:-1]) / errors[1:]) > 1.8).all(), errors


@pytest.mark.parametrize("stiffness", [1e5, 1e8, 1e12])
def test_is_rigid_in_the_limit(stiffness: float) -> None:
    """Whatever the stiffness, no step is refused or divided, nothing rings, and the motion is that of the rigid string."""
    hand = 0.05 * np.sin(0.1 * np.arange(150))[:, None]
    soft, rigid = (Simulation(bungee(k), [-0.9, 0.0], dt=0.01).run(hand) for k in (stiffness, math.inf))
    assert not soft.bits.any()
    give = 200.0 / stiffness  # of the largest tension after the catch, generously
    assert np.abs(soft.q - rigid.q)[60:].max() < give + 1e-9
    assert np.abs(soft.impulse - rigid.impulse)[60:].max() < 0.05 * 0.01 * GRAVITY


def test_rests_where_forces_balance() -> None:
    assert settle(bungee())[0] == pytest.approx(-1.0 - GRAVITY / 100.0, abs=1e-10)
    here = swing()
    rest = settle(here)
    still = acceleration(here, rest, np.zeros(3))
    assert np.abs(still.a).max() < 1e-8
    assert still.tension[0] > 0.0


def test_acceleration_is_that_of_the_forces() -> None:
    here, rng = swing(), np.random.default_rng(5)
    for _ in range(5):
        q, v = np.array([0.3, -0.9, 0.9]) + 0.1 * rng.normal(size=3), rng.normal(size=3)
        found = acceleration(here, q, v, kinematic=[0.7])
        d, e = q[:2], q[:2] - np.array([-0.5, -0.9])
        pull = (60.0 * (np.linalg.norm(d) + 0.4 - q[2]) + 0.4 * (d @ v[:2] / np.linalg.norm(d) - v[2])) / q[2]
        push = 120.0 * (np.linalg.norm(e) - 0.8) / 0.8
        assert found.tension == pytest.approx([max(pull, 0.0), push], abs=1e-12)
        force = -max(pull, 0.0) * d / np.linalg.norm(d) - push * e / np.linalg.norm(e)
        assert found.a == pytest.approx(force / 0.5 - np.array([0.0, GRAVITY]), abs=1e-11)
        D = acceleration_derivative(here, q, v, kinematic=[0.7])

        def both(x: NDArray[np.float64]) -> NDArray[np.float64]:
            there = acceleration(here, x[:3], x[3:], kinematic=[0.7])
            return np.concatenate([there.a, there.tension])

        assert relative_error(D[:, :6], difference_quotient(both, np.concatenate([q, v]))) < 1e-8


def test_falls_in_mujoco_as_here() -> None:
    here = bungee(200.0, 3.0)
    model = mujoco.MjModel.from_xml_string(mjcf_file.dumps(here, kinematic="fixed"))
    model.opt.timestep = 1e-4
    data = mujoco.MjData(model)
    data.qpos[:] = -1.0
    for _ in range(10_000):
        mujoco.mj_step(model, data)
    motion = simulate(here, duration=1.0, dt=0.001)
    assert motion.q[-1, 0] == pytest.approx(float(data.qpos[0]), abs=2e-4)


def test_files_keep_it() -> None:
    here = swing()
    assert parse_figure(figure_yaml(here)) == here
    back = mjcf_file.parse(mjcf_file.dumps(bungee(200.0, 3.0), kinematic="fixed")).strings[0]
    assert (back.stiffness, back.damping, back.length) == pytest.approx((200.0, 3.0, 1.0))


@pytest.mark.parametrize(("stiffness", "damping"), [(0.0, 0.0), (-1.0, 0.0), (math.nan, 0.0), (1.0, -1.0), (math.inf, 1.0)])
def test_refuses_what_makes_no_sense(stiffness: float, damping: float) -> None:
    with pytest.raises(FigureError, match=r"stiffness|damping"):
        bungee(stiffness, damping)
