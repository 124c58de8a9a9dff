"""Cells of a grid that hold nodes, and a tree of partial sums from which a cell is drawn in proportion to its weight."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from bunraku.kernels.compile import inline
from bunraku.kernels.xorshift import below, uniform

Cells = namedtuple(
    "Cells",
    "count "  # [0]: number of cells
    "keys slot "  # open addressing: hash of the coordinates → cell
    "inside picks best members "  # per cell: number of nodes, times drawn, smallest distance to the goal, some nodes
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
    """A 62-bit hash of `key` and one more integer, the same with and without 64-bit overflow."""
    mask = (1 << 62) - 1
    x = ((key ^ number) * 0x2545F4914F6CDD1D + 0x1234567) & mask
    return (x ^ (x >> 29)) & mask


@inline
def cell_of(cells, key):
    """The cell with hash `key`, added if new; −1 if there is no room."""
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
    """Sets the weight of a cell."""
    sums = cells.sums
    i = sums.shape[0] // 2 + c
    sums[i] = weight
    i //= 2
    while i >= 1:
        sums[i] = sums[2 * i] + sums[2 * i + 1]
        i //= 2


@inline
def draw(cells, dice):
    """A random cell, in proportion to weight; −1 if all weights are zero."""
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
    """Adds a node to a cell, which stores a random sample of its nodes and always the one nearest to the goal."""
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
