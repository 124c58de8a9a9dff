"""Ways of strings over pulleys in CasADi's symbols: lengths, directions, angles.

In the plane square to the axis a, the straight piece between circles of signed radii ρ with centres d apart has the direction
u = (t d − w a × d)/|d|², where w is the difference of the radii and t² = |d|² − w². What is touched, and how many whole turns an
angle has, is a *choice*: one that gives the length that the kernels find. Derivatives are left to CasADi.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import casadi
import numpy as np

from bunraku.figure.records import PointRole
from tests.decimals import pi

RING_TURNS = 4  # of Newton's method in symbols, from an angle of 15 digits


@dataclass(frozen=True)
class Choice:
    """What a string touches."""

    radii: dict[int, float] = field(default_factory=dict)
    """Of every circle that it touches, by the place of its centre: positive where it turns counterclockwise."""
    rings: dict[int, float] = field(default_factory=dict)
    """Of every circle inside which it bends: about where, as an angle from the eyelet before it [rad]."""
    turns: dict[int, int] = field(default_factory=dict)
    """Whole turns of an angle, by the place of its centre."""


@dataclass
class Way:
    """Of one string."""

    length: Any
    ends: dict[int, list[Any]]
    """Directions in space at every eyelet: of the piece that ends there, and of the one that begins there."""
    angles: dict[int, Any]
    """By which it turns on a circle, by the place of the centre."""

    def bend(self, place: int) -> Any:
        """By which it bends at an eyelet or on a pulley; 0 where it does not touch that."""
        if place in self.ends and len(self.ends[place]) == 2:
            u, v = self.ends[place]
            return casadi.atan2(casadi.norm_2(casadi.cross(u, v)), casadi.dot(u, v))
        return self.angles.get(place, casadi.SX(0))


def way(points: Any, x: Sequence[Any], choice: Choice, number: Any) -> Way:
    """The way over `points` (records of a link) that are at `x`, which may be symbols or numbers; `number` makes either."""
    out = Way(0.0 * x[0][0], {}, {})
    for k, e in stretches(points):
        if points["weight"][k] != 0.0:
            out.length += number(points["weight"][k]) * _stretch(points, x, k, e, choice, number, out)
    return out


def stretches(points: Any) -> Iterator[tuple[int, int]]:
    """From one eyelet to the next, or to a drum."""
    k = 0
    while k < len(points) - 1 and points["role"][k] == PointRole.EYELET:
        e = k + 1
        while points["role"][e] in (PointRole.CYLINDER, PointRole.SPHERE):
            e += 3
        yield k, e
        k = e


def choices(points: Any) -> Iterator[Choice]:
    """All that may be touched, without turns and rings' angles."""
    options: list[list[tuple[int, float, bool]]] = []
    for k, e in stretches(points):
        for c in range(k + 1, e, 3):
            if points["role"][c] in (PointRole.CYLINDER, PointRole.SPHERE):
                r, turn = float(points["radius"][c]), int(points["turn"][c])
                senses = [turn] if turn else [1, -1]
                options.append([(c, s * r, False) for s in senses] + [(c, 0.0, False)] * (not points["weight"][c]))
                if not turn:
                    options[-1].append((c, r, True))
    for picked in product(*options):
        yield Choice({c: r for c, r, ring in picked if r and not ring}, {c: math.nan for c, _, ring in picked if ring})


def choose(points: Any, x: Sequence[Any], length: float) -> Choice:
    """The choice that gives this length [m] where points are at the numbers `x`."""
    for choice in choices(points):
        for centre in choice.rings:
            choice.rings[centre] = _bend_angle(points, x, centre)
        found = float(way(points, x, choice, float).length)  # finds the turns, too
        if abs(found - length) < 1e-9:
            return choice
    raise AssertionError("no way over these pulleys has the length that the kernels find")


def _flat(a: Any, y: Any) -> Any:
    return y - a * casadi.dot(a, y)


def _stretch(points: Any, x: Sequence[Any], k: int, e: int, choice: Choice, number: Any, out: Way) -> Any:
    drum = points["role"][e] == PointRole.DRUM
    circles = [c for c in range(k + 1, e, 3) if c in choice.radii or c in choice.rings]
    if not circles and not drum:
        d = x[e] - x[k]
        u = d / casadi.norm_2(d)
        _join(out, k, u, e, u)
        return casadi.norm_2(d)
    a = x[k + 2]
    ball = points["role"][k + 1] == PointRole.SPHERE
    if ball:
        normal = casadi.cross(x[k] - x[k + 1], x[e] - x[k + 1])
        a = normal / casadi.norm_2(normal)
    if circles and circles[0] in choice.rings:
        flat, first, last = _ring(points, x, k, e, a, choice, number)
    else:
        flat, first, last = _pieces(points, x, [k, *circles, e], a, choice, number, out)
    if drum:
        rho, onto = number(points["turn"][e] * points["radius"][e]), x[e + 2]
        flat += rho * casadi.atan2(casadi.dot(a, casadi.cross(last, onto)), casadi.dot(last, onto))
    if drum or ball:
        _join(out, k, first, e, last)
        return flat
    climb = casadi.dot(a, x[e] - x[k])
    length = casadi.sqrt(flat * flat + climb * climb)
    _join(out, k, (flat * first + climb * a) / length, e, (flat * last + climb * a) / length)
    return length


