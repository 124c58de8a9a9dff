"""Points: where all navigation points are, the guided one and the synergetic ones; and Subgoals: where they are wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.segment import State
from bunraku.spatial import so3

Array = NDArray[np.float64]
NONE = -1
"""No foot."""


def heading(angle: float) -> Array:
    """Rotation about the vertical, (3, 3)."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def attitude(trunk: Array) -> Array:
    """Rotation of the trunk against its home, from roll, pitch and yaw."""
    return so3.rpy(float(trunk[0]), float(trunk[1]), float(trunk[2]))


@dataclass(frozen=True, eq=False)
class Rates:
    """Velocities and accelerations of feet (2, 4) and trunk (3,), accelerations of hands (2, 3), and their angular velocities and
    accelerations (2, 3), in the middle of a move."""

    feet: tuple[Array, Array]
    trunk: tuple[Array, Array]
    hands: Array
    turning: tuple[Array, Array]
    touch: float = 0.0
    """Seconds until the foot in the air was to stand."""


REST = Rates((np.zeros((2, 4)),) * 2, (np.zeros(3),) * 2, np.zeros((2, 3)), (np.zeros((2, 3)),) * 2)


@dataclass(frozen=True, eq=False)
class Points:
    """The centre of mass, feet (2, 4) as (x, y, z, yaw), the trunk's (roll, pitch, yaw), and hands with their velocity (2, 3)."""

    com: State
    feet: Array
    aloft: int
    """The foot that is in the air: 0 left, 1 right, −1 none."""
    trunk: Array
    hands: Array
    hand_speeds: Array
    hand_axes: Array
    """How the hands are turned, (2, 3, 3)."""
    stood: Array
    """Where each foot stood last, (2, 4): a foot in the air can always go back there."""
    height: float
    """At which the centre of mass is wanted, above the middle of the feet; legs that cannot reach hold it lower."""
    last: int = NONE
    """The foot that moved last."""
    held: tuple[bool, bool] = (False, False)
    """Whether a hand keeps how it is turned; else it turns as suits the arm."""
    rates: Rates = REST
    """How all this moves, where it is not the end of a move."""
    posture: Array | None = None
    """The joints (n_q,) that the posture last led to, where that was not home."""

    @property
    def yaw(self) -> float:
        """Where the feet face together."""
        return 0.5 * float(self.feet[0, 3] + self.feet[1, 3])

    @property
    def standing(self) -> Array:
        """The feet on the ground, (k, 4)."""
        return self.feet if self.aloft == NONE else self.feet[1 - self.aloft][None]


@dataclass(frozen=True, eq=False)
class Subgoals:
    """Where every point shall be at the end of a segment: a consistent set (*guiding* eq. 1–2)."""

    com: Array
    feet: Array
    swings: int
    """The foot that moves: 0, 1, or −1."""
    lands: bool
    """Whether it stands at the end."""
    trunk: Array
    hands: tuple[tuple[bool, Array], tuple[bool, Array]]
    """Of each hand: whether its goal is in the world, or else seen from the centre of mass in the trunk's axes; and the goal."""
    height: float
    hand_axes: tuple[Array | None, Array | None] = (None, None)
    """How each hand shall be turned (3, 3), in the world or in the trunk's axes as its place is; None: as suits the arm."""
    guided: str = "trunk"
    notice: str = ""
    """Why it is not what the operator asked for, where it is not."""


def moved(points: Points, by: Array, turn: float = 0.0) -> Points:
    """Everything elsewhere: turned about the middle of the feet, and then by (x, y)."""
    R, about = heading(turn), np.array([*points.feet[:, :2].mean(0), 0.0])
    along = np.array([by[0], by[1], 0.0])

    def place(x: Array) -> Array:
        return np.asarray((x - about) @ R.T + about + along)

    def feet(old: Array) -> Array:
        return np.column_stack([place(old[:, :3]), old[:, 3] + turn])

    com = State(place(points.com.p), R @ points.com.v, place(points.com.carried))
    trunk = points.trunk + np.array([0.0, 0.0, turn])
    return replace(
        points, com=com, feet=feet(points.feet), stood=feet(points.stood), trunk=trunk, hands=place(points.hands),
        hand_speeds=points.hand_speeds @ R.T, hand_axes=R @ points.hand_axes,
    )  # fmt: skip


def standing_at(humanoid: Humanoid, *, x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> Points:
    """At home, at rest, with the middle of the feet here and facing there."""
    home = humanoid.pose
    feet = np.array([home.point(foot) for foot in humanoid.feet])
    middle = feet.mean(0)
    R = heading(yaw)
    at = np.array([x, y, z])
    placed = (feet - middle) @ R.T + at
    com = at + np.array([0.0, 0.0, humanoid.height])
    hands = com + humanoid.home_hands @ R.T
    return Points(
        State.at_rest(com), np.column_stack([placed, np.full(2, yaw)]), NONE, np.array([0.0, 0.0, yaw]), hands, np.zeros((2, 3)),
        R @ humanoid.hand_axes, np.column_stack([placed, np.full(2, yaw)]), humanoid.height,
    )  # fmt: skip
