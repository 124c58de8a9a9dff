"""Whole rollouts in one compiled call. Steps never fail, and charts never become singular.

A step that Newton's method cannot solve is tried again from rest. If there is still no solution, the figure goes as near as it can
(bunraku.dynamics.yielding_step), and the puppeteer is *held* back at what can be reached. If that is all that he asked for, the
step was only too fast, and is tried in 2, 4, … parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bunraku.dynamics.ball_charts import apply_chart, outside, recentre, unwind
from bunraku.dynamics.elastic import elastic_energy
from bunraku.dynamics.fast_turns import fast_turns, is_off_centre, turning_parts
from bunraku.dynamics.free_spin import spin_freely
from bunraku.dynamics.lagrangian import energies, momenta, total_mass
from bunraku.dynamics.variational import begin, step, workspace
from bunraku.dynamics.yielding_step import openness, yielding
from bunraku.figure.records import FigureTree, LinkKind
from bunraku.kernels.compile import bare, borrow, inline, keep, kernel, unit, woven
from bunraku.kinematics.gaps import gap_of
from bunraku.kinematics.tree import place


class StepBits(NamedTuple):
    """What happened in a step, as bits that add up; 0 where nothing did."""

    retried: int = 1
    """Newton's method failed from the guess, and found the step from rest."""
    held: int = 2
    """Newton's method found no step: the figure went as near as it can, and lost speed. The puppeteer was held back where no
    configuration reaches what he asked for (Simulation.held says where and by how much)."""
    divided: int = 4
    """The step was taken in parts."""
    frozen: int = 8
    """Links were open where the step began, and could not be closed."""
    recharted: int = 16
    """A ball joint changed its chart (bunraku.dynamics.ball_charts)."""


class RolloutOptions(NamedTuple):
    """Numbers that tune steps that never fail."""

    max_parts: int = 16
    """Parts of a step, at most."""
    newton_steps: int = 12
    """Iterations of Newton's method from the guess, at most."""
    newton_steps_from_rest: int = 40
    """The same from rest."""
    max_turn: float = 1.0
    """How far a joint may turn in a step, or in a part of it [rad]."""
    max_leap: float = 1e4
    """How far a kinematic variable may go in a step [rad or m]: a request that is further away is held back."""
    max_open: float = 5e-10
    """How far open a link may be at the end of a step [m or rad]."""
    origin_every: int = 64
    """Steps after which the origin is moved near the figure, which keeps numbers small however far from home it is."""


STEP_BITS = StepBits()
ROLLOUT = RolloutOptions()


@inline
def with_joints(tree, joints):
    """The same figure with these joints, whose charts may change."""
    return FigureTree(
        tree.n_dynamic, tree.n_q, tree.n_massive, tree.n_links, tree.way_rows, tree.gravity, joints, tree.chain, tree.points,
        tree.links, tree.support, tree.elimination, tree.springs, tree.spring_support, tree.forces, tree.balls,
    )  # fmt: skip


@woven
def attempt(tree, w, o, q0, p0, u, dt, share, q1, lam, p1, tolerance, furthest):
    """One step by Newton's method, from the guess, then from rest; after `begin`. Returns bits, or −1.

    A solution in which a joint turns by more than `furthest` [rad] does not count: it may have skipped something.
    """
    for again in range(2):
        if again > 0:
            for i in range(tree.n_dynamic):
                q1[i] = q0[i]
            for c in range(tree.n_links):
                lam[c] = 0.0
                w.alive[c] = False
        most = ROLLOUT.newton_steps if again == 0 else ROLLOUT.newton_steps_from_rest
        used = step(tree, w, o, q0, p0, u, dt, share, q1, lam, p1, tolerance, most)
        if used >= 0 and not further(tree, q0, q1, furthest):
            return STEP_BITS.retried if again > 0 else 0
    return -1


@woven
def further(tree, q0, q1, furthest):
    """Whether a joint turns by more than `furthest` [rad]."""
    for j in range(tree.n_massive):
        i = tree.joints[j].variable
        if i < tree.n_dynamic and tree.joints[j].kind < 3 and abs(q1[i] - q0[i]) > furthest:
            return True
    return False


