"""Segments: pieces of motion with a beginning and an end, planned at once from a set of subgoals.

segment = Planner().plan(state, phases, goal)
segment.samples      # centre of mass, velocity, acceleration and ZMP at every tick
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import daqp
import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.locomotion.guide import com_zmp
from bunraku.locomotion.guide.support_polygon import CORNERS, Region
from bunraku.locomotion.guide.zmp_program import program

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
DT = 0.005
"""The tick of the control system [s]."""
ITERATIONS = 300
"""A program that takes more (some dozens are usual) is too ill-conditioned to be worth it: such segments are far too long."""
KNOTS = 0.06
"""Knots stand about so far apart [s], and no phase has fewer than two intervals or more than six."""


@dataclass(frozen=True, eq=False)
class State:
    """Where the centre of mass is, how it moves, and the virtual ZMP that carries it (x, y, height carried)."""

    p: Array
    v: Array
    carried: Array

    @classmethod
    def at_rest(cls, p: Array) -> State:
        return cls(np.array(p, float), np.zeros(3), np.array(p, float))


@dataclass(frozen=True, eq=False)
class Phase:
    """A share of a segment's duration with one polygon of support, and where in it the ZMP is best."""

    share: float
    region: Region
    reference: Array


@dataclass(frozen=True, eq=False)
class Segment:
    """A planned piece of motion of the centre of mass. `ticks` are the times of knots, `ends` those of phases, in steps of dt."""

    start: State
    goal: Array
    phases: tuple[Phase, ...]
    omega: float
    ticks: Ints
    ends: tuple[int, ...]
    knots: Array
    dt: float = DT

    __repr__ = brief

    @property
    def n(self) -> int:
        """Steps of dt that it lasts."""
        return int(self.ticks[-1])

    @property
    def duration(self) -> float:
        return self.n * self.dt

    @cached_property
    def floors(self) -> Array:
        """Height of the floor at every tick; between two phases, the later's."""
        heights = np.array([phase.region.floor for phase in self.phases])
        return np.asarray(heights[self.phase_of(np.arange(self.n + 1))])

    @cached_property
    def samples(self) -> Array:
        """At every tick, first and last included: position, velocity, acceleration (3 each), ZMP on the floor (2)."""
        out = np.empty((self.n + 1, 11))
        floors = np.array([self.phases[k].region.floor for k in self.phase_of(self.ticks[:-1])])
        com_zmp.samples(self.omega, self.dt, self.ticks, self.knots, floors, self.start.p, self.start.v, out)
        return out

    def phase_of(self, ticks: Ints) -> Ints:
        return np.asarray(np.minimum(np.searchsorted(self.ends, ticks, side="right"), len(self.phases) - 1))

    @cached_property
    def margin(self) -> Array:
        """How far inside its polygon the ZMP is at every tick [m]."""
        return self.margin_of(self.samples[:, com_zmp.FLOOR :])

    def margin_of(self, zmp: Array) -> Array:
        """The same for another ZMP (≤ n + 1, 2); at the moment between two phases, the smaller polygon counts."""
        out = np.full(len(zmp), math.inf)
        first = 0
        for phase, end in zip(self.phases, self.ends, strict=True):
            own = slice(first, end + 1)
            out[own] = np.minimum(out[own], phase.region.margin(zmp[own]))
            first = end
        return out

    def at(self, tick: int) -> State:
        """The state at a tick."""
        row = self.samples[tick]
        return State(row[:3].copy(), row[3:6].copy(), row[:3] - row[6:9] / self.omega**2)

    @property
    def end(self) -> State:
        return self.at(self.n)

    @property
    def miss(self) -> tuple[float, float]:
        """How far from the goal it ends [m], and how far its capture point then is from its place [m]."""
        row = self.samples[-1]
        return float(np.linalg.norm(row[:3] - self.goal)), float(np.linalg.norm(row[3:5])) / self.omega


@dataclass(frozen=True)
class Weights:
    """Of the boundary conditions that give way to each other."""

    goal: float = 300.0
    rest: float = 300.0
    first: float = 3.0
    last: float = 3.0
    reference: float = 0.02
    difference: float = 0.3

    @cached_property
    def row(self) -> Array:
        return np.array([self.goal, self.rest, self.first, self.last, self.reference, self.difference])


RELAXED = Weights(goal=60.0, rest=60.0, first=0.1, last=0.1, reference=1.0, difference=0.0)


