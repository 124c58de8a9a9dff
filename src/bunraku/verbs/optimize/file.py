"""Optimisation files: what a figure is asked for, at what price, and within which limits.

    optimize: cart_pendulum       # a figure of the library, or a file beside this one
    duration: 10 s
    dt: 10 ms                     # where it is not said
    start: start                  # or `settle`, or values: {theta: 0}
    inputs: [x_force]             # what may be chosen: kinematic variables and forces; all, where it is not said
    cost:                         # weights by name, or one number for all; curves as in simulation files
      - {configuration: {theta: 100, x: 1}, reference: {theta: [[3, 0], [5, 180 deg], [7, 0]]}}
      - {momentum: 0.01, at_end: 1}
      - {forces: 0.001}           # and speed, acceleration, tension
      - {point: tip, weight: 10, reference: {z: 0.5}}   # of a frame, x and y where they start; and centre: 10, of mass
    limits: {forces: {x_force: [-200, 200]}}        # also variables, speeds, tensions, scene and margin
    output: swing.mp4

Instead of curves, `imitate: {motion: wave.bvh, exaggerate: 1.2, simplify: 3}` makes the reference of all configuration terms
from somebody's motion, the figure hangs still at the start, and its strings set out along it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress as Bar

from bunraku.brief import brief
from bunraku.control import (
    Acceleration,
    Centre,
    Configuration,
    Forces,
    Limits,
    Momentum,
    Optimum,
    PointAt,
    Speed,
    Tension,
    optimize,
)
from bunraku.control.cost import Term
from bunraku.control.imitate import imitate
from bunraku.errors import did_you_mean
from bunraku.figure import Figure
from bunraku.io import load, save
from bunraku.io.outputs import outputs_of, require_outputs
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.scene_file import scene_in
from bunraku.io.yaml.shape_words import file_named
from bunraku.kinematics.forward import Pose, pose
from bunraku.motion import Motion
from bunraku.progress import Listener
from bunraku.verbs.curves import curves
from bunraku.verbs.measures import efforts, measures
from bunraku.verbs.optimize.plot import draw
from bunraku.verbs.simulate.file import start_of

Array = NDArray[np.float64]
WORDS = ("optimize", "duration", "dt", "start", "inputs", "cost", "imitate", "limits", "iterations", "output")
TERMS: dict[str, Any] = {
    "configuration": Configuration, "momentum": Momentum, "speed": Speed, "acceleration": Acceleration, "forces": Forces,
    "tension": Tension, "point": PointAt, "centre": Centre,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Order:
    """What an optimisation file says."""

    figure: Figure
    options: Mapping[str, Any]
    """Of `bunraku.control.optimize`."""
    reference: Motion | None
    output: tuple[Path, ...]

    __repr__ = brief

    def __str__(self) -> str:
        asked = f"{self.options['duration']:g} s of {self.figure.name}, {len(self.options['cost'])} terms of cost"
        return f"optimisation: {asked}, at most {self.options['iterations']} iterations"

    def run(self, *, progress: Listener | None = None) -> Optimum:
        """The optimum; `progress` hears of every iteration. Ctrl-C returns the best so far."""
        return optimize(self.figure, progress=progress, **self.options)


def optimize_file(path: str | os.PathLike[str], *, progress: Listener | None = None) -> Optimum:
    """The optimum that the file at `path` orders; `progress` hears of every iteration. Nothing is written."""
    return load_order(path).run(progress=progress)


def load_order(path: str | os.PathLike[str]) -> Order:
    """What an optimisation file orders, checked."""
    root, folder = yaml_reader.read(path), Path(path).parent
    root.words(WORDS, "an optimisation")
    figure = figure_named(root.need("optimize", "the file"), folder)
    dt = root.given(dt=lambda node: node.positive(Quantity.TIME)).get("dt", 0.01)
    reference = _reference(root, figure, folder, dt)
    q = start_of(root, figure, {}) if reference is None else reference.q[0]
    duration = root.need("duration", "the optimisation").positive(Quantity.TIME) if reference is None else reference.duration
    inputs = root.get("inputs")
    known = (*figure.kinematic, *(force.name for force in figure.forces))
    chosen = None if inputs is None else [_known(node, known, "input") for node in inputs.items("names of inputs")]
    costs = root.need("cost", "the optimisation").items("terms, such as {forces: 0.01}")
    iterations = root.given(iterations=lambda node: node.whole(0, 1_000_000)).get("iterations", 100)
    options = {
        "cost": [_term(node, figure, reference, q) for node in costs], "duration": duration, "dt": dt, "q": q, "inputs": chosen,
        "guess": reference, "limits": _limits(root.get("limits"), figure, folder), "iterations": iterations,
    }  # fmt: skip
    return Order(figure, options, reference, outputs_of(root.get("output"), folder))


def run_order(file: Path, output: Sequence[Path], plot: Path | None = None, *, console: Console) -> Iterator[tuple[str, str]]:
    """What came of it, line by line, and what was written. Names that cannot be written are refused before the work begins."""
    require_outputs(output, plot)
    order = load_order(file)
    require_outputs(() if output else order.output)
    with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(order.figure.name, total=1.0)
        found = order.run(progress=lambda said: bar.update(task, completed=said.done, description=said.text))
    yield from found.report()
    for path in output or order.output:
        save(found.motion, path)
        yield "wrote", str(path)
    if plot is not None:
        draw(found, plot)
        yield "wrote", str(plot)


def _known(node: Node, known: Sequence[str], what: str) -> str:
    name = node.scalar(f"the name of a {what}")
    if name not in known:
        raise node.error(f"no {what} is called {name[:40]!r}", advice=did_you_mean(name, known))
    return name


def _reference(root: Node, figure: Figure, folder: Path, dt: float) -> Motion | None:
    node = root.get("imitate")
    if node is None:
        return None
    for word in ("duration", "start"):
        if (other := root.get(word)) is not None:
            raise other.error(f"{word} comes from the motion that is imitated", advice="leave it out")
    node.words(("motion", "exaggerate", "simplify"), "an imitation")
    path = file_named(node.need("motion", "the imitation"), folder, (".bvh", ".npz", ".csv"), "a motion file")
    words = node.given(exaggerate=lambda n: n.number(Quantity.NUMBER), simplify=lambda n: n.number(Quantity.FREQUENCY))
    with node.blamed():
        return imitate(load(path), figure, dt=dt, **words)


def _term(node: Node, figure: Figure, reference: Motion | None, q: Array) -> Term:
    if not isinstance(node.value, dict):
        raise node.unwanted("a term of the cost", advice="write {forces: 0.01}")
    kind, weight = node.head(tuple(TERMS), "a term of the cost")
    if kind in ("point", "centre"):
        return _place(node, kind, weight, pose(figure, q))
    node.words((kind, "reference", "at_end"), f"a term {kind!r}")
    names, units = _names(figure, kind)
    options: dict[str, Any] = {"weight": _weights(weight, names)}
    wished = node.get("reference")
    if wished is not None:
        rest = dict(zip(figure.names, figure.start.tolist(), strict=True)) if kind == "configuration" else dict.fromkeys(names, 0.0)
        if kind == "acceleration":
            raise wished.error("an acceleration has no reference", advice="leave it out")
        options["reference"] = curves(wished, units, rest, "name")
    elif kind == "configuration":
        options["reference"] = reference
    if (end := node.get("at_end")) is not None:
        if kind in ("acceleration", "forces", "tension"):
            raise end.error(f"{kind} belong to steps, not to the end", advice="leave it out")
        options["at_end"] = end.number(Quantity.TIME)
    term: Term = TERMS[kind](**options)
    return term


def _place(node: Node, kind: str, head: Node, here: Pose) -> Term:
    """A point of a frame, or the centre of mass: coordinates that are not named are wished where they start."""
    own = ("weight", "offset") if kind == "point" else ()
    node.words((kind, *own, "reference", "at_end"), f"a term {kind!r}")
    words = node.given(
        weight=_not_negative, at_end=lambda n: n.number(Quantity.TIME),
        offset=lambda n: tuple(part.number(Quantity.LENGTH) for part in n.items("three numbers", 3)),
    )  # fmt: skip
    frame = _known(head, tuple(here.figure.frame_index), "frame") if kind == "point" else ""
    start = here.point(frame, words.get("offset", (0.0, 0.0, 0.0))) if frame else here.com
    rest = dict(zip("xyz", start.tolist(), strict=True))
    wish = curves(node.get("reference"), dict.fromkeys("xyz", Quantity.LENGTH), rest, "coordinate")
    return PointAt(frame, wish, **words) if frame else Centre(wish, _not_negative(head), **words)


def _names(figure: Figure, kind: str) -> tuple[tuple[str, ...], dict[str, Quantity]]:
    """What a term speaks of, and in which units."""
    if kind == "forces":
        return tuple(f.name for f in figure.forces), efforts(figure)
    if kind == "tension":
        names = tuple(rope.name for rope in (*figure.strings, *figure.wires))
        return names, dict.fromkeys(names, Quantity.FORCE)
    names = {"configuration": figure.names, "momentum": figure.dynamic}.get(kind, figure.kinematic)
    return names, measures(figure, names) if kind == "configuration" else dict.fromkeys(names, Quantity.NUMBER)


def _weights(node: Node, names: tuple[str, ...]) -> float | dict[str, float]:
    if isinstance(node.value, dict):
        for name, key in node.keys.items():
            if name not in names:
                raise key.error(f"nothing is called {name[:40]!r} here", advice=did_you_mean(name, names))
        return {name: _not_negative(at) for name, at in node.value.items()}
    return _not_negative(node)


def _not_negative(node: Node) -> float:
    value = node.number(Quantity.NUMBER)
    if value < 0.0:
        raise node.error(f"a weight of {value:g}", advice="zero counts nothing, more counts more")
    return value


def _limits(node: Node | None, figure: Figure, folder: Path) -> Limits | None:
    if node is None:
        return None
    node.words(("variables", "speeds", "forces", "tensions", "joints", "scene", "margin", "soft"), "limits")
    known = {"variables": "configuration", "speeds": "speed", "forces": "forces", "tensions": "tension"}
    out: dict[str, Any] = {}
    for word, kind in known.items():
        if (part := node.get(word)) is None:
            continue
        names, units = _names(figure, kind)
        part.words(names, word)
        assert isinstance(part.value, dict)
        read = Node.number if word == "speeds" else _range
        out[word] = {name: read(at, units[name]) for name, at in part.value.items()}
    if (joints := node.get("joints")) is not None:
        out["joints"] = joints.flag()
    if (soft := node.get("soft")) is not None:
        out["soft"] = soft.flag()
    if (scene := node.get("scene")) is not None:
        out["scene"] = scene_in(scene, folder)
    if (margin := node.get("margin")) is not None:
        out["margin"] = margin.number(Quantity.LENGTH)
    return Limits(**out)


def _range(node: Node, quantity: Quantity) -> tuple[float, float]:
    low, high = (part.number(quantity, infinite=True) for part in node.items("numbers (lowest and highest)", 2))
    if not low < high:
        raise node.error(f"{low:g} is not below {high:g}", advice="write the lowest value first")
    return low, high
