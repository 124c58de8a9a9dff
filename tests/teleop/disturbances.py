"""Falls over disturbances, in MuJoCo: pushes, unknown bumps, slopes, slippery ground, payload, noise, latency.

python -m tests.teleop.disturbances [--humanoid talos] [--trials 8] [--seed 1] [--only push,bump] [--hardest] [--brisk]
    [--plot falls.png]
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.shape import Box
from bunraku.kinematics import pose
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.humanoid_file import guide_of, humanoid_named
from bunraku.locomotion.guide.leg_shift import LegShift
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.whole_body import WholeBody
from bunraku.scene import Obstacle, Scene
from bunraku.spatial import so3
from bunraku.teleop.mujoco_robot import MujocoRobot, RobotOptions
from bunraku.teleop.robot_loop import RobotLoop
from tests.locomotion.guide.robots import ROBOTS, written

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Disturbance:
    """What the plan does not know."""

    push: float = 0.0
    """Force on the trunk for 0.1 s, as a share of the weight."""
    bump: float = 0.0
    """Height of plates on the floor [m]."""
    slope: float = 0.0
    """[deg], in a direction of its own; angles of the trunk are measured from the vertical."""
    friction: float = 0.8
    payload: float = 0.0
    """Mass on the trunk, as a share of the robot's."""
    noise: float = 0.0
    """Of all measured angles and positions [mrad, mm], and of the forces below the soles [%]."""
    latency: float = 0.0
    """[s]"""


SWEPT = {
    "push": (0.05, 0.1, 0.15, 0.2, 0.25), "bump": (0.002, 0.005, 0.01), "slope": (1.0, 2.0, 3.0, 5.0),
    "friction": (0.5, 0.4, 0.3), "payload": (0.1, 0.2), "noise": (1.0, 3.0), "latency": (0.01, 0.02),
}  # fmt: skip


class DisturbedRobot:
    """A robot in MuJoCo whose world is not that of the plan."""

    def __init__(self, own: Humanoid, q: Array, given: Disturbance, rng: np.random.Generator) -> None:
        places = 0.06 + 0.12 * np.arange(1, 12) + rng.uniform(-0.02, 0.02, 11) if given.bump else ()
        plates = (Obstacle(f"at {x:.3f}", Box((0.05, 0.5, given.bump)), (float(x), 0.0, 0.5 * given.bump)) for x in places)
        scene = Scene("floor", tuple(plates))
        self.robot = MujocoRobot(own, scene, q, options=replace(RobotOptions(), friction=given.friction))
        self.motors, self.dt, self.given, self.rng, self.own = self.robot.motors, self.robot.dt, given, rng, own
        model, mujoco = self.robot.model, self.robot._mujoco
        self._trunk = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, own.trunk)
        angle, way = math.radians(given.slope), rng.uniform(0.0, 2.0 * math.pi)
        self._level = so3.exp([-angle * math.sin(way), angle * math.cos(way), 0.0])  # what an inertial sensor calls level
        model.opt.gravity[:] = self._level.T @ [0.0, 0.0, -9.81]
        model.body_mass[self._trunk] += given.payload * own.figure.mass
        self._base = own.figure.indices(WholeBody(own).base)
        if given.slope:
            self._set_upright(q)
        self._seen: deque[tuple[Array, Array]] = deque(maxlen=1 + round(given.latency / self.dt))
        self._measure()

    @property
    def servos(self) -> tuple[Array, Array]:
        return self.robot.servos

    @property
    def q(self) -> Array:
        return self._measured

    late = 0

    def ahead(self, targets: Array) -> None:
        pass

    def skip(self, ticks: int) -> None:
        pass

    def push(self, direction: float) -> None:
        force = self.given.push * self.own.figure.mass * 9.81
        self.robot.data.xfrc_applied[self._trunk, :2] = force * math.cos(direction), force * math.sin(direction)

    def release(self) -> None:
        self.robot.data.xfrc_applied[:] = 0.0

    def step(self, targets: Array) -> Array:
        self.robot.step(targets)
        self._measure()
        return self._measured

    def _set_upright(self, q: Array) -> None:
        """Sets it down upright, with its soles on the slope."""
        legs, tilt, feet = (
            LegShift(self.own),
            so3.log(self._level)[:2],
            [pose(self.own.figure, q).point(foot) for foot in self.own.feet],
        )
        heights = np.array([tilt[0] * y - tilt[1] * x for x, y, _ in feet])
        for _ in range(8):
            stands = legs.shifted(q, heights, np.tile(tilt, (2, 1)))
        self.robot.place(self._turned(stands, self._level.T))

    def _turned(self, q: Array, R: Array) -> Array:
        """The configuration `q` turned by `R` about the origin."""
        out, place, turn = q.copy(), self._base[:3], self._base[3:]
        out[place], out[turn] = R @ q[place], so3.angles_zyx(R @ so3.rpy(*q[turn][::-1]))
        return out

    def _measure(self) -> None:
        q = self._turned(self.robot.q, self._level) if self.given.slope else self.robot.q
        self._seen.append((q, self.robot.soles))
        noise = 1e-3 * self.given.noise
        self._measured = self._seen[0][0] + noise * self.rng.standard_normal(len(q))
        self.soles = self._seen[0][1] * (1.0 + 10.0 * noise * self.rng.standard_normal((2, 3)))


