"""The numbers that tune inverse kinematics: those that a caller chooses, and those of the algorithm itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bunraku.errors import BunrakuError


@dataclass(frozen=True)
class InverseOptions:
    """When a solve ends, and how its steps are damped and limited."""

    iterations: int = 100
    """At most this many steps from each start."""
    tolerance: float = 1e-8
    """A task is fulfilled if no entry of its error is larger than this [m or rad]."""
    still: float = 1e-6
    """A solve has converged if, in addition, the next step would change no variable by more than this [m or rad]: a posture of
    low priority has then nearly settled."""
    tries: int = 1
    """At most this many starts: the first at q, the others at random within the joint limits. The result is the first that
    converges, or else the best."""
    damping: float = 1e-6
    """The least damping of a step, in squared units of the tasks per squared unit of a variable. More keeps q steadier near
    singular configurations and slows the solve down."""
    largest_step: float = 0.5
    """With limits given as `Bound`, a step changes no variable by more than this [m or rad]: they hold to first order only."""
    limit_slack: float = 1e-3
    """By how much such a limit may be violated while q slides along it [in its own unit]."""
    halvings: int = 12
    """A step that would violate such a limit is halved at most this often; then q stays where it is."""

    def __post_init__(self) -> None:
        if not 0.0 < self.damping < np.inf:
            raise BunrakuError(f"damping must be positive, got {self.damping}")


class DescentNumbers(NamedTuple):
    """Constants of the kernels that search; used as `DESCENT.funnel`, which numba compiles as a constant."""

    error_damping: float = 0.1
    """Damping added per unit of weighted squared error: far from the target, the linearization holds for short steps only."""
    dependent_row: float = 1e-6
    """A row is linearly dependent on those above if, without its components along them, less than this fraction is left."""
    funnel: float = 0.05
    """The error that a strict level, even if fulfilled at first, may have during the search [m or rad]."""
    min_gain: float = 1e-10
    """With one level: it decides on a step only if the step should reduce its squared error by more than this fraction."""
    min_gain_of_many: float = 1e-4
    """The same with several levels, which disturb each other."""
    idle_steps: int = 8
    """The search ends after this many steps that change no error."""
    mending_steps: int = 12
    """The most steps that correct the highest level after a search that ended early."""
    stopped: float = 1e-10
    """The search ends if no variable would change by more than this [rad or m]."""
    largest_turn: float = 1.0
    """No joint turns by more than this in one step, beyond which the linearization is useless [rad]."""


DESCENT = DescentNumbers()
