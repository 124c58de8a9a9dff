"""Impulses of all rows of a linearised step with touch: links, contacts, friction, rolling resistance.

Sweeps of Gauss and Seidel, mixed with those before (Anderson 1965; bunraku.dynamics.touch.mixing): after each sweep the impulses go
where its change would be least, if it were linear in them. Where there are few rows, Newton's method then finds the exact numbers
(bunraku.dynamics.friction); where there are very few, it is tried before any sweep, as if the same rows acted as before.

Many bodies that stick to each other are held more often than they can move: slips of a closed ring of balls contradict each other
in the last digits, and no impulses hold them all. So, where sweeps do not end, a contact that sticks gives way a little where its
impulse changes: it slips by s W (λ₀ − λ), with λ₀ the impulse of the last step and W < 0 the diagonal. What rests does not creep.
A contact that has no last step, because features changed while bodies rest, takes for λ₀ what the sweeps have found so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bunraku.dynamics.friction import newton_impulses
from bunraku.dynamics.touch.mixing import mix_sweeps, mixer, mixer_size
from bunraku.dynamics.touch.sweep_plan import RowRole, gap_left, put_impulse, slip_left, sweep, sweep_plan, trial_slip
from bunraku.dynamics.touch.touch_parts import size_of
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import in_frame, lend, padded
from bunraku.kernels.compile import bare, borrow, inline, keep


class ImpulseOptions(NamedTuple):
    """Numbers that tune how impulses are found."""

    first_sweeps: int = 4
    """Sweeps before Newton's method is tried."""
    max_sweeps: int = 300
    """Sweeps in all, at most."""
    most_rows: int = 150
    """Rows for which Newton's method is tried."""
    few_rows: int = 32
    """Rows that are solved to the last digit, as derivatives want it."""
    tolerance: float = 1e-12
    """Change of a gap in a sweep that is none [m], where there are more rows."""
    relative: float = 1e-6
    """The same, relative to the largest residual: the next iteration of the step does the rest."""
    firm_sweeps: int = 40
    """Sweeps after which contacts that stick give way, where there are more than few rows and faces meet."""
    ring_sweeps: int = 6
    """The same where no faces meet, in the first iteration of a step; later, contacts give way from the start."""
    give: float = 0.1
    """s: by which share of what its impulse moves it alone a contact that sticks gives way then."""
    patience: int = 140
    """Sweeps over bodies after which contacts give way by four times as much."""
    loose_tolerance: float = 1e-10
    """`tolerance` from then on [m]."""
    loose_relative: float = 1e-5
    """`relative` from then on."""
    ring_relative: float = 1e-3
    """Where no faces meet: sweeps end where they change a thousandth of what the first of them did."""
    rough: float = 1e-3
    """By which factor sweeps over bodies lower the change of the first, where another iteration of the step follows anyway."""
    fine: float = 3e-6
    """The same in all iterations of a step together, where bodies move [m]; …"""
    fine_tolerance: float = 1e-9
    """… but not below this [m]."""
    straight: float = 1e-3
    """A correction, below which the next iteration of the step takes the same matrices of bodies [rad or m]."""
    max_vague: float = 1e-8
    """How far sweeps that did not end may be from their end in a step that counts [m]."""


IMPULSES = ImpulseOptions()
_few_numbers = in_frame(np.float64, IMPULSES.few_rows * (2 * IMPULSES.few_rows + 10))
_few_places, _few_flags = in_frame(np.int64, IMPULSES.few_rows), in_frame(np.bool_, 2 * IMPULSES.few_rows)


