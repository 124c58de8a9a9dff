"""A small humanoid robot: 20 actuated joints, 580 mm, 6.5 kg (*guiding*, Fig. 7)."""

from __future__ import annotations

import math

from bunraku.figure.build import (
    Attached,
    Node,
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

WHITE, GREY, DARK = (0.92, 0.93, 0.94), (0.62, 0.65, 0.69), (0.15, 0.16, 0.18)
BLUE, CYAN = (0.12, 0.3, 0.66), (0.2, 0.8, 0.9)
THIGH, SHIN, ANKLE = 0.12, 0.12, 0.038
SOLE = (0.099, 0.072)
# Motors that sit inside each other, or in the trunk.
NESTED = (
    ("hip_pitch", "hip_yaw"), ("hip_pitch", "trunk"), ("hip_roll", "trunk"), ("shoulder_pitch", "shoulder_yaw"),
    ("shoulder_roll", "trunk"),
)  # fmt: skip
LEG = {"speed": 6.5, "effort": 4.5, "armature": 1e-3}
ARM = {"speed": 6.5, "effort": 2.5, "armature": 5e-4}


def _motor(axis: str, radius: float = 0.019, half: float = 0.022) -> Attached:
    end = {"x": (half, 0, 0), "y": (0, half, 0), "z": (0, 0, half)}[axis]
    return cylinder(radius, start=tuple(-e for e in end), to=end, color=DARK, name="motor")


def _leg(side: str, s: int, bend: float) -> Node:
    """Hip z, x, y; knee y; ankle y, x. Knees bend backward."""
    foot = rx(
        f"{side}_ankle_roll", _motor("x"),
        box((SOLE[0], SOLE[1], 0.016), at=(0.012, 0, 0.008 - ANKLE), mass=0.13, color=BLUE, name="sole"),
        box((0.06, 0.05, 0.024), at=(0.008, 0, 0.026 - ANKLE), color=WHITE, name="instep"),
        fixed(f"{side}_sole", at=(0.012, 0, -ANKLE)), limits=(-0.6, 0.6), **LEG,
    )  # fmt: skip
    ankle = ry(f"{side}_ankle_pitch", _motor("y"), foot, at=(0, 0, -SHIN), start=-bend, limits=(-1.2, 1.0), **LEG)
    knee = ry(
        f"{side}_knee", _motor("y", 0.021, 0.025),
        box((0.042, 0.046, 0.068), at=(0.004, 0, -0.052), mass=0.35, color=WHITE, name="shin"),
        box((0.012, 0.032, 0.05), at=(0.026, 0, -0.052), color=BLUE, name="shin_plate"),
        ankle, at=(0, 0, -THIGH), start=2 * bend, limits=(0.0, 2.3), **LEG,
    )  # fmt: skip
    pitch = ry(
        f"{side}_hip_pitch", _motor("y", 0.021, 0.029),
        box((0.048, 0.05, 0.066), at=(0.002, 0, -0.058), mass=0.45, color=WHITE, name="thigh"),
        box((0.012, 0.036, 0.05), at=(0.028, 0, -0.058), color=GREY, name="thigh_plate"),
        knee, start=-bend, limits=(-1.7, 0.7), **LEG,
    )  # fmt: skip
    roll = rx(f"{side}_hip_roll", _motor("x"), pitch, limits=(-0.5, 0.8) if s > 0 else (-0.8, 0.5), **LEG)
    return rz(
        f"{side}_hip_yaw", cylinder(0.022, start=(0, 0, 0.005), to=(0, 0, 0.03), mass=0.2, color=GREY, name="hip"), roll,
        at=(0, 0.0385 * s, -0.06), limits=(-0.8, 0.8), **LEG,
    )  # fmt: skip


def _arm(side: str, s: int) -> Node:
    """Shoulder y, x, z; elbow y."""
    elbow = ry(
        f"{side}_elbow", _motor("y", 0.016, 0.02),
        capsule(0.017, start=(0, 0, -0.028), to=(0, 0, -0.065), mass=0.14, color=WHITE, name="forearm"),
        cylinder(0.0185, start=(0, 0, -0.066), to=(0, 0, -0.076), color=BLUE, name="cuff"),
        sphere(0.019, at=(0, 0, -0.088), color=DARK, name="hand"),
        fixed(f"{side}_hand", at=(0, 0, -0.088)), at=(0, 0, -0.088), start=-0.7, limits=(-2.2, 0.0), **ARM,
    )  # fmt: skip
    yaw = rz(
        f"{side}_shoulder_yaw",
        capsule(0.019, start=(0, 0, -0.026), to=(0, 0, -0.066), mass=0.16, color=WHITE, name="upper_arm"), elbow,
        limits=(-1.6, 1.6), **ARM,
    )  # fmt: skip
    roll = rx(
        f"{side}_shoulder_roll", sphere(0.024, color=GREY, name="shoulder"), yaw,
        start=0.22 * s, limits=(-0.2, 1.9) if s > 0 else (-1.9, 0.2), **ARM,
    )  # fmt: skip
    return ry(
        f"{side}_shoulder_pitch", _motor("y", 0.02, 0.014), roll,
        at=(0, 0.088 * s, 0.12), start=0.15, limits=(-3.0, 1.6), **ARM,
    )  # fmt: skip


def humanoid(*, bend: float = 0.35) -> Figure:
    """Robot of 0.58 m with 20 motors, facing +x.

    It stands on eight contacts, four to a sole. `bend` is how far the hips and ankles are bent at the start
    [rad]; the knees take twice that.
    """
    head = [
        box((0.075, 0.085, 0.066), at=(0, 0, 0.044), mass=0.42, color=WHITE, name="head"),
        box((0.01, 0.07, 0.026), at=(0.036, 0, 0.046), color=DARK, name="visor"),
        *(sphere(0.008, at=(0.04, y, 0.047), color=CYAN, name="eye") for y in (-0.019, 0.019)),
        *(cylinder(0.014, start=(0, y, 0.042), to=(0, 1.25 * y, 0.042), color=BLUE, name="ear") for y in (-0.0425, 0.0425)),
        cylinder(0.02, start=(0, 0, -0.01), to=(0, 0, 0.015), color=DARK, name="neck"),
    ]
    trunk = [
        box((0.09, 0.13, 0.145), at=(0, 0, 0.0775), mass=2.32, color=WHITE, name="trunk"),
        box((0.012, 0.095, 0.07), at=(0.046, 0, 0.09), color=BLUE, name="breastplate"),
        cylinder(0.014, start=(0.05, 0, 0.1), to=(0.056, 0, 0.1), color=CYAN, name="lamp"),
        box((0.06, 0.1, 0.1), at=(-0.07, 0, 0.075), color=GREY, name="backpack"),
        box((0.07, 0.12, 0.04), at=(0, 0, -0.025), mass=0.9, color=GREY, name="pelvis"),
        cylinder(0.03, start=(0, 0, -0.01), to=(0, 0, 0.01), color=DARK, name="waist"),
    ]
    hip = ANKLE + (THIGH + SHIN) * math.cos(bend)
    joints = [f"{side}_{joint}" for side in ("left", "right") for joint in (
        "hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll",
        "shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow",
    )]  # fmt: skip
    corners = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}
    return figure(
        "humanoid",
        free(
            "trunk", *trunk, _leg("left", 1, bend), _leg("right", -1, bend), _arm("left", 1), _arm("right", -1),
            fixed("head", *head, at=(0, 0, 0.165)), start=(0, 0, hip + 0.06, 0, 0, 0),
        ),
        forces=[effort(joint) for joint in joints],
        contacts=[
            contact(f"{side}_{corner}", (f"{side}_sole", (a * SOLE[0] / 2, b * SOLE[1] / 2, 0)), friction=0.7)
            for side in ("left", "right") for corner, (a, b) in corners.items()
        ],
        allowed=[(f"{side}_{a}", b if b == "trunk" else f"{side}_{b}") for side in ("left", "right") for a, b in NESTED],
    )  # fmt: skip
