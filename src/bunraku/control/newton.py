"""Descent: Newton's method through the projection operator (*trep*, eq. 7), from any start.

The exact Hessian is H_GN + C: the Gauss–Newton Hessian, which is positive semidefinite, and the curvature C of steps and cost,
contracted with the adjoint, which may be indefinite. The Riccati sweep detects exactly whether H_GN + C is indefinite. If so,
(1 + μ) H_GN + C is used instead: μ is raised until the sum is positive definite, and lowered when the quadratic model predicts the
cost well. Near an optimum μ is zero, and the expected decrease converges quadratically to zero.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.control.control_outcomes import DESCENT_STALLED, OPTIMAL, OPTIMAL_AT_A_SWITCH, OUT_OF_ITERATIONS
from bunraku.control.control_problem import Broken, ControlProblem, MotionExpansion
from bunraku.control.control_system import ControlCurve, Rollout
from bunraku.errors import BunrakuError
from bunraku.outcome import STOPPED, Outcome
from bunraku.progress import Listener, Progress

Array = NDArray[np.float64]
Kind = Literal["newton", "gauss-newton", "steepest"]
Method = Literal["auto"] | Kind


@dataclass(frozen=True)
class DescentOptions:
    """Numbers that tune a descent."""

    min_decrease: float = 1e-4
    """Share of the decrease promised by the slope that a step must achieve (Armijo's rule)."""
    rounding: float = 1e-14
    """Rounding error of the cost, as a share of the cost."""
    min_step: float = 1e-3
    """Smallest step γ of the line search; below it, the direction is given up."""
    first_mu: float = 0.1
    """Smallest μ > 0 that is tried if the exact Hessian is indefinite."""
    race_mu: float = 1.0
    """If μ is above this, the Gauss–Newton direction is tried as well, and the better of the two is taken."""
    max_mu: float = 1e4
    """μ above which Newton's direction is given up."""
    far: float = 1e-3
    """Share of the cost. While the expected decrease is larger, the optimum is considered far."""


@dataclass(frozen=True)
class Iteration:
    """One step of a descent."""

    number: int
    kind: Kind
    cost: float
    """The minimised value before the step: the cost and the penalty of the limits (`ControlProblem.cost`)."""
    decrease: float
    """−Dg·ζ: twice the decrease that the quadratic model expects; the measure of convergence."""
    step: float
    """Step length γ of the line search."""
    mu: float
    """μ of the step's Hessian."""
    slack: int
    """Number of slack links, summed over the steps of the motion."""
    seconds: float
    """Wall-clock time of the iteration [s]."""

    def __str__(self) -> str:
        slack = f", {self.slack} slack" if self.slack else ""
        expected = f"cost {self.cost:<12.6g}  expects −{self.decrease / 2:<8.1e}"
        return f"{self.number + 1:3d}  {self.kind:<12}  {expected}  step {self.step:g}{slack}"


@dataclass(frozen=True, eq=False)
class Descent:
    """The result of a descent."""

    run: Rollout
    history: tuple[Iteration, ...]
    outcome: Outcome


class Trial(NamedTuple):
    """A motion on the search line, and its cost."""

    run: Rollout
    cost: float
    gamma: float
    """Step length γ along the direction."""


class LineSearch:
    """The line search: rollouts of ξ + γζ, several at a time in threads.

    `problem` defines the cost, `threads` the number of parallel rollouts, `options` Armijo's rule.
    """

    def __init__(self, problem: ControlProblem, threads: int, options: DescentOptions) -> None:
        self.problem, self.threads, self.options = problem, max(threads, 1), options
        self.pool = ThreadPoolExecutor(self.threads) if threads > 1 else None

    def close(self) -> None:
        """Ends the threads."""
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)

    def on_line(self, run: Rollout, change: ControlCurve, gamma: float) -> ControlCurve:
        """The curve `run` + `gamma` · `change`."""
        u = run.u.copy()
        u[:, self.problem.system.chosen] += gamma * change.u
        return ControlCurve(run.x + gamma * change.x, u)

    def trial(self, run: Rollout, change: ControlCurve, gamma: float, gains: Array) -> Trial | None:
        """The projection of `run` + `gamma` · `change` under `gains`, and its cost; None if the rollout fails."""
        new = self.problem.project(self.on_line(run, change, gamma), gains)
        if isinstance(new, Broken):
            return None
        cost = sum(self.problem.cost(new))
        return Trial(new, cost, gamma) if np.isfinite(cost) else None

    def search(
        self, run: Rollout, cost: float, change: ControlCurve, slope: float, gains: Array, *, shortest: float
    ) -> Trial | None:
        """Motion, cost and γ for the first of γ = 1, ½, ¼, … ≥ `shortest` that satisfies Armijo's rule; None if none does.

        The search starts at `run` with its `cost` and goes along `change`, where the cost has derivative `slope`. `gains` are those
        of the projection. γ = 1 is tried alone, smaller steps several at a time.
        """
        steps, width, o = [0.5**k for k in range(40) if 0.5**k >= shortest], 1, self.options
        while steps:
            batch, steps = steps[:width], steps[width:]
            if self.pool is None or len(batch) == 1:
                found = [self.trial(run, change, gamma, gains) for gamma in batch]
            else:
                found = list(self.pool.map(lambda gamma: self.trial(run, change, gamma, gains), batch))
            for one in found:
                if one is not None and one.cost <= cost + o.min_decrease * one.gamma * slope + o.rounding * abs(cost):
                    return one
            width = self.threads
        return None

    def further(self, run: Rollout, best: Trial, change: ControlCurve, gains: Array) -> Trial:
        """Doubles γ beyond the `best` so far, along `change` from `run` under `gains`, while that lowers the cost."""
        while True:
            one = self.trial(run, change, 2.0 * best.gamma, gains)
            if one is None or one.cost >= best.cost:
                return best
            best = one


