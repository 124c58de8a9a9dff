"""What the plan does not know: pushes and plates on the floor. `disturbances.py` has the whole list, and prints the falls."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bunraku.kinematics import pose
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.humanoid_file import guide_of
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.stabiliser import Stabiliser
from bunraku.scene import Scene
from tests.teleop.disturbances import Disturbance, DisturbedRobot, falls, known, stood

pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def performer() -> Performer:
    return Performer(guide_of(small_humanoid(), Scene("floor")))


@pytest.mark.parametrize("direction", [0.0, 0.75 * math.pi])
def test_pushed_by_a_quarter_of_its_weight_it_stands(performer: Performer, direction: float) -> None:
    assert stood(performer, Disturbance(push=0.25), 3, direction=direction, walks=False)


def test_a_push_of_twice_its_weight_is_a_fall(performer: Performer) -> None:
    assert not stood(performer, Disturbance(push=2.0), 3, direction=0.0, walks=False)


def test_it_walks_over_plates_that_it_does_not_know(performer: Performer) -> None:
    assert stood(performer, Disturbance(bump=0.01), 3, direction=0.0, walks=True)


def test_it_walks_on_a_slope(performer: Performer) -> None:
    assert stood(performer, Disturbance(slope=5.0), 3, direction=0.0, walks=True)


def test_feedback_keeps_the_zmp_inside(performer: Performer) -> None:
    """However far away the capture point is: the shifted ZMP stays in the support polygon, and small shifts are not reduced."""
    session = Session(performer)
    session.command = Command("trunk", (1.0, 0.0, 0.0))
    session.tick()
    done, _ = session.now
    stabiliser = Stabiliser(performer, np.ones(20), np.ones(20))
    for k in range(0, done.move.n, 7):
        for angle in np.linspace(0.0, 6.0, 9):
            way = np.array([math.cos(angle), math.sin(angle)])
            at = done.zmp[k] + stabiliser._inside(done, k, 0.5 * way)
            assert done.stands_at(k, at) or done.move.segment.margin_of(np.tile(at, (k + 1, 1)))[k] > -1e-9
    assert np.allclose(stabiliser._inside(done, 0, np.array([0.001, 0.0])), [0.001, 0.0])


@pytest.mark.parametrize(("seed", "direction"), [(601_006, 1.5 * math.pi), (601_021, 1.25 * math.pi)])
def test_pushed_in_a_step_it_waits_before_the_next(performer: Performer, seed: int, direction: float) -> None:
    """It fell when the next step began from where the plan, not the robot, was."""
    assert stood(performer, Disturbance(push=0.25), seed, direction=direction, walks=True)


def test_legs_shift_the_zmp_from_one_foot_to_the_other(performer: Performer) -> None:
    """A shift of a tenth of the distance of the feet moves up to a tenth of the weight, at once."""
    session = Session(performer)
    done = session.obey(Command())
    robot = DisturbedRobot(performer.guide.humanoid, done.q[-1], Disturbance(), np.random.default_rng(0))
    stabiliser, places, halves = Stabiliser(performer, *robot.servos), done.move.feet[-1, :, :2], np.array([0.5, 0.5])
    out = done.q[-1][performer.body.motors]
    for _ in range(100):
        robot.step(out)
    before, way = robot.soles[:, 0], places[1] - places[0]
    rest, shares = stabiliser._weigh(out, pose(performer.guide.humanoid.figure, robot.q), places, halves, 0.1 * way)
    assert np.allclose(rest, 0.0)
    assert np.allclose(shares, [0.4, 0.6])
    robot.step(out)
    left, right = (robot.soles[:, 0] - before) / before.sum()
    assert 0.03 < right < 0.12
    assert abs(left + right) < 0.01
    rest, shares = stabiliser._weigh(out, pose(performer.guide.humanoid.figure, robot.q), places, halves, 0.8 * way)
    assert np.allclose(rest, 0.3 * way)
    assert np.allclose(shares, [0.0, 1.0])


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_at_most_two_falls_of_a_hundred_pushes_while_standing(performer: Performer) -> None:
    assert sum(falls(performer, Disturbance(push=0.25), trials=100, seed=21)[:1]) <= 2


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("name", "given"), [("talos", Disturbance(bump=0.01)), ("talos", Disturbance(slope=5.0)), ("g1", Disturbance(noise=3.0))]
)
def test_robots_of_others_walk_where_they_do_not_know_the_ground(name: str, given: Disturbance, tmp_path: Path) -> None:
    """Of eight walks each, all or nearly all fell before feet felt the ground and noise was filtered (G1 with noise, Talos)."""
    walker = Performer(guide_of(known(name, tmp_path), Scene("floor")))
    assert sum(not stood(walker, given, 31_000 + k, direction=0.0, walks=True) for k in range(8)) <= 2
