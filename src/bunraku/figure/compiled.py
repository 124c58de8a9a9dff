"""Compiled: a figure as the flat arrays that kernels use. Kernels never see a name.

Joints (the frames that move) stand parents first: those that carry mass, then those that do not. Constant frames
are folded into the joints. A joint turns about, or slides along, one of its own three axes; for any other axis
the joint's axes are turned once, here. World is joint −1.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.contact import Closure
from bunraku.figure.figure import Figure
from bunraku.figure.force import Effort, Push
from bunraku.figure.frame import WORLD, Frame, Point, Vector
from bunraku.figure.mass import inertia_matrix
from bunraku.spatial import se3, so3
from bunraku.spatial.kernel import INTERPRETED

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

JOINT = np.dtype(
    [
        ("parent", "i8"), ("q", "i8"), ("kind", "i8"), ("turned", "i8"),  # kind: 0–2 turns about x, y, z; 3–5 slides
        ("mass", "f8"), ("pitch", "f8"), ("armature", "f8"), ("damping", "f8"), ("stiffness", "f8"), ("rest", "f8"),
        ("p", "f8", 3), ("com", "f8", 3), ("inertia", "f8", 6), ("R", "f8", (3, 3)),  # inertia: xx xy xz yy yz zz
    ],
    align=True,
)  # fmt: skip
POINT = np.dtype([("joint", "i8"), ("w", "f8"), ("x", "f8", 3)], align=True)  # w = 0: a direction, not a point
LINK = np.dtype(  # one scalar equation or inequality between points, or a spring along the way between them
    [
        ("kind", "i8"), ("first", "i8"), ("count", "i8"), ("pulls", "i8"), ("variable", "i8"), ("normal", "i8"),
        ("length", "f8"), ("ratio", "f8"), ("friction", "f8"), ("stiffness", "f8"), ("damping", "f8"),
    ],
    align=True,
)  # fmt: skip
FORCE = np.dtype([("joint", "i8"), ("link", "i8"), ("turns", "i8"), ("gain", "f8")], align=True)  # an effort or a push
LENGTH, PLANE, SLIP = 0, 1, 2  # kinds of link; a slip is a displacement along a plane, held by friction at its `normal`

# What kernels take. `shape` is (dynamic variables, variables, massive joints, links).
Tree = namedtuple(
    "Tree", "shape gravity joints chain points links support elimination springs spring_support forces balls"
)


@dataclass(frozen=True)
class Compiled:
    """The arrays, and where the figure's names ended up in them."""

    tree: Tree
    frame_joint: Ints
    """The joint that carries each frame, in the figure's order; −1 for the world."""
    frame_X: Array
    """Each frame's pose in its joint's axes, (n, 4, 4)."""
    joint_frame: tuple[str, ...]
    """The frame that each joint stands for."""
    link_names: tuple[str, ...]
    """Strings, then wires, then contacts with their slips, then the rows of closures, then the stops of joints."""


def _onto_axis(axis: Vector) -> tuple[int, Array]:
    """Which own axis to turn about, and the constant rotation that puts it there."""
    for k in range(3):
        if axis[k] == 1.0:
            return k, np.eye(3)
    return 2, so3.onto_z(axis)


