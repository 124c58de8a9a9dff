"""Receding-horizon control: every sample takes one Gauss–Newton step, starting from the plan of the last sample.

The last plan is shifted by one step, rolled out from the current state, and improved once; its first inputs are applied.
The reference may be known ahead, or be written into the sheet (the arrays of the cost) while the figure follows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.control.control_problem import Broken, ControlProblem, MotionExpansion
from bunraku.control.control_system import ControlCurve, Rollout, System
from bunraku.control.cost import Term, sheet_of
from bunraku.control.cost_arrays import Sheet
from bunraku.control.optimum import motion_of
from bunraku.dynamics.puppeteer import Puppeteer, kinematic_rows
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.motion import Motion

Array = NDArray[np.float64]


class Horizon:
    """A receding-horizon controller: takes a state and returns inputs, once per sample."""

    def __init__(self, system: System, sheet: Sheet, start: Array, *, steps: int, plan: Array) -> None:
        """`system` begins in state `start`; the horizon has `steps` steps.

        `sheet` is the cost over the whole duration and one horizon beyond it; `plan` holds the initial inputs, one row per step.
        """
        self.system, self.sheet, self.steps = system, sheet, steps
        self.taut = np.zeros(system.n_links, np.int8)
        first = ControlProblem(system, self._window(0), start, self.taut)
        self.work = MotionExpansion(first)
        self.gains = np.zeros((steps, system.n_u, system.n_x))
        self.plan = ControlCurve(np.repeat(start[None], steps + 1, 0), plan[:steps].copy())
        self.safe = self.plan
        self.seconds: list[tuple[float, float]] = []

    def _window(self, k: int) -> Sheet:
        """The cost from sample k on."""
        return _window(self.sheet, k, self.steps)

    def input(self, x: Array, k: int) -> Array:
        """The inputs at sample `k` in state `x`: next kinematic variables, and forces."""
        begun = time.perf_counter(), time.thread_time()
        problem = ControlProblem(self.system, self._window(k), x, self.taut)
        run = self._now(problem)
        if isinstance(run, Rollout):
            self.safe, self.plan = run, self._improved(problem, run)
            self.taut = run.states[0]
        out: Array = self.plan.u[0].copy()
        self.safe, self.plan = self._later(self.safe, k), self._later(self.plan, k)
        self.gains = np.concatenate([self.gains[1:], self.gains[-1:]])
        self.seconds.append((time.perf_counter() - begun[0], time.thread_time() - begun[1]))
        return out

    def _now(self, problem: ControlProblem) -> Rollout | Broken:
        """The shifted plan, rolled out from the current state with the last gains; if that fails, the last feasible plan."""
        for plan, gains in ((self.plan, self.gains), (self.safe, self.gains), (self.safe, None)):
            x = plan.x.copy()
            x[0] = problem.start
            run = problem.project(ControlCurve(x, plan.u), gains)
            if isinstance(run, Rollout):
                break
        return run

    def _improved(self, problem: ControlProblem, run: Rollout) -> ControlCurve:
        """The improved plan ξ + ζ; the next sample rolls it out."""
        work = self.work
        work.problem = problem
        work.at(run)
        if work.gauss_newton() is None:
            return run
        self.gains = work.gains
        change = work.direction(work.gains)
        u = run.u.copy()
        u[:, self.system.chosen] += change.u
        return ControlCurve(run.x + change.x, u)

    def _later(self, plan: ControlCurve, k: int) -> ControlCurve:
        """The plan shifted by one step; the new last step follows the reference."""
        s, far = self.system, min(k + self.steps, len(self.sheet.rx) - 2)
        last = plan.u[-1].copy()
        last[: s.n_kin] += self.sheet.rx[far + 1, s.n : s.n_q] - self.sheet.rx[far, s.n : s.n_q]
        return ControlCurve(np.concatenate([plan.x[1:], plan.x[-1:]]), np.concatenate([plan.u[1:], last[None]]))


@dataclass(frozen=True, eq=False)
class Followed:
    """A motion that followed a reference online."""

    motion: Motion
    run: Rollout
    seconds: Array
    """Wall-clock time and processor time of each sample's decision [s]."""
    cost: float
    """The cost: the sum of all terms over the motion."""

    __repr__ = brief

    @property
    def real_time(self) -> float:
        """Simulated time divided by computing time on one core: above 1 is real time."""
        return float(self.motion.duration / self.seconds[:, 1].sum())


