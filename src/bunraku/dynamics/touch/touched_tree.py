"""The figure of one step: its own links, and behind them the rows of its contacts."""

from __future__ import annotations

import numpy as np

from bunraku.collision.manifold.touch_arrays import MANIFOLD
from bunraku.dynamics.variational import Work
from bunraku.figure.records import FigureTree, LinkKind
from bunraku.kernels.blocks import padded
from bunraku.kernels.compile import bare, inline
from bunraku.kernels.row_sums import NUMBERS


@bare
def extend_elimination(tree, t):
    """Elimination lists with the rows of contacts: each variable meets the rows that it moves, and those of variables it met."""
    n, nl, base = tree.n_dynamic, tree.n_links, tree.elimination
    for d in range(n):
        for s in range(base[d, 0] + 1):
            t.elimination[d, s] = base[d, s]
    for c in range(t.number[1]):
        if c < nl and t.links[c].kind != LinkKind.DRAPED:
            continue
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


@inline
def light_workspace(tree):
    """Scratch for steps by parts of `tree`, without the matrices of the whole, which are large where many rows have room.

    A0 and A1 are those of bunraku.dynamics.touch.row_slopes, and `block` is a row of its scratch.
    """
    n, nq, nm, nc = tree.n_dynamic, tree.n_q, tree.n_massive, tree.n_links
    nj, ns, npt = tree.joints.shape[0], tree.springs.shape[0], tree.points.shape[0]
    nx = nq if ns > 0 else 0
    wide = padded(nq) // 8 if nq <= MANIFOLD.few_variables else 0
    high, most = nm if wide > 0 else 0, tree.support.shape[1]
    return Work(
        R=np.empty((nj, 3, 3)), p=np.empty((nj, 3)), S=np.empty((nj, 6)), V=np.empty((nm, 6)), T=np.empty((nm, 6)),
        B=np.empty((nm, 10)), I=np.empty((nm, 10)), P=np.empty((nm, 6)),
        x=np.empty((npt, 3)), f=np.empty((npt, 3)), n=np.empty((tree.way_rows, 4)), d=np.empty((nj, 3)), e=np.empty((nj, 3)),
        h0=np.zeros(nc), early=np.zeros(nc), h=np.zeros(nc), A0=np.empty((nc, most)), A1=np.empty((nc, most)),
        As=np.zeros((ns, nq)),
        alive=np.zeros(nc, np.bool_), slides=np.zeros(nc, np.bool_), side=np.zeros(nc), exponent=np.zeros(nc),
        near=np.zeros(nc, np.bool_),
        qm=np.empty(nq), v=np.empty(nm), vq=np.empty(nq), Lq=np.zeros(nq), F=np.zeros(nq), r=np.empty(n + nc), delta=np.zeros(nc),
        block=np.empty((1, nq)), K=np.empty((0, 8)), L=np.empty((0, 8)), D22=np.empty((0, 8)),
        rows=np.empty(0, np.int64), cols=np.empty(0, np.int64), E=np.empty((0, 1), np.int64),
        Lqq=np.zeros((nx, nx)), Fq=np.zeros((nx, nx)), Fv=np.zeros((nx, nx)),
        columns=np.zeros((wide, 12, 8)), pair=np.zeros((high, NUMBERS)), Y=np.empty((wide, 4, 8)),
    )  # fmt: skip
