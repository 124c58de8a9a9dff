"""The report of a collision check of a whole motion."""

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
    """Two things that overlap: at sample `first` first, at `last` last, and most at `deepest`, by `depth` [m]."""

    a: str
    b: str
    first: int
    last: int
    deepest: int
    depth: float


@dataclass(frozen=True, eq=False)
class CollisionReport:
    """What a check of a motion found: the distance of the nearest pair at each sample, and where things overlap."""

    clearance: Array
    """Signed distance of the nearest pair at each sample [m], (T,); inf where nothing can touch."""
    nearest: Distance | None
    """The nearest pair of the whole motion."""
    sample: int
    """The sample at which `nearest` is."""
    hits: tuple[Hit, ...]
    """Pairs that overlap at some sample, the earliest first."""
    passages: tuple[tuple[int, Passage], ...] | None = None
    """The k whose line from sample k to k + 1 is not free, each with its trouble. None: lines between samples were not checked."""

    __repr__ = brief

    @property
    def free(self) -> bool:
        """Whether nothing overlaps at any sample, nor between samples if that was checked."""
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