def follow(
    figure: Figure, cost: Sequence[Term], *, duration: float, horizon: float = 0.5, dt: float = 0.01, q: ArrayLike | None = None,
    inputs: Sequence[str] | None = None, guess: Puppeteer = None, disturb: Callable[[int, Array], Array] | None = None,
) -> Followed:  # fmt: skip
    """Simulates a figure that follows a reference online, with receding-horizon control.

    figure: what moves
    cost: terms with the references (bunraku.control.cost)
    duration: how long [s]
    horizon: how far each plan looks ahead [s]
    dt: the time step [s]
    q: the configuration at the start, `figure.start` by default
    inputs: names of the kinematic variables and force inputs that may be chosen, all by default
    guess: the kinematic variables of the first plan, given like a puppeteer (see `simulate`)
    disturb: changes the state x at a sample, (sample, x) → x: for instance a push

    Raises BunrakuError if a disturbance makes every step impossible.
    """
    system = System.of(figure, dt=dt, inputs=inputs)
    N, ahead = max(round(duration / dt), 1), max(round(horizon / dt), 1)
    start = system.state(q)
    times: Array = dt * np.arange(N + ahead + 2, dtype=float)
    sheet = sheet_of(cost, system, times, start)
    hands = kinematic_rows(figure, guess, times[1:], start[system.n : system.n_q])
    plan = np.concatenate([hands, np.zeros((len(hands), len(figure.forces)))], 1)
    controller = Horizon(system, sheet, start, steps=ahead, plan=plan)
    run = drive(system, start, N, controller.input, disturb)
    total = ControlProblem(system, _window(sheet, 0, N), start, controller.taut).total(run)
    return Followed(motion_of(system, run), run, np.array(controller.seconds), total)


def _window(sheet: Sheet, k: int, steps: int) -> Sheet:
    """`steps` steps of a sheet, from sample k on."""
    of_samples, of_steps = ("wx", "rx", "wp", "target", "wc", "centre", "offset_x"), ("wu", "ru", "wl", "rl", "offset_u")
    rows = {name: getattr(sheet, name)[k : k + steps + 1] for name in of_samples}
    out: Sheet = sheet._replace(**rows, **{name: getattr(sheet, name)[k : k + steps] for name in of_steps})
    return out


def drive(
    system: System, start: Array, N: int, inputs: Callable[[Array, int], Array], disturb: Callable[[int, Array], Array] | None
) -> Rollout:
    """`N` steps of `system` from state `start` with inputs `inputs(x, k)` and disturbances `disturb(k, x)`.

    Raises BunrakuError if a disturbance makes every step impossible.
    """
    x, u = np.empty((N + 1, system.n_x)), np.empty((N, system.n_kin + len(system.figure.forces)))
    impulse, states = np.empty((N, system.n_links)), np.empty((N, system.n_links), np.int8)
    x[0] = start
    one = ControlProblem(system, _nothing(system), start, np.zeros(system.n_links, np.int8))
    for k in range(N):
        if disturb is not None:
            x[k] = disturb(k, x[k].copy())
        u[k] = inputs(x[k], k)
        step = one.project(ControlCurve(np.stack([x[k], x[k]]), u[k : k + 1]))
        if isinstance(step, Broken):  # the puppeteer cannot move as asked: he rests for one step
            u[k, : system.n_kin] = x[k, system.n : system.n_q]
            step = one.project(ControlCurve(np.stack([x[k], x[k]]), u[k : k + 1]))
        if isinstance(step, Broken):
            raise BunrakuError(f"{system.figure.name}: no step is possible at t = {k * system.dt:.3g} s\n  advice: disturb it less")
        x[k + 1], impulse[k], states[k] = step.x[1], step.impulse[0], step.states[0]
        one = replace(one, taut=states[k])
    return Rollout(x, u, impulse, states)


def _nothing(system: System) -> Sheet:
    return sheet_of((), system, np.array([0.0, system.dt]), system.state())
