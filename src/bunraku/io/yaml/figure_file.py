"""Figure files: YAML with the words of the nested notation.

    figure: arm
    gravity: [0, 0, -9.81]
    damping: 0.02                # of every dynamic variable that has no damping of its own
    mass: 2 kg                   # in all: scales the masses and inertias of all bodies; default: their sum
    frames:
      - ball: shoulder
        at: [0, 0, 1]
        shapes:
          - {capsule: 0.03, to: [0, 0, -0.3], mass: 0.4}
        frames:
          - rx: elbow
            at: [0, 0, -0.3]
            limits: [0 deg, 140 deg]
            bodies:
              - {mass: 0.3, com: [0, 0, -0.12], inertia: [1e-3, 1e-3, 1e-4]}
            frames:
              - {fixed: wrist, at: [0, 0, -0.25]}
      - {spindle: hand, at: [0, 0.2, 1.5]}
    strings:
      - {string: hand, hook: wrist, spindle: hand_spindle}

Numbers are in SI units and radians, or followed by a unit: mm, cm, deg, g. Instead of being nested, a frame may name its
`parent`, which must be listed before it. Paths of meshes start at the folder of the file.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from bunraku.errors import FigureError
from bunraku.figure import Figure, build
from bunraku.figure.actuated import actuated
from bunraku.figure.build import Item
from bunraku.figure.mass import Inertia
from bunraku.io.yaml import figure_frames, figure_joins, yaml_reader
from bunraku.io.yaml.figure_frames import section
from bunraku.io.yaml.figure_names import Names
from bunraku.io.yaml.figure_writer import figure_tree
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.shape_words import SHAPE_FLAGS, shape
from bunraku.writing import writing

FIGURE_WORDS = (
    "figure", "gravity", "damping", "mass", "frames", "bodies", "shapes", "lengths", "joints", "strings", "wires", "springs",
    "forces", "contacts", "closures", "allowed", "actuators",
)  # fmt: skip


def load_figure(path: str | os.PathLike[str]) -> Figure:
    """The figure in the file at `path`; raises FileError, which points at the fault, if there is none."""
    return figure_of(yaml_reader.read(path), Path(path).parent)


def parse_figure(text: str | bytes, path: str | os.PathLike[str] = "") -> Figure:
    """The figure in a `text`, as if it were in the file `path`; raises FileError as `load_figure` does."""
    return figure_of(yaml_reader.parse(text, str(path)), Path(path).parent)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Writes a `figure` to `path`, so that `load_figure` gives an equal one."""
    text = yaml_reader.dump(figure_tree(figure, Path(path).parent))
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def figure_yaml(figure: Figure) -> str:
    """The text of the file of a `figure`."""
    return yaml_reader.dump(figure_tree(figure))


def figure_of(root: Node, folder: Path) -> Figure:
    """The figure that a document (`root`) describes; paths of meshes start at `folder`."""
    root.words(FIGURE_WORDS, "a figure")
    name = root.need("figure", "the file").name("the figure")
    root.need("frames", "the figure")
    names = Names(root)

    def fixed_shape(node: Node) -> build.Attached:
        return shape(node, folder, words=("mass", "frame", *SHAPE_FLAGS))

    def fixed_body(node: Node) -> build.Attached:
        return figure_frames.body(node, "frame")

    # Frames are read first, since everything else refers to them; bodies and shapes keep their place before or after them.
    parts: dict[str, list[Item]] = {
        "frames": [figure_frames.frame(n, names, folder, top=True) for n in section(root, "frames")],
        "bodies": [figure_frames.elsewhere(n, names, fixed_body) for n in section(root, "bodies")],
        "shapes": [figure_frames.elsewhere(n, names, fixed_shape) for n in section(root, "shapes")],
    }
    items = [item for word in root.keys if word in parts for item in parts[word]]
    words: dict[str, Any] = {
        "lengths": [figure_frames.length(n, names) for n in section(root, "lengths")],
        "joints": [figure_frames.joint(n, names) for n in section(root, "joints")],
        "strings": [figure_joins.string(n, names, k) for k in ("string", "wire") for n in section(root, f"{k}s")],
        "springs": [figure_joins.spring(n, names) for n in section(root, "springs")],
        "forces": [figure_joins.force(n, names) for n in section(root, "forces")],
        "contacts": [figure_joins.contact(n, names) for n in section(root, "contacts")],
        "closures": [figure_joins.closure(n, names) for n in section(root, "closures")],
        "allowed": [figure_joins.pair(n, names) for n in section(root, "allowed")],
    }
    words |= root.given(gravity=lambda node: node.vector(Quantity.ACCELERATION), damping=Node.number)
    word = root.get("actuators")
    driven = word is not None and word.choice(("kinematic", "dynamic"), "actuators") == "dynamic"
    try:
        figure = build.figure(name, *items, **words)
        figure = actuated(figure) if driven else figure
    except FigureError as error:
        raise names.located(error) from None
    total = root.get("mass")
    return figure if total is None else _weighing(figure, total)


def _weighing(figure: Figure, total: Node) -> Figure:
    """A `figure` whose bodies are heavier or lighter in proportion, so that their sum is the mass in the node `total`."""
    if not figure.mass > 0.0:
        raise total.error("the figure has no mass to scale", advice="give a body a mass")
    factor = total.positive(Quantity.MASS) / figure.mass
    bodies = tuple(replace(b, mass=factor * b.mass, inertia=_times(factor, b.inertia)) for b in figure.bodies)
    return replace(figure, bodies=bodies)


def _times(factor: float, inertia: Inertia) -> Inertia:
    xx, yy, zz, xy, xz, yz = (factor * x for x in inertia)
    return (xx, yy, zz, xy, xz, yz)
