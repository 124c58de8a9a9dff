"""One step with touch, like bunraku.dynamics.variational.step, by parts: its cost grows with what is near."""

from __future__ import annotations

import math

import numpy as np

from bunraku.dynamics.lagrangian import slopes
from bunraku.dynamics.touch.body_rows import are_bodies, body_rows, free_flight, land, put_rows
from bunraku.dynamics.touch.body_sweeps import body_impulses
from bunraku.dynamics.touch.row_slopes import row_slopes
from bunraku.dynamics.touch.touch_impulses import IMPULSES, touch_impulses
from bunraku.dynamics.touch.touch_parts import blocks_of, eliminate, fill_blocks, substitute
from bunraku.dynamics.variational import NEWTON, choose, equations, midpoint, open_links
from bunraku.kernels.compile import bare, borrow, inline, keep, unit, woven
from bunraku.kinematics.tree import place


@woven
def _residual(tree, w, q0, p0, dt, share, lam, p1):
    """r of the dynamic variables from the midpoint, and p1; each row only where it acts."""
    n, joints = tree.n_dynamic, tree.joints
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for j in range(tree.n_massive):
        i = joints[j].variable
        if i < n:
            Lq, Lv = slopes(joints[j], j, g, w.qm[i], w.v[j], w.S, w.T, w.I, w.P)
            half = 0.5 * dt * (Lq + w.Lq[i])
            w.r[i] = p0[i] + half - Lv + share * dt * w.F[i]
            p1[i] = half + Lv + (1.0 - share) * dt * w.F[i]
    for c in range(tree.links.shape[0]):
        if lam[c] != 0.0:
            for s in range(tree.support[c, 0] + 1):
                i = joints[tree.support[c, s]].variable if s > 0 else tree.links[c].variable
                if 0 <= i < n:
                    w.r[i] -= w.A0[c, s] * lam[c]


@bare
def _look(tree, w, o, q0, q1, u, dt, lam, first, at):
    """Gaps at q1, where `at` has the joints, the tree half-way, and which rows may act. Returns whether these changed."""
    row_slopes(tree, w, o, q1, at.R, at.p, at.S, 0, tree.links.shape[0], w.h, w.A1)
    midpoint(tree, w, o, q0, q1, u, dt)
    changed, _ = choose(tree, w, lam, first)
    return changed


@bare
def _bent(rows, g):
    """How far gaps and slips are from those that the last iteration expected."""
    worst = 0.0
    for k in range(rows.row.shape[0]):
        worst = max(worst, abs(g[rows.row[k]] - rows.left[k]))
    return worst


@inline
def _room(tree, parts, w, bodies):
    """Blocks of the rows that are near; how many of these are swept body by body, and room for them."""
    m = 0
    for c in range(tree.links.shape[0]):
        m += w.near[c]
    if not bodies or m <= IMPULSES.few_rows:
        return blocks_of(tree, parts, w.near), 0, body_rows(parts, 0, w)
    nobody = np.zeros(w.near.shape[0], np.bool_)
    return blocks_of(tree, parts, nobody), m, body_rows(parts, m, w)


@unit("int64", allocates=True)
def touch_step(tree, parts, w, o, q0, p0, u, dt, share, q1, lam, old, p1, tolerance, most, rings, placed, end):
    """Solves one step; arguments and result as of bunraku.dynamics.variational.step, `old` is λ of the last.

    `rings`: no two bodies have more than one contact. `placed`: `end` already has the joints at q1. Links must not stretch.
    """
    n, nc = tree.n_dynamic, tree.links.shape[0]
    last, factored, give, aim, bent = math.inf, False, 0.0, 0.0, math.inf
    g, r = w.r[n : n + nc], w.r[:n]
    before = old if rings else lam[:nc].copy()
    joints = tree.joints
    if not placed:
        place(joints, 0, joints.shape[0], q1, o, end.R, end.p, end.S)
    _look(tree, w, o, q0, q1, u, dt, lam, True, end)
    bodies = rings and are_bodies(parts)
    lent, counted, owned = _room(tree, parts, w, bodies)
    light = counted > 0
    for iteration in range(most):
        changed = False
        if iteration > 0:
            place(joints, 0, joints.shape[0], q1, o, end.R, end.p, end.S)
            changed = _look(tree, w, o, q0, q1, u, dt, lam, False, end)
        if changed:
            keep(lent)
            keep(owned)
            lent, counted, owned = _room(tree, parts, w, bodies)
            light = counted > 0
        blocks, rows = borrow(lent), borrow(owned)
        fresh = changed or not factored
        _residual(tree, w, q0, p0, dt, share, lam, p1)
        if fresh:
            fill_blocks(tree, parts, blocks, w, dt, share, u, o)
        equations(tree, w, dt, q0, q1, lam)
        if light:
            if fresh:
                put_rows(tree, parts, blocks, w, rows)
            bent = math.inf if iteration == 0 or changed else _bent(rows, g)
            free_flight(parts, rows, r, g)
            vague, give, aim = body_impulses(tree, rows, g, lam, before, w, give, aim)
            land(parts, blocks, rows, r, p1)
        else:
            eliminate(tree, parts, blocks, r, g)
            vague, give = touch_impulses(tree, parts, blocks, g, lam, before, w, rings, give > 0.0)
            substitute(tree, parts, blocks, w.delta, r, p1)
        size, total = 0.0, 0.0
        for i in range(n):
            size = max(size, abs(r[i]))
            total += r[i]
        if not (size < 1e6 and abs(total) < math.inf):
            keep(lent)
            keep(owned)
            return -1
        part = 1.0 if size < NEWTON.max_correction else NEWTON.max_correction / size
        for i in range(n):
            q1[i] -= part * r[i]
        for c in range(nc):
            lam[c] -= part * w.delta[c]
        rate = size if fresh else size / last
        small = size * rate < (NEWTON.certain * tolerance if fresh else tolerance)
        if light:  # what the next iteration would find is about as the square of the correction
            expected = min(size * rate, 4.0 * bent * (size / last) ** (2 if fresh else 1))
            small |= max(vague, expected) < IMPULSES.max_vague
        elif rings:
            small |= vague < IMPULSES.max_vague and size * rate < vague
        else:
            small = (small or size < 2.0 * vague) and vague < IMPULSES.max_vague
        if small and not open_links(tree, w, NEWTON.max_gap + 100.0 * size + 10.0 * vague):
            keep(lent)
            keep(owned)
            return iteration + 1
        factored, last = size * rate * rate < tolerance or (light and size < IMPULSES.straight), size
    keep(lent)
    keep(owned)
    return -1