@unit("int64", allocates=True)
def advance(tree, w, o, q0, p0, u, dt, share, kappa, q1, lam, p1, tolerance):
    """A step that always has a result, after `begin` at q0; it leaves behind what `begin` does at q1. Returns what happened.

    All links are closed at q1, and those that do not act (w.alive) hang through: their λ is what they pulled within a divided step.
    """
    n, nq = tree.n_dynamic, tree.n_q
    leaps = False
    for k in range(n, nq):
        leaps |= not abs(q1[k] - q0[k]) < ROLLOUT.max_leap
    asked = q1[n:].copy()
    bits = -1 if leaps else attempt(tree, w, o, q0, p0, u, dt, share, q1, lam, p1, tolerance, ROLLOUT.max_turn)
    if bits >= 0 and _closes(tree, w, o, q1):
        return bits
    for k in range(n, nq):
        q1[k] = asked[k - n]
    closed = yielding(tree, w, o, q0, p0, u, dt, kappa, q1, lam, p1)
    reached = closed
    for k in range(n, nq):
        reached &= q1[k] == asked[k - n]
    if reached:  # in parts, the figure would not lose speed
        q, p, pulls, alive = q1.copy(), p1.copy(), lam.copy(), w.alive.copy()
        bits = _divide(tree, w, o, q0, p0, u, dt, share, asked, q1, lam, p1, tolerance)
        if bits >= 0:
            return bits
        for i in range(nq):
            q1[i] = q[i]
        for i in range(n):
            p1[i] = p[i]
        for c in range(tree.n_links):
            lam[c], w.alive[c], w.slides[c] = pulls[c], alive[c], False
    begin(tree, w, o, q1)
    return STEP_BITS.held if closed else STEP_BITS.held | STEP_BITS.frozen


@unit("int64", allocates=True)
def turn_in_parts(tree, home, charts, w, o, q0, p0, u, dt, share, kappa, q1, lam, p1, tolerance, parts, seen, before, fast, work):
    """`advance` in so many parts, between which charts are centred; it moves q0, p0 and `seen` to where the last part begins.

    `before` (1 × q) becomes where q1 would have been a step earlier, and `work` the mean energies of the parts. Returns bits.
    """
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    asked, first, sums, out, bits = q1[n:].copy(), q0[n:].copy(), np.zeros(nc), np.empty(nq), STEP_BITS.divided
    part_dt, rate = dt / parts, (q1 - q0) / parts
    work[0] = work[1] = 0.0
    for part in range(parts):
        for i in range(n):
            q1[i] = q0[i] + rate[i]
        for k in range(nq - n):
            q1[n + k] = asked[k] - (asked[k] - first[k]) * (parts - part - 1) / parts
        bits |= advance(tree, w, o, q0, p0, u, part_dt, share, kappa * parts, q1, lam, p1, tolerance)
        spin_freely(tree, charts, w.near, q0, p0, q1, p1, part_dt, fast)
        for i in range(nq):
            w.vq[i], w.qm[i] = (q1[i] - q0[i]) / part_dt, 0.5 * (q1[i] + q0[i])
        T, V = energy(tree, w, o, w.qm, w.vq)
        work[0] += T / parts
        work[1] += V / parts
        for c in range(nc):
            sums[c] += lam[c]
        for i in range(nq):
            before[0, i] = q0[i]
        if part == parts - 1:
            break
        for i in range(nq):
            q0[i] = q1[i]
        for i in range(n):
            p0[i] = p1[i]
        if recentre(tree, home, charts, q0, p0, before, fast) > 0:
            unwind(tree, charts, q0, p0, before, seen)
            bits |= STEP_BITS.recharted
            begin(tree, w, o, q0)
        outside(tree, charts, q0, seen, out)
        for i in range(nq):
            seen[i] = out[i]
        for i in range(n):
            rate[i] = q0[i] - before[0, i]
    for i in range(nq):
        before[0, i] = q1[i] - (q1[i] - before[0, i]) * parts
    for c in range(nc):
        lam[c] = sums[c]
    return bits


