"""Figure: what is there, frozen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError, UnknownName
from bunraku.figure.contact import Closure, Contact
from bunraku.figure.force import Effort, Force, Push, Spring
from bunraku.figure.frame import AXES, WORLD, Frame, Joint, Variable, Vector
from bunraku.figure.mass import Body
from bunraku.figure.shape import Shape
from bunraku.figure.string import String, Wire

if TYPE_CHECKING:
    from bunraku.figure.compiled import Compiled

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A tree of frames with bodies, strings, springs, force inputs, contacts, closures and shapes.

    The configuration `q` holds all variables: the dynamic ones first, then the kinematic ones, each in the order
    of the frames; the lengths of strings come last.
    """

    name: str
    frames: tuple[Frame, ...]
    bodies: tuple[Body, ...] = ()
    strings: tuple[String, ...] = ()
    wires: tuple[Wire, ...] = ()
    lengths: tuple[Variable, ...] = ()
    """Kinematic variables that are the wound length of a string and move no frame."""
    springs: tuple[Spring, ...] = ()
    forces: tuple[Force, ...] = ()
    contacts: tuple[Contact, ...] = ()
    closures: tuple[Closure, ...] = ()
    shapes: tuple[Shape, ...] = ()
    groups: tuple[Joint, ...] = ()
    """Ball and free joints; every other variable is a joint of its own."""
    allowed: tuple[tuple[str, str], ...] = ()
    """Pairs of frames whose shapes may touch, besides neighbours."""
    gravity: Vector = (0.0, 0.0, -9.81)

    def __post_init__(self) -> None:
        _check(self)

    # -- variables -----------------------------------------------------------------------------------------------

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """In the order of q."""
        tree = [frame.variable for frame in self.frames if frame.variable is not None]
        return (*(v for v in tree if not v.kinematic), *(v for v in tree if v.kinematic), *self.lengths)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables in the order of q."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def dynamic(self) -> tuple[str, ...]:
        return tuple(v.name for v in self.variables if not v.kinematic)

    @cached_property
    def kinematic(self) -> tuple[str, ...]:
        return tuple(v.name for v in self.variables if v.kinematic)

    @cached_property
    def n_q(self) -> int:
        return len(self.variables)

    @cached_property
    def n_dynamic(self) -> int:
        return len(self.dynamic)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    def index(self, variable: str) -> int:
        """Place of a variable in q."""
        try:
            return self._index[variable]
        except KeyError:
            raise UnknownName("variable", variable, self.names) from None

    def indices(self, variables: Iterable[str]) -> NDArray[np.int64]:
        return np.array([self.index(name) for name in variables], np.int64)

    @cached_property
    def start(self) -> Array:
        """The configuration that the figure starts in (do not write into it)."""
        q = np.array([v.start for v in self.variables])
        q.setflags(write=False)
        return q

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits in the order of q."""
        return np.array([v.lower for v in self.variables]), np.array([v.upper for v in self.variables])

    def configuration(self, base: Sequence[float] | Array | None = None, /, **values: float) -> Array:
        """A configuration by names: `figure.configuration(elbow=1.2)`; the rest as in `base`, or at the start."""
        q = np.array(self.start if base is None else base, float)
        for name, value in values.items():
            q[self.index(name)] = value
        return q

    # -- frames --------------------------------------------------------------------------------------------------

    @cached_property
    def _frame(self) -> dict[str, Frame]:
        return {frame.name: frame for frame in self.frames}

    def frame(self, name: str) -> Frame:
        try:
            return self._frame[name]
        except KeyError:
            raise UnknownName("frame", name, tuple(self._frame)) from None

    @cached_property
    def frame_index(self) -> dict[str, int]:
        """Place of each frame in `frames`."""
        return {frame.name: k for k, frame in enumerate(self.frames)}

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """Ball and free joints, and every other variable of the tree as a joint of its own, in tree order."""
        group = {frame: joint for joint in self.groups for frame in joint.frames}
        kinds = {"rotate": "hinge", "translate": "slide", "screw": "screw"}
        out: list[Joint] = []
        for frame in self.frames:
            if frame.name in group:
                if group[frame.name] not in out:
                    out.append(group[frame.name])
            elif frame.variable is not None:
                out.append(Joint(frame.name, kinds[frame.variable.motion], (frame.name,)))  # type: ignore[arg-type]
        return tuple(out)

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return math.fsum(body.mass for body in self.bodies)

    # -- other forms ---------------------------------------------------------------------------------------------

    @cached_property
    def compiled(self) -> Compiled:
        """The flat arrays that kernels use."""
        from bunraku.figure.compiled import compile_figure

        return compile_figure(self)

    def replace(self, **changes: Any) -> Figure:
        """A copy with some fields changed, checked anew."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        parts = [f"{self.n_dynamic} dynamic + {self.n_q - self.n_dynamic} kinematic variables", f"{len(self.bodies)} bodies"]
        parts += [f"{len(group)} {word}" for word, group in (("strings", self.strings), ("contacts", self.contacts)) if group]
        return f"<Figure {self.name}: {', '.join(parts)}, {self.mass:.3g} kg>"


