"""optimize: figure + what is wished → the best motion, its inputs, and the gains that hold the figure to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.control.coarse_grid import coarser, refined, thinned
from bunraku.control.control_problem import Broken, Expansion, Problem
from bunraku.control.control_system import Curve, Rollout, System
from bunraku.control.cost import Term, sheet_of
from bunraku.control.limits import Limits, tightened, violation
from bunraku.control.newton import Descent, Iteration, Method, Monitor, Outcome, descend
from bunraku.dynamics.puppeteer import Puppeteer, force_rows, kinematic_rows
from bunraku.dynamics.rollout import DIVIDED, HELD
from bunraku.dynamics.simulation import require_admissible
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics.forward import Pose
from bunraku.motion import Motion

Array = NDArray[np.float64]
SAME = 1e-12  # of the cost: an expected decrease so small that the gains before the last step are those after it
COARSE = 1e-5  # tolerance on a coarse grid: the grid itself is off by more
NEARLY = 1e-6  # tolerance as long as multipliers still change
STUCK = 6  # descents in a row, each with stiffer penalties, after which a limit that is still exceeded cannot be met
OPEN = 1e-4  # [m or rad] that a loop or a string may be off at the start: files round
TOUCH = 1e-6  # of a bound's unit: how far beyond it a motion may be


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best motion that was found."""

    problem: Problem
    run: Rollout
    gains: Array
    """u = ū − gains·(x − x̄), a matrix a step: the feedback that stabilises the motion."""
    cost: float
    history: tuple[Iteration, ...]
    outcome: Outcome

    __repr__ = brief

    @property
    def system(self) -> System:
        return self.problem.system

    @property
    def kinematic(self) -> Array:
        """What the puppeteer does: a row a step."""
        return self.run.u[:, : self.system.n_kin]

    @property
    def forces(self) -> Array:
        """Force inputs: a row a step."""
        return self.run.u[:, self.system.n_kin :]

    @property
    def motion(self) -> Motion:
        return motion_of(self.system, self.run)

    @property
    def tail(self) -> tuple[float, ...]:
        """Expected decrease over cost, iteration by iteration."""
        return tuple(i.decrease / max(abs(i.cost), 1e-300) for i in self.history)

    def __str__(self) -> str:
        last = f", the last expecting {self.tail[-1]:.1e} of it" if self.history else ""
        return f"{self.outcome.name.lower().replace('_', ' ')}: cost {self.cost:.6g} after {len(self.history)} iterations{last}"


def motion_of(system: System, run: Rollout) -> Motion:
    """The motion of a rollout, with tensions."""
    q, dt = run.x[:, : system.n_q], system.dt
    t = dt * np.arange(len(q))
    ropes = len(system.figure.strings) + len(system.figure.wires)
    tension = np.concatenate([run.impulse[:1], run.impulse])[:, :ropes] / dt
    gap = np.array([Pose(system.figure, row).gaps[:ropes] for row in q]) if ropes else None
    return Motion.of(system.figure, t, q, v=np.gradient(q, t, axis=0), tension=tension, gap=gap)


def optimize(
    figure: Figure, cost: Sequence[Term], *, duration: float, dt: float = 0.01, q: ArrayLike | None = None,
    v: ArrayLike | None = None, inputs: Sequence[str] | None = None, guess: Optimum | Curve | Puppeteer = None,
    forces: Puppeteer = None, limits: Limits | None = None, method: Method = "auto", tolerance: float = 1e-12,
    iterations: int = 60, threads: int = 1, monitor: Monitor | None = None, coarse: int = 1,
) -> Optimum:  # fmt: skip
    """The motion of least cost from a configuration and rates, over `duration` seconds.

    `inputs` names the kinematic variables and forces that may be chosen; all, where it is left out. `guess` is where the search
    starts: an earlier optimum, a curve, or a puppeteer (see simulate) with `forces`; at rest, where nothing is given. `limits`
    are met to a millionth of their unit, distances to a tenth of a millimetre. `coarse` solves with steps so many times as long
    first, which saves time where the search is long. Ctrl-C returns the best so far.
    """
    system = System.of(figure, dt=dt, inputs=inputs)
    problem = problem_of(system, cost, duration=duration, q=q, v=v)
    require_admissible(figure, problem.start[: system.n_q], within=OPEN)
    run = first_run(problem, guess, forces) if coarse == 1 else _from_coarse(problem, guess, forces, coarse, iterations)
    if coarse > 1 and method == "auto":
        method = "newton"  # it is near
    if limits is not None:
        problem = limits.on(problem)
    work = Expansion(problem)

    def solve(problem: Problem, run: Rollout, **options: Any) -> Descent:
        work.problem = problem
        return descend(problem, run, method=method, threads=threads, monitor=monitor, expansion=work, **options)

    if limits is None or limits.soft:
        return optimum_of(problem, solve(problem, run, tolerance=tolerance, iterations=iterations), work)
    return _within(problem, run, solve, work, tolerance, iterations)