@unit("int64", allocates=True)
def _divide(tree, w, o, q0, p0, u, dt, share, asked, q1, lam, p1, tolerance):
    """The step in 2, 4, … parts. Returns bits, or −1; λ is the sum over all parts."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    qa, pa, sums = np.empty(nq), np.empty(n), np.empty(nc)
    parts = 2
    while parts <= ROLLOUT.max_parts:
        for i in range(nq):
            qa[i] = q0[i]
        for i in range(n):
            pa[i] = p0[i]
        for c in range(nc):
            sums[c] = lam[c] = 0.0
            w.alive[c] = False
        begin(tree, w, o, q0)
        bits = STEP_BITS.divided
        for part in range(parts):
            for i in range(n):
                q1[i] = qa[i]
            for k in range(n, nq):
                q1[k] = asked[k - n] - (asked[k - n] - q0[k]) * (parts - part - 1) / parts
            furthest = ROLLOUT.max_turn if parts < ROLLOUT.max_parts else np.inf
            got = attempt(tree, w, o, qa, pa, u, dt / parts, share, q1, lam, p1, tolerance, furthest)
            if got < 0 or not _closes(tree, w, o, q1):
                bits = -1
                break
            bits |= got
            for c in range(nc):
                sums[c] += lam[c]
            for i in range(nq):
                qa[i] = q1[i]
            for i in range(n):
                pa[i] = p1[i]
        if bits >= 0:
            for c in range(nc):
                lam[c] = sums[c]
            return bits
        parts *= 2
    return -1


@bare
def _closes(tree, w, o, q1):
    """`begin` at q1. Returns whether all links are closed there: where they nearly contradict each other, Newton's method may end
    early, and a leap may turn the axes of a closure round."""
    begin(tree, w, o, q1)
    return openness(tree, q1, w.h0, w.x) < ROLLOUT.max_open


@bare
def energy(tree, w, o, q, v):
    """(kinetic, potential) at q with rates v, springs between points and stretched strings included."""
    nm, joints = tree.n_massive, tree.joints
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    place(joints, 0, joints.shape[0], q, o, w.R, w.p, w.S)
    for j in range(nm):
        w.v[j] = v[joints[j].variable]
    momenta(joints, nm, w.v, w.R, w.p, w.S, w.V, w.T, w.B, w.I, w.P)
    T, V = energies(joints, nm, g, q, w.v, w.R, w.p, w.S, w.V, w.T, w.B, w.I, w.P)
    for s in range(tree.springs.shape[0]):
        if tree.springs[s].kind == LinkKind.LENGTH:
            h = gap_of(tree.springs[s], tree.points, q, w.R, w.p, o, w.x, w.f, w.n)
            V += 0.5 * tree.springs[s].stiffness * h * h
    for c in range(tree.links.shape[0]):
        if tree.links[c].stiffness > 0.0:
            V += elastic_energy(tree.links[c], q, gap_of(tree.links[c], tree.points, q, w.R, w.p, o, w.x, w.f, w.n))
    mass = 0.0
    for j in range(nm):
        mass += joints[j].mass
    return T, V - mass * (g[0] * o[0] + g[1] * o[1] + g[2] * o[2])


@woven
def extrapolate(q, n, out):
    """The first guess of a step: Newton's backward differences of q[0], q[1], …, as long as they keep shrinking."""
    second, third, fourth, known = 0.0, 0.0, 0.0, q.shape[0] > 5
    for i in range(n):
        a, b, c = q[0, i], q[1, i], q[2, i]
        out[i] = 3.0 * (a - b) + c
        if known:
            d, e = q[3, i], q[4, i]
            second = max(second, abs(a - 2.0 * b + c))
            third = max(third, abs(a - d - 3.0 * (b - c)))
            fourth = max(fourth, abs(a + e - 4.0 * (b + d) + 6.0 * c))
    if known and 2.0 * third < second:
        last = 1.0 if 2.0 * fourth < third else 0.0
        for i in range(n):
            a, b, c, d, e = q[0, i], q[1, i], q[2, i], q[3, i], q[4, i]
            out[i] += a - d - 3.0 * (b - c) + last * (a + e - 4.0 * (b + d) + 6.0 * c)


