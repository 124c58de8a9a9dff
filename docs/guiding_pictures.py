"""Makes the picture of the page on guiding: the scenario of Fig. 9–12 as MuJoCo plays it, six moments of what the robot measured.

python docs/guiding_pictures.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from bunraku.kinematics import pose
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.scenario import PAPER_ROOM, operator
from bunraku.locomotion.guide.session import Session
from bunraku.render.camera import Camera
from bunraku.render.image import image
from bunraku.teleop.mujoco_robot import MujocoRobot
from bunraku.teleop.robot_link import RobotLink
from bunraku.teleop.robot_loop import drive
from bunraku.teleop.robot_server import RobotServer

PICTURE = Path(__file__).parent / "_static" / "guiding_physics.png"
SIZE = (480, 300)


def main() -> None:
    performer = Performer(Guide(small_humanoid(), PAPER_ROOM.scene))
    session = Session(performer, performer.guide.start(x=PAPER_ROOM.start))
    robot = MujocoRobot(performer.guide.humanoid, PAPER_ROOM.scene, session.before[-1])
    with RobotServer(robot) as server, RobotLink(server.address, server.token) as link:
        seen = lambda: pose(robot.humanoid.figure, link.q).point("left_hand") - session.points.hands[0]  # noqa: E731
        record = drive(session, link, operator(session, seen=seen), going=lambda: not robot.fallen)
    camera = Camera(eye=(1.0, -2.1, 0.75), target=(0.6, 0.05, 0.27), field=0.42)
    sheet = Image.new("RGB", (3 * SIZE[0], 2 * SIZE[1]))
    for k, share in enumerate((0.0, 0.3, 0.48, 0.62, 0.8, 1.0)):
        q = record.measured[int(share * (len(record.measured) - 1))]
        frames = pose(robot.humanoid.figure, q).frames
        shown = Image.fromarray(np.asarray(image(robot.humanoid.figure, frames, scene=PAPER_ROOM.scene, size=SIZE, camera=camera)))
        sheet.paste(shown, (k % 3 * SIZE[0], k // 3 * SIZE[1]))
    sheet.point(lambda level: level & 0xFC).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
