"""Shapes of a marionette: wooden limbs and painted clothes, in metres for a puppet as tall as a person."""

from __future__ import annotations

import math
from dataclasses import replace

from bunraku.figure.build import Attached, body, box, capsule, cylinder, sphere
from bunraku.figure.figure import Figure
from bunraku.figure.frame import Vector
from bunraku.figure.shape import WOOD, Box, Capsule, Color, Cylinder, Shape, Sphere


class _Paint:
    """Default colours of a marionette."""

    jacket: Color = (0.62, 0.1, 0.13)
    trim: Color = (0.9, 0.7, 0.26)
    trousers: Color = (0.13, 0.2, 0.4)
    shoe: Color = (0.2, 0.13, 0.09)
    skin: Color = (0.89, 0.72, 0.54)
    rouge: Color = (0.82, 0.3, 0.22)
    hair: Color = (0.27, 0.15, 0.08)
    white: Color = (0.95, 0.93, 0.88)
    black: Color = (0.06, 0.05, 0.05)
    dark: Color = (0.24, 0.21, 0.2)


def scaled(parts: list[Attached], s: float) -> list[Attached]:
    """The shapes of `parts`, `s` times as large."""
    return [Attached(part.bodies, tuple(_larger(shape, s) for shape in part.shapes)) for part in parts]


def _larger(shape: Shape, s: float) -> Shape:
    x, y, z = shape.position
    match shape.geometry:
        case Sphere(radius):
            geometry: Sphere | Capsule | Cylinder | Box = Sphere(s * radius)
        case Capsule(radius, length):
            geometry = Capsule(s * radius, s * length)
        case Cylinder(radius, length):
            geometry = Cylinder(s * radius, s * length)
        case Box(size):
            geometry = Box((s * size[0], s * size[1], s * size[2]))
        case other:
            raise TypeError(f"a costume has no {other!r}")
    return replace(shape, geometry=geometry, position=(s * x, s * y, s * z))


def rod(mass: float, length: float, radius: float, *, top: Vector = (0.0, 0.0, 0.0)) -> Attached:
    """The mass of a wooden limb of this `mass` [kg], `length` and `radius` [m] that hangs down from `top` [m]."""
    inertia = [mass * i for i in Capsule(radius, length).unit_inertia()]
    return body(mass, (top[0], top[1], top[2] - length / 2), inertia)


def trunk(height: float, half: float, hip: float, neck: float = 0.1) -> list[Attached]:
    """Pelvis at the origin, shoulders at `height` and `half` to each side, hips `hip` to each side, `neck` high [m]."""
    z = height - 0.035
    return [
        capsule(0.108, start=(0, 0, 0.17), to=(0, 0, height - 0.13), color=_Paint.jacket, name="chest"),
        capsule(0.068, start=(0.03 - half, 0, z), to=(half - 0.03, 0, z), color=_Paint.jacket, name="shoulders"),
        cylinder(0.135, start=(0, 0, 0.015), to=(0, 0, 0.12), color=_Paint.jacket, name="skirt"),
        cylinder(0.138, start=(0, 0, 0.005), to=(0, 0, 0.025), color=_Paint.trim, name="hem"),
        cylinder(0.118, start=(0, 0, 0.12), to=(0, 0, 0.155), color=_Paint.trim, name="belt"),
        box((0.05, 0.02, 0.045), at=(0, 0.115, 0.1375), color=WOOD, name="buckle"),
        capsule(0.09, start=(-0.6 * hip, 0, 0), to=(0.6 * hip, 0, 0), color=_Paint.trousers, name="seat"),
        *(sphere(0.015, at=(0, 0.107, k), color=_Paint.trim, name="button") for k in (0.2, 0.27, 0.34)),
        cylinder(0.045, start=(0, 0, height - 0.02), to=(0, 0, height + neck), color=_Paint.skin, name="neck"),
        cylinder(0.085, start=(0, 0, height + 0.015), to=(0, 0, height + 0.035), color=_Paint.white, name="ruff"),
    ]


def face(z: float = 0.09, brim: float = 0.15) -> list[Attached]:
    """A head of radius 0.1 m with its centre at height `z` [m], in a hat whose brim has the radius `brim` [m]."""
    both = (-1, 1)
    return [
        sphere(0.1, at=(0, 0, z), color=_Paint.skin, name="head"),
        sphere(0.055, at=(0, 0.035, z - 0.06), color=_Paint.skin, name="chin"),
        capsule(0.018, start=(0, 0.095, z), to=(0, 0.15, z - 0.012), color=_Paint.rouge, name="nose"),
        *(sphere(0.021, at=(0.038 * k, 0.083, z + 0.03), color=_Paint.white, name="eye") for k in both),
        *(sphere(0.012, at=(0.038 * k, 0.0985, z + 0.032), color=_Paint.black, name="pupil") for k in both),
        *(sphere(0.026, at=(0.052 * k, 0.074, z - 0.022), color=_Paint.rouge, name="cheek") for k in both),
        capsule(0.009, 0.052, at=(0, 0.086, z - 0.056), rpy=(0, math.pi / 2, 0), color=_Paint.rouge, name="mouth"),
        *(sphere(0.024, at=(0.1 * k, 0, z), color=_Paint.skin, name="ear") for k in both),
        sphere(0.101, at=(0, -0.02, z + 0.022), color=_Paint.hair, name="hair"),
        cylinder(brim, start=(0, 0, z + 0.062), to=(0, 0, z + 0.074), color=_Paint.trousers, name="brim"),
        cylinder(0.092, start=(0, 0, z + 0.074), to=(0, 0, z + 0.16), color=_Paint.trousers, name="hat"),
        cylinder(0.096, start=(0, 0, z + 0.074), to=(0, 0, z + 0.097), color=_Paint.trim, name="band"),
    ]


