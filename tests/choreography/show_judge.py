"""A judge of shows that knows only figures and their motions: how far feet slide, how deep strings and limbs are in bodies.

The signed distance from a point to a convex shape is known in closed form and is a convex function, so its smallest value along
a string, or along the middle line of a capsule, is found by golden sections. `python -m tests.choreography.show_judge SHOW.yaml`
prints what it finds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Box, Capsule, Cylinder, Figure, Shape, Sphere
from bunraku.kinematics import frames_along
from bunraku.motion import Motion, Track
from bunraku.spatial import se3

Array = NDArray[np.float64]
CONTACT = 1e-3  # [m] a corner of a sole that is nearer to the boards stands
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Slide:
    """A corner of a sole that stands."""

    who: str
    frame: str
    begin: float
    """[s]"""
    seconds: float
    way: float
    """How far it gets from where it began to stand [m]."""


@dataclass(frozen=True)
class Depth:
    """The deepest moment of a string or limb in a body."""

    a: str
    b: str
    t: float
    depth: float
    """[m]"""


def distance(geometry: object, p: Array) -> Array:
    """Signed distances [m] of points `p` (…, 3) in the frame of a shape from its surface, negative inside."""
    match geometry:
        case Sphere(radius):
            return np.linalg.norm(p, axis=-1) - radius
        case Capsule(radius, length):
            z = p[..., 2] - np.clip(p[..., 2], -length / 2, length / 2)
            return np.sqrt(p[..., 0] ** 2 + p[..., 1] ** 2 + z * z) - radius
        case Cylinder(radius, length):
            d = np.stack([np.hypot(p[..., 0], p[..., 1]) - radius, np.abs(p[..., 2]) - length / 2], -1)
        case Box(size):
            d = np.abs(p) - np.array(size) / 2
        case other:
            raise TypeError(f"no distance for {other!r}")
    return np.linalg.norm(np.maximum(d, 0.0), axis=-1) + np.minimum(d.max(-1), 0.0)


def along_line(geometry: object, a: Array, b: Array, rounds: int = 24) -> Array:
    """The smallest signed distance [m] from segments `a` to `b` (T, 3) each, in the frame of a shape, to it."""
    low, high = np.zeros(len(a)), np.ones(len(a))
    for _ in range(rounds):
        one, two = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        nearer = distance(geometry, a + one[:, None] * (b - a)) < distance(geometry, a + two[:, None] * (b - a))
        low, high = np.where(nearer, low, one), np.where(nearer, two, high)
    ends = np.minimum(distance(geometry, a), distance(geometry, b))
    return np.minimum(ends, distance(geometry, a + (0.5 * (low + high))[:, None] * (b - a)))


def _within(geometry: object) -> float:
    """Radius of a ball about a shape's origin that holds it [m]."""
    match geometry:
        case Sphere(radius):
            return radius
        case Capsule(radius, length):
            return radius + length / 2
        case Cylinder(radius, length):
            return float(np.hypot(radius, length / 2))
        case Box(size):
            return float(np.linalg.norm(size)) / 2
    raise TypeError(geometry)


class _Body:
    """A shape of a figure over time."""

    def __init__(self, who: str, shape: Shape, X: Array) -> None:
        self.name, self.frame, self.geometry = f"{who}.{shape.frame}.{shape.name}", f"{who}.{shape.frame}", shape.geometry
        self.X, self.within = X @ se3.pose(shape.position, shape.rotation), _within(shape.geometry)

    def local(self, p: Array, some: NDArray[np.int64]) -> Array:
        """Points `p`, one at each of the samples `some`, in the frame of the shape."""
        return np.einsum("tji,tj->ti", self.X[some, :3, :3], p - self.X[some, :3, 3])

    def line(self) -> tuple[Array, Array, float] | None:
        """Ends and radius of a capsule's or a sphere's middle line; None for other shapes."""
        half = {Capsule: 0.5, Sphere: 0.0}.get(type(self.geometry))
        if half is None:
            return None
        reach = half * getattr(self.geometry, "length", 0.0) * self.X[:, :3, 2]
        return self.X[:, :3, 3] - reach, self.X[:, :3, 3] + reach, self.geometry.radius  # type: ignore[union-attr]


