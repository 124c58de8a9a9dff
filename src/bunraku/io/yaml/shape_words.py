"""Words for the pose and the shape of a thing, the same in figure and scene files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bunraku.figure import build
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity

POSE_WORDS = ("at", "rpy", "quaternion")
GEOMETRY_WORDS = {
    "sphere": (),
    "capsule": ("length", "start", "to"),
    "cylinder": ("length", "start", "to"),
    "box": (),
    "mesh": ("scale",),
}
SHAPE_FLAGS = {"collides": Node.flag, "visible": Node.flag}


def pose(node: Node) -> dict[str, Any]:
    """Where something is, as `node` says by `at`, and `rpy` or `quaternion`."""
    words = node.given(at=Node.lengths, rpy=lambda n: n.vector(Quantity.ANGLE), quaternion=quaternion)
    if "rpy" in words and "quaternion" in words:
        raise node.keys["quaternion"].error("'rpy' and 'quaternion' contradict each other", advice="keep one of them")
    return words


def quaternion(node: Node) -> tuple[float, ...]:
    """w, x, y, z in `node`, scaled to unit length."""
    values = node.numbers(4)
    size = sum(v * v for v in values) ** 0.5
    if size < 1e-6:
        raise node.error("the quaternion is zero", advice="no rotation is [1, 0, 0, 0]")
    return values if abs(size - 1.0) < 1e-12 else tuple(v / size for v in values)


def color(node: Node) -> tuple[float, float, float]:
    """Red, green and blue in `node`, from 0 to 1."""
    red, green, blue = node.vector()
    if not all(0.0 <= c <= 1.0 for c in (red, green, blue)):
        raise node.error("red, green and blue are between 0 and 1", advice="divide by 255: [0.8, 0.5, 0.3]")
    return (red, green, blue)


def shape(node: Node, folder: Path, *, words: tuple[str, ...] = (), what: str = "a shape") -> build.Attached:
    """The shape that `node` describes.

    folder: where paths of meshes start
    words: allowed besides those of a shape, and read by the caller
    what: the node in messages
    """
    kind, size = node.head(GEOMETRY_WORDS, what)
    node.words((kind, *GEOMETRY_WORDS[kind], *POSE_WORDS, "color", "name", *words), what)
    own = pose(node) | node.given(color=color, name=Node.name, **SHAPE_FLAGS, mass=lambda n: n.number(Quantity.MASS))
    if "mass" in own and kind == "mesh":
        raise node.keys["mass"].error("a mesh cannot have a mass", advice="add a body with this mass: bodies: …")
    fields = {"radius": kind, "size": kind, "length": "to" if node.get("to") is not None else "length"}
    with node.blamed(fields):
        match kind:
            case "sphere":
                return build.sphere(size.length(), **own)
            case "box":
                return build.box(size.lengths(), **own)
            case "mesh":
                return build.mesh(str(mesh_named(size, folder)), **node.given(scale=_scale), **own)
            case _:
                return _long(kind, size.length(), node, own)


def _scale(node: Node) -> tuple[float, float, float]:
    """One number for all axes, or one for each."""
    if not isinstance(node.value, str):
        return node.vector()
    each = node.number()
    return (each, each, each)


def _long(kind: str, radius: float, node: Node, own: dict[str, Any]) -> build.Attached:
    """A capsule or cylinder: of a length, or from a point to another."""
    make = build.capsule if kind == "capsule" else build.cylinder
    length, to, start = (node.get(word) for word in ("length", "to", "start"))
    if to is None:
        if start is not None:
            raise node.keys["start"].error("'start' without 'to'", advice="add to: [x, y, z]")
        if length is None:
            raise node.error(f"the {kind} has no length", advice="add length: …, or to: [x, y, z]")
        return make(radius, length.length(), **own)
    for word in ("length", *POSE_WORDS):
        if word in node.keys:
            raise node.keys[word].error(f"{word!r} and 'to' contradict each other", advice="keep one of them")
    return make(radius, to=to.lengths(), **node.given(start=Node.lengths), **own)


def file_named(node: Node, folder: Path, suffixes: tuple[str, ...], what: str) -> Path:
    """The path of an existing file that `node` names.

    folder: where the path starts
    suffixes: those that the file may have
    what: the file in messages
    """
    text, advice = node.scalar(f"the name of {what}"), "write a path that starts at the folder of this file"
    if not text.isprintable() or not text.strip():
        raise node.error(
            f"expected the name of a file, got {text[:40]!r}", advice="write a path that starts at the folder of this file"
        )
    path = folder / text
    if path.suffix.lower() not in suffixes:
        raise node.error(f"expected {what}, got {text[-60:]!r}", advice=f"names of such files end in {', '.join(suffixes)}")
    try:
        there = path.is_file()
    except OSError:  # a name that no file can have
        there = False
    if not there:
        raise node.error(f"the file {text[-60:]!r} does not exist", advice=advice)
    return path


def mesh_named(node: Node, folder: Path) -> Path:
    """The path of an existing mesh file that `node` names, starting at `folder`."""
    return file_named(node, folder, (".stl", ".obj", ".glb", ".gltf", ".dae", ".ply", ".off"), "a mesh")


def mesh_name(file: str, folder: Path | None) -> str:
    """How a file in `folder` names the mesh `file`: relative to the folder, unless the mesh is elsewhere and its path absolute."""
    if folder is None:
        return file
    path, base = Path(file), folder.absolute()
    if path.is_absolute() and not path.is_relative_to(base):
        return file
    return Path(os.path.relpath(path.absolute(), base)).as_posix()
