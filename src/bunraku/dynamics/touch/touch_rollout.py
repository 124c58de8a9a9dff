"""Rollouts with touch. A step first finds the contacts that it may need, solves with them, and looks whether it needs more.

The rows of contacts stand behind those of the figure's links, so that a step with contacts is a step like others. Two things are
added to it. Restitution: a contact that closed at the speed v in the last step must leave with e·v in this one, gap(q1) ≤ −e·v·dt.
Adhesion: a contact that is closed at the start is pulled together by its force, as an impulse at q0, and pushes apart as others do;
so it opens where more than that force pulls.
"""

from __future__ import annotations

import numpy as np

from bunraku.collision.manifold.touch_arrays import MANIFOLD, near_room, place_room
from bunraku.dynamics.ball_charts import apply_chart, outside, recentre, unwind
from bunraku.dynamics.elastic import has_elastic
from bunraku.dynamics.lagrangian import total_mass
from bunraku.dynamics.rollout import ROLLOUT, STEP_BITS, advance, energy, extrapolate, further, with_joints
from bunraku.dynamics.touch.contact_memory import recall, remember
from bunraku.dynamics.touch.find_contacts import drop_ghosts, find_contacts, find_more, part_by
from bunraku.dynamics.touch.touch_step import touch_step
from bunraku.dynamics.touch.touched_tree import extend_elimination, light_workspace, touched_tree
from bunraku.dynamics.variational import begin, workspace
from bunraku.dynamics.yielding_step import openness
from bunraku.kernels.compile import bare, borrow, inline, keep, kernel
from bunraku.kinematics.tree import place


@bare
def _recall_all(t, memory, lam, live, slides, dt, bounces):
    """First guesses from the last step, and contacts that should bounce."""
    for k in range(t.number[0]):
        old, first = recall(memory, t.key, k), t.head[k]
        rows = t.head[k + 1] - first
        same = old >= 0 and memory.rows[old] == rows
        for i in range(rows):
            lam[first + i] = memory.impulse[old, i] if same else 0.0
            live[first + i] = same and memory.acts[old] > 0
            slides[first + i] = same and memory.acts[old] == 2 and i > 0
        t.speed[k] = 0.0
        if bounces and same and memory.speed[old] > 0.0:
            part_by(t, first, memory.speed[old] * dt)
            t.speed[k] = memory.speed[old]


@bare
def _stick(tree, world, t, w, p, dt, out):
    """The momentum p with the pull of adhesion, shared by the closed contacts of each pair."""
    for i in range(tree.n_dynamic):
        out[i] = p[i]
    k = 0
    while k < t.number[0]:
        a, b, last, closed = t.key[k, 0], t.key[k, 1], k, 0
        force = world.matter[a, b, 2]
        while last < t.number[0] and t.key[last, 0] == a and t.key[last, 1] == b:
            closed += w.h0[t.head[last]] > -MANIFOLD.closed
            last += 1
        for i in range(k, last):
            c = t.head[i]
            t.stick[c] = force * dt / closed if force > 0.0 and w.h0[c] > -MANIFOLD.closed else 0.0
            if t.stick[c] > 0.0:
                for s in range(1, t.support[c, 0] + 1):
                    j = tree.joints[t.support[c, s]].variable
                    if j < tree.n_dynamic:
                        out[j] += w.A0[c, j] * t.stick[c]
        k = last


@bare
def _rates(tree, world, t, w, q, dt, rate):
    """How fast the contacts that may bounce close [m/s]."""
    for k in range(t.number[0]):
        rate[k] = 0.0
        if world.matter[t.key[k, 0], t.key[k, 1], 1] > 0.0:
            c = t.head[k]
            for s in range(1, t.support[c, 0] + 1):
                j = tree.joints[t.support[c, s]].variable
                rate[k] += w.A0[c, j] * (q[0, j] - q[1, j]) / dt


@bare
def _leaving(tree, world, t, w, rate, dt, speed):
    """The speeds with which contacts that have just met should leave in the next step."""
    g = tree.gravity
    slow = MANIFOLD.slow * dt * np.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    for k in range(t.number[0]):
        met = w.alive[t.head[k]] and t.speed[k] == 0.0 and rate[k] > slow
        speed[k] = world.matter[t.key[k, 0], t.key[k, 1], 1] * rate[k] if met else 0.0


