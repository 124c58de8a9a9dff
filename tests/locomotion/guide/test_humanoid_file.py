"""Humanoid files: real robots by a few lines, and one clear error for a file that is wrong."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from bunraku.errors import FileError
from bunraku.kinematics import pose
from bunraku.kinematics.balance import momentum_along
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.humanoid_file import humanoid_named, load_humanoid, parse_humanoid, planner_of
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.wander import commands
from bunraku.spatial import so3
from bunraku.teleop.mujoco_robot import MujocoRobot
from bunraku.teleop.robot_link import RobotLink
from bunraku.teleop.robot_loop import drive
from bunraku.teleop.robot_server import RobotServer
from tests.locomotion.guide.robots import ROBOTS, written
from tests.locomotion.guide.sound import Kept, assert_sound
from tests.slow_cases import cases

OWN = """\
humanoid: ours
figure: humanoid
feet: [left_sole, right_sole]
sole: {size: [0.099, 0.072]}
hands: [left_hand, right_hand]
trunk: trunk
"""
WALK = [Command("trunk", (1.0, 0.0, 0.0))] * 3
TURN = [Command("trunk", turn=(0.0, 0.0, 1.0))] * 2
REACH = [Command("left_hand", (0.5, 0.0, 0.4)), Command("trunk")]


# Physics and random input of one are fast tests; of the others there are walks, turns and hands that are turned.
ONE = pytest.mark.parametrize("robot", cases(ROBOTS, slow=set(ROBOTS) - {"g1"}), indirect=True, scope="module")


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Humanoid:
    return load_humanoid(written(request.param, tmp_path_factory.mktemp(request.param)))


def test_a_real_robot_walks_turns_and_reaches(robot: Humanoid) -> None:
    session = Session(Performer(Guide(robot, planner=planner_of(robot))))
    for command in WALK + TURN + REACH:
        done = session.obey(command)
        assert not done.refused, done.notice
    assert_sound(session)
    assert session.points.com.p[0] > 0.3 * robot.height
    assert session.points.yaw > 0.2


def wandered(robot: Humanoid, count: int) -> Kept:
    session = Session(Performer(Guide(robot, planner=planner_of(robot))))
    for command in islice(commands(1), count):
        session.obey(command)
    return assert_sound(session)


@ONE
def test_random_input_to_a_real_robot(robot: Humanoid) -> None:
    wandered(robot, 15)


@pytest.mark.slow
def test_minutes_of_random_input_to_a_real_robot(robot: Humanoid) -> None:
    weak = robot.figure.name == "icub"  # some of what is asked for, its motors cannot
    assert wandered(robot, 250).realised >= (0.7 if weak else 0.9)


@ONE
def test_a_real_robot_in_physics(robot: Humanoid) -> None:
    pytest.importorskip("mujoco")
    session = Session(Performer(Guide(robot, planner=planner_of(robot))))
    body = MujocoRobot(robot, session.performer.guide.scene, session.before[-1])
    with RobotServer(body) as server, RobotLink(server.address, server.token) as link:
        record = drive(session, link, WALK + TURN + REACH, going=lambda: not body.fallen)
    assert not body.fallen
    assert session.points.com.p[0] > 0.3 * robot.height
    assert session.points.yaw > 0.2
    planned, measured = (momentum_along(robot.figure, Q, 0.0 * Q)[1] for Q in map(np.array, (record.planned, record.measured)))
    assert np.sqrt(((planned - measured) ** 2).sum(1).mean()) < 0.01


UP = (0.0, 0.0, 0.6)
TURNS = [Command("left_hand", (0.3, 0.1, 0.5)), Command("left_hand", turn=UP), Command("left_hand", turn=(-0.5, 0.0, 0.0))]


def hand_turned(robot: Humanoid, q: np.ndarray) -> np.ndarray:
    return pose(robot.figure, q).X(robot.hands[0])[:3, :3]


def apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(so3.log(a @ b.T)))


def test_a_hand_is_turned_and_keeps_it(robot: Humanoid) -> None:
    """About the axes that the body faces; then it is moved, and at last walked away with, which lets it go home."""
    session = Session(Performer(Guide(robot, planner=planner_of(robot))))
    session.obey(TURNS[0])
    for command in TURNS[1:]:
        before, at = hand_turned(robot, session.before[-1]), pose(robot.figure, session.before[-1]).point(robot.hands[0])
        done = session.obey(command)
        assert not done.refused, done.notice
        wanted = so3.exp(0.5 * np.array(command.turn)) @ before
        here = pose(robot.figure, done.q[-1]).point(robot.hands[0])
        assert apart(hand_turned(robot, done.q[-1]), wanted) < 0.02 or "wrist" in done.notice
        assert np.linalg.norm(here - at) < 0.01, "it turns on the spot"
    assert apart(hand_turned(robot, done.q[-1]), before) > 0.1
    kept = hand_turned(robot, done.q[-1])
    for command in (Command("left_hand", (0.2, 0.1, 0.0)), Command("right_hand", (0.3, 0.0, 0.3))):
        done = session.obey(command)
        assert not done.refused, done.notice
        assert apart(hand_turned(robot, done.q[-1]), kept) < 0.05, "nobody turned it"
        assert session.points.held == (True, False)
    session.run([Command("trunk", (0.5, 0.0, 0.0))] * 3)
    assert session.points.held == (False, False)
    home = so3.about(2, session.points.trunk[2]) @ robot.hand_axes[0]
    assert apart(hand_turned(robot, session.before[-1]), home) < 0.1
    assert_sound(session)
    assert np.abs(np.diff(session.motion().q, n=2, axis=0)).max() < 0.03, "no joint jerks"


def test_a_real_hand_is_turned_in_physics(robot: Humanoid) -> None:
    pytest.importorskip("mujoco")
    session = Session(Performer(Guide(robot, planner=planner_of(robot))))
    start = hand_turned(robot, session.before[-1])
    body = MujocoRobot(robot, session.performer.guide.scene, session.before[-1])
    with RobotServer(body) as server, RobotLink(server.address, server.token) as link:
        record = drive(session, link, [*TURNS, Command("left_hand")], going=lambda: not body.fallen)
    assert not body.fallen
    planned, measured = (hand_turned(robot, np.array(Q)[-1]) for Q in (record.planned, record.measured))
    assert apart(planned, start) > 0.2
    assert apart(planned, measured) < 0.03


def test_our_own_by_a_file_is_our_own() -> None:
    told, own = parse_humanoid(OWN), humanoid_named("humanoid")
    assert np.allclose(told.sole, own.sole)
    assert told.height == pytest.approx(own.height)
    assert told.shoulders == own.shoulders
    assert told.limits.forward == pytest.approx(own.limits.forward, rel=0.2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (OWN.replace("feet: [left_sole, right_sole]\n", ""), "has no 'feet'"),
        (OWN.replace("[left_sole, right_sole]", "[left_sole]"), "expected 2 feet, got 1"),
        (OWN.replace("left_sole,", "left_soul,"), "did you mean left_sole"),
        (OWN.replace("[left_sole, right_sole]", "[left_hand, right_hand]"), "hangs on 4 joints"),
        (OWN.replace("sole: {size: [0.099, 0.072]}", "sole: {size: [0.099, 0]}"), "no size"),
        (OWN.replace("figure: humanoid", "figure: nobody.urdf"), "no file"),
        (OWN.replace("figure: humanoid", "figure: arm2d"), "no frame"),
        (OWN + "home: {left_knee: 9}\n", "outside its limits"),
        (OWN + "limits: {forward: -1}\n", "must be positive"),
        (OWN + "tail: long\n", "unknown word"),
        (OWN.replace("trunk: trunk", "trunk: left_hand"), "does not hang"),
    ],
)
def test_a_wrong_file_says_where_and_what(wrong: str, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        parse_humanoid(wrong, "h.yaml")
    assert "h.yaml:" in str(caught.value)
