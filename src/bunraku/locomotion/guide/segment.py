"""Segments: pieces of motion of the centre of mass, each planned as a whole from a set of subgoals.

segment = SegmentPlanner().plan(state, phases, goal)
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
from bunraku.locomotion.guide.support_polygon import MAX_CORNERS, Region
from bunraku.locomotion.guide.zmp_program import SegmentWeights, program

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
GUIDE_TICK = 0.005
"""Time between two samples of a guided motion [s]."""


@dataclass(frozen=True, eq=False)
class ComState:
    """Position `p` [m] and velocity `v` [m/s] of the centre of mass, and the virtual ZMP `carried` (x, y, carried height) [m].

    The carried height is defined in `com_zmp`.
    """

    p: Array
    v: Array
    carried: Array

    @classmethod
    def at_rest(cls, p: Array) -> ComState:
        """At rest at `p` (3,) [m]."""
        return cls(np.array(p, float), np.zeros(3), np.array(p, float))


@dataclass(frozen=True, eq=False)
class Phase:
    """A share of a segment's duration with one support polygon, and the reference of the ZMP in it (2,) [m]."""

    share: float
    region: Region
    reference: Array


@dataclass(frozen=True, eq=False)
class Segment:
    """A planned piece of motion of the centre of mass. `ticks` are the times of the knots, `ends` those of the phases, in ticks."""

    start: ComState
    goal: Array
    phases: tuple[Phase, ...]
    omega: float
    ticks: Ints
    ends: tuple[int, ...]
    knots: Array
    dt: float = GUIDE_TICK
    speed: Array = field(default_factory=lambda: np.zeros(3))
    """Wanted velocity of the centre of mass at its end [m/s]."""

    __repr__ = brief

    @property
    def n(self) -> int:
        """Number of ticks."""
        return int(self.ticks[-1])

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return self.n * self.dt

    @cached_property
    def floors(self) -> Array:
        """Height of the floor at every tick [m]; at the change of phases, that of the later phase."""
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
        """Index of the phase at each of these `ticks`."""
        return np.asarray(np.minimum(np.searchsorted(self.ends, ticks, side="right"), len(self.phases) - 1))

    @cached_property
    def margin(self) -> Array:
        """Distance of the ZMP from the edge of its polygon at every tick [m]; negative outside."""
        return self.margin_of(self.samples[:, com_zmp.SAMPLE_COLUMNS.zmp :])

    def margin_of(self, zmp: Array) -> Array:
        """The same for another `zmp` (≤ n + 1, 2) [m]; at the change of phases the smaller polygon counts."""
        out = np.full(len(zmp), math.inf)
        first = 0
        for phase, end in zip(self.phases, self.ends, strict=True):
            own = slice(first, end + 1)
            out[own] = np.minimum(out[own], phase.region.margin(zmp[own]))
            first = end
        return out

    def at(self, tick: int) -> ComState:
        """The state at a `tick`."""
        row = self.samples[tick]
        return ComState(row[:3].copy(), row[3:6].copy(), row[:3] - row[6:9] / self.omega**2)

    @property
    def end(self) -> ComState:
        """The state at the last tick."""
        return self.at(self.n)

    @property
    def miss(self) -> tuple[float, float]:
        """Distance of its end from the goal [m], and the error of its last velocity, divided by ω [m]."""
        row = self.samples[-1]
        return float(np.linalg.norm(row[:3] - self.goal)), float(np.linalg.norm((row[3:6] - self.speed)[:2])) / self.omega


