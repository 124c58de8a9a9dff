"""How a solve ended, and where."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief

if TYPE_CHECKING:
    from bunraku.kinematics.inverse.solver import Inverse

Array = NDArray[np.float64]


class Outcome(enum.Enum):
    """How a solve ended; its value is the advice."""

    CONVERGED = "every task is fulfilled"
    STALLED = "nothing comes closer: out of reach, or tasks pull against each other; give one of them a higher priority"
    LIMITS = "limits hold it back: widen them, let more variables move, or start elsewhere"
    EXHAUSTED = "still coming closer: allow more iterations"

    @property
    def advice(self) -> str:
        return self.value


@dataclass(frozen=True, eq=False)
class Solution:
    """Where a solve ended."""

    q: Array
    outcome: Outcome
    iterations: int
    _inverse: Inverse = field(repr=False)
    _aims: Array = field(repr=False)

    __repr__ = brief

    @functools.cached_property
    def errors(self) -> dict[str, float]:
        """How far each task is from fulfilled [m or rad], by its title."""
        return self._inverse.errors(self.q, self._aims)

    @functools.cached_property
    def at_limits(self) -> tuple[str, ...]:
        """Variables that are at one of their limits."""
        lower, upper = self._inverse.figure.limits
        touching = (self.q <= lower + 1e-9) | (self.q >= upper - 1e-9)
        return tuple(name for name, there in zip(self._inverse.figure.names, touching, strict=True) if there)

    @property
    def advice(self) -> str:
        """What to do about it, with names."""
        if self.outcome is Outcome.CONVERGED:
            return self.outcome.advice
        worst = max(self.errors, key=self.errors.__getitem__, default="")
        text = f"{worst} is off by {self.errors[worst]:.3g}; " if worst else ""
        if self.outcome is Outcome.LIMITS and self.at_limits:
            text += f"at their limits: {', '.join(self.at_limits[:6])}{' …' if len(self.at_limits) > 6 else ''}; "
        return text + self.outcome.advice