@bare
def _log(t, w, o, start, lam, k, count, ints, floats):
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
def _ready(aug, w, live, slides):
    for c in range(aug.n_links):
        w.alive[c], w.slides[c], w.near[c] = live[c], slides[c], False


@bare
def _copy_end(tree, lone, w):
    """What the rest of the step reads, from a step without contacts."""
    for c in range(tree.n_links):
        w.alive[c], w.slides[c], w.h0[c] = lone.alive[c], lone.slides[c], lone.h0[c]


@bare
def _deviation(guess, q1):
    """The largest difference of a variable from its guess."""
    far = 0.0
    for i in range(q1.shape[0]):
        far = max(far, abs(q1[i] - guess[i]))
    return far


@inline
def _attempt(aug, parts, w, o, q0, p0, u, dt, share, q1, lam, p1, tolerance, again):
    """One step by parts, from the guess or `again` from rest. Returns bits, or −1."""
    n = aug.n_dynamic
    for i in range(n, aug.n_q):
        if not abs(q1[i] - q0[i]) < ROLLOUT.max_leap:
            return -1
    if again > 0:
        for i in range(n):
            q1[i] = q0[i]
        for c in range(aug.n_links):
            lam[c] = 0.0
            w.alive[c] = w.near[c] = False
    most = ROLLOUT.newton_steps if again == 0 else ROLLOUT.newton_steps_from_rest
    if touch_step(aug, parts, w, o, q0, p0, u, dt, share, q1, lam, p1, tolerance, most) < 0:
        return -1
    if further(aug, q0, q1, ROLLOUT.max_turn):
        return -1
    return STEP_BITS.retried if again > 0 else 0


