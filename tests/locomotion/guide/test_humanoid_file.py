"""Humanoid files: real robots by a few lines, and one clear error for a file that is wrong."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from bunraku.errors import FileError
from bunraku.kinematics.balance import momentum_along
from bunraku.locomotion.guide.command import Command
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.humanoid_file import humanoid_named, load_humanoid, parse_humanoid, planner_of
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.wander import commands
from bunraku.teleop.physics import MujocoRobot
from bunraku.teleop.robot import Link, Served, drive
from tests.locomotion.guide.robots import ROBOTS, written
from tests.locomotion.guide.sound import Kept, assert_sound

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


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Humanoid:
    return load_humanoid(written(request.param, tmp_path_factory.mktemp(request.param)))


def test_a_real_robot_walks_turns_and_reaches(robot: Humanoid) -> None:
    session = Session(Performer(Guide(robot, planner=planner_of(robot))))
    for command in WALK + TURN + REACH:
        done = session.obey(command)
        assert done.realised, done.notice
    assert_sound(session)
    assert session.points.com.p[0] > 0.3 * robot.height
    assert session.points.yaw > 0.2


def wandered(robot: Humanoid, count: int) -> Kept:
    session = Session(Performer(Guide(robot, planner=planner_of(robot))))
    for command in islice(commands(1), count):
        session.obey(command)
    return assert_sound(session)


def test_random_input_to_a_real_robot(robot: Humanoid) -> None:
    wandered(robot, 15)


@pytest.mark.slow
def test_minutes_of_random_input_to_a_real_robot(robot: Humanoid) -> None:
    weak = robot.figure.name == "icub"  # some of what is asked for, its motors cannot
    assert wandered(robot, 250).realised >= (0.7 if weak else 0.9)


def test_a_real_robot_in_physics(robot: Humanoid) -> None:
    pytest.importorskip("mujoco")
    session = Session(Performer(Guide(robot, planner=planner_of(robot))))
    body = MujocoRobot(robot, session.performer.guide.scene, session.before[-1])
    with Served(body) as served, Link(served.address) as link:
        record = drive(session, link, WALK + TURN + REACH, watch=lambda: not body.fallen)
    assert not body.fallen
    assert session.points.com.p[0] > 0.3 * robot.height
    assert session.points.yaw > 0.2
    planned, measured = (momentum_along(robot.figure, Q, 0.0 * Q)[1] for Q in map(np.array, (record.planned, record.measured)))
    assert np.sqrt(((planned - measured) ** 2).sum(1).mean()) < 0.01


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
        (OWN.replace("[left_sole, right_sole]", "[left_sole]"), "1 feet where 2 belong"),
        (OWN.replace("left_sole,", "left_soul,"), "did you mean left_sole"),
        (OWN.replace("[left_sole, right_sole]", "[left_hand, right_hand]"), "does not stand flat"),
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
