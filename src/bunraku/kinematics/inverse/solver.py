"""Inverse kinematics: the configuration that fulfils some tasks.

    ik = Inverse(figure, [FramePose("left_foot", priority=0), CentreOfMass(axes="xy"), PointPosition("hand"), Posture()])
    solution = ik.solve(q, ik.aim(hand=(0.4, 0.2, 1.1)))

Tasks are compiled once; a step, a solve, or the solves for many targets are then one call of a kernel each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import Figure
from bunraku.kernels.entry_point import entry
from bunraku.kinematics.forward import configuration
from bunraku.kinematics.inverse import damped_step, levenberg
from bunraku.kinematics.inverse import task_rows as rows
from bunraku.kinematics.inverse.bounded_step import BoundedStep
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solution import Solution, SolveStatus
from bunraku.kinematics.inverse.task_arrays import compile_tasks
from bunraku.kinematics.inverse.tasks import Bound, Posture, Task

Array = NDArray[np.float64]


class Inverse:
    """Tasks for a figure, compiled. It has no state: every call passes its start and its targets."""

    def __init__(
        self, figure: Figure, tasks: Sequence[Task], *, start: ArrayLike | None = None, moves: Iterable[str] | None = None,
        reluctance: Mapping[str, float] | None = None, joint_limits: bool = True, limits: Sequence[Bound] = (),
        options: InverseOptions = InverseOptions(),
    ) -> None:  # fmt: skip
        """Compiles `tasks` for `figure`.

        start: the configuration that tasks without a target hold; by default the figure's start.
        moves: names of the variables that may move; by default all that move a frame.
        reluctance: factors by name; a variable with a factor of 3 moves less readily than the others, which have 1.
        joint_limits: whether the figure's joint limits are kept.
        limits: bounds that hold at the end of every step; one that is violated at the start gets no worse.
        options: when a solve ends, and how steps are damped; a solve may be given others.

        Raises `BunrakuError` for tasks that name what the figure does not have.
        """
        self.figure, self.tasks, self.limits, self.options = figure, tuple(tasks), tuple(limits), options
        q = configuration(figure, figure.start if start is None else start)
        self._compiled = compile_tasks(figure, self.tasks, q, moves, reluctance or {}, joint_limits, rotate=not limits)
        self._given = np.zeros((self._compiled.n_given, figure.n_q + 1))

    # -- targets -------------------------------------------------------------------------------------------------

    @functools.cached_property
    def aims(self) -> Array:
        """The targets that the tasks were made with, as one flat array (read-only)."""
        aims = self._compiled.aims.copy()
        aims.setflags(write=False)
        return aims

    def aim(self, targets: Mapping[str, Any] | None = None, /, *, base: Array | None = None, **named: Any) -> Array:
        """The aims, one flat array of all targets, with some targets changed.

        targets, named: new targets by the titles of their tasks.
        base: aims that hold all other targets; by default those that the tasks were made with.

        Returns flat numbers for `solve` and `step`. Raises `UnknownName` where no task has that title.
        """
        aims = np.array(self.aims if base is None else base)
        for title, target in {**(targets or {}), **named}.items():
            k = self._task(title)
            task, slots = self.tasks[k], self._compiled.slots[k]
            if isinstance(task, Posture):
                self._aim_posture(aims, task, slots, target)
                continue
            for slot, numbers in zip(slots, task.aims(target), strict=True):
                aims[rows.AIM_SIZE * slot : rows.AIM_SIZE * slot + len(numbers)] = numbers
        return aims

    def view(self, title: str, aims: Array) -> tuple[Array, ...]:
        """Views into `aims` of the target of the task called `title`, to be written into.

        A position or direction is (3,), a rotation (3, 3), a pose both. Faster than `aim`, but nothing is checked.
        """
        out = []
        for slot in self._compiled.slots[self._task(title)]:
            own = aims[rows.AIM_SIZE * slot : rows.AIM_SIZE * (slot + 1)]
            out.append(own.reshape(3, 3) if self._compiled.plan.records["kind"][slot] == rows.TaskKind.TURN else own[:3])
        return tuple(out)

    def _aim_posture(self, aims: Array, task: Posture, slots: tuple[int, ...], target: Any) -> None:
        wanted = task.wanted(self.figure, target)
        if not slots:  # a soft posture: its values follow the records in `aims`
            for k, value in wanted.items():
                aims[len(aims) - self.figure.n_q + k] = value
            return
        for slot, part in zip(slots, task.parts(self.figure), strict=True):
            if part.fields["index"] in wanted:
                aims[rows.AIM_SIZE * slot] = wanted[part.fields["index"]]

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
        """The configuration one step on from `q` toward `aims` (by default those that the tasks were made with).

        dt: duration of the step, for speed limits [s].
        gain: the fraction of the errors that the step removes, to first order.
        largest: no variable changes by more than this [rad or m].

        Joint limits are kept, and bounds to first order. Raises `NotFinite` where q or a target is not finite.
        """
        return self._step_on(self.trusted(q), self._trusted_aims(aims), dt, gain, largest, self.options)

    def _step_on(self, q: Array, aims: Array, dt: float, gain: float, largest: float, options: InverseOptions) -> Array:
        if not self._compiled.bounds:
            return self._stepped(q, aims, self._given, dt, gain, largest, options)
        values = self._values(q)
        given = np.where(values[:, -1:] < 0.0, values, 0.0)
        while True:  # until the step violates no bound, the worst one is added
            out = self._stepped(q, aims, given, dt, gain, largest, options)
            after = np.where(given.any(axis=1), 0.0, values[:, -1] + values[:, :-1] @ (out - q))
            if after.min() > -1e-9:
                return out
            given[after.argmin()] = values[after.argmin()]

    def _stepped(
        self, q: Array, aims: Array, given: Array, dt: float, gain: float, largest: float, options: InverseOptions
    ) -> Array:
        out = np.empty(len(q))
        status: int = SolveStatus.BEYOND_LIMITS
        if not self.limits:
            status = self._step(self._compiled.plan, aims, given, q, options.damping, gain, dt, largest, out)
        if status == SolveStatus.NOT_FINITE:
            raise NotFinite(f"{self.figure.name}: q or a target is not finite")
        return self._bounded.step(q, aims, given, dt, gain, largest, options) if status == SolveStatus.BEYOND_LIMITS else out

    def _values(self, q: Array) -> Array:
        """Rows of those tasks that are bounds: derivatives (k, n), then the values."""
        rows = np.zeros_like(self._given)
        for bound, first in self._compiled.bounds:
            own = rows[first : first + bound.count]
            own[:, -1], own[:, :-1] = bound.smallest(self.figure, q)
        rows[:, -1] = np.minimum(rows[:, -1], 1e9)
        return rows

    @functools.cached_property
    def _bounded(self) -> BoundedStep:
        return BoundedStep(self.figure, self._compiled.plan, self.limits)

    # -- solves --------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _solve(self) -> Callable[..., None]:
        matrix, ints = np.empty((0, 0)), np.empty(0, np.int64)
        ends = levenberg.Ends(0.0, 0.0, 0.0, 0)
        return entry(levenberg.solve, self._compiled.plan, matrix, matrix, ends, True, matrix, ints, ints)

    def solve(
        self, q: ArrayLike | None = None, aims: Array | None = None, *, options: InverseOptions | None = None,
        seed: int | None = None,
    ) -> Solution:  # fmt: skip
        """The configuration that fulfils the tasks, or comes as near as it can.

        q: where it starts; by default the figure's start.
        aims: targets made by `aim`; by default those that the tasks were made with.
        options: when it ends; by default those of this `Inverse`.
        seed: of the random starts where `options.tries` is more than 1; None means 0.

        Raises `NotFinite` where q or a target is not finite.
        """
        *_, best = self.tries(self.trusted(q), self._trusted_aims(aims), options or self.options, seed or 0)
        return best

    def tries(self, q: Array, aims: Array, options: InverseOptions, seed: int) -> Iterator[Solution]:
        """The best so far after each start, until one converges; `q`, `aims`, `options`, `seed` as for `solve`, but never None."""
        best = self._solve_once(np.array(q), aims, options)
        yield best
        if best.converged or options.tries < 2:
            return
        random = np.random.default_rng(seed)
        for _ in range(options.tries - 1):
            other = self._solve_once(self._compiled.anywhere(q, random), aims, options)
            best = min(best, other, key=lambda solution: self._compiled.sizes(self.linear(solution.q, aims)[0]))
            yield best
            if best.converged:
                return

    def _solve_once(self, q: Array, aims: Array, options: InverseOptions) -> Solution:
        if self.limits or self._compiled.bounds:
            return self._solve_outside(q, aims, options)
        status, count = np.empty(1, np.int64), np.empty(1, np.int64)
        self._solve(self._compiled.plan, aims[None], self._given, levenberg.ends(options), False, q[None], status, count)
        if status[0] == SolveStatus.NOT_FINITE:
            raise NotFinite(f"{self.figure.name}: q or a target is not finite")
        return Solution(q, int(count[0]), SolveStatus(status[0]), self, aims)

    def _solve_outside(self, q: Array, aims: Array, options: InverseOptions) -> Solution:
        """Solves step by step, because bounds are Python functions, which kernels cannot call."""
        for k in range(options.iterations + 1):
            worst = float(np.abs(self.linear(q, aims)[0]).max(initial=0.0))
            new = self._step_on(q, aims, np.inf, 1.0, options.largest_step, options)
            moved = float(np.abs(new - q).max(initial=0.0))
            if worst <= options.tolerance and moved <= options.still:
                return Solution(q, k, SolveStatus.CONVERGED, self, aims)
            if moved <= min(options.still, 1e-9):
                return Solution(q, k, SolveStatus.AT_LIMITS if self.limits else SolveStatus.STALLED, self, aims)
            q = new
        return Solution(q, options.iterations, SolveStatus.OUT_OF_ITERATIONS, self, aims)

    def solve_many(
        self, aims: ArrayLike, q: ArrayLike | None = None, *, warm: bool = True, options: InverseOptions | None = None
    ) -> tuple[Solution, ...]:
        """A solution for every row of `aims`, in one call of a kernel.

        q: where the first solve starts, or a row for each; by default the figure's start.
        warm: each solve starts where the one before ended; otherwise at its row of q.
        options: when each ends; by default those of this `Inverse`. `tries` is not used here.

        Raises `NotFinite` where q or a target is not finite, `BunrakuError` where aims have the wrong shape.
        """
        options = options or self.options
        many = np.ascontiguousarray(aims, float)
        if many.ndim != 2 or many.shape[1] != len(self.aims):
            wanted = f"(n, {len(self.aims)})"
            raise BunrakuError(f"aims have shape {many.shape}, expected {wanted}\n  advice: stack rows made by `aim`")
        start = np.asarray(self.figure.start if q is None else q, float)
        Q = np.array(np.broadcast_to(start, (len(many), self.figure.n_q)), order="C")
        if self.limits or self._compiled.bounds:
            out: list[Solution] = []
            for k, row in enumerate(many):
                begin = out[-1].q if warm and out else Q[k]
                out.append(self._solve_once(self.trusted(begin), self._trusted_aims(row), options))
            return tuple(out)
        status, counts = np.empty(len(many), np.int64), np.empty(len(many), np.int64)
        self._solve(self._compiled.plan, many, self._given, levenberg.ends(options), warm, Q, status, counts)
        if (bad := np.flatnonzero(status == SolveStatus.NOT_FINITE)).size:
            raise NotFinite(f"{self.figure.name}: q or target {int(bad[0])} is not finite")
        endings = zip(Q, counts.tolist(), status.tolist(), many, strict=True)
        return tuple(Solution(q, k, SolveStatus(s), self, row) for q, k, s, row in endings)

    # -- errors and derivatives ----------------------------------------------------------------------------------

    def linear(self, q: ArrayLike, aims: Array | None = None) -> tuple[Array, Array, Array]:
        """Errors (m,) of all rows at `q` for `aims`, their Jacobian (m, n), and q minus the wanted posture (n,).

        For a ball joint that is moved as a rotation, the columns of its variables z, y, x are derivatives by rotations about
        the joint's own axes z, y, x.
        """
        q, values = self.trusted(q), self._given
        aims = self._trusted_aims(aims)
        if self._compiled.bounds:
            values = self._values(q)
        given = np.where(values[:, -1:] < 0.0, values, 0.0)
        m, n = len(self._compiled.row_task), len(q)
        e, J, away = np.empty(m), np.empty((m, n)), np.empty(n)
        damped_step.linearise(self._compiled.plan, aims, given, q, e, J, away)
        return e, J, away

    def errors(self, q: ArrayLike, aims: Array | None = None) -> dict[str, float]:
        """The size of each task's error at `q` for `aims` [m or rad], by its title, without postures of the lowest priority."""
        e = self.linear(q, aims)[0]
        squares: dict[str, float] = {task.title: 0.0 for task in self.tasks if not isinstance(task, Posture)}
        for k, error in zip(self._compiled.row_task, e.tolist(), strict=True):
            title = self.tasks[k].title
            squares[title] = squares.get(title, 0.0) + error * error
        return {title: square**0.5 for title, square in squares.items()}

    def trusted(self, q: ArrayLike | None) -> Array:
        """A copy of `q` (or of the figure's start) of the right size. Raises `BunrakuError` for another size."""
        # A copy: for a read-only array, such as figure.start, numba would compile the kernels once more.
        q = np.array(self.figure.start if q is None else q, float)
        if q.shape != (self.figure.n_q,):
            raise BunrakuError(f"{self.figure.name} has {self.figure.n_q} variables, but q has shape {q.shape}")
        return q

    def _trusted_aims(self, aims: Array | None) -> Array:
        aims = np.array(self.aims if aims is None else aims, float)
        if aims.shape != self.aims.shape:
            raise BunrakuError(f"aims have shape {aims.shape}, expected {self.aims.shape}\n  advice: make them with `aim`")
        return aims
