"""The nested notation, in which a marionette fits a page.

    from bunraku.figure.build import ball, capsule, figure, fixed, rx, spindle, string

    figure(
        "arm",
        ball("shoulder", capsule(0.03, to=(0, 0, -0.3), mass=0.4),
            rx("elbow", capsule(0.025, to=(0, 0, -0.25), mass=0.3), fixed("wrist", at=(0, 0, -0.25)), at=(0, 0, -0.3))),
        spindle("hand", at=(0, 0.2, 1.0)),
        strings=[string("hand", "wrist", "hand_spindle")],
    )

A node is a frame with what is fixed in it; nodes nest. Where something is attached, a frame's name stands for its
origin, and (frame, (x, y, z)) for a point in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from bunraku.errors import FigureError
from bunraku.figure import plain
from bunraku.figure.contact import Closure, Contact
from bunraku.figure.figure import Figure
from bunraku.figure.force import Effort, Force, Push, Spring
from bunraku.figure.frame import AXES, ORIGIN, WORLD, Frame, Joint, Point, Variable, Vector
from bunraku.figure.mass import Body, inertia_tuple
from bunraku.figure.shape import WOOD, Box, Capsule, Color, Cylinder, Geometry, Mesh, Shape, Sphere
from bunraku.figure.string import String, Wire
from bunraku.spatial import so3
from bunraku.spatial.so3 import IDENTITY, Quaternion

PointLike = str | Point | tuple[str, Sequence[float]]
__all__ = [
    "ball", "body", "box", "capsule", "closure", "contact", "cylinder", "effort", "figure", "fixed", "free", "mesh", "push",
    "rotate", "rx", "ry", "rz", "screw", "sphere", "spindle", "spring", "string", "translate", "tx", "ty", "tz", "under",
    "wire",
]  # fmt: skip


class VariableWords(TypedDict, total=False):
    """Keyword words of a moving node; those of a ball or free joint may be lists, one value for each variable."""

    kinematic: bool
    start: float
    limits: tuple[float, float]
    speed: float
    effort: float
    stiffness: float
    rest: float
    damping: float
    armature: float


class MovingWords(VariableWords, total=False):
    """Those of a node with one variable."""

    variable: str
    """The name of the variable, where that is not the frame's."""


@dataclass(frozen=True)
class Node:
    """A frame, or the frames of one joint, with its children."""

    frames: tuple[Frame, ...]
    children: tuple[Item, ...] = ()
    kind: str = ""
    parent: str = WORLD


@dataclass(frozen=True)
class Attached:
    """A body or a shape that takes the frame that it stands in."""

    bodies: tuple[Body, ...] = ()
    shapes: tuple[Shape, ...] = ()
    parent: str = WORLD


Item = Node | Attached


def under(parent: str, item: Item) -> Item:
    """An item that is listed beside its parent, not nested in it."""
    return replace(item, parent=parent)


# -- frames ------------------------------------------------------------------------------------------------------


def _vector(values: Sequence[float]) -> Vector:
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def _rotation(rpy: Sequence[float] | None, quaternion: Sequence[float] | None) -> Quaternion:
    if quaternion is not None:
        w, x, y, z = (float(v) for v in quaternion)
        return (w, x, y, z)
    if rpy is None or not any(rpy):
        return IDENTITY
    w, x, y, z = so3.quaternion(so3.rpy(*rpy)).tolist()
    return (w, x, y, z)


def variable(name: str, motion: str, axis: Vector, pitch: float = 0.0, **words: Unpack[VariableWords]) -> Variable:
    lower, upper = words.pop("limits", (-math.inf, math.inf))
    return Variable(name, motion, axis, pitch, lower=float(lower), upper=float(upper), **words)  # type: ignore[arg-type, misc]


def fixed(
    name: str, *children: Item, at: Sequence[float] = ORIGIN, rpy: Sequence[float] | None = None,
    quaternion: Sequence[float] | None = None,
) -> Node:  # fmt: skip
    """A frame that does not move in its parent."""
    return Node((Frame(name, WORLD, _vector(at), _rotation(rpy, quaternion)),), children)


def _moving(
    motion: str, axis: str | Sequence[float], name: str, children: tuple[Item, ...], at: Sequence[float],
    rpy: Sequence[float] | None, quaternion: Sequence[float] | None, pitch: float, words: MovingWords,
) -> Node:  # fmt: skip
    direction = AXES[axis] if isinstance(axis, str) else _vector(axis)
    called = words.pop("variable", name)
    moves = variable(called, motion, direction, pitch, **words)  # type: ignore[misc]
    return Node((Frame(name, WORLD, _vector(at), _rotation(rpy, quaternion), moves),), children)


