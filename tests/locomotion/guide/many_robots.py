"""Any humanoid in MuJoCo: walks, turns, reaches. Prints one line for each humanoid file.

python -m tests.locomotion.guide.many_robots FILE.yaml … [--seconds 15] [--brisk]
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np

from bunraku.errors import BunrakuError
from bunraku.kinematics import pose
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid_file import guide_of, load_humanoid
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.scene import Scene
from bunraku.teleop.mujoco_robot import MujocoRobot
from bunraku.teleop.robot_loop import RobotLoop


@dataclass(frozen=True)
class Trial:
    """How a robot did."""

    fell: str
    """While what it fell; "" if it did not."""
    speed: float
    """Forward [m/s], in the time it was told to walk."""
    turned: float
    """[rad/s]"""
    reached: float
    """How much higher the hand was raised [m]."""
    refused: tuple[str, ...]

    def __str__(self) -> str:
        said = "; ".join(dict.fromkeys(self.refused))
        return (
            f"{'FELL in ' + self.fell if self.fell else 'stands'}, walks {self.speed:.2f} m/s, turns {self.turned:.2f} rad/s, "
            f"raises a hand by {self.reached:.2f} m; refused {len(self.refused)}: {said[:150]}"
        )


def tried(path: str, *, seconds: float, brisk: bool = False) -> Trial:
    """Stands, walks, turns and reaches for so many `seconds` each."""
    own = load_humanoid(path)
    guide = guide_of(own, Scene("floor"), brisk=brisk)
    session = Session(Performer(guide), prompt=True)
    robot = MujocoRobot(own, guide.scene, session.before[-1])
    loop, fell, refused = RobotLoop(session, robot), "", []
    speed = turned = reached = 0.0
    parts = {
        "standing": (Command(), 2.0), "walking": (Command("trunk", (1.0, 0.0, 0.0)), seconds), "stopping": (Command(), 2.0),
        "turning": (Command("trunk", turn=(0.0, 0.0, 1.0)), seconds), "resting": (Command(), 2.0),
        "reaching": (Command("left_hand", (0.1, 0.0, 0.6)), 3.0),
    }  # fmt: skip
    for name, (command, lasts) in parts.items():
        session.command, before = command, pose(own.figure, robot.q)
        for _ in range(round(lasts / robot.dt)):
            tick, _ = loop.tick()
            if tick.k == 1 and tick.performance.refused:
                refused.append(f"{name}: {tick.notice}")
            if loop.fallen:
                return Trial(name, speed, turned, reached, tuple(refused))
        now = pose(own.figure, robot.q)
        X, Y = before.X(own.trunk), now.X(own.trunk)
        if name == "walking":
            speed = float(now.com[0] - before.com[0]) / lasts
        elif name == "turning":
            R = Y[:3, :3] @ X[:3, :3].T
            turned = float(np.arctan2(R[1, 0], R[0, 0])) / lasts
        elif name == "reaching":
            reached = float(now.point(own.hands[0])[2] - before.point(own.hands[0])[2])
    return Trial(fell, speed, turned, reached, tuple(refused))


def main() -> None:
    """Tries the files on the command line."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--brisk", action="store_true")
    options = parser.parse_args()
    for file in options.files:
        try:
            print(f"{file}: {tried(file, seconds=options.seconds, brisk=options.brisk)}", flush=True)
        except BunrakuError as problem:
            print(f"{file}: {problem}", flush=True)


if __name__ == "__main__":
    main()