@dataclass(frozen=True)
class Planner:
    """How segments are planned. With `strict`, polygons hold by a quadratic program; without, by lengthening alone (*guiding*
    III-B): least squares, and a longer duration wherever the ZMP leaves its region."""

    duration: float = 0.5
    longest: float = 3.0
    longer: float = 0.1
    margin: float = 0.008
    """Of the ZMP in its polygon [m]."""
    rest_margin: float = 0.012
    """Of the last capture point [m]."""
    jump: float = 0.012
    """Of the ZMP between two segments, along each axis [m]."""
    near: float = 0.003
    """How near to its goal, and to rest, a segment must end, or it is lengthened [m]."""
    strict: bool = True
    weights: Weights = field(default_factory=Weights)

    @classmethod
    def of_paper(cls, *, longer: float = 0.5, longest: float = 3.0, margin: float = 0.0) -> Planner:
        """Least squares, and T ← T + ΔT wherever the ZMP leaves its region. (*guiding* prints T = 0.5 s, and 1.0 s after it was
        lengthened, but not ΔT.)"""
        return cls(longer=longer, longest=longest, margin=margin, near=math.inf, strict=False, weights=RELAXED)

    def plan(
        self, start: State, phases: Sequence[Phase], goal: Array, *, duration: float | None = None, dt: float = DT
    ) -> Segment | None:  # fmt: skip
        """The shortest segment of at least `duration` that keeps the ZMP inside and ends near its goal; the nearest to its goal of
        those that keep it inside, where none ends there; None where there is not even one."""
        lasts, best = max(duration or 0.0, self.duration), None
        last = max(self.longest, lasts) + 1e-9
        while lasts <= last:
            segment = self.attempt(start, phases, goal, lasts, dt=dt)
            if segment is not None:
                miss = max(segment.miss)
                if miss <= self.near:
                    return segment
                if best is None or miss < max(best.miss) - 1e-3:
                    best = segment
            lasts += self.longer
        return best

    def attempt(
        self, start: State, phases: Sequence[Phase], goal: Array, duration: float, *, dt: float = DT, off: Array | None = None
    ) -> Segment | None:  # fmt: skip
        """One program, at one duration. `off` (ticks + 1, 2) is how far the ZMP of all bodies will be off that of the model."""
        ticks, ends = _grid(phases, duration, dt)
        floor, last = phases[0].region.floor, phases[-1].region.floor
        omega = math.sqrt(com_zmp.GRAVITY / (start.p[2] - floor))
        edges, counts, floors, reference = _at_knots(phases, ticks, ends)
        if off is not None:
            _allow(edges, counts, ticks, off)
        n = len(ticks)
        rows = int(counts.sum()) + int(counts[-1]) + 4
        H, f, z = np.empty((2 * n, 2 * n)), np.empty(2 * n), np.empty(n)
        A, low, high = np.empty((rows, 2 * n)), np.empty(rows), np.empty(rows)
        margins = np.array([self.margin, self.rest_margin, self.jump])
        state = np.stack([start.p, start.v])
        program(
            omega, math.sqrt(com_zmp.GRAVITY / (goal[2] - last)), dt, ticks, state, goal, start.carried, reference, edges, counts,
            floors, margins, self.weights.row, z, H, f, A, low, high,
        )  # fmt: skip
        if self.strict:
            found, _, flag, _ = daqp.solve(H, f, A, high, low, _kinds(rows), iter_limit=ITERATIONS)
            if flag <= 0:
                return None
        else:
            found = np.linalg.solve(H, -f)
        segment = Segment(start, goal, tuple(phases), omega, ticks, ends, np.stack([found[:n], found[n:], z], 1), dt)
        if not self.strict and segment.margin.min() < self.margin - 1e-9:
            return None
        return segment


def _allow(edges: Array, counts: Ints, ticks: Ints, off: Array) -> None:
    """Moves the edges at each knot inward by the worst error between its neighbours: then it is allowed for between knots too."""
    n = len(ticks)
    for i in range(n):
        near = off[ticks[max(i - 1, 0)] : ticks[min(i + 1, n - 1)] + 1]
        own = edges[i, : counts[i]]
        own[:, 2] -= (near @ own[:, :2].T).min(0)


def _kinds(rows: int) -> NDArray[np.intc]:
    return np.zeros(rows, np.intc)


def _grid(phases: Sequence[Phase], duration: float, dt: float) -> tuple[Ints, tuple[int, ...]]:
    """Times of knots and of ends of phases, in ticks."""
    total, whole = max(round(duration / dt), 2 * len(phases)), sum(phase.share for phase in phases)
    ticks, ends, passed, first = [0], [], 0.0, 0
    for k, phase in enumerate(phases):
        passed += phase.share
        end = max(first + 2, min(round(total * passed / whole), total - 2 * (len(phases) - 1 - k)))
        parts = min(max(round((end - first) * dt / KNOTS), 2), 6, end - first)
        ticks += [first + ((end - first) * i) // parts for i in range(1, parts + 1)]
        ends.append(end)
        first = end
    return np.array(ticks), tuple(ends)


def _at_knots(phases: Sequence[Phase], ticks: Ints, ends: tuple[int, ...]) -> tuple[Array, Ints, Array, Array]:
    """Edges, their count, the floor and the reference at each knot; between two phases, those of the smaller polygon."""
    n = len(ticks)
    edges, counts, floors, reference = np.empty((n, CORNERS, 3)), np.empty(n, np.int64), np.empty(n), np.empty((n, 2))
    first = 0
    for k, end in enumerate(ends):
        last, own = int(ticks.searchsorted(end)), phases[k].region
        begin = first + 1 if k > 0 and phases[k - 1].region.feet < own.feet else first
        here = slice(begin, last + 1)
        edges[here, : len(own.edges)], counts[here] = own.edges, len(own.edges)
        floors[here], reference[here] = own.floor, phases[k].reference
        first = last
    return edges, counts, floors, reference