def sleeve(length: float) -> list[Attached]:
    """Shoulder and upper arm of this `length` [m]."""
    return [
        sphere(0.063, color=_Paint.jacket, name="shoulder"),
        capsule(0.043, start=(0, 0, -0.03), to=(0, 0, 0.045 - length), color=_Paint.jacket, name="upper_arm"),
    ]


def forearm(length: float, thumb: tuple[float, float] = (0.0, 1.0)) -> list[Attached]:
    """Elbow, forearm of this `length` [m], and hand, whose `thumb` points this way along x and y."""
    tip = -length
    x, y = thumb
    return [
        sphere(0.037, color=WOOD, name="elbow"),
        capsule(0.034, start=(0, 0, -0.03), to=(0, 0, tip), color=_Paint.jacket, name="forearm"),
        capsule(0.044, start=(0, 0, tip + 0.03), to=(0, 0, tip + 0.015), color=_Paint.trim, name="cuff"),
        sphere(0.04, at=(0, 0, tip - 0.03), color=_Paint.skin, name="hand"),
        capsule(0.025, start=(0, 0, tip - 0.04), to=(0, 0.012, tip - 0.09), color=_Paint.skin, name="fingers"),
        capsule(
            0.013, start=(0.03 * x, 0.03 * y, tip - 0.025), to=(0.055 * x, 0.055 * y, tip - 0.06), color=_Paint.skin, name="thumb"
        ),
    ]


def thigh(length: float) -> list[Attached]:
    """A thigh of this `length` [m]."""
    return [capsule(0.066, start=(0, 0, -0.03), to=(0, 0, 0.05 - length), color=_Paint.trousers, name="thigh")]


def knee(length: float = 0.0) -> Attached:
    """A knee, below a thigh of this `length` [m]."""
    return sphere(0.055, at=(0, 0, -length), color=WOOD, name="knee")


def _shank(length: float) -> list[Attached]:
    return [
        knee(),
        capsule(0.046, start=(0, 0, -0.05), to=(0, 0, 0.04 - length), color=_Paint.white, name="stocking"),
        cylinder(0.054, start=(0, 0, 0.1 - length), to=(0, 0, -length), color=_Paint.shoe, name="boot"),
    ]


def shin(length: float, toe: float = 0.15) -> list[Attached]:
    """Knee, shin of this `length` [m], and a round shoe that reaches forward to `toe` [m]."""
    tip = -length
    return [
        *_shank(length),
        capsule(0.047, start=(0, -0.01, tip - 0.01), to=(0, toe, tip - 0.02), color=_Paint.shoe, name="shoe"),
        sphere(0.022, at=(0, toe + 0.04, tip + 0.015), color=_Paint.trim, name="pompom"),
    ]


def shank(length: float) -> list[Attached]:
    """Shin of this `length` [m] and the leg of a boot, without knee and foot."""
    return _shank(length)[1:]


def boot(toe: float, sole: tuple[float, float, float, float]) -> list[Attached]:
    """The foot of a boot, below its ankle, with a flat sole to stand on.

    toe: how far the tip of the boot is ahead of the ankle [m].
    sole: half the width of the sole, where its heel and its toe end along y, and how far it is below the ankle [m].
    """
    half, heel, tip, low = sole
    thick = 0.022
    return [
        capsule(0.047, start=(0, -0.01, -0.008), to=(0, toe, -0.012), color=_Paint.shoe, name="shoe"),
        sphere(0.022, at=(0, toe + 0.045, 0.02), color=_Paint.trim, name="pompom"),
        box((2 * half, tip - heel, thick), at=(0, (heel + tip) / 2, thick / 2 - low), color=_Paint.dark, name="sole"),
    ]


def spool(s: float = 1.0) -> list[Attached]:
    """The drum that winds a string, below its carriage, `s` times the usual size; nothing in it collides."""
    r = 0.018 * s
    return [
        cylinder(r, start=(-r, 0, r), to=(r, 0, r), color=WOOD, name="drum", collides=False),
        *(
            cylinder(1.5 * r, start=(a, 0, r), to=(b, 0, r), color=_Paint.dark, name="flange", collides=False)
            for a, b in ((-1.25 * r, -r), (r, 1.25 * r))
        ),
        box((3.2 * r, 2.6 * r, 0.8 * r), at=(0, 0, 2.9 * r), color=_Paint.dark, name="carriage", collides=False),
    ]


# -- several on one stage ----------------------------------------------------------------------------------------


def dressed(figure: Figure, number: int) -> Figure:
    """The `figure` in other colours, to tell it from others of its kind; `number` 0 keeps its own."""
    wardrobe = (
        {_Paint.jacket: _Paint.jacket, _Paint.trousers: _Paint.trousers},
        {_Paint.jacket: (0.1, 0.36, 0.34), _Paint.trousers: (0.38, 0.19, 0.12), _Paint.hair: (0.72, 0.5, 0.2)},
        {_Paint.jacket: (0.36, 0.2, 0.46), _Paint.trousers: (0.2, 0.2, 0.22), _Paint.hair: (0.1, 0.08, 0.07)},
        {_Paint.jacket: (0.78, 0.42, 0.1), _Paint.trousers: (0.16, 0.3, 0.2), _Paint.hair: (0.5, 0.2, 0.08)},
        {_Paint.jacket: (0.14, 0.3, 0.55), _Paint.trousers: (0.55, 0.5, 0.42), _Paint.hair: (0.6, 0.6, 0.58)},
    )
    colors = wardrobe[number % len(wardrobe)]
    return replace(figure, shapes=tuple(replace(s, color=colors.get(s.color, s.color)) for s in figure.shapes))
