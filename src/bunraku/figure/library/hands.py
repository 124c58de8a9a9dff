"""A tendon-driven hand that holds a ball: strings through eyelets bend the fingers, springs straighten them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from bunraku.figure import plain_kinematics
from bunraku.figure.build import (
    Attached,
    FrameNode,
    Item,
    PointLike,
    StringSpec,
    box,
    capsule,
    closure,
    contact,
    cylinder,
    figure,
    fixed,
    free,
    rx,
    ry,
    sphere,
    string,
)  # fmt: skip
from bunraku.figure.contact import Closure, Contact
from bunraku.figure.figure import Figure
from bunraku.figure.frame import Vector
from bunraku.figure.shape import Color
from bunraku.spatial import se3


class _Paint:
    """Colours of the hand and of its ball."""

    shell: Color = (0.88, 0.87, 0.84)
    brass: Color = (0.8, 0.62, 0.28)
    dark: Color = (0.2, 0.21, 0.24)
    pad: Color = (0.3, 0.32, 0.36)
    red: Color = (0.82, 0.17, 0.13)
    white: Color = (0.95, 0.94, 0.92)


class _Size:
    """Lengths [m]."""

    ball: float = 0.031
    """Radius of the ball."""
    tip: float = 0.0075
    """Radius of the last phalanges."""
    stand: float = 0.13
    """Height of the palm above the floor."""


class _Finger(NamedTuple):
    """One finger, as it closes on the ball."""

    across: float
    """Position of its base across the palm [m]."""
    splay: float
    """Sideways angle [rad]; of the thumb, the angle by which it is raised."""
    bends: tuple[float, float, float]
    """Angles of its three joints, from the palm on [rad]."""
    lengths: tuple[float, float, float]
    """Of its phalanges [m]."""
    drum: float
    """Position of its tendon's motor across the palm [m]."""


def _measures(name: str) -> _Finger:
    return {
        "index": _Finger(0.0315, -0.0267, (1.3903, 0.7557, 0.8473), (0.045, 0.028, 0.02), 0.015),
        "middle": _Finger(0.0105, 0.0298, (1.1455, 1.0842, 0.4716), (0.049, 0.031, 0.021), 0.0),
        "ring": _Finger(-0.0105, 0.0399, (1.0567, 1.0996, 0.4971), (0.046, 0.029, 0.02), -0.015),
        "little": _Finger(-0.0315, -0.0219, (1.2563, 0.8755, 0.8142), (0.037, 0.023, 0.018), -0.03),
        "thumb": _Finger(0.04, 0.1143, (1.0436, 1.3, 0.9346), (0.045, 0.034, 0.024), 0.03),
    }[name]


def _sprung(make: Callable[..., FrameNode], name: str, *children: Item, **words: Any) -> FrameNode:
    """A joint with a spring that straightens the finger, stiffness [N·m/rad] and damping [N·m·s/rad]."""
    return make(name, *children, stiffness=0.05, damping=2e-3, **words)


def _phalanx(length: float, radius: float, mass: float, tip: bool = False) -> list[Attached]:
    """A phalanx along +z, with a brass knuckle; the last one of a finger (`tip`) ends in a pad."""
    end = length if tip else length - radius
    parts = [
        cylinder(1.12 * radius, start=(0, -1.15 * radius, 0), to=(0, 1.15 * radius, 0), color=_Paint.brass, name="knuckle"),
        capsule(radius, start=(0, 0, 0.4 * radius), to=(0, 0, end), mass=mass, color=_Paint.shell, name="phalanx"),
    ]
    return [*parts, sphere(_Size.tip * 1.08, at=(0.0012, 0, length), color=_Paint.pad, name="pad")] if tip else parts


def _finger(name: str) -> FrameNode:
    """Splay about x, then three bends about y, toward +x."""
    y, splay, (a, b, c), (first, second, third), _ = _measures(name)
    last = _sprung(
        ry, f"{name}_tip", *_phalanx(third, _Size.tip, 0.008, tip=True), fixed(f"{name}_pad", at=(0, 0, third)),
        at=(0, 0, second), start=c, limits=(0.0, 1.5),
    )  # fmt: skip
    middle = _sprung(ry, f"{name}_middle", *_phalanx(second, 0.0082, 0.012), last, at=(0, 0, first), start=b, limits=(0.0, 1.9))
    base = _sprung(ry, f"{name}_base", *_phalanx(first, 0.009, 0.02), middle, start=a, limits=(-0.2, 1.6))
    return _sprung(rx, f"{name}_splay", base, at=(0, y, 0.09 - 0.12 * abs(y - 0.0105)), start=splay, limits=(-0.3, 0.3))


