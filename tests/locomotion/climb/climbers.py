"""Other climbers than the library's gecko: the same in another size, with a stiff waist, six legs and balls for feet, and two
quadrupeds of the field, with the joints, lengths and masses of their public descriptions and capsules for shapes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.figure.build import capsule, figure, fixed, free, rotate, rz, sphere
from bunraku.figure.shape import Capsule, Sphere
from bunraku.locomotion.climb.climber_roles import GECKO_ROLES, ClimberRoles


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


def stiff(given):
    """A gecko whose waist does not bend: the same frames, without the three variables of the waist."""
    waist = ("waist_roll", "waist_yaw", "waist_pitch")

    def held(frame):
        return replace(frame, variable=None) if frame.variable is not None and frame.variable.name in waist else frame

    frames = tuple(map(held, given.frames))
    loose = {frame.name for frame, was in zip(frames, given.frames, strict=True) if frame is not was}
    forces = tuple(force for force in given.forces if force.variable not in waist)
    groups = tuple(joint for joint in given.groups if not loose & set(joint.frames))
    return replace(given, frames=frames, forces=forces, groups=groups)


STIFF_ROLES = replace(GECKO_ROLES, bends=())
QUADRUPED_ROLES = ClimberRoles(("lf_foot", "rf_foot", "lh_foot", "rh_foot"), ("front", "middle", "rear"))


def quadruped(name, *, hip, lift, thigh, shank, foot, stand, trunk, masses):
    """Four legs of three motors: abduction, hip, knee; balls for feet.

    For the left front leg, hip: from the middle of the body to the axis of abduction (x, y) [m]; lift: from there to the hip;
    thigh: from the hip to the knee (x, y, z); shank: from the knee to the foot (x, y, z); stand: its angles [rad]. foot: radius of
    a foot [m]; trunk: half length and radius [m]; masses: of trunk, hip, thigh and shank [kg].
    """
    legs = []
    for leg, e, s in (("lf", 1, 1), ("rf", 1, -1), ("lh", -1, 1), ("rh", -1, -1)):

        def at(x, e=e, s=s):
            return (e * x[0], s * x[1], *x[2:])

        knee, end = at(thigh), at(shank)
        ball = fixed(f"{leg}_foot", sphere(foot, mass=0.01 * masses[0], name="ball"), at=end)
        upper = max(0.8 * foot, 0.008)
        shin = capsule(upper, to=tuple(0.85 * x for x in end), mass=masses[3], name="shank")
        lower = rotate((0, 1, 0), f"{leg}_kfe", shin, ball, at=knee, start=e * stand[2], limits=(-2.9, 2.9), effort=80.0)
        bone = capsule(1.3 * upper, to=knee, mass=masses[2], name="thigh")
        middle = rotate(
            (0, 1, 0), f"{leg}_hfe", bone, lower, at=(*at(lift), 0.0), start=e * stand[1], limits=(-2.9, 2.9), effort=80.0
        )
        joint = sphere(1.4 * upper, mass=masses[1], name="hip")
        legs.append(
            rotate((1, 0, 0), f"{leg}_haa", joint, middle, at=(*at(hip), 0.0), start=s * stand[0], limits=(-1.6, 1.6), effort=80.0)
        )
    half, radius = trunk
    reach = np.array(thigh)[[0, 2]], np.array(shank)[[0, 2]]

    def down(x, angle):
        return float(np.cos(angle) * x[1] - np.sin(angle) * x[0])

    height = foot - np.cos(stand[0]) * (down(reach[0], stand[1]) + down(reach[1], stand[1] + stand[2]))
    hull = capsule(radius, start=(-half, 0, 0), to=(half, 0, 0), mass=masses[0], name="hull")
    marks = [fixed(mark, at=(x, 0, 0)) for mark, x in (("front", half), ("middle", 0.0), ("rear", -half))]
    return figure(name, free("body", hull, *marks, *legs, start=(0, 0, float(height), 0, 0, 0)))


def solo12():
    """Solo12 (Open Dynamic Robot Initiative)."""
    return quadruped(
        "solo12", hip=(0.1946, 0.0875), lift=(0.0, 0.014), thigh=(0.0, 0.03745, -0.16), shank=(0.0, 0.008, -0.16), foot=0.016,
        stand=(0.1, 0.8, -1.6), trunk=(0.16, 0.045), masses=(1.161, 0.1485, 0.1485, 0.0307),
    )  # fmt: skip


def anymal():
    """ANYmal B (ANYbotics)."""
    return quadruped(
        "anymal", hip=(0.277, 0.116), lift=(0.0635, 0.041), thigh=(0.0, 0.109, -0.25), shank=(0.1, -0.02, -0.32125), foot=0.031,
        stand=(-0.1, 0.7, -1.0), trunk=(0.2, 0.12), masses=(16.79, 1.42, 1.63, 0.35),
    )  # fmt: skip
