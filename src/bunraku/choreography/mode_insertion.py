"""Insertion of a mode: where does a short interval of another mode lower the cost most?

An interval of length δ with the field g inside a mode with the field f changes the cost by δ ρ·(g − f) to first order, with the
adjoint ρ of eq. 8. The mode is inserted with length zero at the time where this is most negative; optimal timing then gives it a
length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.mode_flow import Field, Flow
from bunraku.choreography.switching_derivatives import first_sweep

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Insertion:
    """The best time to insert a mode."""

    mode: int
    """Index of the mode that it divides."""
    time: float
    """Time at which it is inserted [s]."""
    rate: float
    """Change of the cost per second of the inserted mode, to first order."""

    @property
    def helps(self) -> bool:
        """Whether it lowers the cost."""
        return self.rate < 0.0


def best_insertion(flow: Flow, times: Array, field: Field) -> Insertion:
    """Where a short interval of `field` would lower the cost of a `flow` with switching `times` [s] most."""
    x = flow.run(times)
    rho = first_sweep(*flow.first(times, x))[:, : x.shape[1]]
    t = np.concatenate([[0.0], np.cumsum(flow.lengths(times))])
    fields = [old for old in flow.fields for _ in range(flow.steps)]
    rates = [float(rho[k] @ (field.f(x[k]) - old.f(x[k]))) for k, old in enumerate(fields)]
    best = int(np.argmin(rates))
    return Insertion(best // flow.steps, float(t[best]), rates[best])


def inserted(flow: Flow, times: Array, field: Field, place: Insertion) -> tuple[Flow, Array]:
    """The `flow` with the mode `field` inserted at `place` with length zero, and the new switching times; `times` are the old."""
    i = place.mode
    fields = (*flow.fields[: i + 1], field, *flow.fields[i:])
    return replace(flow, fields=fields), np.concatenate([times[:i], [place.time, place.time], times[i:]])
