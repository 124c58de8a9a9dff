"""Impulses of all rows of a linearised step with touch: links, contacts, friction, rolling resistance.

Sweeps of Gauss and Seidel, mixed with those before (Anderson 1965; bunraku.dynamics.touch.mixing): after each sweep the impulses go
where its change would be least, if it were linear in them. Where there are few rows, Newton's method then finds the exact numbers
(bunraku.dynamics.friction).

Many bodies that stick to each other are held more often than they can move: slips of a closed ring of balls contradict each other
in the last digits, and no impulses hold them all. So, where sweeps do not end, a contact that sticks gives way a little where its
impulse changes: it slips by s W (λ₀ − λ), with λ₀ the impulse of the last step and W < 0 the diagonal. What rests does not creep.
A contact that has no last step, because features changed while bodies rest, takes for λ₀ what the sweeps have found so far.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bunraku.dynamics.complementarity import LINKS
from bunraku.dynamics.friction import is_first, newton_impulses
from bunraku.dynamics.touch.mixing import mix_sweeps, mixer
from bunraku.dynamics.touch.touch_parts import size_of
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import lend, padded
from bunraku.kernels.compile import bare, borrow, inline, keep, woven


class ImpulseOptions(NamedTuple):
    """Numbers that tune how impulses are found."""

    first_sweeps: int = 4
    """Sweeps before Newton's method is tried."""
    max_sweeps: int = 300
    """Sweeps in all, at most."""
    most_rows: int = 150
    """Rows for which Newton's method is tried."""
    few_rows: int = 24
    """Rows that are solved to the last digit, as derivatives want it."""
    tolerance: float = 1e-12
    """Change of a gap in a sweep that is none [m], where there are more rows."""
    relative: float = 1e-6
    """The same, relative to the largest residual: the next iteration of the step does the rest."""
    firm_sweeps: int = 40
    """Sweeps after which contacts that stick give way, where there are more than few rows."""
    give: float = 0.02
    """s: by which share of what its impulse moves it alone a contact that sticks gives way then."""
    loose_tolerance: float = 1e-10
    """`tolerance` from then on [m]."""
    loose_relative: float = 1e-5
    """`relative` from then on."""


IMPULSES = ImpulseOptions()


@inline
def touch_impulses(tree, parts, blocks, g, lam, old, w):
    """δλ of all rows that are near, in w.delta, and which of them act. g are the gaps that λ would leave, `old` is λ₀.

    Returns how far gaps may be from what they should be [m].
    """
    nc, near, alive, slides, delta = tree.links.shape[0], w.near, w.alive, w.slides, w.delta
    own, m = np.empty(nc, np.int64), 0
    scale, wrong = 0.0, 0.0
    for c in range(nc):
        if near[c]:
            own[m] = c
            m += 1
            scale = max(scale, abs(blocks.diagonal[c]))
            wrong = max(wrong, abs(g[c]))
        else:
            delta[c], alive[c], slides[c] = lam[c], False, False
    if m == 0:
        return 0.0
    own = own[:m]
    x, before = np.empty(nc), np.empty(nc)
    for c in range(nc):
        x[c] = lam[c]
    for k in range(blocks.change.shape[0]):
        blocks.change[k] = 0.0
    if m <= IMPULSES.few_rows:
        tolerance = 1e-15 + 1e-11 * wrong
    else:
        tolerance = IMPULSES.tolerance + IMPULSES.relative * wrong
    give = 0.0
    lent = mixer(m)
    mix = borrow(lent)
    sweeps, tried, newton = 0, IMPULSES.first_sweeps, m <= IMPULSES.most_rows
    y, active, sliding = np.empty(m), np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    exact = False
    while sweeps < IMPULSES.max_sweeps:
        for k in range(m):
            before[own[k]] = x[own[k]]
        _sweep(tree, parts, blocks, own, g, lam, x, scale, give)
        sweeps += 1
        worst = 0.0
        for k in range(m):
            c = own[k]
            mix.x[k], mix.f[k] = x[c], x[c] - before[c]
            mix.weight[k] = -blocks.diagonal[c]
            worst = max(worst, abs(mix.f[k] * mix.weight[k]))
        if worst < tolerance:
            break
        if newton and sweeps >= tried:
            tried *= 3 if m < IMPULSES.most_rows // 2 else 100
            exact = _polish(tree, parts, blocks, own, g, lam, x, y, active, sliding, w, scale, give, tolerance)
            if exact:
                break
        if sweeps == IMPULSES.firm_sweeps and m > IMPULSES.few_rows:
            give, tolerance = IMPULSES.give, IMPULSES.loose_tolerance + IMPULSES.loose_relative * wrong
            mix.count[0] = 0
            for c in range(nc):  # slips that λ leaves, less those by which they may give way
                if near[c] and tree.links[c].kind == LinkKind.SLIP:
                    base = x[c] if old[c] == 0.0 else old[c]
                    g[c] += give * blocks.diagonal[c] * (lam[c] - base)
            continue
        mix_sweeps(mix)
        for k in range(m):
            _set(blocks, own[k], mix.x[k], lam, x)
    keep(lent)
    for k in range(m):
        c = own[k]
        if exact:
            delta[c], alive[c], slides[c] = lam[c] - y[k], active[k], sliding[k]
        else:
            delta[c] = lam[c] - x[c]
    if not exact:
        _modes(tree, parts, blocks, own, g, lam, x, alive, slides, give)
    return 0.0 if exact or (give == 0.0 and m <= IMPULSES.most_rows) else tolerance


