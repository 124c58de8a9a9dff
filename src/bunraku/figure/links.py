"""Strings, wires, contacts, closures and joint limits as scalar equations or inequalities between points, one to a row.

Springs and pushes are rows of the same kind, in a table of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.contact import Closure
from bunraku.figure.figure import Figure
from bunraku.figure.folding import Carried, Folding
from bunraku.figure.force import Effort, Push
from bunraku.figure.frame import AXES, WORLD
from bunraku.figure.records import FORCE_RECORD, LINK_RECORD, POINT_RECORD, LinkKind
from bunraku.figure.string import String
from bunraku.spatial import so3

Array = NDArray[np.float64]
Row = NDArray[np.void]


class LinkRows:
    """All rows of a figure, and their points, one after another.

    Made from the figure and `fold`, which tells the joint that each point is fixed to.
    """

    def __init__(self, figure: Figure, fold: Folding) -> None:
        self._figure, self._fold = figure, fold
        self._points: list[Carried] = []
        self._count = 0
        named = [*self._ropes(), *self._contacts(), *self._closures(), *self._stops()]
        self.names = tuple(name for name, _ in named)
        self.links = _stacked([row for _, row in named])
        springs = [
            self._row(
                LinkKind.LENGTH, [fold.point(s.a), fold.point(s.b)], length=s.length, stiffness=s.stiffness, damping=s.damping
            )
            for s in figure.springs
        ]
        self.forces = self._forces(springs)
        self.springs = _stacked(springs)

    @property
    def points(self) -> Row:
        """Records of all points, in the order of the rows."""
        out = np.zeros(len(self._points), POINT_RECORD)
        for k, point in enumerate(self._points):
            out[k] = point
        return out

    def carriers(self, row: np.void | Row) -> list[int]:
        """The joints that carry the points of `row`; the world is left out."""
        return [j for j, _, _ in self._points[row["first"] : row["first"] + row["count"]] if j >= 0]

    def _row(self, kind: int, own: Sequence[Carried], **fields: float) -> Row:
        row = np.zeros((), LINK_RECORD)
        row["kind"], row["first"], row["count"] = kind, len(self._points), len(own)
        row["variable"], row["normal"], row["ratio"] = -1, -1, 1.0
        for field, value in fields.items():
            row[field] = value
        self._points.extend(own)
        self._count += 1
        return row

    def _ropes(self) -> Iterator[tuple[str, Row]]:
        for rope in (*self._figure.strings, *self._figure.wires):
            turn = -1 if rope.variable is None else self._figure.index(rope.variable)
            path = [self._fold.point(p) for p in rope.path]
            row = self._row(LinkKind.LENGTH, path, pulls=rope.pulls_only, variable=turn, length=rope.length, ratio=rope.ratio)
            if rope.elastic:
                row["stiffness"], row["damping"] = rope.stiffness, rope.damping
                row["frequency"] = np.sqrt(rope.stiffness / (self._wound(rope) * self._mass_on(row)))
            yield rope.name, row

    def _wound(self, rope: String) -> float:
        """Its length at the start [m]."""
        turned = 0.0 if rope.variable is None else rope.ratio * self._figure.start[self._figure.index(rope.variable)]
        return max(rope.length + turned, 1e-3)  # at least a millimetre: less has no stiffness to speak of

    def _mass_on(self, row: Row) -> float:
        """The smallest mass that a point of `row` carries, with everything that hangs on it [kg]."""
        behind = self._fold.joints["mass"].copy()
        for j in range(len(behind) - 1, -1, -1):
            if self._fold.joints["parent"][j] >= 0:
                behind[self._fold.joints["parent"][j]] += behind[j]
        masses = [behind[j] for j in self.carriers(row) if behind[j] > 0.0]
        return float(min(masses, default=behind.max(initial=0.0) or 1.0))

    def _contacts(self) -> Iterator[tuple[str, Row]]:
        """Each contact, followed by two rows of slip (the displacement along the plane) where it has friction."""
        for contact in self._figure.contacts:
            normal = self._count
            at, on = self._fold.point(contact.point), self._fold.point(contact.plane)
            j, w, up = self._fold.direction(contact.plane.frame, contact.normal)
            # The gap of an open link is ≤ 0, so a point above its plane has the gap −height.
            yield contact.name, self._row(LinkKind.PLANE, [at, on, (j, w, -up)], pulls=True)
            across = so3.onto_z(contact.normal)
            for k in range(2 if contact.friction > 0.0 else 0):
                along = self._fold.direction(contact.plane.frame, across[:, k].tolist())
                slip = self._row(LinkKind.SLIP, [at, on, along], normal=normal, friction=contact.friction)
                yield f"{contact.name}.slip{k + 1}", slip

    def _closures(self) -> Iterator[tuple[str, Row]]:
        for closure in self._figure.closures:
            for suffix, own in _closure_rows(self._fold, closure):
                yield f"{closure.name}.{suffix}", self._row(LinkKind.PLANE, own)

    def _stops(self) -> Iterator[tuple[str, Row]]:
        """Joint limits as strings without points: gap = 0 − (length + ratio·q). Ball joints get none: their angles are a chart."""
        inside_balls = {frame for group in self._figure.groups for frame in group.frames}
        for frame in self._figure.frames:
            v = frame.variable
            if v is None or v.kinematic or frame.name in inside_balls:
                continue
            for side, bound, ratio in (("upper", v.upper, -1.0), ("lower", -v.lower, 1.0)):
                if np.isfinite(bound):
                    turn = self._figure.index(v.name)
                    yield f"{v.name}.{side}", self._row(LinkKind.LENGTH, [], pulls=True, variable=turn, length=bound, ratio=ratio)

    def _forces(self, springs: list[Row]) -> Row:
        """Efforts name their joint. A push along e is the gradient of e·x, the height of its point x over a plane."""
        out, joints = np.zeros(len(self._figure.forces), FORCE_RECORD), self._fold.joints
        for k, force in enumerate(self._figure.forces):
            match force:
                case Effort(_, variable, gain):
                    out[k] = int(np.flatnonzero(joints["variable"] == self._figure.index(variable))[0]), -1, 0, gain
                case Push(_, at, direction, turns):
                    out[k] = -1, len(springs), turns, 1.0
                    along = self._fold.direction(at.frame if turns else WORLD, direction)
                    springs.append(self._row(LinkKind.PLANE, [self._fold.point(at), _nowhere(), along]))
        return out


def _nowhere() -> Carried:
    """The second point of rows that need none: the zero vector, fixed in the world."""
    return -1, 0.0, np.zeros(3)


def _stacked(rows: list[Row]) -> Row:
    return np.array(rows, LINK_RECORD) if rows else np.zeros(0, LINK_RECORD)


def _closure_rows(fold: Folding, closure: Closure) -> list[tuple[str, list[Carried]]]:
    """Rows (x_a − x_b)·n_b = 0 for points x, and u_a·n_b = 0 for axes that stay perpendicular; n_b is an axis of b's frame."""
    a, b = fold.point(closure.a), fold.point(closure.b)

    def along(axis: str) -> tuple[str, list[Carried]]:
        return axis, [a, b, fold.direction(closure.b.frame, AXES[axis])]

    def square(mine: str, other: str) -> tuple[str, list[Carried]]:
        return f"{mine}⊥{other}", [
            fold.direction(closure.a.frame, AXES[mine]), _nowhere(), fold.direction(closure.b.frame, AXES[other])
        ]  # fmt: skip

    if closure.kind == "plane":
        return [along("z")]
    rows = [along(axis) for axis in "xyz"]
    if closure.kind == "hinge":
        rows += [square("z", "x"), square("z", "y")]
    elif closure.kind == "weld":
        rows += [square("x", "y"), square("y", "z"), square("z", "x")]
    return rows