def _within(
    problem: Problem, run: Rollout, solve: Callable[..., Descent], work: Expansion, tolerance: float, iterations: int
) -> Optimum:
    """Descents with multipliers between them, until every bound holds."""
    worst, stuck = np.inf, 0
    history: tuple[Iteration, ...] = ()
    while True:
        left = iterations - len(history)
        near = worst <= 100.0 * TOUCH
        found = solve(problem, run, tolerance=tolerance if near else max(tolerance, NEARLY), iterations=left, first=len(history))
        history, run = history + found.history, found.run
        beyond = violation(problem, run)
        outcome = found.outcome
        stuck = stuck + 1 if beyond > max(0.5 * worst, TOUCH) else 0
        if (beyond <= TOUCH and near) or outcome is Outcome.STOPPED or stuck == STUCK or len(history) >= iterations:
            if beyond > TOUCH and outcome is Outcome.CONVERGED:
                outcome = Outcome.BEYOND_LIMITS if stuck == STUCK else Outcome.OUT_OF_ITERATIONS
            wished = problem.cost(run)[0]
            return optimum_of(problem, Descent(run, wished, history, outcome, found.mu), work)
        problem = tightened(problem, run, stiffer=beyond > 0.25 * worst)
        worst = beyond


def _from_coarse(problem: Problem, guess: Optimum | Curve | Puppeteer, forces: Puppeteer, coarse: int, iterations: int) -> Rollout:
    """The optimum of the coarse grid, on the fine one."""
    if problem.steps % coarse or coarse < 1:
        raise BunrakuError(f"{problem.steps} steps are no multiple of {coarse}\n  advice: choose coarse so that they are")
    s, thin = problem.system, coarser(problem, coarse)
    curve, gains = _guessed(problem, guess, forces)
    wish = thinned(curve, coarse)
    held = thin.project(wish, gains[::coarse].copy()) if len(gains) else None
    run = held if isinstance(held, Rollout) else first_run(thin, wish, None)
    work = Expansion(thin)
    found = optimum_of(thin, descend(thin, run, tolerance=COARSE, iterations=iterations, expansion=work), work)
    curve, gains = refined(found.run, found.gains, coarse, s.n, s.n_kin)
    fine = problem.project(curve, gains)
    return fine if isinstance(fine, Rollout) else first_run(problem, curve, None)


def problem_of(
    system: System, cost: Sequence[Term], *, duration: float, q: ArrayLike | None = None, v: ArrayLike | None = None
) -> Problem:
    """The problem over a duration, from a configuration and rates."""
    if not 0.0 < duration < np.inf:
        raise BunrakuError(f"a duration of {duration} s\n  advice: give seconds, more than zero")
    start = system.state(q, v)
    times: Array = system.dt * np.arange(max(round(duration / system.dt), 1) + 1, dtype=float)
    return Problem(system, sheet_of(cost, system, times, start), start, np.zeros(system.n_links, np.int8))


def _guessed(problem: Problem, guess: Optimum | Curve | Puppeteer, forces: Puppeteer) -> tuple[Curve, Array]:
    """The curve that the search starts from, and gains to follow it with, where there are any."""
    system, N = problem.system, problem.steps
    gains = np.zeros((0, 0, 0))
    if isinstance(guess, Optimum):
        if len(guess.run) != N or guess.run.u.shape[1] != system.n_kin + len(system.figure.forces):
            raise BunrakuError("the guess is of another figure or duration\n  advice: give one of the same number of steps")
        curve: Curve = guess.run
        gains = guess.gains if guess.system.inputs == system.inputs else gains
    elif isinstance(guess, Curve):
        curve = guess
    else:
        times: Array = system.dt * np.arange(1, N + 1, dtype=float)
        rest = problem.start[system.n : system.n_q]
        u = np.concatenate([kinematic_rows(system.figure, guess, times, rest), force_rows(system.figure, forces, times)], 1)
        curve = Curve(np.repeat(problem.start[None], N + 1, 0), u)
    if not np.array_equal(curve.x[0], problem.start):
        curve = Curve(np.concatenate([problem.start[None], curve.x[1:]]), curve.u)
    return curve, gains


def first_run(problem: Problem, guess: Optimum | Curve | Puppeteer, forces: Puppeteer) -> Rollout:
    """The motion that the search starts from."""
    run = problem.project(*_guessed(problem, guess, forces))
    if isinstance(run, Broken):
        system = problem.system
        raise BunrakuError(f"{system.figure.name}: {_why(run, system.dt)}\n  advice: start from a guess that the figure can make")
    return run


def _why(broken: Broken, dt: float) -> str:
    at = f"at t = {dt * (broken.step + 1):.3g} s of the guess"
    if broken.bits & HELD:
        return f"strings are pulled beyond reach {at}"
    if broken.bits & DIVIDED:
        return f"a joint turns too fast for one step {at}"
    return f"the motion runs away {at}"


def optimum_of(problem: Problem, found: Descent, work: Expansion) -> Optimum:
    """With the gains along what was found."""
    last = found.history[-1].decrease if found.history else np.inf
    if last > SAME * abs(found.cost) and work.safe_along(found.run) is None:
        raise BunrakuError("no gains along the motion\n  advice: weigh every input")
    return Optimum(problem, found.run, work.gains.copy(), found.cost, found.history, found.outcome)
