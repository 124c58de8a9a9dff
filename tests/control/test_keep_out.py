"""Figures that stay away from the obstacles of a scene."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision.world import World
from bunraku.control import Acceleration, Configuration, Forces, Limits, Momentum, PointAt, Speed, optimize
from bunraku.control.control_problem import MotionExpansion
from bunraku.control.keep_out import KeepOut
from bunraku.dynamics import settle
from bunraku.errors import BunrakuError
from bunraku.figure import Box, library
from bunraku.kinematics.forward import Pose
from bunraku.kinematics.loci import point_along
from bunraku.scene import Obstacle, Scene
from tests.control.problems import marionette, moving

FINGERS = (0.0, 0.1, 0.0)


def box(at: np.ndarray, size: tuple[float, float, float] = (0.08, 0.08, 0.05)) -> Scene:
    return Scene("box", (Obstacle("box", Box(size), tuple(at.tolist())),), floor=None)


def test_gradient_and_hessian_are_those_of_the_penalty() -> None:
    problem = marionette()
    run = moving(problem)
    s = problem.system
    hand = Pose(s.figure, run.x[2, : s.n_q]).point("rhand", FINGERS)
    keepout = KeepOut.of(s, box(hand + np.array([0.06, 0.02, 0.0])), 0.08, problem.steps, 7.0)
    assert keepout.violation(run.x) > 0.0
    keepout = keepout.tightened(run.x, stiffer=False)  # with multipliers
    work = MotionExpansion(Limits(scene=box(hand)).on(problem))
    for array in work.slopes[:10]:
        array[...] = 0.0
    keepout.add(run.x, work.slopes)
    rng = np.random.default_rng(0)
    change = np.zeros_like(run.x)
    change[:, : s.n] = 1e-5 * rng.normal(size=(len(run.x), s.n))
    up, down = keepout.value(run.x + change), keepout.value(run.x - change)
    slope = float(np.vdot(work.slopes.gx, change))
    assert slope == pytest.approx(0.5 * (up - down), rel=1e-4)
    assert slope != 0.0
    assert not work.slopes.gx[0].any()  # nothing can be done about the start
    q = change[:, : s.n_q]
    gauss_newton = float(np.einsum("ki,kij,kj->", q, work.slopes.Hq, q))
    assert gauss_newton > 0.0


def test_hand_goes_around_a_box() -> None:
    figure = library.marionette22()
    q = settle(figure)
    start = Pose(figure, q).point("rhand", FINGERS)
    goal = start + np.array([0.0, 0.0, 0.28])
    scene = box(0.5 * (start + goal) + np.array([0.05, 0.0, 0.0]))

    def rising(t: float) -> np.ndarray:
        s = np.clip((t - 0.2) / 1.6, 0.0, 1.0)
        return start + (goal - start) * s**3 * (10 - 15 * s + 6 * s * s)

    cost = [
        Configuration(1.0), PointAt("rhand", rising, 100.0, offset=FINGERS), Momentum(0.01), Speed(0.02), Acceleration(0.002),
    ]  # fmt: skip
    asked = {"duration": 2.4, "dt": 0.08, "q": q, "inputs": figure.kinematic, "tolerance": 1e-6, "iterations": 150}
    free = optimize(figure, cost, **asked)
    held = optimize(figure, cost, **asked, limits=Limits(scene=scene, margin=0.01))
    world = World(figure, scene, allowed=((figure.name, figure.name),))
    least = [float(world.clearances_along(found.motion.q, within=0.3).value.min()) for found in (free, held)]
    assert least[0] < -0.02  # straight through it
    assert least[1] > 0.01 - 1.1e-4
    assert held.outcome.kind == "converged"
    way = [point_along(found.motion, "rhand", FINGERS) for found in (free, held)]
    assert (way[0] - way[1])[:, 0].max() > 0.03  # it gives way to the side
    assert np.linalg.norm(way[1][-1] - goal) < 0.06  # and gets there
    assert held.motion.tension.min() > 0.0


def test_nonsense_is_refused() -> None:
    figure = library.cart_pendulum()
    with pytest.raises(BunrakuError, match="metres"):
        optimize(figure, [Momentum(1.0), Forces(1.0)], duration=1.0, limits=Limits(scene=box(np.zeros(3)), margin=float("nan")))
    with pytest.raises(BunrakuError, match="can touch"):
        optimize(figure, [Momentum(1.0), Forces(1.0)], duration=1.0, limits=Limits(scene=Scene("nothing", floor=None)))