@inline
def touch_impulses(tree, parts, blocks, g, lam, old, w, rings, loose):
    """δλ of all rows that are near, in w.delta, and which of them act. g are the gaps that λ would leave, `old` is λ₀.

    Where there are `rings` of bodies, of which no two meet by faces, contacts that stick give way from the first sweep on where it
    is `loose`: they did in the last iteration of the step, and λ is what that found. How faces share a load is not determined:
    they would creep. Returns how far gaps may be from what they should be [m], and by which share they gave way.
    """
    nc, near, alive, slides, delta = tree.links.shape[0], w.near, w.alive, w.slides, w.delta
    m, scale, wrong = 0, 0.0, 0.0
    for c in range(nc):
        if near[c]:
            m += 1
            scale = max(scale, abs(blocks.diagonal[c]))
            wrong = max(wrong, abs(g[c]))
        else:
            delta[c], alive[c], slides[c] = lam[c], False, False
    if m == 0:
        return 0.0, 0.0
    if m <= IMPULSES.few_rows:
        tolerance = 1e-15 + 1e-11 * wrong
    else:
        tolerance = IMPULSES.tolerance + IMPULSES.relative * wrong
    if m <= IMPULSES.few_rows and _at_once(tree, parts, blocks, g, lam, w, m, scale, tolerance):
        return 0.0, 0.0
    many = m > IMPULSES.most_rows
    give, firm_sweeps = 0.0, IMPULSES.firm_sweeps
    if rings:
        firm_sweeps = 0 if loose else IMPULSES.ring_sweeps
    planned = sweep_plan(tree, parts, blocks, g, lam, near, m, scale)
    plan = borrow(planned)
    lent = mixer(plan.x, m, np.zeros(mixer_size(m, m)))
    mix = borrow(lent)
    sweeps, tried, newton = 0, IMPULSES.first_sweeps, not many
    y, active, sliding = np.empty(m), np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    exact, worst = False, 0.0
    while sweeps < IMPULSES.max_sweeps:
        if sweeps == firm_sweeps and m > IMPULSES.few_rows:
            give, tolerance = IMPULSES.give, IMPULSES.loose_tolerance + IMPULSES.loose_relative * wrong
            mix.count[0], mix.least[0] = 0, np.inf
            _give_way(plan, old, give, rings)
        for k in range(m):
            mix.f[k] = -plan.x[k]
        sweep(plan, blocks, give)
        sweeps += 1
        worst = 0.0
        for k in range(m):
            mix.f[k] += plan.x[k]
            mix.weight[k] = -plan.diagonal[k]
            worst = max(worst, abs(mix.f[k] * mix.weight[k]))
        if sweeps == 1 and rings and m > IMPULSES.few_rows:
            wrong = worst * IMPULSES.ring_relative / IMPULSES.loose_relative
            if give > 0.0:
                tolerance = IMPULSES.loose_tolerance + IMPULSES.loose_relative * wrong
        if worst < tolerance:
            break
        if newton and sweeps >= tried:
            tried *= 3 if m < IMPULSES.most_rows // 2 else 100
            exact = _polish(tree, parts, blocks, plan, y, active, sliding, w, scale, give, tolerance)
            if exact:
                break
        mix_sweeps(mix, rings and m > IMPULSES.few_rows)
        for k in range(m):
            put_impulse(plan, blocks, k, plan.x[k])
    for k in range(m):
        c = plan.row[k]
        if exact:
            delta[c], alive[c], slides[c] = lam[c] - y[k], active[k], sliding[k]
        else:
            delta[c] = lam[c] - plan.x[k]
    if not exact:
        _modes(tree, plan, blocks, alive, slides, give)
    keep(lent)
    keep(planned)
    if exact or (give == 0.0 and not many):
        return 0.0, give
    return max(worst, tolerance), give


@bare
def _give_way(plan, old, give, rings):
    """Slips from now on are less by what contacts may give way where their impulses are not those of the last step."""
    for k in range(plan.x.shape[0]):
        if plan.friction[k] > 0.0:  # slips and turns
            c = plan.row[k]
            base = plan.x[k] if old[c] == 0.0 else old[c]
            if rings:
                old[c] = base
            plan.gap[k] += give * plan.diagonal[k] * (plan.start[k] - base)


