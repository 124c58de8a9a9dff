"""Inverse kinematics: the configuration that fulfils some tasks.

    ik = Inverse(figure, [FramePose("left_foot", priority=0), CentreOfMass(axes="xy"), PointPosition("hand"), Posture()])
    solution = ik.solve(q, ik.aim(hand=(0.4, 0.2, 1.1)))

Tasks are compiled once; a step, a solve, or the solves for many targets are then one call of a kernel each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import Figure
from bunraku.kernels.entry_point import entry
from bunraku.kinematics.forward import configuration
from bunraku.kinematics.inverse import damped_step, levenberg
from bunraku.kinematics.inverse import task_rows as rows
from bunraku.kinematics.inverse.bounded_step import Programs, halved
from bunraku.kinematics.inverse.solution import Outcome, Solution
from bunraku.kinematics.inverse.task_arrays import compile_tasks
from bunraku.kinematics.inverse.tasks import Bound, Posture, Task

Array = NDArray[np.float64]
LARGEST = 0.5  # [rad or m] of one iteration that keeps bounds to first order
SLACK = 1e-3  # [m or rad] that limits may be missed by on the way along them

_OUTCOMES = {
    damped_step.CONVERGED: Outcome.CONVERGED, damped_step.STALLED: Outcome.STALLED, damped_step.LIMITS: Outcome.LIMITS,
    damped_step.EXHAUSTED: Outcome.EXHAUSTED,
}  # fmt: skip


class Inverse:
    """Tasks for a figure, compiled. Holds no state: every call says where it starts and what it aims at."""

    def __init__(
        self, figure: Figure, tasks: Sequence[Task], *, start: ArrayLike | None = None, moves: Iterable[str] | None = None,
        reluctance: Mapping[str, float] | None = None, joint_limits: bool = True, limits: Sequence[Bound] = (),
        damping: float = 1e-6,
    ) -> None:  # fmt: skip
        """`start` is where tasks without a target hold things. `moves` names the variables that may move (all that
        move a frame). `reluctance` makes some less willing than the others (1). `limits` hold at the end of every step, to
        1e-3 where one slides along them; where they do not hold at the start, they get no worse."""
        if not 0.0 < damping < np.inf:
            raise BunrakuError(f"damping must be positive, not {damping}")
        self.figure, self.tasks, self.limits, self.damping = figure, tuple(tasks), tuple(limits), damping
        q = configuration(figure, figure.start if start is None else start)
        self._compiled = compile_tasks(figure, self.tasks, q, moves, reluctance or {}, joint_limits, rotate=not limits)
        self._given = np.zeros((self._compiled.n_given, figure.n_q + 1))

    # -- targets -------------------------------------------------------------------------------------------------

    @functools.cached_property
    def aims(self) -> Array:
        """What every task is aimed at as it was made, as flat numbers (do not write into it)."""
        aims = self._compiled.aims.copy()
        aims.setflags(write=False)
        return aims

    def aim(self, targets: Mapping[str, Any] | None = None, /, *, base: Array | None = None, **named: Any) -> Array:
        """The aims with some targets changed, by titles of tasks; the others as in `base`, or as they were made."""
        aims = np.array(self.aims if base is None else base)
        for title, target in {**(targets or {}), **named}.items():
            k = self._task(title)
            task, slots = self.tasks[k], self._compiled.slots[k]
            if isinstance(task, Posture):
                self._aim_posture(aims, task, slots, target)
                continue
            for slot, numbers in zip(slots, task.aims(target), strict=True):
                aims[rows.AIM * slot : rows.AIM * slot + len(numbers)] = numbers
        return aims

    def view(self, title: str, aims: Array) -> tuple[Array, ...]:
        """Where in `aims` a task's target stands, to be written into: a position or direction (3,), a rotation (3, 3),
        both for a pose. For loops that cannot wait for `aim`; rotations are taken as they are."""
        out = []
        for slot in self._compiled.slots[self._task(title)]:
            own = aims[rows.AIM * slot : rows.AIM * (slot + 1)]
            out.append(own.reshape(3, 3) if self._compiled.plan.records["kind"][slot] == rows.TURN else own[:3])
        return tuple(out)

    def _aim_posture(self, aims: Array, task: Posture, slots: tuple[int, ...], target: Any) -> None:
        wanted = task.wanted(self.figure, target)
        if not slots:  # soft: the wanted posture stands behind the records
            for k, value in wanted.items():
                aims[len(aims) - self.figure.n_q + k] = value
            return
        for slot, part in zip(slots, task.parts(self.figure), strict=True):
            if part.fields["index"] in wanted:
                aims[rows.AIM * slot] = wanted[part.fields["index"]]

    def _task(self, title: str) -> int:
        found = [k for k, task in enumerate(self.tasks) if task.title == title]
        if not found:
            raise UnknownName("task", title, tuple(task.title for task in self.tasks))
        if len(found) > 1:
            raise BunrakuError(f"{len(found)} tasks are called {title!r}\n  advice: give them names: name=…")
        return found[0]

    # -- one step ------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _step(self) -> Callable[..., int]:
        return entry(
            damped_step.step, self._compiled.plan, np.empty(0), np.empty((0, 0)), np.empty(0), 0.0, 0.0, 0.0, 0.0, np.empty(0)
        )

    def step(
        self, q: ArrayLike, aims: Array | None = None, *, dt: float = np.inf, gain: float = 1.0, largest: float = np.inf
    ) -> Array:
        """The configuration one step on: `gain` of the errors removed, to first order.

        Joint limits are kept, speed limits over `dt` [s], no change beyond `largest` [rad or m], and bounds to
        first order.
        """
        q = self._trusted(q)
        aims = self._trusted_aims(aims)
        if not self._compiled.bounds:
            return self._stepped(q, aims, self._given, dt, gain, largest)
        values = self._values(q)
        given = np.where(values[:, -1:] < 0.0, values, 0.0)
        while True:  # a bound that the step would break counts too: the worst one first
            out = self._stepped(q, aims, given, dt, gain, largest)
            after = np.where(given.any(axis=1), 0.0, values[:, -1] + values[:, :-1] @ (out - q))
            if after.min() > -1e-9:
                return out
            given[after.argmin()] = values[after.argmin()]

    @functools.cached_property
    def _moves(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._compiled.plan.columns[damped_step.RELUCTANCE] > 0.0)

    @functools.cached_property
    def _programs(self) -> Callable[..., bool]:
        row, matrix, ints = np.empty(0), np.empty((0, 0)), np.empty(0, np.int64)
        return entry(
            damped_step.programs, self._compiled.plan, row, matrix, row, 0.0, 0.0, 0.0, 0.0, ints, np.empty((0, 0, 0)), matrix, row,
            row, matrix, ints,
        )  # fmt: skip

    def _stepped(self, q: Array, aims: Array, given: Array, dt: float, gain: float, largest: float) -> Array:
        out = np.empty(len(q))
        status = damped_step.BEYOND
        if not self.limits:
            status = self._step(self._compiled.plan, aims, given, q, self.damping, gain, dt, largest, out)
        if status == damped_step.NOT_FINITE:
            raise NotFinite(f"{self.figure.name}: q or a target is not finite")
        return self._bounded(q, aims, given, dt, gain, largest) if status == damped_step.BEYOND else out

    def _values(self, q: Array) -> Array:
        """Rows of bounds among the tasks: derivatives (k, n), then the values."""
        rows = np.zeros_like(self._given)
        for bound, first in self._compiled.bounds:
            own = rows[first : first + bound.count]
            own[:, -1], own[:, :-1] = bound.smallest(self.figure, q)
        rows[:, -1] = np.minimum(rows[:, -1], 1e9)
        return rows

    def _bounded(self, q: Array, aims: Array, given: Array, dt: float, gain: float, largest: float) -> Array:
        plan = self._compiled.plan
        cascade = Programs.empty(len(plan.levels) - 1, int(plan.levels[-2]), len(self._moves))
        known = self._programs(
            plan, aims, given, q, self.damping, gain, dt, largest, self._moves, cascade.H, cascade.f, cascade.low, cascade.high,
            cascade.basis, cascade.ranks,
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
        least = min(-SLACK, float(value.min(initial=0.0)))

        def moved(dq: Array) -> Array:
            out = np.empty(len(q))
            damped_step.moved(plan, q, dq, out)
            return out

        return halved(dq, moved, lambda new: all(limit.smallest(self.figure, new)[0].min() >= least for limit in self.limits))

    # -- until it is there ---------------------------------------------------------------------------------------

    @functools.cached_property
    def _solve(self) -> Callable[..., None]:
        matrix, ints = np.empty((0, 0)), np.empty(0, np.int64)
        return entry(levenberg.solve, self._compiled.plan, matrix, matrix, np.empty(0), True, matrix, ints, ints)

    def solve(
        self, q: ArrayLike | None = None, aims: Array | None = None, *, iterations: int = 100, tolerance: float = 1e-8,
        still: float = 1e-6, tries: int = 1, seed: int = 0,
    ) -> Solution:  # fmt: skip
        """From q until every error is within `tolerance` and nothing moves by more than `still`, or nothing helps.

        Where that ends short of the target, up to `tries` starts are made, the others at random within the limits;
        the best solution counts.
        """
        q = self._trusted(self.figure.start if q is None else q)
        aims = self._trusted_aims(aims)
        best = self._solve_once(np.array(q), aims, iterations, tolerance, still)
        random = np.random.default_rng(seed)
        for _ in range(tries - 1):
            if best.outcome is Outcome.CONVERGED:
                break
            other = self._solve_once(self._compiled.anywhere(q, random), aims, iterations, tolerance, still)
            best = min(best, other, key=lambda solution: self._compiled.sizes(self.linear(solution.q, aims)[0]))
        return best

    def _solve_once(self, q: Array, aims: Array, iterations: int, tolerance: float, still: float) -> Solution:
        if self.limits or self._compiled.bounds:
            return self._solve_outside(q, aims, iterations, tolerance, still)
        status, count = np.empty(1, np.int64), np.empty(1, np.int64)
        numbers = np.array([self.damping, tolerance, still, iterations])
        self._solve(self._compiled.plan, aims[None], self._given, numbers, False, q[None], status, count)
        if status[0] == damped_step.NOT_FINITE:
            raise NotFinite(f"{self.figure.name}: q or a target is not finite")
        return Solution(q, _OUTCOMES[int(status[0])], int(count[0]), self, aims)

    def _solve_outside(self, q: Array, aims: Array, iterations: int, tolerance: float, still: float) -> Solution:
        """Step by step, because bounds are known only to Python."""
        for k in range(iterations + 1):
            worst = float(np.abs(self.linear(q, aims)[0]).max(initial=0.0))
            new = self.step(q, aims, largest=LARGEST)
            moved = float(np.abs(new - q).max(initial=0.0))
            if worst <= tolerance and moved <= still:
                return Solution(q, Outcome.CONVERGED, k, self, aims)
            if moved <= min(still, 1e-9):
                return Solution(q, Outcome.LIMITS if self.limits else Outcome.STALLED, k, self, aims)
            q = new
        return Solution(q, Outcome.EXHAUSTED, iterations, self, aims)

    def solve_many(
        self, aims: ArrayLike, q: ArrayLike | None = None, *, warm: bool = True, iterations: int = 100,
        tolerance: float = 1e-8, still: float = 1e-6,
    ) -> tuple[Solution, ...]:  # fmt: skip
        """A solution for every row of aims. Each starts where the one before ended, or (not `warm`) at its row of q."""
        many = np.ascontiguousarray(aims, float)
        if many.ndim != 2 or many.shape[1] != len(self.aims):
            wanted = f"(n, {len(self.aims)})"
            raise BunrakuError(f"aims have shape {many.shape}, not {wanted}\n  advice: stack rows made by `aim`")
        start = np.asarray(self.figure.start if q is None else q, float)
        Q = np.array(np.broadcast_to(start, (len(many), self.figure.n_q)), order="C")
        if self.limits or self._compiled.bounds:
            out: list[Solution] = []
            for k, row in enumerate(many):
                begin = out[-1].q if warm and out else Q[k]
                out.append(self.solve(begin, row, iterations=iterations, tolerance=tolerance, still=still))
            return tuple(out)
        status, counts = np.empty(len(many), np.int64), np.empty(len(many), np.int64)
        numbers = np.array([self.damping, tolerance, still, iterations])
        self._solve(self._compiled.plan, many, self._given, numbers, warm, Q, status, counts)
        if (bad := np.flatnonzero(status == damped_step.NOT_FINITE)).size:
            raise NotFinite(f"{self.figure.name}: q or target {int(bad[0])} is not finite")
        ends = zip(Q, status.tolist(), counts.tolist(), many, strict=True)
        return tuple(Solution(q, _OUTCOMES[s], k, self, row) for q, s, k, row in ends)

    # -- what the tasks say --------------------------------------------------------------------------------------

    def linear(self, q: ArrayLike, aims: Array | None = None) -> tuple[Array, Array, Array]:
        """Errors (m,) of all rows, their Jacobian (m, n), and the way from the wanted posture (n,).

        Columns of ball joints that turn as rotations are about the joint's own axes x, y, z, in the places of
        its variables.
        """
        q, values = self._trusted(q), self._given
        aims = self._trusted_aims(aims)
        if self._compiled.bounds:
            values = self._values(q)
        given = np.where(values[:, -1:] < 0.0, values, 0.0)
        m, n = len(self._compiled.row_task), len(q)
        e, J, away = np.empty(m), np.empty((m, n)), np.empty(n)
        damped_step.linearise(self._compiled.plan, aims, given, q, e, J, away)
        return e, J, away

    def errors(self, q: ArrayLike, aims: Array | None = None) -> dict[str, float]:
        """The size of each task's error [m or rad], by its title; postures of the lowest priority apart."""
        e = self.linear(q, aims)[0]
        squares: dict[str, float] = {task.title: 0.0 for task in self.tasks if not isinstance(task, Posture)}
        for k, error in zip(self._compiled.row_task, e.tolist(), strict=True):
            title = self.tasks[k].title
            squares[title] = squares.get(title, 0.0) + error * error
        return {title: square**0.5 for title, square in squares.items()}

    def _trusted(self, q: ArrayLike) -> Array:
        q = np.array(q, float)  # a copy: numba compiles anew for an array that may not be written, such as figure.start
        if q.shape != (self.figure.n_q,):
            raise BunrakuError(f"{self.figure.name} has {self.figure.n_q} variables, but q has shape {q.shape}")
        return q

    def _trusted_aims(self, aims: Array | None) -> Array:
        aims = np.array(self.aims if aims is None else aims, float)
        if aims.shape != self.aims.shape:
            raise BunrakuError(f"aims have shape {aims.shape}, not {self.aims.shape}\n  advice: make them with `aim`")
        return aims
