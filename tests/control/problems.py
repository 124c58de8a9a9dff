"""Problems that the tests of control share: small, but with everything in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.control.control_problem import ControlProblem
from bunraku.control.control_system import ControlCurve, Rollout, System
from bunraku.control.cost import Acceleration, Centre, Configuration, CostToGo, Forces, Momentum, PointAt, Speed, Tension
from bunraku.control.optimize import problem_of
from bunraku.dynamics import settle
from bunraku.figure import Effort, Point, Push, library


def cart(steps: int = 30, *, dt: float = 0.02) -> ControlProblem:
    system = System.of(library.cart_pendulum(), dt=dt)
    cost = [Configuration({"x": 1.0, "theta": 5.0}, {"theta": 1.0}, at_end=1.0), Momentum(0.02), Forces(0.01)]
    return problem_of(system, cost, duration=steps * dt, q=(0.1, 0.4), v=(0.2, -0.5))


def arm(steps: int = 12, *, dt: float = 0.01) -> ControlProblem:
    """An arm in space on a string: every kind of term."""
    figure = library.arm3d()
    system = System.of(figure, dt=dt)
    rng = np.random.default_rng(3)
    root = rng.normal(size=(system.n_x, system.n_x)) / system.n_x
    q = settle(figure)
    cost = [
        Configuration(0.3, q + 0.1), Momentum(0.5), Speed(0.02), Acceleration(1e-4), Tension(0.01, {"hand": 3.0}),
        PointAt("tip", lambda t: (0.1, 0.3, -0.1 + t), 4.0, offset=(0.0, 0.02, 0.0), at_end=0.3), Centre((0.0, 0.2, -0.2), 2.0),
        CostToGo(root @ root.T, system.state(q)),
    ]  # fmt: skip
    return problem_of(system, cost, duration=steps * dt, q=q)


def blown(steps: int = 12, *, dt: float = 0.01) -> ControlProblem:
    """The arm with a wind from the side at its tip, a jet that turns with it, and a motor at its shoulder."""
    bare = library.arm3d()
    forces = (
        Push("wind", Point("tip", (0.0, 0.02, 0.01)), (0.3, 1.0, -0.2)),
        Effort("shoulder", bare.dynamic[0], gain=0.5),
        Push("jet", Point("tip", (0.0, 0.0, -0.05)), (0.1, -0.5, 0.8), turns=True),
    )
    figure = replace(bare, forces=forces)
    system = System.of(figure, dt=dt, inputs=("jet", "hand_length", "wind", "shoulder"))
    q = settle(bare)
    cost = [Configuration(0.3, q + 0.1), Momentum(0.5), Speed(0.02), Forces(0.01), Tension(0.01, {"hand": 3.0})]
    return problem_of(system, cost, duration=steps * dt, q=q)


def marionette(steps: int = 4) -> ControlProblem:
    figure = library.marionette22()
    system = System.of(figure, dt=0.01)
    q = settle(figure)
    cost = [Configuration(1.0, q + 0.05), Momentum(0.01), Speed(0.1), Forces(0.01), Tension(1e-4)]
    return problem_of(system, cost, duration=0.01 * steps, q=q)


def moving(problem: ControlProblem, *, size: float = 0.3) -> Rollout:
    """A motion that goes somewhere."""
    s, N = problem.system, problem.steps
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 1.0, N)[:, None]
    kinematic = problem.start[s.n : s.n_q] - 0.02 * size * t * np.arange(1, s.n_kin + 1) / max(s.n_kin, 1)
    forces = size * rng.normal(size=(N, len(s.figure.forces)))
    run = problem.project(ControlCurve(np.repeat(problem.start[None], N + 1, 0), np.concatenate([kinematic, forces], 1)))
    assert isinstance(run, Rollout)
    return run


def change_of(problem: ControlProblem, seed: int = 1) -> ControlCurve:
    """A change of a curve, in the chosen inputs and all states; it grows smoothly, so that taut strings stay taut."""
    s, N = problem.system, problem.steps
    rng = np.random.default_rng(seed)
    size = 0.7 * (N * s.dt) ** 2 if s.n_kin else 3.0  # strings fall no faster than what hangs on them
    t = np.linspace(0.0, 1.0, N + 1)[:, None]
    return ControlCurve(size * t * t * rng.normal(size=s.n_x), size * t[1:] ** 2 * rng.normal(size=s.n_u))


def gains_of(problem: ControlProblem, seed: int = 2) -> np.ndarray:
    """Gains of any kind; on rates, which are large, small ones."""
    s = problem.system
    gains = 1.0 / s.n_x * np.random.default_rng(seed).normal(size=(problem.steps, s.n_u, s.n_x))
    gains[..., s.n_q + s.n :] *= s.dt
    return gains


def shifted(problem: ControlProblem, run: ControlCurve, change: ControlCurve, by: float) -> ControlCurve:
    u = run.u.copy()
    u[:, problem.system.chosen] += by * change.u
    return ControlCurve(run.x + by * change.x, u)
