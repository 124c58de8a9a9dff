"""How a solve of inverse kinematics ended, and where."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.outcome import STOPPED, Outcome

if TYPE_CHECKING:
    from bunraku.kinematics.inverse.solver import Inverse

Array = NDArray[np.float64]


class SolveStatus(enum.IntEnum):
    """How a step or a solve ended, as kernels report it."""

    CONVERGED = 0
    STALLED = 1
    AT_LIMITS = 2
    OUT_OF_ITERATIONS = 3
    NOT_FINITE = 4
    BEYOND_LIMITS = 5
    """For a step only: it does not keep the limits, and must not be used."""
    INTERRUPTED = 6
    """By Ctrl-C."""


SOLVE_OUTCOMES = {
    SolveStatus.CONVERGED: Outcome(True, "converged", "every task is fulfilled"),
    SolveStatus.STALLED: Outcome(
        False, "stalled", "no step reduces the errors",
        "the target is out of reach, or tasks pull against each other: give one of them a higher priority",
    ),
    SolveStatus.AT_LIMITS: Outcome(
        False, "at limits", "limits prevent more", "widen them, let more variables move, or start from another q"
    ),
    SolveStatus.OUT_OF_ITERATIONS: Outcome(
        False, "out of iterations", "the errors were still decreasing",
        "allow more iterations; if that does not help, the target is out of reach",
    ),
    SolveStatus.INTERRUPTED: STOPPED,
}  # fmt: skip
"""How a solve may end. `Solution.outcome` adds which task has the largest error, and which limits are reached."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a solve."""

    q: Array
    """The configuration."""
    iterations: int
    """How many steps it took."""
    _status: SolveStatus = field(repr=False)
    _inverse: Inverse = field(repr=False)
    _aims: Array = field(repr=False)

    __repr__ = brief

    def __str__(self) -> str:
        return f"{self.outcome}\nafter {self.iterations} iterations"

    @property
    def converged(self) -> bool:
        """Whether every task is fulfilled."""
        return self._status == SolveStatus.CONVERGED

    @functools.cached_property
    def outcome(self) -> Outcome:
        """How it ended: `outcome.ok` if every task is fulfilled, else which task has the largest error, and what to do about it."""
        outcome = SOLVE_OUTCOMES[self._status]
        if outcome.ok:
            return outcome
        why = [outcome.why]
        if worst := max(self.errors, key=self.errors.__getitem__, default=""):
            why.append(f"{worst} is off by {self.errors[worst]:.3g}")
        if self._status == SolveStatus.AT_LIMITS and self.at_limits:
            why.append(f"at their limits: {', '.join(self.at_limits[:6])}{' …' if len(self.at_limits) > 6 else ''}")
        return outcome.because("; ".join(why))

    @functools.cached_property
    def errors(self) -> dict[str, float]:
        """How far each task is from fulfilled [m or rad], by its title."""
        return self._inverse.errors(self.q, self._aims)

    @functools.cached_property
    def at_limits(self) -> tuple[str, ...]:
        """Names of the variables that are at one of their joint limits."""
        lower, upper = self._inverse.figure.limits
        touching = (self.q <= lower + 1e-9) | (self.q >= upper - 1e-9)
        return tuple(name for name, there in zip(self._inverse.figure.names, touching, strict=True) if there)
