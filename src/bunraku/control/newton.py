"""Descent: Newton's method through the projection operator (*trep*, eq. 7), safe from any start.

The exact Hessian is H_GN + C: the Hessian of Gauss and Newton, which is never negative, and the curvature of steps and cost
contracted with the adjoint, which may be anything. Where H_GN + C is indefinite, and the sweep tells exactly, (1 + μ) H_GN + C
is used, with μ raised until it is positive, and lowered again where the quadratic model turns out to be true. Near an optimum
μ is zero, and the decrease falls quadratically.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.control.control_problem import Broken, Expansion, Problem
from bunraku.control.control_system import Curve, Rollout
from bunraku.errors import BunrakuError

Array = NDArray[np.float64]
Kind = Literal["newton", "gauss-newton", "steepest"]
Method = Literal["auto"] | Kind
ARMIJO = 1e-4
ROUNDING = 1e-14  # of the cost: what summation leaves uncertain
CRAWL = 1e-3  # γ below which a direction leads nowhere
MU_FIRST, MU_RACE, MU_MOST = 0.1, 1.0, 1e4
FAR = 1e-3  # of the cost: an expected decrease beyond which the optimum is not near


class Outcome(Enum):
    """How the search ended; the value is the advice."""

    CONVERGED = "nothing better is near"
    OUT_OF_ITERATIONS = "raise iterations, or loosen tolerance"
    AT_A_SWITCH = "nothing better is near, but strings switch between taut and slack there: the cost has a kink"
    STALLED = "no step along the descent direction lowers the cost: strings that switch between taut and slack may be why"
    BEYOND_LIMITS = "no motion near keeps all limits: loosen one of them, or start elsewhere"
    STOPPED = "stopped by hand: the best so far"


@dataclass(frozen=True)
class Iteration:
    """One step of a descent."""

    number: int
    kind: Kind
    cost: float
    """Before the step."""
    decrease: float
    """−Dg·ζ: what the model expects, twice; the measure of convergence."""
    step: float
    """γ of the line search."""
    mu: float
    slack: int
    """Links that were slack, summed over steps."""
    seconds: float


Monitor = Callable[[Iteration], None]


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent arrived."""

    run: Rollout
    cost: float
    history: tuple[Iteration, ...]
    outcome: Outcome
    mu: float


class Search:
    """The line search: rollouts of ξ + γζ, some side by side on threads."""

    def __init__(self, problem: Problem, threads: int) -> None:
        self.problem, self.threads = problem, max(threads, 1)
        self.pool = ThreadPoolExecutor(self.threads) if threads > 1 else None

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)

    def trial(self, run: Rollout, change: Curve, gamma: float, gains: Array) -> tuple[Rollout, float] | None:
        u = run.u.copy()
        u[:, self.problem.system.chosen] += gamma * change.u
        new = self.problem.project(Curve(run.x + gamma * change.x, u), gains)
        if isinstance(new, Broken):
            return None
        cost = sum(self.problem.cost(new))
        return (new, cost) if np.isfinite(cost) else None

    def search(
        self, run: Rollout, cost: float, change: Curve, slope: float, gains: Array, *, shortest: float
    ) -> tuple[Rollout, float, float] | None:
        """The first of γ = 1, ½, ¼, … that satisfies Armijo's rule; the whole step alone, the others several at a time."""
        steps, width = [0.5**k for k in range(40) if 0.5**k >= shortest], 1
        while steps:
            batch, steps = steps[:width], steps[width:]
            if self.pool is None or len(batch) == 1:
                found = [self.trial(run, change, gamma, gains) for gamma in batch]
            else:
                found = list(self.pool.map(lambda gamma: self.trial(run, change, gamma, gains), batch))
            for gamma, one in zip(batch, found, strict=True):
                if one is not None and one[1] <= cost + ARMIJO * gamma * slope + ROUNDING * abs(cost):
                    return one[0], one[1], gamma
            width = self.threads
        return None

    def further(
        self, run: Rollout, best: tuple[Rollout, float, float], change: Curve, gains: Array
    ) -> tuple[Rollout, float, float]:
        """Where the model promised too little: γ = 2, 4, … as long as that lowers the cost."""
        while True:
            gamma = 2.0 * best[2]
            one = self.trial(run, change, gamma, gains)
            if one is None or one[1] >= best[1]:
                return best
            best = one[0], one[1], gamma


