"""Terms of a cost and limits, as written in optimisation files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.control import (
    Acceleration,
    Centre,
    Configuration,
    Forces,
    Limits,
    Momentum,
    PointAt,
    Speed,
    Tension,
)
from bunraku.control.cost import Term
from bunraku.errors import did_you_mean
from bunraku.figure import Figure
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.scene_file import scene_in
from bunraku.kinematics.forward import Pose, pose
from bunraku.motion import Motion
from bunraku.verbs.curves import curves
from bunraku.verbs.measures import efforts, measures

Array = NDArray[np.float64]
COST_TERMS: dict[str, Any] = {
    "configuration": Configuration, "momentum": Momentum, "speed": Speed, "acceleration": Acceleration, "forces": Forces,
    "tension": Tension, "point": PointAt, "centre": Centre,
}  # fmt: skip


def known_name(node: Node, known: Sequence[str], what: str) -> str:
    """The name at `node`, one of `known`; errors call it a `what`. Raises FileError for an unknown name."""
    name = node.scalar(f"the name of a {what}")
    if name not in known:
        raise node.error(f"no {what} is called {name[:40]!r}", advice=did_you_mean(name, known))
    return name


def term_of(node: Node, figure: Figure, reference: Motion | None, q: Array) -> Term:
    """The term of a cost at `node`, for `figure`, which starts at configuration `q`.

    `reference` applies to configuration terms without a reference of their own. Raises FileError at the first mistake.
    """
    if not isinstance(node.value, dict):
        raise node.unwanted("a term of the cost", advice="write {forces: 0.01}")
    kind, weight = node.head(tuple(COST_TERMS), "a term of the cost")
    if kind in ("point", "centre"):
        return _place(node, kind, weight, pose(figure, q))
    node.words((kind, "reference", "at_end"), f"a term {kind!r}")
    names, units = _names(figure, kind)
    options: dict[str, Any] = {"weight": _weights(weight, names)}
    wished = node.get("reference")
    if wished is not None:
        rest = dict(zip(figure.names, figure.start.tolist(), strict=True)) if kind == "configuration" else dict.fromkeys(names, 0.0)
        if kind == "acceleration":
            raise wished.error("an acceleration has no reference", advice="remove it")
        options["reference"] = curves(wished, units, rest, "name")
    elif kind == "configuration":
        options["reference"] = reference
    if (end := node.get("at_end")) is not None:
        if kind in ("acceleration", "forces", "tension"):
            raise end.error(f"{kind} has a value per step, so 'at_end' does not apply", advice="remove it")
        options["at_end"] = end.number(Quantity.TIME)
    term: Term = COST_TERMS[kind](**options)
    return term


def _place(node: Node, kind: str, head: Node, here: Pose) -> Term:
    """A term for a point of a frame, or the centre of mass. Coordinates without a reference keep their initial values as one."""
    own = ("weight", "offset") if kind == "point" else ()
    node.words((kind, *own, "reference", "at_end"), f"a term {kind!r}")
    words = node.given(
        weight=_not_negative, at_end=lambda n: n.number(Quantity.TIME),
        offset=lambda n: tuple(part.number(Quantity.LENGTH) for part in n.items("three numbers", 3)),
    )  # fmt: skip
    frame = known_name(head, tuple(here.figure.frame_index), "frame") if kind == "point" else ""
    start = here.point(frame, words.get("offset", (0.0, 0.0, 0.0))) if frame else here.com
    rest = dict(zip("xyz", start.tolist(), strict=True))
    wish = curves(node.get("reference"), dict.fromkeys("xyz", Quantity.LENGTH), rest, "coordinate")
    return PointAt(frame, wish, **words) if frame else Centre(wish, _not_negative(head), **words)


def _names(figure: Figure, kind: str) -> tuple[tuple[str, ...], dict[str, Quantity]]:
    """The names that a term may weigh, and their units."""
    if kind == "forces":
        return tuple(f.name for f in figure.forces), efforts(figure)
    if kind == "tension":
        names = tuple(rope.name for rope in (*figure.strings, *figure.wires))
        return names, dict.fromkeys(names, Quantity.FORCE)
    names = {"configuration": figure.names, "momentum": figure.dynamic}.get(kind, figure.kinematic)
    units = measures(figure, names)
    if kind == "speed":
        units = {name: Quantity.TURNING_SPEED if unit is Quantity.ANGLE else Quantity.SPEED for name, unit in units.items()}
    return names, units if kind in ("configuration", "speed") else dict.fromkeys(names, Quantity.NUMBER)


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
        raise node.error(f"a weight of {value:g}", advice="give zero or a positive number")
    return value


def limits_of(node: Node | None, figure: Figure, folder: Path) -> Limits | None:
    """The limits of `figure` at `node`, with a scene from `folder`; None if there are none.

    Raises FileError at the first mistake.
    """
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