def _thumb() -> FrameNode:
    """Raised about x, then three bends that bring it round in front of the palm."""
    y, raised, (a, b, c), (first, second, third), _ = _measures("thumb")
    last = _sprung(
        ry, "thumb_tip", *_phalanx(third, _Size.tip, 0.01, tip=True), fixed("thumb_pad", at=(0, 0, third)),
        at=(0, 0, second), start=c, limits=(0.0, 1.4),
    )  # fmt: skip
    middle = _sprung(ry, "thumb_middle", *_phalanx(second, 0.0092, 0.018), last, at=(0, 0, first), start=b, limits=(0.0, 1.3))
    base = _sprung(ry, "thumb_base", *_phalanx(first, 0.0102, 0.025), middle, start=a, limits=(-0.3, 1.6))
    # The thumb's own z points sideways, its x to the front.
    up = _sprung(rx, "thumb_raise", base, start=-raised, limits=(-1.2, 0.4))
    return fixed("thumb_root", up, at=(0.012, y, 0.018), rpy=(-np.pi / 2, 0, 0))


def _tendon(name: str, route: Vector) -> StringSpec:
    """From the last phalanx along the palm side of the finger, over the palm, down to the motor."""
    (first, second, third), drum = _measures(name).lengths, _measures(name).drum
    through: list[PointLike] = [
        (f"{name}_middle", (0.0095, 0, 0.5 * second)), (f"{name}_base", (0.0105, 0, 0.5 * first)),
        ("palm", route), ("palm", (0.026, 0.5 * drum, -0.012)),
    ]  # fmt: skip
    hook = (f"{name}_tip", (0.0065, 0, 0.7 * third))
    return string(f"{name}_tendon", hook, ("palm", (0.036, drum, -0.081)), through=through)


def _palm() -> list[Attached]:
    return [
        box((0.02, 0.086, 0.078), at=(-0.004, 0, 0.044), color=_Paint.shell, name="palm"),
        *(capsule(0.0095, start=(-0.004, y, 0.012), to=(-0.003, y, 0.078), color=_Paint.shell, name="metacarpal")
          for y in (-0.0315, -0.0105, 0.0105, 0.0315)),
        box((0.005, 0.07, 0.05), at=(0.008, 0, 0.045), color=_Paint.pad, name="palm_pad"),
        cylinder(0.024, start=(0, 0, -0.02), to=(0, 0, 0.01), color=_Paint.brass, name="wrist"),
        cylinder(0.026, start=(0, 0, -0.105), to=(0, 0, -0.02), color=_Paint.dark, name="forearm"),
        box((0.03, 0.076, 0.022), at=(0.02, 0, -0.087), color=_Paint.shell, name="motors"),
        *(cylinder(0.006, start=(0.03, y, -0.087), to=(0.042, y, -0.087), color=_Paint.brass, name="drum")
          for y in (0.03, 0.015, 0.0, -0.015, -0.03)),
        cylinder(0.07, start=(0, 0, -_Size.stand), to=(0, 0, -_Size.stand + 0.02), color=_Paint.dark, name="foot"),
        cylinder(0.034, start=(0, 0, -_Size.stand), to=(0, 0, -0.098), color=_Paint.dark, name="stem"),
    ]  # fmt: skip


def hand(*, grip: Literal["closure", "contact"] = "closure") -> Figure:
    """Hand with a tendon for each finger, holding a ball.

    With grip "closure" the five pads stick to the ball at a point; with "contact" they press on it with friction.
    """
    fingers = ["index", "middle", "ring", "little"]
    routes: dict[str, Vector] = {name: (0.0115, 0.85 * _measures(name).across, 0.075) for name in fingers}
    routes["thumb"] = (0.0135, 0.018, 0.04)
    ball = free(
        "ball", sphere(_Size.ball, mass=0.06, color=_Paint.red, name="ball"),
        *(sphere(0.3 * _Size.ball, at=tuple(0.735 * _Size.ball * np.array(d)), color=_Paint.white, name="dot")
          for d in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))),
        start=(0.0494, 0.001, 0.1786, -0.0124, -0.007, -0.1144),  # where it is held: position, then angles z, y, x
    )  # fmt: skip
    nodes = (fixed("palm", *_palm(), *(_finger(name) for name in fingers), _thumb(), at=(0, 0, _Size.stand)), ball)
    X_W = plain_kinematics.poses(figure("hand", *nodes).frames)
    contacts: list[Contact] = []
    closures: list[Closure] = []
    for name in routes:
        # The position of the pad at the start, in the frame of the ball.
        p = se3.transform(se3.inverse(X_W["ball"]), X_W[f"{name}_pad"][:3, 3]).tolist()
        if grip == "closure":
            closures.append(closure(f"{name}_grip", f"{name}_pad", ("ball", p)))
        else:
            contacts.append(contact(f"{name}_grip", f"{name}_pad", ("ball", p), p, friction=0.9))
    tendons = [_tendon(name, route) for name, route in routes.items()]
    bases = [f"{name}_base" for name in fingers]
    # Neighbouring fingers touch each other, and the fingertips touch the ball.
    allowed = [*pairwise(bases), *((f"{name}_tip", "ball") for name in routes)]
    return figure("hand", *nodes, strings=tendons, contacts=contacts, closures=closures, allowed=allowed)
