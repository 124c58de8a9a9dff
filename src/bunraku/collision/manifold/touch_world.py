"""Builds the arrays of bodies that may touch from a figure, a scene and the rules of touch."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.coal_shapes import CollisionSolid
from bunraku.collision.manifold.polytope import Polytope, polytope
from bunraku.collision.manifold.touch_arrays import BODY, TouchWorld
from bunraku.collision.manifold.touch_rules import Matter, Touch, TouchPair, pairs_of
from bunraku.collision.things import PairRules, Thing, things_of
from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import Figure
from bunraku.figure.shape import Box, Capsule, Cylinder, Sphere
from bunraku.scene import Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]


class TouchBodies:
    """The bodies of `figure` and `scene`, their names, and their arrays, by the rules of `touch`.

    Raises UnknownName for a name that nothing has, BunrakuError for a mesh that is not convex.
    """

    def __init__(self, figure: Figure, scene: Scene | None, touch: Touch) -> None:
        moving, static = _things(figure, scene)
        things = [*moving, *static]
        _require_known(_known(things, figure), touch)
        rules = PairRules((figure,), things, ())
        n = len(things)
        may, matter = np.zeros((n, n), np.bool_), np.zeros((n, n, 4))
        for i in range(len(moving)):
            for k in range(i + 1, n):
                found = _matter(touch, things[i], things[k]) if rules.tested(things[i], things[k]) else None
                if found is not None:
                    may[i, k] = may[k, i] = True
                    matter[i, k] = matter[k, i] = found.friction, found.restitution, found.adhesion, found.rolling
        kept = np.flatnonzero(may.any(0))
        self.things: tuple[Thing, ...] = tuple(things[k] for k in kept)
        self.names: tuple[str, ...] = tuple(thing.name for thing in self.things)
        self.shapes_of = Counter(thing.part for thing in things)
        """How many shapes each frame or obstacle has, by its name."""
        self.arrays = _arrays(self.things, may[np.ix_(kept, kept)], matter[np.ix_(kept, kept)])

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the pairs that may touch."""
        return [(self.names[i], self.names[k]) for i, k in np.argwhere(np.triu(self.arrays.may))]

    def without(self, pairs: list[tuple[int, int]]) -> TouchWorld:
        """The arrays without some `pairs` of bodies."""
        may = self.arrays.may.copy()
        for i, k in pairs:
            may[i, k] = may[k, i] = False
        return self.arrays._replace(may=may)


def known_names(figure: Figure, scene: Scene | None) -> tuple[str, ...]:
    """All names by which rules of touch may call bodies of `figure` and `scene`."""
    moving, static = _things(figure, scene)
    return _known([*moving, *static], figure)


def _things(figure: Figure, scene: Scene | None) -> tuple[list[Thing], list[Thing]]:
    return things_of((figure,), Scene("nothing", floor=None) if scene is None else scene)


def _known(things: list[Thing], figure: Figure) -> tuple[str, ...]:
    return tuple(sorted(set(figure.frame_index).union(*(names_of(thing) for thing in things))))


def _require_known(known: tuple[str, ...], touch: Touch) -> None:
    named = [*((pair.a, pair.b) for pair in pairs_of(touch)), *touch.except_for]
    for name in (name for pair in named for name in pair):
        if name not in known:
            raise UnknownName("shape, frame or obstacle", name, known)


def _matter(touch: Touch, a: Thing, b: Thing) -> Matter | None:
    """How a and b meet; None: they do not."""
    if any(_fits(TouchPair(*pair), a, b) for pair in touch.except_for):
        return None
    for pair in reversed(pairs_of(touch)):
        if _fits(pair, a, b):
            return pair.matter or touch.matter
    return touch.matter if touch.pairs == "all" else None


def _fits(pair: TouchPair, a: Thing, b: Thing) -> bool:
    one, other = names_of(a), names_of(b)
    return (pair.a in one and pair.b in other) or (pair.a in other and pair.b in one)


def names_of(thing: Thing) -> frozenset[str]:
    """The names of a `thing`, and those of the parts that it belongs to: "ball" of "ball.football"."""
    return thing.names | {name.rpartition(".")[0] for name in thing.names if "." in name}