@kernel
def touch_rollout(
    tree, parts, world, t, memory, q, p, lam, charts, alive, K, U, dt, share, tolerance, Q, P, L, G, En, states, bits, ints, floats,
    done,
):  # fmt: skip
    """`rollout` with the bodies of `world`, which may touch. Contacts that act are rows of `ints` (step, bodies a and b) and of
    `floats` (impulse along the normal, across it, gap, point, normal from b to a).

    done = (steps, rows of contacts, 1 where t had too little room): it ends early where there is no room for more.
    """
    n, nq, nl = tree.n_dynamic, tree.n_q, tree.n_links
    home = tree.joints
    owned = with_joints(tree, home.copy())
    own = borrow(owned)
    for k in range(tree.balls.shape[0]):
        apply_chart(own, home, charts, k)
    kappa = total_mass(home) / dt
    p1, seen, out, q1, pulled = np.empty(n), np.empty(nq), np.empty(nq), np.empty(nq), np.empty(n)
    size, room = t.links.shape[0], t.key.shape[0]
    impulse, live, slides = np.zeros(size), np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    rate, speed = np.zeros(room), np.zeros(room)
    owned_start, owned_end = place_room(home.shape[0], world), place_room(home.shape[0], world)
    start, end = borrow(owned_start), borrow(owned_end)
    owned_near = near_room(world, room)
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
    guess = np.empty(nq)
    stretches = has_elastic(own)
    done[0] = done[1] = done[2] = 0
    origin = (0.0, 0.0, 0.0)
    for k in range(K.shape[0]):
        if k % ROLLOUT.origin_every == 0 and nq > 0:
            place(own.joints, 0, own.joints.shape[0], q[0], (0.0, 0.0, 0.0), w.R, w.p, w.S)
            last = max(tree.n_massive - 1, 0)
            origin = (w.p[last, 0], w.p[last, 1], w.p[last, 2])
        got, bounce = 0, True
        for attempt in range(2):
            extrapolate(q, n, q1)
            for i in range(n, nq):
                q1[i] = K[k, i - n]
            find_contacts(own, world, t, own.joints, q[0], q1, origin, start, end, near)
            for i in range(nq):
                guess[i] = q1[i]
            _recall_all(t, memory, impulse, live, slides, dt, attempt == 0)
            bounce = False
            for c in range(t.number[0]):
                bounce |= t.speed[c] > 0.0
            for _ in range(MANIFOLD.max_rounds):
                if t.number[3] > 0:
                    break
                if t.number[0] == 0:
                    _ready(own, lone, live, slides)
                    begin(own, lone, origin, q[0])
                    got = advance(own, lone, origin, q[0], p, U[k], dt, share, kappa, q1, impulse, p1, tolerance)
                    _copy_end(own, lone, w)
                else:
                    grown = touched_tree(own, own.joints, t)
                    aug = borrow(grown)
                    _ready(aug, w, live, slides)
                    begin(aug, w, origin, q[0])
                    _stick(own, world, t, w, p, dt, pulled)
                    _rates(own, world, t, w, q, dt, rate)
                    got = -1
                    for again in range(2):
                        if got < 0 and not stretches:
                            got = _attempt(aug, parts, w, origin, q[0], pulled, U[k], dt, share, q1, impulse, p1, tolerance, again)
                    if got >= 0:
                        begin(aug, w, origin, q1)
                        if openness(aug, q1, w.h0, w.x) > MANIFOLD.max_open:
                            got = -1
                    if got < 0:  # by the way of figures that do not touch, which knows what to do with impossible requests
                        extend_elimination(own, t)
                        heavy = workspace(aug)
                        whole = borrow(heavy)
                        _ready(aug, whole, live, slides)
                        begin(aug, whole, origin, q[0])
                        for i in range(n, nq):
                            q1[i] = K[k, i - n]
                        got = advance(aug, whole, origin, q[0], pulled, U[k], dt, share, kappa, q1, impulse, p1, tolerance)
                        begin(aug, w, origin, q1)
                        _copy_end(aug, whole, w)
                        keep(heavy)
                rows = t.number[1]
                for c in range(rows):
                    live[c], slides[c] = w.alive[c], w.slides[c]
                far = _deviation(guess, q1)
                more = find_more(own, world, t, own.joints, q1, origin, start, end, near, far < MANIFOLD.as_guessed)
                more += drop_ghosts(world, t, w, origin, end, impulse)
                if more == 0:
                    break
                for c in range(rows, t.number[1]):
                    impulse[c], live[c], slides[c] = 0.0, False, False
                for i in range(n, nq):
                    q1[i] = K[k, i - n]
            if not bounce or not got & (STEP_BITS.held | STEP_BITS.frozen):
                break
        if t.number[3] > 0:
            done[2] = 1
            break
        logged = _log(t, w, origin, start, impulse, k, done[1], ints, floats)
        if logged > ints.shape[0]:
            break
        done[1] = logged
        _leaving(own, world, t, w, rate, dt, speed)
        remember(memory, t, impulse, w.alive, w.slides, speed)
        for i in range(nq):
            w.vq[i] = (q1[i] - q[0, i]) / dt
            w.qm[i] = 0.5 * (q1[i] + q[0, i])
        if G.shape[0] > 0:
            for c in range(nl):
                G[k, c] = w.h0[c]
        for c in range(nl):
            L[k, c] = lam[c] = impulse[c]
            states[k, c] = w.alive[c] + w.slides[c]
        if En.shape[0] > 0:
            En[k, 0], En[k, 1] = energy(own, w, origin, w.qm, w.vq)
        for row in range(seen_row - 1, 0, -1):
            for i in range(nq):
                q[row, i] = q[row - 1, i]
        for i in range(nq):
            q[0, i] = q1[i]
        for i in range(n):
            p[i] = p1[i]
        if got & (STEP_BITS.divided | STEP_BITS.frozen | STEP_BITS.held):  # the past no longer predicts the next step
            for row in range(1, seen_row):
                for i in range(nq):
                    q[row, i] = q[0, i]
        if recentre(own, home, charts, q[0], p, q[1:seen_row]) > 0:
            unwind(own, charts, q[0], p, q[1:seen_row], seen)
            got |= STEP_BITS.recharted
        outside(own, charts, q[0], seen, out)
        for i in range(nq):
            seen[i] = q[seen_row, i] = Q[k, i] = out[i]
        for i in range(n):
            P[k, i] = p[i]
        bits[k] = got
        done[0] = k + 1
        for c in range(nl):
            alive[c] = w.alive[c]
    keep(owned)
    keep(lent)
    keep(alone)
    keep(grown)
    keep(owned_start)
    keep(owned_end)
    keep(owned_near)
