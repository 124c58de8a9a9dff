"""Residual: where a motion of full figures is too near to something, closely and everywhere between samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.collision.between_samples import denser
from bunraku.ensemble.whole_team import Whole

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
OWN = 1e-3  # [m] that an agent keeps from itself and from what it holds
STEP, COARSE = 0.005, 0.03  # [m] that points move between two looks: at last, and at first


@dataclass(frozen=True, eq=False)
class Spots:
    """Where things are too near: places in samples, which things, and how near."""

    place: Array
    things: Ints
    value: Array

    __repr__ = brief

    def __len__(self) -> int:
        return len(self.place)

    def where(self, mask: Bools) -> Spots:
        return Spots(self.place[mask], self.things[mask], self.value[mask])

    @property
    def worst(self) -> int:
        return int(np.argmin(self.value))

    def among(self, others: Spots) -> Bools:
        """Which of them are of a pair of the others, within their time."""
        pairs = {(a, b) for a, b in others.things.tolist()}
        same = np.array([(a, b) in pairs for a, b in self.things.tolist()], np.bool_)
        return np.asarray(same & (self.place > others.place.min() - 1.0) & (self.place < others.place.max() + 1.0))


@dataclass(frozen=True, eq=False)
class Residual:
    """What is too near for a margin [m]."""

    whole: Whole
    margin: float

    def free(self, Q: Array, ignored: frozenset[tuple[int, int]] = frozenset()) -> Bools:
        """Whether each sample keeps the margins, but for some pairs of things."""
        near = self.whole.near(Q, self.margin, OWN)
        out = np.ones(len(Q), np.bool_)
        short = near.short_of(self.margin, OWN)
        if ignored:
            short[short] = [(a, b) not in ignored for a, b in near.things[short].tolist()]
        out[near.sample[short]] = False
        return out

    def short(
        self, Q: Array, first: int, last: int, *, step: float = STEP, more: float = 0.0, shapes: Bools | None = None
    ) -> Spots:  # fmt: skip
        """Where things are too near from one sample to another, and everywhere between, as closely as `shapes` want it."""
        place, dense = denser(self.whole.world.flat, np.ascontiguousarray(Q[first : last + 1]), step=step, shapes=shapes)
        near = self.whole.near(dense, self.margin + more, OWN + more)
        short = near.short_of(self.margin + more, OWN + more)
        return Spots(first + place[near.sample[short]], near.things[short], near.value[short])

    def everywhere(self, Q: Array) -> Spots:
        """The same of a whole motion: coarsely, and then closely where that is near."""
        last = len(Q) - 1
        coarse = self.short(Q, 0, last, step=COARSE, more=0.5 * COARSE)
        parts = [self.short(Q, a, b) for a, b in runs(coarse.place, 1.0, last)]
        columns = ((np.zeros(0), np.zeros((0, 2), np.int64), np.zeros(0)), *((s.place, s.things, s.value) for s in parts))
        return Spots(*(np.concatenate(column) for column in zip(*columns, strict=True)))

    def depths(self, Q: Array, spots: Spots) -> dict[tuple[int, int], float]:
        """How near each pair of things of a stretch comes at its samples [m]; infinity where that is far enough."""
        first = max(int(np.floor(spots.place.min() - 1.0)) + 1, 0)
        last = min(int(np.ceil(spots.place.max() + 1.0)) - 1, len(Q) - 1)
        near = self.whole.near(Q[first : last + 1], self.margin, OWN)
        out = dict.fromkeys(map(tuple, spots.things.tolist()), np.inf)
        for (a, b), value in zip(near.things.tolist(), near.value.tolist(), strict=True):
            if (a, b) in out:
                out[a, b] = min(out[a, b], value)
        return out

    def stretches(self, spots: Spots, gap: float, last: int) -> list[Spots]:
        """Spots of the same agents that are so close in time that one change is for all of them; the earliest first."""
        owner = [frozenset(self.owners(pair)) for pair in spots.things]
        out = []
        for who in dict.fromkeys(owner):
            own = spots.where(np.array([other == who for other in owner], np.bool_))
            out += [own.where((own.place >= a) & (own.place <= b)) for a, b in runs(own.place, gap, last)]
        return sorted(out, key=lambda stretch: float(stretch.place.min()))

    def owners(self, things: Ints) -> tuple[str, ...]:
        """The agents, and the object, that things belong to."""
        own = [self.whole.world.things[k].figure for k in np.unique(things).tolist()]
        return tuple(dict.fromkeys(self.whole.figures[k].name for k in own if k >= 0))


def runs(places: Array, gap: float, last: int) -> list[tuple[int, int]]:
    """(first, last) samples about places that are no farther than `gap` from each other."""
    if not len(places):
        return []
    at = np.unique(places)
    ends = np.flatnonzero(np.diff(at) > gap)
    starts, stops = at[np.append(0, ends + 1)], at[np.append(ends, len(at) - 1)]
    out: list[tuple[int, int]] = []
    for a, b in zip(starts, stops, strict=True):
        first, final = max(int(np.floor(a)), 0), min(int(np.ceil(b + 1e-9)), last)
        if out and first <= out[-1][1]:
            out[-1] = out[-1][0], max(final, out[-1][1])
        else:
            out.append((first, final))
    return out
