"""Props: free bodies that figures kick, carry, drum on or sit down on."""

from __future__ import annotations

from bunraku.figure.build import box, cylinder, figure, free, sphere
from bunraku.figure.figure import Figure
from bunraku.figure.frame import Vector
from bunraku.figure.shape import Color


def football(radius: float = 0.05, mass: float = 0.06, at: Vector = (0.0, 0.0, 0.05)) -> Figure:
    """A ball that rolls and can be kicked.

    radius: [m]
    mass: [kg]
    at: where its centre starts [m]
    """
    return figure("football", free("football", sphere(radius, mass=mass, color=(0.78, 0.22, 0.16)), start=(*at, 0.0, 0.0, 0.0)))


def crate(size: Vector = (0.1, 0.1, 0.1), mass: float = 0.5, at: Vector = (0.0, 0.0, 0.05)) -> Figure:
    """A wooden box.

    size: its edges [m]
    mass: [kg]
    at: where its centre starts [m]
    """
    return figure("crate", free("crate", box(size, mass=mass, color=(0.80, 0.66, 0.46)), start=(*at, 0.0, 0.0, 0.0)))


def drum(radius: float = 0.12, height: float = 0.2, mass: float = 1.2, at: Vector = (0.0, 0.0, 0.1)) -> Figure:
    """A drum that stands on its end; it may topple and roll.

    radius: [m]
    height: [m]
    mass: [kg]
    at: where its centre starts [m]
    """
    return figure("drum", free("drum", cylinder(radius, height, mass=mass, color=(0.93, 0.89, 0.80)), start=(*at, 0.0, 0.0, 0.0)))


def chair(seat: float = 0.22, width: float = 0.24, mass: float = 2.0, at: Vector = (0.0, 0.0, 0.0)) -> Figure:
    """A chair for a puppet: a seat on four legs, and a back. It stands on the floor, and may be pushed or topple.

    seat: height of its seat [m]
    width: of its square seat [m]
    mass: [kg]
    at: where the middle of its feet starts [m]; its back is toward −y
    """
    thick, leg = 0.1 * width, 0.1 * width
    beech: Color = (0.80, 0.66, 0.46)
    high, apart = 0.9 * width, (width - leg) / 2
    parts = [box((width, width, thick), at=(0.0, 0.0, seat - thick / 2), mass=0.5 * mass, color=beech)]
    parts += [
        box((leg, leg, seat - thick), at=(x * apart, y * apart, (seat - thick) / 2), mass=0.08 * mass, color=beech)
        for x in (-1, 1) for y in (-1, 1)
    ]  # fmt: skip
    parts.append(box((width, thick, high), at=(0.0, (thick - width) / 2, seat + high / 2), mass=0.18 * mass, color=beech))
    return figure("chair", free("chair", *parts, start=(*at, 0.0, 0.0, 0.0)))
