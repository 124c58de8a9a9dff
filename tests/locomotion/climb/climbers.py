"""Other climbers than the library's gecko: the same in another size, one with a stiff waist, one with six legs and point feet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.figure.build import capsule, figure, fixed, free, rotate, rz, sphere
from bunraku.figure.shape import Capsule, Sphere
from bunraku.locomotion.climb.climber_roles import ClimberRoles


def scaled(given, s):
    """A figure `s` times as large, of the same density."""

    def long(x):
        return tuple(s * a for a in x)

    def moved(variable):
        if variable is None or variable.motion != "translate":
            return variable
        return replace(variable, start=s * variable.start)

    def larger(geometry):
        if isinstance(geometry, Sphere):
            return Sphere(s * geometry.radius)
        assert isinstance(geometry, Capsule)
        return Capsule(s * geometry.radius, s * geometry.length)

    frames = tuple(replace(f, position=long(f.position), variable=moved(f.variable)) for f in given.frames)
    shapes = tuple(replace(x, position=long(x.position), geometry=larger(x.geometry)) for x in given.shapes)
    bodies = tuple(
        replace(b, mass=s**3 * b.mass, com=long(b.com), inertia=tuple(s**5 * i for i in b.inertia)) for b in given.bodies
    )
    return replace(given, frames=frames, shapes=shapes, bodies=bodies)


HEXAPOD_ROLES = ClimberRoles(tuple(f"{side}{k}_foot" for k in range(3) for side in ("left", "right")), ("head", "rear"))


def hexapod():
    """A body with six legs of three motors each, and balls for feet."""
    upper, lower, tip, lift, bend = 0.05, 0.08, 0.008, 0.4, 1.6
    height = tip - upper * np.sin(lift) - lower * np.sin(lift - bend)

    def leg(name, x, s, turn):
        knee = rotate(
            (-s, 0, 0), f"{name}_knee", capsule(0.006, to=(0, 0.9 * lower * s, 0), mass=0.015, name="shank"),
            fixed(f"{name}_foot", sphere(tip, mass=0.002, name="tip"), at=(0, lower * s, 0)), at=(0, upper * s, 0), start=bend,
            limits=(0.1, 2.7),
        )  # fmt: skip
        thigh = rotate(
            (s, 0, 0),
            f"{name}_lift",
            capsule(0.008, to=(0, upper * s, 0), mass=0.02, name="thigh"),
            knee,
            start=lift,
            limits=(-1.2, 1.4),
        )  # fmt: skip
        return rz(f"{name}_yaw", thigh, at=(x, 0.035 * s, 0), start=turn * s, limits=(-1.2, 1.2))

    legs = []
    for k, (x, turn) in enumerate(((0.07, -0.5), (0.0, 0.0), (-0.07, 0.5))):
        legs += [leg(f"left{k}", x, 1, turn), leg(f"right{k}", x, -1, turn)]
    return figure(
        "hexapod",
        free(
            "body", capsule(0.02, start=(-0.08, 0, 0), to=(0.08, 0, 0), mass=0.4, name="hull"), fixed("head", at=(0.08, 0, 0)),
            fixed("rear", at=(-0.08, 0, 0)), *legs, start=(0, 0, float(height), 0, 0, 0),
        ),
    )  # fmt: skip
