"""Points: current positions of all navigation points, the guided one and those that follow; Subgoals: their targets."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.segment import ComState
from bunraku.spatial import so3

Array = NDArray[np.float64]
NO_FOOT = -1
"""Neither foot; 0 is the left one and 1 the right one."""


def heading(angle: float) -> Array:
    """Rotation (3, 3) about the vertical by an `angle` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def attitude(trunk: Array) -> Array:
    """Rotation (3, 3) of the `trunk` relative to the home configuration, from its roll, pitch and yaw [rad]."""
    return so3.rpy(float(trunk[0]), float(trunk[1]), float(trunk[2]))


@dataclass(frozen=True, eq=False)
class Rates:
    """Velocities and accelerations of the points in the middle of a move."""

    feet: tuple[Array, Array]
    """Velocities and accelerations of the feet, (2, 4) each."""
    trunk: tuple[Array, Array]
    """Rates and accelerations of the trunk's angles, (3,) each."""
    hands: Array
    """Accelerations of the hands (2, 3)."""
    turning: tuple[Array, Array]
    """Angular velocities and accelerations of the hands, (2, 3) each."""
    touch: float = 0.0
    """Time until the foot in the air is planned to touch the ground [s]."""
    between: bool = False
    """Whether they are those between two moves."""


AT_REST = Rates((np.zeros((2, 4)),) * 2, (np.zeros(3),) * 2, np.zeros((2, 3)), (np.zeros((2, 3)),) * 2, between=True)
"""The rates between two moves."""


@dataclass(frozen=True, eq=False)
class Onward:
    """The step that would follow a step. Lengths [m] are relative to the middle of the feet before it."""

    stance: Array
    """Position of the foot that will stand (2,)."""
    by: Array
    """How far the middle of the feet will move (2,)."""


@dataclass(frozen=True, eq=False)
class Points:
    """The centre of mass, feet (2, 4) as (x, y, z, yaw), the trunk's (roll, pitch, yaw), and hands with their velocities (2, 3)."""

    com: ComState
    feet: Array
    aloft: int
    """The foot that is in the air: 0 left, 1 right, −1 none."""
    trunk: Array
    hands: Array
    hand_speeds: Array
    hand_axes: Array
    """Axes of the hands, (2, 3, 3)."""
    stood: Array
    """Where each foot stood last, (2, 4): a foot in the air can always return there."""
    height: float
    """Wanted height of the centre of mass above the middle of the feet [m]; lowered if legs do not reach."""
    last: int = NO_FOOT
    """The foot that moved last."""
    held: tuple[bool, bool] = (False, False)
    """Whether each hand keeps its axes; otherwise it is free to turn."""
    rates: Rates = AT_REST
    """Rates of the points; AT_REST at the end of a move."""
    posture: Array | None = None
    """The configuration (n_q,) that the posture followed last; None if that was home."""
    onward: Onward | None = None
    """The step that was expected to follow, at the end of a move that does not come to rest."""

    @property
    def yaw(self) -> float:
        """Mean direction of the feet [rad]."""
        return 0.5 * float(self.feet[0, 3] + self.feet[1, 3])

    @property
    def standing(self) -> Array:
        """The feet on the ground, (k, 4)."""
        return self.feet if self.aloft == NO_FOOT else self.feet[1 - self.aloft][None]


@dataclass(frozen=True, eq=False)
class Subgoals:
    """Targets of all points at the end of a segment: a consistent set (*guiding* eq. 1–2)."""

    com: Array
    feet: Array
    swings: int
    """The foot that moves: 0, 1, or −1."""
    lands: bool
    """Whether that foot stands at the end."""
    trunk: Array
    hands: tuple[tuple[bool, Array], tuple[bool, Array]]
    """For each hand: whether its goal is in the world (otherwise relative to the centre of mass, in trunk axes), and the goal."""
    height: float
    hand_axes: tuple[Array | None, Array | None] = (None, None)
    """Axes of each hand (3, 3), in the same frame as its goal; None if it is free to turn."""
    guided: str = "trunk"
    notice: str = ""
    """Why they differ from the command; "" if they do not."""
    stops: bool = False
    """Whether the command cannot be obeyed at all; the move then only comes to rest."""
    onward: Onward | None = None
    """The step after this one, if the body does not come to rest before it."""
    sway: float = 0.0
    """Roll of the trunk in the middle of a step, in addition to its path [rad]."""


def moved(points: Points, by: Array, turn: float = 0.0) -> Points:
    """The `points` turned by `turn` [rad] about the middle of the feet, and then moved `by` (x, y) [m]."""
    R, about = heading(turn), np.array([*points.feet[:, :2].mean(0), 0.0])
    along = np.array([by[0], by[1], 0.0])

    def place(x: Array) -> Array:
        return np.asarray((x - about) @ R.T + about + along)

    def feet(old: Array) -> Array:
        return np.column_stack([place(old[:, :3]), old[:, 3] + turn])

    com = ComState(place(points.com.p), R @ points.com.v, place(points.com.carried))
    trunk = points.trunk + np.array([0.0, 0.0, turn])
    return replace(
        points, com=com, feet=feet(points.feet), stood=feet(points.stood), trunk=trunk, hands=place(points.hands),
        hand_speeds=points.hand_speeds @ R.T, hand_axes=R @ points.hand_axes,
    )  # fmt: skip


def standing_at(humanoid: Humanoid, *, x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> Points:
    """The points of a `humanoid` at rest in the home configuration, feet centred at (`x`, `y`, `z`) [m], facing `yaw` [rad]."""
    home = humanoid.pose
    feet = np.array([home.point(foot) for foot in humanoid.feet])
    middle = feet.mean(0)
    R = heading(yaw)
    at = np.array([x, y, z])
    placed = (feet - middle) @ R.T + at
    com = at + np.array([0.0, 0.0, humanoid.height])
    hands = com + humanoid.home_hands @ R.T
    return Points(
        ComState.at_rest(com), np.column_stack([placed, np.full(2, yaw)]), NO_FOOT, np.array([0.0, 0.0, yaw]), hands,
        np.zeros((2, 3)), R @ humanoid.hand_axes, np.column_stack([placed, np.full(2, yaw)]), humanoid.height,
    )  # fmt: skip
