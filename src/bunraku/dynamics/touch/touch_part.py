"""A part of a step with touch, or all of it: finds contacts that it may need, solves with them, and looks whether it needs more.

The rows of contacts stand behind those of the figure's links, so that a step with contacts is a step like others. Two things are
added to it. Restitution: a contact that closed at the speed v in the last step must leave with e·v in this one, gap(q1) ≤ −e·v·dt.
Adhesion: a contact that is closed at the start is pulled together by its force, as an impulse at q0, and pushes apart as others do;
so it opens where more than that force pulls.
"""

from __future__ import annotations

import numpy as np

from bunraku.collision.manifold.broad_phase import put_centres
from bunraku.collision.manifold.contact_rows import part_by
from bunraku.collision.manifold.shared_planes import share_planes
from bunraku.collision.manifold.touch_arrays import MANIFOLD, KnownStart
from bunraku.dynamics.elastic import has_elastic
from bunraku.dynamics.fast_turns import furthest_turn
from bunraku.dynamics.free_spin import spin_freely
from bunraku.dynamics.rollout import ROLLOUT, STEP_BITS, advance, further
from bunraku.dynamics.touch.contact_memory import recall
from bunraku.dynamics.touch.find_contacts import act_between, drop_ghosts, find_contacts, find_more, leaps
from bunraku.dynamics.touch.lay_strings import lay_strings, look_along
from bunraku.dynamics.touch.row_slopes import row_gaps, row_slopes
from bunraku.dynamics.touch.touch_step import touch_step
from bunraku.dynamics.touch.touched_tree import extend_elimination, touched_tree
from bunraku.dynamics.variational import begin, workspace
from bunraku.dynamics.yielding_step import openness
from bunraku.kernels.compile import bare, borrow, inline, keep
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
    for k in range(t.number[0]):
        a, b, c = t.key[k, 0], t.key[k, 1], t.head[k]
        force = world.matter[a, b, 2]
        t.stick[c] = 0.0
        if force == 0.0 or not w.h0[c] > -MANIFOLD.closed:
            continue
        closed = 0
        for i in range(t.number[0]):
            same = (t.key[i, 0] == a and t.key[i, 1] == b) or (t.key[i, 0] == b and t.key[i, 1] == a)
            closed += same and w.h0[t.head[i]] > -MANIFOLD.closed
        t.stick[c] = force * dt / closed
        for s in range(1, t.support[c, 0] + 1):
            j = tree.joints[t.support[c, s]].variable
            if j < tree.n_dynamic:
                out[j] += w.A0[c, s] * t.stick[c]


@bare
def _rates(tree, world, t, w, v, rate):
    """How fast the contacts that may bounce close [m/s], where variables change at the rates v."""
    for k in range(t.number[0]):
        rate[k] = 0.0
        if world.matter[t.key[k, 0], t.key[k, 1], 1] > 0.0:
            c = t.head[k]
            for s in range(1, t.support[c, 0] + 1):
                j = tree.joints[t.support[c, s]].variable
                rate[k] += w.A0[c, s] * v[j]


@bare
def leaving(tree, world, t, w, rate, dt, speed):
    """The speeds with which contacts that have just met should leave in the next step or part of it."""
    g = tree.gravity
    slow = MANIFOLD.slow * dt * np.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    for k in range(t.number[0]):
        met = w.alive[t.head[k]] and t.speed[k] == 0.0 and rate[k] > slow
        speed[k] = world.matter[t.key[k, 0], t.key[k, 1], 1] * rate[k] if met else 0.0


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
def _attempt(aug, parts, w, o, q0, p0, u, dt, share, q1, lam, old, p1, tolerance, again, rings, placed, end):
    """One step by parts, from the guess or `again` from rest; `placed`: `end` has the joints at the guess. Returns bits, or −1."""
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
    if touch_step(aug, parts, w, o, q0, p0, u, dt, share, q1, lam, old, p1, tolerance, most, rings, placed, end) < 0:
        return -1
    if further(aug, q0, q1, ROLLOUT.max_turn):
        return -1
    return STEP_BITS.retried if again > 0 else 0


@bare
def _copy_joints(source, placed):
    """Where joints are, from `source`."""
    for j in range(placed.p.shape[0]):
        for i in range(3):
            placed.p[j, i] = source.p[j, i]
            for k in range(3):
                placed.R[j, i, k] = source.R[j, i, k]
        for i in range(6):
            placed.S[j, i] = source.S[j, i]