def _bodies(track: Track) -> list[_Body]:
    X = frames_along(track.figure, np.ascontiguousarray(track.q))
    own = track.figure
    return [
        _Body(track.name or own.name, s, X[:, own.frame_index[s.frame]]) for s in own.shapes if s.collides and s.frame != "world"
    ]


def slides(motion: Motion, boards: float) -> list[Slide]:
    """How far each corner of each sole slides, each time that it stands on the boards at this height [m]."""
    out = []
    for track in motion.tracks:
        for body in _bodies(track):
            if not body.name.endswith(".sole"):
                continue
            half = 0.5 * np.array(body.geometry.size)  # type: ignore[union-attr]
            for x in (-1, 1):
                for y in (-1, 1):
                    p = body.X[:, :3, :3] @ (half * [x, y, -1]) + body.X[:, :3, 3]
                    out += _stands(track.name or "", body.frame, p, p[:, 2] < boards + CONTACT, motion.t)
    return out


def _stands(who: str, frame: str, p: Array, low: NDArray[np.bool_], t: Array) -> Iterator[Slide]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], low, [False]]).astype(int)))
    for a, b in edges.reshape(-1, 2):
        if b - a > 2:
            yield Slide(who, frame, t[a], t[b - 1] - t[a], float(np.linalg.norm(p[a:b, :2] - p[a, :2], axis=1).max()))


def strings_in_bodies(motion: Motion, least: float = 1e-3) -> list[Depth]:
    """Strings that run deeper in a body than they are tied there, by `least` [m] or more: each pair at its worst.

    A string runs straight from hook to spindle, or from hook over its points on bodies (`Track.laid`) to spindle; if that were
    longer than the string is wound, it would be told as in a body, by how much.
    """
    bodies = [body for track in motion.tracks for body in _bodies(track)]
    out = []
    for track in motion.tracks:
        X = frames_along(track.figure, np.ascontiguousarray(track.q))
        for number, string in enumerate(track.figure.strings):
            at, a, b = _pieces(track, X, number)
            out += _stretched(track, number, motion.t, at, a, b, least)
            for body in bodies:
                near = np.flatnonzero(_ball_near(body, at, a, b))
                if not len(near):
                    continue
                k = at[near]
                hook = body.local(_places(track.figure, X, string.hook)[k], k)
                deep = np.minimum(distance(body.geometry, hook), 0.0)
                deep -= along_line(body.geometry, body.local(a[near], k), body.local(b[near], k))
                worst = int(np.argmax(deep))
                if deep[worst] > least:
                    out.append(Depth(f"{track.name}.{string.name}", body.name, float(motion.t[k[worst]]), float(deep[worst])))
    return sorted(out, key=lambda one: -one.depth)


def _pieces(track: Track, X: Array, number: int) -> tuple[NDArray[np.int64], Array, Array]:
    """The straight pieces of a string: the sample of each, and both ends."""
    string = track.figure.strings[number]
    hook, spindle = (_places(track.figure, X, at) for at in (string.hook, string.spindle))
    at, ends = [], []
    for k in range(len(track.q)):
        way = [hook[k], *(() if track.laid is None else track.laid[k].get(number, ())), spindle[k]]
        at += [k] * (len(way) - 1)
        ends += list(pairwise(way))
    both = np.array(ends)
    return np.array(at), both[:, 0], both[:, 1]


def _stretched(track: Track, number: int, t: Array, at: NDArray[np.int64], a: Array, b: Array, least: float) -> list[Depth]:
    """Where the way of a string is longer than the string."""
    string = track.figure.strings[number]
    if string.variable is None:
        return []
    way = np.bincount(at, np.linalg.norm(b - a, axis=1))
    over = way - string.length - string.ratio * track.q[:, track.figure.index(string.variable)]
    k = int(np.argmax(over))
    return [Depth(f"{track.name}.{string.name}", "its own length", float(t[k]), float(over[k]))] if over[k] > least else []


def _places(figure: Figure, X: Array, at: object) -> Array:
    F = X[:, figure.frame_index[at.frame]]  # type: ignore[attr-defined]
    return np.asarray(F[:, :3, :3] @ np.array(at.position) + F[:, :3, 3])  # type: ignore[attr-defined]


