"""Rows of a step whose parts are single bodies, without the matrix of the rows: a sweep over them costs as much as there are rows.

With K the block of the variables of a part, r its residual and A₀, A₁ the gradients of the rows at both ends of the step, impulses
that change by x − λ leave the gaps

    gap(x) = g − A₁ K⁻¹ r + A₁ q,        q = Σ U (x − λ),        U = K⁻¹ A₀ᵀ

with a sum over all rows of the part. So it is enough to keep q of each part, and to add to it whenever an impulse changes.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.complementarity import LINKS
from bunraku.dynamics.friction import is_first
from bunraku.dynamics.kkt import down, up
from bunraku.dynamics.touch.mixing import mixer_size
from bunraku.dynamics.touch.sweep_plan import RowRole
from bunraku.dynamics.touch.touch_parts import size_of
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import WIDE, add_row, lend, padded
from bunraku.kernels.compile import bare, inline
from bunraku.kernels.pair_sums import add_pairs_1, add_pairs_3, pair_sums_1


class Law(IntEnum):
    """Columns of BodyRows.law."""

    GAP = 0
    """That the impulses `start` would leave; of slips and turns, less by which the impulse 0 would give way."""
    OWN = 1
    """By which a slip or turn gives way, for each unit of its impulse."""
    INVERSE = 2
    """Impulse for each unit of a gap; the same for both slips of a contact, written with the first."""
    LEAD = 3
    """Change of a slip for each unit of impulse of its normal."""
    FRICTION = 4
    """Of a slip."""


class BodyRows(NamedTuple):
    """All m rows that are near. Tables of eights have a line for each part, and one of zeros behind them: none."""

    row: Any
    """(m,) as numbered in the step."""
    role: Any
    """(m,) a RowRole."""
    normal: Any
    """(m,) place among these of the normal of a slip."""
    rubs: Any
    """(m,) 1 where a row is a normal with its two slips behind it."""
    part: Any
    """(m, 2) the parts that each moves with."""
    A: Any
    """(2m, 8) A₁ of each row in its two parts."""
    U: Any
    """(2m, 8) the same of U."""
    diagonal: Any
    """(m,) change of each gap by its own impulse."""
    law: Any
    """(m, 8) what a sweep reads of each row, by `Law`."""
    start: Any
    """(m,) λ."""
    x: Any
    """(m,) impulses."""
    state: Any
    """These, padded to eights, and q behind them: all that sweeps change."""
    left: Any
    """(m,) gaps and slips that these leave, were the step linear."""
    q: Any
    """(parts + 1, 8)"""
    free: Any
    """(parts + 1, 8) K⁻¹ r."""
    inverse: Any
    """(8 parts, 8) the columns of K⁻¹, a line each."""
    mixed: Any
    """What mixing keeps of them."""
    numbers: Any
    """What holds all these. One piece: of several that large, the system would take back some after each step."""
    places: Any


@bare
def are_bodies(parts):
    """Whether no part has more than eight variables."""
    most = 0
    for b in range(parts.first.shape[0] - 1):
        most = max(most, parts.first[b + 1] - parts.first[b])
    return most <= WIDE


@inline
def body_rows(parts, m, w):
    """Room for m rows; none of it is new where there are none, since an allocation takes as long as a short sum."""
    count, kept, numbers, places, long = 0, 0, w.h, w.rows, padded(m)
    if m > 0:
        count = parts.first.shape[0]
        kept = mixer_size(long + count * WIDE, m)
        numbers, places = np.zeros((5 * m + 10 * count + 1) * WIDE + 3 * m + long + kept), np.zeros(6 * m, np.int64)
    first = -(numbers.ctypes.data // 8) % WIDE  # eights that begin where lines of the processor's cache do are read at once
    A, U = lend(numbers, first, (2 * m, WIDE)), lend(numbers, first + 2 * m * WIDE, (2 * m, WIDE))
    law, bodies = lend(numbers, first + 4 * m * WIDE, (m, WIDE)), first + 5 * m * WIDE
    state = bodies + 9 * count * WIDE
    last = state + long + count * WIDE
    return BodyRows(
        row=lend(places, 0, (m,)), role=lend(places, m, (m,)), normal=lend(places, 2 * m, (m,)), rubs=lend(places, 3 * m, (m,)),
        part=lend(places, 4 * m, (m, 2)), A=A, U=U, law=law, free=lend(numbers, bodies, (count, WIDE)),
        inverse=lend(numbers, bodies + count * WIDE, (count * WIDE, WIDE)), x=lend(numbers, state, (m,)),
        state=lend(numbers, state, (long + count * WIDE,)), q=lend(numbers, state + long, (count, WIDE)),
        diagonal=lend(numbers, last, (m,)), start=lend(numbers, last + m, (m,)), left=lend(numbers, last + 2 * m, (m,)),
        mixed=lend(numbers, last + 3 * m, (kept,)), numbers=numbers, places=places,
    )  # fmt: skip


@bare
def put_rows(tree, parts, blocks, w, rows):
    """Everything that stays as it is while impulses change, from the eliminated `blocks` and the gradients in w."""
    _order(tree, w, rows)
    _invert(parts, blocks, rows.inverse)
    scale = 0.0
    for k in range(rows.row.shape[0]):
        _put_row(tree, parts, w, rows, k)
        rows.diagonal[k] = pair_sums_1(rows.A, k, rows.U, 2 * k, 2 * k + 1)[0]
        scale = max(scale, abs(rows.diagonal[k]))
    for k in range(rows.row.shape[0]):
        _put_role(tree, rows, k, scale)


@bare
def _order(tree, w, rows):
    """Numbers the rows, those of a contact together, and contacts of different bodies behind each other.

    A processor works on the next contact while one is not yet done, unless it must wait for what that does to a body.
    """
    count, step = 0, 1
    for c in range(tree.links.shape[0]):
        if w.near[c] and tree.links[c].normal < 0:
            rows.role[count] = c  # for a moment
            count += 1
    step = int(0.618 * count) + 1
    while math.gcd(step, count) != 1:
        step += 1
    k, at = 0, 0
    for _ in range(count):
        c = rows.role[at]
        at = (at + step) % count
        rows.row[k] = c
        k += 1
        first = c
        while c + 1 < tree.links.shape[0] and tree.links[c + 1].normal == first:
            c += 1
            rows.row[k] = c
            k += 1


@bare
def _invert(parts, blocks, inverse):
    """K⁻¹ of each part."""
    for b in range(parts.first.shape[0] - 1):
        nb, mb = size_of(parts, blocks, b)
        width = padded(nb + mb)
        E, K = lend(blocks.E, blocks.at[b, 3], (nb, 1 + nb + mb)), lend(blocks.K, blocks.at[b, 0], (nb + mb, width))
        L, x = lend(blocks.L, blocks.at[b, 1], (nb, width)), lend(blocks.b, 0, (nb,))
        for j in range(nb):
            for i in range(nb):
                x[i] = 0.0
            x[j] = 1.0
            down(E, L, nb, x)
            up(E, K, nb, x)
            for i in range(nb):
                inverse[b * WIDE + j, i] = x[i]


@bare
def _put_row(tree, parts, w, rows, k):
    """The parts of row k, with A and U."""
    c, n, none = rows.row[k], tree.n_dynamic, parts.first.shape[0] - 1
    rows.part[k, 0] = rows.part[k, 1] = none
    for i in range(WIDE):
        rows.A[2 * k, i] = rows.A[2 * k + 1, i] = rows.U[2 * k, i] = rows.U[2 * k + 1, i] = 0.0
    for s in range(tree.support[c, 0] + 1):
        d = tree.joints[tree.support[c, s]].variable if s > 0 else tree.links[c].variable
        if not 0 <= d < n:
            continue
        b = parts.part[d]
        if rows.part[k, 0] == none:
            rows.part[k, 0] = b
        side = 0 if rows.part[k, 0] == b else 1
        rows.part[k, side] = b
        rows.A[2 * k + side, parts.local[d]] = w.A1[c, s]
        add_row(rows.U, 2 * k + side, w.A0[c, s], rows.inverse, b * WIDE + parts.local[d], 0, WIDE)


@bare
def _put_role(tree, rows, k, scale):
    """What row k does in a sweep. `scale` is the largest diagonal."""
    c, W = rows.row[k], rows.diagonal[k]
    link = tree.links[c]
    rows.rubs[k] = False
    if link.kind != LinkKind.SLIP:
        rows.role[k] = RowRole.PULLS if link.pulls else RowRole.HOLDS
        if not -LINKS.redundant * scale > W:
            rows.role[k] = RowRole.IDLE
        return
    first, normal = is_first(link, c), k - c + link.normal  # rows of a contact are near together
    rows.normal[k], rows.law[k, Law.FRICTION], rows.role[k] = normal, link.friction, RowRole.SLIPS if first else RowRole.SECOND
    rows.law[k, Law.LEAD] = pair_sums_1(rows.A, k, rows.U, 2 * normal, 2 * normal + 1)[0]
    if first and not (W < 0.0 and rows.diagonal[k + 1] < 0.0):  # nothing moves along the surface
        rows.role[k] = RowRole.IDLE
    if first and normal == k - 1 and rows.role[k] == RowRole.SLIPS and rows.role[normal] == RowRole.PULLS:
        rows.rubs[normal] = 1


@bare
def free_flight(parts, rows, r, g):
    """K⁻¹ r of each part, and the residuals g of the rows without it, in place."""
    for b in range(parts.first.shape[0] - 1):
        for i in range(WIDE):
            rows.free[b, i] = 0.0
        for j in range(parts.first[b + 1] - parts.first[b]):
            add_row(rows.free, b, r[parts.variables[parts.first[b] + j]], rows.inverse, b * WIDE + j, 0, WIDE)
    for k in range(rows.row.shape[0]):
        g[rows.row[k]] -= pair_sums_1(rows.A, k, rows.free, rows.part[k, 0], rows.part[k, 1])[0]


@bare
def start_from(rows, g, lam):
    """Impulses lam, which leave the gaps g."""
    for k in range(rows.row.shape[0]):
        c = rows.row[k]
        rows.law[k, Law.GAP], rows.law[k, Law.OWN], rows.start[k], rows.x[k] = g[c], 0.0, lam[c], lam[c]
        most = rows.diagonal[k]
        if rows.role[k] == RowRole.SLIPS:
            most = min(most, rows.diagonal[k + 1])
        rows.law[k, Law.INVERSE] = 1.0 / most if most < 0.0 else 0.0
    for b in range(rows.q.shape[0]):
        for i in range(WIDE):
            rows.q[b, i] = 0.0


@bare
def sum_up(rows):
    """q of the impulses x, without what rounding has added up."""
    for b in range(rows.q.shape[0]):
        for i in range(WIDE):
            rows.q[b, i] = 0.0
    k, m = 0, rows.x.shape[0]
    while k < m:
        a, b, d = rows.part[k, 0], rows.part[k, 1], rows.x[k] - rows.start[k]
        if rows.rubs[k]:
            add_pairs_3(rows.q, a, b, rows.U, k, (d, rows.x[k + 1] - rows.start[k + 1], rows.x[k + 2] - rows.start[k + 2]))
            k += 3
        else:
            add_pairs_1(rows.q, a, b, rows.U, k, (d,))
            k += 1


@bare
def land(parts, blocks, rows, r, p1):
    """The corrections r of the variables, and what they do to p1 is taken off it."""
    sum_up(rows)
    for b in range(parts.first.shape[0] - 1):
        first, nb = parts.first[b], parts.first[b + 1] - parts.first[b]
        D22 = lend(blocks.D22, blocks.at[b, 2], (nb, nb))
        for j in range(nb):
            rows.q[b, j] = rows.free[b, j] - rows.q[b, j]
        for j in range(nb):
            y = 0.0
            for k in range(nb):
                y += D22[j, k] * rows.q[b, k]
            r[parts.variables[first + j]] = rows.q[b, j]
            p1[parts.variables[first + j]] -= y
