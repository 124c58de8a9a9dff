"""A small humanoid robot: 20 actuated joints, 580 mm, 6.5 kg (*guiding*, Fig. 7)."""

from __future__ import annotations

import math

from bunraku.figure.build import (
    Attached,
    FrameNode,
    box,
    capsule,
    contact,
    cylinder,
    effort,
    figure,
    fixed,
    free,
    rx,
    ry,
    rz,
    sphere,
)
from bunraku.figure.figure import Figure
from bunraku.figure.shape import Color


class _Paint:
    """Colours of the robot."""

    white: Color = (0.92, 0.93, 0.94)
    grey: Color = (0.62, 0.65, 0.69)
    dark: Color = (0.15, 0.16, 0.18)
    blue: Color = (0.12, 0.3, 0.66)
    cyan: Color = (0.2, 0.8, 0.9)


class HumanoidSize:
    """Lengths [m]."""

    thigh: float = 0.12
    shin: float = 0.12
    ankle: float = 0.038
    """From the ankle down to the sole."""
    sole: tuple[float, float] = (0.099, 0.072)
    """Length and width."""


def _motor(axis: str, radius: float = 0.019, half: float = 0.022) -> Attached:
    end = {"x": (half, 0, 0), "y": (0, half, 0), "z": (0, 0, half)}[axis]
    return cylinder(radius, start=tuple(-e for e in end), to=end, color=_Paint.dark, name="motor")


def _leg(side: str, s: int, bend: float) -> FrameNode:
    """Hip z, x, y; knee y; ankle y, x. Knees bend backward."""
    motor = {"speed": 6.5, "effort": 4.5, "armature": 1e-3}
    foot = rx(
        f"{side}_ankle_roll", _motor("x"),
        box(
            (*HumanoidSize.sole, 0.016), at=(0.012, 0, 0.008 - HumanoidSize.ankle), mass=0.13, color=_Paint.blue, name="sole"
        ),
        box((0.06, 0.05, 0.024), at=(0.008, 0, 0.026 - HumanoidSize.ankle), color=_Paint.white, name="instep"),
        fixed(f"{side}_sole", at=(0.012, 0, -HumanoidSize.ankle)), limits=(-0.6, 0.6), **motor,
    )  # fmt: skip
    ankle = ry(f"{side}_ankle_pitch", _motor("y"), foot, at=(0, 0, -HumanoidSize.shin), start=-bend, limits=(-1.2, 1.0), **motor)
    knee = ry(
        f"{side}_knee", _motor("y", 0.021, 0.025),
        box((0.042, 0.046, 0.068), at=(0.004, 0, -0.052), mass=0.35, color=_Paint.white, name="shin"),
        box((0.012, 0.032, 0.05), at=(0.026, 0, -0.052), color=_Paint.blue, name="shin_plate"),
        ankle, at=(0, 0, -HumanoidSize.thigh), start=2 * bend, limits=(0.0, 2.3), **motor,
    )  # fmt: skip
    pitch = ry(
        f"{side}_hip_pitch", _motor("y", 0.021, 0.029),
        box((0.048, 0.05, 0.066), at=(0.002, 0, -0.058), mass=0.45, color=_Paint.white, name="thigh"),
        box((0.012, 0.036, 0.05), at=(0.028, 0, -0.058), color=_Paint.grey, name="thigh_plate"),
        knee, start=-bend, limits=(-1.7, 0.7), **motor,
    )  # fmt: skip
    roll = rx(f"{side}_hip_roll", _motor("x"), pitch, limits=(-0.5, 0.8) if s > 0 else (-0.8, 0.5), **motor)
    return rz(
        f"{side}_hip_yaw", cylinder(0.022, start=(0, 0, 0.005), to=(0, 0, 0.03), mass=0.2, color=_Paint.grey, name="hip"), roll,
        at=(0, 0.0385 * s, -0.06), limits=(-0.8, 0.8), **motor,
    )  # fmt: skip