class _Folding:
    """Folds constant frames into the joints that carry them."""

    def __init__(self, figure: Figure) -> None:
        order = self._massive_first(figure)
        self.number = {name: k for k, name in enumerate(order)}
        index = {name: k for k, name in enumerate(figure.names)}
        self.joints = np.zeros(len(order), JOINT)
        self.carrier: dict[str, int] = {WORLD: -1}
        self.X: dict[str, Array] = {WORLD: np.eye(4)}
        for frame in figure.frames:
            X = self.X[frame.parent] @ se3.pose(frame.position, frame.rotation)
            if frame.variable is None:
                self.carrier[frame.name], self.X[frame.name] = self.carrier[frame.parent], X
                continue
            self._add(frame, self.number[frame.name], self.carrier[frame.parent], X, index[frame.variable.name])
        self._add_bodies(figure)
        self.order = order

    def _massive_first(self, figure: Figure) -> list[str]:
        """Frames that move, parents first, those with mass (or a spring) under them before the others."""
        parent = {frame.name: frame.parent for frame in figure.frames}
        massive: set[str] = set()
        heavy = [body.frame for body in figure.bodies if body.mass > 0.0 or any(body.inertia)]
        heavy += [frame.name for frame in figure.frames if frame.variable is not None and frame.variable.armature > 0.0]
        # What springs and pushes hold matters between two configurations, as mass does.
        heavy += [at.frame for spring in figure.springs for at in (spring.a, spring.b)]
        heavy += [force.at.frame for force in figure.forces if isinstance(force, Push)]
        for name in heavy:
            while name != WORLD and name not in massive:
                massive.add(name)
                name = parent[name]
        moving = [frame.name for frame in figure.frames if frame.variable is not None]
        self.n_massive = sum(name in massive for name in moving)
        return [n for n in moving if n in massive] + [n for n in moving if n not in massive]

    def _add(self, frame: Frame, j: int, parent: int, X: Array, q: int) -> None:
        variable = frame.variable
        assert variable is not None
        axis, C = _onto_axis(variable.axis)
        slides = variable.motion == "translate"
        joint = self.joints[j]
        R = X[:3, :3] @ C
        joint["parent"], joint["q"], joint["kind"] = parent, q, axis + 3 * slides
        joint["p"], joint["R"] = X[:3, 3], R
        joint["turned"] = int(not np.array_equal(R, np.eye(3)))
        joint["pitch"] = variable.pitch if variable.motion == "screw" else 0.0
        for field in ("armature", "damping", "stiffness", "rest"):
            joint[field] = getattr(variable, field)
        self.carrier[frame.name] = j
        self.X[frame.name] = se3.pose(rotation=C.T)

    def _add_bodies(self, figure: Figure) -> None:
        """Bodies on one joint are one body: masses add, inertias add by Steiner's theorem."""
        first = np.zeros((len(self.joints), 3))
        second = np.zeros((len(self.joints), 3, 3))
        for body in figure.bodies:
            j = self.carrier[body.frame]
            if j < 0:
                continue  # fixed in the world: it never moves
            X = self.X[body.frame]
            c = se3.transform(X, body.com)
            self.joints["mass"][j] += body.mass
            first[j] += body.mass * c
            second[j] += X[:3, :3] @ inertia_matrix(body.inertia) @ X[:3, :3].T + body.mass * _steiner(c)
        for j, joint in enumerate(self.joints):
            if joint["mass"] > 0.0:
                joint["com"] = first[j] / joint["mass"]
            I = second[j] - joint["mass"] * _steiner(joint["com"])
            joint["inertia"] = I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]

    def point(self, at: Point) -> tuple[int, float, Array]:
        return self.carrier[at.frame], 1.0, se3.transform(self.X[at.frame], at.position)

    def direction(self, frame: str, direction: Sequence[float]) -> tuple[int, float, Array]:
        return self.carrier[frame], 0.0, self.X[frame][:3, :3] @ np.asarray(direction, float)


def _steiner(c: Array) -> Array:
    return np.asarray(float(c @ c) * np.eye(3) - np.outer(c, c))


def _records(array: NDArray[np.void]) -> NDArray[np.void]:
    """Fields as attributes. Kernels have that anyway, and take a plain structured array faster than a record array."""
    return array.view(np.recarray) if INTERPRETED else array


def _rows(lists: Sequence[Sequence[int]]) -> Ints:
    """Lists of different lengths as padded rows: the count first."""
    widest = max((len(row) for row in lists), default=0)
    out = np.zeros((len(lists), 1 + widest), np.int64)
    for k, row in enumerate(lists):
        out[k, 0] = len(row)
        out[k, 1 : 1 + len(row)] = row
    return out