def rotate(
    axis: str | Sequence[float], name: str, *children: Item, at: Sequence[float] = ORIGIN,
    rpy: Sequence[float] | None = None, quaternion: Sequence[float] | None = None, **words: Unpack[MovingWords],
) -> Node:  # fmt: skip
    """A frame that turns about an axis [rad]."""
    return _moving("rotate", axis, name, children, at, rpy, quaternion, 0.0, words)


def translate(
    axis: str | Sequence[float], name: str, *children: Item, at: Sequence[float] = ORIGIN,
    rpy: Sequence[float] | None = None, quaternion: Sequence[float] | None = None, **words: Unpack[MovingWords],
) -> Node:  # fmt: skip
    """A frame that slides along an axis [m]."""
    return _moving("translate", axis, name, children, at, rpy, quaternion, 0.0, words)


def screw(
    axis: str | Sequence[float], pitch: float, name: str, *children: Item, at: Sequence[float] = ORIGIN,
    rpy: Sequence[float] | None = None, quaternion: Sequence[float] | None = None, **words: Unpack[MovingWords],
) -> Node:  # fmt: skip
    """A frame that turns about an axis and advances `pitch` metres a radian."""
    return _moving("screw", axis, name, children, at, rpy, quaternion, pitch, words)


def rx(name: str, *children: Item, **words: Any) -> Node:
    return rotate("x", name, *children, **words)


def ry(name: str, *children: Item, **words: Any) -> Node:
    return rotate("y", name, *children, **words)


def rz(name: str, *children: Item, **words: Any) -> Node:
    return rotate("z", name, *children, **words)


def tx(name: str, *children: Item, **words: Any) -> Node:
    return translate("x", name, *children, **words)


def ty(name: str, *children: Item, **words: Any) -> Node:
    return translate("y", name, *children, **words)


def tz(name: str, *children: Item, **words: Any) -> Node:
    return translate("z", name, *children, **words)


def _several(
    kind: str, letters: Sequence[str], name: str, children: tuple[Item, ...], at: Sequence[float],
    rotation: Quaternion, start: Sequence[float], words: dict[str, Any],
) -> Node:  # fmt: skip
    """The chain of one-variable frames of a ball, free or spindle joint; the last one carries the joint's name."""
    frames = []
    for k, letter in enumerate(letters):
        motion = "rotate" if letter[0] == "r" else "translate"
        own = {word: value[k] if np.ndim(value) > (word == "limits") else value for word, value in words.items()}
        own["start"] = float(start[k])
        moves = variable(f"{name}_{letter}", motion, AXES[letter[1]], **own)
        place = (_vector(at), rotation) if k == 0 else (ORIGIN, IDENTITY)
        frames.append(Frame(name if k == len(letters) - 1 else f"{name}_{letter}", WORLD, *place, moves))
    return Node(tuple(frames), children, kind)


def ball(
    name: str, *children: Item, at: Sequence[float] = ORIGIN, rpy: Sequence[float] | None = None,
    quaternion: Sequence[float] | None = None, start: Sequence[float] = ORIGIN, **words: Any,
) -> Node:  # fmt: skip
    """Three rotations z, y, x about one point; variables name_rz, name_ry, name_rx."""
    return _several("ball", ("rz", "ry", "rx"), name, children, at, _rotation(rpy, quaternion), start, words)


def free(
    name: str, *children: Item, at: Sequence[float] = ORIGIN, rpy: Sequence[float] | None = None,
    quaternion: Sequence[float] | None = None, start: Sequence[float] = (0.0,) * 6, **words: Any,
) -> Node:  # fmt: skip
    """All six motions; variables name_tx, name_ty, name_tz, name_rz, name_ry, name_rx."""
    letters = ("tx", "ty", "tz", "rz", "ry", "rx")
    return _several("free", letters, name, children, at, _rotation(rpy, quaternion), start, words)


def spindle(name: str, *children: Item, at: Sequence[float] = ORIGIN, moves: str = "xy", **words: Any) -> Node:
    """A carriage that the puppeteer moves along some axes; frame name_spindle, variables name_x, name_y, …"""
    frames = []
    position = [0.0 if axis in moves else float(c) for axis, c in zip("xyz", at, strict=True)]
    for k, axis in enumerate(moves):
        own: Any = {"kinematic": True, "start": float(at["xyz".index(axis)]), **words}
        frame = f"{name}_spindle" if k == len(moves) - 1 else f"{name}_{axis}"
        moving = variable(f"{name}_{axis}", "translate", AXES[axis], **own)
        frames.append(Frame(frame, WORLD, _vector(position) if k == 0 else ORIGIN, variable=moving))
    return Node(tuple(frames) or (Frame(f"{name}_spindle", WORLD, _vector(at)),), children)


