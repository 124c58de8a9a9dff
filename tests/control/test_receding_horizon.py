"""Receding horizon: a figure that is pushed finds back to its reference; without feedback it does not."""

from __future__ import annotations

import numpy as np

from bunraku.control import Acceleration, Configuration, Momentum, PointAt, Speed, gestures
from bunraku.control.control_system import System
from bunraku.control.cost import sheet_of
from bunraku.control.imitate import imitate
from bunraku.control.receding_horizon import Horizon, drive, follow
from bunraku.dynamics import settle
from bunraku.figure import library
from bunraku.kinematics.loci import point_along

Array = np.ndarray


def test_marionette_follows_while_it_is_pushed() -> None:
    figure = library.marionette22()
    reference = imitate(gestures.wave(5.0), figure).slice(0.0, 1.5)
    n, Q = figure.n_dynamic, reference.q
    weight = dict.fromkeys(figure.dynamic, 10.0) | dict.fromkeys(figure.names[:6], 100.0) | dict.fromkeys(figure.kinematic, 1.0)
    cost = [Configuration(weight, reference), Momentum(0.01), Speed(0.1), Acceleration(0.01)]

    def push(k: int, x: Array) -> Array:
        x[figure.n_q] += 4.0 * (k == 50)  # 4 N·s to the side
        return x

    found = follow(figure, cost, duration=1.5, horizon=0.5, q=Q[0], inputs=figure.kinematic, guess=reference, disturb=push)
    system = System.of(figure, dt=0.01, inputs=figure.kinematic)
    hands = np.concatenate([Q[1:, n:], np.zeros((len(Q) - 1, len(figure.forces)))], 1)
    alone = drive(system, system.state(Q[0]), len(hands), lambda x, k: hands[k], push)
    error = [float(np.sqrt(((run.x[60:, :n] - Q[60:, :n]) ** 2).mean())) for run in (found.run, alone)]
    print(f"rms {error[0]:.3f} rad ahead, {error[1]:.3f} without; {1e3 * np.median(found.seconds[:, 1]):.1f} ms a sample")
    assert error[0] < 0.6 * error[1]
    assert len(found.seconds) == 150
    assert found.motion.tension is not None


def test_a_live_reference_is_written_into_the_sheet() -> None:
    """A hand that is dragged: nobody knows the future, so each sample holds the place where the hand is wanted now."""
    figure = library.arm3d()
    system, q = System.of(figure, dt=0.01), settle(figure)
    start, steps, N = system.state(q), 40, 200
    cost = [PointAt("tip", (0, 0, 0), 50.0), Momentum(0.05), Configuration(0.1, q), Speed(0.02), Acceleration(1e-3)]
    sheet = sheet_of(cost, system, 0.01 * np.arange(N + steps + 2), start)
    controller = Horizon(system, sheet, start, steps=steps, plan=np.repeat(q[None, 4:], steps, 0))
    home = point_along_one(figure, q)

    def wanted(k: int) -> Array:
        return home + np.array([0.06, -0.03, 0.08]) * min(k / 80, 1.0)

    def inputs(x: Array, k: int) -> Array:
        sheet.target[k:] = wanted(k)
        return controller.input(x, k)

    run = drive(system, start, N, inputs, None)
    off = np.linalg.norm(point_along_one(figure, run.x[-1, : system.n_q]) - wanted(N))
    assert off < 0.02 < 0.1 < np.linalg.norm(wanted(N) - home)


def point_along_one(figure, q: Array) -> Array:
    from bunraku.motion import Motion

    return point_along(Motion.of(figure, [0.0], q[None]), "tip")[0]
