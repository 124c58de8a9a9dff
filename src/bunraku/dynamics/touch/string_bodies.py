"""Which strings of a figure lie on which of its bodies and those of a scene, and the ways of such strings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_rules import Touch
from bunraku.collision.things import Thing, things_of
from bunraku.dynamics.touch.lay_strings import StringBodies, string_room
from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import WORLD, Figure
from bunraku.figure.shape import Capsule, Sphere
from bunraku.kinematics import pose
from bunraku.kinematics.draping import segment_distance
from bunraku.scene import Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]


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
    placed = [_placed(figure, now.q, thing.joint, ends) for thing, ends in zip(things, core, strict=True)]
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
        np.zeros(n, np.int64), np.zeros(room, np.int64), np.zeros(room), np.zeros(len(compiled.tree.joints), np.bool_),
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


def _placed(figure: Figure, q: Array, joint: int, ends: Array) -> Array:
    """The core of a body on a joint in the world, at q."""
    if joint < 0:
        return ends
    frame = figure.compiled.joint_frame[joint]
    X = pose(figure, q).X(frame) @ np.linalg.inv(figure.compiled.frame_X[figure.frame_index[frame]])
    return se3.transform(X, ends)


def drawn_way(figure: Figure, q: Array, bodies: StringBodies, s: int, *, pieces: int = 16) -> Array:
    """The way of string `s` of `figure`, of those in `bodies`, at `q`, as points (n, 3) [m]: `pieces` on every body.

    These are a little outside, so that the straight lines between them touch the body instead of cutting it.
    """
    corners = bodies.legs[s, : bodies.corners[s]]
    on = np.flatnonzero(bodies.lies[s])
    cores = [(_placed(figure, q, int(bodies.joint[k]), bodies.core[k]), float(bodies.radius[k])) for k in on]
    out = [corners[0]]
    for first, last in zip(corners[1:-1:2], corners[2:-1:2], strict=True):
        ends, radius = min(
            cores, key=lambda body: abs(_apart(first, first, *body[0]) - body[1]) + abs(_apart(last, last, *body[0]) - body[1])
        )
        chord = first + np.linspace(0.0, 1.0, pieces + 1)[:, None] * (last - first)
        axis = ends[1] - ends[0]
        share = np.clip((chord - ends[0]) @ axis / max(float(axis @ axis), 1e-300), 0.0, 1.0)
        foot = ends[0] + share[:, None] * axis
        outward = chord - foot
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        widest = float(np.max(np.arccos(np.clip(np.sum(outward[1:] * outward[:-1], axis=1), -1.0, 1.0)), initial=0.0))
        out += list(foot + radius / np.cos(0.5 * widest) * outward)
    return np.array([*out, corners[-1]])
