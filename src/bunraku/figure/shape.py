"""Shapes: what a figure or an obstacle looks like and collides with."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bunraku.errors import FigureError
from bunraku.figure.frame import ORIGIN, Vector
from bunraku.figure.mass import Inertia
from bunraku.spatial.so3 import IDENTITY, Quaternion

Color = tuple[float, float, float]
"""Red, green, blue, each from 0 to 1."""
WOOD: Color = (0.72, 0.53, 0.34)
"""The default colour of shapes."""


@dataclass(frozen=True)
class Sphere:
    """A ball of `radius` [m] about its centre."""

    radius: float

    def unit_inertia(self) -> Inertia:
        """Inertia of a solid of mass 1 about its centre [m²]."""
        i = 0.4 * self.radius**2
        return (i, i, i, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with half-spheres on both ends; `length` [m] is the cylinder's."""

    radius: float
    length: float

    def unit_inertia(self) -> Inertia:
        """Inertia of a solid of mass 1 about its centre [m²]."""
        r, l = self.radius, self.length
        tube, ball = l, 4.0 / 3.0 * r  # volumes over π r²
        m_tube, m_ball = tube / (tube + ball), ball / (tube + ball)
        axial = m_tube * r * r / 2 + m_ball * 2 / 5 * r * r
        across = m_tube * (r * r / 4 + l * l / 12) + m_ball * (2 / 5 * r * r + l * l / 4 + 3 / 8 * l * r)
        return (across, across, axial, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z, centred, of `radius` and `length` [m]."""

    radius: float
    length: float

    def unit_inertia(self) -> Inertia:
        """Inertia of a solid of mass 1 about its centre [m²]."""
        across = self.radius**2 / 4 + self.length**2 / 12
        return (across, across, self.radius**2 / 2, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Box:
    """A box, centred; `size` holds its full edge lengths along x, y, z [m]."""

    size: Vector

    def unit_inertia(self) -> Inertia:
        """Inertia of a solid of mass 1 about its centre [m²]."""
        a, b, c = (s * s / 12 for s in self.size)
        return (b + c, a + c, a + b, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Mesh:
    """Triangles from a `file` (STL, OBJ, GLB, PLY, DAE); `scale` turns its unit into metres."""

    file: str
    scale: Vector = (1.0, 1.0, 1.0)


Geometry = Sphere | Capsule | Cylinder | Box | Mesh


@dataclass(frozen=True)
class Shape:
    """A geometry placed in a frame."""

    frame: str
    geometry: Geometry
    position: Vector = ORIGIN
    rotation: Quaternion = IDENTITY
    color: Color = WOOD
    name: str = ""
    collides: bool = True
    visible: bool = True
    """Robots often have one set of shapes that is shown and a simpler one that collides."""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.frame)
        check_geometry(self.geometry, kind="shape", name=self.name)
        if not all(map(math.isfinite, (*self.position, *self.rotation, *self.color))):
            raise FigureError("not a finite number", kind="shape", name=self.name, advice="at, rpy and color must be finite")


def check_geometry(geometry: Geometry, *, kind: str, name: str) -> None:
    """Raises FigureError where a size of `geometry` is not positive and finite; `kind` and `name` say whose it is."""
    sizes: dict[str, tuple[float, ...]]
    match geometry:
        case Sphere(radius):
            sizes = {"radius": (radius,)}
        case Capsule(radius, length) | Cylinder(radius, length):
            sizes = {"radius": (radius,), "length": (length,)}
        case Box(size):
            sizes = {"size": tuple(size)}
        case Mesh(_, scale):
            sizes = {"scale": tuple(scale)}
        case _:
            what = f"a {type(geometry).__name__} is no geometry"  # type: ignore[unreachable]
            advice = "give a Sphere, Capsule, Cylinder, Box or Mesh"
            raise FigureError(what, kind=kind, name=name, field="geometry", advice=advice)
    for field, values in sizes.items():
        if not all(math.isfinite(v) and (v > 0.0 or (field == "scale" and v != 0.0)) for v in values):
            raise FigureError("must be positive and finite", kind=kind, name=name, field=field, advice=f"{field} is in metres")
