"""A finger on two tendons that run over the pulleys of its knuckles: one bends it, one stretches it."""

from __future__ import annotations

from bunraku.figure.build import (
    Attached,
    FrameNode,
    PointLike,
    StringSpec,
    box,
    capsule,
    cylinder,
    figure,
    fixed,
    pulley,
    ry,
    string,
)
from bunraku.figure.figure import Figure
from bunraku.figure.shape import Color


class _Paint:
    """Colours of the finger."""

    shell: Color = (0.88, 0.87, 0.84)
    brass: Color = (0.8, 0.62, 0.28)
    dark: Color = (0.2, 0.21, 0.24)


class _Size:
    """Lengths [m]."""

    phalanges: tuple[float, float, float] = (0.09, 0.06, 0.045)
    knuckle: float = 0.012
    """Radius of the pulleys that the tendons run over."""
    radius: float = 0.008
    """Of the phalanges."""


_NAMES = ("knuckle", "middle", "tip")


def _phalanx(length: float, mass: float) -> list[Attached]:
    wheel = _Size.knuckle
    return [
        cylinder(wheel, start=(0, -0.006, 0), to=(0, 0.006, 0), color=_Paint.brass, name="pulley"),
        capsule(_Size.radius, start=(0, 0, wheel), to=(0, 0, length - wheel), mass=mass, color=_Paint.shell, name="phalanx"),
    ]


def _tendon(name: str, side: float) -> StringSpec:
    """From the last phalanx over the pulley of each joint, on one side of it; between joints an eyelet keeps it at the bone."""
    own = 0.9 * side * _Size.knuckle
    first, second, third = _Size.phalanges
    through: list[PointLike] = [
        pulley("tip", _Size.knuckle, "y", side=("middle", (3.0 * side * _Size.knuckle, 0, second))),
        ("middle", (own, 0, 0.5 * second)),
        pulley("middle", _Size.knuckle, "y", side=("knuckle", (3.0 * side * _Size.knuckle, 0, first))),
        ("knuckle", (own, 0, 0.5 * first)),
        pulley("knuckle", _Size.knuckle, "y", side=("palm", (3.0 * side * _Size.knuckle, 0, 0))),
    ]
    return string(name, ("tip", (own, 0, 0.5 * third)), ("palm", (1.6 * own, 0, -0.06)), through=through)


def finger() -> Figure:
    """Finger on two tendons over the pulleys of its knuckles.

    The flexor bends it, the extensor stretches it; springs in the joints share the bending out.
    """
    node: FrameNode | None = None
    at = (0.0, 0.0, 0.0)
    joints = list(zip(_NAMES, _Size.phalanges, (0.03, 0.018, 0.012), (0.5, 0.4, 0.3), strict=True))
    for k, (name, length, mass, start) in reversed(list(enumerate(joints))):
        at = (0.0, 0.0, 0.0 if k == 0 else _Size.phalanges[k - 1])
        inner = (fixed("nail", at=(0, 0, length)),) if node is None else (node,)
        node = ry(name, *_phalanx(length, mass), *inner, at=at, start=start, limits=(-0.4, 1.7), stiffness=0.15, damping=3e-3)
    assert node is not None
    stand = [
        box((0.05, 0.06, 0.07), at=(0, 0, -0.05), color=_Paint.dark, name="block"),
        box((0.16, 0.16, 0.015), at=(0, 0, -0.0925), color=_Paint.dark, name="foot"),
    ]
    palm = fixed("palm", *stand, node, at=(0, 0, 0.1))
    return figure("finger", palm, strings=[_tendon("flexor", 1.0), _tendon("extensor", -1.0)])