def _ball_near(body: _Body, at: NDArray[np.int64], a: Array, b: Array) -> NDArray[np.bool_]:
    p = body.X[at, :3, 3]
    s = np.clip(((p - a) * (b - a)).sum(1) / np.maximum(((b - a) ** 2).sum(1), 1e-12), 0.0, 1.0)[:, None]
    return np.linalg.norm(a + s * (b - a) - p, axis=1) < body.within


def limbs_in_bodies(motion: Motion, least: float = 1e-3) -> list[Depth]:
    """Bodies that are in each other by `least` [m] or more, besides those that are so at the start: each pair at its worst.

    One of each pair is a ball or a capsule; boxes and cylinders are tested against their corners and rims.
    """
    bodies = [body for track in motion.tracks for body in _bodies(track)]
    out = []
    for i, one in enumerate(bodies):
        for other in bodies[i + 1 :]:
            if one.frame == other.frame:
                continue
            gap = np.linalg.norm(one.X[:, :3, 3] - other.X[:, :3, 3], axis=1) - one.within - other.within
            near = np.flatnonzero(gap < 0.0)
            if not len(near) or _apart(one, other, np.array([0]))[0] < -least:
                continue
            deep = -_apart(one, other, near)
            k = int(np.argmax(deep))
            if deep[k] > least:
                out.append(Depth(one.name, other.name, float(motion.t[near[k]]), float(deep[k])))
    return sorted(out, key=lambda one: -one.depth)


def _apart(one: _Body, other: _Body, some: NDArray[np.int64]) -> Array:
    """Signed distance of two bodies at `some` samples [m]."""
    if one.line() is None:
        one, other = other, one
    line = one.line()
    if line is not None:
        a, b, radius = line
        return along_line(other.geometry, other.local(a[some], some), other.local(b[some], some)) - radius
    found = []
    for first, second in ((one, other), (other, one)):
        points = _surface(first.geometry)
        world = np.einsum("tij,cj->tci", first.X[some, :3, :3], points) + first.X[some, None, :3, 3]
        local = np.einsum("tji,tcj->tci", second.X[some, :3, :3], world - second.X[some, None, :3, 3])
        found.append(distance(second.geometry, local).min(1))
    return np.minimum(*found)


def _surface(geometry: object) -> Array:
    """Points of the edges of a box or of the rims of a cylinder."""
    s = np.linspace(-1.0, 1.0, 9)
    match geometry:
        case Cylinder(radius, length):
            w = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
            return np.array([(radius * np.cos(v), radius * np.sin(v), z * length / 2) for v in w for z in s])
        case Box(size):
            faces = [np.array([x, y, z]) for x in s for y in s for z in s if max(abs(x), abs(y), abs(z)) == 1.0]
            return 0.5 * np.array(size) * np.array(faces)
    raise TypeError(geometry)


def report(motion: Motion, boards: float) -> str:
    """What a reader wants to know."""
    found_slides = sorted(slides(motion, boards), key=lambda one: -one.way)
    ways = 1000 * np.array([one.way for one in found_slides])
    lines = [
        f"{len(ways)} times that a corner of a sole stood: median {np.median(ways):.1f} mm, nine of ten "
        f"{np.quantile(ways, 0.9):.1f} mm, largest {ways.max():.0f} mm, {np.mean(ways > 5.0):.1%} more than 5 mm"
    ]
    lines += [f"  {one.who} {one.frame} from {one.begin:.2f} s: {1000 * one.way:.0f} mm" for one in found_slides[:8]]
    for what, found in (("strings", strings_in_bodies(motion)), ("limbs", limbs_in_bodies(motion))):
        lines.append(f"{len(found)} pairs of {what} and bodies in each other")
        lines += [f"  {one.a} in {one.b} at {one.t:.2f} s: {1000 * one.depth:.0f} mm" for one in found[:25]]
    tension = min(float(track.tension.min()) for track in motion.tracks if track.tension is not None and track.tension.size)
    return "\n".join([*lines, f"least tension {tension:.3g} N"])


def main(path: str) -> None:
    """Performs a show and judges it."""
    from bunraku.choreography import load_script, perform

    show = perform(load_script(path))
    assert show.motion is not None
    assert show.company is not None
    print(show.outcome, {k: round(v, 3) for k, v in show.errors.items()})
    print(report(show.motion, show.company.boards))


if __name__ == "__main__":
    main(sys.argv[1])
