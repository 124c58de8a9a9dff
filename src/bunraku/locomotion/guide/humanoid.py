"""Humanoid: a figure with feet, a trunk and hands, and the limits of guiding it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.errors import FigureError
from bunraku.figure import Figure
from bunraku.figure.library.humanoids import HumanoidSize, humanoid
from bunraku.io.mjcf.mjcf_servos import Servo
from bunraku.kinematics import Pose, pose
from bunraku.locomotion.guide.com_zmp import GRAVITY

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HumanoidLimits:
    """Limits of the guided points. Lengths in metres, angles in radians, speeds in m/s and rad/s."""

    forward: float
    """How far a foot may be ahead of or behind the other."""
    apart: tuple[float, float]
    """Smallest and largest lateral distance of the feet."""
    turn: tuple[float, float]
    """How far a foot may be turned inward and outward relative to the other."""
    rise: float
    """Largest difference in height between the feet."""
    lift: float
    """Height above the ground of a foot that is lifted fully; a swing uses a share of it."""
    crouch: float
    """How far the centre of mass may go below its height in the home configuration."""
    lean: float
    """How far the trunk may lean."""
    reach: float
    """Largest distance of a hand from its shoulder before the body follows."""
    foot_speed: float
    """Largest speed of a swinging foot."""
    hand_speed: float
    """Largest speed of a hand."""
    trunk_speed: float
    """Largest angular speed of the trunk."""


@dataclass(frozen=True, eq=False)
class Humanoid:
    """A figure with its home configuration `home` (n_q,), in which it stands, and the names of the guided frames."""

    figure: Figure
    home: Array
    feet: tuple[str, str]
    hands: tuple[str, str]
    trunk: str
    shoulders: tuple[str, str]
    sole: Array
    """Corners of a sole in the foot's frame, (m, 2), counter-clockwise."""
    limits: HumanoidLimits
    servos: Mapping[str, Servo] = field(default_factory=dict)
    """Gains and dry friction of the motors in its file, by joint."""
    armless: bool = False
    """Whether it has no arms; `hands` are then fixed to the trunk."""
    notes: tuple[str, ...] = ()
    """What was changed when its file was read."""

    __repr__ = brief

    def __str__(self) -> str:
        figure, limits = self.figure, self.limits
        return (
            f"humanoid {figure.name}: {figure.n_q - 6} motors, {figure.mass:.3g} kg, centre of mass {self.height:.3g} m high, "
            f"steps of {limits.forward:.2g} m, arms of {limits.reach:.2g} m"
        )

    @cached_property
    def pose(self) -> Pose:
        """The pose of the home configuration."""
        return pose(self.figure, self.home)

    @cached_property
    def facing(self) -> Array:
        """Axes of the trunk's frame in the home configuration: attitudes are relative to them."""
        return self.pose.X(self.trunk)[:3, :3].copy()

    @cached_property
    def foot_axes(self) -> Array:
        """Axes of the feet's frames in the home configuration, without their yaw, (2, 3, 3)."""
        out = []
        for frame in self.feet:
            R = self.pose.X(frame)[:3, :3]
            if R[2, 2] < 0.99:
                raise FigureError(
                    f"{frame!r} does not stand flat in the home configuration", name=self.figure.name, field="feet",
                    advice="name the frames of the soles, z up, and a home in which they lie on the floor",
                )  # fmt: skip
            out.append(R)
        return np.array(out)

    @cached_property
    def bearing(self) -> Array:
        """Corners of the part of a sole where the ZMP may be, (m, 2): ankles must be able to bear the body there, on one foot."""
        low, high = self.sole.min(0), self.sole.max(0)
        for foot in (0, 1):
            least, most = ankle_range(self.figure, self.pose, self.feet[foot])
            side = np.array([1.0, 1.0 if foot == 0 else -1.0])
            least, most = np.minimum(side * least, side * most), np.maximum(side * least, side * most)
            low, high = np.maximum(low, least), np.minimum(high, most)
        size, own = np.ptp(self.sole, axis=0), high - low
        part = (own > 0.2 * size) & (own < 0.85 * size)  # a little more or less does not matter, and too little helps nobody
        if not part.any():
            return self.sole
        low, high = np.where(part, low, self.sole.min(0)), np.where(part, high, self.sole.max(0))
        (length, width), (x, y) = (high - low).tolist(), (0.5 * (low + high)).tolist()
        return rectangle(length, width, (x, y))

    @cached_property
    def height(self) -> float:
        """Height of the centre of mass above the soles, in the home configuration [m]."""
        return float(self.pose.com[2] - self.pose.point(self.feet[0])[2])

    @cached_property
    def home_hands(self) -> Array:
        """Positions of the hands in the home configuration, relative to the centre of mass, (2, 3) [m]."""
        return np.array([self.pose.point(hand) - self.pose.com for hand in self.hands])

    @cached_property
    def hand_axes(self) -> Array:
        """Axes of the hands' frames in the home configuration, (2, 3, 3)."""
        return np.array([self.pose.X(hand)[:3, :3] for hand in self.hands])

    @cached_property
    def home_shoulders(self) -> Array:
        """Positions of the shoulders in the home configuration, relative to the centre of mass, (2, 3) [m]."""
        return np.array([self.pose.point(shoulder) - self.pose.com for shoulder in self.shoulders])

    @cached_property
    def home_apart(self) -> float:
        """Distance between the feet in the home configuration [m]."""
        left, right = (self.pose.point(foot) for foot in self.feet)
        return float(np.linalg.norm((left - right)[:2]))

    @cached_property
    def width(self) -> float:
        """Radius of a cylinder around trunk and arms [m]."""
        return float(np.abs(self.home_hands[:, 1]).max())

    @cached_property
    def legs(self) -> tuple[Array, Array, float]:
        """Hips relative to the centre of mass (2, 3), ankles relative to the feet (2, 3), and the length of a straight leg [m].

        The hip is taken to be straight above its ankle; a lateral link that leads to it does not count as part of the leg.
        """
        figure, hips, ankles, lengths = self.figure, [], [], []
        for foot in self.feet:
            chain = [frame for frame in self.leg(foot) if figure.frame(frame).variable is not None]
            if len(chain) < 3:
                raise FigureError(f"{foot!r} has no leg", name=figure.name, field="feet", advice="name the frames of the soles")
            hip, ankle = (self.pose.point(frame) for frame in (chain[0], chain[-1]))
            hips.append(np.array([hip[0], ankle[1], hip[2]]) - self.pose.com)
            ankles.append(ankle - self.pose.point(foot))
            lengths.append(max(self._stretched(chain[0], bends, chain[-1]) for bends in chain[1:-1]))
        return np.array(hips), np.array(ankles), min(lengths)

    def _stretched(self, hip: str, knee: str, ankle: str) -> float:
        """The largest distance from hip to ankle, projected onto the sagittal plane, over the range of one joint between them."""
        variable = self.figure.frame(knee).variable
        assert variable is not None
        k, q, out = self.figure.index(variable.name), self.home.copy(), 0.0
        for value in np.linspace(max(variable.lower, -math.pi), min(variable.upper, math.pi), 91):
            q[k] = value
            way = pose(self.figure, q).point(hip) - pose(self.figure, q).point(ankle)
            out = max(out, math.hypot(way[0], way[2]))
        return out

    def leg(self, frame: str) -> list[str]:
        """Frames from the floating base (excluded) to `frame`."""
        out, at = [frame], self.figure.frame(frame)
        free = {name for joint in self.figure.groups if joint.kind == "free" for name in joint.frames}
        while at.parent in self.figure.frame_index and at.parent not in free:
            at = self.figure.frame(at.parent)
            out.append(at.name)
        return out[::-1]


