from __future__ import annotations

import numpy as np
import pytest

from bunraku.ensemble.agents import hold, rover
from bunraku.ensemble.rolling import rolled
from bunraku.ensemble.team import Agent
from bunraku.figure import Box
from bunraku.figure.build import box, cylinder, figure, ry, rz, tx, ty

RADIUS, TRACK = 0.1, 0.5


def cart():
    wheels = [
        ry(f"{side}_wheel", cylinder(RADIUS, start=(0, -0.02, 0), to=(0, 0.02, 0)), at=(0.0, s * TRACK / 2, RADIUS))
        for side, s in (("left", 1), ("right", -1))
    ]  # fmt: skip
    own = figure("cart", tx("x", ty("y", rz("turn", box((0.6, 0.4, 0.2), at=(0, 0, 0.2)), *wheels))))
    return Agent("cart", own, (), ("x", "y", "turn"), Box((0.6, 0.4, 0.2)), (0.0, 0.0, 0.2))


def wheels_of(base):
    agent = cart()
    Q = rolled(agent, np.array(base, float))
    return Q[:, agent.figure.indices(("left_wheel", "right_wheel"))]


def test_wheels_turn_as_far_as_they_roll():
    x = np.linspace(0.0, 2.0, 50)
    assert wheels_of(np.stack([x, 0 * x, 0 * x], 1))[-1] == pytest.approx([20.0, 20.0])


def test_wheels_turn_against_each_other_on_the_spot():
    turn = np.linspace(0.0, 1.0, 50)
    assert wheels_of(np.stack([0 * turn, 0 * turn, turn], 1))[-1] == pytest.approx([-2.5, 2.5])


def test_the_outer_wheel_goes_farther_round_a_bend():
    s = np.linspace(0.0, 1.5, 400)
    left, right = wheels_of(np.stack([np.sin(s), 1.0 - np.cos(s), s], 1))[-1]
    assert (left, right) == pytest.approx((15.0 * 0.75, 15.0 * 1.25), rel=1e-4)


def test_wheels_with_rollers_go_anywhere():
    """Wheel speeds of a mecanum drive, from the textbook: forward ∓ left ∓ (half length + half width) turning."""
    agent = rover("robot", hold("tool", (0.0, 0.0, 0.0)))
    names = [f"mecanum_wheel_{end}_{side}" for end in ("front", "rear") for side in ("left", "right")]
    for step, signs in (((1.0, 0.0, 0.0), (1, 1, 1, 1)), ((0.0, 1.0, 0.0), (-1, 1, 1, -1)), ((0.0, 0.0, 1.0), (-1, 1, -1, 1))):
        base = np.linspace(0.0, 1e-3, 5)[:, None] * np.array(step)
        turned = rolled(agent, base)[-1, agent.figure.indices(names)]
        lever = 0.24 + 0.275 if step[2] else 1.0
        assert turned == pytest.approx(1e-3 * lever / 0.1 * np.array(signs), rel=1e-3)
