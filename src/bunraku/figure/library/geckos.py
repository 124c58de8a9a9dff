"""A climbing gecko: 11 links, 19 active variables, feet that turn freely on what they stick to (*gecko*, Fig. 1); and a tail."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bunraku.figure.build import Attached, FrameNode, ball, capsule, effort, figure, fixed, free, rotate, rx, ry, rz, sphere
from bunraku.figure.figure import Figure
from bunraku.figure.shape import Color
from bunraku.spatial import so3


class _Paint:
    """Colours of a gecko."""

    green: Color = (0.35, 0.58, 0.2)
    belly: Color = (0.66, 0.71, 0.36)
    spot: Color = (0.2, 0.4, 0.14)
    amber: Color = (0.9, 0.62, 0.12)
    black: Color = (0.05, 0.05, 0.04)


class _Size:
    """Lengths of a leg [m]."""

    upper: float = 0.06
    lower: float = 0.06
    foot: float = 0.006
    """From the foot's joint down to its pad."""


def _driven(make: Callable[..., FrameNode], *what: Any, **words: Any) -> FrameNode:
    """A joint with a motor: its largest speed [rad/s] and torque [N·m]."""
    return make(*what, speed=6.0, effort=1.5, **words)


def _foot(s: int) -> list[Attached]:
    """A pad with five toes; ball and toes end at the height of the pad."""
    toes = [math.pi / 2 * s + 0.62 * k for k in range(-2, 3)]
    tips = [(0.02 * math.cos(a), 0.02 * math.sin(a), 0.0048 - _Size.foot) for a in toes]
    return [
        sphere(0.009, at=(0, 0, 0.009 - _Size.foot), color=_Paint.green, mass=0.004, name="foot"),
        *(capsule(0.0032, to=tip, color=_Paint.green, name="toe") for tip in tips),
        *(sphere(0.0048, at=tip, color=_Paint.belly, name="pad") for tip in tips),
    ]


def _leg(name: str, x: float, stance: float, lift: float, bend: float) -> FrameNode:
    """Seven variables: ball shoulder, elbow, and a passive ball foot. At zero the leg points straight out."""
    end, s = (1 if name.startswith("front") else -1), (1 if name.endswith("left") else -1)
    turn = -stance * end * s  # front legs reach forward, rear legs backward
    # The foot starts flat on the floor: its angles undo those of the leg.
    R = so3.rpy(lift * s, 0.0, turn) @ so3.exp((-bend * s, 0.0, 0.0))
    foot = ball(
        f"{name}_foot", *_foot(s), fixed(f"{name}_pad", at=(0, 0, -_Size.foot)), at=(0, _Size.lower * s, 0),
        start=so3.angles_zyx(R.T).tolist(),
    )  # fmt: skip
    elbow = _driven(
        rotate, (-s, 0, 0), f"{name}_elbow",
        capsule(0.0085, to=(0, 0.8 * _Size.lower * s, 0), mass=0.012, color=_Paint.green, name="lower_leg"),
        capsule(0.005, start=(0, 0.8 * _Size.lower * s, 0), to=(0, _Size.lower * s, 0), color=_Paint.green, name="ankle"),
        sphere(0.0105, color=_Paint.spot, name="elbow"),
        foot, at=(0, _Size.upper * s, 0), start=bend, limits=(-0.2, 2.4),
    )  # fmt: skip
    return _driven(
        ball, f"{name}_shoulder",
        capsule(0.0125, to=(0, _Size.upper * s, 0), mass=0.018, color=_Paint.green, name="upper_leg"),
        elbow, at=(x, 0.024 * s, 0), start=(turn, 0, lift * s), limits=((-1.3, 1.3), (-1.0, 1.0), (-1.0, 1.0)),
    )  # fmt: skip


def _back(start: float, end: float) -> list[Attached]:
    """Spots along the back."""
    places = np.linspace(start, end, 4)
    return [sphere(0.01, at=(x, 0.012 * (-1) ** k, 0.0155), color=_Paint.spot, name="spot") for k, x in enumerate(places)]


def _flanks(start: float, end: float) -> list[Attached]:
    """Shapes that make the body wider than tall."""
    sides = (-0.012, 0.012)
    return [capsule(0.021, start=(start, y, -0.001), to=(end, y, -0.001), color=_Paint.green, name="flank") for y in sides]