@dataclass(frozen=True)
class SegmentPlanner:
    """Plans segments; its fields are options."""

    duration: float = 0.5
    """Default duration of a segment [s]."""
    longest: float = 3.0
    """Longest duration of a segment [s]."""
    longer: float = 0.1
    """By how much the next attempt is lengthened [s]."""
    margin: float = 0.008
    """Distance that the ZMP keeps from the edge of its polygon [m]."""
    rest_margin: float = 0.012
    """Distance of the last capture point from the edge of the polygon [m]."""
    jump: float = 0.012
    """Largest jump of the ZMP between two segments, along each axis [m]."""
    onward_margin: float = 0.02
    """Distance of the last capture point from the edge of the polygon, if the segment ends in motion [m]."""
    near: float = 0.003
    """A segment must end within this distance of its goal and of rest [m]; otherwise it is lengthened."""
    onward_near: float = 0.01
    """The same for a segment that ends in motion."""
    strict: bool = True
    """Keep the ZMP inside by a quadratic program; if False, by least squares, with a longer duration if it leaves its polygon
    (*guiding* III-B)."""
    weights: SegmentWeights = SegmentWeights()
    """Weights of the boundary conditions."""
    step_shares: tuple[float, float, float] = (0.3, 0.5, 0.2)
    """Shares of a step's duration: on both feet, on one, on both."""
    lift_shares: tuple[float, float] = (0.5, 0.5)
    """Shares of the duration when a foot is lifted and held: on both feet, on one."""
    onward_shares: tuple[float, float, float] = (0.15, 0.7, 0.15)
    """The same for a step that begins in motion; a step that begins or ends at rest has a share of `step_shares` on that side."""
    onward_duration: float = 0.9
    """Shortest duration of a step that begins and ends in motion, as a share of `duration`."""
    quicker: float = 0.8
    """A step that ends in motion prepares for one that lasts this share of its own duration, but not less than limits allow."""
    land_shares: tuple[float, float] = (0.6, 0.4)
    """Shares of the duration when a foot in the air is put down: on one foot, on both."""
    knot_spacing: float = 0.06
    """Time between two knots [s]; a phase has two to six intervals."""
    iterations: int = 300
    """Maximum number of iterations of the quadratic program. A few dozen are usual; if it needs more, it is ill-conditioned because
    its segment is far too long."""

    @classmethod
    def of_paper(cls, *, longer: float = 0.5, longest: float = 3.0, margin: float = 0.0) -> SegmentPlanner:
        """The paper's planner: least squares, with a longer duration if the ZMP leaves its polygon.

        longer: ΔT by which a segment is lengthened [s] (*guiding* gives T = 0.5 s, and then 1.0 s, but not ΔT)
        longest: longest duration [s]
        margin: distance that the ZMP keeps from the edge of its polygon [m]
        """
        relaxed = SegmentWeights(goal=60.0, rest=60.0, first=0.1, last=0.1, reference=1.0, difference=0.0)
        return cls(longer=longer, longest=longest, margin=margin, near=math.inf, strict=False, weights=relaxed)

    def plan(
        self, start: ComState, phases: Sequence[Phase], goal: Array, *, duration: float | None = None, dt: float = GUIDE_TICK
    ) -> Segment | None:  # fmt: skip
        """The shortest segment that keeps the ZMP inside and ends near its goal.

        start: the initial state
        phases: support polygons, in order
        goal: goal of the centre of mass (3,) [m]
        duration: shortest duration [s]; None for the default
        dt: length of a tick [s]

        If none ends near the goal, the nearest one is returned; if none keeps the ZMP inside, None.
        """
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
        self, start: ComState, phases: Sequence[Phase], goal: Array, duration: float, *, dt: float = GUIDE_TICK,
        off: Array | None = None, speed: Array | None = None, closely: bool = False,
    ) -> Segment | None:  # fmt: skip
        """The segment of one `duration` [s], or None; `start`, `phases`, `goal` and `dt` are as in `plan`.

        `off` (ticks + 1, 2) [m] is the expected offset of the whole body's ZMP from the model's. The polygon shrinks by the largest
        one up to the next knots, or `closely`: by that at each knot and its bend between knots. `speed` (3,) [m/s] is the wanted
        velocity at its end, in which case the caller must check that the robot can stop; None: it ends at rest.
        """
        ticks, ends = _grid(phases, duration, dt, self.knot_spacing)
        floor, last = phases[0].region.floor, phases[-1].region.floor
        omega = math.sqrt(com_zmp.GRAVITY / (start.p[2] - floor))
        edges, counts, floors, reference = _at_knots(phases, ticks, ends)
        if off is not None:
            _allow(edges, counts, ticks, off, closely)
        n = len(ticks)
        rows = int(counts.sum()) + int(counts[-1]) + 4
        H, f, z = np.empty((2 * n, 2 * n)), np.empty(2 * n), np.empty(n)
        A, low, high = np.empty((rows, 2 * n)), np.empty(rows), np.empty(rows)
        rest = (self.rest_margin, self.jump, self.jump) if speed is None else (self.onward_margin, self.jump, math.inf)
        margins = np.array([self.margin, *rest])
        onward = np.zeros(3) if speed is None else speed
        state, end = np.stack([start.p, start.v]), np.stack([goal, onward])
        program(
            omega, math.sqrt(com_zmp.GRAVITY / (goal[2] - last)), dt, ticks, state, end, start.carried, reference, edges, counts,
            floors, margins, self.weights, z, H, f, A, low, high,
        )  # fmt: skip
        if self.strict:
            found, _, flag, _ = daqp.solve(H, f, A, high, low, _kinds(rows), iter_limit=self.iterations)
            if flag <= 0:
                return None
        else:
            found = np.linalg.solve(H, -f)
        segment = Segment(start, goal, tuple(phases), omega, ticks, ends, np.stack([found[:n], found[n:], z], 1), dt, onward)
        if not self.strict and segment.margin.min() < self.margin - 1e-9:
            return None
        return segment


