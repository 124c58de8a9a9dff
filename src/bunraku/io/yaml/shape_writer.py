"""Poses, shapes and bodies → the words of files: the shortest from which exactly the same object is read back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.figure import Body, Shape, build
from bunraku.figure.frame import ORIGIN, WORLD, Vector
from bunraku.figure.shape import WOOD, Box, Capsule, Cylinder, Mesh, Sphere
from bunraku.io.yaml.shape_words import mesh_name
from bunraku.spatial import so3
from bunraku.spatial.so3 import IDENTITY, Quaternion

Words = dict[str, Any]


def _rounded(values: Any) -> Iterator[list[float]]:
    """The values as a person may have written them: rounded first, exact last."""
    for digits in (9, 12):
        yield [round(float(v), digits) for v in values]
    yield [float(v) for v in values]


def pose_words(position: Vector, rotation: Quaternion) -> Words:
    """The words for a `position` [m] and a `rotation`; none where both are zero."""
    words: Words = {} if position == ORIGIN else {"at": position}
    if rotation == IDENTITY:
        return words
    exact = so3.angles_zyx(so3.matrix(rotation))[::-1]
    steps = [math.radians(15 * round(math.degrees(angle) / 15)) for angle in exact]
    for angles in (steps, *_rounded(exact)):
        if build.fixed("turned", rpy=angles).frames[0].rotation == rotation:
            return words | {"rpy": angles}
    return words | {"quaternion": rotation}


def shape_words(shape: Shape, folder: Path | None, *, color: Sequence[float] = WOOD) -> Words:
    """The words of a `shape` without its mass, in a file in `folder`; the default `color` is not written."""
    words = _geometry_words(shape, folder)
    words |= {} if tuple(shape.color) == tuple(color) else {"color": shape.color}
    words |= {} if shape.name == shape.frame else {"name": shape.name}
    words |= {} if shape.collides else {"collides": False}
    return words | ({} if shape.visible else {"visible": False})


def _geometry_words(shape: Shape, folder: Path | None) -> Words:
    pose = pose_words(shape.position, shape.rotation)
    match shape.geometry:
        case Sphere(radius):
            return {"sphere": radius} | pose
        case Box(size):
            return {"box": size} | pose
        case Mesh(file, scale):
            return {"mesh": mesh_name(file, folder)} | ({} if scale == (1.0, 1.0, 1.0) else {"scale": scale}) | pose
        case Capsule(radius, length):
            return {"capsule": radius} | (_ends(shape) or {"length": length, **pose})
        case Cylinder(radius, length):
            return {"cylinder": radius} | (_ends(shape) or {"length": length, **pose})
    raise TypeError(f"no words for {shape.geometry!r}")


def _ends(shape: Shape) -> Words | None:
    """`start` and `to` of a capsule or cylinder, if exactly the same one is read back from them."""
    long = shape.geometry
    assert isinstance(long, Capsule | Cylinder)
    make = build.capsule if isinstance(long, Capsule) else build.cylinder
    half = so3.matrix(shape.rotation)[:, 2] * long.length / 2
    for ends in _rounded(np.concatenate([shape.position - half, shape.position + half])):
        start, to = ends[:3], ends[3:]
        if start == to or (shape.rotation == IDENTITY and any(start)):  # along z, `length` is shorter
            continue
        again = make(long.radius, start=start, to=to).shapes[0]
        if (again.geometry, again.position, again.rotation) == (long, shape.position, shape.rotation):
            return ({} if tuple(start) == ORIGIN else {"start": start}) | {"to": to}
    return None


def body_words(body: Body) -> Words:
    """The words of a `body`."""
    words: Words = {"mass": body.mass}
    words |= {} if body.com == ORIGIN else {"com": body.com}
    if any(body.inertia):
        words["inertia"] = body.inertia if any(body.inertia[3:]) else body.inertia[:3]
    return words | ({} if body.name == body.frame else {"name": body.name})


def attached_words(bodies: Sequence[Body], shapes: Sequence[Shape], folder: Path | None) -> Words:
    """The words for the `bodies` and `shapes` that are fixed in one frame, in a file in `folder`.

    A body that follows from a shape's `mass` is not listed on its own.
    """
    left = list(bodies)
    described: list[Words] = []
    for shape in reversed(shapes):  # listed bodies come before those of shapes
        words = shape_words(shape, folder)
        if left and not isinstance(shape.geometry, Mesh) and left[-1] == _body_of(shape, left[-1].mass):
            words["mass"] = left.pop().mass
        described.insert(0, words)
    out: Words = {"bodies": [body_words(body) for body in left]} if left else {}
    return out | ({"shapes": described} if described else {})


def _body_of(shape: Shape, mass: float) -> Body | None:
    """The body of a solid with this shape and mass."""
    name = "" if shape.name == shape.frame else shape.name
    words: Any = {"at": shape.position, "quaternion": shape.rotation, "mass": mass, "name": name}
    match shape.geometry:
        case Sphere(radius):
            made = build.sphere(radius, **words)
        case Box(size):
            made = build.box(size, **words)
        case Capsule(radius, length):
            made = build.capsule(radius, length, **words)
        case Cylinder(radius, length):
            made = build.cylinder(radius, length, **words)
        case _:
            return None
    if not made.bodies:  # no mass
        return None
    body = made.bodies[0]
    return replace(body, frame=shape.frame, name=body.name if body.name != WORLD else shape.frame)