@kernel
def rollout(tree, q, p, lam, charts, alive, K, U, dt, share, tolerance, Q, P, L, G, En, states, bits):
    """Steps through all rows of K (next kinematic variables) and U (force inputs).

    The state is updated in place: q (6 × variables: now, four before, and now with all charts at home), p, lam, charts, alive.
    Results have a row for each step: Q, P (in the charts), L (impulses), G (gaps), En (kinetic and potential energy at the
    midpoints), states of the links, and bits. G and En are left out where they have no rows.
    """
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    home = tree.joints
    owned = with_joints(tree, home.copy())
    own = borrow(owned)
    for k in range(tree.balls.shape[0]):
        apply_chart(own, home, charts, k)
    lent = workspace(own)
    w = borrow(lent)
    for c in range(nc):
        w.alive[c] = alive[c]
    kappa = total_mass(home) / dt
    p1, seen, out = np.empty(n), np.empty(nq), np.empty(nq)
    seen_row = q.shape[0] - 1
    outside(own, charts, q[0], q[seen_row], seen)
    q1, before, mean, fast = np.empty(nq), np.empty((1, nq)), np.empty(2), fast_turns(own)
    origin, charted = (0.0, 0.0, 0.0), False
    if is_off_centre(own, q[0], q[1], fast):
        recentre(own, home, charts, q[0], p, q[1:seen_row], fast)
    for k in range(K.shape[0]):
        moved = k % ROLLOUT.origin_every == 0 or charted
        if k % ROLLOUT.origin_every == 0 and nq > 0:
            place(own.joints, 0, own.joints.shape[0], q[0], (0.0, 0.0, 0.0), w.R, w.p, w.S)
            last = max(tree.n_massive - 1, 0)
            origin = (w.p[last, 0], w.p[last, 1], w.p[last, 2])
        extrapolate(q, n, q1)
        for i in range(n, nq):
            q1[i] = K[k, i - n]
        if moved:
            begin(own, w, origin, q[0])
        parts, got = turning_parts(own, q1, q[0], fast, ROLLOUT.max_turn), 0
        if parts == 1:
            got = advance(own, w, origin, q[0], p, U[k], dt, share, kappa, q1, lam, p1, tolerance)
            if got & STEP_BITS.divided:  # by what nobody could foresee, in the chart where it began
                parts = turning_parts(own, q1, q[0], fast, ROLLOUT.max_turn)
            if parts > 1:
                for i in range(n, nq):
                    q1[i] = K[k, i - n]
                for c in range(nc):
                    lam[c] = 0.0
                    w.alive[c] = False
                begin(own, w, origin, q[0])
        if parts == 1:
            spin_freely(own, charts, w.near, q[0], p, q1, p1, dt, fast)
        else:
            got = turn_in_parts(
                own, home, charts, w, origin, q[0], p, U[k], dt, share, kappa, q1, lam, p1, tolerance, parts, seen, before, fast,
                mean,
            )  # fmt: skip
        for i in range(nq):
            w.vq[i] = (q1[i] - q[0, i]) / dt
            w.qm[i] = 0.5 * (q1[i] + q[0, i])
        if G.shape[0] > 0:
            for c in range(nc):
                G[k, c] = w.h0[c]
        if En.shape[0] > 0:
            En[k, 0], En[k, 1] = (mean[0], mean[1]) if parts > 1 else energy(own, w, origin, w.qm, w.vq)
        for c in range(nc):
            L[k, c] = lam[c]
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
                    q[row, i] = q[0, i] - (row * (q[0, i] - before[0, i]) if parts > 1 and i < n else 0.0)
        charted = recentre(own, home, charts, q[0], p, q[1:seen_row], fast) > 0
        if charted:
            unwind(own, charts, q[0], p, q[1:seen_row], seen)
            got |= STEP_BITS.recharted
        outside(own, charts, q[0], seen, out)
        for i in range(nq):
            seen[i] = q[seen_row, i] = Q[k, i] = out[i]
        for i in range(n):
            P[k, i] = p[i]
        bits[k] = got
        for c in range(nc):
            states[k, c] = w.alive[c] + w.slides[c]
    for c in range(nc):
        alive[c] = w.alive[c]
    keep(owned)
    keep(lent)
