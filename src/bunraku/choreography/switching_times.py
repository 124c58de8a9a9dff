"""Optimal timing: Newton's method on switching times, which keep their order and the minimum duration of each mode.

Each iteration solves a small quadratic program with the exact second derivative. If that is not positive definite, its eigenvalues
are replaced by their absolute values. Armijo's rule determines the step length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import daqp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.choreography.show_outcomes import TIMES_AT_ROUNDING, TIMES_OPTIMAL, TIMES_STILL_FALLING
from bunraku.choreography.switching_derivatives import Switched, expand
from bunraku.errors import BunrakuError, NotFinite
from bunraku.outcome import STOPPED, Outcome
from bunraku.progress import Listener, Progress

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TimesOptions:
    """Numbers that tune the search for switching times."""

    iterations: int = 100
    """Maximum number of iterations."""
    tolerance: float = 1e-12
    """The search ends when the expected decrease of the cost is below this."""
    least_decrease: float = 1e-4
    """Share of the decrease promised by the slope that a step must achieve (Armijo's rule)."""
    least_step: float = 1e-9
    """Share of the full step below which the line search gives up."""
    least_curvature: float = 1e-9
    """Smallest eigenvalue of the second derivative that is used, as a share of the largest."""


@dataclass(frozen=True, eq=False)
class TimeLimits:
    """Linear limits of switching times τ: rows · τ ≤ bound."""

    rows: Array
    bound: Array

    @staticmethod
    def ordered(count: int, end: float, *, shortest: ArrayLike = 0.0) -> TimeLimits:
        """0 ≤ τ₁ ≤ … ≤ τ_m ≤ end.

        count: m, the number of switching times.
        end: end of the last mode [s].
        shortest: minimum duration of each mode [s]: one number, or one for each of the m + 1 modes.

        Raises BunrakuError if the minimum durations do not fit before `end`.
        """
        least = np.broadcast_to(np.asarray(shortest, float), count + 1)
        if least.sum() > end:
            raise BunrakuError(
                f"the modes last at least {least.sum():g} s, and do not fit into {end:g} s\n"
                "  advice: allow shorter modes, or a later end"
            )
        rows = np.zeros((count + 1, count))
        rows[np.arange(count), np.arange(count)] = -1.0
        rows[np.arange(1, count + 1), np.arange(count)] = 1.0
        bound = -least.copy()
        bound[-1] += end
        return TimeLimits(rows, bound)

    def and_also(self, other: TimeLimits) -> TimeLimits:
        """These limits and `other` ones combined."""
        return TimeLimits(np.concatenate([self.rows, other.rows]), np.concatenate([self.bound, other.bound]))

    def broken(self, times: Array) -> float:
        """The largest violation of a limit by `times` [s]; 0 if there is none."""
        return float(np.max(self.rows @ times - self.bound, initial=0.0))

    def nearest(self, times: Array) -> Array:
        """The allowed times nearest to `times`; raises BunrakuError if no times are allowed."""
        found = self.step(np.eye(len(times)), np.zeros(len(times)), times)
        if found is None:
            raise BunrakuError("no times satisfy all limits at once\n  advice: allow shorter modes or wider windows")
        return times + found

    def step(self, H: Array, g: Array, times: Array) -> Array | None:
        """argmin g·s + ½ s·H s such that times + s is allowed; None if there is no such s."""
        if not len(times):
            return np.zeros(0)
        room = self.bound - self.rows @ times
        unbounded = np.full(len(room), -1e30)  # DAQP's value for "no bound"
        s, _, flag, _ = daqp.solve(
            np.ascontiguousarray(H), np.ascontiguousarray(g), np.ascontiguousarray(self.rows), room, unbounded,
            np.zeros(len(room), np.intc),
        )  # fmt: skip
        return np.array(s) if flag > 0 else None


@dataclass(frozen=True, eq=False)
class OptimalTimes:
    """The switching times found, their cost, and the record of all iterations."""

    times: Array
    cost: float
    outcome: Outcome
    costs: tuple[float, ...]
    promised: tuple[float, ...]
    """The decrease that each iteration expected. With Newton's method the last ones converge quadratically."""

    __repr__ = brief

    @property
    def iterations(self) -> int:
        """Number of steps taken."""
        return len(self.promised) - 1


@dataclass(frozen=True)
class _Search:
    systems: Sequence[Switched]
    limits: TimeLimits
    newton: bool
    options: TimesOptions
    history: list[tuple[float, float]] = field(default_factory=list)

    def direction(self, times: Array, rate: float) -> tuple[float, Array, Array]:
        here = [expand(system, times, second=self.newton) for system in self.systems]
        cost, slope = sum(e.cost for e in here), np.sum([e.gradient for e in here], 0)
        if not (np.isfinite(cost) and np.isfinite(slope).all()):
            raise NotFinite("the cost of the switching times is not a finite number")
        H = self._convex(np.sum([e.hessian for e in here], 0)) if self.newton else np.eye(len(times)) / rate
        s = self.limits.step(H, slope, times)
        return cost, slope, np.zeros(len(times)) if s is None else s

    def cost(self, times: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            found = sum(system.cost(times, system.run(times)) for system in self.systems)
        return found if np.isfinite(found) else np.inf

    def _convex(self, H: Array) -> Array:
        """H with the absolute values of its eigenvalues, so that it is positive definite."""
        values, vectors = np.linalg.eigh(H)
        size = np.abs(values)
        least = max(self.options.least_curvature * size.max(initial=0.0), 1e-14)
        return np.asarray((vectors * np.maximum(size, least)) @ vectors.T)

    def armijo(self, tau: Array, s: Array, cost: float, hope: float) -> float:
        """The share of the step s that lowers the cost enough; 0 if none does."""
        part = 1.0
        while part > self.options.least_step:
            if self.cost(tau + part * s) <= cost - self.options.least_decrease * part * hope:
                return part
            part *= 0.5
        return 0.0


def optimize_times(
    *systems: Switched, times: ArrayLike, limits: TimeLimits, method: str = "newton", options: TimesOptions = TimesOptions(),
    progress: Listener | None = None,
) -> OptimalTimes:  # fmt: skip
    """The best switching times near `times`, for all `systems` together. The search uses no random numbers.

    systems: switched systems whose costs are summed.
    times: initial times [s]; they are first moved to the nearest times that `limits` allow.
    limits: limits of the times.
    method: "newton", or "gradient", which ignores the second derivative, for comparison.
    options: iterations, tolerance, line search.
    progress: called at every iteration, as stage "timing".

    Returns the times with their outcome. Ctrl-C returns the best so far, with an outcome of kind "stopped". Raises BunrakuError if
    no times are allowed or `method` is unknown, NotFinite if the cost is not a finite number.
    """
    if method not in ("newton", "gradient"):
        raise BunrakuError(f"no method {method!r}\n  advice: use newton or gradient")
    search = _Search(systems, limits, method == "newton", options)
    tau, rate, outcome = limits.nearest(np.array(times, float)), 1.0, TIMES_STILL_FALLING
    try:
        for iteration in range(options.iterations + 1):
            cost, slope, s = search.direction(tau, rate)
            hope = -float(slope @ s)
            search.history.append((cost, hope))
            if progress is not None:
                progress(Progress("timing", iteration / max(options.iterations, 1), f"cost {cost:.6g}"))
            if hope <= options.tolerance:
                outcome = TIMES_OPTIMAL
                break
            if iteration == options.iterations:
                break
            part = search.armijo(tau, s, cost, hope)
            if part == 0.0:
                outcome = TIMES_AT_ROUNDING
                break
            tau = tau + part * s
            rate *= 2.0 if part == 1.0 else part
    except KeyboardInterrupt:
        outcome = STOPPED
    costs, hopes = zip(*search.history, strict=True) if search.history else ((), ())
    return OptimalTimes(tau, costs[-1] if costs else search.cost(tau), outcome, costs, hopes)
