"""Stretches: parts of a motion with collisions that are to be mended, and those that could not be.

While one stretch is mended, collisions of other stretches are ignored: they are mended later. A stretch that could not be mended
may stay as it is, but must not get deeper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.residual import Residual, Spots

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Failure:
    """Why a stretch could not be mended."""

    why: str
    sample: int
    """The sample."""
    depths: dict[tuple[int, int], float]
    """Distance of each of its pairs in the original motion [m]."""
    fixed: str = ""
    """An agent whose leg or base collides, so that no posture helps; empty if there is none."""


class Stretches:
    """The stretches of the original motion `given` (T, n) in which the `residual` finds collisions, earliest first.

    Collisions that are more than `ease` samples apart belong to different stretches.
    """

    def __init__(self, residual: Residual, given: Array, ease: float) -> None:
        self.residual, self.given = residual, given
        self.spots = residual.stretches(residual.everywhere(given), ease, len(given) - 1)
        self.failed: dict[int, Failure] = {}

    def __len__(self) -> int:
        return len(self.spots)

    @property
    def first(self) -> Failure | None:
        """The earliest stretch that could not be mended."""
        return self.failed[min(self.failed)] if self.failed else None

    def fail(self, number: int, why: str, place: float, fixed: str = "") -> None:
        """Records that stretch `number` cannot be mended: `why`, at which `place` [samples], and the agent `fixed`."""
        self.failed[number] = Failure(why, round(place), self.residual.depths(self.given, self.spots[number]), fixed)

    def deeper(self, number: int, Q: Array) -> bool:
        """Whether stretch `number`, which could not be mended, is deeper in `Q` (T, n) than in the original motion."""
        depths, now = self.failed[number].depths, self.residual.depths(Q, self.spots[number])
        return any(depth < depths[pair] - self.residual.options.rounding for pair, depth in now.items())

    def ignored(self, number: int) -> frozenset[tuple[int, int]]:
        """Pairs of shapes of other stretches that overlap in time with stretch `number`."""
        begin, end = float(self.spots[number].place.min()), float(self.spots[number].place.max())
        now = [o for o in self._others(number).values() if o.place.min() < end + 1.0 and o.place.max() > begin - 1.0]
        return frozenset((a, b) for other in now for a, b in other.things.tolist())

    def left(self, number: int, spots: Spots) -> Spots:
        """The `spots` that stretch `number` must still remove.

        Left out are those of later stretches, and those of stretches that could not be mended if they are no deeper than before.
        """
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
            out[k] = spots.value[k] < failure.depths[a, b] - self.residual.options.rounding
        return out
