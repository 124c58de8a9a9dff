"""Cells of a grid that hold nodes, and a tree of sums from which one is drawn by its weight."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from bunraku.kernels.compile import inline
from bunraku.kernels.xorshift import below, uniform

Cells = namedtuple(
    "Cells",
    "count "  # [0]: how many cells there are
    "keys slot "  # open addressing: hash of the coordinates → cell
    "inside picks best members "  # nodes in each cell, how often it was drawn, the least distance to the goal, some nodes
    "sums",  # binary tree: leaf c at size + c holds the weight of cell c
)


def cells(capacity: int, members: int = 8) -> Cells:
    """An empty grid for at most `capacity` cells, each of which remembers up to `members` nodes."""
    size = 1
    while size < capacity:
        size *= 2
    return Cells(
        np.zeros(1, np.int64), np.zeros(4 * size, np.int64), np.full(4 * size, -1, np.int64), np.zeros(size, np.int64),
        np.zeros(size, np.int64), np.full(size, np.inf), np.zeros((size, members), np.int64), np.zeros(2 * size),
    )  # fmt: skip


@inline
def mixed(key, number):
    """A hash of what came before and one more whole number, of 62 bits, with or without the wrap of 64-bit numbers."""
    mask = (1 << 62) - 1
    x = ((key ^ number) * 0x2545F4914F6CDD1D + 0x1234567) & mask
    return (x ^ (x >> 29)) & mask


@inline
def cell_of(cells, key):
    """The cell with this hash, made where there is none; −1 where there is no more room."""
    mask = cells.keys.shape[0] - 1
    i = key & mask
    while cells.slot[i] >= 0:
        if cells.keys[i] == key:
            return cells.slot[i]
        i = (i + 1) & mask
    c = cells.count[0]
    if c >= cells.best.shape[0]:
        return -1
    cells.keys[i], cells.slot[i] = key, c
    cells.count[0] = c + 1
    return c


@inline
def weigh(cells, c, weight):
    """Gives a cell its weight."""
    sums = cells.sums
    i = sums.shape[0] // 2 + c
    sums[i] = weight
    i //= 2
    while i >= 1:
        sums[i] = sums[2 * i] + sums[2 * i + 1]
        i //= 2


@inline
def draw(cells, dice):
    """A cell, by weight; −1 where none has any."""
    sums = cells.sums
    size = sums.shape[0] // 2
    if not sums[1] > 0.0:
        return -1
    x, i = uniform(dice) * sums[1], 1
    while i < size:
        i *= 2
        if x >= sums[i] and sums[i + 1] > 0.0:
            x -= sums[i]
            i += 1
    return i - size


@inline
def join(cells, c, node, far, dice):
    """One more node in a cell; of many, it remembers a random few and the nearest to the goal."""
    k, members = cells.inside[c], cells.members.shape[1]
    cells.inside[c] = k + 1
    if k < members:
        cells.members[c, k] = node
    elif far < cells.best[c]:
        cells.members[c, 0] = node
    else:
        j = below(dice, k + 1)
        if 0 < j < members:
            cells.members[c, j] = node
    cells.best[c] = min(cells.best[c], far)
