"""The numbers that tune inverse kinematics: those that a caller chooses, and those of the descent itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bunraku.errors import BunrakuError


@dataclass(frozen=True)
class InverseOptions:
    """When a solve ends, and how careful its steps are."""

    iterations: int = 100
    """At most this many steps from each start."""
    tolerance: float = 1e-8
    """A task is fulfilled where no entry of its error is larger [m or rad]."""
    still: float = 1e-6
    """A solve has converged where, besides, the next step would change no variable by more [m or rad]: a posture of low priority
    is then nearly where it settles."""
    tries: int = 1
    """At most this many starts: the first at q, the others at random within the joint limits. The first that converges counts,
    or else the best."""
    damping: float = 1e-6
    """The least damping of a step, in squared units of the tasks per squared unit of a variable. More keeps q steadier near
    singular configurations and slows the solve down."""
    largest_step: float = 0.5
    """With limits of one's own (`Bound`), a step changes no variable by more [m or rad]: they are kept to first order only."""
    limit_slack: float = 1e-3
    """By how much a limit of one's own may be missed while q slides along it [in its own unit]."""
    halvings: int = 12
    """A step that would break such a limit is halved at most this often; then q stays."""

    def __post_init__(self) -> None:
        if not 0.0 < self.damping < np.inf:
            raise BunrakuError(f"damping must be positive, got {self.damping}")


class DescentNumbers(NamedTuple):
    """What the kernels of the descent use; read as `DESCENT.funnel`, which numba takes for a constant."""

    error_damping: float = 0.1
    """Damping added for each unit of weighted squared error: far from the target, derivatives are not to be trusted far."""
    dependent_row: float = 1e-6
    """A row of which less than this part is left, once the rows above it are taken out, depends on them."""
    funnel: float = 0.05
    """A strict level that was fulfilled at first may be off by this much on the way [m or rad]."""
    min_gain: float = 1e-10
    """A level that would gain a smaller part of its squared error does not judge a step,"""
    min_gain_of_many: float = 1e-4
    """nor one that would gain less than this, where there are several levels that disturb each other."""
    idle_steps: int = 8
    """The descent ends after this many steps that change no error."""
    mending_steps: int = 12
    """Steps that bring the highest level back, where a descent ends in the middle."""
    stopped: float = 1e-10
    """Where no variable would change by more than this, nothing moves any more [rad or m]."""
    largest_turn: float = 1.0
    """No variable turns by more in one step: beyond it, a first derivative says nothing [rad]."""


DESCENT = DescentNumbers()
