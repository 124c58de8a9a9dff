"""One step of the midpoint variational integrator (*trep*, eq. 10–11), with strings that pull only.

Given (q0, p0) and the next kinematic variables, find q1 and the link impulses λ = tension·dt with

    r = p0 + D1 L_d(q0, q1) + F⁻ − A(q0)ᵀ λ = 0         L_d = dt · L((q0 + q1)/2, (q1 − q0)/dt)
    gap(q1) ≤ 0,  λ ≥ 0,  λ·gap(q1) = 0                 (gap(q1) = 0 for wires and closures)
    p1 = D2 L_d(q0, q1) + F⁺

F⁻ = share·dt·F and F⁺ = (1 − share)·dt·F at the midpoint: share ½ is second order, share 1 is trep's rule. The
complementarity is solved inside the step by a semismooth Newton method, so every step end is admissible, whatever
happened within it. Convention: λ > 0 pulls the hook toward the spindle. Strings that stretch have another row
(bunraku.dynamics.elastic), those that rub have more rows (bunraku.dynamics.capstan).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.capstan import capstan, exponents, passed, rubs_somewhere
from bunraku.dynamics.complementarity import LINKS, complementarity
from bunraku.dynamics.elastic import early_impulses, elastic_row, has_elastic, pull_at_end, soften, softness
from bunraku.dynamics.friction import frictional
from bunraku.dynamics.joint_pairs import put_columns, spread
from bunraku.dynamics.kkt import border, down, only_alive, reduce, up
from bunraku.dynamics.lagrangian import momenta, slopes
from bunraku.dynamics.springs import spring_forces, spring_slopes
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import clear, padded
from bunraku.kernels.compile import inline, unit, woven
from bunraku.kernels.row_sums import NUMBERS, pair_rows
from bunraku.kinematics.gaps import gaps
from bunraku.kinematics.tree import place


class Work(NamedTuple):
    """Scratch for the steps of one figure. `joints`, `massive`, `points`, `links`, `n` (dynamic variables) are numbers of them."""

    R: Any
    """(joints, 3, 3) rotations, transposed: row a is axis a of the joint in the world."""
    p: Any
    """(joints, 3) positions."""
    S: Any
    """(joints, 6) screws (angular, linear)."""
    V: Any
    """(massive, 6) velocities."""
    T: Any
    """(massive, 6) dS/dt."""
    B: Any
    """(massive, 10) inertia of each body."""
    I: Any
    """(massive, 10) inertia of everything behind each joint."""
    P: Any
    """(massive, 6) momentum of everything behind each joint."""
    x: Any
    """(points, 3) points of links in the world."""
    f: Any
    """(points, 3) ∂gap/∂x."""
    n: Any
    """(points + 1, 4) unit vector and 1/length of each segment of a string."""
    d: Any
    """(joints, 3) scratch of second derivatives of gaps."""
    e: Any
    """The same."""
    h0: Any
    """(links,) gaps at q0."""
    early: Any
    """(links,) impulses that act at q0: all of λ where a link does not stretch."""
    h: Any
    """(links,) gaps at q1."""
    A0: Any
    """(links, variables) ∂gap/∂q at q0."""
    A1: Any
    """(links, variables) ∂gap/∂q at q1."""
    As: Any
    """(springs, variables) ∂length/∂q of springs."""
    alive: Any
    """(links,) whether each acts."""
    slides: Any
    """(links,) whether each contact slides."""
    side: Any
    """(links,) where a string slips: 1 toward its hook, −1 toward its spindle."""
    exponent: Any
    """(links,) μφ at q0 where a string rubs (bunraku.dynamics.capstan)."""
    near: Any
    """(links,) whether each may act in this step."""
    qm: Any
    """(variables,) at the midpoint."""
    v: Any
    """(massive,) rate of each joint."""
    vq: Any
    """(variables,) rates."""
    Lq: Any
    """(variables,) L_q of springs."""
    F: Any
    """(variables,) forces."""
    r: Any
    """(n + links,) residual, then correction."""
    delta: Any
    """(links,) change of the impulses."""
    block: Any
    """(links, links + 1) the system of the links that act, with its right side."""
    K: Any
    """(n + links, padded) ∂(r, gap)/∂(q1, λ), then its factors."""
    L: Any
    """(n, padded) multiples of rows that elimination took."""
    D22: Any
    """(n, padded) ∂p1/∂q1."""
    rows: Any
    """(links,) order of pivots."""
    cols: Any
    """(links,) the same, of columns."""
    E: Any
    """Elimination lists of the links that may act."""
    Lqq: Any
    """(variables, variables) of springs; empty without any."""
    Fq: Any
    """∂F/∂q of springs, the same."""
    Fv: Any
    """∂F/∂v of springs, the same."""
    columns: Any
    """Screws of all joints, eight side by side (bunraku.dynamics.joint_pairs)."""
    pair: Any
    """(massive, numbers) what a joint brings to its pairs."""
    Y: Any
    """What comes of all pairs with one joint."""


class NewtonOptions(NamedTuple):
    """Numbers that tune Newton's method in a step."""

    max_contact_depth: float = 1e-11
    """How far a rubbing contact may be below its plane [m]."""
    max_gap: float = 1e-10
    """How much too long a link may be [m], besides what the last correction closed."""
    max_left: float = 1e-11
    """How far open a link may stay because it gives way a little where it takes a load [m]."""
    max_correction: float = 0.7
    """Largest correction of a variable; a larger one is shortened [rad or m]."""
    certain: float = 0.03
    """Share of the tolerance: a correction with a new Jacobian leaves *about* its square, so it must be smaller by this."""
    near: float = 1e-3
    """How far a string may hang through and still be able to tighten in the step [m]."""


