"""Builds a figure from nested nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bunraku.figure import plain_kinematics
from bunraku.figure.build.items import Attached, Item
from bunraku.figure.build.joins import StringSpec
from bunraku.figure.build.places import vector
from bunraku.figure.contact import Closure, Contact
from bunraku.figure.figure import Figure
from bunraku.figure.force import Force, Spring
from bunraku.figure.frame import WORLD, Frame, Joint, Variable
from bunraku.figure.mass import Body
from bunraku.figure.shape import Shape
from bunraku.figure.string import String, Wire


def figure(
    name: str, *nodes: Item, strings: Iterable[StringSpec] = (), springs: Iterable[Spring] = (),
    forces: Iterable[Force] = (), contacts: Iterable[Contact] = (), closures: Iterable[Closure] = (),
    allowed: Iterable[tuple[str, str]] = (),
    lengths: Iterable[Variable] = (), joints: Iterable[Joint] = (), gravity: Sequence[float] = (0.0, 0.0, -9.81),
    damping: float | None = None,
) -> Figure:  # fmt: skip
    """Builds a figure from nested nodes.

    name: of the figure.
    nodes: frames whose parent is the world, with everything nested in them, and parts fixed in the world.
    strings, springs, forces, contacts, closures: made by the functions of these names (in the singular); forces by push and effort.
    allowed: pairs of frames whose shapes may touch, besides neighbours.
    lengths: variables that wind strings, besides those that strings have of their own.
    joints: ball and free joints whose frames are given as separate nodes.
    gravity: acceleration [m/s²].
    damping: of every dynamic variable that has none of its own [N·m·s/rad or N·s/m].
    Returns the figure; raises FigureError where its parts are inconsistent.
    """
    frames: list[Frame] = []
    bodies: list[Body] = []
    shapes: list[Shape] = []
    groups: list[Joint] = []

    # An explicit stack, not recursion: a chain may be thousands of frames deep.
    stack: list[tuple[Item, str]] = [(node, node.parent) for node in reversed(nodes)]
    while stack:
        item, parent = stack.pop()
        if isinstance(item, Attached):
            bodies += [replace(b, frame=parent, name=b.name if b.name != WORLD else parent) for b in item.bodies]
            shapes += [replace(s, frame=parent, name=s.name if s.name != WORLD else parent) for s in item.shapes]
            continue
        for frame in item.frames:
            frames.append(replace(frame, parent=parent))
            parent = frame.name
        if item.kind:
            groups.append(Joint(parent, item.kind, tuple(f.name for f in item.frames)))  # type: ignore[arg-type]
        stack.extend((child, parent) for child in reversed(item.children))

    if damping is not None:
        frames = [
            replace(f, variable=replace(f.variable, damping=f.variable.damping or damping))
            if f.variable is not None and not f.variable.kinematic
            else f
            for f in frames
        ]
    ropes, own = with_lengths(tuple(frames), tuple(strings))
    return Figure(
        name, tuple(frames), tuple(bodies), tuple(s for s in ropes if s.pulls_only),
        tuple(s for s in ropes if isinstance(s, Wire)), (*lengths, *own), tuple(springs), tuple(forces), tuple(contacts),
        tuple(closures), tuple(shapes), (*groups, *joints), tuple(allowed), vector(gravity),
    )  # fmt: skip


def with_lengths(frames: tuple[Frame, ...], specs: tuple[StringSpec, ...]) -> tuple[list[String], tuple[Variable, ...]]:
    """Strings, and the variables of those that have a length of their own.

    frames: of the figure, which give the distance from hook to spindle at the start.
    specs: strings as the notation gives them; one that starts taut gets that distance as its length.
    """
    known = {WORLD}
    for frame in frames:
        if frame.parent not in known:  # Figure will raise an error about it
            return [spec.string for spec in specs], tuple(spec.own for spec in specs if spec.own is not None)
        known.add(frame.name)
    X_W = plain_kinematics.poses(frames)
    lengths = []
    for spec in specs:
        if spec.own is None:
            continue
        own = spec.own
        if spec.taut and all(p.frame in X_W for p in spec.string.path):
            own = replace(own, start=plain_kinematics.path_length(X_W, spec.string))
        lengths.append(own)
    return [spec.string for spec in specs], tuple(lengths)
