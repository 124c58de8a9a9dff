"""The ways of strings over pulleys in plain complex numbers: for pictures, and the twin that the kernels are tested against.

In the plane square to the axis of the pulleys, a point is a complex number. A circle has a signed radius ρ, positive where the
string turns counterclockwise; the straight piece from one circle to the next has the direction u = exp(iψ) with

    ψ = arg(d) − asin((ρ_next − ρ)/|d|)         and touches each circle at c − iρu.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.frame import Point, Vector
from bunraku.figure.pulley import Branch, Drum, Pulley
from bunraku.figure.string import String
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Placing:
    """Where points and directions of frames are in the world."""

    point: Callable[[Point], Array]
    direction: Callable[[str, Vector], Array]


@dataclass(frozen=True)
class Branched:
    """One branch of a string: places along it, close together on arcs [m]; the length of its way [m]; and what that counts."""

    points: Array
    length: float
    weight: float = 1.0


def branches(placing: Placing, string: String) -> list[Branched]:
    """The branches of `string`, from hook to spindle; most strings have one. `placing` says where its points are."""
    out, weight = [], 1.0
    own: list[Point] = []
    for at in (*string.way, Branch()):
        if not isinstance(at, Branch):
            own.append(at)
            continue
        held = [k for k, p in enumerate(own) if not isinstance(p, Pulley)]
        points, length = [placing.point(own[0])[None]], 0.0
        for a, b in pairwise(held):
            places, part = _stretch(placing, own[a : b + 1])
            points.append(places[1:])
            length += part
        out.append(Branched(np.concatenate(points), length, weight))
        own, weight = [], 1.0 / at.divisor
    return out


def way_length(placing: Placing, string: String) -> float:
    """Length of the way of `string` [m], whose points are where `placing` says.

    Branches count with their weights, and what lies on a drum counts too.
    """
    return math.fsum(branch.weight * branch.length for branch in branches(placing, string))


def _stretch(placing: Placing, way: list[Point]) -> tuple[Array, float]:
    """Places and length from one eyelet to the next, over the pulleys between."""
    ends = np.array([placing.point(at) for at in way])
    drum = way[-1] if isinstance(way[-1], Drum) else None
    round_things = [at for at in way[1:] if isinstance(at, Pulley | Drum)]
    if not round_things:
        return ends, float(np.linalg.norm(ends[1] - ends[0]))
    first = round_things[0]
    if first.axis is None:
        normal = np.cross(ends[0] - ends[1], ends[2] - ends[1])
        axis = _unit(normal) if np.linalg.norm(normal) > 1e-15 else so3.onto_z(_unit(ends[0] - ends[1]).tolist())[:, 0]
    else:
        axis = placing.direction(first.frame, first.axis)
    R, origin = so3.onto_z(axis.tolist()), ends[1]
    seen = (ends - origin) @ R
    c = [complex(x, y) for x, y, _ in seen]
    rho = [0.0] * len(way)
    for k, at in enumerate(way):
        if isinstance(at, Pulley | Drum) and at.axis is not None:
            rho[k] = at.turn * at.radius * math.copysign(1.0, placing.direction(at.frame, at.axis) @ axis)
    if isinstance(first, Pulley) and first.side is not None and np.linalg.norm(placing.point(first.side) - origin) < first.radius:
        return _through_ring(ends, first, c, R, origin)
    if isinstance(first, Pulley) and not first.turn:
        side = None if first.side is None else complex(*((placing.point(first.side) - origin) @ R)[:2])
        rho[1] = _side(first.radius, c[0], c[2], side) * first.radius
        turns = [0.0, 2.0 * math.pi]
    else:
        turns = [-0.5 * math.pi, 1.5 * math.pi]
    besides = [at.turns if isinstance(at, Pulley) else 0 for at in way]  # whole turns
    touched = _touched(c, rho, turns, drum is not None, besides)
    if len(touched) == 2 and drum is None:
        return ends[[0, -1]], float(np.linalg.norm(ends[-1] - ends[0]))
    plane, length = _traced([c[k] for k in touched], [rho[k] for k in touched], turns, [besides[k] for k in touched])
    level = first.axis is None or drum is not None
    climb = 0.0 if level else float(seen[-1, 2] - seen[0, 2])
    run = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(plane)))])
    heights = seen[0, 2] + (seen[-1, 2] - seen[0, 2]) * run / run[-1]
    places = np.stack([plane.real, plane.imag, heights], 1) @ R.T + origin
    if drum is not None:
        onto = complex(*(-placing.direction(drum.frame, drum.towards) @ R)[:2])
        u = _directions([c[k] for k in touched], [rho[k] for k in touched])[-1]
        length += rho[-1] * cmath.phase(onto / u)
    return places, math.copysign(math.hypot(length, climb), length)  # a string may come onto a drum from behind its beginning


def _through_ring(ends: Array, ring: Pulley, c: list[complex], R: Array, origin: Array) -> tuple[Array, float]:
    """Places and length of a string that runs inside a pulley: it bends where the way over a point of the circle is shortest."""
    a, b, r = c[0], c[-1], ring.radius
    straight = ends[[0, -1]], float(np.linalg.norm(ends[-1] - ends[0]))
    share = min(max(-(a.conjugate() * (b - a)).real / abs(b - a) ** 2, 0.0), 1.0) if b != a else 0.0
    if min(abs(a), abs(b), abs(a + share * (b - a))) <= r:
        return straight
    low, high = 0.0, cmath.phase(b / a)
    for _ in range(80):  # halves where the way gets neither shorter nor longer
        p = r * cmath.exp(1j * 0.5 * (low + high)) * a / abs(a)
        slope = ((p - a) / abs(p - a) + (p - b) / abs(p - b)).conjugate() * (1j * p) * (1.0 if high > low else -1.0)
        low, high = (0.5 * (low + high), high) if slope.real < 0.0 else (low, 0.5 * (low + high))
    flat = abs(p - a) + abs(b - p)
    z = [(x - origin) @ R[:, 2] for x in ends]
    climb = 0.0 if ring.axis is None else float(z[-1] - z[0])
    middle = R @ np.array([p.real, p.imag, z[0] + climb * abs(p - a) / flat]) + origin
    return np.array([ends[0], middle, ends[-1]]), math.hypot(flat, climb)


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))


def _directions(c: list[complex], rho: list[float]) -> list[complex]:
    out = []
    for a, b, r, s in zip(c[:-1], c[1:], rho[:-1], rho[1:], strict=True):
        share = (s - r) / abs(b - a) if b != a else 0.0
        out.append(cmath.exp(1j * (cmath.phase(b - a) - math.asin(min(max(share, -1.0), 1.0)))))
    return out


def _turned(before: complex, after: complex, rho: float, turns: list[float]) -> float:
    """How far a string turns on a circle, in its sense, in the window `turns`."""
    angle = cmath.phase(after / before) * math.copysign(1.0, rho)
    return angle + 2.0 * math.pi if angle < turns[0] else angle


def _touched(c: list[complex], rho: list[float], turns: list[float], drum: bool, besides: list[int]) -> list[int]:
    """The circles that the string touches, and its two ends: without those that would turn it against their sense.

    A circle that it turns round `besides` keeps it.
    """
    own = [0, *(k for k in range(1, len(c) - 1) if rho[k] != 0.0), len(c) - 1]
    while len(own) > 2:
        inside = [
            own[i] if own[i] != 0 else own[i + 1]
            for i in range(len(own) - 1)
            if abs(c[own[i + 1]] - c[own[i]]) <= abs(rho[own[i + 1]] - rho[own[i]])
        ]
        if inside:
            own.remove(inside[-1])
            continue
        u = _directions([c[k] for k in own], [rho[k] for k in own])
        angles = [
            math.inf if besides[own[i]] else _turned(u[i - 1], u[i], rho[own[i]], turns) for i in range(1, len(own) - 1)
        ]  # fmt: skip
        if min(angles) >= 0.0:
            break
        del own[1 + int(np.argmin(angles))]
    return own


def _traced(c: list[complex], rho: list[float], turns: list[float], besides: list[int]) -> tuple[NDArray[np.complex128], float]:
    """Places along the way in the plane, and its length."""
    u = _directions(c, rho)
    places, length = [c[0]], 0.0
    for i, v in enumerate(u):
        if i > 0:
            angle = _turned(u[i - 1], v, rho[i], turns) + 2.0 * math.pi * besides[i]
            length += abs(rho[i]) * angle
            along = np.linspace(0.0, math.copysign(angle, rho[i]), 2 + int(angle / 0.2))
            places += [c[i] - 1j * rho[i] * u[i - 1] * cmath.exp(1j * x) for x in along]
        length += math.sqrt(max(abs(c[i + 1] - c[i]) ** 2 - (rho[i + 1] - rho[i]) ** 2, 0.0))
    places.append(c[-1] - 1j * rho[-1] * u[-1])
    return np.array(places), length


def _side(radius: float, a: complex, b: complex, side: complex | None) -> int:
    """The sense in which the string passes a circle about 0: 1, −1, or 0 where it goes straight from a to b.

    It winds about the centre as the way from a by `side` to b does. The straight way does so too where it sees the centre under the
    same angle, and misses the circle.
    """
    if abs(b - a) ** 2 < 1e-15 or abs(a) <= radius or abs(b) <= radius:
        return 0
    winding = cmath.phase(b / a) if not side else cmath.phase(side / a) + cmath.phase(b / side)
    nearest = abs((a.conjugate() * b).imag) / abs(b - a) if abs(winding) < math.pi else 0.0
    inner = (a.conjugate() * (b - a)).real < 0.0 < (b.conjugate() * (b - a)).real  # the nearest point is between the ends
    if abs(winding) < math.pi and (nearest >= radius or not inner):
        return 0
    return 1 if winding > 0.0 else -1