@bare
def forget_start(near):
    """The next step does not begin where the last has ended, or not about the same origin."""
    for what in range(near.known.shape[0]):
        near.known[what] = False


@bare
def _begin_contacts(aug, w, o, q0, start, first):
    """`begin` for rows from `first` on; joints are placed."""
    row_slopes(aug, w, o, q0, start.R, start.p, start.S, first, aug.n_links, w.h0, w.A0)


@bare
def _end_contacts(n_links, aug, w, end, o, q1):
    """`begin` at the end of the step, without gradients of contacts: in the next step they are others. Places joints in `end`."""
    place(aug.joints, 0, aug.joints.shape[0], q1, o, end.R, end.p, end.S)
    row_slopes(aug, w, o, q1, end.R, end.p, end.S, 0, n_links, w.h0, w.A0)
    row_gaps(aug, w, o, q1, end.R, end.p, n_links, w.h0)


@bare
def _are_rings(t):
    """Whether no two bodies have more than one contact; those of a pair stand together, unless some were found late."""
    rings = True
    for k in range(1, t.number[0]):
        rings &= t.key[k, 0] != t.key[k - 1, 0] or t.key[k, 1] != t.key[k - 1, 1]
    return rings


@bare
def bounce(t):
    """Whether a contact should leave in this step."""
    out = False
    for k in range(t.number[0]):
        out |= t.speed[k] > 0.0
    return out


@bare
def _overtaken(t, w, lam):
    """How deep the contacts that act were at the start of the step [m], besides those that bounce."""
    worst = 0.0
    for k in range(t.number[0]):
        if lam[t.head[k]] > 0.0 and t.speed[k] == 0.0:
            worst = max(worst, w.h0[t.head[k]])
    return worst


@bare
def _pushes_afar(t, w, lam):
    """Whether a contact acts that is open at the end of the step, which no solution has: where bodies turn far, an impulse at the
    start may close the gap that it should open."""
    out = False
    for k in range(t.number[0]):
        out |= lam[t.head[k]] > 0.0 and w.h0[t.head[k]] < -MANIFOLD.false
    return out


