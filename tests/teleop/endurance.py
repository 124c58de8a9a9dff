"""Endurance: random commands to a robot in physics, and whether it stays on its feet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.wander import commands
from bunraku.teleop.mujoco_robot import MujocoRobot
from bunraku.teleop.robot_link import RobotLink
from bunraku.teleop.robot_loop import drive
from bunraku.teleop.robot_server import RobotServer


@dataclass(frozen=True)
class Endured:
    """How long it went on [s], and whether it fell."""

    seconds: float
    fell: bool


def endure(guide: Guide, *, seconds: float, seed: int) -> Endured:
    """Random input for so many `seconds`, in MuJoCo behind a socket, or until it falls."""
    session = Session(Performer(guide), keep=False)
    robot = MujocoRobot(guide.humanoid, guide.scene, session.before[-1])
    ticks = 0

    def watch() -> bool:
        nonlocal ticks
        ticks += 1
        return not robot.fallen

    def while_time() -> Iterator[Command]:
        for command in commands(seed):
            if ticks * GUIDE_TICK >= seconds:
                return
            yield command

    with RobotServer(robot) as server, RobotLink(server.address, server.token) as link:
        drive(session, link, while_time(), going=watch, keep=False)
    return Endured(ticks * GUIDE_TICK, robot.fallen)