# -- what is fixed in a frame ------------------------------------------------------------------------------------


def body(mass: float, com: Sequence[float] = ORIGIN, inertia: Sequence[float] = (0.0, 0.0, 0.0), name: str = "") -> Attached:
    """Mass [kg] with its centre [m] and the inertia about it [kg·m²]: xx yy zz, or xx yy zz xy xz yz."""
    full: Any = (*(float(i) for i in inertia), *(0.0,) * (6 - len(inertia)))
    return Attached(bodies=(Body(WORLD, float(mass), _vector(com), full, name),))


class ShapeWords(TypedDict, total=False):
    at: Sequence[float]
    rpy: Sequence[float]
    quaternion: Sequence[float]
    color: Color
    mass: float
    name: str
    collides: bool
    visible: bool


def _placed(geometry: Geometry, words: ShapeWords) -> Attached:
    at, rotation = _vector(words.get("at", ORIGIN)), _rotation(words.get("rpy"), words.get("quaternion"))
    mass, name, color = words.get("mass", 0.0), words.get("name", ""), words.get("color", WOOD)
    shape = Shape(WORLD, geometry, at, rotation, color, name, words.get("collides", True), words.get("visible", True))
    if not mass:
        return Attached(shapes=(shape,))
    if isinstance(geometry, Mesh):
        raise FigureError(
            "how the mass of a mesh is spread is not known", kind="shape", name=name or geometry.file, field="mass",
            advice="put body(mass, com, inertia) beside it",
        )  # fmt: skip
    R = so3.matrix(rotation)
    turned = mass * (R @ np.diag(geometry.unit_inertia()[:3]) @ R.T)
    return Attached((Body(WORLD, float(mass), at, inertia_tuple(turned), name),), (shape,))


def sphere(radius: float, **words: Unpack[ShapeWords]) -> Attached:
    return _placed(Sphere(radius), words)


def box(size: Sequence[float], **words: Unpack[ShapeWords]) -> Attached:
    return _placed(Box(_vector(size)), words)


def mesh(file: str, scale: Sequence[float] = (1.0, 1.0, 1.0), **words: Unpack[ShapeWords]) -> Attached:
    return _placed(Mesh(file, _vector(scale)), words)


def _between(
    start: Sequence[float], to: Sequence[float], words: ShapeWords
) -> tuple[float, ShapeWords]:
    """Length and placement of a shape whose z axis runs from one point to another."""
    a, b = np.asarray(start, float), np.asarray(to, float)
    length = float(np.linalg.norm(b - a))
    q = so3.quaternion(so3.onto_z((b - a) / length)) if length > 0 else IDENTITY
    return length, {**words, "at": tuple((a + b) / 2), "quaternion": tuple(float(x) for x in q)}


def capsule(
    radius: float, length: float = 0.0, *, to: Sequence[float] | None = None, start: Sequence[float] = ORIGIN,
    **words: Unpack[ShapeWords],
) -> Attached:  # fmt: skip
    """Along z with the given length, or from `start` to `to`."""
    if to is not None:
        length, words = _between(start, to, words)
    return _placed(Capsule(radius, length), words)


def cylinder(
    radius: float, length: float = 0.0, *, to: Sequence[float] | None = None, start: Sequence[float] = ORIGIN,
    **words: Unpack[ShapeWords],
) -> Attached:  # fmt: skip
    if to is not None:
        length, words = _between(start, to, words)
    return _placed(Cylinder(radius, length), words)


# -- what joins frames -------------------------------------------------------------------------------------------


def at_point(at: PointLike) -> Point:
    """A frame's name stands for its origin."""
    if isinstance(at, Point):
        return at
    if isinstance(at, str):
        return Point(at)
    frame, position = at
    return Point(frame, _vector(position))


@dataclass(frozen=True)
class StringSpec:
    """A string whose variable is still to be made: `length` None means taut at the start."""

    string: String
    own: Variable | None = field(default=None)
    taut: bool = False


