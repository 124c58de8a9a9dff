"""Forces that push at a point, as inputs: their derivatives, and that an optimum with them is the one that efforts find."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from bunraku.control import Configuration, Forces, Limits, Momentum, Speed, gestures, optimize
from bunraku.control.control_problem import MotionExpansion, push_along
from bunraku.control.imitate import imitate
from bunraku.control.receding_horizon import follow
from bunraku.dynamics.step_derivatives import force_matrix
from bunraku.figure import Effort, Figure, Point, Push, library
from tests.control.problems import blown, moving

LENGTH = 0.7


def pendulum(*forces: Effort | Push) -> Figure:
    bare = library.pendulum(length=LENGTH, start=0.0)
    return replace(bare, forces=forces)


JET = Push("jet", Point("tip"), (1.0, 0.0, 0.0), turns=True)  # across the rod, whichever way that points
FAN = Push("fan", Point("tip"), (1.0, 0.0, 0.0))
MOTOR = Effort("motor", "angle", gain=LENGTH)


def test_what_a_push_does_and_how_that_turns() -> None:
    """E against the jacobian's own matrix; covector·∂E/∂q against difference quotients of it."""
    problem = blown(4)
    run, work, s = moving(problem), MotionExpansion(problem), problem.system
    work.bend_along(run)
    Q = run.x[:, : s.n_q]

    def along(Q: np.ndarray) -> np.ndarray:
        rows = pairwise(Q)
        return np.array([s.dt * force_matrix(s.figure, 0.5 * (a + b))[:, s.thrusts] for a, b in rows])

    np.testing.assert_allclose(work.steps.E, along(Q), atol=1e-15)
    # weights on p₊ alone, with a step that forgets: the covectors are then (1 − share) of them
    weights = np.zeros_like(work.weights)
    weights[:, s.n + s.n_links :] = np.random.default_rng(5).normal(size=(len(weights), s.n))
    push_along(s, Q.copy(), weights, work.steps._replace(D=np.zeros_like(work.steps.D)))
    h = 1e-6
    for j in range(s.n_q):
        by = h * np.eye(s.n_q)[j]
        quotient = (along(Q + by) - along(Q - by)) / (2 * h)
        expected = 0.5 * np.einsum("ki,kif->kf", weights[:, s.n + s.n_links :], quotient)
        np.testing.assert_allclose(work.steps.turn[:, :, j], expected, atol=1e-10)


def test_a_jet_across_a_pendulum_is_a_motor() -> None:
    """Force times lever is torque: the same problem, written with E that changes and with E that does not."""
    cost = [Configuration(5.0, {"angle": np.pi}, at_end=1.0), Momentum(0.05), Forces(0.02)]
    jet, motor = (optimize(pendulum(force), cost, duration=2.0, dt=0.02) for force in (JET, MOTOR))
    assert jet.outcome.kind == motor.outcome.kind == "converged"
    assert jet.cost == pytest.approx(motor.cost, rel=1e-10)
    assert len(jet.history) == len(motor.history)
    np.testing.assert_allclose(jet.forces, motor.forces, atol=1e-6)
    np.testing.assert_allclose(jet.gains, motor.gains, atol=1e-6 * np.abs(motor.gains).max())


def test_a_fan_swings_a_pendulum_up() -> None:
    """Where the rod is level the fan has no lever at all, so the pendulum is pumped; Newton's tail is quadratic still."""
    cost = [Configuration(1.0, {"angle": np.pi}, at_end=10.0), Momentum(0.1, at_end=1.0), Forces(0.1)]
    found = optimize(pendulum(FAN), cost, duration=4.0, dt=0.02, forces={"fan": lambda t: 3.0 * np.cos(3.7 * t)}, iterations=200)
    assert found.outcome.kind == "converged"
    assert abs(found.motion.q[-1, 0]) == pytest.approx(np.pi, abs=1e-3)
    tail = np.array([i.decrease for i in found.history[-3:]])
    assert (tail[1:] < 10.0 * tail[:-1] ** 2).all()


def test_a_fan_that_only_blows_does_it_too() -> None:
    cost = [Configuration(10.0, {"angle": np.pi}, at_end=1.0), Momentum(0.1, at_end=1.0), Forces(0.05)]
    free = optimize(pendulum(FAN), cost, duration=3.0, dt=0.02, forces={"fan": lambda t: 4.0 * np.cos(3.7 * t)})
    limits = Limits(forces={"fan": (0.0, 12.0)})
    blows = optimize(pendulum(FAN), cost, duration=3.0, dt=0.02, guess=free, limits=limits, iterations=400)
    assert free.outcome.kind == blows.outcome.kind == "converged"
    assert blows.forces.min() > -1e-6
    assert blows.forces.max() < 12.0 + 1e-6
    assert abs(blows.motion.q[-1, 0] - np.pi) < 0.1
    assert blows.cost > free.cost


def test_a_marionette_without_the_string_of_its_arm_is_blown_along_its_reference() -> None:
    """imitate, and the horizon: the hand is pushed where its string cannot pull, since nobody may touch it."""
    bare = library.marionette22()
    reference = imitate(gestures.wave(4.0), bare).slice(0.0, 2.0)
    wind = [Push(f"wind_{axis}", Point("rhand"), tuple(row)) for axis, row in zip("xyz", np.eye(3), strict=True)]
    figure = replace(bare, forces=(*bare.forces, *wind))
    held = [name for name in figure.kinematic if not name.startswith("right_arm")]
    weight = dict.fromkeys(figure.dynamic, 10.0) | dict.fromkeys(figure.names[:6], 100.0)
    cost = [Configuration(weight, reference), Momentum(0.01), Speed(0.5), Forces(0.01)]
    slack = reference.q.copy()
    slack[:, figure.index("right_arm_length")] += 0.8 * np.clip(reference.t, 0.0, 1.0)  # let out, and never taut again

    def hands(t: float) -> np.ndarray:
        return np.array([np.interp(t, reference.t, column) for column in slack[:, figure.n_dynamic :].T])

    found = {
        name: follow(figure, cost, duration=2.0, horizon=0.3, q=reference.q[0], guess=hands, inputs=inputs)
        for name, inputs in (("blown", (*held, *(push.name for push in wind))), ("left", held))
    }
    arm = [figure.index(name) for name in ("rshoulder_ry", "rshoulder_rx", "relbow_rx")]
    rms = {name: float(np.sqrt(((run.run.x[100:, arm] - reference.q[100:, arm]) ** 2).mean())) for name, run in found.items()}
    assert found["blown"].run.impulse[120:, [s.name for s in figure.strings].index("right_arm")].max() == 0.0
    assert rms["blown"] < 0.3 * rms["left"], rms
