"""The entries of the stage in which bodies touch, as a visitor plays with them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.kinematics import pose
from bunraku.stage import Pull, Release, Sticks, Winch
from bunraku.teleop.opening import touching
from bunraku.teleop.simulated_figure import Simulated
from tests.dynamics.touch.judge import Judge


def opened(entry: str) -> Simulated:
    live = getattr(touching, entry)()
    assert isinstance(live, Simulated)
    return live


def touched(live: Simulated) -> TouchSimulation:
    simulation = live._puppets[0].simulation
    assert isinstance(simulation, TouchSimulation)
    return simulation


def played(live: Simulated, steps: int, *, every: int = 4) -> NDArray[np.float64]:
    """Plays so many steps; nothing gets into anything else, as other code sees it in some of them. Returns the configuration."""
    judge = Judge(touched(live))
    for k in range(steps):
        sample = live.step()
        assert touched(live).log.gap.max(initial=0.0) < 1e-6
        if k % every == 0 or k == steps - 1:
            depth, who = judge.deepest(sample.q[0])
            assert depth < 1e-6, f"{who} are in each other by {depth:g} m"
    return sample.q[0]


def meeting(live: Simulated) -> set[frozenset[str]]:
    """Pairs that touched in the last step."""
    simulation = touched(live)
    return {frozenset(simulation.bodies.names[k] for k in pair) for pair in simulation.log.bodies}


@pytest.mark.slow
def test_a_puppet_sits_down_where_the_bar_goes_back_and_down() -> None:
    live = opened("_chair")
    for sticks, steps in (((0, -1, 0, 0), 36), ((0, 0, 0, 0), 120), ((0, 0, 0, -0.5), 36), ((0, 0, 0, 0), 200)):
        live.apply(Sticks(sticks))
        q = played(live, steps)
    figure = live.figures[0]
    on_chair = {next(iter(pair - {"chair.chair"})) for pair in meeting(live) if "chair.chair" in pair} - {"floor"}
    assert on_chair >= {"lhip.thigh", "rhip.thigh"}
    seat, up = pose(figure, q).point("torso"), pose(figure, q).X("torso")[:3, 2]
    assert -0.25 < seat[1] < -0.1  # above the seat, which is 17 cm wide and at y = −16 cm
    assert up[2] > 0.95  # upright
    still = [k for k, name in enumerate(figure.names) if name.startswith(("torso", "chair"))]
    assert np.abs(played(live, 50) - q)[still].max() < 1e-4  # and still; arms and shanks may swing


@pytest.mark.slow
def test_a_puppet_dragged_onto_the_chair_stays_on_it_where_its_strings_are_loose() -> None:
    live = opened("_chair")
    for to, sticks, steps in (((0, -0.2, 0.3), 0.0, 100), ((0, -0.2, 0.22), -0.5, 56), ((0, -0.2, 0.22), 0.0, 80)):
        live.apply(Pull(0, "body", "torso", to, (0.0, 0.0, 0.05)))
        live.apply(Sticks((0, 0, 0, sticks)))
        played(live, steps)
    live.apply(Release(0, "body", "torso"))
    q = played(live, 150)
    assert -0.25 < pose(live.figures[0], q).point("torso")[1] < -0.1
    assert any("chair.chair" in pair and "floor" not in pair for pair in meeting(live))


def test_a_dragged_foot_kicks_the_ball() -> None:
    live = opened("_ball")
    ball = live.figures[0].index("ball.football_ty")
    live.apply(Pull(0, "body", "rknee_rx", (0.045, 0.35, 0.05), (0.0, 0.0, -0.145)))
    played(live, 30)
    live.apply(Release(0, "body", "rknee_rx"))
    far = played(live, 350, every=12)[ball]
    assert far > 1.0
    assert abs(played(live, 20)[ball] - far) < 1e-6  # it has stopped rolling


def test_hands_go_along_and_part_where_they_are_torn_apart() -> None:
    live = opened("_hands")
    figure = live.figures[0]
    before = pose(figure, played(live, 20))
    assert before.point("left.rhand")[2] < 0.40
    live.apply(Winch(0, "left.right_arm", -0.1))
    q = played(live, 100, every=8)
    for hand in ("left.rhand", "right.lhand"):
        assert pose(figure, q).point(hand)[2] - before.point(hand)[2] > 0.05, hand
    assert np.linalg.norm(pose(figure, q).point("left.rhand") - pose(figure, q).point("right.lhand")) < 0.06
    live.apply(Pull(0, "body", "left.relbow_rx", (-0.4, 0.3, 0.4), (0.0, 0.0, -0.095)))
    q = played(live, 150, every=8)
    assert pose(figure, q).point("right.lhand")[2] - before.point("right.lhand")[2] < 0.03
