"""Strings, wires, contacts, closures and joint limits as scalar equations or inequalities between points, one to a row.

Springs and pushes are rows of the same kind, in a table of their own. The points of a string over pulleys stand in the order of its
way; a pulley or drum is three of them (see PointRole).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.contact import Closure
from bunraku.figure.figure import Figure
from bunraku.figure.folding import Carried, Folding
from bunraku.figure.force import Effort, Push
from bunraku.figure.frame import AXES, WORLD, Vector
from bunraku.figure.pulley import Branch, Drum, Eyelet, Pulley
from bunraku.figure.records import FORCE_RECORD, LINK_RECORD, POINT_RECORD, LinkKind, PointRole
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
        self._points: list[Row] = []
        self._count = 0
        named = [*self._ropes(), *self._contacts(), *self._closures(), *self._stops(), *self._rubs()]
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
        out[:] = self._points
        return out

    def carriers(self, row: np.void | Row) -> list[int]:
        """The joints that carry the points of `row`; the world is left out."""
        own = self._points[row["first"] : row["first"] + row["count"]]
        return [int(point["joint"]) for point in own if point["joint"] >= 0]

    def _row(self, kind: int, own: Sequence[Carried | Row], **fields: float) -> Row:
        row = np.zeros((), LINK_RECORD)
        row["kind"], row["first"], row["count"] = kind, len(self._points), len(own)
        row["variable"], row["normal"], row["ratio"] = -1, -1, 1.0
        for field, value in fields.items():
            row[field] = value
        self._points.extend(_point(*point) if isinstance(point, tuple) else point for point in own)
        self._count += 1
        return row

    def _ropes(self) -> Iterator[tuple[str, Row]]:
        for rope in (*self._figure.strings, *self._figure.wires):
            turn = -1 if rope.variable is None else self._figure.index(rope.variable)
            kind = LinkKind.WRAPPED if rope.wraps or rope.rubbing else LinkKind.LENGTH
            row = self._row(
                kind,
                [*self._way(rope), *self._layers(rope)],
                pulls=rope.pulls_only,
                variable=turn,
                length=rope.length,
                ratio=rope.ratio,
            )
            if isinstance(rope.spindle, Drum) and not rope.spindle.layered:
                row["ratio"] *= rope.spindle.radius
            if rope.elastic:
                row["stiffness"], row["damping"] = rope.stiffness, rope.damping
                row["frequency"] = np.sqrt(rope.stiffness / (self._wound(rope) * self._mass_on(row)))
            yield rope.name, row

    def _layers(self, rope: String) -> list[Row]:
        """What a drum that winds in layers has last."""
        if not isinstance(rope.spindle, Drum) or not rope.spindle.layered or rope.variable is None:
            return []
        turned = np.flatnonzero(self._fold.joints["variable"] == self._figure.index(rope.variable))
        point = _point(int(turned[0]), 0.0, np.zeros(3), role=PointRole.LAYERS, weight=2.0 * np.pi * rope.spindle.turns)
        point["radius"] = rope.spindle.thickness
        return [point]

    def _way(self, rope: String) -> list[Row]:
        """The points of a string; each eyelet has the weight of the way to the next one, each pulley the angle of its turns."""
        out: list[Row] = []
        weight, senses = 1.0, _senses(self._fold, rope)
        for k, at in enumerate(rope.way):
            if isinstance(at, Branch):
                out[-1]["weight"], weight = 0.0, 1.0 / at.divisor
                continue
            centre = _point(*self._fold.point(at), weight=weight)
            match at:
                case Pulley(axis=axis, side=side):
                    role = PointRole.SPHERE if axis is None else PointRole.CYLINDER
                    centre["role"], centre["radius"], centre["turn"] = role, at.radius, at.turn * senses.get(k, 1)
                    centre["weight"] = 2.0 * np.pi * at.turns
                    line = _nowhere() if axis is None else self._fold.direction(at.frame, axis)
                    beside = _point(*_nowhere()) if side is None else _point(*self._fold.point(side), role=PointRole.SIDE)
                    out += [centre, _point(*line), beside]
                case Drum(axis=axis, towards=towards):
                    centre["role"], centre["radius"], centre["turn"] = PointRole.DRUM, at.radius, at.turn * senses.get(k, 1)
                    onto = self._fold.direction(at.frame, [-x for x in towards])
                    out += [centre, _point(*self._fold.direction(at.frame, axis)), _point(*onto)]
                case _:
                    out.append(centre)
        return out

    def _rubs(self) -> Iterator[tuple[str, Row]]:
        """Where a string has friction: the length of its way from the hook to there, from the last such place to the first.

        What a pulley is told by is how far the string reaches up to a place that is fixed on it: as if it were a drum.
        """
        for number, rope in enumerate((*self._figure.strings, *self._figure.wires)):
            way = self._way(rope) if rope.rubbing else []
            for place in rope.rubbing:
                at = rope.way[place]
                end = 1 + sum(3 if isinstance(before, Pulley) else 1 for before in rope.way[:place])
                own = [point.copy() for point in way[:end]]
                if isinstance(at, Pulley) and at.axis is not None:
                    own[-1]["role"] = PointRole.DRUM
                    own += [way[end].copy(), _point(*self._fold.direction(at.frame, _square_to(at.axis)))]
                friction = at.friction if isinstance(at, Eyelet | Pulley) else 0.0
                row = self._row(LinkKind.WRAPPED, own, normal=number, friction=friction)
                yield f"{rope.name}.friction{place}", row

    def _wound(self, rope: String) -> float:
        """Its length at the start [m]."""
        value = 0.0 if rope.variable is None else float(self._figure.start[self._figure.index(rope.variable)])
        return max(float(rope.wound(value)), 1e-3)  # at least a millimetre: less has no stiffness to speak of

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


def _point(joint: int, is_point: float, position: Array, *, role: int = PointRole.EYELET, weight: float = 1.0) -> Row:
    point = np.zeros((), POINT_RECORD)
    point["joint"], point["is_point"], point["position"], point["role"], point["weight"] = joint, is_point, position, role, weight
    return point


def _senses(fold: Folding, rope: String) -> dict[int, int]:
    """1, or −1 where the axis of a pulley points against that of the first in its row: there its turns count the other way.

    By place on the way. Axes of a row are parallel in every configuration, so any will do: the one where all variables are 0.
    """
    out: dict[int, int] = {}
    first: Array | None = None
    for k, at in enumerate(rope.way):
        axis = at.axis if isinstance(at, Pulley | Drum) else None
        if axis is None or isinstance(at, Branch):
            first = None
            continue
        along = fold.at_zero(at.frame) @ np.array(axis)
        first = along if first is None else first
        out[k] = 1 if along @ first > 0.0 else -1
    return out


def _square_to(axis: Vector) -> list[float]:
    """Any direction square to `axis`."""
    return [float(x) for x in so3.onto_z(axis)[:, 0]]


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