def _head() -> list[Attached]:
    return [
        capsule(0.024, start=(0.045, -0.008, 0.004), to=(0.045, 0.008, 0.004), color=_Paint.green, name="skull"),
        capsule(0.0165, start=(0.06, -0.005, 0), to=(0.083, 0, -0.002), color=_Paint.green, name="snout"),
        capsule(0.012, start=(0.045, 0, -0.011), to=(0.082, 0, -0.007), color=_Paint.belly, name="jaw"),
        *(sphere(0.0095, at=(0.057, y, 0.013), color=_Paint.amber, name="eye") for y in (-0.019, 0.019)),
        *(capsule(0.0022, 0.009, at=(0.0605, 1.38 * y, 0.0155), color=_Paint.black, name="pupil") for y in (-0.019, 0.019)),
        *(sphere(0.002, at=(0.097, y, 0.004), color=_Paint.black, name="nostril") for y in (-0.005, 0.005)),
    ]


def _tail() -> FrameNode:
    """A chain of capsules that thins out and curls, on a hinge that raises it."""
    places = [(-0.021 * k, 0.016 * math.sin(0.75 * k), -0.0012 * k) for k in range(7)]
    parts = [
        capsule(
            0.0131 - 0.0017 * k, start=a, to=b, color=_Paint.green if k % 2 else _Paint.spot, name="tail",
            mass=0.015 if k == 1 else 0.0,
        )
        for k, (a, b) in enumerate(itertools.pairwise(places))
    ]  # fmt: skip
    return _driven(ry, "tail", *parts, at=(-0.092, 0, -0.0064), limits=(-0.2, 2.0))


def gecko() -> Figure:
    """Climbing gecko with 19 motors, one more for its tail, and passive feet.

    The waist has 3 variables and each leg 7, of which the foot's 3 are passive.
    """
    stance, lift, bend = 0.45, 0.2, 1.2
    height = _Size.foot - _Size.upper * math.sin(lift) - _Size.lower * math.sin(lift - bend)
    hind = _driven(
        ry, "waist_pitch",
        capsule(0.025, start=(-0.01, 0, 0), to=(-0.06, 0, 0), mass=0.075, color=_Paint.green, name="rear"),
        *_flanks(-0.01, -0.055),
        capsule(0.021, start=(-0.01, 0, -0.008), to=(-0.06, 0, -0.008), color=_Paint.belly, name="rear_belly"),
        *_back(-0.005, -0.06),
        capsule(0.0155, start=(-0.06, 0, -0.004), to=(-0.088, 0, -0.006), color=_Paint.spot, name="rump"), _tail(),
        fixed("bottom", at=(-0.06, 0, 0)),
        _leg("rear_left", -0.055, stance, lift, bend), _leg("rear_right", -0.055, stance, lift, bend),
        limits=(-0.9, 0.9),
    )  # fmt: skip
    middle = _driven(
        rx, "waist_roll",
        capsule(0.025, to=(-0.04, 0, 0), mass=0.05, color=_Paint.green, name="middle"),
        *_flanks(0.0, -0.04),
        capsule(0.021, start=(0, 0, -0.008), to=(-0.04, 0, -0.008), color=_Paint.belly, name="middle_belly"),
        fixed("waist", at=(-0.02, 0, 0)),
        _driven(rz, "waist_yaw", hind, at=(-0.04, 0, 0), limits=(-0.9, 0.9)),
        at=(-0.05, 0, 0), limits=(-0.8, 0.8),
    )  # fmt: skip
    legs = ("front_left", "front_right", "rear_left", "rear_right")
    active = (
        *(f"{leg}_{joint}" for leg in legs for joint in ("shoulder_rz", "shoulder_ry", "shoulder_rx", "elbow")),
        "waist_roll", "waist_yaw", "waist_pitch", "tail",
    )  # fmt: skip
    return figure(
        "gecko",
        free(
            "chest",
            capsule(0.025, start=(-0.04, 0, 0), to=(0.02, 0, 0), mass=0.1, color=_Paint.green, name="chest"),
            *_flanks(-0.03, 0.02),
            capsule(0.0225, start=(-0.04, 0, -0.008), to=(0.02, 0, -0.008), color=_Paint.belly, name="chest_belly"),
            *_back(0.01, -0.05), *_head(),
            fixed("neck", at=(0.03, 0, 0)),
            _leg("front_left", 0.0, stance, lift, bend), _leg("front_right", 0.0, stance, lift, bend), middle,
            start=(0, 0, height, 0, 0, 0),
        ),
        forces=[effort(name) for name in active],
    )  # fmt: skip