@bare
def _modes(tree, plan, blocks, alive, slides, give):
    """Which rows act, and which contacts slide, where sweeps have found the impulses."""
    for k in range(plan.x.shape[0]):
        c = plan.row[k]
        link = tree.links[c]
        if link.kind != LinkKind.SLIP:
            alive[c] = link.pulls == 0 or plan.x[k] > 0.0
            slides[c] = False
        else:
            alive[c] = alive[link.normal]
            if plan.role[k] == RowRole.SLIPS:
                radius = plan.friction[k] * plan.x[plan.normal[k]]
                slides[c] = alive[c] and trial_slip(plan, blocks, k, give)[2] > radius * (1.0 + 1e-12)
            else:
                slides[c] = plan.role[k] == RowRole.SECOND and slides[c - 1]


@inline
def _at_once(tree, parts, blocks, g, lam, w, m, scale, tolerance):
    """Newton's method from λ for all `m` rows that are near, without sweeps before.

    Returns whether it converged, and to impulses of the same rows as before. Where others act, loads may be shared in many ways,
    and sweeps find one in which few rows share them.
    """
    wide, numbers, flags = padded(m + 1), _few_numbers(), _few_flags()
    W, B = lend(numbers, 0, (m, m)), lend(numbers, m * m, (m, wide))
    x, rest = lend(numbers, m * (m + wide), (m,)), lend(numbers, m * (m + wide + 1), (m,))
    own, active, sliding = lend(_few_places(), 0, (m,)), lend(flags, 0, (m,)), lend(flags, m, (m,))
    k = 0
    for c in range(tree.links.shape[0]):
        if w.near[c]:
            own[k], x[k], rest[k] = c, lam[c], g[c]
            active[k] = sliding[k] = False
            w.delta[c] = k  # its place, for a moment
            k += 1
    if parts.first.shape[0] == 2:
        _copy_matrix(blocks, parts.first[1], m, W)
    else:
        for k in range(m):
            for i in range(m):
                W[k, i] = 0.0
        _put_matrix(parts, blocks, w.delta, W)
    exact = newton_impulses(tree.links, own, W, rest, x, active, sliding, w.side, w.exponent, B, scale, tolerance)
    for k in range(m):
        c = own[k]
        w.delta[c] = lam[c] - x[k]
        exact &= w.alive[c] == active[k] and w.slides[c] == sliding[k]
    return exact


@bare
def _copy_matrix(blocks, n, m, W):
    """W of the m rows of the only part, which has n variables."""
    width = padded(n + m)
    K = lend(blocks.K, blocks.at[0, 0], (n + m, width))
    for i in range(m):
        for j in range(m):
            W[i, j] = K[n + i, n + j]


@bare
def _put_matrix(parts, blocks, place, W):
    """Adds up W of all rows, each in its `place`."""
    for b in range(parts.first.shape[0] - 1):
        nb, mb = size_of(parts, blocks, b)
        K, first = lend(blocks.K, blocks.at[b, 0], (nb + mb, padded(nb + mb))), blocks.rows[b]
        for i in range(mb):
            row = int(place[blocks.row[first + i]])
            for j in range(mb):
                W[row, int(place[blocks.row[first + j]])] += K[nb + i, nb + j]


@inline
def _polish(tree, parts, blocks, plan, y, active, sliding, w, scale, give, tolerance):
    """Newton's method from x, into y. Returns whether it converged."""
    own = plan.row
    m = own.shape[0]
    W, B, rest = np.zeros((m, m)), np.zeros((m, padded(m + 1))), np.empty(m)
    at = np.full(tree.links.shape[0], -1.0)
    for k in range(m):
        c = own[k]
        at[c] = k
        y[k], rest[k] = plan.x[k], gap_left(plan, blocks, k)
        if tree.links[c].kind == LinkKind.SLIP:
            W[k, k] = give * plan.diagonal[k]
            rest[k] = slip_left(plan, blocks, k, give)
    _put_matrix(parts, blocks, at, W)
    return newton_impulses(tree.links, own, W, rest, y, active, sliding, w.side, w.exponent, B, scale, tolerance)