def compile_figure(figure: Figure) -> Compiled:
    fold = _Folding(figure)
    joints = fold.joints
    n_dynamic = figure.n_dynamic
    points: list[tuple[int, float, Array]] = []

    def link(kind: int, own: Sequence[tuple[int, float, Array]], **fields: float) -> np.void:
        row = np.zeros((), LINK)
        row["kind"], row["first"], row["count"] = kind, len(points), len(own)
        row["variable"], row["normal"], row["ratio"] = -1, -1, 1.0
        for field, value in fields.items():
            row[field] = value
        points.extend(own)
        return row  # type: ignore[return-value]

    links, names = [], []
    for string in (*figure.strings, *figure.wires):
        turn = -1 if string.variable is None else figure.index(string.variable)
        links.append(
            link(
                LENGTH,
                [fold.point(p) for p in string.path],
                pulls=string.pulls_only,
                variable=turn,
                length=string.length,
                ratio=string.ratio,
            )
        )
        names.append(string.name)
    for contact in figure.contacts:
        normal = fold.direction(contact.plane.frame, contact.normal)
        own = [fold.point(contact.point), fold.point(contact.plane), normal]
        # The gap of every link is ≤ 0 where it is open, so a point above its plane has gap −height.
        own[2] = (normal[0], normal[1], -normal[2])
        links.append(link(PLANE, own, pulls=True))
        names.append(contact.name)
        if contact.friction > 0.0:
            normal_row = len(links) - 1
            across = so3.onto_z(contact.normal)
            for k in range(2):
                tangent = fold.direction(contact.plane.frame, across[:, k].tolist())
                along = [fold.point(contact.point), fold.point(contact.plane), tangent]
                links.append(link(SLIP, along, normal=normal_row, friction=contact.friction))
                names.append(f"{contact.name}.slip{k + 1}")
    for closure in figure.closures:
        for suffix, own in _closure_rows(fold, closure):
            links.append(link(PLANE, own))
            names.append(f"{closure.name}.{suffix}")
    inside_balls = {frame for group in figure.groups for frame in group.frames}
    for frame in figure.frames:
        v = frame.variable
        if v is None or v.kinematic or frame.name in inside_balls:
            continue  # a ball's three angles are a chart, and their limits no stops
        # A stop is a string of no points: gap = 0 − (length + ratio·q).
        for side, bound, ratio in (("upper", v.upper, -1.0), ("lower", -v.lower, 1.0)):
            if np.isfinite(bound):
                links.append(link(LENGTH, [], pulls=True, variable=figure.index(v.name), length=bound, ratio=ratio))
                names.append(f"{v.name}.{side}")
    springs = [
        link(LENGTH, [fold.point(s.a), fold.point(s.b)], length=s.length, stiffness=s.stiffness, damping=s.damping)
        for s in figure.springs
    ]
    forces = np.zeros(len(figure.forces), FORCE)
    for k, force in enumerate(figure.forces):
        match force:
            case Effort(_, variable, gain):
                j = int(np.flatnonzero(joints["q"] == figure.index(variable))[0])
                forces[k] = j, -1, 0, gain
            case Push(_, at, direction, turns):
                # A push along e is the gradient of e·x: a plane through nowhere.
                forces[k] = -1, len(springs), turns, 1.0
                nowhere = (-1, 0.0, np.zeros(3))
                springs.append(link(PLANE, [fold.point(at), nowhere, fold.direction(at.frame if turns else WORLD, direction)]))

    dynamic = {f.name for f in figure.frames if f.variable is not None and not f.variable.kinematic}
    point_array = np.zeros(len(points), POINT)
    for k, (j, w, x) in enumerate(points):
        point_array[k] = j, w, x
    chain = [_chain(joints, j) for j in range(len(joints))]

    def support(first: int, count: int) -> list[int]:
        carriers = [p[0] for p in points[first : first + count] if p[0] >= 0]
        return sorted(set().union(*(chain[j] for j in carriers))) if carriers else []

    link_array = np.array(links, LINK) if links else np.zeros(0, LINK)
    spring_array = np.array(springs, LINK) if springs else np.zeros(0, LINK)
    supports = [support(l["first"], l["count"]) for l in link_array]
    spring_supports = [support(s["first"], s["count"]) for s in spring_array]
    moved = [
        {int(joints["q"][j]) for j in s} | {int(l["variable"])} for s, l in zip(supports, link_array, strict=True)
    ]
    joined = [{int(joints["q"][j]) for j in s} for s in spring_supports]
    above = {int(joints["q"][j]): [int(joints["q"][i]) for i in chain[j][1:]] for j in range(len(joints))}
    tree = Tree(
        shape=np.array([n_dynamic, figure.n_q, fold.n_massive, len(link_array)], np.int64),
        gravity=np.array(figure.gravity, float),
        joints=_records(joints),
        chain=_rows(chain),
        points=_records(point_array),
        links=_records(link_array),
        support=_rows(supports),
        elimination=_rows(_elimination(n_dynamic, above, moved, joined)),
        springs=_records(spring_array),
        spring_support=_rows(spring_supports),
        forces=_records(forces),
        balls=np.array([fold.number[g.frames[-3]] for g in figure.groups if g.frames[-1] in dynamic], np.int64),
    )
    return Compiled(
        tree=tree,
        frame_joint=np.array([fold.carrier[f.name] for f in figure.frames], np.int64),
        frame_X=np.array([fold.X[f.name] for f in figure.frames]).reshape(-1, 4, 4),
        joint_frame=tuple(fold.order),
        link_names=tuple(names),
    )


