"""Convoy: curves of a team of which several agents cannot move sideways, or one with differential drive leads.

All variables are those of agents and object in the world. An agent that walks is steered along a Bézier curve, and if it leads, the
object moves evenly as seen from it. An agent with differential drive turns on the spot, drives straight and turns again. Turns are
made by all at once, while everything else rests: so agents stay together, and arms take up what remains between their ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.way_curve import WayCurve
from bunraku.figure import Figure
from bunraku.planning.ways.steer import Differential, Planar, Steering, samples

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ConvoyOptions:
    """How curves of several agents are composed."""

    pieces: int = 96
    """Number of straight pieces that replace a Bézier curve."""
    still: float = 1e-6
    """An agent whose way is shorter than this only turns [m]."""
    slip: float = 0.02
    """A curve on which the sideways part of a way exceeds this share is not used: the way has a cusp."""


class Convoy(Steering):
    """Curves of a `figure` whose `parts` are steered together; the first of them leads.

    `held` are the indices of the object's x, y and yaw. `weights` (n_q,) measure lengths, `options` tune it.
    """

    def __init__(
        self, figure: Figure, *parts: Planar, held: NDArray[np.int64], weights: Array, options: ConvoyOptions = ConvoyOptions()
    ) -> None:  # fmt: skip
        super().__init__(figure, *parts)
        self._drives = [(part, figure.indices((part.x, part.y, part.heading))) for part in parts if isinstance(part, Differential)]
        self._others = Steering(figure, *(part for part in parts if not isinstance(part, Differential)))
        self._lead = figure.indices((parts[0].x, parts[0].y, parts[0].heading))
        self._held, self._weights, self.options = held, weights, options

    def sidestepping(self) -> Steering:
        """The same, but those who walk along curves move straight."""
        own = [part for part, _ in self._drives]
        return (
            Convoy(self.figure, *own, held=self._held, weights=self._weights, options=self.options)
            if own
            else Steering(self.figure)
        )

    def curve(self, q_a: Array, q_b: Array) -> WayCurve:
        """From `q_a` to `q_b`: turn, drive, turn; the end differs from `q_b` by full turns at most."""
        return self._turning(self._others.curve(q_a, q_b), last=True)

    def toward(self, q_a: Array, q_b: Array) -> WayCurve:
        """From `q_a` to a place like `q_b`, where agents with differential drive head as they arrive."""
        return self._turning(self._others.curve(q_a, q_b), last=False)

    def _turning(self, plain: WayCurve, *, last: bool) -> WayCurve:
        """A curve along which agents with differential drive head, after turning on the spot; at the `last` they turn again."""
        s = np.linspace(0.0, 1.0, self.options.pieces + 1)
        Q = samples(plain, s)
        if (plain.bends[:, 0] == self._lead[0]).any():
            lead = Q[:, self._lead]
            a, b = seen_from(lead[[0, -1]], Q[[0, -1]][:, self._held])
            turn = Q[-1, self._held[2]] - Q[0, self._held[2]] - (lead[-1, 2] - lead[0, 2])
            Q[:, self._held] = beside(lead, a + s[:, None] * np.append(b[:2] - a[:2], turn))
        before, after = Q[0].copy(), Q[-1].copy()
        turns = [0.0, 0.0]
        for part, own in self._drives:
            if own[0] != self._lead[0]:
                Q[:, own[:2]] = self._beside_object(Q, s, own)
            heading = _along(Q[:, own[:2]], before[own[2]], after[own[2]], self.options.still)
            if heading is None:
                continue
            first, then = heading[0] - before[own[2]], math.remainder(after[own[2]] - heading[-1], math.tau)
            Q[:, own[2]] = heading
            after[own[2]] = heading[-1] + (then if last else 0.0)
            turns = [max(turns[0], part.lever * abs(first)), max(turns[1], part.lever * abs(then) if last else 0.0)]
        drive = float(np.linalg.norm(np.diff(Q, axis=0) * self._weights, axis=1).sum())
        rows, along = [Q], [turns[0] + drive * s]
        if turns[0] > 0.0:
            rows, along = [before[None], *rows], [np.zeros(1), *along]
        if turns[1] > 0.0:
            rows, along = [*rows, after[None]], [*along, np.array([turns[0] + drive + turns[1]])]
        knots = np.concatenate(along)
        if knots[-1] <= 0.0:
            return WayCurve(np.stack([before, after]))
        kept = np.concatenate([[True], np.diff(knots) > 1e-12 * knots[-1]])
        return WayCurve(np.ascontiguousarray(np.concatenate(rows)[kept]), knots[kept] / knots[-1])

    def holds(self, curve: WayCurve) -> bool:
        """Whether nobody with differential drive moves sideways on a `curve`."""
        Q = samples(curve, np.linspace(0.0, 1.0, 4 * len(curve.Q)))
        return all(aside(Q[:, own]) <= self.options.slip for _, own in self._drives)

    def _beside_object(self, Q: Array, s: Array, own: NDArray[np.int64]) -> Array:
        """Places (x, y) of an agent that moves evenly as seen from the object."""
        a, b = seen_from(Q[[0, -1]][:, self._held], Q[[0, -1]][:, own])
        return beside(Q[:, self._held], a + s[:, None] * (b - a))[:, :2]


def _along(way: Array, first: float, last: float, still: float) -> Array | None:
    """Headings along a `way` (n, 2), forward or backward, whichever is nearer to those before and after; None if it stands."""
    step = np.diff(way, axis=0)
    if np.linalg.norm(step, axis=1).sum() < still:
        return None
    angle = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    angle = np.concatenate([angle[:1], 0.5 * (angle[1:] + angle[:-1]), angle[-1:]])
    found = []
    for own in (angle, angle + math.pi):
        own = own + math.tau * round((first - own[0]) / math.tau)
        found.append((abs(own[0] - first) + abs(math.remainder(last - own[-1], math.tau)), own))
    return np.asarray(min(found, key=lambda two: two[0])[1])


def aside(base: Array, *, least: float = 0.01) -> float:
    """The sideways share of the way of a `base` (T, 3) (x, y [m], heading [rad]); of ways shorter than `least` [m], that of it."""
    step, heading = np.diff(base[:, :2], axis=0), 0.5 * (base[1:, 2] + base[:-1, 2])
    off = np.abs(np.cos(heading) * step[:, 1] - np.sin(heading) * step[:, 0]).sum()
    return float(off / max(np.linalg.norm(step, axis=1).sum(), least))


def seen_from(a: Array, b: Array) -> Array:
    """(x, y, heading) of `b` (…, 3) in the axes of `a` (…, 3)."""
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    u, v = b[..., 0] - a[..., 0], b[..., 1] - a[..., 1]
    turn = np.remainder(b[..., 2] - a[..., 2] + np.pi, 2.0 * np.pi) - np.pi
    return np.stack(np.broadcast_arrays(c * u + s * v, c * v - s * u, turn), -1)


def beside(a: Array, b: Array) -> Array:
    """(x, y, heading) in the world of `b` (…, 3), which is given in the axes of `a` (…, 3)."""
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    x, y = c * b[..., 0] - s * b[..., 1], s * b[..., 0] + c * b[..., 1]
    return np.stack([a[..., 0] + x, a[..., 1] + y, a[..., 2] + b[..., 2]], -1)
