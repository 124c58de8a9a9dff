"""Rollouts with touch. A step that cannot be taken at once is taken in parts: two halves, each of which may be halved again.

That is so where Newton's method finds nothing, where bodies move further than they are thick, and where features of bodies change
so much that what acts at the end of the step was in the way at its start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.collision.manifold.touch_arrays import MANIFOLD, KnownStart, near_room, place_room
from bunraku.dynamics.ball_charts import apply_chart, outside, recentre, unwind
from bunraku.dynamics.fast_turns import FAST_TURNS, fast_turns, is_off_centre, too_fast
from bunraku.dynamics.lagrangian import total_mass
from bunraku.dynamics.rollout import ROLLOUT, STEP_BITS, energy, extrapolate, with_joints
from bunraku.dynamics.touch.contact_memory import remember
from bunraku.dynamics.touch.lay_strings import look_along
from bunraku.dynamics.touch.touch_part import bounce, forget_start, leaving, solve_part
from bunraku.dynamics.touch.touched_tree import light_workspace, touched_tree
from bunraku.dynamics.variational import workspace
from bunraku.kernels.compile import bare, borrow, inline, keep, kernel
from bunraku.kinematics.tree import place


class _PartWork(NamedTuple):
    """The part of a step that is taken. Borrowed, so that handing these on counts no references, which takes longer than a sum."""

    q1: Any
    """Where it ends."""
    qa: Any
    """Where it begins, …"""
    va: Any
    """… the rates before, …"""
    pa: Any
    """… and the momenta."""
    p1: Any
    guess: Any
    """Where the whole step ends, about."""
    first: Any
    """q1 before corrections."""
    pulled: Any
    """The momenta with the pull of adhesion."""
    sums: Any
    """Impulses of links in all parts."""
    impulse: Any
    old: Any
    """Impulses of the part before."""
    live: Any
    slides: Any
    rate: Any
    speed: Any
    before: Any
    """(1, q) where the figure was as long ago as the next part takes."""
    charts: Any
    """Charts of ball joints at the start of the step."""
    fast: Any
    """How far each of these may turn before it counts as fast."""


@inline
def _part_work(n, nq, nl, size, room, charts, fast):
    return _PartWork(
        q1=np.empty(nq), qa=np.empty(nq), va=np.empty(nq), pa=np.empty(n), p1=np.empty(n), guess=np.empty(nq), first=np.empty(nq),
        pulled=np.empty(n), sums=np.zeros(nl),
        impulse=np.zeros(size), old=np.zeros(size), live=np.zeros(size, np.bool_), slides=np.zeros(size, np.bool_),
        rate=np.zeros(room), speed=np.zeros(room), before=np.empty((1, nq)), charts=charts.copy(), fast=fast,
    )  # fmt: skip


@bare
def _short_enough(spin, length, least):
    """`length` halved until balls that turn by `spin` [rad] in a whole step turn little enough in that share of it, or it is the
    `least`: bodies in the air spin at any rate."""
    while length > least and spin * length > FAST_TURNS.part * MANIFOLD.parts:
        length //= 2
    return length


@bare
def _acts(t, lam):
    """Whether a contact acts."""
    out = False
    for k in range(t.number[0]):
        out |= lam[t.head[k]] > 0.0
    return out


@bare
def _copy_charts(source, out):
    for k in range(source.shape[0]):
        for r in range(3):
            for c in range(3):
                out[k, r, c] = source[k, r, c]


@bare
def _log(t, w, o, lam, k, count, ints, floats):
    """Rows for the contacts that act in step k. Returns the new count."""
    for i in range(t.number[0]):
        c = t.head[i]
        if lam[c] == 0.0 and t.stick[c] == 0.0:
            continue
        if count < ints.shape[0]:
            ints[count, 0], ints[count, 1], ints[count, 2] = k, t.key[i, 0], t.key[i, 1]
            floats[count, 0], floats[count, 2] = lam[c] - t.stick[c], w.h0[c]
            rows = t.head[i + 1] - c
            floats[count, 1] = np.sqrt(lam[c + 1] ** 2 + lam[c + 2] ** 2) if rows > 2 else 0.0
            first = t.links[c].first
            for r in range(3):
                floats[count, 3 + r] = w.x[first, r] + o[r]
                floats[count, 6 + r] = -w.f[first, r]
        count += 1
    return count


@bare
def _log_strings(b, k, count, ints, floats):
    """Rows for the bodies on which strings lie at the end of step k, in their order along each. Returns the new count."""
    for s in range(b.link.shape[0]):
        for i in range(b.corners[s] // 2 - 1):
            ints[count, 0], ints[count, 1], ints[count, 2] = k, -1 - s, b.route[s, i]
            for r in range(3):
                floats[count, r], floats[count, 3 + r] = b.legs[s, 2 * i + 1, r], b.legs[s, 2 * i + 2, r]
            count += 1
    return count


@kernel
def touch_rollout(
    tree, tree_parts, bodies, watch, strings, contacts, contact_memory, q, p, lam, charts, alive, K, U, dt, share, tolerance,
    single, Q, P, L, G, En, states, bits, ints, floats, done,
):  # fmt: skip
    """`rollout` with `bodies` that may touch, and `strings` that may lie on bodies.

    Contacts that act are rows of `ints` (step, bodies a and b) and of
    `floats` (impulse along the normal, across it, gap, point, normal from b to a). So are bodies on which strings lie at the end of
    a step: (step, −1 − string, body) and (where it meets the body, where it leaves it).

    Charts of balls that turn fast stay where they are in a `single` step, whose derivative could not follow them.

    done = (steps, rows of contacts, 1 where there was too little room for contacts): it ends early where there is no room for more.
    """
    n, nq, nl = tree.n_dynamic, tree.n_q, tree.n_links
    parts, world, laid, t, memory = borrow(tree_parts), borrow(bodies), borrow(strings), borrow(contacts), borrow(contact_memory)
    home = tree.joints
    owned = with_joints(tree, home.copy())
    own = borrow(owned)
    for k in range(tree.balls.shape[0]):
        apply_chart(own, home, charts, k)
    kappa = total_mass(home) / dt
    size, room = t.links.shape[0], t.key.shape[0]
    owned_work = _part_work(n, nq, nl, size, room, charts, fast_turns(own))
    part_work = borrow(owned_work)
    q1, qa, va, guess, p1, pa, sums = (
        part_work.q1, part_work.qa, part_work.va, part_work.guess, part_work.p1, part_work.pa, part_work.sums,
    )  # fmt: skip
    fast, impulse, old, live, slides = part_work.fast, part_work.impulse, part_work.old, part_work.live, part_work.slides
    if single:
        for k in range(fast.shape[0]):
            fast[k] = np.inf
    rate, speed = part_work.rate, part_work.speed
    seen, out = np.empty(nq), np.empty(nq)
    owned_start, owned_end = place_room(home.shape[0], world), place_room(home.shape[0], world)
    start, end = borrow(owned_start), borrow(owned_end)
    owned_near = near_room(world, watch, room)
    near = borrow(owned_near)
    for c in range(nl):
        impulse[c], live[c] = lam[c], alive[c]
    seen_row = q.shape[0] - 1
    outside(own, charts, q[0], q[seen_row], seen)
    t.number[3] = 0
    t.number[1], t.number[2] = size, t.points.shape[0]
    grown = touched_tree(own, own.joints, t)
    lent = light_workspace(grown)
    w = borrow(lent)
    alone = workspace(own)
    lone = borrow(alone)
    done[0] = done[1] = done[2] = 0
    origin = (0.0, 0.0, 0.0)
    if is_off_centre(own, q[0], q[1], fast):
        recentre(own, home, charts, q[0], p, q[1:seen_row], fast)
    for k in range(K.shape[0]):
        if k % ROLLOUT.origin_every == 0 and nq > 0:
            place(own.joints, 0, own.joints.shape[0], q[0], (0.0, 0.0, 0.0), w.R, w.p, w.S)
            last = max(tree.n_massive - 1, 0)
            origin = (w.p[last, 0], w.p[last, 1], w.p[last, 2])
            forget_start(near)
        extrapolate(q, n, guess)
        for i in range(nq):
            qa[i], va[i] = q[0, i], (q[0, i] - q[1, i]) / dt
        for i in range(n):
            pa[i] = p[i]
        for c in range(nl):
            sums[c] = 0.0
        got, at, stuck, bounces, logged, recharted, T, V = 0, 0, False, True, done[1], False, 0.0, 0.0
        length = _short_enough(too_fast(own, q[0], q[1], 1.0, fast, ROLLOUT.max_turn), MANIFOLD.parts, MANIFOLD.firm)
        if done[1] + laid.route.shape[0] * laid.route.shape[1] + (t.number[0] if k > 0 else 0) > ints.shape[0]:
            break
        while at < MANIFOLD.parts:
            part = dt * length / MANIFOLD.parts
            for i in range(n):
                q1[i] = guess[i] if length == MANIFOLD.parts else qa[i] + part * va[i]
            for i in range(n, nq):
                q1[i] = K[k, i - n] - (K[k, i - n] - q[0, i]) * (MANIFOLD.parts - at - length) / MANIFOLD.parts
            firm = stuck or length <= MANIFOLD.firm
            bits_now = solve_part(
                own, parts, world, laid, t, memory, w, lone, origin, start, end, near, qa, pa, va, U[k], part, share, kappa,
                tolerance, q1, part_work.first, part_work.pulled, impulse,
                live, slides, p1, rate, old, charts, fast, firm, bounces,
            )  # fmt: skip
            if t.number[3] > 0:
                break
            met, spin = bits_now >= 0 and _acts(t, impulse), 0.0
            if bits_now >= 0:
                spin = too_fast(own, q1, qa, MANIFOLD.parts / length, fast, ROLLOUT.max_turn)
            whirled = met and not single and length > 1 and (not stuck or nq == n)  # by what it hit, further than was foreseen
            whirled = whirled and spin * length > FAST_TURNS.part * MANIFOLD.parts
            torn = bits_now >= 0 and bounces and bounce(t)  # in parts of a part, what bounces would leave so many times as fast
            if bits_now < 0 or whirled or (torn and length > 1 and bits_now & STEP_BITS.divided):
                length //= 2
                forget_start(near)
                continue
            if torn and bits_now & (STEP_BITS.held | STEP_BITS.divided):  # nothing bounces where there is no room
                bounces = False
                forget_start(near)
                continue
            if near.known[KnownStart.JOINTS]:  # the next part begins where this one ends
                start, end = end, start
            logged = _log(t, w, origin, impulse, k, logged, ints, floats)
            if logged > ints.shape[0]:
                break
            if laid.link.shape[0] > 0:
                place(own.joints, 0, home.shape[0], q1, origin, w.R, w.p, w.S)
                look_along(laid, t, w.R, w.p, origin, w.x, w.f, True)
            leaving(own, world, t, w, rate, part, speed)
            remember(memory, t, impulse, w.alive, w.slides, speed)
            for i in range(nq):
                va[i], w.qm[i] = (q1[i] - qa[i]) / part, 0.5 * (q1[i] + qa[i])
                qa[i] = q1[i]
            for i in range(n):
                pa[i] = p1[i]
            for c in range(nl):
                sums[c] += impulse[c]
            if En.shape[0] > 0:
                now = energy(own, w, origin, w.qm, va)
                T += now[0] * length / MANIFOLD.parts
                V += now[1] * length / MANIFOLD.parts
            at += length
            got |= bits_now if length == MANIFOLD.parts else bits_now | STEP_BITS.divided
            stuck |= bits_now & STEP_BITS.held > 0
            length = _short_enough(spin, at & -at, 1 if met else MANIFOLD.firm)
            if stuck:  # a puppeteer who asks for too much would be held back in every part
                length = MANIFOLD.parts - at if nq > n else min(length, MANIFOLD.firm)
            if at < MANIFOLD.parts and (recharted or spin > 0.0):
                if not recharted:
                    _copy_charts(charts, part_work.charts)
                recharted, part = True, dt * length / MANIFOLD.parts
                for i in range(nq):
                    part_work.before[0, i] = qa[i] - part * va[i]
                if recentre(own, home, charts, qa, pa, part_work.before, fast) > 0:
                    unwind(own, charts, qa, pa, part_work.before, seen)
                    forget_start(near)
                    got |= STEP_BITS.recharted
                    for i in range(n):
                        va[i] = (qa[i] - part_work.before[0, i]) / part
                outside(own, charts, qa, seen, out)
                for i in range(nq):
                    seen[i] = out[i]
        full = logged + laid.route.shape[0] * laid.route.shape[1] > ints.shape[0]
        if (at < MANIFOLD.parts or full) and recharted:  # the step is taken again, with more room
            _copy_charts(part_work.charts, charts)
        if t.number[3] > 0:
            done[2] = 1
            break
        if full:
            break
        done[1] = _log_strings(laid, k, logged, ints, floats)
        if G.shape[0] > 0:
            for c in range(nl):
                G[k, c] = w.h0[c]
        for c in range(nl):
            L[k, c], lam[c] = sums[c], impulse[c]
            states[k, c] = w.alive[c] + w.slides[c]
        if En.shape[0] > 0:
            En[k, 0], En[k, 1] = T, V
        for row in range(seen_row - 1, 0, -1):
            for i in range(nq):
                q[row, i] = q[row - 1, i]
        for i in range(nq):
            q[0, i] = q1[i]
        for i in range(n):
            p[i] = p1[i]
        if got & (STEP_BITS.divided | STEP_BITS.frozen | STEP_BITS.held):  # only its last rates predict the next step
            for row in range(1, seen_row):
                for i in range(nq):
                    q[row, i] = q[0, i] - (0.0 if got & (STEP_BITS.frozen | STEP_BITS.held) else row * dt * va[i])
        if recentre(own, home, charts, q[0], p, q[1:seen_row], fast) > 0:
            unwind(own, charts, q[0], p, q[1:seen_row], seen)
            got |= STEP_BITS.recharted
            forget_start(near)
        outside(own, charts, q[0], seen, out)
        for i in range(nq):
            seen[i] = q[seen_row, i] = Q[k, i] = out[i]
        for i in range(n):
            P[k, i] = p[i]
        bits[k] = got
        done[0] = k + 1
        for c in range(nl):
            alive[c] = w.alive[c]
    keep(tree_parts)
    keep(bodies)
    keep(watch)
    keep(strings)
    keep(contacts)
    keep(contact_memory)
    keep(owned)
    keep(lent)
    keep(alone)
    keep(grown)
    keep(owned_start)
    keep(owned_end)
    keep(owned_near)
    keep(owned_work)
