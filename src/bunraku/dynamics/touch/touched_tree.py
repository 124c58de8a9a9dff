"""The figure of one step: its own links, and behind them the rows of its contacts."""

from __future__ import annotations

from bunraku.figure.records import FigureTree
from bunraku.kernels.compile import bare, inline


@bare
def extend_elimination(tree, t):
    """Elimination lists with the rows of contacts: each variable meets the rows that it moves, and those of variables it met."""
    n, nl, base = tree.n_dynamic, tree.n_links, tree.elimination
    for d in range(n):
        for s in range(base[d, 0] + 1):
            t.elimination[d, s] = base[d, s]
    for c in range(nl, t.number[1]):
        for s in range(1, t.support[c, 0] + 1):
            d = tree.joints[t.support[c, s]].variable
            if d < n:
                _append(t.elimination, d, n + c)
    if tree.springs.shape[0] > 0:  # springs couple variables of different branches
        for d in range(n - 1, -1, -1):
            for s in range(1, base[d, 0] + 1):
                if base[d, s] < n:
                    for k in range(base[d, 0] + 1, t.elimination[d, 0] + 1):
                        _append(t.elimination, base[d, s], t.elimination[d, k])


@bare
def _append(lists, d, item):
    for s in range(lists[d, 0], 0, -1):
        if lists[d, s] == item:
            return
    lists[d, 0] += 1
    lists[d, lists[d, 0]] = item


@inline
def touched_tree(tree, joints, t):
    """`tree` with these joints and the contacts `t`."""
    links, points = t.number[1], t.number[2]
    return FigureTree(
        tree.n_dynamic, tree.n_q, tree.n_massive, links, 6 * (points + 1), tree.gravity, joints, tree.chain,
        t.points[:points], t.links[:links], t.support[:links], t.elimination, tree.springs, tree.spring_support, tree.forces,
        tree.balls,
    )  # fmt: skip
