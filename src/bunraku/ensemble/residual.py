"""Residual: collisions (violated margins) of the full figures in a motion, at samples and between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.collision.between_samples import denser
from bunraku.ensemble.whole_team import WholeTeam

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ResidualOptions:
    """Numbers that tune the search for collisions."""

    own_margin: float = 1e-3
    """Distance that an agent keeps from itself and from the object that it holds [m]."""
    step: float = 0.005
    """Points move no farther than this between two checks [m]."""
    coarse_step: float = 0.03
    """The same in a first, quick check [m]."""
    rounding: float = 1e-7
    """Rounding error of distances [m]."""


@dataclass(frozen=True, eq=False)
class Spots:
    """Pairs of shapes that are too near, with time and distance."""

    place: Array
    """(m,): the sample; fractional between two samples."""
    things: Ints
    """(m, 2): the pair, as indices of shapes in the world."""
    value: Array
    """(m,): signed distance [m]."""

    __repr__ = brief

    def __len__(self) -> int:
        return len(self.place)

    def where(self, mask: Bools) -> Spots:
        """The spots for which `mask` (m,) is true."""
        return Spots(self.place[mask], self.things[mask], self.value[mask])

    @property
    def worst(self) -> int:
        """Index of the nearest, or deepest, one."""
        return int(np.argmin(self.value))

    def among(self, others: Spots) -> Bools:
        """Which of them (m,) have the same pair as one of the `others`, at most one sample before or after."""
        pairs = {(a, b) for a, b in others.things.tolist()}
        same = np.array([(a, b) in pairs for a, b in self.things.tolist()], np.bool_)
        return np.asarray(same & (self.place > others.place.min() - 1.0) & (self.place < others.place.max() + 1.0))


@dataclass(frozen=True, eq=False)
class Residual:
    """Finds pairs that are nearer than a margin [m]."""

    whole: WholeTeam
    margin: float
    options: ResidualOptions = ResidualOptions()

    def free(self, Q: Array, ignored: frozenset[tuple[int, int]] = frozenset()) -> Bools:
        """Whether each configuration of `Q` (T, n) keeps the margins; pairs in `ignored` are not checked."""
        own = self.options.own_margin
        near = self.whole.near(Q, self.margin, own)
        out = np.ones(len(Q), np.bool_)
        short = near.short_of(self.margin, own)
        if ignored:
            short[short] = [(a, b) not in ignored for a, b in near.things[short].tolist()]
        out[near.sample[short]] = False
        return out

    def short(
        self, Q: Array, first: int, last: int, *, step: float | None = None, more: float = 0.0, shapes: Bools | None = None
    ) -> Spots:  # fmt: skip
        """Pairs that are too near in a motion `Q` (T, n), from sample `first` to sample `last`, including times between samples.

        step: points move no farther than this between two checks [m]; by default that of the options
        more: added to the margins [m]
        shapes: the shapes whose motion determines the checks; by default all
        """
        step, own = self.options.step if step is None else step, self.options.own_margin
        place, dense = denser(self.whole.world.flat, np.ascontiguousarray(Q[first : last + 1]), step=step, shapes=shapes)
        near = self.whole.near(dense, self.margin + more, own + more)
        short = near.short_of(self.margin + more, own + more)
        return Spots(first + place[near.sample[short]], near.things[short], near.value[short])

    def everywhere(self, Q: Array) -> Spots:
        """The same for a whole motion `Q` (T, n): first with coarse steps, then with fine ones where something is near."""
        last, step = len(Q) - 1, self.options.coarse_step
        coarse = self.short(Q, 0, last, step=step, more=0.5 * step)
        parts = [self.short(Q, a, b) for a, b in runs(coarse.place, 1.0, last)]
        columns = ((np.zeros(0), np.zeros((0, 2), np.int64), np.zeros(0)), *((s.place, s.things, s.value) for s in parts))
        return Spots(*(np.concatenate(column) for column in zip(*columns, strict=True)))

    def depths(self, Q: Array, spots: Spots) -> dict[tuple[int, int], float]:
        """Smallest distance of each pair of the `spots` at their samples in `Q` (T, n) [m]; infinity beyond the margin."""
        first = max(int(np.floor(spots.place.min() - 1.0)) + 1, 0)
        last = min(int(np.ceil(spots.place.max() + 1.0)) - 1, len(Q) - 1)
        near = self.whole.near(Q[first : last + 1], self.margin, self.options.own_margin)
        out = dict.fromkeys(map(tuple, spots.things.tolist()), np.inf)
        for (a, b), value in zip(near.things.tolist(), near.value.tolist(), strict=True):
            if (a, b) in out:
                out[a, b] = min(out[a, b], value)
        return out

    def stretches(self, spots: Spots, gap: float, last: int) -> list[Spots]:
        """The `spots` grouped into stretches, earliest first: of the same agents, with gaps of at most `gap` samples.

        `last` is the last sample of the motion.
        """
        owner = [frozenset(self.owners(pair)) for pair in spots.things]
        out = []
        for who in dict.fromkeys(owner):
            own = spots.where(np.array([other == who for other in owner], np.bool_))
            out += [own.where((own.place >= a) & (own.place <= b)) for a, b in runs(own.place, gap, last)]
        return sorted(out, key=lambda stretch: float(stretch.place.min()))

    def owners(self, things: Ints) -> tuple[str, ...]:
        """The names of the agents, or the object, that own `things` (indices of shapes in the world)."""
        own = [self.whole.world.things[k].figure for k in np.unique(things).tolist()]
        return tuple(dict.fromkeys(self.whole.figures[k].name for k in own if k >= 0))


def runs(places: Array, gap: float, last: int) -> list[tuple[int, int]]:
    """(first, last) samples of runs of `places` with gaps of at most `gap`; none is after `last`."""
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
