"""Things: shapes of figures and obstacles of the scene, their names, and which pairs of them may touch."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.coal_shapes import CollisionSolid, of_surface, solid
from bunraku.collision.triangle_meshes import of_heights
from bunraku.errors import UnknownName
from bunraku.figure import WORLD, Figure
from bunraku.scene import Heightfield, Plane, Scene
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Thing:
    """A shape of a figure or an obstacle; `solid` is None for a half-space below z = 0 of its own axes."""

    name: str
    names: frozenset[str]
    """Every name by which an allowed pair may refer to it: its own, its frame's, its figure's, its group's."""
    solid: CollisionSolid | None
    X: Array
    """Its pose in the joint that carries it, or in the world."""
    figure: int = -1
    joint: int = -1
    """As numbered in its figure; −1: it does not move."""
    frame: str = ""
    part: str = ""
    """The name that an allowed pair should use for it: that of its frame, or of the obstacle itself."""


def things_of(figures: tuple[Figure, ...], scene: Scene) -> tuple[list[Thing], list[Thing]]:
    """What moves, in the order of the `figures`, and what does not: fixed shapes, then obstacles of the `scene`."""
    labels = unique(figure.name for figure in figures)
    shapes = [thing for k, figure in enumerate(figures) for thing in _shapes(figure, k, labels[k], len(figures) > 1)]
    moving = [thing for thing in shapes if thing.joint >= 0]
    return moving, [thing for thing in shapes if thing.joint < 0] + list(_obstacles(scene))


def unique(names: Iterable[str]) -> list[str]:
    """The `names`, with numbers appended to those that occurred before."""
    out: list[str] = []
    for name in names:
        same = sum(other == name or other.startswith(f"{name}_") for other in out)
        out.append(f"{name}_{same + 1}" if name in out else name)
    return out


def _shapes(figure: Figure, number: int, label: str, several: bool) -> Iterator[Thing]:
    compiled, index = figure.compiled, figure.frame_index
    count = Counter(shape.name for shape in figure.shapes if shape.collides)
    for shape in figure.shapes:
        if not shape.collides:
            continue
        X = se3.pose(shape.position, shape.rotation)
        joint = -1
        if shape.frame != WORLD:
            f = index[shape.frame]
            joint, X = int(compiled.frame_joint[f]), compiled.frame_X[f] @ X
        name = shape.name if count[shape.name] == 1 else _with_frame(shape.frame, shape.name)
        own = {shape.name, shape.frame, name, f"{shape.frame}.{shape.name}"}
        names = frozenset(own | {f"{label}.{name}" for name in own} | {label})
        prefix = f"{label}." if several else ""
        yield Thing(
            prefix + name, names, solid(shape.geometry), X, number, joint, shape.frame, prefix + shape.frame
        )  # fmt: skip


def _with_frame(frame: str, shape: str) -> str:
    """The name of a `shape` behind that of its `frame`; a part that begins both ("left.hand", "left.thumb") is said once."""
    if shape == frame:
        return frame
    part = frame.rpartition(".")[0]
    return f"{frame}.{shape.removeprefix(f'{part}.') if part else shape}"


def _obstacles(scene: Scene) -> Iterator[Thing]:
    for obstacle in scene.obstacles:
        names = frozenset({obstacle.name} | ({obstacle.group} if obstacle.group else set()))
        X = se3.pose(obstacle.position, obstacle.rotation)
        still = functools.partial(Thing, obstacle.name, names, part=obstacle.name)
        match obstacle.geometry:
            case Plane(normal):
                yield still(None, X @ se3.pose(rotation=so3.onto_z(normal)))
            case Heightfield():
                yield still(of_surface(of_heights(obstacle.geometry)), X)
            case geometry:
                yield still(solid(geometry), X)
    if scene.floor is not None:
        yield Thing("floor", frozenset({"floor"}), None, se3.pose((0.0, 0.0, scene.floor)), part="floor")


class PairRules:
    """Which pairs of things are tested for collisions.

    figures: in the order of the world. things: all things of the figures and the scene. allowed: pairs of names that may touch.
    Raises UnknownName for a name that nothing has.
    """

    def __init__(self, figures: tuple[Figure, ...], things: Sequence[Thing], allowed: tuple[tuple[str, str], ...]) -> None:
        carriers = [{thing.joint for thing in things if thing.figure == k} for k in range(len(figures))]
        self.neighbours = [_neighbours(figure, own) for figure, own in zip(figures, carriers, strict=True)]
        self.frames = [{frozenset(pair) for pair in figure.allowed} for figure in figures]
        # A frame without shapes cannot touch anything, but its name is no mistake.
        frames = (figure.frame_index for figure in figures)
        known = tuple(sorted(set().union(*(thing.names for thing in things), *frames)))
        for pair in allowed:
            for name in pair:
                if name not in known:
                    raise UnknownName("shape, frame or obstacle", name, known)
        self.allowed = allowed

    def tested(self, a: Thing, b: Thing) -> bool:
        """Whether things `a` and `b` are tested, that is, must not touch."""
        if a.figure == b.figure and a.figure >= 0:
            joints = frozenset((a.joint, b.joint))
            if len(joints) == 1 or joints in self.neighbours[a.figure]:
                return False
            if frozenset((a.frame, b.frame)) in self.frames[a.figure]:
                return False
        return not any((x in a.names and y in b.names) or (y in a.names and x in b.names) for x, y in self.allowed)


def _neighbours(figure: Figure, carriers: set[int]) -> set[frozenset[int]]:
    """Each joint that carries shapes, paired with the next such joint above it. A free joint has no neighbour above."""
    joints, frame = figure.compiled.tree.joints, figure.compiled.joint_frame
    free = {name for group in figure.groups if group.kind == "free" for name in group.frames}
    out: set[frozenset[int]] = set()
    for j in carriers - {-1}:
        k = j
        while k >= 0 and frame[k] not in free:
            k = int(joints["parent"][k])
            if k in carriers:
                out.add(frozenset((j, k)))
                break
    return out