def _check(figure: Figure) -> None:
    """Names are unique and refer to something; parents come before children."""
    if not figure.name:
        raise FigureError("the figure has no name", advice="figure: my_figure")
    if not all(map(math.isfinite, figure.gravity)):
        raise FigureError("gravity is not finite", field="gravity", advice="[0, 0, -9.81]")
    known = [WORLD]
    seen = {WORLD}
    for frame in figure.frames:
        if frame.name in seen:
            raise FigureError("the name is taken", kind="frame", name=frame.name, advice="every frame has a name of its own")
        if frame.parent not in seen:
            later = any(other.name == frame.parent for other in figure.frames)
            if later:
                raise FigureError(
                    f"its parent {frame.parent!r} comes later, or is its own child", kind="frame", name=frame.name,
                    field="parent", advice="list parents before children; a tree has no cycle",
                )  # fmt: skip
            raise _missing("frame", frame.name, "parent", frame.parent, known)
        seen.add(frame.name)
        known.append(frame.name)
    variables = figure.variables
    _unique("variable", (v.name for v in variables))
    names = {v.name: v for v in variables}
    for own in figure.lengths:
        if own.motion != "length" or not own.kinematic:
            raise FigureError("a length variable is kinematic", kind="variable", name=own.name)

    def need_frame(kind: str, name: str, field: str, frame: str) -> None:
        if frame not in seen:
            raise _missing(kind, name, field, frame, known)

    for body in figure.bodies:
        need_frame("body", body.name, "frame", body.frame)
    for shape in figure.shapes:
        need_frame("shape", shape.name, "frame", shape.frame)
    _unique("string", (s.name for s in (*figure.strings, *figure.wires)))
    for string in (*figure.strings, *figure.wires):
        for field, point in zip(("hook", *("eyelets" for _ in string.eyelets), "spindle"), string.path, strict=True):
            need_frame(string.kind, string.name, field, point.frame)
            _finite(string.kind, string.name, field, point.position)
        if string.variable is not None and string.variable not in names:
            raise _missing(string.kind, string.name, "length", string.variable, list(names), what="variable")
    for spring in figure.springs:
        for field, point in (("a", spring.a), ("b", spring.b)):
            need_frame("spring", spring.name, field, point.frame)
            _finite("spring", spring.name, field, point.position)
    _unique("spring", (s.name for s in figure.springs))
    _unique("force", (f.name for f in figure.forces))
    for force in figure.forces:
        match force:
            case Effort(name, variable):
                if variable not in names:
                    raise _missing("force", name, "variable", variable, list(names), what="variable")
                if names[variable].kinematic:
                    raise FigureError(
                        f"{variable!r} is kinematic: the puppeteer sets it", kind="force", name=name, field="variable",
                        advice="an effort acts on a dynamic variable",
                    )  # fmt: skip
            case Push(name, at):
                need_frame("force", name, "at", at.frame)
                _finite("force", name, "at", at.position)
    _unique("contact", (c.name for c in figure.contacts))
    for contact in figure.contacts:
        for field, point in (("point", contact.point), ("plane", contact.plane)):
            need_frame("contact", contact.name, field, point.frame)
            _finite("contact", contact.name, field, point.position)
    _unique("closure", (c.name for c in figure.closures))
    for closure in figure.closures:
        for field, point in (("a", closure.a), ("b", closure.b)):
            need_frame("closure", closure.name, field, point.frame)
            _finite("closure", closure.name, field, point.position)
    for pair in figure.allowed:
        for name in pair:
            need_frame("allowed pair", " ".join(pair), "allowed", name)
    for joint in figure.groups:
        _check_group(figure, joint)


def _check_group(figure: Figure, joint: Joint) -> None:
    """A ball is z, y, x about one point; a free joint slides along x, y, z first."""
    want = ("rz", "ry", "rx") if joint.kind == "ball" else ("tx", "ty", "tz", "rz", "ry", "rx")
    got = []
    for name in joint.frames:
        variable = figure.frame(name).variable
        axis = "" if variable is None else {v: k for k, v in AXES.items()}.get(variable.axis, "?")
        got.append("" if variable is None else variable.motion[0] + axis)
    first = figure.frame_index[joint.frames[0]]
    row = tuple(f.name for f in figure.frames[first : first + len(joint.frames)])
    chained = row == joint.frames and all(figure.frame(b).parent == a for a, b in pairwise(row))
    plain = all(
        figure.frame(n).position == (0.0, 0.0, 0.0) and figure.frame(n).rotation == (1.0, 0.0, 0.0, 0.0)
        for n in joint.frames[1:]
    )
    if tuple(got) != want or not chained or not plain:
        raise FigureError(f"a {joint.kind} joint is {' '.join(want)} about one point", kind="joint", name=joint.name)


def _unique(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise FigureError("the name is taken", kind=kind, name=name, advice=f"every {kind} has a name of its own")
        seen.add(name)


def _finite(kind: str, name: str, field: str, position: Vector) -> None:
    if not all(map(math.isfinite, position)):
        raise FigureError("not a finite number", kind=kind, name=name, field=field, advice="positions are three finite numbers")


def _missing(kind: str, name: str, field: str, missing: str, known: Sequence[str], what: str = "frame") -> FigureError:
    hint = UnknownName(what, missing, tuple(known))
    return FigureError(hint.message, kind=kind, name=name, field=field, advice=hint.advice)
