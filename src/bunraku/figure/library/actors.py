"""A marionette for shows: a neck, and strings where puppet makers tie them."""

from __future__ import annotations

from typing import NamedTuple

from bunraku.figure.build import (
    Attached,
    FrameNode,
    PointLike,
    ball,
    body,
    capsule,
    figure,
    fixed,
    free,
    rx,
    ry,
    spindle,
    spring,
    string,
)
from bunraku.figure.figure import Figure
from bunraku.figure.library.costume import boot, face, forearm, knee, rod, scaled, shank, sleeve, spool, thigh, trunk


class ActorSizes(NamedTuple):
    """Dimensions of the actor [m]. It stands with its soles at z = 0."""

    hips: float = 0.1
    """From the middle to either hip."""
    thigh: float = 0.4
    shin: float = 0.4
    toe: float = 0.09
    """From the ankle forward to the middle of the tip of the boot."""
    sole: tuple[float, float, float, float] = (0.045, -0.055, 0.115, 0.067)
    """Of a boot: half its width, where its heel and its toe end along y, and how far it is below the ankle."""
    shoulders: float = 0.17
    """From the middle to either shoulder."""
    trunk: float = 0.49
    """From the hips up to the shoulders."""
    neck: float = 0.09
    """From the shoulders up to the neck joint."""
    upper_arm: float = 0.26
    forearm: float = 0.25
    ankle: float = 0.6
    """How far an ankle tips forward and back, until leather stops it [rad]; half as far aside."""
    ankle_damping: float = 0.015
    """Of either axis of an ankle [N·m·s/rad]. An ankle is loose, and the lead is at its height: a foot that swings stays level."""
    hip_damping: float = 0.1
    """Of hips that turn or spread [N·m·s/rad]."""
    leg_damping: float = 1.2
    """Of hips and knees that bend forward and back [N·m·s/rad]: stiff leather ends the swing of a leg within a step."""
    band: float = 25.0
    """Stiffness of the rubber band behind each knee [N/m], whose length is 0 at rest: it lifts the foot when the knee rises."""
    hands: float = 2.45
    """Height of the puppeteer's hands."""
    shin_hook: tuple[float, float, float] = (0.0, 0.13, -0.17)
    """Where the string of a shin is tied, from its knee: on a wire ahead of it, so that the string clears the thigh."""


def _stirrup(size: ActorSizes) -> Attached:
    """The wire on which the string of a shin is tied."""
    x, y, z = size.shin_hook
    return capsule(0.004, start=(x, 0.03, z), to=(x, y, z), color=(0.35, 0.33, 0.3), name="stirrup", collides=False)


def _leg(side: str, size: ActorSizes) -> FrameNode:
    x = -size.hips if side == "l" else size.hips
    return ball(
        f"{side}hip", *thigh(size.thigh), knee(size.thigh), rod(0.8, size.thigh, 0.06),
        rx(
            f"{side}knee_rx", *shank(size.shin), rod(0.7, size.shin, 0.05), _stirrup(size),
            ry(
                f"{side}ankle_ry",
                rx(
                    f"{side}ankle_rx",
                    fixed(f"{side}foot", *boot(size.toe, size.sole), body(1.2, (0, 0, -0.003), (0.008, 0.0012, 0.0085))),
                    start=-0.07, damping=size.ankle_damping, limits=(-size.ankle, size.ankle),
                ),
                at=(0, 0, -size.shin), damping=size.ankle_damping, limits=(-size.ankle / 2, size.ankle / 2),
            ),
            at=(0, 0, -size.thigh), start=-0.17, damping=size.leg_damping, limits=(-2.2, 0.0),
        ),
        at=(x, 0, 0), start=(0, 0, 0.24), damping=[size.hip_damping, size.hip_damping, size.leg_damping],
    )  # fmt: skip


def _arm(side: str, size: ActorSizes) -> FrameNode:
    x = -size.shoulders if side == "l" else size.shoulders
    return ball(
        f"{side}shoulder", *sleeve(size.upper_arm), rod(0.5, size.upper_arm, 0.04),
        rx(
            f"{side}elbow_rx", *forearm(size.forearm, (0.7 if side == "l" else -0.7, 0.7)), rod(0.5, size.forearm + 0.06, 0.04),
            fixed(f"{side}hand", at=(0, 0, -size.forearm)), at=(0, 0, -size.upper_arm), start=0.63,
        ),
        at=(x, 0, size.trunk), start=(0.7 if side == "l" else -0.7, 0, 0.1),
    )  # fmt: skip


def actor(*, damping: float = 0.05) -> Figure:
    """Marionette for shows, as tall as a man, with a neck and thirteen strings.

    Strings: two at the head, two at the shoulders, one at the back, at each arm one at the hand and one at the elbow, at each leg
    one at the knee and one low at the shin. Feet are of lead and have flat soles; leather stops knees and ankles.
    `damping` is that of arms and trunk [N·m·s/rad or N·s/m]; the neck has three times as much.
    """
    size = ActorSizes()
    sides: tuple[tuple[str, str, float], ...] = (("left", "l", -1.0), ("right", "r", 1.0))
    strings: dict[str, tuple[PointLike, tuple[float, float]]] = {}  # hook, and the x and y of its spindle
    for name, _, s in sides:
        strings[f"{name}_shoulder"] = (("torso", (s * 0.15, 0.04, size.trunk + 0.05)), (s * 0.36, 0.0))
    strings["back"] = (("torso", (0.0, -0.12, 0.08)), (0.0, -0.35))
    for name, _, s in sides:
        strings[f"head_{name}"] = (("neck", (s * 0.138, 0.02, 0.182)), (s * 0.2, 0.1))
    for name, l, s in sides:
        strings[f"{name}_arm"] = ((f"{l}hand", (0.0, 0.058, -0.02)), (s * 0.3, 0.4))
        strings[f"{name}_arm_elbow"] = ((f"{l}shoulder", (s * 0.055, 0.0, 0.02 - size.upper_arm)), (s * 0.5, 0.0))
    for name, l, s in sides:
        strings[f"{name}_leg"] = ((f"{l}hip", (0.0, 0.06, 0.02 - size.thigh)), (s * 0.14, 0.5))
        strings[f"{name}_leg_shin"] = ((f"{l}knee_rx", size.shin_hook), (s * 0.14, 0.65))
    return figure(
        "actor",
        free(
            "torso", *trunk(size.trunk, size.shoulders, size.hips, size.neck + 0.04),
            rod(6.0, size.trunk, 0.11, top=(0, 0, size.trunk)), body(2.0, inertia=(0.01, 0.01, 0.01), name="pelvis"),
            _leg("l", size), _leg("r", size), _arm("l", size), _arm("r", size),
            ball(
                "neck", *scaled(face(brim=0.114), 1.15), body(1.2, (0, 0.035, 0.1), (0.012, 0.012, 0.012), "skull"),
                at=(0, 0, size.trunk + size.neck), damping=3.0 * damping,
            ),
            start=(0, -0.085, 0.845, 0, 0, 0),
        ),
        *(spindle(name, *spool(2.0), at=(x, y, size.hands)) for name, (_, (x, y)) in strings.items()),
        strings=[string(name, hook, f"{name}_spindle") for name, (hook, _) in strings.items()],
        springs=[
            spring(f"{name}_band", (f"{l}hip", (0, -0.07, 0.2 - size.thigh)), (f"{l}knee_rx", (0, -0.06, -0.15)), size.band)
            for name, l, _ in sides
        ],
        damping=damping,
    )  # fmt: skip
