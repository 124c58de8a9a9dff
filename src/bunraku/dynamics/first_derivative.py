"""The first derivative of a step, in variables in which nothing large cancels.

Let s be the shift of both ends of the step, q0 = s, and d = q1 − q0 its way. With r and the gaps the equations of the step,

    K [∂d/∂x; ∂λ/∂x] = X                  K = ∂(r, gap)/∂(d, λ),   X = −∂(r, gap)/∂x
    ∂q1/∂x = ∂q0/∂x + ∂d/∂x

for x = (s, p0, k1) and the kinematic part of q0, which is not shifted. Since r = 0, p1 may be written as p1 + r: there D1 L_d and
D2 L_d add up to dt·L_q, in which the large M/dt does not occur,

    p1 = p0 + dt·(L_q + F) − A(q0)ᵀλ                ∂p1/∂x = P [∂d/∂x; ∂λ/∂x] + the direct effect of x.

The system is solved with its factors; an explicit inverse would lose as many digits again as the mass matrix costs. Where
elimination cancels much, as in long chains, the solution is refined once (bunraku.dynamics.refinement).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.capstan import rubs_somewhere
from bunraku.dynamics.capstan_derivatives import look_at_angles, rubbing_rows
from bunraku.dynamics.elastic import early_impulses, has_elastic, soften
from bunraku.dynamics.elastic_derivatives import elastic_gap_rows, late_pulls
from bunraku.dynamics.friction import is_first, slip_rows, slip_turn, slips
from bunraku.dynamics.joint_pairs import put_columns, spread
from bunraku.dynamics.kkt import border, factor, only_alive, solve_rows
from bunraku.dynamics.link_derivatives import add_halves
from bunraku.dynamics.refinement import MAX_CANCELLATION, residual_rows
from bunraku.dynamics.springs import spring_forces
from bunraku.dynamics.variational import midpoint
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import add_row, clear, padded
from bunraku.kernels.compile import bare, inline, unit, woven
from bunraku.kernels.products import product
from bunraku.kernels.row_sums import fold, pair_rows
from bunraku.kinematics.gaps import gaps
from bunraku.kinematics.tree import place


class StepEnd(NamedTuple):
    """The links at one end of a step."""

    S: Any
    """(joints, 6) screws."""
    x: Any
    """(points, 3) points."""
    f: Any
    """(points, 3) ∂gap/∂x."""
    n: Any
    """(points + 1, 4) unit vector and 1/length of each segment."""
    h: Any
    """(links,) gaps."""
    A: Any
    """(links, variables) ∂gap/∂q."""


class StepMiddle(NamedTuple):
    """Scratch on the way to D, and what is left of it for second derivatives."""

    X: Any
    """(n + links, padded) −∂(r, gap)/∂x, then ∂(d, λ)/∂x."""
    block: Any
    """(links, padded) scratch of the solution."""
    Y: Any
    """(n + links, inputs) ∂(d, λ)/∂x, for second derivatives."""
    P: Any
    """(n, n + links) ∂p1/∂(d, λ), in the form without M/dt."""
    P0: Any
    """(n, padded) ∂p1/∂q0, likewise: by shifts of dynamic variables, and by kinematic ones."""
    P1: Any
    """(n, kinematic variables) ∂p1/∂k1, likewise."""
    K: Any
    """K without M/dt, where its solutions are refined."""
    C0: Any
    """λ·gap_qq at q0."""
    late: Any
    """−(1 − θ) λ·gap_qq at q1, of links that stretch."""
    slope: Any
    """(links, variables) μ φ_q at q0 where strings slip (bunraku.dynamics.capstan_derivatives)."""
    V: Any
    """Scratch of C0."""
    Z: Any
    """The same."""


@inline
def fresh_end(tree):
    """Room for the links at one end of a step."""
    nj, npt, nc, nq = tree.joints.shape[0], tree.points.shape[0], tree.n_links, tree.n_q
    return StepEnd(
        S=np.empty((nj, 6)), x=np.empty((npt, 3)), f=np.empty((npt, 3)), n=np.zeros((tree.way_rows, 4)), h=np.zeros(nc),
        A=np.zeros((nc, nq)),
    )  # fmt: skip


@inline
def fresh_middle(tree):
    """Scratch for the first derivatives of steps of this figure."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    ny, width, joints = n + nc, padded(2 * nq), padded(tree.joints.shape[0])
    return StepMiddle(
        X=np.empty((ny, width)), block=np.empty((nc, width)), Y=np.empty((ny, 2 * nq)), P=np.zeros((n, ny)),
        P0=np.zeros((n, padded(nq))), P1=np.zeros((n, nq - n)), K=np.empty((ny, padded(ny))),
        C0=np.zeros((padded(nq), padded(nq))), late=np.zeros((padded(nq), padded(nq))), slope=np.zeros((nc, nq)),
        V=np.zeros((joints // 8, 6, 8)),
        Z=np.empty(joints),
    )  # fmt: skip


@woven
def middle_of(tree, w, q):
    """The mean place of the joints with mass: sums about a far origin lose digits of what is small and far from it."""
    nm = tree.n_massive
    place(tree.joints, 0, nm, q, (0.0, 0.0, 0.0), w.R, w.p, w.S)
    x = y = z = 0.0
    for j in range(nm):
        x += w.p[j, 0] / nm
        y += w.p[j, 1] / nm
        z += w.p[j, 2] / nm
    return x, y, z


@woven
def look(tree, w, o, q, end):
    """Fills `end` with the links at q."""
    if tree.links.shape[0] > 0:
        place(tree.joints, 0, tree.joints.shape[0], q, o, w.R, w.p, end.S)
        gaps(tree, q, w.R, w.p, end.S, o, end.x, end.f, end.n, end.h, end.A)


@woven
def add_rows(factor, B, count, width, A, first):
    """A[first:] += factor · B in the first rows and columns; beyond `width` B is padded with zeros."""
    if padded(width) <= A.shape[1]:
        for i in range(count):
            add_row(A, first + i, factor, B, i, 0, width)
    else:
        for i in range(count):
            for j in range(width):
                A[first + i, j] += factor * B[i, j]


@unit("int64, boolean", hot=True)
def linearise(tree, w, o, q0, q1, lam, u, dt, share, kappa, start, end, m, D, again):
    """D = ∂(q1, λ, p1)/∂(q0, p0, k1), with the links in w.alive taut and the others slack, after `look` has filled `start`.

    Returns the rank of the links that act, for solutions with the factors that are left in `w`, and whether these need refinement.
    Where second derivatives follow, `again`, m.Y keeps ∂(d, λ)/∂x.
    """
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    ny, rank, refined = n + nc, 0, False
    look(tree, w, o, q1, end)
    midpoint(tree, w, o, q0, q1, u, dt)
    if nc > 0:
        clear(m.C0)
        early_impulses(tree, dt, lam, w.early)
        add_halves(tree, w.early, start.S, start.x, start.f, start.n, w.d, w.e, m.V, m.Z, m.C0)
        fold(m.C0)
        if rubs_somewhere(tree):
            look_at_angles(tree, w, start, m.slope)
    # Rows of dynamic variables depend on k1 only through joints with mass, or springs, that it moves.
    last = nq + n if tree.n_massive == n and tree.springs.shape[0] == 0 else 2 * nq
    whole = 2 * nq % 8 == 0  # then D itself has rows of eights
    for light in range(2):
        K, X = (m.K, m.X) if light else (w.K, D[:ny] if whole else m.X)
        _equations(tree, w, o, q0, q1, lam, u, dt, share, kappa, start, end, light, K, X, m)
        if light:
            residual_rows(tree.joints, tree.n_massive, n, dt, w.S, w.B, K, D[:ny], X)
            solve_rows(w.E, w.K, w.L, n, w.rows, w.cols, rank, X, 2 * nq, m.block)
            for i in range(ny):
                for j in range(2 * nq):
                    D[i, j] += X[i, j]
            break
        only_alive(tree.elimination, n, w.alive, w.E)
        for i in range(n):
            w.r[i] = K[i, i]
        rank = factor(w.E, K, w.L, n, w.rows, w.cols, w.alive)
        for i in range(n):
            refined |= abs(w.r[i] * K[i, i]) > MAX_CANCELLATION
        solve_rows(w.E, K, w.L, n, w.rows, w.cols, rank, X, last, m.block)
        if not whole:
            for i in range(ny):
                for j in range(2 * nq):
                    D[i, j] = X[i, j]
        if not refined:
            break
    product(m.P.T, D[:ny], D[ny:])
    if again:
        for i in range(ny):
            for j in range(2 * nq):
                m.Y[i, j] = D[i, j]
    add_rows(1.0, m.P0, n, nq, D, ny)
    if nc > 0:
        add_rows(-1.0, m.C0, n, nq, D, ny)
    for i in range(n):
        D[i, i] += 1.0
        D[ny + i, nq + i] += 1.0
    if last > nq + n or has_elastic(tree):
        for i in range(n):
            for k in range(nq - n):
                D[ny + i, nq + n + k] += m.P1[i, k]
    return rank, refined


@woven
def _equations(tree, w, o, q0, q1, lam, u, dt, share, kappa, start, end, light, K, X, m):
    """K, X, P, P0 and P1; K without M/dt where `light`."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    clear(K)
    clear(X)
    if nc > 0:
        add_rows(1.0, m.C0, n, nq, X, 0)
    elastic = has_elastic(tree)
    if tree.springs.shape[0] > 0 or elastic:
        _forget(m)
    _pairs(tree, w, dt, share, light, K, X, m)
    if tree.springs.shape[0] > 0:
        _springs(tree, w, o, u, dt, share, K, X, m)
    for i in range(n):
        X[i, nq + i] = -1.0
        for c in range(nc):
            m.P[i, n + c] = -start.A[c, i]
    for c in range(nc):
        _gap_row(tree, w, kappa, c, lam, start, end, X)
    border(tree, w.alive, -1.0, start.A, end.A, K)
    if elastic:
        soften(tree, w.alive, dt, q0, q1, lam, K)
        elastic_gap_rows(tree, dt, q0, q1, lam, start, end, X)
        late_pulls(tree, w, dt, lam, start, end, m)
    if rubs_somewhere(tree):
        rubbing_rows(tree, w, lam, start, end, m.slope, K, X)
    for c in range(nc):
        if w.slides[c] and tree.links[c].kind == LinkKind.SLIP and is_first(tree.links[c], c):
            slip_rows(tree.links[c].friction, kappa, tree.links[c].normal, c, lam, start.h, end.h, end.A, n, K)


@woven
def _pairs(tree, w, dt, share, light, K, X, m):
    """K, X and derivatives of p1 that come from the Lagrangian and from armatures, springs and dampers of joints."""
    n, nm, joints = tree.n_dynamic, tree.n_massive, tree.joints
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    Y, last = w.Y, 0
    spread(joints, nm, 0, w.S, w.T, w.columns)
    put_columns(nm, g, w.S, w.T, w.I, w.P, w.pair)
    for j in range(nm):
        qj = joints[j].variable
        last = max(last, qj + 1)
        pair_rows(Y, w.pair, j, (dt, 1.0 / dt, 1.0), w.columns, last)
        i = joints[j].parent
        while i >= 0:
            qi = joints[i].variable
            dd, sd, ds, ss = Y[qi >> 3, 0, qi & 7], Y[qi >> 3, 1, qi & 7], Y[qi >> 3, 2, qi & 7], Y[qi >> 3, 3, qi & 7]
            if qi < n:
                _put_pair(n, qi, qj, light, dd, sd, ds, ss, K, X, m)
            if qj < n:
                _put_pair(n, qj, qi, light, dd, ds, sd, ss, K, X, m)
            i = joints[i].parent
        if qj < n:
            dd, sd, ss = Y[qj >> 3, 0, qj & 7], Y[qj >> 3, 1, qj & 7], Y[qj >> 3, 3, qj & 7]
            spring, rotor, b = dt * joints[j].stiffness, joints[j].armature / dt, joints[j].damping
            K[qj, qj] = (0.25 * ss if light else sd - dd) - 0.25 * spring - rotor - share * b
            X[qj, qj] += sd - ss + 0.5 * spring
            m.P[qj, qj] = sd - 0.5 * spring - b
            m.P0[qj, qj] = ss - spring


@woven
def _put_pair(n, i, j, light, dd, sd, ds, ss, K, X, m):
    """What a pair of variables, i dynamic, adds to the rows of i."""
    if j < n:
        K[i, j] = 0.25 * ss + 0.5 * (sd - ds) if light else sd - dd
        X[i, j] += ds - ss
        m.P[i, j], m.P0[i, j] = sd, ss
    else:  # ∂/∂k0 = ∂_s − ∂_d
        k, nq = j - n, n + m.P1.shape[1]
        X[i, j] += sd + ds - ss - dd
        X[i, nq + j], m.P0[i, j], m.P1[i, k] = dd - sd, ss - sd, sd


@bare
def _springs(tree, w, o, u, dt, share, K, X, m):
    """The same from springs between points, dampers and pushes, which couple joints that the tree does not couple."""
    n, nq = tree.n_dynamic, tree.n_q
    spring_forces(tree, w.qm, w.vq, u, o, w.R, w.p, w.S, w.x, w.f, w.n, w.d, w.e, w.As, w.Lqq, w.Fq, w.Fv)
    for i in range(n):
        for j in range(nq):
            half, fq, fv = 0.5 * dt * w.Lqq[i, j], 0.5 * dt * w.Fq[i, j], w.Fv[i, j]
            if j < n:
                K[i, j] += 0.5 * half + share * (fq + fv)
                X[i, j] -= half + 2.0 * share * fq
                m.P[i, j] += half + fq + fv
                m.P0[i, j] += 2.0 * (half + fq)
            else:
                X[i, j] -= 0.5 * half + share * (fq - fv)
                X[i, nq + j] -= 0.5 * half + share * (fq + fv)
                m.P0[i, j] += half + fq - fv
                m.P1[i, j - n] += half + fq + fv


@bare
def _forget(m):
    """Clears what springs and links that stretch add to: entries that no pair of joints writes."""
    clear(m.P)
    clear(m.P0)
    clear(m.P1)


@woven
def _gap_row(tree, w, kappa, c, lam, start, end, X):
    """The row of link c in X: its gap by a shift and by k1; a slip also forgets where it started."""
    n, nq = tree.n_dynamic, tree.n_q
    if not w.alive[c]:
        return
    if tree.links[c].kind != LinkKind.SLIP:
        for a in range(1, tree.support[c, 0] + 1):
            k = tree.joints[tree.support[c, a]].variable
            X[n + c, k if k < n else nq + k] = -end.A[c, k]
        k = tree.links[c].variable
        if k >= 0:
            X[n + c, k if k < n else nq + k] = -end.A[c, k]
    else:
        a1, a2 = slip_weights(tree, w, kappa, c, lam, start.h, end.h)
        first = c if is_first(tree.links[c], c) else c - 1
        for k in range(nq):
            X[n + c, k] = a1 * start.A[first, k] + a2 * start.A[first + 1, k]
            X[n + c, k if k < n else nq + k] -= a1 * end.A[first, k] + a2 * end.A[first + 1, k]


@bare
def slip_weights(tree, w, kappa, c, lam, h0, h):
    """The row of slip c moves by a₁ δs₁ + a₂ δs₂ with the slips s of its contact."""
    normal, first = tree.links[c].normal, is_first(tree.links[c], c)
    if not w.slides[c]:
        return (1.0, 0.0) if first else (0.0, 1.0)
    _, y1, y2, size, radius = slips(tree.links[c].friction, kappa, normal, c if first else c - 1, lam, h0, h)
    m11, m12, m22 = slip_turn(y1, y2, size, radius)
    return (-kappa * m11, -kappa * m12) if first else (-kappa * m12, -kappa * m22)