def stood(performer: Performer, given: Disturbance, seed: int, *, direction: float, walks: bool) -> bool:
    """Whether it stays on its feet for 4 s; a push comes between 1 and 2 s."""
    rng = np.random.default_rng(seed)
    session = Session(performer, prompt=True, keep=False)
    robot = DisturbedRobot(performer.guide.humanoid, session.before[-1], given, rng)
    loop, at = RobotLoop(session, robot), round(rng.uniform(1.0, 2.0) / robot.dt)
    session.command = Command("trunk", (1.0 if walks else 0.0, 0.0, 0.0))
    for k in range(round(4.0 / robot.dt)):
        if given.push and k == at:
            robot.push(direction)
        if k == at + round(0.1 / robot.dt):
            robot.release()
        try:
            loop.tick()
        except ArithmeticError:
            return False
        if robot.robot.fallen:
            return False
    return True


def falls(performer: Performer, given: Disturbance, *, trials: int, seed: int) -> tuple[int, int]:
    """Falls while standing and while walking, of `trials` each."""
    out = []
    for walks in (False, True):
        ways = [2.0 * math.pi * (k % 8) / 8 for k in range(trials)]
        out.append(sum(not stood(performer, given, 1000 * seed + k, direction=way, walks=walks) for k, way in enumerate(ways)))
    return out[0], out[1]


def swept(
    performer: Performer, words: list[str], *, trials: int, seed: int, hardest: bool
) -> Iterator[tuple[str, float, int, int]]:  # fmt: skip
    """Name and size of each disturbance, falls while standing, falls while walking; only of the largest, if `hardest`."""
    for word in words:
        for size in SWEPT[word][-1:] if hardest else SWEPT[word]:
            yield word, size, *falls(performer, Disturbance(**{word: size}), trials=trials, seed=seed)


def known(name: str, folder: Path) -> Humanoid:
    """The humanoid of the library, one of `robots.ROBOTS`, or that of a file."""
    return humanoid_named(str(written(name, folder)) if name in ROBOTS else name)


def main() -> None:
    """Prints the falls of one humanoid, and draws them."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--humanoid", default="humanoid", help="humanoid, talos, g1, icub, or a file")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(SWEPT))
    parser.add_argument("--hardest", action="store_true")
    parser.add_argument("--brisk", action="store_true")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        own = known(options.humanoid, Path(folder))
    performer = Performer(guide_of(own, Scene("floor"), brisk=options.brisk))
    rows = []
    words = options.only.split(",")
    for row in swept(performer, words, trials=options.trials, seed=options.seed, hardest=options.hardest):
        rows.append(row)
        print(f"{options.humanoid}: {row[0]} {row[1]:g}: standing {row[2]}, walking {row[3]} of {options.trials}", flush=True)
    if options.plot:
        draw(rows, options.trials, options.plot)


def draw(rows: list[tuple[str, float, int, int]], trials: int, path: Path) -> None:
    """Share of falls over the size of each disturbance."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    words = list(dict.fromkeys(row[0] for row in rows))
    figure, axes = pyplot.subplots(1, len(words), figsize=(2.2 * len(words), 2.4), sharey=True, squeeze=False)
    units = {
        "push": "share of the weight",
        "bump": "m",
        "slope": "°",
        "payload": "share of the mass",
        "noise": "mrad, mm",
        "latency": "s",
    }
    for axis, word in zip(axes[0], words, strict=True):
        own = [row for row in rows if row[0] == word]
        for column, label in ((2, "standing"), (3, "walking")):
            axis.plot([row[1] for row in own], [row[column] / trials for row in own], "o-", label=label)
        axis.set_title(word)
        axis.set_xlabel(units.get(word, ""))
        axis.set_ylim(-0.05, 1.05)
    axes[0][0].set_ylabel("share of trials that fell")
    axes[0][0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
