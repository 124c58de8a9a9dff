"""Insertion of a mode: would a short stretch of another mode lower the cost, and where most?

A stretch of length δ of the field g inside a mode with the field f changes the cost by δ ρ·(g − f) to first order, with the
adjoint ρ of eq. 8. Where this is most negative the mode goes in, with no length; the switching times then grow it.
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
    """The best place of a mode, and what a second of it there would do to the cost."""

    mode: int
    """The one that it divides."""
    time: float
    rate: float

    @property
    def helps(self) -> bool:
        return self.rate < 0.0


def best_insertion(flow: Flow, times: Array, field: Field) -> Insertion:
    """Where a short stretch of `field` would lower the cost most."""
    x = flow.run(times)
    rho = first_sweep(*flow.first(times, x))[:, : x.shape[1]]
    t = np.concatenate([[0.0], np.cumsum(flow.lengths(times))])
    fields = [old for old in flow.fields for _ in range(flow.steps)]
    rates = [float(rho[k] @ (field.f(x[k]) - old.f(x[k]))) for k, old in enumerate(fields)]
    best = int(np.argmin(rates))
    return Insertion(best // flow.steps, float(t[best]), rates[best])


def inserted(flow: Flow, times: Array, field: Field, place: Insertion) -> tuple[Flow, Array]:
    """The flow with the mode in it, of no length yet, and its switching times."""
    i = place.mode
    fields = (*flow.fields[: i + 1], field, *flow.fields[i:])
    return replace(flow, fields=fields), np.concatenate([times[:i], [place.time, place.time], times[i:]])