def _stringlike(
    make: type[String], name: str, hook: PointLike, spindle: PointLike, length: float | str | None,
    through: Iterable[PointLike], variable: str | None, ratio: float, start: float | None,
    limits: tuple[float, float], speed: float,
) -> StringSpec:  # fmt: skip
    path = (at_point(hook), at_point(spindle))
    eyelets = tuple(at_point(p) for p in through)
    if variable is not None and not isinstance(length, str):
        return StringSpec(make(name, *path, float(length or 0.0), variable, ratio, eyelets))
    if isinstance(length, int | float):
        return StringSpec(make(name, *path, float(length), None, ratio, eyelets))
    if isinstance(length, str) and start is None:
        return StringSpec(make(name, *path, 0.0, length, ratio, eyelets))
    own = Variable(
        length or f"{name}_length", "length", kinematic=True, start=start or 0.0, lower=limits[0], upper=limits[1],
        speed=speed,
    )  # fmt: skip
    return StringSpec(make(name, *path, 0.0, own.name, 1.0, eyelets), own, taut=start is None)


def string(
    name: str, hook: PointLike, spindle: PointLike, length: float | str | None = None, *, through: Iterable[PointLike] = (),
    variable: str | None = None, ratio: float = 1.0, start: float | None = None,
    limits: tuple[float, float] = (0.0, math.inf), speed: float = math.inf,
) -> StringSpec:  # fmt: skip
    """A string from hook to spindle, through eyelets on its way.

    `length` is a number of metres, or the name of the variable that winds it, or nothing: then the string has its
    own kinematic variable name_length, and is just taut at the start (or `start` metres long). With `variable`, the
    string is `length + ratio · variable` long: wound on a drum, or paid out by a carriage.
    """
    return _stringlike(String, name, hook, spindle, length, through, variable, ratio, start, limits, speed)


def wire(
    name: str, hook: PointLike, spindle: PointLike, length: float | str | None = None, *, through: Iterable[PointLike] = (),
    variable: str | None = None, ratio: float = 1.0, start: float | None = None,
    limits: tuple[float, float] = (0.0, math.inf), speed: float = math.inf,
) -> StringSpec:  # fmt: skip
    """Like a string, but rigid."""
    return _stringlike(Wire, name, hook, spindle, length, through, variable, ratio, start, limits, speed)


def spring(name: str, a: PointLike, b: PointLike, stiffness: float, length: float = 0.0, damping: float = 0.0) -> Spring:
    return Spring(name, at_point(a), at_point(b), stiffness, length, damping)


def effort(variable: str, name: str = "", gain: float = 1.0) -> Effort:
    """A force input along a variable."""
    return Effort(name or f"{variable}_effort", variable, gain)


def push(name: str, at: PointLike, direction: Sequence[float], *, turns: bool = False) -> Push:
    """A force input at a point."""
    return Push(name, at_point(at), _vector(direction), turns)


def contact(
    name: str, point: PointLike, plane: PointLike = WORLD, normal: Sequence[float] = (0.0, 0.0, 1.0), friction: float = 0.0
) -> Contact:
    return Contact(name, at_point(point), at_point(plane), _vector(normal), friction)


def closure(name: str, a: PointLike, b: PointLike, kind: str = "point") -> Closure:
    return Closure(name, at_point(a), at_point(b), kind)  # type: ignore[arg-type]


# -- the figure --------------------------------------------------------------------------------------------------


def figure(
    name: str, *nodes: Item, strings: Iterable[StringSpec] = (), springs: Iterable[Spring] = (),
    forces: Iterable[Force] = (), contacts: Iterable[Contact] = (), closures: Iterable[Closure] = (),
    allowed: Iterable[tuple[str, str]] = (),
    lengths: Iterable[Variable] = (), joints: Iterable[Joint] = (), gravity: Sequence[float] = (0.0, 0.0, -9.81),
    damping: float | None = None,
) -> Figure:  # fmt: skip
    """A figure of nested nodes. `damping` is that of every dynamic variable which has none of its own.

    `lengths` are variables that wind strings, besides those that strings have of their own; `joints` are balls and free
    joints whose frames were listed one by one.
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
        tuple(closures), tuple(shapes), (*groups, *joints), tuple(allowed), _vector(gravity),
    )  # fmt: skip


def with_lengths(frames: tuple[Frame, ...], specs: tuple[StringSpec, ...]) -> tuple[list[String], tuple[Variable, ...]]:
    """Strings, and the variables of their own lengths; a string that is to start taut gets the distance there."""
    known = {WORLD}
    for frame in frames:
        if frame.parent not in known:  # which the figure itself will refuse
            return [spec.string for spec in specs], tuple(spec.own for spec in specs if spec.own is not None)
        known.add(frame.name)
    X_W = plain.poses(frames)
    lengths = []
    for spec in specs:
        if spec.own is None:
            continue
        own = spec.own
        if spec.taut and all(p.frame in X_W for p in spec.string.path):
            own = replace(own, start=plain.path_length(X_W, spec.string))
        lengths.append(own)
    return [spec.string for spec in specs], tuple(lengths)
