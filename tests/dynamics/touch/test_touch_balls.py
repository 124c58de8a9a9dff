"""Many balls in a box: rings of them are held more often than they can move, but no step is divided, and all come to rest."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bench_touch import balls
from bunraku.collision.manifold.touch_rules import Matter, Touch
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from tests.dynamics.touch.judge import Judge

FAILED = STEP_BITS.held | STEP_BITS.divided | STEP_BITS.frozen


@pytest.mark.parametrize(("n", "steps"), [(12, 200), (50, 160), pytest.param(200, 200, marks=pytest.mark.slow)])
def test_balls_fall_into_a_box(n: int, steps: int) -> None:
    made, walls = balls(n)
    simulation = TouchSimulation(made, scene=walls, touch=Touch(matter=Matter(friction=0.4)), dt=0.005)
    out = simulation.run(np.zeros((steps, 0)))
    assert not np.any(out.bits & FAILED)
    judge = Judge(simulation)
    for q in out.q[:: steps // 10]:
        assert judge.deepest(q)[0] < 1e-6


def test_balls_with_rolling_resistance_come_to_rest() -> None:
    """They stay where they are; about the normal of its contact a ball may spin on, which rolling resistance does not hinder."""
    made, walls = balls(25)
    simulation = TouchSimulation(made, scene=walls, touch=Touch(matter=Matter(friction=0.4, rolling=0.002)), dt=0.005)
    out = simulation.run(np.zeros((1100, 0)))
    assert not np.any(out.bits & FAILED)
    assert Judge(simulation).deepest(out.q[-1])[0] < 1e-6
    places = out.q.reshape(len(out.q), 25, 6)[:, :, :3]
    np.testing.assert_allclose(places[-1], places[-100], rtol=0.0, atol=1e-8)


@pytest.mark.parametrize(("n", "rolling"), [(50, 0.0), (50, 0.002)])
def test_many_contacts_obey_coulomb(n: int, rolling: float) -> None:
    """What pushes is closed, what is open does not push, friction is within its cone, and the balls get the momentum that gravity
    and the contacts give them."""
    made, walls = balls(n)
    simulation = TouchSimulation(made, scene=walls, touch=Touch(matter=Matter(friction=0.4, rolling=rolling)), dt=0.005)
    out = simulation.run(np.zeros((130, 0)))
    log = simulation.log
    assert np.bincount(log.step).max() > 80, "contacts that act in a step"
    assert np.all(log.normal > 0.0)
    assert np.all(log.across <= 0.4 * log.normal * (1.0 + 1e-12))
    late = log.step > 100
    assert np.abs(log.gap[late]).max() < 1e-7
    up = np.array([[made.index(f"b{k}.b_t{axis}") for axis in "xyz"] for k in range(n)])
    for step in range(101, 130):
        gained = (out.momentum[step] - out.momentum[step - 1])[up]
        here = log.step == step
        across, pushed = np.zeros(n), np.zeros(n)
        for (a, b), normal, slip, direction in zip(
            log.bodies[here], log.normal[here], log.across[here], log.direction[here], strict=True
        ):
            for ball, sign in ((a, 1.0), (b, -1.0)):
                if ball < n:
                    gained[ball] -= sign * normal * direction
                    across[ball] += slip
                    pushed[ball] += normal
        gained[:, 2] += 0.1 * 9.81 * 0.005
        turned = 0.1 * pushed + 1e-12  # the log has directions at the end of a step, impulses act along those at its start
        assert np.all(np.linalg.norm(gained, axis=1) <= across + turned)