def _arrays(things: tuple[Thing, ...], may: NDArray[np.bool_], matter: Array) -> TouchWorld:
    rows = [_core(thing) for thing in things]
    first, count = np.zeros((len(things), 4), np.int64), np.zeros((len(things), 4), np.int64)
    vertices, edges, faces, axes, loop, loops = [], [], [], [], [], []  # type: ignore[var-annotated]
    centre, bound, inner = np.zeros((len(things), 3)), np.zeros(len(things)), np.zeros(len(things))
    for k, (thing, (kind, radius, core)) in enumerate(zip(things, rows, strict=True)):
        first[k] = len(vertices), len(edges), len(faces), len(axes)
        count[k] = len(core.vertices), len(core.edges), len(core.normals), len(core.directions)
        base, R = len(vertices), thing.X[:3, :3]
        own = se3.transform(thing.X, core.vertices)
        vertices += list(own)
        edges += [(base + a, base + b) for a, b in core.edges]
        axes += list(core.directions @ R.T)
        for face, normal in zip(core.faces, core.normals, strict=True):
            loop.append((len(loops), len(face)))
            loops += [base + v for v in face]
            faces.append(R @ normal)
        centre[k] = 0.5 * (own.min(0) + own.max(0))
        bound[k] = np.inf if kind == BODY.half_space else np.hypot(np.linalg.norm(own - centre[k], axis=1).max(), radius)
        if kind <= BODY.segment:
            bound[k] = np.linalg.norm(own - centre[k], axis=1).max() + radius
        inner[k] = _inner(kind, radius, core)
    return TouchWorld(
        kind=np.array([kind for kind, _, _ in rows], np.int64), joint=np.array([thing.joint for thing in things], np.int64),
        radius=np.array([radius for _, radius, _ in rows], float), first=first, count=count, centre=centre, bound=bound,
        inner=inner,
        vertices=np.array(vertices, float).reshape(-1, 3), edges=np.array(edges, np.int64).reshape(-1, 2),
        axes=np.array(axes, float).reshape(-1, 3), faces=np.array(faces, float).reshape(-1, 3),
        loop=np.array(loop, np.int64).reshape(-1, 2), loops=np.array(loops, np.int64), may=may, matter=matter,
    )  # fmt: skip


def _inner(kind: int, radius: float, core: Polytope) -> float:
    """The radius of a ball inside a body [m]."""
    if kind == BODY.half_space:
        return float(np.inf)
    if kind == BODY.cylinder:
        return min(radius, float(np.linalg.norm(core.vertices[1] - core.vertices[0])) / 2)
    middle = core.vertices.mean(0)
    deep = [normal @ (core.vertices[face[0]] - middle) for face, normal in zip(core.faces, core.normals, strict=True)]
    return radius + float(min(deep, default=0.0))


def box_corners(size: Array) -> Array:
    """The corners (8, 3) of a box of this `size`, (3,) [m], about its centre."""
    return np.asarray(0.5 * size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float))


def _round(ends: Array) -> Polytope:
    edges = np.array([[0, 1]] if len(ends) == 2 else [], np.int64).reshape(-1, 2)
    return Polytope(ends, (), np.zeros((0, 3)), edges, np.zeros((0, 3)))


def _core(thing: Thing) -> tuple[int, float, Polytope]:
    """Kind, radius and core of a thing."""
    if thing.solid is None:
        return (
            BODY.half_space,
            0.0,
            Polytope(np.zeros((1, 3)), ((0,),), np.eye(3)[2:], np.zeros((0, 2), np.int64), np.zeros((0, 3))),
        )
    match thing.solid.shape:
        case Sphere(radius):
            return BODY.point, radius, _round(np.zeros((1, 3)))
        case Capsule(radius, length):
            return BODY.segment, radius, _round(np.array([[0.0, 0.0, -length / 2], [0.0, 0.0, length / 2]]))
        case Box(size):
            return BODY.polytope, 0.0, polytope(box_corners(np.array(size)), name=thing.name)
        case Cylinder(radius, length):
            ends = np.array([[0.0, 0.0, -length / 2], [0.0, 0.0, length / 2]])
            normals = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
            return BODY.cylinder, radius, Polytope(ends, ((0,), (1,)), normals, np.array([[0, 1]], np.int64), np.zeros((0, 3)))
        case _:
            return BODY.polytope, 0.0, _convex(thing.name, thing.solid)


def _convex(name: str, solid: CollisionSolid) -> Polytope:
    surface: Any = solid.surface
    if not surface.convex:
        raise BunrakuError(
            f"{name} is a mesh that is not convex, and cannot touch\n"
            "  advice: give the figure convex shapes that collide, or leave it out of `touch`"
        )
    core = polytope(np.asarray(surface.vertices), name=name)
    most = 256
    if len(core.vertices) > most:
        raise BunrakuError(
            f"{name} is a mesh with {len(core.vertices)} corners; {most} may touch\n  advice: give it a coarser mesh"
        )
    return core
