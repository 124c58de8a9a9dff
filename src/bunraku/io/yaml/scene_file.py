"""Scene files: YAML with the same words as shapes in figures.

    scene: workshop
    floor: 0                  # or none
    obstacles:
      - {box: [1.2, 0.6, 0.04], at: [0, 0.5, 0.7], name: table}
      - group: shelf          # placed as a whole
        at: [1, 0, 0]
        rpy: [0, 0, 90 deg]
        obstacles:
          - {box: [0.8, 0.3, 0.02], at: [0, 0, 0.4]}
          - {box: [0.8, 0.3, 0.02], at: [0, 0, 0.8]}
      - {plane: [0, -1, 0], at: [0, 2, 0], name: wall}
      - {heightfield: hills.csv, size: [10, 5]}

A plane is given by its normal. The heights of a heightfield are rows along x, in this file or in a CSV file beside it.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bunraku.figure import Shape, build
from bunraku.figure.frame import Vector
from bunraku.io.yaml import source as sources
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.shape_words import GEOMETRY_WORDS, POSE_WORDS, color, file_named, pose, shape
from bunraku.io.yaml.shape_writer import pose_words, shape_words
from bunraku.scene import Heightfield, Obstacle, Plane, Scene
from bunraku.spatial import se3, so3
from bunraku.spatial.so3 import Quaternion
from bunraku.writing import writing

SCENE_WORDS = ("scene", "floor", "obstacles")
Placed = tuple[Vector, Quaternion]


def load_scene(path: str | os.PathLike[str]) -> Scene:
    """The scene in the file at `path`; raises FileError, which points at the fault, if there is none."""
    return scene_of(yaml_reader.read(path), Path(path).parent)


def scene_in(node: Node, folder: Path) -> Scene:
    """The scene that `node` holds, or that is in the file it names; paths start at `folder`."""
    if isinstance(node.value, dict):
        return scene_of(node, folder)
    return load_scene(file_named(node, folder, (".yaml", ".yml"), "a scene file"))


def parse_scene(text: str | bytes, path: str | os.PathLike[str] = "") -> Scene:
    """The scene in a `text`, as if it were in the file `path`; raises FileError as `load_scene` does."""
    return scene_of(yaml_reader.parse(text, str(path)), Path(path).parent)


def save_scene(scene: Scene, path: str | os.PathLike[str]) -> None:
    """Writes a `scene` to `path`, so that `load_scene` gives an equal one; large heightfields go to CSV files beside it."""
    tree = scene_tree(scene, Path(path).parent)
    with ExitStack() as files:  # none of them is renamed before all are written
        main = files.enter_context(writing(path))
        for k, obstacle in enumerate(scene.obstacles):
            heights = obstacle.geometry.heights if isinstance(obstacle.geometry, Heightfield) else ()
            if len(heights) and len(heights) * len(heights[0]) > 400:  # more heights than this are kept in a file of their own
                name = f"{Path(path).stem}_{re.sub(r'[^A-Za-z0-9_-]', '_', obstacle.name)}.csv"
                tree["obstacles"][k]["heightfield"] = name
                temporary = files.enter_context(writing(Path(path).parent / name))
                temporary.write_text("".join(",".join(map(repr, row)) + "\n" for row in heights), encoding="utf-8")
        main.write_text(yaml_reader.dump(tree), encoding="utf-8")


def scene_yaml(scene: Scene) -> str:
    """The text of the file of a `scene`."""
    return yaml_reader.dump(scene_tree(scene))


# -- reading ---------------------------------------------------------------------------------------------------------


@dataclass
class _Named:
    """Obstacles with their places in the file; those without a name get one at the end."""

    folder: Path
    found: list[tuple[Obstacle, Node]] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, obstacle: Obstacle, node: Node) -> None:
        named = node.get("name")
        if named is not None:
            if obstacle.name in self.lines:
                advice = f"first used in line {self.lines[obstacle.name]}; every obstacle has a name of its own"
                raise named.error(f"the name {obstacle.name!r} is taken", advice=advice)
            self.lines[obstacle.name] = named.line
        self.found.append((obstacle, node))

    def obstacles(self) -> list[Obstacle]:
        out = []
        counts: dict[str, int] = {}
        for obstacle, node in self.found:
            if node.get("name") is None:
                kind, name = obstacle.name, obstacle.name
                while name == kind or name in self.lines:
                    counts[kind] = counts.get(kind, 0) + 1
                    name = f"{kind}_{counts[kind]}"
                obstacle = replace(obstacle, name=name)
            out.append(obstacle)
        return out


def scene_of(root: Node, folder: Path) -> Scene:
    """The scene that a document (`root`) describes; paths of meshes and tables start at `folder`."""
    root.words(SCENE_WORDS, "a scene")
    name = root.need("scene", "the file").name("the scene")
    named = _Named(folder)
    listed = root.get("obstacles")
    for node in () if listed is None else listed.items("obstacles"):
        _read(node, named, None, "")
    return Scene(name, tuple(named.obstacles()), **root.given(floor=_floor))


def _floor(node: Node) -> float | None:
    return None if node.is_nothing or node.value == "none" else node.length()


def _read(node: Node, named: _Named, place: Placed | None, group: str) -> None:
    """Reads an obstacle, or a group of them that is placed as a whole."""
    if node.get("obstacles") is None:
        with node.blamed({"normal": "plane", "heights": "heightfield"}):
            named.add(_obstacle(node, named.folder, place, group), node)
        return
    node.words(("group", "obstacles", *POSE_WORDS), "a group")
    label = node.need("group", "the group").name("a group")
    inside = _within(place, _place(pose(node)))
    for inner in node.need("obstacles", "the group").items("obstacles"):
        _read(inner, named, inside, f"{group}/{label}" if group else label)


def _obstacle(node: Node, folder: Path, place: Placed | None, group: str) -> Obstacle:
    kind, head = node.head((*GEOMETRY_WORDS, "plane", "heightfield"), "an obstacle")
    geometry: Any
    if kind in GEOMETRY_WORDS:
        made = shape(node, folder, words=("group",), what="an obstacle").shapes[0]
        geometry, own = made.geometry, (made.position, made.rotation)
    else:
        extra = ("size",) if kind == "heightfield" else ()
        node.words((kind, *extra, *POSE_WORDS, "color", "name", "group"), "an obstacle")
        own = _place(pose(node))
        geometry = Plane(head.vector()) if kind == "plane" else _heightfield(node, head, folder)
    words = node.given(color=color, group=Node.name)
    name = node.given(name=Node.name).get("name", kind)
    return Obstacle(name, geometry, *_within(place, own), words.get("color", Obstacle.color), words.get("group", group))


def _place(words: dict[str, Any]) -> Placed:
    frame = build.fixed("place", **words).frames[0]
    return frame.position, frame.rotation


def _within(outer: Placed | None, inner: Placed) -> Placed:
    """The pose `inner`, given relative to the pose `outer`, in the world."""
    if outer is None:
        return inner
    X = se3.pose(*outer) @ se3.pose(*inner)
    x, y, z = (float(v) for v in X[:3, 3])
    w, i, j, k = (float(v) for v in so3.quaternion(X[:3, :3]))
    return (x, y, z), (w, i, j, k)


def _heightfield(node: Node, head: Node, folder: Path) -> Heightfield:
    x, y = (n.length() for n in node.need("size", "the heightfield").items("numbers", 2))
    if isinstance(head.value, str):
        return Heightfield(_table(head, folder), (x, y))
    rows = tuple(tuple(n.length() for n in row.items("heights")) for row in head.items("rows of heights"))
    return Heightfield(rows, (x, y))


def _table(node: Node, folder: Path) -> tuple[tuple[float, ...], ...]:
    """Rows of numbers from a CSV file."""
    source = sources.read(file_named(node, folder, (".csv",), "a CSV file"), most=4_000_000)
    rows = []
    for k, line in enumerate(source.lines, 1):
        if line.strip():
            try:
                rows.append(tuple(float(part) for part in line.split(",")))
            except ValueError:
                raise source.error("not a row of numbers", k, 1, advice="write 0.1,0.2,0.3") from None
    return tuple(rows)


# -- writing ---------------------------------------------------------------------------------------------------------


def scene_tree(scene: Scene, folder: Path | None = None) -> dict[str, Any]:
    """The words of the file of a `scene`; `folder` is where the file will be."""
    tree: dict[str, Any] = {"scene": scene.name}
    tree |= {} if scene.floor == 0.0 else {"floor": "none" if scene.floor is None else scene.floor}
    return tree | {"obstacles": [_words(obstacle, folder) for obstacle in scene.obstacles]}


def _words(obstacle: Obstacle, folder: Path | None) -> dict[str, Any]:
    o = obstacle
    looks = {} if o.color == Obstacle.color else {"color": o.color}
    match o.geometry:
        case Plane(normal):
            words = {"plane": normal, **pose_words(o.position, o.rotation), **looks}
        case Heightfield(heights, size):
            words = {"heightfield": heights, "size": size, **pose_words(o.position, o.rotation), **looks}
        case solid:
            words = shape_words(Shape(o.name, solid, o.position, o.rotation, o.color), folder, color=Obstacle.color)
    return {**words, "name": o.name, **({"group": o.group} if o.group else {})}
