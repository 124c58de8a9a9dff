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
    made, walls = balls(25)
    simulation = TouchSimulation(made, scene=walls, touch=Touch(matter=Matter(friction=0.4, rolling=0.002)), dt=0.005)
    out = simulation.run(np.zeros((500, 0)))
    assert not np.any(out.bits & FAILED)
    assert Judge(simulation).deepest(out.q[-1])[0] < 1e-6
    np.testing.assert_allclose(out.q[-1], out.q[-100], atol=1e-9)