def _elimination(n: int, above: dict[int, list[int]], moved: list[set[int]], joined: list[set[int]]) -> list[list[int]]:
    """What each dynamic variable meets when it is eliminated, leaves first: its ancestors, the links that it moves, and
    whatever a spring couples it to; then what those make of each other."""
    meets: list[set[int]] = [{a for a in above.get(d, []) if a < n} for d in range(n)]
    for group in joined:
        for d in group:
            if d < n:
                meets[d] |= {k for k in group if k < d}
    for d in range(n):
        meets[d] |= {n + c for c, variables in enumerate(moved) if d in variables}
    for d in range(n - 1, -1, -1):
        for k in meets[d]:
            if k < n:
                meets[k] |= {i for i in meets[d] if i < k or i >= n}
    return [sorted(row, key=lambda k: (k >= n, -k if k < n else k)) for row in meets]


def _chain(joints: NDArray[np.void], j: int) -> list[int]:
    """From a joint up to its root."""
    out = []
    while j >= 0:
        out.append(j)
        j = int(joints[j]["parent"])
    return out


def _closure_rows(fold: _Folding, closure: Closure) -> list[tuple[str, list[tuple[int, float, Array]]]]:
    """(x_a − x_b)·n_b = 0 for a point, u_a·n_b = 0 for an axis: each a scalar row."""
    a, b = fold.point(closure.a), fold.point(closure.b)
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}

    def along(axis: str) -> tuple[str, list[tuple[int, float, Array]]]:
        return axis, [a, b, fold.direction(closure.b.frame, axes[axis])]

    def square(mine: str, other: str) -> tuple[str, list[tuple[int, float, Array]]]:
        nowhere = (-1, 0.0, np.zeros(3))
        return f"{mine}⊥{other}", [
            fold.direction(closure.a.frame, axes[mine]), nowhere, fold.direction(closure.b.frame, axes[other])
        ]  # fmt: skip

    if closure.kind == "plane":
        return [along("z")]
    rows = [along(axis) for axis in "xyz"]
    if closure.kind == "hinge":
        rows += [square("z", "x"), square("z", "y")]
    elif closure.kind == "weld":
        rows += [square("x", "y"), square("y", "z"), square("z", "x")]
    return rows
