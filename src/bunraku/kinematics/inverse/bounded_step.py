"""One step of inverse kinematics under inequalities: a cascade of small quadratic programs.

Where the step without limits keeps them it is the answer, and no program is solved at all. daqp was the fastest of
four on programs of 30 variables (28 µs with loose limits and 70 µs with a third of them active, against quadprog's 37
and 132, piqp's 116 and 88, proxqp's 134 and failures).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import daqp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Programs:
    """Levels as `damped_step.programs` lays them out, over n moving variables."""

    H: Array
    """Quadratic and"""
    f: Array
    """linear parts of every level, (levels, n, n) and (levels, n)."""
    low: Array
    """How far each variable may move in this step [rad or m],"""
    high: Array
    """down and up."""
    basis: Array
    """Orthonormal directions that the strict levels settle,"""
    ranks: NDArray[np.int64]
    """and how many of them the levels above each one do."""

    @classmethod
    def empty(cls, levels: int, strict_rows: int, n: int) -> Programs:
        """Room for so many `levels`, of which all but the last have `strict_rows` together, over `n` moving variables."""
        return cls(
            np.empty((levels, n, n)), np.empty((levels, n)), np.empty(n), np.empty(n), np.empty((min(strict_rows, n), n)),
            np.zeros(levels, np.int64),
        )  # fmt: skip

    def solve(self, value: Array, value_dq: Array) -> Array:
        """The step that serves the levels in turn within the box and, where that is possible, with
        value + value_dq·dq ≥ 0."""
        n, m, far = len(self.low), len(value), 1e30  # daqp's infinity
        equal, soft = 5, 8  # daqp's codes for kinds of constraint
        lower, upper = np.maximum(self.low, -far), np.minimum(self.high, far)
        kinds = np.zeros(n + m, np.intc)
        kinds[n:] = soft
        dq = np.clip(np.zeros(n), lower, upper)
        for H, f, rank in zip(self.H, self.f, self.ranks.tolist(), strict=True):
            held = self.basis[:rank]
            at = held @ dq
            better, _, flag, _ = daqp.solve(
                H, f, np.concatenate([value_dq, held]), np.concatenate([upper, np.full(m, far), at]),
                np.concatenate([lower, -value, at]), np.concatenate([kinds, np.full(rank, equal, np.intc)]),
            )  # fmt: skip
            if flag <= 0:
                break  # what the higher levels found keeps every limit
            dq = np.clip(better, lower, upper)
        return dq


def halved(dq: Array, moved: Callable[[Array], Array], fine: Callable[[Array], bool], halvings: int) -> Array:
    """Where a step leads, halved until that is fine: a program knows limits only to first order, and they bend.

    `moved` gives q after a step `dq`, `fine` says whether the limits hold there. Stays where it is after so many `halvings`.
    """
    for _ in range(halvings):
        if fine(new := moved(dq)):
            return new
        dq = 0.5 * dq
    return moved(0.0 * dq)
