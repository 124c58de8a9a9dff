"""Impulses of all rows of a linearised step with touch: links, contacts, friction, rolling resistance.

Sweeps of Gauss and Seidel, accelerated as nonlinear conjugate gradients are (Silcowitz, Niebe, Erleben 2010): after each sweep the
impulses go on along the last direction, by β = |step|²/|last step|², as long as steps shrink. Where there are few rows, Newton's
method then finds the exact numbers (bunraku.dynamics.friction).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bunraku.dynamics.complementarity import LINKS
from bunraku.dynamics.friction import is_first, newton_impulses
from bunraku.dynamics.touch.touch_parts import size_of
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import lend, padded
from bunraku.kernels.compile import bare, inline, woven


class ImpulseOptions(NamedTuple):
    """Numbers that tune how impulses are found."""

    first_sweeps: int = 10
    """Sweeps before Newton's method is tried."""
    max_sweeps: int = 300
    """Sweeps in all, at most."""
    most_rows: int = 150
    """Rows for which Newton's method is tried."""
    few_rows: int = 24
    """Rows that are solved to the last digit, as derivatives want it."""
    tolerance: float = 1e-12
    """Change of a gap in a sweep that is none [m], where there are more rows."""
    many_tolerance: float = 1e-10
    """The same where there are too many for Newton's method [m]."""
    relative: float = 1e-6
    """The same, relative to the largest residual: the next iteration of the step does the rest."""


IMPULSES = ImpulseOptions()


@inline
def touch_impulses(tree, parts, blocks, g, lam, w):
    """δλ of all rows that are near, in w.delta, and which of them act. g are the gaps that λ would leave."""
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
        return
    own = own[:m]
    x, before, way = np.empty(nc), np.empty(nc), np.zeros(nc)
    for c in range(nc):
        x[c] = lam[c]
    for k in range(blocks.change.shape[0]):
        blocks.change[k] = 0.0
    if m <= IMPULSES.few_rows:
        tolerance = 1e-15 + 1e-11 * wrong
    else:
        none = IMPULSES.tolerance if m <= IMPULSES.most_rows else IMPULSES.many_tolerance
        tolerance = none + IMPULSES.relative * wrong
    sweeps, last, tried, newton = 0, math.inf, IMPULSES.first_sweeps, m <= IMPULSES.most_rows
    y, active, sliding = np.empty(m), np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    exact = False
    while sweeps < IMPULSES.max_sweeps:
        for k in range(m):
            before[own[k]] = x[own[k]]
        _sweep(tree, parts, blocks, own, g, lam, x, scale)
        sweeps += 1
        worst, square = 0.0, 0.0
        for k in range(m):
            c = own[k]
            step = x[c] - before[c]
            worst = max(worst, abs(step * blocks.diagonal[c]))
            square += step * step
        if worst < tolerance:
            break
        if newton and sweeps >= tried:
            tried *= 3
            exact = _polish(tree, parts, blocks, own, g, x, y, active, sliding, w, scale, tolerance)
            if exact:
                break
        beta = square / last if last > 0.0 else 0.0
        last = square
        for k in range(m):
            c = own[k]
            step = x[c] - before[c]
            if beta > 1.0:
                way[c] = 0.0
            elif sweeps > 1:
                _set(blocks, c, x[c] + beta * way[c], lam, x)
                way[c] = beta * way[c] + step
            else:
                way[c] = step
    for k in range(m):
        c = own[k]
        if exact:
            delta[c], alive[c], slides[c] = lam[c] - y[k], active[k], sliding[k]
        else:
            delta[c] = lam[c] - x[c]
    if not exact:
        _modes(tree, parts, blocks, own, g, lam, x, alive, slides)


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
            first = blocks.rows[b]
            for r in range(mb):
                out += blocks.K[at + r] * blocks.change[first + r]
    return out


@bare
def _sweep(tree, parts, blocks, own, g, lam, x, scale):
    for k in range(own.shape[0]):
        c = own[k]
        link, W = tree.links[c], blocks.diagonal[c]
        if link.kind != LinkKind.SLIP:
            if -LINKS.redundant * scale > W:
                value = x[c] - _rest(parts, blocks, g, c) / W
                _set(blocks, c, max(value, 0.0) if link.pulls else value, lam, x)
        elif is_first(link, c) and W < 0.0 and blocks.diagonal[c + 1] < 0.0:  # else nothing moves along the surface
            a, b, size = _trial(parts, blocks, g, x, c)
            radius = link.friction * x[link.normal]
            part = 1.0 if size <= radius else radius / size
            _set(blocks, c, part * a, lam, x)
            _set(blocks, c + 1, part * b, lam, x)


@bare
def _trial(parts, blocks, g, x, c):
    """(y₁, y₂, |y|) of the slips or turns c and c + 1."""
    weight = min(blocks.diagonal[c], blocks.diagonal[c + 1])
    a, b = x[c] - _rest(parts, blocks, g, c) / weight, x[c + 1] - _rest(parts, blocks, g, c + 1) / weight
    return a, b, math.sqrt(a * a + b * b)


@bare
def _modes(tree, parts, blocks, own, g, lam, x, alive, slides):
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
                moves = blocks.diagonal[c] < 0.0 and blocks.diagonal[c + 1] < 0.0
                slides[c] = (
                    alive[c] and moves and _trial(parts, blocks, g, x, c)[2] > link.friction * x[link.normal] * (1.0 + 1e-12)
                )
            else:
                slides[c] = slides[c - 1]


@inline
def _polish(tree, parts, blocks, own, g, x, y, active, sliding, w, scale, tolerance):
    """Newton's method from x, into y. Returns whether it converged."""
    m = own.shape[0]
    W, B, rest = np.zeros((m, m)), np.empty((m, m + 1)), np.empty(m)
    at = np.full(tree.links.shape[0], -1)
    for k in range(m):
        at[own[k]] = k
        y[k], rest[k] = x[own[k]], _rest(parts, blocks, g, own[k])
    for b in range(parts.first.shape[0] - 1):
        nb, mb = size_of(parts, blocks, b)
        K, first = lend(blocks.K, blocks.at[b, 0], (nb + mb, padded(nb + mb))), blocks.rows[b]
        for i in range(mb):
            for j in range(mb):
                W[at[blocks.row[first + i]], at[blocks.row[first + j]]] += K[nb + i, nb + j]
    return newton_impulses(tree.links, own, W, rest, y, active, sliding, w.side, w.exponent, B, scale, tolerance)
