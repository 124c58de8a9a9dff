"""Impulses of many rows of bodies of which no two have more than one contact: see bunraku.dynamics.touch.touch_impulses.

Here a sweep reads of each contact only what it does to its two bodies (bunraku.dynamics.touch.body_rows).
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.dynamics.touch.body_rows import Law, start_from
from bunraku.dynamics.touch.mixing import mix_sweeps, mixer
from bunraku.dynamics.touch.sweep_plan import RowRole
from bunraku.dynamics.touch.touch_impulses import IMPULSES
from bunraku.figure.records import LinkKind
from bunraku.kernels.compile import bare, borrow, inline, keep, woven
from bunraku.kernels.pair_sums import add_pairs_1, add_pairs_2, add_pairs_3, pair_sums_1, pair_sums_2, pair_sums_3


@inline
def body_impulses(tree, rows, g, lam, old, w, give, aim):
    """δλ of the `rows`, in w.delta, and which of them act; arguments as of `touch_impulses`.

    `give`: by which share contacts gave way in the last iteration of the step
    `aim`: how far sweeps should lower the change that they make [m], 0 in the first iteration

    `rows.left` takes what they leave. Returns how far that may be from what it should be [m], and new `give` and `aim`.
    """
    m, wrong = rows.row.shape[0], 0.0
    for c in range(tree.links.shape[0]):
        wrong = max(wrong, abs(g[c]) if w.near[c] else 0.0)
        w.delta[c] = lam[c]
        if not w.near[c]:
            w.alive[c] = w.slides[c] = False
    start_from(rows, g, lam)
    lent = mixer(rows.state, m, rows.mixed)
    mix = borrow(lent)
    for k in range(m):
        mix.weight[k] = -rows.diagonal[k]
    given, tolerance, worst, first, rough = 0.0, IMPULSES.tolerance + IMPULSES.relative * wrong, 0.0, 0.0, 0.0
    until = 0 if give > 0.0 else IMPULSES.ring_sweeps
    for sweeps in range(IMPULSES.max_sweeps):
        if sweeps == until:
            give = max(give, IMPULSES.give) if given == 0.0 else 4.0 * given
            mix.count[0], mix.least[0] = 0, np.inf
            _give_way(rows, old, given, give)
            given, until = give, sweeps + IMPULSES.patience
        worst = _change(rows, mix)
        if sweeps == 0:
            first = worst
            rough = IMPULSES.rough * first if aim == 0.0 and IMPULSES.rough * first > IMPULSES.max_vague else 0.0
            aim = _aim(first) if aim == 0.0 else aim
        if given > 0.0:
            tolerance = max(aim, rough)
        if worst < tolerance:
            break
        mix_sweeps(mix, True)
    _modes(tree, rows, w.alive, w.slides)
    for k in range(m):
        c = rows.row[k]
        rows.left[k] = rows.law[k, Law.GAP] + rows.law[k, Law.OWN] * old[c]
        rows.left[k] += pair_sums_1(rows.A, k, rows.q, rows.part[k, 0], rows.part[k, 1])[0]
    for k in range(m):
        w.delta[rows.row[k]] = lam[rows.row[k]] - rows.x[k]
    keep(lent)
    return max(worst, tolerance), given, aim


@woven
def _aim(first):
    """How far a step whose first sweep changes gaps by `first` should lower that [m]."""
    still = IMPULSES.loose_tolerance + IMPULSES.ring_relative * first
    return min(still, max(IMPULSES.fine_tolerance, min(IMPULSES.fine * first, 0.25 * IMPULSES.max_vague)))


@bare
def _change(rows, mix):
    """A sweep, and what it changes. Returns by how much an impulse has changed its own gap, at most [m]."""
    for k in range(mix.x.shape[0]):
        mix.f[k] = -mix.x[k]
    body_sweep(rows)
    for k in range(mix.x.shape[0]):
        mix.f[k] += mix.x[k]
    worst = 0.0
    for k in range(mix.weight.shape[0]):
        worst = max(worst, abs(mix.f[k] * mix.weight[k]))
    return worst


@bare
def _give_way(rows, old, before, give):
    """Slips are less by what contacts may give way where their impulses are not those of the last step: `give`, not `before`."""
    for k in range(rows.x.shape[0]):
        if rows.law[k, Law.FRICTION] > 0.0:  # slips and turns
            c = rows.row[k]
            if old[c] == 0.0:
                old[c] = rows.x[k]
            rows.law[k, Law.OWN] = give * rows.diagonal[k]
            rows.law[k, Law.GAP] -= (give - before) * rows.diagonal[k] * old[c]
            rows.law[k, Law.INVERSE] *= (1.0 + before) / (1.0 + give)


@woven
def _tried(rows, k, s, t):
    """The impulses (y₁, y₂) of the slips or turns k and k + 1 which would end these, s and t without what gives way; |y|; and the
    share of them that friction allows."""
    a, b, inverse = rows.x[k], rows.x[k + 1], rows.law[k, Law.INVERSE]
    u = a - inverse * (s + rows.law[k, Law.GAP] + rows.law[k, Law.OWN] * a)
    v = b - inverse * (t + rows.law[k + 1, Law.GAP] + rows.law[k + 1, Law.OWN] * b)
    size = math.sqrt(u * u + v * v)
    radius = rows.law[k, Law.FRICTION] * rows.x[rows.normal[k]]
    return u, v, size, 1.0 if size <= radius else radius / size


@bare
def body_sweep(rows):
    """Each row in turn gets the impulse that suits the others."""
    k, m = 0, rows.x.shape[0]
    while k < m:
        a, b, role = rows.part[k, 0], rows.part[k, 1], rows.role[k]
        if rows.rubs[k]:
            h, s, t = pair_sums_3(rows.A, k, rows.q, a, b)
            x = rows.x[k]
            rows.x[k] = max(x - (h + rows.law[k, Law.GAP]) * rows.law[k, Law.INVERSE], 0.0)
            x = rows.x[k] - x
            u, v, _, part = _tried(rows, k + 1, s + rows.law[k + 1, Law.LEAD] * x, t + rows.law[k + 2, Law.LEAD] * x)
            add_pairs_3(rows.q, a, b, rows.U, k, (x, part * u - rows.x[k + 1], part * v - rows.x[k + 2]))
            rows.x[k + 1], rows.x[k + 2] = part * u, part * v
            k += 3
        elif role <= RowRole.HOLDS:
            x = rows.x[k] - (pair_sums_1(rows.A, k, rows.q, a, b)[0] + rows.law[k, Law.GAP]) * rows.law[k, Law.INVERSE]
            x = x if role == RowRole.HOLDS else max(x, 0.0)
            add_pairs_1(rows.q, a, b, rows.U, k, (x - rows.x[k],))
            rows.x[k] = x
            k += 1
        elif role == RowRole.SLIPS:
            s, t = pair_sums_2(rows.A, k, rows.q, a, b)
            u, v, _, part = _tried(rows, k, s, t)
            add_pairs_2(rows.q, a, b, rows.U, k, (part * u - rows.x[k], part * v - rows.x[k + 1]))
            rows.x[k], rows.x[k + 1] = part * u, part * v
            k += 2
        else:
            k += 1


@bare
def _modes(tree, rows, alive, slides):
    """Which rows act, and which contacts slide."""
    for k in range(rows.x.shape[0]):
        c = rows.row[k]
        link = tree.links[c]
        if link.kind != LinkKind.SLIP:
            alive[c], slides[c] = link.pulls == 0 or rows.x[k] > 0.0, False
            continue
        alive[c] = alive[link.normal]
        if rows.role[k] == RowRole.SLIPS:
            s, t = pair_sums_2(rows.A, k, rows.q, rows.part[k, 0], rows.part[k, 1])
            _, _, size, _ = _tried(rows, k, s, t)
            slides[c] = alive[c] and size > rows.law[k, Law.FRICTION] * rows.x[rows.normal[k]] * (1.0 + 1e-12)
        else:
            slides[c] = rows.role[k] == RowRole.SECOND and slides[c - 1]
