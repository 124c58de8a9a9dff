"""The words that place a thing and give it a shape, the same in figures and scenes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bunraku.figure import build
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity

POSE = ("at", "rpy", "quaternion")
GEOMETRY = {
    "sphere": (),
    "capsule": ("length", "start", "to"),
    "cylinder": ("length", "start", "to"),
    "box": (),
    "mesh": ("scale",),
}
LOOKS = ("color", "name")
SEEN = {"collides": Node.flag, "visible": Node.flag}
MESHES = (".stl", ".obj", ".glb", ".gltf", ".dae", ".ply", ".off")


def pose(node: Node) -> dict[str, Any]:
    """Where something is: `at`, and `rpy` or `quaternion`."""
    words = node.given(at=Node.lengths, rpy=lambda n: n.vector(Quantity.ANGLE), quaternion=quaternion)
    if "rpy" in words and "quaternion" in words:
        raise node.keys["quaternion"].error("both 'rpy' and 'quaternion' turn it", advice="keep one of them")
    return words


def quaternion(node: Node) -> tuple[float, ...]:
    """w, x, y, z, made of unit length."""
    values = node.numbers(4)
    size = sum(v * v for v in values) ** 0.5
    if size < 1e-6:
        raise node.error("the quaternion is zero", advice="no rotation is [1, 0, 0, 0]")
    return values if abs(size - 1.0) < 1e-12 else tuple(v / size for v in values)


def color(node: Node) -> tuple[float, float, float]:
    red, green, blue = node.vector()
    if not all(0.0 <= c <= 1.0 for c in (red, green, blue)):
        raise node.error("colours lie between 0 and 1", advice="divide by 255: [0.8, 0.5, 0.3]")
    return (red, green, blue)


def shape(node: Node, folder: Path, *, words: tuple[str, ...] = (), what: str = "a shape") -> build.Attached:
    """A geometry in its place; `words` are those that the caller reads on its own."""
    kind, size = node.head(GEOMETRY, what)
    node.words((kind, *GEOMETRY[kind], *POSE, *LOOKS, *words), what)
    own = pose(node) | node.given(color=color, name=Node.name, **SEEN, mass=lambda n: n.number(Quantity.MASS))
    if "mass" in own and kind == "mesh":
        raise node.keys["mass"].error("a mesh has no mass of its own", advice="give it in bodies: …")
    fields = {"radius": kind, "size": kind, "length": "to" if node.get("to") is not None else "length"}
    with node.blamed(fields):
        match kind:
            case "sphere":
                return build.sphere(size.length(), **own)
            case "box":
                return build.box(size.lengths(), **own)
            case "mesh":
                return build.mesh(str(file_named(size, folder, MESHES, "a mesh")), **node.given(scale=_scale), **own)
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
    for word in ("length", *POSE):
        if word in node.keys:
            raise node.keys[word].error(f"{word!r} and 'to' contradict each other", advice="keep one of them")
    return make(radius, to=to.lengths(), **node.given(start=Node.lengths), **own)


def file_named(node: Node, folder: Path, suffixes: tuple[str, ...], what: str) -> Path:
    """A file that is there, named from the folder of the one that names it."""
    text = node.scalar(f"the name of {what}")
    if not text.isprintable() or not text.strip():
        raise node.error(f"{text[:40]!r} is not the name of a file", advice="write a path from the folder of this file")
    path = folder / text
    if path.suffix.lower() not in suffixes:
        raise node.error(f"{text[-60:]!r} is not {what}", advice=f"its name ends in {', '.join(suffixes)}")
    try:
        there = path.is_file()
    except OSError:  # a name that no file can have
        there = False
    if not there:
        raise node.error(f"the file {text[-60:]!r} is not there", advice="give its path from the folder of this file")
    return path


def mesh_name(file: str, folder: Path | None) -> str:
    """How a file in `folder` names a mesh: from the folder, unless it is elsewhere and was given in full."""
    if folder is None:
        return file
    path, base = Path(file), folder.absolute()
    if path.is_absolute() and not path.is_relative_to(base):
        return file
    return Path(os.path.relpath(path.absolute(), base)).as_posix()