def _arm(side: str, s: int) -> FrameNode:
    """Shoulder y, x, z; elbow y."""
    motor = {"speed": 6.5, "effort": 2.5, "armature": 5e-4}
    elbow = ry(
        f"{side}_elbow", _motor("y", 0.016, 0.02),
        capsule(0.017, start=(0, 0, -0.028), to=(0, 0, -0.065), mass=0.14, color=_Paint.white, name="forearm"),
        cylinder(0.0185, start=(0, 0, -0.066), to=(0, 0, -0.076), color=_Paint.blue, name="cuff"),
        sphere(0.019, at=(0, 0, -0.088), color=_Paint.dark, name="hand"),
        fixed(f"{side}_hand", at=(0, 0, -0.088)), at=(0, 0, -0.088), start=-0.7, limits=(-2.2, 0.0), **motor,
    )  # fmt: skip
    yaw = rz(
        f"{side}_shoulder_yaw",
        capsule(0.019, start=(0, 0, -0.026), to=(0, 0, -0.066), mass=0.16, color=_Paint.white, name="upper_arm"), elbow,
        limits=(-1.6, 1.6), **motor,
    )  # fmt: skip
    roll = rx(
        f"{side}_shoulder_roll", sphere(0.024, color=_Paint.grey, name="shoulder"), yaw,
        start=0.22 * s, limits=(-0.2, 1.9) if s > 0 else (-1.9, 0.2), **motor,
    )  # fmt: skip
    return ry(
        f"{side}_shoulder_pitch", _motor("y", 0.02, 0.014), roll,
        at=(0, 0.088 * s, 0.12), start=0.15, limits=(-3.0, 1.6), **motor,
    )  # fmt: skip


def humanoid(*, bend: float = 0.35) -> Figure:
    """Robot of 0.58 m with 20 motors, facing +x.

    It stands on eight contacts, four to a sole. `bend` is how far the hips and ankles are bent at the start
    [rad]; the knees take twice that.
    """
    head = [
        box((0.075, 0.085, 0.066), at=(0, 0, 0.044), mass=0.42, color=_Paint.white, name="head"),
        box((0.01, 0.07, 0.026), at=(0.036, 0, 0.046), color=_Paint.dark, name="visor"),
        *(sphere(0.008, at=(0.04, y, 0.047), color=_Paint.cyan, name="eye") for y in (-0.019, 0.019)),
        *(cylinder(0.014, start=(0, y, 0.042), to=(0, 1.25 * y, 0.042), color=_Paint.blue, name="ear") for y in (-0.0425, 0.0425)),
        cylinder(0.02, start=(0, 0, -0.01), to=(0, 0, 0.015), color=_Paint.dark, name="neck"),
    ]
    trunk = [
        box((0.09, 0.13, 0.145), at=(0, 0, 0.0775), mass=2.32, color=_Paint.white, name="trunk"),
        box((0.012, 0.095, 0.07), at=(0.046, 0, 0.09), color=_Paint.blue, name="breastplate"),
        cylinder(0.014, start=(0.05, 0, 0.1), to=(0.056, 0, 0.1), color=_Paint.cyan, name="lamp"),
        box((0.06, 0.1, 0.1), at=(-0.07, 0, 0.075), color=_Paint.grey, name="backpack"),
        box((0.07, 0.12, 0.04), at=(0, 0, -0.025), mass=0.9, color=_Paint.grey, name="pelvis"),
        cylinder(0.03, start=(0, 0, -0.01), to=(0, 0, 0.01), color=_Paint.dark, name="waist"),
    ]
    hip = HumanoidSize.ankle + (HumanoidSize.thigh + HumanoidSize.shin) * math.cos(bend)
    joints = [f"{side}_{joint}" for side in ("left", "right") for joint in (
        "hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll",
        "shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow",
    )]  # fmt: skip
    # Motors that sit inside each other, or in the trunk.
    nested = (
        ("hip_pitch", "hip_yaw"), ("hip_pitch", "trunk"), ("hip_roll", "trunk"), ("shoulder_pitch", "shoulder_yaw"),
        ("shoulder_roll", "trunk"),
    )  # fmt: skip
    length, width = HumanoidSize.sole
    corners = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}
    return figure(
        "humanoid",
        free(
            "trunk", *trunk, _leg("left", 1, bend), _leg("right", -1, bend), _arm("left", 1), _arm("right", -1),
            fixed("head", *head, at=(0, 0, 0.165)), start=(0, 0, hip + 0.06, 0, 0, 0),
        ),
        forces=[effort(joint) for joint in joints],
        contacts=[
            contact(f"{side}_{corner}", (f"{side}_sole", (a * length / 2, b * width / 2, 0)), friction=0.7)
            for side in ("left", "right") for corner, (a, b) in corners.items()
        ],
        allowed=[(f"{side}_{a}", b if b == "trunk" else f"{side}_{b}") for side in ("left", "right") for a, b in nested],
    )  # fmt: skip