def descend(
    problem: Problem, run: Rollout, *, method: Method = "auto", tolerance: float = 1e-12, iterations: int = 60,
    threads: int = 1, monitor: Monitor | None = None, expansion: Expansion | None = None, mu: float = 0.0, first: int = 0,
) -> Descent:  # fmt: skip
    """From one motion to a better one, until the expected decrease is below `tolerance` of the cost."""
    work = expansion or Expansion(problem)
    search = Search(problem, threads)
    cost = sum(problem.cost(run))
    history: list[Iteration] = []
    outcome, floor = Outcome.OUT_OF_ITERATIONS, 1e-12 * abs(cost)
    try:
        for number in range(first, first + iterations):
            begun = time.perf_counter()
            found = _step(work, search, run, cost, method, mu, history[-1] if history else None)
            if found is None:
                outcome = Outcome.STALLED
                break
            slack = int((run.states == 0).sum())
            history.append(
                Iteration(number, found.kind, cost, found.decrease, found.gamma, found.mu, slack, time.perf_counter() - begun)
            )
            if monitor is not None:
                monitor(history[-1])
            run, cost, mu = found.run, found.cost, found.next_mu
            if found.decrease <= tolerance * max(abs(cost), floor):
                outcome = Outcome.CONVERGED
                break
            if found.gamma < CRAWL and history[-1].cost - cost <= 1e-6 * abs(cost):
                outcome = Outcome.AT_A_SWITCH if found.decrease <= FAR * abs(cost) else Outcome.STALLED
                break
    except KeyboardInterrupt:
        outcome = Outcome.STOPPED
    finally:
        search.close()
    return Descent(run, cost, tuple(history), outcome, mu)


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
    work: Expansion, search: Search, run: Rollout, cost: float, method: Method, mu: float, last: Iteration | None
) -> _Step | None:
    """One iteration: the gains of the projection, a direction, a line search."""
    certain = method == "newton" or (method == "auto" and last is not None and last.kind == "newton")
    expected = work.bend_along(run) if certain else work.safe_along(run)
    if expected is None:
        free = work.problem.unpriced
        which = f" {', '.join(free[:4])}{' …' if len(free) > 4 else ''}" if free else ""
        raise BunrakuError(
            f"{work.problem.system.figure.name}: the cost leaves an input free{which and ':' + which}\n"
            "  advice: weigh every input: Forces(…) for forces, Speed(…) or Configuration(…) for kinematic variables"
        )
    if certain or (method == "auto" and not _safe_is_fast(expected, cost, last)):
        if not certain:
            work.bend_along(run)
        found = _newton(work, search, run, cost, mu if expected > FAR * cost else min(mu, MU_FIRST))
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
        better = run, cost, 0.0  # nothing is left but rounding
    kind: Kind = "steepest" if method == "steepest" else "gauss-newton"
    return _Step(better[0], better[1], kind, -slope, better[2], 0.0, mu)


def _safe_is_fast(expected: float, cost: float, last: Iteration | None) -> bool:
    """Far from the optimum, as long as whole steps of Gauss and Newton shrink the expected decrease threefold, curvature is
    not worth its price."""
    if last is None:
        return True
    return last.kind == "gauss-newton" and last.step == 1.0 and FAR * cost < expected < 0.3 * last.decrease


def _newton(work: Expansion, search: Search, run: Rollout, cost: float, mu: float) -> _Step | None:
    """Newton's direction with the smallest μ at hand that makes the Hessian positive and the model true."""
    safe = work.direction(work.gains)
    while mu <= MU_MOST:
        if work.newton(mu) is None:
            mu = max(4.0 * mu, MU_FIRST)
            continue
        change = work.direction(work.newton_gains)
        slope = work.slope(change)
        better = search.search(run, cost, change, slope, work.gains, shortest=0.25)
        if better is not None:
            told = -slope * better[2] * (1.0 - 0.5 * better[2])
            truth = (cost - better[1]) / told if told > ROUNDING * abs(cost) else 1.0
            next_mu = _next_mu(mu, better[2], truth)
            if better[2] == 1.0 and truth > 1.3:
                better = search.further(run, better, change, work.gains)
            if mu > MU_RACE:  # the curvature had to be tamed so much that the safe direction may be the better one
                rival = search.trial(run, safe, 1.0, work.gains)
                if rival is not None and rival[1] < better[1]:
                    return _Step(rival[0], rival[1], "gauss-newton", -work.slope(safe), 1.0, mu, mu)
            return _Step(better[0], better[1], "newton", -slope, better[2], mu, next_mu)
        if -slope <= 1e-9 * abs(cost):
            return _Step(run, cost, "newton", -slope, 0.0, mu, mu)
        mu = max(8.0 * mu, MU_FIRST)
    return None


def _next_mu(mu: float, gamma: float, truth: float) -> float:
    """Larger where the model lied, smaller where it was true."""
    if gamma <= 0.25 or truth < 0.25:
        return max(4.0 * mu, MU_FIRST)
    if gamma == 1.0 and truth > 0.6:
        lower = mu / (10.0 if 0.8 < truth < 1.25 else 4.0)
        return lower if lower > 0.1 * MU_FIRST else 0.0
    return mu
