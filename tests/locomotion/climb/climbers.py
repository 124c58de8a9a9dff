"""Other climbers than the library's gecko: the same in another size, with a stiff waist, six legs and balls for feet, and
quadrupeds of the field from their public descriptions.

    python -m tests.locomotion.climb.climbers            # ten climbers, one row each; pictures go to the folder that is named
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np

from bunraku.figure.build import capsule, figure, fixed, free, rotate, rz, sphere
from bunraku.figure.mesh_file import read_mesh
from bunraku.figure.shape import Capsule, Mesh, Sphere
from bunraku.locomotion.climb.climber_roles import GECKO_ROLES, ClimberRoles
from bunraku.locomotion.climb.path_segments import Slope, Straight


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


def robot(name, feet, half):
    """A robot of example-robot-data and its roles: `feet` in pairs from front to rear, left before right; points of the trunk are
    `half` [m] ahead of and behind its base. Frames at the centres of the feet are added; feet of triangles become balls.
    Only shapes that collide are kept, and shown."""
    from bunraku.figure.frame import Frame
    from bunraku.io.robots import load_robot

    given = load_robot(name)
    base = given.groups[0].frames[-1]
    marks = tuple(Frame(mark, base, position=(x, 0.0, 0.0)) for mark, x in (("front", half), ("middle", 0.0), ("rear", -half)))
    balls = tuple(f"{foot}_ball" for foot in feet)
    shapes = [replace(shape, visible=True) for shape in given.shapes if shape.frame not in feet and shape.collides]
    for foot, ball in zip(feet, balls, strict=True):
        (shape,) = [shape for shape in given.shapes if shape.frame == foot and shape.collides]
        marks += (Frame(ball, foot, position=shape.position),)
        geometry = shape.geometry
        if isinstance(geometry, Mesh):
            geometry = Sphere(float(np.abs(read_mesh(geometry)[1]).max()))
        shapes.append(replace(shape, frame=ball, geometry=geometry, position=(0.0, 0.0, 0.0), visible=True))
    return given.replace(frames=(*given.frames, *marks), shapes=tuple(shapes)), ClimberRoles(balls, ("front", "middle", "rear"))


ROBOTS = {
    "solo12": (("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"), 0.19),
    "anymal": (("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"), 0.27),
    "hyq": (("lf_foot", "rf_foot", "lh_foot", "rh_foot"), 0.37),
    "a1": (("FL_foot", "FR_foot", "RL_foot", "RR_foot"), 0.18),
    "go1": (("FL_foot", "FR_foot", "RL_foot", "RR_foot"), 0.18),
}
"""Quadrupeds of the field: their feet, and half the length of their trunk [m]."""


def ten():
    """Ten climbers: for each, its name, figure, roles and path, which is in proportion to its legs."""
    from bunraku.figure import library

    gecko = library.named("gecko")
    for size in (0.05, 0.3, 1.0, 5.0):
        path = (Straight(0.06 * size), Slope(math.pi / 2), Straight(0.2 * size))
        yield f"gecko, {size:g} times the size", scaled(gecko, size), GECKO_ROLES, path
    yield "hexapod", hexapod(), HEXAPOD_ROLES, (Straight(0.08), Slope(math.pi / 2), Straight(0.12))
    yield "gecko with a stiff waist", stiff(gecko), STIFF_ROLES, (Straight(0.1), Slope(math.pi / 2), Straight(0.2))
    for name, (feet, half) in ROBOTS.items():
        if name != "go1":
            yield name, *robot(name, feet, half), (Straight(0.8 * half), Slope(math.pi / 6), Straight(5.0 * half))


def main(words):
    import bunraku
    from bunraku.locomotion.climb.climb import climb

    for name, climber, roles, path in ten():
        if len(words) > 1 and words[1] not in name:
            continue
        done = climb(path, figure=climber, roles=roles)
        change = {(kind, what): 100 * (a / b - 1) for kind, what, a, b, _ in done.ours.against(done.paper)}
        joints, trunk = (change.get((kind, "peak"), math.nan) for kind in ("joints", "trunk"))
        print(
            f"| {name} | {', '.join(map(str, path))} | {str(done.outcome).splitlines()[0]} | {done.adhesion.adhesion.max():.3f} "
            f"| {done.moving.adhesion.max():.3f} | {1e3 * done.clearance.min():.2f} mm | {joints:+.0f} % | {trunk:+.0f} % "
            f"| {done.ours.joints.max(initial=0.0):.1f} |", flush=True,
        )  # fmt: skip
        if words:
            bunraku.save(done.motion, f"{words[0]}/{name.replace(' ', '_').replace(',', '')}.png", scene=done.scene)


if __name__ == "__main__":
    main(sys.argv[1:])
