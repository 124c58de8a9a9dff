"""Parts of a figure that only contacts couple: trees, with the links and springs that join them.

The matrix of a step has a block for each part: its variables, and behind them the rows (links and contacts) that move with them.
The variables of each block are eliminated on their own. What is left of all blocks adds up to the matrix W of the rows, which is
never formed where there are many: a row meets only the rows of the one or two parts that it touches. So the cost of a step grows
with the number of contacts, not with its cube.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.joint_pairs import put_columns, spread
from bunraku.dynamics.kkt import down, reduce, up
from bunraku.dynamics.lagrangian import columns
from bunraku.dynamics.springs import spring_forces
from bunraku.figure.records import FigureTree
from bunraku.kernels.blocks import WIDE, lend, padded
from bunraku.kernels.compile import bare, inline, woven
from bunraku.kernels.row_sums import pair_rows
from bunraku.spatial.algebra import dot3, dot6, get3, get6


class FigureParts(NamedTuple):
    """The parts of a figure."""

    part: Any
    """(n,) of each dynamic variable."""
    local: Any
    """(n,) its place among those of its part."""
    first: Any
    """(parts + 1,) where the variables of each begin in `variables`."""
    variables: Any
    """(n,) those of the first part, then of the next, …"""
    above: Any
    """(n, 1 + most) local places of the variables that each meets when it is eliminated: how many, then these."""


def parts_of(tree: FigureTree, *, whole: bool = False) -> FigureParts:
    """The parts of the figure `tree`; all of it as one where it is to stay `whole`: strings may lie on any of its bodies."""
    n = tree.n_dynamic
    root = np.arange(n)

    def find(k: int) -> int:
        while root[k] != k:
            k = root[k]
        return int(k)

    def join(group: list[int]) -> None:
        for k in group[1:]:
            root[find(k)] = find(group[0])

    variable = tree.joints["variable"]
    kinematic: dict[int, list[int]] = {}
    for row in tree.chain:
        own = [int(variable[j]) for j in row[1 : 1 + row[0]]]
        join([k for k in own if k < n])
        for k in own:
            if k >= n:
                kinematic.setdefault(k, []).extend(d for d in own if d < n)
    for support, links in ((tree.support, tree.links), (tree.spring_support, tree.springs)):
        for row, link in zip(support, links, strict=True):
            own = [int(variable[j]) for j in row[1 : 1 + row[0]]] + ([int(link["variable"])] if link["variable"] >= 0 else [])
            join([k for k in own if k < n])
            for k in own:
                if k >= n:
                    kinematic.setdefault(k, []).extend(d for d in own if d < n)
    for group in (list(range(n)),) if whole else kinematic.values():
        join(group)
    roots = [find(k) for k in range(n)]
    order = sorted(set(roots))
    part = np.array([order.index(r) for r in roots], np.int64)
    variables = np.array(sorted(range(n), key=lambda k: (part[k], k)), np.int64)
    first = np.searchsorted(part[variables], np.arange(len(order) + 1)).astype(np.int64)
    local = np.empty(n, np.int64)
    local[variables] = np.arange(n) - first[part[variables]]
    rows = [[int(local[k]) for k in row[1 : 1 + row[0]] if k < n] for row in tree.elimination]
    above = np.zeros((n, 1 + max((len(row) for row in rows), default=0)), np.int64)
    for k, row in enumerate(rows):
        above[k, 0], above[k, 1 : 1 + len(row)] = len(row), row
    return FigureParts(part, local, first, variables, above)


class PartBlocks(NamedTuple):
    """The blocks of a step, one after the other in flat buffers."""

    K: Any
    """Each (variables + rows, padded)."""
    L: Any
    """Each (variables, padded): multiples that elimination took."""
    D22: Any
    """Each (variables, variables): ∂p1/∂q1."""
    E: Any
    """Each (variables, 1 + variables + rows): elimination lists."""
    at: Any
    """(parts, 4) where each begins in K, L, D22 and E."""
    rows: Any
    """(parts + 1,) where the rows of each begin in `row` and `change`."""
    row: Any
    """The rows of each part, as numbered in the step."""
    owner: Any
    """(rows of the step, 4) the parts that each row moves with, −1: none, and its place in each."""
    change: Any
    """δλ of the rows of each part, for products with its block."""
    b: Any
    """Right sides: variables and rows of each part."""
    diagonal: Any
    """(rows of the step,) W_cc."""
    numbers: Any
    """What holds all these."""
    places: Any
    more: Any


@inline
def blocks_of(tree, parts, near):
    """Empty blocks for the rows that are `near`."""
    count, n = parts.first.shape[0] - 1, tree.n_dynamic
    nc = tree.links.shape[0]
    places = np.empty(4 * nc + 6 * count + 1, np.int64)  # few allocations: each takes as long as a short sum
    owner, at = lend(places, 0, (nc, 4)), lend(places, 4 * nc, (count, 4))
    rows, filled = lend(places, 4 * nc + 4 * count, (count + 1,)), lend(places, 4 * nc + 5 * count + 1, (count,))
    for b in range(count):
        rows[b] = filled[b] = 0
    rows[count] = 0
    for c in range(nc):
        owner[c, 0] = owner[c, 1] = -1
        if near[c]:
            _own(tree, parts, n, c, owner)
            for k in range(2):
                if owner[c, k] >= 0:
                    rows[owner[c, k] + 1] += 1
    wide, high, square, lists = 0, 0, 0, 0
    for b in range(count):
        nb, mb = parts.first[b + 1] - parts.first[b], rows[b + 1]
        width = padded(nb + mb)
        rows[b + 1] += rows[b]
        at[b, 0], at[b, 1], at[b, 2], at[b, 3] = wide, high, square, lists
        wide += (nb + mb) * width
        high += nb * width
        square += nb * nb
        lists += nb * (1 + nb + mb)
    total = rows[count]
    more, numbers = np.empty(total + lists, np.int64), np.empty(wide + high + square + 2 * total + n + nc + WIDE)
    row, E = lend(more, 0, (total,)), lend(more, total, (lists,))
    first = -(numbers.ctypes.data // 8) % WIDE  # eights that begin where lines of the processor's cache do are read at once
    tall, back = first + wide, first + wide + high + square
    for c in range(nc):
        for k in range(2):
            b = owner[c, k]
            if b >= 0:
                owner[c, 2 + k] = filled[b]
                row[rows[b] + filled[b]] = c
                filled[b] += 1
    out = PartBlocks(
        lend(numbers, first, (wide,)), lend(numbers, tall, (high,)), lend(numbers, tall + high, (square,)), E, at, rows, row, owner,
        lend(numbers, back, (total,)), lend(numbers, back + total, (n + total,)), lend(numbers, back + n + 2 * total, (nc,)),
        numbers, places, more,
    )  # fmt: skip
    _lists(tree, parts, out)
    return out


@bare
def _own(tree, parts, n, c, owner):
    """The parts that row c moves with."""
    for s in range(tree.support[c, 0] + 1):
        d = tree.joints[tree.support[c, s]].variable if s > 0 else tree.links[c].variable
        if 0 <= d < n:
            b = parts.part[d]
            if owner[c, 0] < 0:
                owner[c, 0] = b
            elif owner[c, 0] != b:
                owner[c, 1] = b
            if parts.first.shape[0] == 2 or owner[c, 1] >= 0:
                return


@bare
def size_of(parts, blocks, b):
    """(variables, rows) of part b."""
    return parts.first[b + 1] - parts.first[b], blocks.rows[b + 1] - blocks.rows[b]


@bare
def _lists(tree, parts, blocks):
    """Elimination lists: the variables that each meets, then the rows that it moves, or that one met which it meets."""
    n = tree.n_dynamic
    for b in range(parts.first.shape[0] - 1):
        nb, mb = size_of(parts, blocks, b)
        E = lend(blocks.E, blocks.at[b, 3], (nb, 1 + nb + mb))
        for j in range(nb):
            d = parts.variables[parts.first[b] + j]
            for s in range(parts.above[d, 0] + 1):
                E[j, s] = parts.above[d, s]
        for r in range(mb):
            c = blocks.row[blocks.rows[b] + r]
            d = tree.links[c].variable
            if 0 <= d < n and parts.part[d] == b:  # a limit of a joint moves with that joint alone
                _meet(E, parts.local[d], nb + r)
                for s in range(1, parts.above[d, 0] + 1):
                    _meet(E, parts.above[d, s], nb + r)
            for s in range(1, tree.support[c, 0] + 1):
                d = tree.joints[tree.support[c, s]].variable
                if d < n and parts.part[d] == b:
                    _meet(E, parts.local[d], nb + r)
        if tree.springs.shape[0] > 0:
            _fill_in(E, nb, parts, parts.first[b])


@woven
def _meet(E, j, item):
    """Adds an item to the list of variable j, unless it is the last there."""
    if E[j, 0] == 0 or E[j, E[j, 0]] != item:
        E[j, 0] += 1
        E[j, E[j, 0]] = item


@bare
def _fill_in(E, nb, parts, first):
    """Variables that springs couple inherit the rows of those that were eliminated before."""
    for j in range(nb - 1, -1, -1):
        for s in range(1, E[j, 0] + 1):
            k = E[j, s]
            if k >= nb:
                break
            for r in range(parts.above[parts.variables[first + j], 0] + 1, E[j, 0] + 1):
                item, known = E[j, r], False
                for i in range(1, E[k, 0] + 1):
                    known |= E[k, i] == item
                if not known:
                    E[k, 0] += 1
                    E[k, E[k, 0]] = item


@bare
def fill_blocks(tree, parts, blocks, w, dt, share, u, o):
    """K and D22 of all parts from the midpoint, with the rows at both ends, then eliminated."""
    n, nm, joints = tree.n_dynamic, tree.n_massive, tree.joints
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    blocks.K[:] = 0.0
    blocks.D22[:] = 0.0
    if w.columns.shape[0] > 0:
        _joints_at_once(joints, parts, blocks, n, nm, g, dt, share, w)
    else:
        for j in range(nm):
            if joints[j].variable < n:
                _joint(joints, parts, blocks, n, j, joints[j].variable, g, dt, share, w)
    if tree.springs.shape[0] > 0:
        _add_springs(tree, parts, blocks, w, dt, share, u, o)
    for c in range(tree.links.shape[0]):
        for k in range(2):
            b = blocks.owner[c, k]
            if b < 0:
                continue
            nb, mb = size_of(parts, blocks, b)
            K, at = lend(blocks.K, blocks.at[b, 0], (nb + mb, padded(nb + mb))), nb + blocks.owner[c, 2 + k]
            for s in range(tree.support[c, 0] + 1):
                d = joints[tree.support[c, s]].variable if s > 0 else tree.links[c].variable
                if 0 <= d < n and parts.part[d] == b:
                    K[at, parts.local[d]], K[parts.local[d], at] = w.A1[c, s], -w.A0[c, s]
    for c in range(blocks.diagonal.shape[0]):
        blocks.diagonal[c] = 0.0
    for b in range(parts.first.shape[0] - 1):
        nb, mb = size_of(parts, blocks, b)
        width = padded(nb + mb)
        K, L = lend(blocks.K, blocks.at[b, 0], (nb + mb, width)), lend(blocks.L, blocks.at[b, 1], (nb, width))
        reduce(lend(blocks.E, blocks.at[b, 3], (nb, 1 + nb + mb)), K, L, nb)
        for r in range(mb):
            blocks.diagonal[blocks.row[blocks.rows[b] + r]] += K[nb + r, nb + r]


@bare
def _joint(joints, parts, blocks, n, j, qj, g, dt, share, w):
    """What joint j and the joints above it bring to their block: see bunraku.dynamics.joint_pairs."""
    b = parts.part[qj]
    nb, mb = size_of(parts, blocks, b)
    K, D22 = lend(blocks.K, blocks.at[b, 0], (nb + mb, padded(nb + mb))), lend(blocks.D22, blocks.at[b, 2], (nb, nb))
    F, G, gamma = columns(j, g, w.S, w.T, w.I, w.P)
    y, i = parts.local[qj], j
    while i >= 0:
        qi = joints[i].variable
        if qi < n:
            x = parts.local[qi]
            S, T = get6(w.S, i), get6(w.T, i)
            qq, vv = dt * (dot6(T, G) + dot3(get3(w.S, i), gamma)), dot6(S, F) / dt
            qv, vq = dot6(T, F), dot6(S, G)
            K[x, y], K[y, x] = 0.25 * qq + 0.5 * (qv - vq) - vv, 0.25 * qq + 0.5 * (vq - qv) - vv
            D22[x, y] = D22[y, x] = 0.25 * qq + 0.5 * (qv + vq) + vv
        i = joints[i].parent
    _alone(joints[j], dt, share, K, D22, y)


@bare
def _joints_at_once(joints, parts, blocks, n, nm, g, dt, share, w):
    """The same of all joints, eight pairs at a time, where there are few."""
    last, scale, Y = 0, (dt, 1.0 / dt, 1.0), w.Y
    spread(joints, nm, 0, w.S, w.T, w.columns)
    put_columns(nm, g, w.S, w.T, w.I, w.P, w.pair)
    for j in range(nm):
        qj = joints[j].variable
        last = max(last, qj + 1)
        if qj >= n:
            continue
        pair_rows(Y, w.pair, j, scale, w.columns, last)
        b = parts.part[qj]
        nb, mb = size_of(parts, blocks, b)
        K, D22 = lend(blocks.K, blocks.at[b, 0], (nb + mb, padded(nb + mb))), lend(blocks.D22, blocks.at[b, 2], (nb, nb))
        y, i = parts.local[qj], j
        while i >= 0:
            qi = joints[i].variable
            if qi < n:
                x, r, k = parts.local[qi], qi >> 3, qi & 7
                dd = Y[r, 0, k]
                K[x, y], K[y, x] = Y[r, 1, k] - dd, Y[r, 2, k] - dd
                D22[x, y] = D22[y, x] = dd
            i = joints[i].parent
        _alone(joints[j], dt, share, K, D22, y)


@woven
def _alone(joint, dt, share, K, D22, y):
    """What stiffness, armature and damping of a joint bring."""
    odd, damping = 0.25 * dt * joint.stiffness, joint.damping
    K[y, y] -= odd + joint.armature / dt + share * damping
    D22[y, y] += joint.armature / dt - odd - (1.0 - share) * damping


@bare
def _add_springs(tree, parts, blocks, w, dt, share, u, o):
    spring_forces(tree, w.qm, w.vq, u, o, w.R, w.p, w.S, w.x, w.f, w.n, w.d, w.e, w.As, w.Lqq, w.Fq, w.Fv)
    for b in range(parts.first.shape[0] - 1):
        nb, mb = size_of(parts, blocks, b)
        K, D22 = lend(blocks.K, blocks.at[b, 0], (nb + mb, padded(nb + mb))), lend(blocks.D22, blocks.at[b, 2], (nb, nb))
        for x in range(nb):
            for y in range(nb):
                i, j = parts.variables[parts.first[b] + x], parts.variables[parts.first[b] + y]
                even, force = 0.25 * dt * w.Lqq[i, j], 0.5 * dt * w.Fq[i, j] + w.Fv[i, j]
                K[x, y] += even + share * force
                D22[x, y] += even + (1.0 - share) * force


@bare
def eliminate(tree, parts, blocks, r, g):
    """The residual r of the variables (kept in blocks.b) off the residuals g of the rows, in place."""
    for b in range(parts.first.shape[0] - 1):
        nb, mb = size_of(parts, blocks, b)
        x = lend(blocks.b, parts.first[b] + blocks.rows[b], (nb + mb,))
        for j in range(nb):
            x[j] = r[parts.variables[parts.first[b] + j]]
        for k in range(mb):
            x[nb + k] = 0.0
        down(lend(blocks.E, blocks.at[b, 3], (nb, 1 + nb + mb)), lend(blocks.L, blocks.at[b, 1], (nb, padded(nb + mb))), nb, x)
        for k in range(mb):
            g[blocks.row[blocks.rows[b] + k]] += x[nb + k]


@bare
def substitute(tree, parts, blocks, delta, r, p1):
    """The corrections r of the variables for δλ of the rows, after `eliminate`; and what they do to p1 is taken off it."""
    for b in range(parts.first.shape[0] - 1):
        nb, mb = size_of(parts, blocks, b)
        x = lend(blocks.b, parts.first[b] + blocks.rows[b], (nb + mb,))
        for k in range(mb):
            x[nb + k] = delta[blocks.row[blocks.rows[b] + k]]
        up(lend(blocks.E, blocks.at[b, 3], (nb, 1 + nb + mb)), lend(blocks.K, blocks.at[b, 0], (nb + mb, padded(nb + mb))), nb, x)
        D22 = lend(blocks.D22, blocks.at[b, 2], (nb, nb))
        for j in range(nb):
            d, k = parts.variables[parts.first[b] + j], 0
            r[d] = x[j]
            y, y1, y2, y3 = 0.0, 0.0, 0.0, 0.0  # four sums side by side: each waits for itself
            while k + 3 < nb:
                y += D22[j, k] * x[k]
                y1 += D22[j, k + 1] * x[k + 1]
                y2 += D22[j, k + 2] * x[k + 2]
                y3 += D22[j, k + 3] * x[k + 3]
                k += 4
            while k < nb:
                y += D22[j, k] * x[k]
                k += 1
            p1[d] -= y + y1 + y2 + y3
