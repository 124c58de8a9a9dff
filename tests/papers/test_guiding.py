"""*guiding*: what the paper reports, as acceptance tests."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from bunraku.kinematics import frames_along, pose
from bunraku.kinematics.balance import momentum_along
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.navigation_points import Points, Subgoals
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.scenario import PAPER_ROOM, operator
from bunraku.locomotion.guide.segment import Segment, SegmentPlanner
from bunraku.locomotion.guide.session import Session
from bunraku.teleop.mujoco_robot import MujocoRobot
from bunraku.teleop.robot_link import RobotLink
from bunraku.teleop.robot_loop import drive
from bunraku.teleop.robot_server import RobotServer

STEP = 0.03


def sidesteps(planner: SegmentPlanner) -> list[Segment]:
    """Fig. 8: the right foot 0.03 m to the right, and another 0.03 m."""
    guide = Guide(small_humanoid(), planner=planner)
    points, out = guide.start(), []
    for _ in range(2):
        goals = aside(guide, points)
        move = guide.plan(points, goals)
        assert move is not None
        out.append(move.segment)
        points = move.end
    return out


def aside(guide: Guide, points: Points) -> Subgoals:
    """The subgoals of a foot-guided step (eq. 3)."""
    reach = 0.6 * guide.humanoid.limits.forward
    return guide.rules.subgoals(points, Command("right_foot", move=(0.0, -STEP / reach, 0.0)))


def test_figure_8_without_correction_the_zmp_leaves_the_region() -> None:
    free = SegmentPlanner.of_paper(longest=0.5, margin=-1.0)
    first, second = sidesteps(free)
    assert (first.duration, second.duration) == (0.5, 0.5)
    assert np.allclose(second.goal[1] - first.goal[1], -STEP / 2)
    assert first.margin.min() > 0.0, "the first step is fine"
    assert second.margin.min() < 0.0, "the second is not"


def test_figure_8_least_squares_lengthens_the_second_step() -> None:
    first, second = sidesteps(SegmentPlanner.of_paper())
    assert first.duration == 0.5
    assert second.duration == 1.0, "as the paper prints"
    assert min(first.margin.min(), second.margin.min()) > 0.0


def test_figure_8_the_program_keeps_half_a_second() -> None:
    planner = SegmentPlanner()
    for segment in sidesteps(planner):
        assert segment.duration == 0.5
        assert segment.margin.min() >= planner.margin - 1e-4
        assert max(segment.miss) <= planner.near


def performed(planner: SegmentPlanner) -> Session:
    performer = Performer(Guide(small_humanoid(), PAPER_ROOM.scene, planner))
    return Session(performer, performer.guide.start(x=PAPER_ROOM.start))


def test_scenario_down_the_steps_across_the_room_to_the_door() -> None:
    """Fig. 9–11, kinematically."""
    session = performed(SegmentPlanner())
    modes = []
    for command in operator(session):
        modes.append(command.guided)
        done = session.obey(command)
        assert done.margin > 0.0
    assert session.points.feet[:, 2].max() == 0.0
    assert np.linalg.norm(session.points.hands[0] - PAPER_ROOM.handle) < 0.01
    assert [mode for mode, _ in groupby(m.replace("right_foot", "left_foot") for m in modes)] == ["left_foot", "trunk", "left_hand"]


@pytest.mark.slow
def test_scenario_in_physics() -> None:
    """Fig. 12: the same behind a socket in MuJoCo, with position servos; what the operator sees is what the robot measures."""
    pytest.importorskip("mujoco")
    own = small_humanoid()
    session = performed(SegmentPlanner())
    robot = MujocoRobot(own, PAPER_ROOM.scene, session.before[-1])
    with RobotServer(robot) as server, RobotLink(server.address, server.token) as link:
        seen = lambda: pose(own.figure, link.q).point("left_hand") - session.points.hands[0]  # noqa: E731
        record = drive(session, link, operator(session, seen=seen), going=lambda: not robot.fallen)
    assert not robot.fallen
    planned, measured = np.array(record.planned), np.array(record.measured)
    error = momentum_along(own.figure, planned, 0 * planned)[1] - momentum_along(own.figure, measured, 0 * measured)[1]
    assert np.sqrt((error**2).sum(1).mean()) <= 0.010
    assert slip(session, measured) <= 0.015
    assert np.linalg.norm(pose(own.figure, link.q).point("left_hand") - PAPER_ROOM.handle) <= 0.010


def slip(session: Session, measured: np.ndarray) -> float:
    """The farthest that a foot slides while it bears a fifth of the weight or more [m]."""
    own, first, worst = session.performer.guide.humanoid, 0, 0.0
    X = frames_along(own.figure, measured)
    for done in session.performances:
        n = done.move.n
        shares = done.shares[1:]
        for foot, frame in enumerate(own.feet):
            place = X[first : first + n, own.figure.frame_index[frame], :2, 3]
            for stands, ticks in groupby(range(n), key=lambda k, foot=foot: shares[k, foot] > 0.2):
                own_ticks = list(ticks)
                if stands:
                    worst = max(worst, float(np.linalg.norm(place[own_ticks] - place[own_ticks[0]], axis=1).max()))
        first += n
    return worst
