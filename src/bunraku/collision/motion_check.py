"""The collision check of a whole motion."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.between_samples import Passage, passage
from bunraku.collision.coal_pairs import NarrowPhase
from bunraku.collision.collision_report import CollisionReport, Hit
from bunraku.collision.distance import distances
from bunraku.collision.pair_rows import PairRows, nearest, rows, settled
from bunraku.collision.world_arrays import MODE

Array = NDArray[np.float64]


def check(narrow: NarrowPhase, names: tuple[str, ...], Q: Array, *, between: bool) -> CollisionReport:
    """Clearance and overlaps at configurations `Q` (T, n_q); with `between`, also on the lines from one to the next.

    narrow: the world. names: the names of its things.
    """
    near = nearest(narrow, Q, rows(narrow.flat, Q, within=math.inf, mode=MODE.nearest))
    clearance = np.full(len(Q), math.inf)
    clearance[near.sample] = near.value
    least, sample = None, 0
    if len(near):
        row = int(np.argmin(near.value))
        least, sample = distances(names, near.where(np.array([row])))[0], int(near.sample[row])
    overlaps = np.flatnonzero(clearance < 0.0)
    some = np.ascontiguousarray(Q[overlaps])
    deep = settled(narrow, some, rows(narrow.flat, some, within=0.0, mode=MODE.all))
    hits = _hits(names, PairRows(np.column_stack([overlaps[deep.sample], deep.ints[:, 1:]]), deep.floats))
    return CollisionReport(clearance, least, sample, hits, _passages(narrow, names, Q) if between else None)


def _hits(names: tuple[str, ...], deep: PairRows) -> tuple[Hit, ...]:
    """One hit for each pair: all its rows, over time."""
    of_pair: dict[tuple[str, str], list[int]] = {}
    for row, (i, j) in enumerate(deep.ints[:, 1:3].tolist()):
        of_pair.setdefault((names[i], names[j]), []).append(row)
    hits = []
    for (a, b), own in of_pair.items():
        deepest = min(own, key=lambda row: float(deep.value[row]))
        samples = deep.sample[own]
        first, last, depth = int(samples.min()), int(samples.max()), -float(deep.value[deepest])
        hits.append(Hit(a, b, first, last, int(deep.sample[deepest]), depth))
    return tuple(sorted(hits, key=lambda hit: (hit.first, -hit.depth)))


def _passages(narrow: NarrowPhase, names: tuple[str, ...], Q: Array) -> tuple[tuple[int, Passage], ...]:
    """The lines from sample to sample that are not free. One query at its middle proves most lines free."""
    middle, half = 0.5 * (Q[1:] + Q[:-1]), 0.5 * np.abs(np.diff(Q, axis=0))
    if not len(middle):
        return ()
    found = settled(narrow, middle, rows(narrow.flat, middle, within=0.0, mode=MODE.all, half=half))
    out = []
    for k in np.unique(found.sample).tolist():
        way = passage(narrow, names, Q[k], Q[k + 1], margin=0.0, resolution=1e-4)
        if not way.free:
            out.append((k, way))
    return tuple(out)
