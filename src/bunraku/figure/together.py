"""Several figures as one, so that strings can run from one to another, or several can hang on one handle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from bunraku.errors import FigureError
from bunraku.figure.build import StringSpec, with_lengths
from bunraku.figure.contact import Contact
from bunraku.figure.figure import Figure
from bunraku.figure.force import Effort, Spring
from bunraku.figure.frame import WORLD, Point, Variable
from bunraku.figure.string import String, Wire

Rope = TypeVar("Rope", bound=String)


def together(
    name: str, figures: dict[str, Figure], *, strings: Iterable[StringSpec] = (), springs: Iterable[Spring] = (),
    contacts: Iterable[Contact] = (),
) -> Figure:  # fmt: skip
    """Several figures as one; every name in them becomes "part.name".

    name: of the new figure.
    figures: by the name of the part that each becomes.
    strings, springs, contacts: what joins the parts; they name frames as "part.frame".
    Returns the figure; raises FigureError where there is no figure, or where their gravity differs.
    """
    if not figures:
        raise FigureError("no figure to put together", name=name, advice="together('pair', {'left': …, 'right': …})")
    return _joined(name, [_renamed(figure, prefix) for prefix, figure in figures.items()], strings, springs, contacts)


def with_props(figure: Figure, props: dict[str, Figure]) -> Figure:
    """`figure` with `props` beside it (a ball, a chair), as one figure; only names in the props change, to "prop.name".

    Raises FigureError where gravity differs, or where a name is taken.
    """
    return _joined(figure.name, [figure, *(_renamed(prop, prefix) for prefix, prop in props.items())])


def started(figure: Figure, values: dict[str, float]) -> Figure:
    """`figure` with other `values` of some variables at its start [rad or m], by name. Raises UnknownName."""
    figure.indices(values)

    def other(v: Variable | None) -> Variable | None:
        return replace(v, start=values[v.name]) if v is not None and v.name in values else v

    return figure.replace(
        frames=tuple(replace(f, variable=other(f.variable)) for f in figure.frames),
        lengths=tuple(replace(v, start=values.get(v.name, v.start)) for v in figure.lengths),
    )


def _joined(
    name: str, parts: list[Figure], strings: Iterable[StringSpec] = (), springs: Iterable[Spring] = (),
    contacts: Iterable[Contact] = (),
) -> Figure:  # fmt: skip
    if len({part.gravity for part in parts}) > 1:
        raise FigureError("the figures have different gravity", name=name, field="gravity", advice="figure.replace(gravity=…)")
    frames = tuple(f for part in parts for f in part.frames)
    ropes, lengths = with_lengths(frames, tuple(strings))
    return Figure(
        name,
        frames,
        tuple(x for part in parts for x in part.bodies),
        (*(x for part in parts for x in part.strings), *(s for s in ropes if s.pulls_only)),
        (*(x for part in parts for x in part.wires), *(s for s in ropes if isinstance(s, Wire))),
        (*(x for part in parts for x in part.lengths), *lengths),
        (*(x for part in parts for x in part.springs), *springs),
        tuple(x for part in parts for x in part.forces),
        (*(x for part in parts for x in part.contacts), *contacts),
        tuple(x for part in parts for x in part.closures),
        tuple(x for part in parts for x in part.shapes),
        tuple(x for part in parts for x in part.groups),
        tuple(x for part in parts for x in part.allowed),
        parts[0].gravity,
    )


def _renamed(figure: Figure, prefix: str) -> Figure:
    def own(name: str) -> str:
        return name if name == WORLD else f"{prefix}.{name}"

    def at(point: Point) -> Point:
        return replace(point, frame=own(point.frame))

    def variable(v: Variable | None) -> Variable | None:
        return None if v is None else replace(v, name=own(v.name))

    def rope(s: Rope) -> Rope:
        return replace(s.reframed(own), name=own(s.name), variable=None if s.variable is None else own(s.variable))

    return figure.replace(
        frames=tuple(replace(f, name=own(f.name), parent=own(f.parent), variable=variable(f.variable)) for f in figure.frames),
        bodies=tuple(replace(b, name=own(b.name), frame=own(b.frame)) for b in figure.bodies),
        strings=tuple(map(rope, figure.strings)),
        wires=tuple(map(rope, figure.wires)),
        lengths=tuple(replace(v, name=own(v.name)) for v in figure.lengths),
        springs=tuple(replace(s, name=own(s.name), a=at(s.a), b=at(s.b)) for s in figure.springs),
        forces=tuple(
            replace(f, name=own(f.name), variable=own(f.variable))
            if isinstance(f, Effort)
            else replace(f, name=own(f.name), at=at(f.at))
            for f in figure.forces
        ),
        contacts=tuple(replace(c, name=own(c.name), point=at(c.point), plane=at(c.plane)) for c in figure.contacts),
        closures=tuple(replace(c, name=own(c.name), a=at(c.a), b=at(c.b)) for c in figure.closures),
        shapes=tuple(replace(s, name=own(s.name), frame=own(s.frame)) for s in figure.shapes),
        groups=tuple(replace(g, name=own(g.name), frames=tuple(map(own, g.frames))) for g in figure.groups),
        allowed=tuple((own(a), own(b)) for a, b in figure.allowed),
    )
