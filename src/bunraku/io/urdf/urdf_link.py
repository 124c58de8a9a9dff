"""What is fixed in a URDF link: its inertia, and its shapes with their meshes and materials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import did_you_mean
from bunraku.figure import Body, Box, Capsule, Cylinder, Mesh, Shape, Sphere
from bunraku.figure.frame import ORIGIN, Vector
from bunraku.figure.mass import inertia_tuple
from bunraku.figure.shape import Color, Geometry
from bunraku.io import xml_text
from bunraku.io.leftovers import Leftovers
from bunraku.io.xml_text import Element
from bunraku.spatial import so3
from bunraku.spatial.so3 import IDENTITY, Quaternion
from bunraku.writing import safe_name

Array = NDArray[np.float64]
_DEFAULT_COLOR: Color = (0.78, 0.79, 0.81)  # of links without a material


def placement(element: Element) -> tuple[Vector, Quaternion]:
    """Position and rotation of the <origin> of an `element`."""
    origin = element.child("origin")
    if origin is None:
        return ORIGIN, IDENTITY
    x, y, z = origin.numbers("xyz", 3, ORIGIN)
    rpy = origin.numbers("rpy", 3, ORIGIN)
    if not any(rpy):
        return (x, y, z), IDENTITY
    a, b, c, d = so3.quaternion(so3.rpy(*rpy)).tolist()
    return (x, y, z), (a, b, c, d)


class Links:
    """The links of a robot, with the meshes and materials that they refer to.

    root: the <robot> element
    path: the file, where relative paths of meshes start
    packages: folders in which package://NAME/… is looked for
    need_meshes: whether a mesh that is not found is an error
    leftovers: collects what a figure cannot hold
    """

    def __init__(self, root: Element, path: Path, packages: Sequence[Path], need_meshes: bool, leftovers: Leftovers) -> None:
        self.elements = xml_text.named(root, "link")
        self.leftovers, self.need_meshes = leftovers, need_meshes
        self.finder = MeshFinder(path, packages)
        self.colors = self._colors(root)

    def attached(self, link: str, frame: str) -> tuple[list[Body], list[Shape]]:
        """The bodies and shapes of a `link`, fixed in a `frame`."""
        element = self.elements[link]
        inertial = element.child("inertial")
        bodies = [] if inertial is None else self._body(inertial, frame)
        seen = [s for visual in element.all("visual") if (s := self._shape(visual, frame, touches=False))]
        felt = [s for solid in element.all("collision") if (s := self._shape(solid, frame, touches=True))]
        return bodies, _together(seen, felt)

    # -- mass ------------------------------------------------------------------------------------------------

    def _body(self, inertial: Element, frame: str) -> list[Body]:
        com, rotation = placement(inertial)
        mass = inertial.needed("mass").number("value")
        element = inertial.child("inertia")
        I = np.zeros((3, 3))
        if element is not None:
            for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
                I[i, j] = I[j, i] = element.number(f"i{'xyz'[i]}{'xyz'[j]}", 0.0)
        if mass == 0.0 and not I.any():
            return []
        mended = possible(I)
        if np.abs(mended - I).max() > 1e-12 * np.abs(I).max():
            self.leftovers.add("impossible inertias, now the nearest that a body can have", frame)
        R = so3.matrix(rotation)
        with (element or inertial).blamed():
            return [Body(frame, mass, com, inertia_tuple(R @ mended @ R.T))]

    # -- shapes ----------------------------------------------------------------------------------------------

    def _shape(self, element: Element, frame: str, *, touches: bool) -> Shape | None:
        geometry = self._geometry(element.needed("geometry"))
        if geometry is None:
            return None
        position, rotation = placement(element)
        color = self._color(element.child("material")) if not touches else _DEFAULT_COLOR
        name = element.attributes.get("name", "").strip()
        with element.blamed():
            return Shape(frame, geometry, position, rotation, color, name, touches, not touches)

    def _geometry(self, element: Element) -> Geometry | None:
        if not element.children:
            raise element.error("<geometry> is empty", advice='such as <sphere radius="0.1"/>')
        own = element.children[0]
        with own.blamed():
            match own.tag:
                case "box":
                    x, y, z = own.numbers("size", 3)
                    return Box((x, y, z))
                case "sphere":
                    return Sphere(own.number("radius"))
                case "cylinder":
                    return Cylinder(own.number("radius"), own.number("length"))
                case "capsule":
                    return Capsule(own.number("radius"), own.number("length"))
                case "mesh":
                    return self._mesh(own)
        known = ("box", "sphere", "cylinder", "capsule", "mesh")
        raise own.error(f"unknown geometry <{own.tag[:40]}>", advice=did_you_mean(own.tag, known))

    def _mesh(self, element: Element) -> Mesh | None:
        named = element.word("filename")
        x, y, z = element.numbers("scale", 3, (1.0, 1.0, 1.0))
        found = self.finder.find(named)
        if found is None and self.need_meshes:
            hint = "pass the folder that holds its package as packages=[…]"
            raise element.error(f"the mesh {named[:200]!r} does not exist", "filename", advice=hint)
        if found is None:
            self.leftovers.add("meshes not found", named[:200])
        elif found.suffix.lower() not in (".stl", ".obj", ".dae", ".glb", ".gltf", ".ply"):
            self.leftovers.add("meshes of an unknown format", named[:200])
        else:
            return Mesh(str(found), (x, y, z))
        return None

    # -- materials -------------------------------------------------------------------------------------------

    def _colors(self, root: Element) -> dict[str, Color]:
        """Colours by name: materials of the robot, and those that its links define."""
        materials = root.all("material")
        for link in self.elements.values():
            materials += [m for visual in link.all("visual") for m in visual.all("material")]
        colors: dict[str, Color] = {}
        for material in materials:
            if (color := material.child("color")) is not None and (name := material.attributes.get("name")):
                colors.setdefault(name, _rgb(color))
        return colors

    def _color(self, material: Element | None) -> Color:
        if material is None:
            return _DEFAULT_COLOR
        own = material.child("color")
        return _rgb(own) if own is not None else self.colors.get(material.attributes.get("name", ""), _DEFAULT_COLOR)


def _rgb(color: Element) -> Color:
    red, green, blue, _ = color.numbers("rgba", 4)
    return (red, green, blue)


def _together(seen: list[Shape], felt: list[Shape]) -> list[Shape]:
    """One shape where a visual and a collision geometry are the same."""
    out = list(seen)
    for shape in felt:
        twin = next((k for k, other in enumerate(out) if _place(other) == _place(shape)), None)
        if twin is None:
            out.append(shape)
        else:
            out[twin] = replace(out[twin], collides=True)
    return out


def _place(shape: Shape) -> tuple[object, ...]:
    return shape.geometry, shape.position, shape.rotation


def possible(I: Array) -> Array:
    """The inertia nearest to `I` [kg·m²] that a body can have: no moment is negative, none exceeds the sum of the others."""
    moments, axes = np.linalg.eigh(I)
    if moments[0] >= 0.0 and moments[0] + moments[1] >= moments[2]:
        return I
    from scipy.optimize import nnls

    # Each moment is the sum of two of ∫ x² dm, ∫ y² dm, ∫ z² dm; these three must not be negative.
    sums = 1.0 - np.eye(3)
    spread, _ = nnls(sums, moments)
    return np.asarray(axes @ np.diag(sums @ spread) @ axes.T)


class MeshFinder:
    """Finds the file that the URDF file at `path` means by package://NAME/…, file://… or a plain path.

    Packages are looked for in the folders `packages`, then in those above the file. Last, a mesh of the same file name beside the
    URDF file is used: it is there when both were dropped on the stage, which replaces unusual characters in names.
    """

    def __init__(self, path: Path, packages: Sequence[Path]) -> None:
        self.folder = path.parent
        self.packages = [*packages, *path.absolute().parents]

    def find(self, name: str) -> Path | None:
        """The existing file that `name` means, or None."""
        try:
            return next((path for path in self._candidates(name) if path.is_file()), None)
        except (OSError, ValueError):  # a name that no file can have
            return None

    def _candidates(self, name: str) -> list[Path]:
        scheme, separator, rest = name.partition("://")
        last = name.replace("\\", "/").rpartition("/")[2]
        beside = [self.folder / last, self.folder / safe_name(last)] if last else []
        if not separator:
            return [self.folder / name, *beside]
        if scheme == "file":
            return [self.folder / rest, *beside]
        package, _, inside = rest.partition("/")
        within = [folder / package / inside for folder in self.packages]
        return within + [folder / inside for folder in self.packages if folder.name == package] + beside
