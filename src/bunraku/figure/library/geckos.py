"""A climbing gecko: 11 links, 19 active variables, feet that turn freely on what they stick to (*gecko*, Fig. 1)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from bunraku.figure.build import Attached, Node, ball, capsule, effort, figure, fixed, free, rotate, rx, ry, rz, sphere
from bunraku.figure.figure import Figure
from bunraku.spatial import so3

GREEN, BELLY, SPOT = (0.35, 0.58, 0.2), (0.66, 0.71, 0.36), (0.2, 0.4, 0.14)
AMBER, BLACK = (0.9, 0.62, 0.12), (0.05, 0.05, 0.04)
UPPER, LOWER, FOOT = 0.06, 0.06, 0.006
MOTOR: dict[str, Any] = {"speed": 6.0, "effort": 1.5}
LEGS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}


def _foot(s: int) -> list[Attached]:
    """A pad with five toes."""
    toes = [math.pi / 2 * s + 0.62 * k for k in range(-2, 3)]
    tips = [(0.02 * math.cos(a), 0.02 * math.sin(a), 0.002) for a in toes]
    return [
        sphere(0.009, at=(0, 0, 0.004), color=GREEN, mass=0.004, name="foot"),
        *(capsule(0.0032, to=tip, color=GREEN, name="toe") for tip in tips),
        *(sphere(0.0048, at=tip, color=BELLY, name="pad") for tip in tips),
    ]


def _leg(name: str, x: float, stance: float, lift: float, bend: float) -> Node:
    """Seven variables: ball shoulder, elbow, and a passive ball foot. At zero the leg points straight out."""
    end, s = LEGS[name]
    turn = -stance * end * s  # front legs reach forward, rear legs backward
    # The foot starts flat on the floor: its angles undo those of the leg.
    R = so3.rpy(lift * s, 0.0, turn) @ so3.exp((-bend * s, 0.0, 0.0))
    foot = ball(
        f"{name}_foot", *_foot(s), fixed(f"{name}_pad", at=(0, 0, -FOOT)), at=(0, LOWER * s, 0),
        start=so3.angles_zyx(R.T).tolist(), limits=(-math.pi, math.pi),
    )  # fmt: skip
    elbow = rotate(
        (-s, 0, 0), f"{name}_elbow",
        capsule(0.0085, to=(0, LOWER * s, 0), mass=0.012, color=GREEN, name="lower_leg"),
        sphere(0.0105, color=SPOT, name="elbow"),
        foot, at=(0, UPPER * s, 0), start=bend, limits=(-0.2, 2.4), **MOTOR,
    )  # fmt: skip
    return ball(
        f"{name}_shoulder",
        capsule(0.0125, to=(0, UPPER * s, 0), mass=0.018, color=GREEN, name="upper_leg"),
        elbow, at=(x, 0.024 * s, 0), start=(turn, 0, lift * s), limits=((-1.3, 1.3), (-1.0, 1.0), (-1.0, 1.0)), **MOTOR,
    )  # fmt: skip


def _back(start: float, end: float) -> list[Attached]:
    """Spots along the back."""
    places = np.linspace(start, end, 4)
    return [sphere(0.01, at=(x, 0.012 * (-1) ** k, 0.0155), color=SPOT, name="spot") for k, x in enumerate(places)]


def _flanks(start: float, end: float) -> list[Attached]:
    """Geckos are wider than tall."""
    sides = (-0.012, 0.012)
    return [capsule(0.021, start=(start, y, -0.001), to=(end, y, -0.001), color=GREEN, name="flank") for y in sides]


def _head() -> list[Attached]:
    return [
        capsule(0.024, start=(0.045, -0.008, 0.004), to=(0.045, 0.008, 0.004), color=GREEN, name="skull"),
        capsule(0.0165, start=(0.06, -0.005, 0), to=(0.083, 0, -0.002), color=GREEN, name="snout"),
        capsule(0.012, start=(0.045, 0, -0.011), to=(0.082, 0, -0.007), color=BELLY, name="jaw"),
        *(sphere(0.0095, at=(0.057, y, 0.013), color=AMBER, name="eye") for y in (-0.019, 0.019)),
        *(capsule(0.0022, 0.009, at=(0.0605, 1.38 * y, 0.0155), color=BLACK, name="pupil") for y in (-0.019, 0.019)),
        *(sphere(0.002, at=(0.097, y, 0.004), color=BLACK, name="nostril") for y in (-0.005, 0.005)),
    ]


def _tail() -> list[Attached]:
    """A chain of capsules that thins out and curls."""
    places = [(-0.05 - 0.021 * k, 0.018 * math.sin(0.75 * k), -0.004 - 0.0012 * k) for k in range(9)]
    return [
        capsule(0.0165 - 0.0017 * k, start=a, to=b, color=GREEN if k % 2 else SPOT, name="tail")
        for k, (a, b) in enumerate(itertools.pairwise(places))
    ]


def gecko() -> Figure:
    """Climbing gecko with 19 motors and passive feet.

    The waist has 3 variables and each leg 7, of which the foot's 3 are passive.
    """
    stance, lift, bend = 0.45, 0.2, 1.2
    height = FOOT - UPPER * math.sin(lift) - LOWER * math.sin(lift - bend)
    hind = ry(
        "waist_pitch",
        capsule(0.025, start=(-0.01, 0, 0), to=(-0.06, 0, 0), mass=0.09, color=GREEN, name="rear"),
        *_flanks(-0.01, -0.055),
        capsule(0.021, start=(-0.01, 0, -0.008), to=(-0.06, 0, -0.008), color=BELLY, name="rear_belly"),
        *_back(-0.005, -0.06), *_tail(),
        fixed("bottom", at=(-0.06, 0, 0)),
        _leg("rear_left", -0.055, stance, lift, bend), _leg("rear_right", -0.055, stance, lift, bend),
        limits=(-0.9, 0.9), **MOTOR,
    )  # fmt: skip
    middle = rx(
        "waist_roll",
        capsule(0.025, to=(-0.04, 0, 0), mass=0.05, color=GREEN, name="middle"),
        *_flanks(0.0, -0.04),
        capsule(0.021, start=(0, 0, -0.008), to=(-0.04, 0, -0.008), color=BELLY, name="middle_belly"),
        fixed("waist", at=(-0.02, 0, 0)),
        rz("waist_yaw", hind, at=(-0.04, 0, 0), limits=(-0.9, 0.9), **MOTOR),
        at=(-0.05, 0, 0), limits=(-0.8, 0.8), **MOTOR,
    )  # fmt: skip
    active = (
        *(f"{leg}_{joint}" for leg in LEGS for joint in ("shoulder_rz", "shoulder_ry", "shoulder_rx", "elbow")),
        "waist_roll", "waist_yaw", "waist_pitch",
    )  # fmt: skip
    return figure(
        "gecko",
        free(
            "chest",
            capsule(0.025, start=(-0.04, 0, 0), to=(0.02, 0, 0), mass=0.1, color=GREEN, name="chest"),
            *_flanks(-0.03, 0.02),
            capsule(0.0225, start=(-0.04, 0, -0.008), to=(0.02, 0, -0.008), color=BELLY, name="chest_belly"),
            *_back(0.01, -0.05), *_head(),
            fixed("neck", at=(0.03, 0, 0)),
            _leg("front_left", 0.0, stance, lift, bend), _leg("front_right", 0.0, stance, lift, bend), middle,
            start=(0, 0, height, 0, 0, 0),
        ),
        forces=[effort(name) for name in active],
    )  # fmt: skip
