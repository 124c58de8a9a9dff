"""Markers: centre of mass, ZMP, polygon of support and subgoals, as a figure of their own that the stage draws beside the humanoid.

The centre of mass and its goal are shown on the floor below them: in their own place the trunk would hide them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure
from bunraku.figure.build import FrameNode, box, figure, rz, sphere, spindle, wire
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.session import Tick

Array = NDArray[np.float64]
CORNERS = 8
RED, ORANGE, GREEN, BLUE, GREY = (0.85, 0.2, 0.15), (0.95, 0.6, 0.1), (0.2, 0.6, 0.3), (0.2, 0.4, 0.8), (0.35, 0.35, 0.38)


def markers(humanoid: Humanoid) -> Figure:
    """Kinematic variables only: com, zmp, com goal, the goals of feet (with their yaw) and hands, and the polygon's corners."""
    size = 0.035 * humanoid.height
    length, width = (float(x) for x in np.ptp(humanoid.sole, axis=0))

    def foot(name: str) -> FrameNode:
        at, size = (*humanoid.sole.mean(0), 0.004), (0.97 * length, 0.97 * width, 0.004)
        plate = box(size, at=at, color=GREEN, name=name, collides=False)
        return spindle(name, rz(f"{name}_yaw", plate, kinematic=True), moves="xyz")

    def dot(name: str, radius: float, color: tuple[float, float, float]) -> FrameNode:
        return spindle(name, sphere(radius, color=color, name=name, collides=False), moves="xyz")

    corners = [dot(f"corner{k}", 0.25 * size, GREY) for k in range(CORNERS)]
    edges = [wire(f"edge{k}", f"corner{k}_spindle", f"corner{(k + 1) % CORNERS}_spindle", length=1.0) for k in range(CORNERS)]
    return figure(
        "markers", dot("com", size, ORANGE), dot("zmp", 0.7 * size, RED), dot("com_goal", 0.8 * size, BLUE), foot("left_foot_goal"),
        foot("right_foot_goal"), dot("left_hand_goal", 0.7 * size, GREEN), dot("right_hand_goal", 0.7 * size, GREEN), *corners,
        strings=edges,
    )  # fmt: skip


def marked(own: Figure, tick: Tick) -> Array:
    """The configuration of the markers at a moment. What is not wanted anywhere is put out of sight, into the sole or the trunk."""
    move = tick.performance.move
    goals, floor = move.goals, float(move.segment.floors[tick.k])
    places = {name: np.array([*at[:2], floor]) for name, at in (("com", tick.com), ("zmp", tick.zmp), ("com_goal", goals.com))}
    feet = [goals.feet[k] if goals.swings == k else move.feet[tick.k, k] for k in (0, 1)]
    for k, side in enumerate(("left", "right")):
        in_world, goal = goals.hands[k]
        places[f"{side}_foot_goal"] = feet[k][:3]
        places[f"{side}_hand_goal"] = goal if in_world else tick.com
    corners = tick.corners
    places |= {f"corner{k}": corners[min(k, len(corners) - 1)] for k in range(CORNERS)}
    values = {f"{name}_{axis}": float(x) for name, place in places.items() for axis, x in zip("xyz", place, strict=True)}
    values |= {f"{side}_foot_goal_yaw": float(feet[k][3]) for k, side in enumerate(("left", "right"))}
    return own.configuration(**values)
