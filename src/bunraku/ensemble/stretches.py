"""Stretches: which parts of a motion are to be mended, which could not be, and what belongs to whom.

While one stretch is mended, what touches in another is not in its way: that is mended later. What turned out to be beyond mending
may stay as it is, but must get no deeper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.residual import Residual, Spots

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
ROUNDING = 1e-7  # [m] of distances


@dataclass(frozen=True, eq=False)
class Failure:
    """Why a stretch could not be mended, at which sample, and how near each pair of its things is in what was given [m]."""

    why: str
    sample: int
    depths: dict[tuple[int, int], float]
    fixed: str = ""
    """The agent of which a leg, or the base, touches something: no posture helps while it passes there."""


class Stretches:
    """Those of a motion that was given (T, n), the earliest first; `ease` samples apart are two."""

    def __init__(self, residual: Residual, given: Array, ease: float) -> None:
        self.residual, self.given = residual, given
        self.spots = residual.stretches(residual.everywhere(given), ease, len(given) - 1)
        self.failed: dict[int, Failure] = {}

    def __len__(self) -> int:
        return len(self.spots)

    @property
    def first(self) -> Failure | None:
        """The earliest that could not be mended."""
        return self.failed[min(self.failed)] if self.failed else None

    def fail(self, number: int, why: str, place: float, fixed: str = "") -> None:
        self.failed[number] = Failure(why, round(place), self.residual.depths(self.given, self.spots[number]), fixed)

    def deeper(self, number: int, Q: Array) -> bool:
        """Whether one that could not be mended is deeper in Q than it was."""
        depths, now = self.failed[number].depths, self.residual.depths(Q, self.spots[number])
        return any(depth < depths[pair] - ROUNDING for pair, depth in now.items())

    def ignored(self, number: int) -> frozenset[tuple[int, int]]:
        """Pairs of things of the others at the time of one."""
        begin, end = float(self.spots[number].place.min()), float(self.spots[number].place.max())
        now = [o for o in self._others(number).values() if o.place.min() < end + 1.0 and o.place.max() > begin - 1.0]
        return frozenset((a, b) for other in now for a, b in other.things.tolist())

    def left(self, number: int, spots: Spots) -> Spots:
        """Without what belongs to others: to be mended later, or beyond mending and, at samples, no deeper than it was."""
        theirs, deeper = np.zeros(len(spots), np.bool_), np.zeros(len(spots), np.bool_)
        for k, other in self._others(number).items():
            among = spots.among(other)
            theirs |= among
            if k in self.failed:
                deeper |= self._deeper(spots, among & (spots.place % 1.0 == 0.0), self.failed[k])
        return spots.where(~theirs | deeper)

    def _others(self, number: int) -> dict[int, Spots]:
        return {k: other for k, other in enumerate(self.spots) if k > number or k in self.failed}

    def _deeper(self, spots: Spots, which: Bools, failure: Failure) -> Bools:
        out = np.zeros(len(spots), np.bool_)
        for k in np.flatnonzero(which).tolist():
            a, b = spots.things[k].tolist()
            out[k] = spots.value[k] < failure.depths[a, b] - ROUNDING
        return out
