"""Checks of a figure: names are unique and refer to something, numbers are finite, parents come before children."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from bunraku.errors import FigureError, UnknownName
from bunraku.figure.force import Effort, Push
from bunraku.figure.frame import JOINT_MOTIONS, WORLD, Joint, Point, axis_letter
from bunraku.figure.pulley import Pulley
from bunraku.figure.way_check import check_way

if TYPE_CHECKING:
    from bunraku.figure.figure import Figure


def check(figure: Figure) -> None:
    """Raises FigureError for the first thing that is wrong with `figure`."""
    if not figure.name:
        raise FigureError("the figure has no name", advice="figure: my_figure")
    if not all(map(math.isfinite, figure.gravity)):
        raise FigureError("gravity is not finite", field="gravity", advice="[0, 0, -9.81]")
    _check_tree(figure)
    _check_variables(figure)
    _unique("string", (string.name for string in (*figure.strings, *figure.wires)))
    _unique("spring", (spring.name for spring in figure.springs))
    _unique("force", (force.name for force in figure.forces))
    _unique("contact", (contact.name for contact in figure.contacts))
    _unique("closure", (closure.name for closure in figure.closures))
    known = {WORLD: None} | dict.fromkeys(frame.name for frame in figure.frames)  # in their order
    for kind, name, field, frame in _carriers(figure):
        if frame not in known:
            raise _missing(kind, name, field, frame, tuple(known))
    for kind, name, field, point in _points(figure):
        if point.frame not in known:
            raise _missing(kind, name, field, point.frame, tuple(known))
        if not all(map(math.isfinite, point.position)):
            advice = "positions are three finite numbers"
            raise FigureError("not a finite number", kind=kind, name=name, field=field, advice=advice)
    for joint in figure.groups:
        _check_group(figure, joint)
    for string in (*figure.strings, *figure.wires):
        if string.wraps or string.rubbing:
            check_way(figure, string)


def _carriers(figure: Figure) -> Iterator[tuple[str, str, str, str]]:
    """Kind, name, field and frame of everything that refers to a frame."""
    yield from (("body", body.name, "frame", body.frame) for body in figure.bodies)
    yield from (("shape", shape.name, "frame", shape.frame) for shape in figure.shapes)
    yield from (("allowed pair", " ".join(pair), "allowed", frame) for pair in figure.allowed for frame in pair)


def _points(figure: Figure) -> Iterator[tuple[str, str, str, Point]]:
    """Kind, name, field and point of everything that refers to a point in a frame."""
    for string in (*figure.strings, *figure.wires):
        fields = ("hook", *("eyelets" for _ in string.path[2:]), "spindle")
        yield from ((string.kind, string.name, field, point) for field, point in zip(fields, string.path, strict=True))
        sides = (at.side for at in string.path if isinstance(at, Pulley) and at.side is not None)
        yield from ((string.kind, string.name, "eyelets", side) for side in sides)
    for spring in figure.springs:
        yield from (("spring", spring.name, field, point) for field, point in (("a", spring.a), ("b", spring.b)))
    yield from (("force", force.name, "at", force.at) for force in figure.forces if isinstance(force, Push))
    for contact in figure.contacts:
        yield "contact", contact.name, "point", contact.point
        yield "contact", contact.name, "plane", contact.plane
    for closure in figure.closures:
        yield from (("closure", closure.name, field, point) for field, point in (("a", closure.a), ("b", closure.b)))


def _check_tree(figure: Figure) -> None:
    seen = {WORLD: None}
    for frame in figure.frames:
        if frame.name in seen:
            raise FigureError("the name is taken", kind="frame", name=frame.name, advice="every frame has a name of its own")
        if frame.parent not in seen:
            if any(other.name == frame.parent for other in figure.frames):
                raise FigureError(
                    f"its parent {frame.parent!r} comes later, or is its own child", kind="frame", name=frame.name,
                    field="parent", advice="list parents before children; a tree has no cycle",
                )  # fmt: skip
            raise _missing("frame", frame.name, "parent", frame.parent, tuple(seen))
        seen[frame.name] = None


def _check_variables(figure: Figure) -> None:
    """Checks the variables of the tree, those that wind strings, and those that efforts act on."""
    _unique("variable", figure.names)
    for own in figure.lengths:
        if own.motion != "length" or not own.kinematic:
            raise FigureError("a length variable must be kinematic", kind="variable", name=own.name)
    for string in (*figure.strings, *figure.wires):
        if string.variable is not None and string.variable not in figure.names:
            raise _missing(string.kind, string.name, "length", string.variable, figure.names, what="variable")
    for force in figure.forces:
        if not isinstance(force, Effort):
            continue
        if force.variable not in figure.names:
            raise _missing("force", force.name, "variable", force.variable, figure.names, what="variable")
        if force.variable in figure.kinematic:
            raise FigureError(
                f"{force.variable!r} is kinematic: the puppeteer sets it", kind="force", name=force.name, field="variable",
                advice="an effort acts on a dynamic variable",
            )  # fmt: skip


def _check_group(figure: Figure, joint: Joint) -> None:
    """Checks that a ball joint turns about z, y, x at one point, and that a free joint first slides along x, y, z."""
    if joint.kind not in JOINT_MOTIONS:
        raise FigureError(
            f"unknown kind of joint {joint.kind!r}",
            kind="joint",
            name=joint.name,
            advice="a joint of several variables is ball or free",
        )
    expected = JOINT_MOTIONS[joint.kind]
    got = []
    for name in joint.frames:
        variable = figure.frame(name).variable
        got.append("" if variable is None else variable.motion[0] + (axis_letter(variable.axis) or "?"))
    first = figure.frame_index[joint.frames[0]]
    row = tuple(f.name for f in figure.frames[first : first + len(joint.frames)])
    chained = row == joint.frames and all(figure.frame(b).parent == a for a, b in pairwise(row))
    plain = all(
        figure.frame(n).position == (0.0, 0.0, 0.0) and figure.frame(n).rotation == (1.0, 0.0, 0.0, 0.0) for n in joint.frames[1:]
    )
    if tuple(got) != expected or not chained or not plain:
        raise FigureError(f"a {joint.kind} joint is {' '.join(expected)} about one point", kind="joint", name=joint.name)


def _unique(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise FigureError("the name is taken", kind=kind, name=name, advice=f"every {kind} has a name of its own")
        seen.add(name)


def _missing(kind: str, name: str, field: str, missing: str, known: Sequence[str], what: str = "frame") -> FigureError:
    hint = UnknownName(what, missing, tuple(known))
    return FigureError(hint.message, kind=kind, name=name, field=field, advice=hint.advice)
