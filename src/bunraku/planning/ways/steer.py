"""Steering: the curve from one configuration to another, composed of parts.

    steering = Steering(figure, Bezier("walker_x", "walker_y", "walker_turn"), Differential("cart_x", "cart_y", "cart_turn"))
    curve = steering.curve(q_a, q_b)

Variables that no part names move straight; angles without limits take the shorter way. All parts arrive together, at s = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision.way_curve import WayCurve, samples_of
from bunraku.errors import BunrakuError
from bunraku.figure import Figure

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Planar:
    """The three variables (x, y, heading) of something that moves on the floor."""

    x: str
    y: str
    heading: str


@dataclass(frozen=True)
class Holonomic(Planar):
    """Moves in any direction: a straight line, turning evenly."""


@dataclass(frozen=True)
class Bezier(Planar):
    """Walks along a cubic Bézier curve that leaves and arrives along the heading; backward if that is shorter.

    For targets within `step` [m], it steps sideways and turns on the spot instead.
    """

    step: float = 0.3
    backward: bool = True


@dataclass(frozen=True)
class Differential(Planar):
    """Differential drive: turns on the spot, drives straight, forward or backward, and turns again.

    `lever` [m]: a turn of one radian counts as this length of driving.
    """

    lever: float = 0.3


class Steering:
    """Curves between configurations of a `figure`. `parts` are the groups of variables that do not move straight.

    Raises BunrakuError if two parts use the same variable, or if a heading has limits.
    """

    def __init__(self, figure: Figure, *parts: Planar) -> None:
        self.figure, self.parts = figure, parts
        lower, upper = figure.limits
        turns = np.array([variable.motion == "rotate" for variable in figure.variables])
        self.wraps: NDArray[np.bool_] = turns & ~(np.isfinite(lower) & np.isfinite(upper))
        self.per_turn: Array = np.where(self.wraps, 1.0 / math.tau, 0.0)
        self._places = [figure.indices((part.x, part.y, part.heading)) for part in parts]
        named = [int(k) for own in self._places for k in own]
        if len(set(named)) < len(named):
            raise BunrakuError("two parts steer one variable\n  advice: each variable belongs to one part at most")
        for part, own in zip(parts, self._places, strict=True):
            if isinstance(part, Bezier | Differential) and not self.wraps[own[2]]:
                raise BunrakuError(f"{part.heading} has limits\n  advice: a heading must turn freely")

    @property
    def straight(self) -> bool:
        """Whether every curve is a straight line."""
        return not self.parts

    def sidestepping(self) -> Steering:
        """The same, but those who walk along curves move straight."""
        return Steering(self.figure, *(part for part in self.parts if not isinstance(part, Bezier)))

    def tied(self, Q: Array) -> Array:
        """Configurations `Q` (…, n_q) with dependent variables computed from the others; there are none here."""
        return Q

    def difference(self, a: ArrayLike, b: ArrayLike) -> Array:
        """`b` − `a`, with angles the shorter way; both broadcast."""
        out = np.asarray(b, float) - np.asarray(a, float)
        return np.asarray(out - math.tau * np.rint(out * self.per_turn))

    def curve(self, q_a: Array, q_b: Array) -> WayCurve:
        """The curve from `q_a` to `q_b`; the end differs from `q_b` by full turns at most."""
        ends = np.empty((2, len(q_a)))
        ends[0] = q_a
        np.add(q_a, self.difference(q_a, q_b), out=ends[1])
        if not self.parts:
            return WayCurve(ends)
        bends: list[tuple[int, ...]] = []
        control: list[Array] = []
        turned: list[tuple[NDArray[np.int64], Array, Array]] = []
        for part, own in zip(self.parts, self._places, strict=True):
            if isinstance(part, Bezier):
                found = _bezier(part, ends[:, own])
                if found is not None:
                    bends.append((*own.tolist(), found[1]))
                    control.append(found[0])
            elif isinstance(part, Differential):
                turned.append((own, *_turn_drive_turn(part, ends[:, own])))
        bent: dict[str, Any] = {"bends": np.array(bends, np.int64), "control": np.array(control)} if bends else {}
        if not turned:
            return WayCurve(ends, **bent)
        knots = np.unique(np.concatenate([[0.0, 1.0], *(own_knots for _, own_knots, _ in turned)]))
        Q = ends[0] + knots[:, None] * (ends[1] - ends[0])
        for own, own_knots, own_Q in turned:
            for k, i in enumerate(own):
                Q[:, i] = np.interp(knots, own_knots, own_Q[:, k])
        return WayCurve(Q, knots, **bent)

    def toward(self, q_a: Array, q_b: Array) -> WayCurve:
        """A curve from `q_a` that ends at `q_b`, or at a place like it that is easier to reach."""
        return self.curve(q_a, q_b)

    def cut(self, curve: WayCurve, s: float) -> WayCurve:
        """The steered curve from the start of a `curve` to its place `s`, from 0 to 1."""
        if len(curve.Q) == 2 and not len(curve.bends):
            return WayCurve(np.stack([curve.Q[0], curve.Q[0] + s * (curve.Q[1] - curve.Q[0])]))
        return self.curve(curve.Q[0], samples(curve, s))


def samples(curve: WayCurve, s: ArrayLike) -> Array:
    """Configurations (…, n_q) of a `curve` at places `s` from 0 to 1."""
    places = np.atleast_1d(np.asarray(s, float))
    out = np.empty((len(places), curve.Q.shape[1]))
    samples_of(curve, places, out)
    return out if np.ndim(s) else out[0]


def reversed_curve(curve: WayCurve) -> WayCurve:
    """A `curve` from its end to its start, with the same headings."""
    bends = curve.bends.copy()
    bends[:, 3] = 1 - bends[:, 3]
    Q, knots, control = (np.ascontiguousarray(x) for x in (curve.Q[::-1], 1.0 - curve.knots[::-1], curve.control[:, ::-1]))
    return WayCurve(Q, knots, bends, control)


def part_of(curve: WayCurve, start: float, end: float) -> WayCurve:
    """The part of a `curve` between the places `start` and `end`, from 0 to 1."""
    inner = curve.knots[(curve.knots > start) & (curve.knots < end)]
    knots = np.concatenate([[start], inner, [end]])
    Q = np.stack([np.interp(knots, curve.knots, column) for column in curve.Q.T], 1)
    control = np.array([_cut(points, start, end) for points in curve.control]).reshape(-1, 4, 2)
    return WayCurve(np.ascontiguousarray(Q), (knots - start) / (end - start), curve.bends, control)


def length(curve: WayCurve, weights: ArrayLike, *, count: int = 17) -> float:
    """Length of a `curve` with `weights` of the variables (n_q,): exact for straight pieces, from `count` samples for bends."""
    w = np.asarray(weights, float)
    if len(curve.Q) == 2 and not len(curve.bends):
        return math.sqrt(float((((curve.Q[1] - curve.Q[0]) * w) ** 2).sum()))
    Q = samples(curve, np.linspace(0.0, 1.0, count)) if len(curve.bends) else curve.Q
    return float(np.sqrt((np.diff(Q, axis=0) ** 2) @ (w * w)).sum())


def _bezier(part: Bezier, ends: Array) -> tuple[Array, int] | None:
    """Control points, and whether the curve is walked backward; None if the target is within `step`."""
    p_a, p_b = ends[0, :2], ends[1, :2]
    size = float(np.linalg.norm(p_b - p_a))
    if size <= part.step:
        return None
    tangents = np.stack([np.cos(ends[:, 2]), np.sin(ends[:, 2])], 1)
    way = (p_b - p_a) / size
    backward = part.backward and float(tangents.sum(0) @ way) < 0.0
    u, v = size / 3.0 * tangents * (-1.0 if backward else 1.0)
    return np.stack([p_a, p_a + u, p_b - v, p_b]), int(backward)


def _turn_drive_turn(part: Differential, ends: Array) -> tuple[Array, Array]:
    """Knots and (x, y, heading) at them."""
    (x0, y0, h0), (x1, y1, h1) = ends.tolist()
    size = math.hypot(x1 - x0, y1 - y0)
    if size < 1e-9:
        return np.array([0.0, 1.0]), ends
    way = math.atan2(y1 - y0, x1 - x0)
    options = []
    for ahead in (way, way + math.pi):
        first, last = math.remainder(ahead - h0, math.tau), math.remainder(h1 - ahead, math.tau)
        options.append((abs(first) + abs(last), first, last))
    _, first, last = min(options)
    shares = np.cumsum([0.0, part.lever * abs(first), size, part.lever * abs(last)])
    drive = h0 + first
    Q = np.array([[x0, y0, h0], [x0, y0, drive], [x1, y1, drive], [x1, y1, drive + last]])
    keep = np.concatenate([[True], np.diff(shares) > 1e-12 * shares[-1]])
    return shares[keep] / shares[-1], Q[keep]


def _cut(points: Array, start: float, end: float) -> Array:
    """Control points of the part of a Bézier curve between two places (blossoming)."""

    def blossom(a: float, b: float, c: float) -> Array:
        out = points
        for s in (a, b, c):
            out = (1.0 - s) * out[:-1] + s * out[1:]
        return np.asarray(out[0])

    return np.stack([blossom(start, start, start), blossom(start, start, end), blossom(start, end, end), blossom(end, end, end)])
