"""A robot that loses its client in the middle of a walk ends its move and stands: in simulated time, and in its own process."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.humanoid_file import guide_of
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.scene import Scene
from bunraku.teleop.guided_figure import GuidedOverLink
from bunraku.teleop.mujoco_robot import MujocoRobot
from bunraku.teleop.robot_link import RobotLink
from bunraku.teleop.robot_loop import RobotLoop
from bunraku.teleop.robot_server import RobotServer
from tests.patience import PATIENCE, until

pytest.importorskip("mujoco")
FLOOR, WAYS = Scene("floor"), ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.5, 0.0))


@pytest.fixture(scope="module")
def performer():
    return Performer(guide_of(small_humanoid(), FLOOR))


def cut_off(performer, way, ticks):
    """The robot, two seconds after it was cut off at a tick of a walk."""
    humanoid = performer.guide.humanoid
    robot, session = MujocoRobot(humanoid, FLOOR, humanoid.home), Session(performer, keep=False)
    session.command = Command("trunk", move=way)
    with RobotServer(robot, timeout=PATIENCE) as server:
        with RobotLink(server.address, server.token, timeout=PATIENCE) as link:
            loop = RobotLoop(session, link)
            for _ in range(ticks):
                loop.tick()
            left = not session.idle
        until(lambda: not server.served and server.resting)
    for _ in range(400):
        robot.step(robot.data.ctrl.copy())
    return robot, left


@pytest.mark.parametrize(("way", "ticks"), [(WAYS[0], 200), (WAYS[1], 190)])
def test_a_step_is_ended(performer, way, ticks):
    """In the middle of a step: a robot that only held its last targets falls there."""
    robot, left = cut_off(performer, way, ticks)
    assert left
    assert not robot.fallen
    assert np.abs(robot.v).max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_walks_are_cut_off_anywhere(performer, seed):
    rng = np.random.default_rng(seed)
    for way in WAYS:
        robot, _ = cut_off(performer, way, int(rng.integers(150, 900)))
        assert not robot.fallen


def test_another_robot_is_refused(performer):
    class Other:
        motors, dt, servos, q, soles = ("arm",), 0.005, (np.ones(1), np.ones(1)), np.zeros(1), None

    other: Any = Other()
    with RobotServer(other, timeout=PATIENCE) as server, pytest.raises(BunrakuError, match="motors are not those"):
        GuidedOverLink(performer.guide, server.address, server.token)


def played(live, seconds, late=lambda: 0.0):
    """Plays some seconds in real time, with delays before some ticks; returns what was said."""
    due, said = time.monotonic(), []
    for _ in range(round(seconds / live.dt)):
        for command in live.heard():
            live.apply(command)
        said += live.step().notices
        due = max(due + live.dt, time.monotonic() - 0.1)
        time.sleep(max(due - time.monotonic(), 0.0) + late())
    return said


@pytest.mark.slow
def test_a_robot_in_another_process_survives_every_kind_of_client(performer, tmp_path):
    """It walks; its client is delayed, leaves, sends garbage, falls silent, and finally the robot goes."""
    floor = tmp_path / "floor.yaml"
    floor.write_text("scene: floor\nfloor: 0\n")
    rng = np.random.default_rng(12)
    command = [Path(sys.executable).parent / "bunraku", "robot", "--port", "0", "--scene", floor]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as robot:
        try:
            assert robot.stdout is not None
            lines = robot.stdout.readline() + robot.stdout.readline()
            found = re.search(r"--robot (\S+):(\d+) --token (\S+)", lines)
            assert found, lines
            address, token = (found[1], int(found[2])), found[3]
            for end in ("delayed", "leaves", "garbage", "silent", "goes"):
                live = GuidedOverLink(performer.guide, address, token)
                live.obey(Command("trunk", move=(1.0, 0.0, 0.0)))
                where = live.step().q[0][:2]
                said = played(live, 8.0, (lambda: 0.1 * float(rng.random() < 0.05)) if end == "delayed" else (lambda: 0.0))
                assert not live.fell, end
                assert not said or not any("no longer" in text for text in said)
                assert np.linalg.norm(live.step().q[0][:2] - where) > 0.05, end
                link: Any = live._link
                if end == "garbage":
                    link._socket.sendall(b"\xff" * 1000)
                elif end == "silent":
                    link._lock.acquire()  # the heartbeat stops, too
                    time.sleep(6.0)
                    link._lock.release()
                elif end == "goes":
                    robot.send_signal(signal.SIGINT)
                    assert robot.wait(PATIENCE) == 130
                    assert any("no longer answers" in text for text in played(live, 1.0))
                    assert any("no robot answers" in text for text in live.reset().notices)
                    assert not played(live, 0.1)
                live.close()
                time.sleep(0.0 if end == "goes" else 3.0)
        finally:
            robot.kill()