NEWTON = NewtonOptions()


@inline
def workspace(tree):
    """Scratch for steps of this figure."""
    n, nq, nm, nc = tree.n_dynamic, tree.n_q, tree.n_massive, tree.n_links
    nj, ns, npt = tree.joints.shape[0], tree.springs.shape[0], tree.points.shape[0]
    nx, width = nq if ns > 0 else 0, padded(n + nc)
    return Work(
        R=np.empty((nj, 3, 3)), p=np.empty((nj, 3)), S=np.empty((nj, 6)), V=np.empty((nm, 6)), T=np.empty((nm, 6)),
        B=np.empty((nm, 10)), I=np.empty((nm, 10)), P=np.empty((nm, 6)),
        x=np.empty((npt, 3)), f=np.empty((npt, 3)), n=np.zeros((tree.way_rows, 4)), d=np.empty((nj, 3)), e=np.empty((nj, 3)),
        h0=np.zeros(nc), early=np.zeros(nc), h=np.zeros(nc), A0=np.zeros((nc, nq)), A1=np.zeros((nc, nq)), As=np.zeros((ns, nq)),
        alive=np.zeros(nc, np.bool_), slides=np.zeros(nc, np.bool_), side=np.zeros(nc), exponent=np.zeros(nc),
        near=np.zeros(nc, np.bool_),
        qm=np.empty(nq), v=np.empty(nm), vq=np.empty(nq), Lq=np.zeros(nq), F=np.zeros(nq), r=np.empty(n + nc), delta=np.zeros(nc),
        block=np.empty((nc, nc + 1)), K=np.empty((n + nc, width)), L=np.empty((n, width)), D22=np.empty((n, padded(n))),
        rows=np.empty(nc, np.int64), cols=np.empty(nc, np.int64), E=tree.elimination.copy(),
        Lqq=np.zeros((nx, nx)), Fq=np.zeros((nx, nx)), Fv=np.zeros((nx, nx)),
        columns=np.zeros((padded(nq) // 8, 12, 8)), pair=np.zeros((nm, NUMBERS)), Y=np.empty((padded(nq) // 8, 4, 8)),
    )  # fmt: skip


@woven
def begin(tree, w, o, q0):
    """Gaps and their gradients at the start of the step."""
    if tree.links.shape[0] > 0:
        place(tree.joints, 0, tree.joints.shape[0], q0, o, w.R, w.p, w.S)
        gaps(tree, q0, w.R, w.p, w.S, o, w.x, w.f, w.n, w.h0, w.A0)
        if rubs_somewhere(tree):
            exponents(tree, w.f, w.n, w.exponent)


@woven
def midpoint(tree, w, o, q0, q1, u, dt):
    """Places the tree half-way, with its momenta, spring slopes and forces."""
    nm, joints = tree.n_massive, tree.joints
    for i in range(q0.shape[0]):
        w.qm[i] = 0.5 * (q0[i] + q1[i])
        w.vq[i] = (q1[i] - q0[i]) / dt
    for j in range(nm):
        w.v[j] = w.vq[joints[j].variable]
    springs = tree.springs.shape[0] > 0
    place(joints, 0, joints.shape[0] if springs else nm, w.qm, o, w.R, w.p, w.S)
    momenta(joints, nm, w.v, w.R, w.p, w.S, w.V, w.T, w.B, w.I, w.P)
    for j in range(nm):
        k = joints[j].variable
        w.Lq[k] = 0.0
        w.F[k] = -joints[j].damping * w.v[j]
    for k in range(tree.forces.shape[0]):
        if tree.forces[k].joint >= 0:
            w.F[joints[tree.forces[k].joint].variable] += tree.forces[k].gain * u[k]
    if springs:
        spring_slopes(tree, w.qm, w.vq, u, o, w.R, w.p, w.S, w.x, w.f, w.n, w.As, w.Lq, w.F)


@woven
def residual(tree, w, q0, p0, dt, share, lam, p1):
    """r of the dynamic variables from the midpoint, and p1. Returns the largest |r|."""
    n, nm, nc, joints = tree.n_dynamic, tree.n_massive, tree.n_links, tree.joints
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    worst = 0.0
    early_impulses(tree, dt, lam, w.early)
    for j in range(nm):
        i = joints[j].variable
        if i >= n:
            continue
        Lq, Lv = slopes(joints[j], j, g, w.qm[i], w.v[j], w.S, w.T, w.I, w.P)
        half = 0.5 * dt * (Lq + w.Lq[i])
        x = p0[i] + half - Lv + share * dt * w.F[i]
        p1[i] = half + Lv + (1.0 - share) * dt * w.F[i]
        for c in range(nc):
            x -= w.A0[c, i] * w.early[c]
        w.r[i] = x
        worst = max(worst, abs(x))
    return worst


@woven
def assemble(tree, w, dt, share, u, o, q0, q1, lam):
    """K = ∂(r, gap)/∂(q1, λ) from the midpoint, and D22 = ∂p1/∂q1 for the correction of p1."""
    n, nm, joints = tree.n_dynamic, tree.n_massive, tree.joints
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    K, D22, Y, last = w.K, w.D22, w.Y, 0
    clear(K)
    clear(D22)
    scale = (dt, 1.0 / dt, 1.0)
    spread(joints, nm, 0, w.S, w.T, w.columns)
    put_columns(nm, g, w.S, w.T, w.I, w.P, w.pair)
    for j in range(nm):
        qj = joints[j].variable
        last = max(last, qj + 1)
        if qj >= n:
            continue
        pair_rows(Y, w.pair, j, scale, w.columns, last)
        i = j
        while i >= 0:
            qi = joints[i].variable
            if qi < n:
                a, b = qi >> 3, qi & 7
                dd = Y[a, 0, b]
                K[qi, qj], K[qj, qi] = Y[a, 1, b] - dd, Y[a, 2, b] - dd
                D22[qi, qj] = D22[qj, qi] = dd
            i = joints[i].parent
        odd, b = 0.25 * dt * joints[j].stiffness, joints[j].damping
        K[qj, qj] -= odd + joints[j].armature / dt + share * b
        D22[qj, qj] += joints[j].armature / dt - odd - (1.0 - share) * b
    if tree.springs.shape[0] > 0:
        spring_forces(tree, w.qm, w.vq, u, o, w.R, w.p, w.S, w.x, w.f, w.n, w.d, w.e, w.As, w.Lqq, w.Fq, w.Fv)
        for i in range(n):
            for j in range(n):
                even, force = 0.25 * dt * w.Lqq[i, j], 0.5 * dt * w.Fq[i, j] + w.Fv[i, j]
                K[i, j] += even + share * force
                D22[i, j] += even + (1.0 - share) * force
    border(tree, w.near, -1.0, w.A0, w.A1, K)
    if has_elastic(tree):
        soften(tree, w.near, dt, q0, q1, lam, K)


@woven
def choose(tree, w, lam, first):
    """Which links may act in this step. Returns whether that has changed, and whether any of them rubs.

    A string that hangs through by more than it has moved within the step cannot act, and takes no part.
    """
    changed, rubs = False, False
    for c in range(tree.links.shape[0]):
        link = tree.links[c]
        if link.normal >= 0:
            on = w.near[link.normal]
            rubs |= on and link.kind == LinkKind.SLIP
        else:
            on = link.pulls == 0 or w.alive[c] or w.h[c] + abs(w.h[c] - w.h0[c]) > -NEWTON.near or (w.near[c] and not first)
            on |= link.stiffness > 0.0 and w.h0[c] > -NEWTON.near
        changed |= on != w.near[c]
        w.near[c] = on
        if not on:
            lam[c] = 0.0
            w.alive[c] = w.slides[c] = False
    return changed, rubs


@woven
def equations(tree, w, dt, q0, q1, lam):
    """Gaps, rows of what stretches, and slips since the start of the step, behind the dynamic variables in w.r."""
    n = tree.n_dynamic
    for c in range(tree.links.shape[0]):
        if not w.near[c]:
            w.r[n + c] = 0.0
        elif tree.links[c].stiffness > 0.0:
            w.r[n + c] = elastic_row(tree.links[c], softness(tree.links[c], dt), w.h0[c], w.h[c], q0, q1, lam[c])
        elif tree.links[c].normal < 0:
            w.r[n + c] = w.h[c]
        else:
            w.r[n + c] = w.h[c] - w.h0[c] if tree.links[c].kind == LinkKind.SLIP else passed(tree, c, w.h0[c], w.h[c])


@woven
def open_links(tree, w, most):
    """Whether a link was too long by more than `most` before the last correction.

    Strings that contradict each other leave such gaps although no correction is left.
    """
    worst = 0.0
    for c in range(tree.links.shape[0]):
        if tree.links[c].normal < 0 and w.near[c] and tree.links[c].stiffness == 0.0:
            worst = max(worst, abs(w.h[c]) if tree.links[c].pulls == 0 else w.h[c])
    return worst > most


@woven
def gives_way(tree, w):
    """Whether the last correction left a link open because of the softness by which links share a load (`LinkOptions.redundant`).

    It does where impulses have just changed much.
    """
    n, scale, change = tree.n_dynamic, 0.0, 0.0
    for c in range(tree.links.shape[0]):
        if w.near[c]:
            scale = max(scale, abs(w.K[n + c, n + c]))
            if w.alive[c]:
                change = max(change, abs(w.delta[c]))
    return LINKS.redundant * scale * change > NEWTON.max_left


@unit("int64", hot=True)
def step(tree, w, o, q0, p0, u, dt, share, q1, lam, p1, tolerance, most):
    """Solves one step; q1 (kinematic part given, dynamic part a guess) and λ hold the guess on entry.

    `begin` must have been called for q0; w.alive holds the links that acted last. Returns the Newton iterations used, or
    −1 where it did not converge.
    """
    n, nc, joints = tree.n_dynamic, tree.n_links, tree.joints
    last, factored = math.inf, False
    for iteration in range(most):
        if nc > 0:
            place(joints, 0, joints.shape[0], q1, o, w.R, w.p, w.S)
            gaps(tree, q1, w.R, w.p, w.S, o, w.x, w.f, w.n, w.h, w.A1)
        midpoint(tree, w, o, q0, q1, u, dt)
        changed, rubs = choose(tree, w, lam, iteration == 0)
        fresh = changed or not factored
        residual(tree, w, q0, p0, dt, share, lam, p1)
        if fresh:
            only_alive(tree.elimination, n, w.near, w.E)
            assemble(tree, w, dt, share, u, o, q0, q1, lam)
            reduce(w.E, w.K, w.L, n)
            factored = True
        equations(tree, w, dt, q0, q1, lam)
        down(w.E, w.L, n, w.r)
        if nc > 0:
            S, g = w.K[n:, n:], w.r[n:]
            if rubs:
                frictional(tree.links, S, g, lam, w.near, w.alive, w.slides, w.side, w.exponent, w.delta)
            elif rubs_somewhere(tree):
                if not capstan(
                    tree.links, S, g, lam, w.near, w.alive, w.slides, w.side, w.exponent, w.delta, w.block, w.rows
                ):  # fmt: skip
                    return -1
            elif not complementarity(tree.links, S, g, lam, w.near, w.alive, w.delta, w.block, w.rows):
                return -1
            for c in range(nc):
                w.r[n + c] = w.delta[c]
        up(w.E, w.K, n, w.r)
        size, total = 0.0, 0.0
        for i in range(n):
            size = max(size, abs(w.r[i]))
            total += w.r[i]  # max() ignores NaN, a sum does not
        if not (size < 1e6 and abs(total) < math.inf):
            return -1
        part = 1.0 if size < NEWTON.max_correction else NEWTON.max_correction / size
        for i in range(n):
            q1[i] -= part * w.r[i]
        for c in range(nc):
            lam[c] -= part * w.r[n + c]
        # A correction with a new Jacobian leaves about its square, one with an old Jacobian shrinks by the same rate again.
        # Rubbing contacts are solved in sweeps that may end early: then their gaps decide.
        rate = size if fresh else size / last
        small = size * rate < (NEWTON.certain * tolerance if fresh else tolerance)
        small = small and not open_links(tree, w, NEWTON.max_contact_depth if rubs else NEWTON.max_gap + 100.0 * size)
        if small and (rubs or not gives_way(tree, w)):
            for j in range(n):  # p1 of the corrected q1
                x = 0.0
                for i in range(n):
                    x += w.D22[j, i] * w.r[i]
                p1[j] -= x
            if has_elastic(tree):
                place(joints, 0, joints.shape[0], q1, o, w.R, w.p, w.S)
                gaps(tree, q1, w.R, w.p, w.S, o, w.x, w.f, w.n, w.h, w.A1)
                pull_at_end(tree, dt, w.A1, lam, p1)
            return iteration + 1
        factored = size * rate * rate < tolerance  # else one more with this Jacobian would not be the last
        last = size
    return -1
