"""servo: motors follow what a puppeteer would do."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.dynamics import Simulation, simulate
from bunraku.dynamics.servo import servo
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.figure.actuated import actuated
from bunraku.figure.build import effort, figure, push, sphere, spindle, string, tx, tz


def lifter(bandwidth: float = 20.0):  # type: ignore[no-untyped-def]
    """A weight on a winch, with a wind that is no motor."""
    fig = figure(
        "lifter", tz("load", sphere(0.05, mass=0.5), start=-0.6), spindle("hand", moves=""),
        strings=[string("cord", "load", "hand_spindle")], forces=[push("wind", "load", (0, 0, 1.0))],
    )  # fmt: skip
    return actuated(fig, winch=0.2, bandwidth=bandwidth)


def test_inputs_are_those_of_the_middle_of_a_step() -> None:
    fig = lifter()
    motor = next(v for v in fig.variables if v.name == "cord_length")
    u = servo(fig, lambda t: [0.6 + 0.1 * t], dt=0.01)(0.5)
    names = [force.name for force in fig.forces]
    assert u[names.index("wind")] == 0.0
    assert u[names.index("cord_length_motor")] == pytest.approx(motor.stiffness * 0.1 * 0.495 + motor.damping * 0.1)


def test_a_load_pulls_a_servo_off_by_its_weight_over_its_stiffness() -> None:
    fig = lifter()
    motor = next(v for v in fig.variables if v.name == "cord_length")
    motion = simulate(fig, forces=servo(fig, lambda t: [0.6]), duration=2.0)
    np.testing.assert_allclose(motion.column("cord_length")[-1], 0.6 + 0.5 * 9.81 / motor.stiffness, rtol=1e-8)
    np.testing.assert_allclose(motion.tension[-1], 0.5 * 9.81, rtol=1e-8)


def test_told_nothing_motors_hold_where_they_start() -> None:
    """Whatever the library has: strings sag by what servos give, and nothing is torn to zero."""
    for name in ("arm2d", "arm3d", "marionette25"):
        hands = library.named(name)
        fig = actuated(hands)
        motion = simulate(fig, duration=1.0)
        for variable in hands.kinematic:
            assert np.ptp(motion.column(variable)) < 2e-3
        assert motion.tension.max() < 3.0 * 9.81 * fig.mass


def test_it_follows_a_ramp_without_lag() -> None:
    """Velocity is fed forward: only the load is left."""
    fig = lifter()
    motor = next(v for v in fig.variables if v.name == "cord_length")
    motion = simulate(fig, forces=servo(fig, lambda t: [0.6 + 0.2 * t]), duration=2.0)
    np.testing.assert_allclose(motion.column("cord_length")[-1], 1.0 + 0.5 * 9.81 / motor.stiffness, rtol=1e-6)


def test_a_figure_without_motors_is_refused() -> None:
    with pytest.raises(BunrakuError, match="no motors\n  advice: actuated"):
        servo(library.arm2d(), lambda t: [0.0, 1.0])
    pushed = figure("cart", tx("x", sphere(0.1, mass=1.0)), forces=[effort("x")])
    with pytest.raises(BunrakuError, match="no motors"):
        servo(pushed, lambda t: [0.0])


def test_told_too_little_it_says_so() -> None:
    fig = actuated(library.arm2d())
    with pytest.raises(BunrakuError, match="2 motors: hand_x, hand_length"):
        servo(fig, lambda t: [0.3])(0.1)


def test_torn_at_it_never_breaks() -> None:
    """Sent a metre away within a step: what a motor does is finite, and so is the figure."""
    fig = actuated(library.marionette25(), bandwidth=40.0)
    rest = library.marionette25().start[25:]
    inputs = servo(fig, lambda t: rest + (1.0 if t > 0.3 else 0.0) * np.arange(21) / 20)
    U = np.array([inputs(0.01 * (k + 1)) for k in range(200)])
    steps = Simulation(fig).run(np.zeros((200, 0)), U)
    assert np.isfinite(steps.q).all()
    assert steps.impulse[:, : len(fig.strings)].min() >= 0.0
