"""What a sweep of Gauss and Seidel reads of each row, laid out in arrays: sweeps are most of a step with many contacts."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.complementarity import LINKS
from bunraku.dynamics.friction import is_first
from bunraku.dynamics.touch.touch_parts import size_of
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import lend, padded
from bunraku.kernels.compile import bare, inline, woven


class RowRole(IntEnum):
    """What a row does in a sweep."""

    PULLS = 0
    """Its impulse is at least zero: strings, normals of contacts."""
    HOLDS = 1
    """Its impulse may have either sign."""
    SLIPS = 2
    """The first of two slips, or of two turns."""
    SECOND = 3
    """The second of them, which goes with the first."""
    IDLE = 4
    """Nothing moves it."""


class SweepPlan(NamedTuple):
    """All rows that are near, m of them. W is the matrix of the rows: change of their gaps by their impulses."""

    row: Any
    """(m,) as numbered in the step."""
    role: Any
    """(m,) a RowRole."""
    normal: Any
    """(m,) place among these of the normal of a slip."""
    friction: Any
    """(m,) of a slip."""
    diagonal: Any
    """(m,) of W."""
    at: Any
    """(m, 2) where the row of W begins in blocks.K, for each of the two parts that it moves with."""
    first: Any
    """(m, 2) where the changes of the rows of that part begin in blocks.change."""
    count: Any
    """(m, 2) how many these are; 0: there is no such part."""
    own: Any
    """(m, 2) where its own change is."""
    gap: Any
    """(m,) that the impulses `start` would leave."""
    start: Any
    """(m,) impulses from which changes count."""
    x: Any
    """(m,) impulses."""
    numbers: Any
    """What holds all these."""
    places: Any


@inline
def sweep_plan(tree, parts, blocks, g, lam, near, m, scale):
    """The plan of the `m` rows that are `near`, at the impulses `lam` with the gaps g. `scale` is the largest diagonal."""
    numbers, places = np.zeros(5 * m), np.zeros(11 * m, np.int64)  # few allocations
    plan = SweepPlan(
        row=lend(places, 0, (m,)), role=lend(places, m, (m,)), normal=lend(places, 2 * m, (m,)), at=lend(places, 3 * m, (m, 2)),
        first=lend(places, 5 * m, (m, 2)), count=lend(places, 7 * m, (m, 2)), own=lend(places, 9 * m, (m, 2)),
        friction=lend(numbers, 0, (m,)), diagonal=lend(numbers, m, (m,)), gap=lend(numbers, 2 * m, (m,)),
        start=lend(numbers, 3 * m, (m,)), x=lend(numbers, 4 * m, (m,)), numbers=numbers, places=places,
    )  # fmt: skip
    _lay_out(tree, parts, blocks, g, lam, near, scale, plan)
    return plan


@bare
def _lay_out(tree, parts, blocks, g, lam, near, scale, plan):
    k = 0
    for c in range(tree.links.shape[0]):
        if not near[c]:
            continue
        link, W = tree.links[c], blocks.diagonal[c]
        plan.row[k], plan.diagonal[k], plan.gap[k], plan.start[k], plan.x[k] = c, W, g[c], lam[c], lam[c]
        for i in range(2):
            b = blocks.owner[c, i]
            if b >= 0:
                nb, mb = size_of(parts, blocks, b)
                plan.at[k, i] = blocks.at[b, 0] + (nb + blocks.owner[c, 2 + i]) * padded(nb + mb) + nb
                plan.first[k, i], plan.count[k, i] = blocks.rows[b], mb
                plan.own[k, i] = blocks.rows[b] + blocks.owner[c, 2 + i]
        if link.kind != LinkKind.SLIP:
            plan.role[k] = RowRole.PULLS if link.pulls else RowRole.HOLDS
            if not -LINKS.redundant * scale > W:
                plan.role[k] = RowRole.IDLE
        else:
            plan.normal[k], plan.friction[k] = k - c + link.normal, link.friction  # rows of a contact are near together
            plan.role[k] = RowRole.SLIPS if is_first(link, c) else RowRole.SECOND
            if plan.role[k] == RowRole.SLIPS and not (W < 0.0 and blocks.diagonal[c + 1] < 0.0):  # nothing moves along the surface
                plan.role[k] = RowRole.IDLE
        k += 1
    for i in range(blocks.change.shape[0]):
        blocks.change[i] = 0.0


@woven
def put_impulse(plan, blocks, k, value):
    """The impulse of row k becomes `value`."""
    plan.x[k] = value
    change = value - plan.start[k]
    if plan.count[k, 0] > 0:
        blocks.change[plan.own[k, 0]] = change
    if plan.count[k, 1] > 0:
        blocks.change[plan.own[k, 1]] = change


@bare
def gap_left(plan, blocks, k):
    """The gap of row k that the impulses leave."""
    out, x, y, z = plan.gap[k], 0.0, 0.0, 0.0  # four sums side by side: each waits for itself
    for i in range(2):
        at, first, count = plan.at[k, i], plan.first[k, i], plan.count[k, i]
        r = 0
        while r + 3 < count:
            out += blocks.K[at + r] * blocks.change[first + r]
            x += blocks.K[at + r + 1] * blocks.change[first + r + 1]
            y += blocks.K[at + r + 2] * blocks.change[first + r + 2]
            z += blocks.K[at + r + 3] * blocks.change[first + r + 3]
            r += 4
        while r < count:
            out += blocks.K[at + r] * blocks.change[first + r]
            r += 1
    return out + x + y + z


@woven
def slip_left(plan, blocks, k, give):
    """The slip or turn k that the impulses leave, less that by which it gives way."""
    return gap_left(plan, blocks, k) + give * plan.diagonal[k] * (plan.x[k] - plan.start[k])


@bare
def trial_slip(plan, blocks, k, give):
    """(y₁, y₂, |y|) of the slips or turns k and k + 1."""
    weight = (1.0 + give) * min(plan.diagonal[k], plan.diagonal[k + 1])
    a = plan.x[k] - slip_left(plan, blocks, k, give) / weight
    b = plan.x[k + 1] - slip_left(plan, blocks, k + 1, give) / weight
    return a, b, math.sqrt(a * a + b * b)


@bare
def sweep(plan, blocks, give):
    """Each row in turn gets the impulse that suits the others."""
    for k in range(plan.x.shape[0]):
        role = plan.role[k]
        if role <= RowRole.HOLDS:
            value = plan.x[k] - gap_left(plan, blocks, k) / plan.diagonal[k]
            put_impulse(plan, blocks, k, value if role == RowRole.HOLDS else max(value, 0.0))
        elif role == RowRole.SLIPS:
            a, b, size = trial_slip(plan, blocks, k, give)
            radius = plan.friction[k] * plan.x[plan.normal[k]]
            part = 1.0 if size <= radius else radius / size
            put_impulse(plan, blocks, k, part * a)
            put_impulse(plan, blocks, k + 1, part * b)