def _join(out: Way, k: int, first: Any, e: int, last: Any) -> None:
    out.ends.setdefault(k, []).append(first)
    out.ends.setdefault(e, []).append(last)


def _pieces(
    points: Any, x: Sequence[Any], places: list[int], a: Any, choice: Choice, number: Any, out: Way
) -> tuple[Any, Any, Any]:
    """The length in the plane, and the directions of the first piece and the last."""

    def radius(c: int) -> Any:
        if points["role"][c] == PointRole.DRUM:
            return number(points["turn"][c] * points["radius"][c])
        return number(choice.radii.get(c, 0.0))

    flat, directions = 0.0 * x[0][0], []
    for i, j in pairwise(places):
        d, w = _flat(a, x[j] - x[i]), radius(j) - radius(i)
        t = casadi.sqrt(casadi.dot(d, d) - w * w)
        flat += t
        directions.append((t * d - w * casadi.cross(a, d)) / casadi.dot(d, d))
    for c, (u, v) in zip(places[1:-1], pairwise(directions), strict=True):
        sense = math.copysign(1.0, choice.radii[c])
        turned = sense * casadi.atan2(casadi.dot(a, casadi.cross(u, v)), casadi.dot(u, v))
        if number is float:
            choice.turns[c] = int(float(turned) < (-0.5 * math.pi if points["turn"][c] else 0.0))
        if choice.turns[c]:
            turned += 2.0 * math.pi if number is float else 2 * number.decimal(pi())
        turned += number(points["weight"][c])
        out.angles[c] = turned
        flat += sense * radius(c) * turned
    return flat, directions[0], directions[-1]


def _ring(points: Any, x: Sequence[Any], k: int, e: int, a: Any, choice: Choice, number: Any) -> tuple[Any, Any, Any]:
    """The same of a string that bends at one point of a circle, where its way is shortest."""
    centre, r = k + 1, number(points["radius"][k + 1])
    A, B = _flat(a, x[k] - x[centre]), _flat(a, x[e] - x[centre])
    along = A / casadi.norm_2(A)
    across, p = casadi.cross(a, along), number(choice.rings[centre])
    for _ in range(RING_TURNS):
        spot, tangent = _on_circle(r, p, along, across)
        slope, bend = 0.0 * p, 0.0 * p
        for end in (A, B):
            d = spot - end
            part = casadi.dot(d, tangent) / casadi.norm_2(d)
            slope += part
            bend += (r * r - casadi.dot(d, spot) - part * part) / casadi.norm_2(d)
        p = p - slope / bend
    spot, _ = _on_circle(r, p, along, across)
    first, second = spot - A, B - spot
    return casadi.norm_2(first) + casadi.norm_2(second), first / casadi.norm_2(first), second / casadi.norm_2(second)


def _on_circle(r: Any, p: Any, along: Any, across: Any) -> tuple[Any, Any]:
    c, s = r * casadi.cos(p), r * casadi.sin(p)
    return c * along + s * across, c * across - s * along


def _bend_angle(points: Any, x: Sequence[Any], centre: int) -> float:
    """Where the way over a point of the circle is shortest, by trying many, then fewer and fewer."""
    k, e = centre - 1, centre + 3
    a, c, A, B = (np.array(x[i].full()[:, 0]) for i in (centre + 1, centre, k, e))
    A, B = A - c, B - c
    if points["role"][centre] == PointRole.SPHERE:
        a = np.cross(A, B) / np.linalg.norm(np.cross(A, B))
    A, B = A - a * (a @ A), B - a * (a @ B)
    along = A / np.linalg.norm(A)
    across, r = np.cross(a, along), float(points["radius"][centre])
    low, high = -math.pi, math.pi
    for _ in range(12):
        tried = np.linspace(low, high, 101)
        spots = r * (np.cos(tried)[:, None] * along + np.sin(tried)[:, None] * across)
        best = int((np.linalg.norm(spots - A, axis=1) + np.linalg.norm(spots - B, axis=1)).argmin())
        low, high = tried[max(best - 2, 0)], tried[min(best + 2, 100)]
    return float(0.5 * (low + high))