def ankle_range(figure: Figure, here: Pose, foot: str, *, strength: float = 0.75) -> tuple[Array, Array]:
    """Where the ZMP of a `figure`, which stands `here` on the frame `foot` alone, may be: least and largest x and y in it [m].

    strength: share of the efforts of the last two joints that may be used; the rest is for swinging limbs and for balance.
    """
    X, J = here.X(foot), here.jacobian(foot)[3:]
    weight, low, high = figure.mass * GRAVITY, np.full(2, -math.inf), np.full(2, math.inf)
    frame, count = figure.frame(foot), 0
    while count < 2:
        if frame.variable is not None:
            axis = X[:3, :3].T @ J[:, figure.index(frame.variable.name)]
            at, along = X[:3, :3].T @ (here.point(frame.name) - X[:3, 3]), 0 if abs(axis[1]) > abs(axis[0]) else 1
            arm = strength * frame.variable.effort / (weight * max(abs(float(axis[1 - along])), 0.5))
            low[along], high[along] = max(low[along], at[along] - arm), min(high[along], at[along] + arm)
            count += 1
        frame = figure.frame(frame.parent)
    return low, high


def rectangle(length: float, width: float, at: tuple[float, float] = (0.0, 0.0)) -> Array:
    """Corners (4, 2) of a sole of `length` and `width` [m] with its middle `at` (x, y) [m], counter-clockwise."""
    x, y = length / 2, width / 2
    return np.array([[x, y], [-x, y], [-x, -y], [x, -y]]) + at


def limits_of(leg: float, sole: Array, apart: float, arm: float) -> HumanoidLimits:
    """Limits in proportion to the dimensions of a body.

    leg: length of a straight leg [m]
    sole: corners of a sole (m, 2) [m]
    apart: distance of the feet in the home configuration [m]
    arm: length of an arm [m]
    """
    width, size = float(np.ptp(sole[:, 1])), math.sqrt(leg / GRAVITY)
    return HumanoidLimits(
        forward=0.4 * leg, apart=(min(width + 0.015 * leg, apart), apart + 0.24 * leg), turn=(0.2, 0.4), rise=0.12 * leg,
        lift=0.12 * leg, crouch=0.04 * leg, lean=0.25, reach=0.93 * arm, foot_speed=0.35 * leg / size, hand_speed=0.3 * leg / size,
        trunk_speed=0.25 / size,
    )  # fmt: skip


def small_humanoid() -> Humanoid:
    """The humanoid of the library: 20 joints, 580 mm tall, 6.5 kg."""
    figure = humanoid()
    home = np.array(figure.start)
    hands, shoulders = (tuple(f"{side}_{part}" for side in ("left", "right")) for part in ("hand", "shoulder_pitch"))
    sole = rectangle(*HumanoidSize.sole)
    return Humanoid(
        figure, home, ("left_sole", "right_sole"), hands, "trunk", shoulders, sole,  # type: ignore[arg-type]
        limits_of(0.278, sole, 0.077, 0.176),
    )  # fmt: skip
