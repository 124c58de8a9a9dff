"""Which strings of a figure lie on which of its bodies and those of a scene, and the ways of such strings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_rules import Touch
from bunraku.collision.things import Thing, things_of
from bunraku.dynamics.touch.lay_strings import StringBodies, string_room
from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import WORLD, Figure
from bunraku.figure.shape import Capsule, Sphere
from bunraku.kinematics import pose
from bunraku.kinematics.capsule_geodesic import along_capsule
from bunraku.kinematics.draping import segment_distance
from bunraku.kinematics.forward import Pose
from bunraku.motion.laid_strings import LaidPoints
from bunraku.scene import Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LaidLog:
    """Bodies on which strings lay at the ends of steps, a row each, in their order along each string."""

    step: NDArray[np.int64]
    string: NDArray[np.int64]
    """Numbers of the strings among those in StringBodies."""
    body: NDArray[np.int64]
    corners: Array
    """(rows, 2, 3) where the string meets the body, and where it leaves it [m]."""


def string_bodies(
    figure: Figure, scene: Scene | None, touch: Touch, q: Array
) -> tuple[StringBodies, tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The strings of `figure` that lie on bodies of it and `scene` by the rules of `touch`; names of these; pairs that never touch.

    A string does not lie on bodies to which one of its ends is fixed, nor on one in which an end is or through which it runs at the
    start `q`.

    Raises UnknownName for a string that is not there, BunrakuError for one that runs through eyelets or over pulleys.
    """
    strings = _chosen(figure, touch)
    moving, static = things_of((figure,), Scene("nothing", floor=None) if scene is None else scene)
    things = _without_details([thing for thing in (*moving, *static) if strings and _is_round(thing)])
    core = np.array([_core(thing) for thing in things], float).reshape(-1, 2, 3)
    radius = np.array([_radius(thing) for thing in things], float)
    now, compiled = pose(figure, q), figure.compiled
    placed = [_placed(figure, now, thing.joint, ends) for thing, ends in zip(things, core, strict=True)]
    may, through = np.ones((len(strings), len(things)), np.bool_), []
    for s, index in enumerate(strings):
        rope = figure.strings[index]
        A, B = (now.point(at.frame, at.position) for at in (rope.hook, rope.spindle))
        for k, (p0, p1) in enumerate(placed):
            ends = {compiled.frame_joint[figure.frame_index[at.frame]] for at in (rope.hook, rope.spindle) if at.frame != WORLD}
            held = things[k].joint in ends or min(_apart(X, X, p0, p1) for X in (A, B)) <= radius[k] + 1e-6
            runs = _apart(A, B, p0, p1) < radius[k]
            may[s, k] = not held and not runs
            if runs and not held:
                through.append((rope.name, things[k].name))
    room, n = string_room(len(things)), len(strings)
    bodies = StringBodies(
        np.array(strings, np.int64), np.array([thing.joint for thing in things], np.int64), core, radius, may,
        np.zeros(may.shape, np.int64), np.zeros(may.shape), np.zeros(may.shape, np.bool_), np.zeros((n, 2 * room + 2, 3)),
        np.zeros(n, np.int64), np.zeros((n, room), np.int64), np.zeros(room, np.int64), np.zeros(room),
        np.zeros(len(compiled.tree.joints), np.bool_),
    )  # fmt: skip
    return bodies, tuple(thing.name for thing in things), tuple(through)


def _chosen(figure: Figure, touch: Touch) -> list[int]:
    """Numbers of the strings that lie on bodies."""
    names = [rope.name for rope in figure.strings]
    if touch.strings == "all":
        return [k for k, rope in enumerate(figure.strings) if not rope.eyelets and not rope.wraps]
    for name in touch.strings:
        if name not in names:
            raise UnknownName("string", name, tuple(names))
        rope = figure.strings[names.index(name)]
        if rope.eyelets or rope.wraps:
            raise BunrakuError(
                f"{figure.name}: the string {name} runs through eyelets or over pulleys, and cannot lie on bodies yet\n"
                "  advice: leave it out of `strings`"
            )
    return [names.index(name) for name in touch.strings]


def _without_details(things: list[Thing]) -> list[Thing]:
    """The things that are no details (buttons, ears): a detail is in one of its joint that has more than 1.6 times its radius."""
    placed = [(thing, _core(thing), _radius(thing)) for thing in things]
    return [
        thing
        for thing, core, radius in placed
        if not any(
            other.joint == thing.joint and r > 1.6 * radius and _apart(*core, *ends) < r + radius for other, ends, r in placed
        )
    ]


def _apart(A: Array, B: Array, C: Array, D: Array) -> float:
    """The distance of two segments [m]."""
    return float(segment_distance(*(tuple(map(float, X)) for X in (A, B, C, D))))


def _is_round(thing: Thing) -> bool:
    return thing.solid is not None and isinstance(thing.solid.shape, Sphere | Capsule)


def _radius(thing: Thing) -> float:
    assert thing.solid is not None
    return float(thing.solid.shape.radius)  # type: ignore[union-attr]


def _core(thing: Thing) -> Array:
    """Both ends of its core in the axes of its joint, (2, 3)."""
    assert thing.solid is not None
    half = 0.5 * thing.solid.shape.length if isinstance(thing.solid.shape, Capsule) else 0.0
    return se3.transform(thing.X, np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]))


def _placed(figure: Figure, now: Pose, joint: int, ends: Array) -> Array:
    """The core of a body on a joint in the world, at the pose `now`."""
    if joint < 0:
        return ends
    frame = figure.compiled.joint_frame[joint]
    X = now.X(frame) @ np.linalg.inv(figure.compiled.frame_X[figure.frame_index[frame]])
    return se3.transform(X, ends)


def laid_points(figure: Figure, q: Array, bodies: StringBodies) -> LaidPoints:
    """Where strings of `figure` lie on `bodies` at `q`, the end of the last step."""
    count = np.maximum(bodies.corners // 2 - 1, 0)
    string = np.repeat(np.arange(len(count)), count)
    body = np.concatenate([np.zeros(0, np.int64), *(bodies.route[s, :n] for s, n in enumerate(count))])
    corners = np.concatenate([np.zeros((0, 3)), *(bodies.legs[s, 1 : 1 + 2 * n] for s, n in enumerate(count))]).reshape(-1, 2, 3)
    return points_on_bodies(figure, q, bodies, string, body, corners)


def points_on_bodies(
    figure: Figure, q: Array, bodies: StringBodies, string: NDArray[np.int64], body: NDArray[np.int64], corners: Array
) -> LaidPoints:
    """The points of strings of `figure` on `bodies` at `q`, by the number of the string.

    string, body: which string lies on which body, a row each, in the order along the string
    corners: (rows, 2, 3) where it meets it and where it leaves it [m]
    """
    if not len(string):
        return {}
    now, out = pose(figure, q), dict[int, list[Array]]()
    for s, k, (first, last) in zip(string, body, corners, strict=True):
        number = int(bodies.link[s])
        before = out.setdefault(number, [])
        hook = figure.strings[number].hook
        come = first - (before[-1] if before else now.point(hook.frame, hook.position))
        size = float(np.linalg.norm(come))
        come = come / size if size > 1e-9 else last - first
        core = _placed(figure, now, int(bodies.joint[k]), bodies.core[k])
        before += list(along_capsule(first, come, last, core, float(bodies.radius[k])))
    return {number: np.array(points) for number, points in out.items()}
