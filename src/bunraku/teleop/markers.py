"""Markers: guided point, centre of mass, ZMP, support polygon and subgoals, as a separate figure beside the humanoid on the stage.

The guided point has a pin stuck into it for as long as it is guided. The centre of mass and its goal are drawn on the floor below
them, because the trunk would hide them at their own height.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure
from bunraku.figure.build import FrameNode, box, capsule, figure, rz, sphere, spindle, wire
from bunraku.figure.shape import Color
from bunraku.kinematics import pose
from bunraku.locomotion.guide.guide_command import GuidedPoint
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.session import Tick

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MarkerLook:
    """Colours of the markers."""

    com: Color = (0.95, 0.6, 0.1)
    zmp: Color = (0.85, 0.2, 0.15)
    com_goal: Color = (0.2, 0.4, 0.8)
    goal: Color = (0.2, 0.6, 0.3)
    """Goals of hands and feet."""
    polygon: Color = (0.35, 0.35, 0.38)
    guided: Color = (0.72, 0.2, 0.12)
    """The pin in the guided point."""


def markers(humanoid: Humanoid, *, corners: int = 8, look: MarkerLook = MarkerLook()) -> Figure:
    """A figure with kinematic variables only: pin, com, zmp, com goal, goals of feet (with yaw) and hands, corners of the polygon.

    humanoid: determines the size of the markers.
    corners: maximum number of corners of the support polygon that can be drawn.
    look: colours.
    """
    size = 0.035 * humanoid.height
    length, width = (float(x) for x in np.ptp(humanoid.sole, axis=0))

    def foot(name: str) -> FrameNode:
        at, size = (*humanoid.sole.mean(0), 0.004), (0.97 * length, 0.97 * width, 0.004)
        plate = box(size, at=at, color=look.goal, name=name, collides=False)
        return spindle(name, rz(f"{name}_yaw", plate, kinematic=True), moves="xyz")

    def dot(name: str, radius: float, color: Color) -> FrameNode:
        return spindle(name, sphere(radius, color=color, name=name, collides=False), moves="xyz")

    def pin(name: str) -> FrameNode:
        up, head = 9.0 * size, 1.5 * size
        stick = capsule(0.3 * size, at=(0, 0, 0.3 * size), to=(0, 0, up), color=look.guided, name=name, collides=False)
        return spindle(name, stick, sphere(head, at=(0, 0, up), color=look.guided, name=name, collides=False), moves="xyz")

    polygon = [dot(f"corner{k}", 0.25 * size, look.polygon) for k in range(corners)]
    edges = [wire(f"edge{k}", f"corner{k}_spindle", f"corner{(k + 1) % corners}_spindle", length=1.0) for k in range(corners)]
    return figure(
        "markers", pin("guided_point"),
        dot("com", size, look.com), dot("zmp", 0.7 * size, look.zmp), dot("com_goal", 0.8 * size, look.com_goal),
        foot("left_foot_goal"), foot("right_foot_goal"), dot("left_hand_goal", 0.7 * size, look.goal),
        dot("right_hand_goal", 0.7 * size, look.goal), *polygon, strings=edges,
    )  # fmt: skip


def marked(own: Figure, tick: Tick, humanoid: Humanoid, guided: GuidedPoint) -> Array:
    """The configuration of the markers (`own`) of a `humanoid` at a `tick`, with the pin in what is `guided`.

    Unused goals are hidden inside a sole or the trunk.
    """
    move = tick.performance.move
    goals, floor = move.goals, float(move.segment.floors[tick.k])
    places = {name: np.array([*at[:2], floor]) for name, at in (("com", tick.com), ("zmp", tick.zmp), ("com_goal", goals.com))}
    feet = [goals.feet[k] if goals.swings == k else move.feet[tick.k, k] for k in (0, 1)]
    for k, side in enumerate(("left", "right")):
        in_world, goal = goals.hands[k]
        places[f"{side}_foot_goal"] = feet[k][:3]
        places[f"{side}_hand_goal"] = goal if in_world else tick.com
    places["guided_point"] = _guided_place(tick, humanoid, guided)
    corners = tick.corners
    places |= {f"corner{k}": corners[min(k, len(corners) - 1)] for k in range(len(own.wires))}
    values = {f"{name}_{axis}": float(x) for name, place in places.items() for axis, x in zip("xyz", place, strict=True)}
    values |= {f"{side}_foot_goal_yaw": float(feet[k][3]) for k, side in enumerate(("left", "right"))}
    return own.configuration(**values)


def _guided_place(tick: Tick, humanoid: Humanoid, guided: GuidedPoint) -> Array:
    """Where the pin is stuck in: a foot or hand, or the centre of mass if the trunk is guided."""
    if guided == "trunk":
        return np.array(tick.com)
    frames = humanoid.feet if "foot" in guided else humanoid.hands
    return np.array(pose(humanoid.figure, tick.q).X(frames["right" in guided])[:3, 3])
