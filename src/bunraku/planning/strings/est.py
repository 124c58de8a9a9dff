"""Expansive-space trees (*marionettes*, section VII): pick a node, move the hands at random, keep the state that results.

The paper picks nodes uniformly, or prefers those near the goal. The modern tree puts nodes into cells of a grid, by the positions
of the leading points (those of the goal). It draws a cell with weight exp(−bias · distance to the goal) / (1 + times drawn)^crowd,
so crowded cells and dead ends lose weight, and a mild pull toward the goal remains. With a bound on cost (AO-EST: Hauser and Zhou,
2016) cost is one more coordinate of the grid, nodes that are not cheaper than the best plan are dropped, and each plan lowers the
bound.
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.kernels.xorshift import below
from bunraku.planning.strings.weighted_cells import cell_of, draw, join, mixed, weigh


@inline
def weight_of(cells, c, aim, taste):
    """The weight with which a cell is drawn."""
    pull = math.exp(-taste.bias * cells.best[c] / aim.scale)
    return max(pull / (1.0 + cells.picks[c]) ** taste.crowd, 1e-300)


@inline
def settle_in(nodes, cells, aim, taste, node, dice):
    """Puts a node into its cell. Returns False if there is no room."""
    if taste.grid:
        key = 1469598103934665603
        for k in range(aim.leading):
            for i in range(3):
                key = mixed(key, math.floor(nodes.X[node, k, i] / taste.width))
        if taste.cost_width < math.inf:
            key = mixed(key, int(nodes.cost[node] / taste.cost_width))
        c = cell_of(cells, key)
    else:
        c = cells.count[0] if cells.count[0] < cells.best.shape[0] else -1
        if c >= 0:
            cells.count[0] = c + 1
    if c < 0:
        return False
    nodes.cell[node] = c
    join(cells, c, node, nodes.far[node], dice)
    weigh(cells, c, weight_of(cells, c, aim, taste))
    return True


@inline
def pick(cells, aim, taste, dice):
    """A node to extend; −1 if none is left."""
    c = draw(cells, dice)
    if c < 0:
        return -1
    cells.picks[c] += 1
    weigh(cells, c, weight_of(cells, c, aim, taste))
    return cells.members[c, below(dice, min(cells.inside[c], cells.members.shape[1]))]


@kernel
def prune(nodes, cells, aim, taste, bound):
    """Removes all nodes that cost `bound` or more from the cells."""
    for c in range(cells.count[0]):
        cells.best[c] = np.inf
        cells.inside[c] = 0
    for node in range(nodes.count[0]):
        c = nodes.cell[node]
        if c >= 0 and nodes.cost[node] < bound:
            if cells.inside[c] < cells.members.shape[1]:
                cells.members[c, cells.inside[c]] = node
                cells.inside[c] += 1
            cells.best[c] = min(cells.best[c], nodes.far[node])
    for c in range(cells.count[0]):
        weigh(cells, c, weight_of(cells, c, aim, taste) if cells.inside[c] > 0 else 0.0)
