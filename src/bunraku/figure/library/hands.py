"""A tendon-driven hand that holds a ball: strings through eyelets bend the fingers, springs stretch them."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np

from bunraku.figure import plain_kinematics
from bunraku.figure.build import (
    Attached,
    Node,
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
from bunraku.spatial import se3

SHELL, BRASS, DARK, PAD, RED, WHITE = (
    (0.88, 0.87, 0.84), (0.8, 0.62, 0.28), (0.2, 0.21, 0.24), (0.3, 0.32, 0.36), (0.82, 0.17, 0.13), (0.95, 0.94, 0.92),
)  # fmt: skip
R_BALL, R_TIP, STAND = 0.031, 0.0075, 0.13
BALL = (0.0494, 0.001, 0.1786, -0.0124, -0.007, -0.1144)  # where it is held: place, then turns z, y, x
SPRING = {"stiffness": 0.05, "damping": 2e-3}
# Across the palm, splay, three bends that close on the ball; lengths of the phalanges.
FINGERS = {
    "index": (0.0315, -0.0267, (1.3903, 0.7557, 0.8473), (0.045, 0.028, 0.02)),
    "middle": (0.0105, 0.0298, (1.1455, 1.0842, 0.4716), (0.049, 0.031, 0.021)),
    "ring": (-0.0105, 0.0399, (1.0567, 1.0996, 0.4971), (0.046, 0.029, 0.02)),
    "little": (-0.0315, -0.0219, (1.2563, 0.8755, 0.8142), (0.037, 0.023, 0.018)),
}
DRUMS = {"thumb": 0.03, "index": 0.015, "middle": 0.0, "ring": -0.015, "little": -0.03}
THUMB = (0.1143, (1.0436, 1.3, 0.9346), (0.045, 0.034, 0.024))


def _phalanx(length: float, radius: float, mass: float, tip: bool = False) -> list[Attached]:
    """Along +z, with a brass knuckle; the last one ends in a pad."""
    end = length if tip else length - radius
    parts = [
        cylinder(1.12 * radius, start=(0, -1.15 * radius, 0), to=(0, 1.15 * radius, 0), color=BRASS, name="knuckle"),
        capsule(radius, start=(0, 0, 0.4 * radius), to=(0, 0, end), mass=mass, color=SHELL, name="phalanx"),
    ]
    return [*parts, sphere(R_TIP * 1.08, at=(0.0012, 0, length), color=PAD, name="pad")] if tip else parts


def _finger(name: str) -> Node:
    """Splay about x, then three bends about y, toward +x."""
    y, splay, (a, b, c), (first, second, third) = FINGERS[name]
    last = ry(
        f"{name}_tip", *_phalanx(third, R_TIP, 0.008, tip=True), fixed(f"{name}_pad", at=(0, 0, third)),
        at=(0, 0, second), start=c, limits=(0.0, 1.5), **SPRING,
    )  # fmt: skip
    middle = ry(f"{name}_middle", *_phalanx(second, 0.0082, 0.012), last, at=(0, 0, first), start=b, limits=(0.0, 1.9), **SPRING)
    base = ry(f"{name}_base", *_phalanx(first, 0.009, 0.02), middle, start=a, limits=(-0.2, 1.6), **SPRING)
    return rx(f"{name}_splay", base, at=(0, y, 0.09 - 0.12 * abs(y - 0.0105)), start=splay, limits=(-0.3, 0.3), **SPRING)


def _thumb() -> Node:
    """Raised about x, then three bends that bring it round in front of the palm."""
    raised, (a, b, c), (first, second, third) = THUMB
    last = ry(
        "thumb_tip", *_phalanx(third, R_TIP, 0.01, tip=True), fixed("thumb_pad", at=(0, 0, third)),
        at=(0, 0, second), start=c, limits=(0.0, 1.4), **SPRING,
    )  # fmt: skip
    middle = ry("thumb_middle", *_phalanx(second, 0.0092, 0.018), last, at=(0, 0, first), start=b, limits=(0.0, 1.3), **SPRING)
    base = ry("thumb_base", *_phalanx(first, 0.0102, 0.025), middle, start=a, limits=(-0.3, 1.6), **SPRING)
    # The thumb's own z points sideways, its x to the front.
    return fixed("thumb_root", rx("thumb_raise", base, start=-raised, limits=(-1.2, 0.4), **SPRING),
                 at=(0.012, 0.04, 0.018), rpy=(-np.pi / 2, 0, 0))  # fmt: skip


def _tendon(name: str, route: Vector) -> StringSpec:
    """From the last phalanx along the palm side of the finger, over the palm, down to the motor."""
    first, second, third = (THUMB if name == "thumb" else FINGERS[name])[-1]
    through: list[PointLike] = [
        (f"{name}_middle", (0.0095, 0, 0.5 * second)), (f"{name}_base", (0.0105, 0, 0.5 * first)),
        ("palm", route), ("palm", (0.026, 0.5 * DRUMS[name], -0.012)),
    ]  # fmt: skip
    hook = (f"{name}_tip", (0.0065, 0, 0.7 * third))
    return string(f"{name}_tendon", hook, ("palm", (0.036, DRUMS[name], -0.081)), through=through)


def _palm() -> list[Attached]:
    return [
        box((0.02, 0.086, 0.078), at=(-0.004, 0, 0.044), color=SHELL, name="palm"),
        *(capsule(0.0095, start=(-0.004, y, 0.012), to=(-0.003, y, 0.078), color=SHELL, name="metacarpal")
          for y in (-0.0315, -0.0105, 0.0105, 0.0315)),
        box((0.005, 0.07, 0.05), at=(0.008, 0, 0.045), color=PAD, name="palm_pad"),
        cylinder(0.024, start=(0, 0, -0.02), to=(0, 0, 0.01), color=BRASS, name="wrist"),
        cylinder(0.026, start=(0, 0, -0.105), to=(0, 0, -0.02), color=DARK, name="forearm"),
        box((0.03, 0.076, 0.022), at=(0.02, 0, -0.087), color=SHELL, name="motors"),
        *(cylinder(0.006, start=(0.03, y, -0.087), to=(0.042, y, -0.087), color=BRASS, name="drum") for y in DRUMS.values()),
        cylinder(0.07, start=(0, 0, -STAND), to=(0, 0, -STAND + 0.02), color=DARK, name="foot"),
        cylinder(0.034, start=(0, 0, -STAND), to=(0, 0, -0.098), color=DARK, name="stem"),
    ]  # fmt: skip


def hand(*, grip: Literal["closure", "contact"] = "closure") -> Figure:
    """Hand with a tendon for each finger, holding a ball.

    With grip "closure" the five pads stick to the ball at a point; with "contact" they press on it with friction.
    """
    routes: dict[str, Vector] = {name: (0.0115, 0.85 * y, 0.075) for name, (y, *_) in FINGERS.items()}
    routes["thumb"] = (0.0135, 0.018, 0.04)
    ball = free(
        "ball", sphere(R_BALL, mass=0.06, color=RED, name="ball"),
        *(sphere(0.3 * R_BALL, at=tuple(0.735 * R_BALL * np.array(d)), color=WHITE, name="dot")
          for d in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))),
        start=BALL,
    )  # fmt: skip
    nodes = (fixed("palm", *_palm(), *(_finger(name) for name in FINGERS), _thumb(), at=(0, 0, STAND)), ball)
    X_W = plain_kinematics.poses(figure("hand", *nodes).frames)
    contacts: list[Contact] = []
    closures: list[Closure] = []
    for name in routes:
        # Where the pad is at the start, seen from the ball.
        p = se3.transform(se3.inverse(X_W["ball"]), X_W[f"{name}_pad"][:3, 3]).tolist()
        if grip == "closure":
            closures.append(closure(f"{name}_grip", f"{name}_pad", ("ball", p)))
        else:
            contacts.append(contact(f"{name}_grip", f"{name}_pad", ("ball", p), p, friction=0.9))
    tendons = [_tendon(name, route) for name, route in routes.items()]
    bases = [f"{name}_base" for name in FINGERS]
    # Neighbours rub, and the ball is held.
    allowed = [*pairwise(bases), *((f"{name}_tip", "ball") for name in routes)]
    return figure("hand", *nodes, strings=tendons, contacts=contacts, closures=closures, allowed=allowed)
