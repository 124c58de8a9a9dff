"""Optimal timing: Newton's method on switching times, in their order, no mode shorter than it may be.

Each iteration solves a small quadratic program with the exact second derivative, made positive definite by its absolute
eigenvalues where it is not, and goes along its step as far as Armijo's rule allows.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import daqp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.choreography.switching_derivatives import Switched, expand
from bunraku.errors import BunrakuError, NotFinite

Array = NDArray[np.float64]
FAR = 1e30
ENOUGH = 1e-4  # of the decrease that the slope promises (Armijo)
FLATTEST = 1e-9  # eigenvalue beside the largest one


class Outcome(enum.Enum):
    """How the search for times ended; its value is the advice."""

    OPTIMAL = "no shift of the switching times lowers the cost"
    STALLED = "rounding hides any further decrease: the times are as good as the cost can tell"
    EXHAUSTED = "the cost still falls: allow more iterations"

    @property
    def advice(self) -> str:
        return self.value


@dataclass(frozen=True, eq=False)
class Limits:
    """What switching times must keep: rows · τ ≤ bound."""

    rows: Array
    bound: Array

    @staticmethod
    def ordered(count: int, end: float, *, shortest: ArrayLike = 0.0) -> Limits:
        """0 ≤ τ₁ ≤ … ≤ τ_m ≤ end, with modes that last `shortest` at least (one number, or one a mode)."""
        least = np.broadcast_to(np.asarray(shortest, float), count + 1)
        if least.sum() > end:
            raise BunrakuError(
                f"modes of {least.sum():g} s at least do not fit into {end:g} s\n  advice: shorten them, or give them more time"
            )
        rows = np.zeros((count + 1, count))
        rows[np.arange(count), np.arange(count)] = -1.0
        rows[np.arange(1, count + 1), np.arange(count)] = 1.0
        bound = -least.copy()
        bound[-1] += end
        return Limits(rows, bound)

    def and_also(self, other: Limits) -> Limits:
        return Limits(np.concatenate([self.rows, other.rows]), np.concatenate([self.bound, other.bound]))

    def broken(self, times: Array) -> float:
        """By how much [s]."""
        return float(np.max(self.rows @ times - self.bound, initial=0.0))

    def nearest(self, times: Array) -> Array:
        """The allowed times that are nearest to these."""
        found = self.step(np.eye(len(times)), np.zeros(len(times)), times)
        if found is None:
            raise BunrakuError("no times satisfy all limits at once\n  advice: allow shorter modes or wider windows")
        return times + found

    def step(self, H: Array, g: Array, times: Array) -> Array | None:
        """argmin g·s + ½ s·H s such that times + s is allowed."""
        if not len(times):
            return np.zeros(0)
        room = self.bound - self.rows @ times
        s, _, flag, _ = daqp.solve(
            np.ascontiguousarray(H), np.ascontiguousarray(g), np.ascontiguousarray(self.rows), room, np.full(len(room), -FAR),
            np.zeros(len(room), np.intc),
        )  # fmt: skip
        return np.array(s) if flag > 0 else None


@dataclass(frozen=True, eq=False)
class Timing:
    """The times that were found, their cost, and how each iteration went."""

    times: Array
    cost: float
    outcome: Outcome
    costs: tuple[float, ...]
    promised: tuple[float, ...]
    """The decrease that each iteration hoped for: its last ones fall quadratically with Newton's method."""

    __repr__ = brief

    @property
    def iterations(self) -> int:
        return len(self.promised) - 1


@dataclass(frozen=True)
class _Search:
    systems: Sequence[Switched]
    limits: Limits
    newton: bool
    progress: Callable[[int, float], None] | None
    history: list[tuple[float, float]] = field(default_factory=list)

    def direction(self, times: Array, rate: float) -> tuple[float, Array, Array]:
        here = [expand(system, times, second=self.newton) for system in self.systems]
        cost, slope = sum(e.cost for e in here), np.sum([e.gradient for e in here], 0)
        if not (np.isfinite(cost) and np.isfinite(slope).all()):
            raise NotFinite("the cost of the switching times is not a finite number")
        H = _convex(np.sum([e.hessian for e in here], 0)) if self.newton else np.eye(len(times)) / rate
        s = self.limits.step(H, slope, times)
        return cost, slope, np.zeros(len(times)) if s is None else s

    def cost(self, times: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            found = sum(system.cost(times, system.run(times)) for system in self.systems)
        return found if np.isfinite(found) else np.inf


def optimize_times(
    *systems: Switched, times: ArrayLike, limits: Limits, method: str = "newton", most: int = 100, tolerance: float = 1e-12,
    progress: Callable[[int, float], None] | None = None,
) -> Timing:  # fmt: skip
    """The best switching times near `times`, for all systems together. `method` "gradient" leaves the second derivative
    aside, to compare.

    It ends when an iteration hopes to lower the cost by less than `tolerance`. Ctrl-C returns the best so far.
    """
    if method not in ("newton", "gradient"):
        raise BunrakuError(f"no method {method!r}\n  advice: newton or gradient")
    search = _Search(systems, limits, method == "newton", progress)
    tau, rate, outcome = limits.nearest(np.array(times, float)), 1.0, Outcome.EXHAUSTED
    try:
        for iteration in range(most + 1):
            cost, slope, s = search.direction(tau, rate)
            hope = -float(slope @ s)
            search.history.append((cost, hope))
            if progress is not None:
                progress(iteration, cost)
            if hope <= tolerance:
                outcome = Outcome.OPTIMAL
                break
            if iteration == most:
                break
            part = _armijo(search, tau, s, cost, hope)
            if part == 0.0:
                outcome = Outcome.STALLED
                break
            tau = tau + part * s
            rate *= 2.0 if part == 1.0 else part
    except KeyboardInterrupt:
        pass
    costs, hopes = zip(*search.history, strict=True) if search.history else ((), ())
    return Timing(tau, costs[-1] if costs else search.cost(tau), outcome, costs, hopes)


def _convex(H: Array) -> Array:
    """H with the absolute values of its eigenvalues: what is a ridge becomes a valley."""
    values, vectors = np.linalg.eigh(H)
    size = np.abs(values)
    return np.asarray((vectors * np.maximum(size, max(FLATTEST * size.max(initial=0.0), 1e-14))) @ vectors.T)


def _armijo(search: _Search, tau: Array, s: Array, cost: float, hope: float) -> float:
    part = 1.0
    while part > 1e-9:
        if search.cost(tau + part * s) <= cost - ENOUGH * part * hope:
            return part
        part *= 0.5
    return 0.0
