"""A simulated robot behind a socket, one that goes away, and none at all. `test_robot_server` has the protocol."""

from __future__ import annotations

import socket

import numpy as np
import pytest

from bunraku.errors import BunrakuError, NotFinite
from bunraku.locomotion.guide.humanoid import Humanoid, small_humanoid
from bunraku.scene import Scene
from bunraku.teleop.mujoco_robot import MujocoRobot
from bunraku.teleop.robot_link import RobotLink
from bunraku.teleop.robot_server import RobotServer
from tests.patience import PATIENCE

pytest.importorskip("mujoco")
FLOOR = Scene("floor")


@pytest.fixture(scope="module")
def own() -> Humanoid:
    return small_humanoid()


def test_servos_hold_it_up(own: Humanoid) -> None:
    robot = MujocoRobot(own, FLOOR, own.home)
    with RobotServer(robot) as server, RobotLink(server.address, server.token, timeout=PATIENCE) as link:
        assert link.motors == own.figure.names[6:]
        targets = own.home[6:]
        for _ in range(200):
            measured = link.step(targets)
    assert not robot.fallen
    assert np.abs(measured - own.home).max() < 0.02


def test_soles_bear_the_weight(own: Humanoid) -> None:
    """Also at the other end of the link; on one side more, if it leans there."""
    robot = MujocoRobot(own, FLOOR, own.home)
    weight = own.figure.mass * 9.81
    with RobotServer(robot) as server, RobotLink(server.address, server.token, timeout=PATIENCE) as link:
        for _ in range(300):
            link.step(own.home[6:])
        felt = link.soles
        assert felt is not None
        assert np.array_equal(felt, robot.soles)
    assert felt[:, 0].sum() == pytest.approx(weight, rel=0.02)
    com = robot.com[0]
    pressed = [robot.feet[k][:2] + np.array([-felt[k, 2], felt[k, 1]]) / felt[k, 0] for k in (0, 1)]
    assert felt[:, 0] @ pressed / felt[:, 0].sum() == pytest.approx(com[:2], abs=2e-3)
    robot.place(own.home + 0.5 * (np.arange(len(own.home)) == 2))  # in the air
    assert not robot.soles.any()


def test_the_physics_is_ours(own: Humanoid) -> None:
    """Same mass, same centre of mass."""
    from bunraku.kinematics import pose

    robot = MujocoRobot(own, FLOOR, own.home)
    assert robot.com[0] == pytest.approx(pose(own.figure, own.home).com, abs=1e-9)
    assert robot.model.body_mass.sum() == pytest.approx(own.figure.mass, rel=1e-9)


def test_a_robot_that_vanishes_is_told(own: Humanoid) -> None:
    server = RobotServer(MujocoRobot(own, FLOOR, own.home))
    with server:
        link = RobotLink(server.address, server.token, timeout=PATIENCE)
        link.step(own.home[6:])
    targets = own.home[6:]

    def insist() -> None:
        for _ in range(3):  # the first may still go into a buffer
            link.step(targets)

    with link, pytest.raises(BunrakuError, match="no longer answers"):
        insist()


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(BunrakuError, match="no robot answers"):
        RobotLink(("127.0.0.1", port), "any")


@pytest.mark.parametrize("bad", [[0.0] * 3, [float("nan")] * 20])
def test_targets_that_make_no_sense(own: Humanoid, bad: list[float]) -> None:
    with pytest.raises(NotFinite):
        MujocoRobot(own, FLOOR, own.home).step(np.array(bad))
