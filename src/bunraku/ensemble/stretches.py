"""Stretches: the parts of a motion that have to be mended, and those that could not be.

While one stretch is mended, what touches in another is ignored: that is mended later. A stretch that could not be mended may stay
as it is, but must get no deeper.
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
    """At which."""
    depths: dict[tuple[int, int], float]
    """The distance of each pair of its things in the motion that was given [m]."""
    fixed: str = ""
    """The agent of which a leg, or the base, touches something: no posture helps while it passes there."""


class Stretches:
    """The stretches of a motion `given` (T, n) at which the `residual` is not empty, the earliest first.

    Those that are more than `ease` samples apart are two.
    """

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
        """Notes that the stretch of this `number` cannot be mended: `why`, at which `place` [samples], and the agent `fixed`."""
        self.failed[number] = Failure(why, round(place), self.residual.depths(self.given, self.spots[number]), fixed)

    def deeper(self, number: int, Q: Array) -> bool:
        """Whether the stretch of this `number`, which could not be mended, is deeper in `Q` (T, n) than in the motion given."""
        depths, now = self.failed[number].depths, self.residual.depths(Q, self.spots[number])
        return any(depth < depths[pair] - self.residual.options.rounding for pair, depth in now.items())

    def ignored(self, number: int) -> frozenset[tuple[int, int]]:
        """Pairs of things that other stretches have at the time of the one of this `number`."""
        begin, end = float(self.spots[number].place.min()), float(self.spots[number].place.max())
        now = [o for o in self._others(number).values() if o.place.min() < end + 1.0 and o.place.max() > begin - 1.0]
        return frozenset((a, b) for other in now for a, b in other.things.tolist())

    def left(self, number: int, spots: Spots) -> Spots:
        """The `spots` that the stretch of this `number` must still remove.

        Those of later stretches are left out, and those of stretches that could not be mended where they are no deeper than before.
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
