"""Parts that are fixed in a frame: bodies, and shapes with or without a mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from bunraku.errors import FigureError
from bunraku.figure.build.items import Attached
from bunraku.figure.build.places import quaternion_of, vector
from bunraku.figure.frame import ORIGIN, WORLD
from bunraku.figure.mass import Body, inertia_tuple
from bunraku.figure.shape import WOOD, Box, Capsule, Color, Cylinder, Geometry, Mesh, Shape, Sphere
from bunraku.spatial import so3
from bunraku.spatial.so3 import IDENTITY


def body(mass: float, com: Sequence[float] = ORIGIN, inertia: Sequence[float] = (0.0, 0.0, 0.0), name: str = "") -> Attached:
    """A body fixed in a frame.

    mass: [kg].
    com: centre of mass in the frame [m].
    inertia: about the centre of mass [kg·m²]: xx yy zz, or xx yy zz xy xz yz.
    name: of the body; without one, that of the frame.
    """
    full: Any = (*(float(i) for i in inertia), *(0.0,) * (6 - len(inertia)))
    return Attached(bodies=(Body(WORLD, float(mass), vector(com), full, name),))


class ShapeWords(TypedDict, total=False):
    """Keywords of every shape: where it is in its frame, how it looks, and the `mass` of a solid of this shape [kg]."""

    at: Sequence[float]
    rpy: Sequence[float]
    quaternion: Sequence[float]
    color: Color
    mass: float
    name: str
    collides: bool
    visible: bool


def _placed(geometry: Geometry, words: ShapeWords) -> Attached:
    """The shape at its place, with the body that its mass makes."""
    at, rotation = vector(words.get("at", ORIGIN)), quaternion_of(words.get("rpy"), words.get("quaternion"))
    mass, name, color = words.get("mass", 0.0), words.get("name", ""), words.get("color", WOOD)
    shape = Shape(WORLD, geometry, at, rotation, color, name, words.get("collides", True), words.get("visible", True))
    if not mass:
        return Attached(shapes=(shape,))
    if isinstance(geometry, Mesh):
        raise FigureError(
            "a mesh has no mass of its own", kind="shape", name=name or geometry.file, field="mass",
            advice="put body(mass, com, inertia) beside it",
        )  # fmt: skip
    R = so3.matrix(rotation)
    turned = mass * (R @ np.diag(geometry.unit_inertia()[:3]) @ R.T)
    return Attached((Body(WORLD, float(mass), at, inertia_tuple(turned), name),), (shape,))


def sphere(radius: float, **words: Unpack[ShapeWords]) -> Attached:
    """A sphere of `radius` [m]; `words` are those of every shape, see ShapeWords."""
    return _placed(Sphere(radius), words)


def box(size: Sequence[float], **words: Unpack[ShapeWords]) -> Attached:
    """A box of `size` (edges along x, y, z) [m]; `words` are those of every shape, see ShapeWords."""
    return _placed(Box(vector(size)), words)


def mesh(file: str, scale: Sequence[float] = (1.0, 1.0, 1.0), **words: Unpack[ShapeWords]) -> Attached:
    """The triangles in `file`, times `scale` along each axis; `words` are those of every shape, see ShapeWords."""
    return _placed(Mesh(file, vector(scale)), words)


def _between(start: Sequence[float], to: Sequence[float], words: ShapeWords) -> tuple[float, ShapeWords]:
    """Length and placement of a shape whose z axis runs from one point to another."""
    a, b = np.asarray(start, float), np.asarray(to, float)
    length = float(np.linalg.norm(b - a))
    q = so3.quaternion(so3.onto_z((b - a) / length)) if length > 0 else IDENTITY
    return length, {**words, "at": tuple((a + b) / 2), "quaternion": tuple(float(x) for x in q)}


def capsule(
    radius: float, length: float = 0.0, *, to: Sequence[float] | None = None, start: Sequence[float] = ORIGIN,
    **words: Unpack[ShapeWords],
) -> Attached:  # fmt: skip
    """A capsule along z, or from one point to another.

    radius: [m].
    length: of the cylinder between its half-spheres [m].
    to, start: centres of the half-spheres [m]; `to` replaces `length` and the place.
    words: those of every shape, see ShapeWords.
    """
    if to is not None:
        length, words = _between(start, to, words)
    return _placed(Capsule(radius, length), words)


def cylinder(
    radius: float, length: float = 0.0, *, to: Sequence[float] | None = None, start: Sequence[float] = ORIGIN,
    **words: Unpack[ShapeWords],
) -> Attached:  # fmt: skip
    """A cylinder along z, or from one point to another.

    radius: [m].
    length: [m].
    to, start: centres of its ends [m]; `to` replaces `length` and the place.
    words: those of every shape, see ShapeWords.
    """
    if to is not None:
        length, words = _between(start, to, words)
    return _placed(Cylinder(radius, length), words)