def descend(
    problem: ControlProblem, run: Rollout, *, method: Method = "auto", tolerance: float = 1e-12, iterations: int = 100,
    threads: int = 1, progress: Listener | None = None, stage: str = "optimize", expansion: MotionExpansion | None = None,
    first: int = 0, options: DescentOptions = DescentOptions(),
) -> Descent:  # fmt: skip
    """Improves a motion until the expected decrease is below `tolerance` times the cost.

    problem: what is minimised
    run: the motion to start from
    method: "auto" uses second derivatives of the steps when they pay; the others fix the direction
    iterations: maximum number of iterations
    threads: number of parallel rollouts in the line search
    progress: called at every iteration with `Progress(stage, done, text)`
    expansion: arrays to work in, from an earlier descent on a problem of the same size
    first: number of the first iteration
    options: numbers that tune the descent

    Ctrl-C returns the best motion so far. Raises BunrakuError if the cost does not determine an input.
    """
    work = expansion or MotionExpansion(problem)
    search = LineSearch(problem, threads, options)
    cost = sum(problem.cost(run))
    history: list[Iteration] = []
    outcome, floor, mu = OUT_OF_ITERATIONS, 1e-12 * abs(cost), 0.0
    try:
        for number in range(first, first + iterations):
            begun = time.perf_counter()
            found = _step(work, search, run, cost, method, mu, history[-1] if history else None)
            if found is None:
                outcome = DESCENT_STALLED
                break
            slack = int((run.states == 0).sum())
            history.append(
                Iteration(number, found.kind, cost, found.decrease, found.gamma, found.mu, slack, time.perf_counter() - begun)
            )
            if progress is not None:
                progress(Progress(stage, _done(history, tolerance), str(history[-1])))
            run, cost, mu = found.run, found.cost, found.next_mu
            if found.decrease <= tolerance * max(abs(cost), floor):
                outcome = OPTIMAL
                break
            if found.gamma < options.min_step and history[-1].cost - cost <= 1e-6 * abs(cost):
                outcome = OPTIMAL_AT_A_SWITCH if found.decrease <= options.far * abs(cost) else DESCENT_STALLED
                break
    except KeyboardInterrupt:
        outcome = STOPPED
    finally:
        search.close()
    return Descent(run, tuple(history), outcome)