def _allow(edges: Array, counts: Ints, ticks: Ints, off: Array, closely: bool) -> None:
    """Moves the edges at each knot inward by the error of the model up to its neighbouring knots, to cover it between knots.

    This is the largest error there; or `closely`, the error at the knot, and by how much those about it differ from the lines
    between knots, as the ZMP of the model is linear there, too.
    """
    n, all_ticks = len(ticks), np.arange(ticks[-1] + 1)
    at_knots = off[ticks] if closely else np.zeros((n, 2))
    bent = off - np.stack([np.interp(all_ticks, ticks, at_knots[:, a]) for a in (0, 1)], 1)
    for i in range(n):
        near = bent[ticks[max(i - 1, 0)] : ticks[min(i + 1, n - 1)] + 1]
        own = edges[i, : counts[i]]
        own[:, 2] -= own[:, :2] @ at_knots[i] + (near @ own[:, :2].T).min(0)


def _kinds(rows: int) -> NDArray[np.intc]:
    return np.zeros(rows, np.intc)


def _grid(phases: Sequence[Phase], duration: float, dt: float, spacing: float) -> tuple[Ints, tuple[int, ...]]:
    """Times of the knots and of the ends of phases, in ticks."""
    total, whole = max(round(duration / dt), 2 * len(phases)), sum(phase.share for phase in phases)
    ticks, ends, passed, first = [0], [], 0.0, 0
    for k, phase in enumerate(phases):
        passed += phase.share
        end = max(first + 2, min(round(total * passed / whole), total - 2 * (len(phases) - 1 - k)))
        parts = min(max(round((end - first) * dt / spacing), 2), 6, end - first)
        ticks += [first + ((end - first) * i) // parts for i in range(1, parts + 1)]
        ends.append(end)
        first = end
    return np.array(ticks), tuple(ends)


def _at_knots(phases: Sequence[Phase], ticks: Ints, ends: tuple[int, ...]) -> tuple[Array, Ints, Array, Array]:
    """Edges, their count, the floor and the reference at each knot; between two phases, those of the smaller polygon."""
    n = len(ticks)
    edges, counts, floors, reference = np.empty((n, MAX_CORNERS, 3)), np.empty(n, np.int64), np.empty(n), np.empty((n, 2))
    first = 0
    for k, end in enumerate(ends):
        last, own = int(ticks.searchsorted(end)), phases[k].region
        begin = first + 1 if k > 0 and phases[k - 1].region.feet < own.feet else first
        here = slice(begin, last + 1)
        edges[here, : len(own.edges)], counts[here] = own.edges, len(own.edges)
        floors[here], reference[here] = own.floor, phases[k].reference
        first = last
    return edges, counts, floors, reference
