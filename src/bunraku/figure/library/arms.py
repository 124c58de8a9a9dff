"""Puppet arms on one string: in a plane (*marionettes*, Fig. 2) and in space (Fig. 4)."""

from __future__ import annotations

from bunraku.figure.build import (
    Attached,
    ball,
    box,
    capsule,
    cylinder,
    figure,
    fixed,
    rx,
    sphere,
    spindle,
    string,
)
from bunraku.figure.figure import Figure
from bunraku.figure.frame import Vector
from bunraku.figure.library.costume import spool
from bunraku.figure.library.pendulums import swing
from bunraku.figure.shape import WOOD, Color


class _Paint:
    """Colours of a puppet's arm."""

    sleeve: Color = (0.66, 0.16, 0.18)
    cuff: Color = (0.93, 0.88, 0.78)
    skin: Color = (0.87, 0.7, 0.53)
    dark: Color = (0.24, 0.21, 0.2)


def _upper(length: float, mass: float) -> list[Attached]:
    """Shapes of the upper arm."""
    return [
        sphere(0.034, color=WOOD, name="shoulder"),
        capsule(0.027, to=(0, 0, -length), mass=mass, color=_Paint.sleeve, name="upper_arm"),
    ]


def _lower(length: float, mass: float) -> list[Attached]:
    """Shapes of forearm and hand."""
    return [
        sphere(0.029, color=WOOD, name="elbow"),
        capsule(0.022, to=(0, 0, -length), mass=mass, color=_Paint.sleeve, name="forearm"),
        cylinder(0.027, start=(0, 0, -0.86 * length), to=(0, 0, -0.97 * length), color=_Paint.cuff, name="cuff"),
        sphere(0.03, at=(0, 0, -length - 0.01), color=_Paint.skin, name="palm"),
        capsule(0.018, start=(0, 0, -length), to=(0.012, 0, -length - 0.055), color=_Paint.skin, name="fingers"),
        capsule(0.01, start=(0, 0.02, -length), to=(0.012, 0.035, -length - 0.03), color=_Paint.skin, name="thumb"),
    ]


def _post(height: float) -> list[Attached]:
    """What the arm hangs on."""
    return [
        box((0.05, 0.05, height), at=(0, -0.07, 0.02 - height / 2), color=_Paint.dark, name="post"),
        box((0.26, 0.2, 0.02), at=(0, -0.07, 0.03 - height), color=_Paint.dark, name="foot"),
        cylinder(0.018, start=(0, -0.07, 0), to=(0, 0.0, 0), color=WOOD, name="peg"),
    ]


def arm2d(
    *, lengths: tuple[float, float] = (0.3, 0.3), masses: tuple[float, float] = (0.4, 0.3),
    height: float = 0.8, start: tuple[float, float] = (0.35, 0.9), damping: float = 0.0,
) -> Figure:  # fmt: skip
    """Puppet arm in a plane, on one string.

    The string from the wrist is wound by a spindle that moves along x. Dynamic: shoulder, elbow. Kinematic:
    hand_x, hand_length. Both links hang down at zero.

    lengths: of the upper arm and the forearm [m].
    masses: of the same [kg].
    height: of the spindle above the shoulder [m].
    start: angles of shoulder and elbow at the start [rad].
    damping: of both joints [N·m·s/rad].
    """
    upper, lower = lengths
    return figure(
        "arm2d",
        fixed("post", *_post(0.75)),
        swing(
            "shoulder", *_upper(upper, masses[0]),
            swing(
                "elbow", *_lower(lower, masses[1]), fixed("tip", at=(0, 0, -lower)),
                at=(0, 0, -upper), start=start[1],
            ),
            start=start[0],
        ),
        spindle("hand", *spool(), at=(0.32, 0, height), moves="x"),
        strings=[string("hand", "tip", "hand_spindle")], damping=damping,
    )  # fmt: skip


def arm3d(
    *, lengths: tuple[float, float] = (0.3, 0.28), masses: tuple[float, float] = (0.4, 0.3),
    height: float = 0.8, start: Vector = (0.0, 0.15, 0.5), bend: float = 0.9, damping: float = 0.02,
) -> Figure:  # fmt: skip
    """Puppet arm in space, on one string.

    The string from the wrist is wound by a spindle that moves in a plane. Dynamic: shoulder_rz,
    shoulder_ry, shoulder_rx, elbow. Kinematic: hand_x, hand_y, hand_length. A bent arm
    reaches toward +y.

    lengths: of the upper arm and the forearm [m].
    masses: of the same [kg].
    height: of the spindle above the shoulder [m].
    start: angles z, y, x of the shoulder at the start [rad].
    bend: angle of the elbow at the start [rad].
    damping: of all joints [N·m·s/rad].
    """
    upper, lower = lengths
    return figure(
        "arm3d",
        fixed("post", *_post(0.75)),
        ball(
            "shoulder", *_upper(upper, masses[0]),
            rx(
                "elbow", *_lower(lower, masses[1]), fixed("tip", at=(0, 0, -lower)),
                at=(0, 0, -upper), start=bend, limits=(0.0, 2.6),
            ),
            start=start,
        ),
        spindle("hand", *spool(), at=(-0.05, 0.42, height)),
        strings=[string("hand", "tip", "hand_spindle")], damping=damping,
    )  # fmt: skip