def _done(history: list[Iteration], tolerance: float) -> float:
    """Progress from 0 to 1: how far the logarithm of the expected decrease has fallen towards that of the tolerance."""
    sizes = [np.log10(max(i.decrease / max(abs(i.cost), 1e-300), tolerance, 1e-300)) for i in history]
    most = max(sizes)
    return float(np.clip((most - sizes[-1]) / max(most - np.log10(max(tolerance, 1e-300)), 1e-9), 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class _Step:
    run: Rollout
    cost: float
    kind: Kind
    decrease: float
    gamma: float
    mu: float
    next_mu: float


def _step(
    work: MotionExpansion, search: LineSearch, run: Rollout, cost: float, method: Method, mu: float, last: Iteration | None
) -> _Step | None:
    """One iteration: the gains of the projection, a direction, a line search."""
    o = search.options
    certain = method == "newton" or (method == "auto" and last is not None and last.kind == "newton")
    expected = work.bend_along(run) if certain else work.safe_along(run)
    if expected is None:
        free = work.problem.unpriced
        which = f" {', '.join(free[:4])}{' …' if len(free) > 4 else ''}" if free else ""
        raise BunrakuError(
            f"{work.problem.system.figure.name}: the cost does not determine an input{which and ':' + which}\n"
            "  advice: weigh every input: Forces(…) for forces, Speed(…) or Configuration(…) for kinematic variables"
        )
    if certain or (method == "auto" and not _safe_is_fast(expected, cost, last, o.far)):
        if not certain:
            work.bend_along(run)
        found = _newton(work, search, run, cost, mu if expected > o.far * cost else min(mu, o.first_mu))
        if found is not None:
            return found
        work.gauss_newton()
    elif method == "steepest":
        work.steepest()
    change = work.direction(work.newton_gains if method == "steepest" else work.gains)
    slope = work.slope(change)
    better = search.search(run, cost, change, slope, work.gains, shortest=1e-9)
    if better is None:
        if -slope > 1e-9 * abs(cost):
            return None
        better = Trial(run, cost, 0.0)  # the slope is within rounding error
    kind: Kind = "steepest" if method == "steepest" else "gauss-newton"
    return _Step(better.run, better.cost, kind, -slope, better.gamma, 0.0, mu)


def _safe_is_fast(expected: float, cost: float, last: Iteration | None, far: float) -> bool:
    """Whether Gauss–Newton is good enough: far from the optimum, a full step cut the expected decrease to 0.3 of the last."""
    if last is None:
        return True
    return last.kind == "gauss-newton" and last.step == 1.0 and far * cost < expected < 0.3 * last.decrease


def _newton(work: MotionExpansion, search: LineSearch, run: Rollout, cost: float, mu: float) -> _Step | None:
    """A step along Newton's direction, with the first μ that gives a positive Hessian and a lower cost; None if none does."""
    safe, o = work.direction(work.gains), search.options
    while mu <= o.max_mu:
        if work.newton(mu) is None:
            mu = max(4.0 * mu, o.first_mu)
            continue
        change = work.direction(work.newton_gains)
        slope = work.slope(change)
        better = search.search(run, cost, change, slope, work.gains, shortest=0.25)
        if better is not None:
            told = -slope * better.gamma * (1.0 - 0.5 * better.gamma)
            truth = (cost - better.cost) / told if told > o.rounding * abs(cost) else 1.0
            next_mu = _next_mu(mu, better.gamma, truth, o.first_mu)
            if better.gamma == 1.0 and truth > 1.3:
                better = search.further(run, better, change, work.gains)
            if mu > o.race_mu:  # for such a large μ the Gauss–Newton direction may be better
                rival = search.trial(run, safe, 1.0, work.gains)
                if rival is not None and rival.cost < better.cost:
                    return _Step(rival.run, rival.cost, "gauss-newton", -work.slope(safe), 1.0, mu, mu)
            return _Step(better.run, better.cost, "newton", -slope, better.gamma, mu, next_mu)
        if -slope <= 1e-9 * abs(cost):
            return _Step(run, cost, "newton", -slope, 0.0, mu, mu)
        mu = max(8.0 * mu, o.first_mu)
    return None


def _next_mu(mu: float, gamma: float, truth: float, first: float) -> float:
    """Larger if the model predicted the decrease badly, smaller if it predicted it well."""
    if gamma <= 0.25 or truth < 0.25:
        return max(4.0 * mu, first)
    if gamma == 1.0 and truth > 0.6:
        lower = mu / (10.0 if 0.8 < truth < 1.25 else 4.0)
        return lower if lower > 0.1 * first else 0.0
    return mu
