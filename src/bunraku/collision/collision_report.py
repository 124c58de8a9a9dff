"""What a check of a whole motion found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.collision.between_samples import Passage
from bunraku.collision.distance import Distance

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hit:
    """Two things overlap from sample `first` to sample `last`; `depth` [m] is the most, at sample `deepest`."""

    a: str
    b: str
    first: int
    last: int
    deepest: int
    depth: float


@dataclass(frozen=True, eq=False)
class CollisionReport:
    """Of a motion: the distance of the nearest pair at each sample, which pairs overlap, and the ways between."""

    clearance: Array
    """Signed distance of the nearest pair at each sample [m], (T,); inf where nothing can touch."""
    nearest: Distance | None
    """The nearest pair of the whole motion."""
    sample: int
    """The sample at which that is."""
    hits: tuple[Hit, ...]
    """Pairs that overlap at some sample, the earliest first."""
    passages: tuple[tuple[int, Passage], ...] | None = None
    """With `between`: the ways from sample k to k + 1 that are not free, by k. None: they were not looked at."""

    __repr__ = brief

    @property
    def free(self) -> bool:
        """Nothing overlaps at any sample, nor between, if that was looked at."""
        return not self.hits and not self.passages

    @property
    def first(self) -> int | None:
        """The first sample at which something overlaps."""
        return self.hits[0].first if self.hits else None

    @property
    def least(self) -> float:
        """Smallest clearance of all samples [m]."""
        return float(self.clearance.min(initial=np.inf))

    def __str__(self) -> str:
        lines = [f"{len(self.clearance)} samples, {'free' if self.free else 'not free'}"]
        if self.nearest is not None:
            near = self.nearest
            lines.append(f"nearest: {near.a} – {near.b}, {1000 * near.value:.3g} mm at sample {self.sample}")
        lines += [
            f"overlap: {hit.a} – {hit.b}, samples {hit.first}–{hit.last}, {1000 * hit.depth:.3g} mm deep" for hit in self.hits[:10]
        ]
        if len(self.hits) > 10:
            lines.append(f"overlap: and {len(self.hits) - 10} more pairs")
        lines += [
            f"between: samples {k}–{k + 1}, {way.a} – {way.b} at {way.s:.2f} of the way" for k, way in (self.passages or ())[:10]
        ]
        return "\n".join(lines)
