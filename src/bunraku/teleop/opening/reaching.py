"""Inverse kinematics and collision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Box, Cylinder, Figure
from bunraku.figure.library import named
from bunraku.kinematics import pose
from bunraku.motion import Motion
from bunraku.scene import Obstacle, Scene
from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter

if TYPE_CHECKING:
    from bunraku.kinematics import Clearance

Array = NDArray[np.float64]


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter(
        "Reaching",
        [
            Entry(
                "Reaching in balance",
                _reaches,
                "Feet stay, eyes follow the hand. Turn on Balance: the centre of mass stays above the feet",
            ),
            Entry(
                "Keeping clear",
                _keeps_clear,
                "It drives around the bollard, its ghost through it; the tool stays on its line. Hide the ghost with G",
                front=(-1.0, -0.25),
            ),
        ],
    )


def _reaches() -> Motion:
    """A hand that draws a figure of eight from the thighs to the eyes."""
    from bunraku.kinematics import CentreOfMass, FramePose, Inverse, InverseOptions, LookAt, PointPosition, Posture

    f = named("mannequin")
    tasks = [
        FramePose("left_sole"), FramePose("right_sole"), CentreOfMass(axes="xy"),
        PointPosition("left_palm", name="hand", priority=1),
        LookAt("neck", (1.0, 0.0, 1.0), position=(0.08, 0.0, 0.16), name="eyes", priority=2),
        Posture({"left_knee_ry": 0.25, "right_knee_ry": 0.25}, weight=0.1, priority=2), Posture(f.start, priority=3),
    ]  # fmt: skip
    s = np.linspace(0.0, 4.0 * np.pi, 360)
    eight = np.array([0.42, 0.2, 1.1]) + np.stack([-0.06 * np.sin(s), 0.2 * np.sin(2 * s), 0.42 * np.sin(s)], 1)
    way = np.linspace(pose(f).point("left_palm"), eight[0], 40, endpoint=False)
    ik = Inverse(f, tasks, options=InverseOptions(iterations=60, tolerance=1e-6, still=1e-4))
    aims = [ik.aim(hand=place, eyes=place) for place in np.vstack([way, eight])]
    found = ik.solve_many(aims, f.start)
    return Motion.of(f, np.arange(len(found)) / 30.0, [solution.q for solution in found])


def _keeps_clear() -> Recorded:
    """The tool follows a line along a wall, with a bollard in the way; the ghost ignores the bollard."""
    from bunraku.collision import World
    from bunraku.kinematics import Clearance

    f = named("mobile_manipulator")
    wall = Obstacle("wall", Box((0.1, 3.6, 0.7)), (1.35, 0.0, 0.35), color=(0.85, 0.82, 0.76))
    bollard = Obstacle("bollard", Cylinder(0.09, 0.8), (0.28, 0.0, 0.4), color=(0.95, 0.6, 0.1))
    scene = Scene("corridor", (wall, bollard))
    world = World(f, scene, allowed=[("base_turn", "floor")])

    def near(q: Array) -> tuple[Array, Array]:
        found = world.clearances(q, within=0.3)
        return found.value, found.gradient

    careful = _along_wall(f, limits=[Clearance(near, margin=0.03, count=40)])
    return Recorded(careful, scene, reference=_along_wall(f, limits=[]))


def _along_wall(f: Figure, *, limits: list[Clearance]) -> Motion:
    """The tool points at the wall and moves along it, there and back."""
    from bunraku.kinematics import FramePose, Inverse, InverseOptions, Posture

    options = InverseOptions(iterations=60, tolerance=1e-5, still=1e-3)
    ik = Inverse(f, [FramePose("tool"), Posture(f.start)], limits=limits, reluctance={"base_turn": 3.0}, options=options)
    X, q, samples = np.eye(4), f.configuration(base_x=0.2, base_y=-1.2), []
    X[:3, :3] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    for y in -1.2 * np.cos(np.linspace(0.0, np.pi, 90)):
        X[:3, 3] = 1.12, y, 0.95
        q = ik.solve(q, ik.aim(tool=X)).q
        samples.append(q)
    there_and_back = np.array([*samples, *samples[::-1]])
    return Motion.of(f, np.arange(len(there_and_back)) / 30.0, there_and_back)
