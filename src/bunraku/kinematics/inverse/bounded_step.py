"""One step of inverse kinematics under inequalities: a cascade of small quadratic programs.

If the step without limits happens to keep them, it is used, and no program is solved. Of four solvers, daqp was the fastest on
programs of 30 variables: 28 µs with no limit active and 70 µs with a third of them active, against quadprog's 37
and 132, piqp's 116 and 88, proxqp's 134 and failures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import daqp
import numpy as np
from numpy.typing import NDArray

from bunraku.errors import NotFinite
from bunraku.figure import Figure
from bunraku.kernels.entry_point import entry
from bunraku.kinematics.inverse import damped_step
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.task_plan import Column, TaskPlan
from bunraku.kinematics.inverse.tasks import Bound

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Programs:
    """The quadratic program of each level over n moving variables, as `damped_step.programs` writes them."""

    H: Array
    """Quadratic part of every level, (levels, n, n)."""
    f: Array
    """Linear part of every level, (levels, n)."""
    low: Array
    """How far each variable may move down in this step [rad or m], (n,), ≤ 0."""
    high: Array
    """How far each variable may move up in this step [rad or m], (n,)."""
    basis: Array
    """Orthonormal directions that the strict levels determine, one a row."""
    ranks: NDArray[np.int64]
    """For each level, how many of these directions the levels above it determine."""

    @classmethod
    def empty(cls, levels: int, strict_rows: int, n: int) -> Programs:
        """Empty arrays for so many `levels` over `n` moving variables; all levels but the last have `strict_rows` rows in total."""
        return cls(
            np.empty((levels, n, n)), np.empty((levels, n)), np.empty(n), np.empty(n), np.empty((min(strict_rows, n), n)),
            np.zeros(levels, np.int64),
        )  # fmt: skip

    def solve(self, value: Array, value_dq: Array) -> Array:
        """The change dq of the variables that minimises the errors of the tasks, the most important level first.

        dq is always between `low` and `high`. The inequalities value + value_dq·dq ≥ 0 come before all tasks; those that no such
        dq can satisfy are violated as little as possible.
        """
        n, m, far = len(self.low), len(value), 1e30  # daqp's infinity
        equal, soft = 5, 8  # daqp's codes for kinds of constraint
        lower, upper = np.maximum(self.low, -far), np.minimum(self.high, far)
        kinds = np.zeros(n + m, np.intc)
        kinds[n:] = soft
        dq = np.clip(np.zeros(n), lower, upper)
        for H, f, rank in zip(self.H, self.f, self.ranks.tolist(), strict=True):
            held = self.basis[:rank]
            at = held @ dq
            better, _, flag, _ = daqp.solve(
                H, f, np.concatenate([value_dq, held]), np.concatenate([upper, np.full(m, far), at]),
                np.concatenate([lower, -value, at]), np.concatenate([kinds, np.full(rank, equal, np.intc)]),
            )  # fmt: skip
            if flag <= 0:
                break  # the step of the levels above keeps every limit
            dq = np.clip(better, lower, upper)
        return dq


@dataclass(frozen=True, eq=False)
class BoundedStep:
    """Steps of a figure's tasks that keep joint, speed and step limits, and the caller's bounds (`limits`)."""

    figure: Figure
    plan: TaskPlan
    limits: tuple[Bound, ...]

    @cached_property
    def _moves(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.plan.columns[Column.RELUCTANCE] > 0.0)

    @cached_property
    def _programs(self) -> Callable[..., bool]:
        row, matrix, ints = np.empty(0), np.empty((0, 0)), np.empty(0, np.int64)
        return entry(
            damped_step.programs, self.plan, row, matrix, row, 0.0, 0.0, 0.0, 0.0, ints, np.empty((0, 0, 0)), matrix, row,
            row, matrix, ints,
        )  # fmt: skip

    def step(self, q: Array, aims: Array, given: Array, dt: float, gain: float, largest: float, options: InverseOptions) -> Array:
        """The configuration one step on from `q` toward `aims`; `dt`, `gain`, `largest` and `options` as for `Inverse`.

        given: rows of those tasks that are bounds. Raises `NotFinite` where q or a target is not finite.
        """
        plan = self.plan
        cascade = Programs.empty(len(plan.levels) - 1, int(plan.levels[-2]), len(self._moves))
        known = self._programs(
            plan, aims, given, q, options.damping, gain, dt, largest, self._moves, cascade.H, cascade.f,
            cascade.low, cascade.high, cascade.basis, cascade.ranks,
        )  # fmt: skip
        if not known:
            raise NotFinite(f"{self.figure.name}: q or a target is not finite")
        value, value_dq = np.zeros(0), np.zeros((0, len(q)))
        if self.limits:
            found = [limit.smallest(self.figure, q) for limit in self.limits]
            value, value_dq = np.concatenate([v for v, _ in found]), np.concatenate([d for _, d in found])
            value, value_dq = value[np.isfinite(value)], value_dq[np.isfinite(value)]
        dq = np.zeros(len(q))
        dq[self._moves] = cascade.solve(value, value_dq[:, self._moves])
        return self._halved(q, dq, min(-options.limit_slack, float(value.min(initial=0.0))), options.halvings)

    def _halved(self, q: Array, dq: Array, least: float, halvings: int) -> Array:
        """q after the step dq, which is halved until all limits are at `least` this: the programs know them to first order only."""
        out = np.empty(len(q))
        for _ in range(halvings):
            damped_step.moved(self.plan, q, dq, out)
            if all(limit.smallest(self.figure, out)[0].min() >= least for limit in self.limits):
                return out
            dq = 0.5 * dq
        return q
