"""Textbook figures: pendulum, double pendulum, chain, cart with pendulum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bunraku.figure.build import (
    Attached,
    FrameNode,
    Item,
    body,
    box,
    capsule,
    cylinder,
    effort,
    figure,
    fixed,
    rotate,
    rx,
    sphere,
    tx,
)
from bunraku.figure.figure import Figure
from bunraku.figure.shape import Color


class _Paint:
    """Colours of these figures."""

    steel: Color = (0.62, 0.65, 0.7)
    dark: Color = (0.2, 0.21, 0.24)
    brass: Color = (0.83, 0.66, 0.3)
    red: Color = (0.78, 0.2, 0.16)
    blue: Color = (0.2, 0.38, 0.62)


def swing(name: str, *children: Item, **words: Any) -> FrameNode:
    """A hinge called `name` whose positive angle swings what hangs from it, its `children`, toward +x; `words` as for `rotate`."""
    return rotate((0.0, -1.0, 0.0), name, *children, **words)


def _bracket(size: float = 1.0) -> Attached:
    return box((0.16 * size, 0.12 * size, 0.05 * size), at=(0, 0, 0.045 * size), color=_Paint.dark, name="bracket")


def pendulum(*, length: float = 1.0, mass: float = 1.0, damping: float = 0.0, start: float = 0.7, gravity: float = 9.81) -> Figure:
    """Point mass on a rod without mass.

    length: of the rod [m].
    mass: [kg].
    damping: [N·m·s/rad].
    start: angle at the start [rad].
    gravity: acceleration, downward [m/s²].
    """
    return figure(
        "pendulum",
        fixed("bracket", _bracket()),
        swing(
            "angle",
            cylinder(0.035, start=(0, -0.045, 0), to=(0, 0.045, 0), color=_Paint.steel, name="axle"),
            capsule(0.012, to=(0, 0, -length), color=_Paint.steel, name="rod"),
            sphere(0.09, at=(0, 0, -length), color=_Paint.brass, name="bob"),
            body(mass, (0, 0, -length), name="bob"),
            fixed("tip", at=(0, 0, -length)), start=start, damping=damping,
        ),
        gravity=(0, 0, -gravity),
    )  # fmt: skip


def double_pendulum(
    *, lengths: tuple[float, float] = (1.0, 1.0), masses: tuple[float, float] = (1.0, 1.0),
    damping: float = 0.0, start: tuple[float, float] = (1.1, 0.9), gravity: float = 9.81,
) -> Figure:  # fmt: skip
    """A double pendulum, which moves chaotically: point masses on massless rods.

    lengths: of the upper and the lower rod [m].
    masses: at the lower ends of the rods [kg].
    damping: of each joint [N·m·s/rad].
    start: angles at the start [rad], that of the upper rod from hanging straight down, that of the lower relative to the upper.
    gravity: acceleration, downward [m/s²].
    """
    upper, lower = lengths
    return figure(
        "double_pendulum",
        fixed("bracket", _bracket()),
        swing(
            "upper",
            cylinder(0.035, start=(0, -0.045, 0), to=(0, 0.045, 0), color=_Paint.steel, name="axle"),
            capsule(0.014, to=(0, 0, -upper), color=_Paint.steel, name="upper_rod"),
            sphere(0.085, at=(0, 0, -upper), color=_Paint.red, name="upper_bob"),
            body(masses[0], (0, 0, -upper), name="upper_bob"),
            swing(
                "lower",
                capsule(0.014, to=(0, 0, -lower), color=_Paint.steel, name="lower_rod"),
                sphere(0.085, at=(0, 0, -lower), color=_Paint.brass, name="lower_bob"),
                body(masses[1], (0, 0, -lower), name="lower_bob"),
                fixed("tip", at=(0, 0, -lower)), at=(0, 0, -upper), start=start[1],
            ),
            start=start[0],
        ),
        damping=damping, gravity=(0, 0, -gravity),
    )  # fmt: skip


def chain(
    n: int = 5, *, length: float = 1.0, mass: float = 1.0, inertia: Sequence[float] | None = None,
    damping: float = 0.0, start: Sequence[float] | None = None, gravity: float = 9.8,
) -> Figure:  # fmt: skip
    """Equal rods that hang from each other.

    They turn about x by the variables q0, q1, …

    n: number of rods.
    length, mass: of one rod [m], [kg].
    inertia: of one rod about its centre, xx yy zz [kg·m²]; without it, that of a thin rod.
    damping: of each joint [N·m·s/rad].
    start: angles at the start, each relative to the rod above [rad].
    gravity: acceleration, downward [m/s²].
    """
    across, along = mass * length**2 / 12, 1e-3 * mass * length**2
    moments = (across, across, along) if inertia is None else inertia
    bend = start if start is not None else [0.5, *(0.3 * math.cos(k + 1) for k in range(1, n))]
    r = 0.09 * length
    link = fixed("tip", at=(0, 0, -length))
    for k in reversed(range(n)):
        color = _Paint.brass if k % 2 else _Paint.blue
        link = rx(
            f"q{k}",
            capsule(r, start=(0, 0, -r), to=(0, 0, r - length), color=color, name=f"link{k}"),
            cylinder(1.5 * r, start=(-1.3 * r, 0, 0), to=(1.3 * r, 0, 0), color=_Paint.steel, name=f"pin{k}"),
            body(mass, (0, 0, -length / 2), moments, name=f"link{k}"),
            link, at=(0, 0, -length if k else 0), start=float(bend[k]), damping=damping,
        )  # fmt: skip
    return figure(f"chain{n}", fixed("bracket", _bracket(1.5 * length)), link, gravity=(0, 0, -gravity))


def cart_pendulum(
    *, length: float = 1.0, cart: float = 10.0, mass: float = 1.0, damping: float = 0.01,
    start: tuple[float, float] = (0.1, 2.0), gravity: float = 9.8,
) -> Figure:  # fmt: skip
    """Pendulum on a cart that a force pushes.

    The cart moves along x; the variables are x and theta.

    length: of the pendulum [m].
    cart, mass: of the cart and of the bob [kg].
    damping: of both variables [N·s/m and N·m·s/rad].
    start: x [m] and theta [rad] at the start.
    gravity: acceleration, downward [m/s²].
    """
    return figure(
        "cart_pendulum",
        fixed(
            "rail", capsule(0.02, start=(-2.2, 0, -0.15), to=(2.2, 0, -0.15), color=_Paint.steel, name="rail"),
            *(capsule(0.03, start=(x, 0, -0.15), to=(x, 0, -length - 0.3), color=_Paint.dark, name="post") for x in (-2.2, 2.2)),
            *(box((0.3, 0.5, 0.04), at=(x, 0, -length - 0.31), color=_Paint.dark, name="foot") for x in (-2.2, 2.2)),
        ),
        tx(
            "x",
            box((0.44, 0.2, 0.14), color=_Paint.blue, name="cart"),
            *(
                cylinder(0.055, start=(a, b, -0.075), to=(a, 1.35 * b, -0.075), color=_Paint.dark, name="wheel")
                for a in (-0.14, 0.14) for b in (-0.1, 0.1)
            ),
            body(cart, name="cart"),
            swing(
                "theta",
                cylinder(0.03, start=(0, -0.15, 0), to=(0, 0.15, 0), color=_Paint.steel, name="axle"),
                capsule(0.014, start=(0, -0.15, 0), to=(0, -0.15, -length), color=_Paint.steel, name="rod"),
                sphere(0.08, at=(0, -0.15, -length), color=_Paint.red, name="bob"),
                body(mass, (0, 0, -length), name="bob"),
                fixed("tip", at=(0, 0, -length)), start=start[1],
            ),
            start=start[0],
        ),
        forces=[effort("x", "x_force")], damping=damping, gravity=(0, 0, -gravity),
    )  # fmt: skip
