"""Rows of answers from the kernel `near`, completed by coal."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.coal_pairs import CoalQuery, NarrowPhase, Witness
from bunraku.collision.near_pairs import near
from bunraku.collision.planes import over_planes
from bunraku.collision.world_arrays import ROW_NUMBERS, STATUS, WorldArrays

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairRows:
    """Pairs that are near, one a row: ints (sample, A, B, status) and floats (value, p_A, p_B, normal, margin)."""

    ints: Ints
    floats: Array

    def __len__(self) -> int:
        return len(self.ints)

    @property
    def sample(self) -> Ints:
        """Which configuration each row belongs to, (m,)."""
        return self.ints[:, 0]

    @property
    def value(self) -> Array:
        """Distances, or lower bounds of them [m], (m,)."""
        return self.floats[:, 0]

    def where(self, mask: NDArray[np.bool_] | Ints) -> PairRows:
        """The rows that a `mask` or indices choose."""
        return PairRows(self.ints[mask], self.floats[mask])


def rows(flat: WorldArrays, Q: Array, *, within: float, mode: int, half: Array | None = None) -> PairRows:
    """Pairs that are near, as the kernel finds them; rows that are not STATUS.exact still need coal's answer.

    flat: the world. Q: configurations (T, n_q). within: distance below which a pair is near [m]. mode: one of MODE.
    half: half sizes (T, n_q) of boxes about the configurations; a pair is then near if it may be so anywhere in its box.
    """
    room, box = 64 + 64 * len(Q), np.zeros((0, 0)) if half is None else half
    while True:
        ints, floats = np.empty((room, 4), np.int64), np.empty((room, ROW_NUMBERS))
        count = near(flat, Q, box, float(within), mode, ints, floats)
        if count <= room:
            return PairRows(ints[:count], floats[:count])
        room = count


def settled(narrow: NarrowPhase, Q: Array, found: PairRows) -> PairRows:
    """The rows `found` at configurations `Q`, each with its distance by coal (`narrow`); rows beyond their margin are dropped."""
    found = found.where(~_clear_of_planes(narrow, Q, found))
    keep = np.ones(len(found), bool)
    query, at = None, -1
    for row in np.flatnonzero(found.ints[:, 3] != STATUS.exact).tolist():
        t, i, j, _ = found.ints[row].tolist()
        if query is None or t != at:
            query, at = narrow.at(Q[t]), t
        keep[row] = _put(found, row, query.distance(i, j, bound=found.floats[row, 10]))
    return found if keep.all() else found.where(keep)


def _clear_of_planes(narrow: NarrowPhase, Q: Array, found: PairRows) -> NDArray[np.bool_]:
    """Which of the rows that need coal are of a shape that keeps its margin from a plane for certain."""
    over = np.zeros(len(found), np.bool_)
    unsure = np.flatnonzero(found.ints[:, 3] != STATUS.exact)
    if len(unsure) and len(narrow.flat.planes):
        own = np.zeros(len(unsure), np.bool_)
        ints, margins = np.ascontiguousarray(found.ints[unsure]), np.ascontiguousarray(found.floats[unsure, 10])
        over_planes(narrow.flat, np.ascontiguousarray(Q), ints, margins, own)
        over[unsure] = own
    return over


def nearest(narrow: NarrowPhase, Q: Array, found: PairRows) -> PairRows:
    """The nearest of the rows `found` at each of the configurations `Q`; coal (`narrow`) checks only those that may be nearest."""
    chosen = []
    first = np.searchsorted(found.sample, np.arange(len(Q) + 1))
    for t in range(len(Q)):
        own = range(first[t], first[t + 1])
        best, value = -1, math.inf
        unsure = []
        for row in own:
            if found.ints[row, 3] != STATUS.exact:
                unsure.append((-math.inf if found.ints[row, 3] == STATUS.deep else found.value[row], row))
            elif found.value[row] < value:
                best, value = row, found.value[row]
        query: CoalQuery | None = None
        for bound, row in sorted(unsure):
            if bound >= value:
                break
            query = query or narrow.at(Q[t])
            if _put(found, row, query.distance(*found.ints[row, 1:3].tolist(), bound=value)):
                best, value = row, found.value[row]
        if best >= 0:
            chosen.append(best)
    return found.where(np.array(chosen, np.int64))


def _put(found: PairRows, row: int, witness: Witness | None) -> bool:
    """Replaces the bound in a row by coal's answer; returns False where coal gave none."""
    if witness is None:
        return False
    found.ints[row, 3] = STATUS.exact
    found.floats[row, :10] = witness.value, *witness.p_A, *witness.p_B, *witness.normal
    return True