@inline
def solve_part(
    own, parts, world, laid, t, memory, w, lone, origin, start, end, near, q0, p0, v0, u, dt, share, kappa, tolerance, q1, guess,
    pulled, impulse, live, slides, p1, rate, old, charts, fast, firm, bounces,
):  # fmt: skip
    """One step of length dt from (q0, p0) with the rates v0 before; q1 holds the guess, and its kinematic part what is asked for.

    Returns bits, or −1 where it should be taken in shorter parts: Newton's method found nothing, bodies are still in each other,
    may have passed through each other, or something acts that was already in the way at the start. Where it is `firm`, the figure
    goes as near as it can instead, and stays where it is at worst. t.number[3] says that there was no room for all contacts.
    Bodies that nothing touches spin as they do freely, in `charts` that are centred because they turn `fast`.
    Where near.known says so, `end` has the joints at q1. `guess` and `pulled` are scratch: q1 as it comes, and p0 with the pull of
    adhesion.
    """
    n, nq = own.n_dynamic, own.n_q
    for i in range(nq):
        guess[i] = q1[i]
    find_contacts(own, world, t, own.joints, q0, q1, origin, start, end, near)
    share_planes(t, world, start, origin, t.number[0])
    t.number[4] = 0
    if laid.link.shape[0] > 0:
        lay_strings(own, laid, t, start, end, origin)
    if t.number[3] > 0 or (not firm and leaps(world, start, end, near)):
        return -1
    _recall_all(t, memory, impulse, live, slides, dt, bounces)
    for c in range(t.number[1]):
        old[c] = impulse[c]
    first_found = t.number[0]
    stretches, got, settled, early, alone, placed = has_elastic(own), 0, False, 0.0, False, True
    first = own.n_links if near.known[KnownStart.GAPS] and laid.link.shape[0] == 0 else 0
    near.known[KnownStart.JOINTS] = near.known[KnownStart.GAPS] = False
    for _ in range(MANIFOLD.max_rounds):
        early = 0.0
        if t.number[0] == 0 and t.number[4] == 0:
            _ready(own, lone, live, slides)
            if not near.known[KnownStart.GAPS_ALONE]:
                begin(own, lone, origin, q0)
            near.known[KnownStart.GAPS_ALONE], alone, placed = False, True, False
            got = advance(own, lone, origin, q0, p0, u, dt, share, kappa, q1, impulse, p1, tolerance)
            if not firm and got & STEP_BITS.divided and furthest_turn(own, q1, q0) > ROLLOUT.max_turn:
                return -1  # charts of ball joints may change between shorter parts
            _copy_end(own, lone, w)
            if spin_freely(own, charts, lone.near, q0, p0, q1, p1, dt, fast) == 0 and own.n_links > 0:
                _copy_joints(lone, end)
            else:
                place(own.joints, 0, own.joints.shape[0], q1, origin, end.R, end.p, end.S)
        else:
            grown = touched_tree(own, own.joints, t)
            aug = borrow(grown)
            _ready(aug, w, live, slides)
            _begin_contacts(aug, w, origin, q0, start, first)
            near.known[KnownStart.GAPS_ALONE], alone, first = False, False, 0
            _stick(own, world, t, w, p0, dt, pulled)
            _rates(own, world, t, w, v0, rate)
            got, rings = -1, _are_rings(t)
            for again in range(2):
                if got < 0 and not stretches:
                    got = _attempt(
                        aug, parts, w, origin, q0, pulled, u, dt, share, q1, impulse, old, p1, tolerance, again, rings, placed, end
                    )  # fmt: skip
                placed = False
            if got >= 0:
                spin_freely(aug, charts, w.near, q0, p0, q1, p1, dt, fast)
                early = _overtaken(t, w, impulse)
                _end_contacts(own.n_links, aug, w, end, origin, q1)
                if openness(aug, q1, w.h0, w.x) > MANIFOLD.max_open or _pushes_afar(t, w, impulse):
                    got = -1
            if got < 0 and (firm or stretches):  # by the way of figures that do not touch, which knows what to do
                extend_elimination(own, t)
                heavy = workspace(aug)
                whole = borrow(heavy)
                _ready(aug, whole, live, slides)
                begin(aug, whole, origin, q0)
                for i in range(n, nq):
                    q1[i] = guess[i]
                got = advance(aug, whole, origin, q0, pulled, u, dt, share, kappa, q1, impulse, p1, tolerance)
                spin_freely(aug, charts, whole.near, q0, p0, q1, p1, dt, fast)
                _end_contacts(own.n_links, aug, w, end, origin, q1)
                _copy_end(aug, whole, w)
                keep(heavy)
            keep(grown)
            if got < 0:
                break
        rows = t.number[1]
        for c in range(rows):
            live[c], slides[c] = w.alive[c], w.slides[c]
        as_guessed = _deviation(guess, q1) < MANIFOLD.as_guessed
        more = find_more(own, world, t, origin, start, end, near, as_guessed)
        if t.number[3] > 0:
            return -1
        if more == 0:
            if act_between(world, t, impulse):
                put_centres(world, origin, end, near)
            more = drop_ghosts(world, t, w, origin, end, impulse)
        if laid.link.shape[0] > 0:
            place(own.joints, 0, own.joints.shape[0], q1, origin, w.R, w.p, w.S)
            new = look_along(laid, t, w.R, w.p, origin, w.x, w.f, False)
            if new > 0:
                lay_strings(own, laid, t, start, end, origin)
            more += new
        if more == 0:
            settled = True
            break
        share_planes(t, world, start, origin, first_found)
        for c in range(rows, t.number[1]):
            impulse[c], old[c], live[c], slides[c] = 0.0, 0.0, False, False
        for i in range(n, nq):
            q1[i] = guess[i]
    if settled and (firm or early < MANIFOLD.overtaken):
        near.known[KnownStart.JOINTS] = True
        near.known[KnownStart.GAPS], near.known[KnownStart.GAPS_ALONE] = not alone, alone
        return got
    if not firm:
        return -1
    for i in range(nq):
        q1[i] = q0[i]
    for i in range(n):
        p1[i] = 0.0
    grown = touched_tree(own, own.joints, t)
    _end_contacts(own.n_links, borrow(grown), w, end, origin, q0)
    keep(grown)
    for c in range(t.number[1]):
        impulse[c] = 0.0
        w.alive[c] = w.slides[c] = False
    return STEP_BITS.held
