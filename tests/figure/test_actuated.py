"""Motors on strings: one word in a file, and a curve that goes to the kinematic figure."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.dynamics import simulate
from bunraku.dynamics.servo import servo
from bunraku.errors import BunrakuError, FigureError
from bunraku.figure import library
from bunraku.figure.actuated import actuated
from bunraku.io.yaml.figure_file import figure_yaml, parse_figure


def test_every_kinematic_variable_gets_a_motor() -> None:
    figure = library.named("marionette25")
    driven = actuated(figure)
    assert set(driven.dynamic) == set(figure.names)
    assert not driven.kinematic
    assert len(driven.forces) == len(figure.forces) + len(figure.kinematic)


def test_one_word_in_a_file() -> None:
    text = figure_yaml(library.named("arm2d"))
    assert parse_figure(text + "actuators: dynamic\n") == actuated(parse_figure(text))
    assert parse_figure(text + "actuators: kinematic\n") == parse_figure(text)
    with pytest.raises(BunrakuError, match="dynamic"):
        parse_figure(text + "actuators: dinamic\n")


def test_bad_motors_are_refused() -> None:
    with pytest.raises(FigureError, match="bandwidth"):
        actuated(library.named("arm2d"), bandwidth=0.0)
    with pytest.raises(BunrakuError, match="no motors"):
        servo(library.named("arm2d"), lambda t: [0.0, 1.0])


def test_a_stiffer_servo_comes_nearer_to_the_kinematic_figure() -> None:
    """*marionettes*, section VI, as a measured curve: four times nearer for twice the bandwidth."""
    figure, dt = library.named("arm2d"), 0.002
    rest = figure.start[figure.n_dynamic :]

    def asked(t: float) -> np.ndarray:
        s = np.clip(t / 0.5, 0.0, 1.0)
        return rest + s * s * (3 - 2 * s) * np.array([0.05 * np.sin(4 * t), -0.1 * (1 - np.cos(3 * t))])

    by_hand = simulate(figure, asked, duration=1.5, dt=dt).q[:, : figure.n_dynamic]
    errors = []
    for bandwidth in (10.0, 20.0, 40.0, 80.0):
        driven = actuated(figure, bandwidth=bandwidth)
        motion = simulate(driven, duration=1.5, dt=dt, forces=servo(driven, asked, dt=dt))
        errors.append(np.abs(motion.q[:, driven.indices(figure.dynamic)] - by_hand).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 2e-4
    assert (orders > 1.8).all(), errors
