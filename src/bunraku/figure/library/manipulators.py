"""A holonomic base with a six-variable arm: 7 bodies, 9 variables (*carrying*, Section III)."""

from __future__ import annotations

import math
from itertools import product

from bunraku.figure.build import Item, box, capsule, cylinder, effort, figure, fixed, rx, ry, rz, sphere, tx, ty, tz
from bunraku.figure.figure import Figure


def mobile_manipulator(*, rides: bool = False, wheels: str = "") -> Figure:
    """Arm of six variables on a base that rolls anywhere.

    Its wrist is spherical. With `rides`, the base also has height, pitch and roll, to follow the ground. By default wheels are part
    of the base; `wheels` makes them turn: "mecanum" for four with rollers at 45°, "differential" for two that drive, and casters.
    """
    orange, blue = (0.91, 0.43, 0.1), (0.1, 0.35, 0.7)
    grey, dark, steel = (0.86, 0.87, 0.88), (0.17, 0.18, 0.2), (0.6, 0.62, 0.66)
    gripper = [
        cylinder(0.036, start=(0, 0, 0.02), to=(0, 0, 0.06), color=steel, name="flange", mass=0.6),
        box((0.05, 0.13, 0.025), at=(0, 0, 0.072), color=dark, name="gripper"),
        *(box((0.03, 0.012, 0.08), at=(0, y, 0.122), color=steel, name="finger") for y in (-0.045, 0.045)),
    ]
    wrist = rz(
        "wrist_roll",
        cylinder(0.048, start=(0, 0, -0.19), to=(0, 0, -0.07), color=grey, name="wrist_roll", mass=1.5),
        ry(
            "wrist_bend", cylinder(0.05, start=(0, -0.055, 0), to=(0, 0.055, 0), color=dark, name="wrist_bend", mass=1.2),
            cylinder(0.04, to=(0, 0, 0.03), color=grey, name="wrist_stub"),
            rz(
                "wrist_turn", *gripper, fixed("tool", at=(0, 0, 0.15)),
                limits=(-2 * math.pi, 2 * math.pi), speed=4.0, effort=20.0,
            ),
            start=1.15, limits=(-2.1, 2.1), speed=3.5, effort=30.0,
        ),
        at=(0, 0, 0.4), limits=(-math.pi, math.pi), speed=3.5, effort=30.0,
    )  # fmt: skip
    elbow = ry(
        "elbow",
        cylinder(0.068, start=(0, -0.075, 0), to=(0, 0.075, 0), color=dark, name="elbow_motor"),
        capsule(0.054, start=(0, 0, 0.03), to=(0, 0, 0.2), color=orange, name="forearm", mass=4.0),
        wrist, at=(0, 0, 0.42), start=1.55, limits=(-2.7, 2.7), speed=3.0, effort=90.0,
    )  # fmt: skip
    shoulder = ry(
        "shoulder",
        cylinder(0.085, start=(0, -0.095, 0), to=(0, 0.095, 0), color=dark, name="shoulder_motor"),
        capsule(0.066, start=(0, 0, 0.03), to=(0, 0, 0.38), color=orange, name="upper_arm", mass=7.0),
        elbow, at=(0, 0, 0.2), start=-0.4, limits=(-1.9, 1.9), speed=2.5, effort=180.0,
    )  # fmt: skip
    arm = rz(
        "turret",
        cylinder(0.105, to=(0, 0, 0.07), color=steel, name="turret", mass=6.0),
        cylinder(0.088, start=(0, 0, 0.07), to=(0, 0, 0.2), color=orange, name="pillar"),
        sphere(0.088, at=(0, 0, 0.2), color=orange, name="cap"),
        shoulder, at=(0.12, 0, 0.42), limits=(-math.pi, math.pi), speed=2.5, effort=180.0,
    )  # fmt: skip
    base: list[Item] = [
        box((0.72, 0.52, 0.22), at=(0, 0, 0.22), color=grey, name="base", mass=60.0),
        box((0.74, 0.54, 0.045), at=(0, 0, 0.13), color=dark, name="bumper"),
        box((0.6, 0.44, 0.09), at=(0, 0, 0.375), color=blue, name="deck"),
        cylinder(0.05, start=(0.26, 0, 0.33), to=(0.26, 0, 0.36), color=dark, name="scanner"),
        box((0.02, 0.18, 0.06), at=(-0.352, 0, 0.25), color=dark, name="panel"),
        *(sphere(0.05, at=(x, 0, 0.05), color=dark, name="caster") for x in (-0.28, 0.28) if wheels == "differential"),
    ]  # fmt: skip
    for x, y in product((0.0,) if wheels == "differential" else (-0.24, 0.24), (-0.275, 0.275)):
        hub = (0.0, 0.0, 0.0) if wheels else (x, y, 0.1)
        parts = [
            cylinder(0.1, start=(hub[0], hub[1] - 0.14 * y, hub[2]), to=hub, color=dark, name="wheel"),
            cylinder(0.055, start=hub, to=(hub[0], hub[1] + 0.02 * y, hub[2]), color=orange, name="hub"),
        ]
        spoke = box((0.02, 0.008, 0.17), at=(0, 0.02 * y, 0), color=steel, name="spoke", collides=False)
        name = f"{wheels}_wheel_{'front' if x > 0 else 'rear' if x < 0 else 'side'}_{'left' if y > 0 else 'right'}"
        base += [ry(name, *parts, spoke, at=(x, y, 0.1))] if wheels else parts
    whole: list[Item] = [tz("base_lift", ry("base_pitch", rx("base_roll", *base, arm)))] if rides else [*base, arm]
    names = ("base_x", "base_y", "base_turn", "turret", "shoulder", "elbow", "wrist_roll", "wrist_bend", "wrist_turn")
    return figure(
        "mobile_manipulator",
        tx(
            "base_x",
            ty("base_y", rz("base_turn", *whole, speed=1.5, effort=120.0), speed=1.2, effort=300.0),
            speed=1.2, effort=300.0,
        ),
        forces=[effort(name) for name in names],
    )  # fmt: skip