@woven
def _set(blocks, c, value, lam, x):
    """Impulse c becomes `value`, also where products with blocks read it."""
    x[c] = value
    for k in range(2):
        b = blocks.owner[c, k]
        if b >= 0:
            blocks.change[blocks.rows[b] + blocks.owner[c, 2 + k]] = value - lam[c]


@bare
def _rest(parts, blocks, g, c):
    """The gap of row c that the impulses leave."""
    out = g[c]
    for k in range(2):
        b = blocks.owner[c, k]
        if b >= 0:
            nb, mb = size_of(parts, blocks, b)
            at = blocks.at[b, 0] + (nb + blocks.owner[c, 2 + k]) * padded(nb + mb) + nb
            first, r = blocks.rows[b], 0
            x, y, z = 0.0, 0.0, 0.0  # four sums side by side: each waits for itself
            while r + 3 < mb:
                out += blocks.K[at + r] * blocks.change[first + r]
                x += blocks.K[at + r + 1] * blocks.change[first + r + 1]
                y += blocks.K[at + r + 2] * blocks.change[first + r + 2]
                z += blocks.K[at + r + 3] * blocks.change[first + r + 3]
                r += 4
            while r < mb:
                out += blocks.K[at + r] * blocks.change[first + r]
                r += 1
            out += x + y + z
    return out


@bare
def _sweep(tree, parts, blocks, own, g, lam, x, scale, give):
    for k in range(own.shape[0]):
        c = own[k]
        link, W = tree.links[c], blocks.diagonal[c]
        if link.kind != LinkKind.SLIP:
            if -LINKS.redundant * scale > W:
                value = x[c] - _rest(parts, blocks, g, c) / W
                _set(blocks, c, max(value, 0.0) if link.pulls else value, lam, x)
        elif is_first(link, c) and W < 0.0 and blocks.diagonal[c + 1] < 0.0:  # else nothing moves along the surface
            a, b, size = _trial(parts, blocks, g, lam, x, c, give)
            radius = link.friction * x[link.normal]
            part = 1.0 if size <= radius else radius / size
            _set(blocks, c, part * a, lam, x)
            _set(blocks, c + 1, part * b, lam, x)


@bare
def _trial(parts, blocks, g, lam, x, c, give):
    """(y₁, y₂, |y|) of the slips or turns c and c + 1."""
    weight = (1.0 + give) * min(blocks.diagonal[c], blocks.diagonal[c + 1])
    a = x[c] - _slip(parts, blocks, g, lam, x, c, give) / weight
    b = x[c + 1] - _slip(parts, blocks, g, lam, x, c + 1, give) / weight
    return a, b, math.sqrt(a * a + b * b)


@woven
def _slip(parts, blocks, g, lam, x, c, give):
    """The slip or turn c that the impulses leave, less that by which it gives way."""
    return _rest(parts, blocks, g, c) + give * blocks.diagonal[c] * (x[c] - lam[c])


@bare
def _modes(tree, parts, blocks, own, g, lam, x, alive, slides, give):
    """Which rows act, and which contacts slide, where sweeps have found the impulses."""
    for k in range(own.shape[0]):
        c = own[k]
        link = tree.links[c]
        if link.kind != LinkKind.SLIP:
            alive[c] = link.pulls == 0 or x[c] > 0.0
            slides[c] = False
        else:
            alive[c] = alive[link.normal]
            if is_first(link, c):
                moves, radius = blocks.diagonal[c] < 0.0 and blocks.diagonal[c + 1] < 0.0, link.friction * x[link.normal]
                slides[c] = alive[c] and moves and _trial(parts, blocks, g, lam, x, c, give)[2] > radius * (1.0 + 1e-12)
            else:
                slides[c] = slides[c - 1]


@inline
def _polish(tree, parts, blocks, own, g, lam, x, y, active, sliding, w, scale, give, tolerance):
    """Newton's method from x, into y. Returns whether it converged."""
    m = own.shape[0]
    W, B, rest = np.zeros((m, m)), np.empty((m, m + 1)), np.empty(m)
    at = np.full(tree.links.shape[0], -1)
    for k in range(m):
        c = own[k]
        at[c] = k
        y[k], rest[k] = x[c], _rest(parts, blocks, g, c)
        if tree.links[c].kind == LinkKind.SLIP:
            W[k, k] = give * blocks.diagonal[c]
            rest[k] = _slip(parts, blocks, g, lam, x, c, give)
    for b in range(parts.first.shape[0] - 1):
        nb, mb = size_of(parts, blocks, b)
        K, first = lend(blocks.K, blocks.at[b, 0], (nb + mb, padded(nb + mb))), blocks.rows[b]
        for i in range(mb):
            for j in range(mb):
                W[at[blocks.row[first + i]], at[blocks.row[first + j]]] += K[nb + i, nb + j]
    return newton_impulses(tree.links, own, W, rest, y, active, sliding, w.side, w.exponent, B, scale, tolerance)
