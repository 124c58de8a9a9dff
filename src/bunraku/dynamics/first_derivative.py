"""The first derivative of a step: D = N X, and the direct effect of x on p1.

With r and the gaps the equations of the step, N is the inverse of ∂(r, gap)/∂(q1, λ) and X = −∂(r, gap)/∂x. Then
∂p1/∂x = ∂p1/∂q1 · ∂q1/∂x, plus the derivative of p1 by x while q1 stays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.elastic import early_impulses, has_elastic, soften
from bunraku.dynamics.elastic_derivatives import elastic_gap_rows, late_bends, late_pulls
from bunraku.dynamics.friction import slip_rows, slip_turn, slips
from bunraku.dynamics.joint_pairs import pair, spread
from bunraku.dynamics.kkt import border, factor, inverse, only_alive
from bunraku.dynamics.link_derivatives import add_halves
from bunraku.dynamics.springs import spring_forces
from bunraku.dynamics.variational import midpoint
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import clear, padded
from bunraku.kernels.compile import bare, inline, woven
from bunraku.kernels.row_sums import fold
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
    """Scratch on the way to D."""

    N: Any
    """Inverse of ∂(r, gap)/∂(q1, λ)."""
    block: Any
    """(links, padded) scratch of the inverse."""
    X: Any
    """−∂(r, gap)/∂x, with as many rows as N has columns; the last are zero."""
    p0: Any
    """∂p1/∂q0 while q1 stays."""
    p1k: Any
    """∂p1/∂k1."""
    p1: Any
    """∂p1/∂q1."""
    C0: Any
    """Half of λ·gap_qq at q0."""
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
    ny, width, joints = n + nc, padded(n + nc), padded(tree.joints.shape[0])
    return StepMiddle(
        N=np.empty((ny, width)), block=np.empty((nc, width)), X=np.zeros((width, 2 * nq)), p0=np.zeros((n, nq)),
        p1k=np.zeros((n, nq - n)), p1=np.zeros((n, n)), C0=np.zeros((padded(nq), padded(nq))), V=np.zeros((joints // 8, 6, 8)),
        Z=np.empty(joints),
    )  # fmt: skip


@woven
def look(tree, w, o, q, end):
    """Fills `end` with the links at q."""
    if tree.links.shape[0] > 0:
        place(tree.joints, 0, tree.joints.shape[0], q, o, w.R, w.p, end.S)
        gaps(tree, q, w.R, w.p, end.S, o, end.x, end.f, end.n, end.h, end.A)


@inline
def product(A, B, C):
    """C = A B."""
    np.dot(A, B, C)


@woven
def linearise(tree, w, o, q0, q1, lam, u, dt, share, kappa, start, end, m, D):
    """D = ∂(q1, λ, p1)/∂(q0, p0, k1), with the links in w.alive taut and the others slack, after `look` has filled `start`."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    ny, X = n + nc, m.X
    look(tree, w, o, q1, end)
    midpoint(tree, w, o, q0, q1, u, dt)
    clear(w.K)
    if nc > 0:
        clear(m.C0)
        early_impulses(tree, dt, lam, w.early)
        add_halves(tree, w.early, start.S, start.x, start.f, start.n, w.d, w.e, m.V, m.Z, m.C0)
        fold(m.C0)
    for i in range(n):
        for j in range(nq):
            X[i, j] = m.C0[i, j]
    if tree.springs.shape[0] > 0 or has_elastic(tree):
        _forget(tree, m)
    _pairs(tree, w, dt, share, m)
    if tree.springs.shape[0] > 0:
        _springs(tree, w, o, u, dt, share, m)
    for i in range(n):
        X[i, nq + i] = -1.0
    for c in range(nc):
        _gap_row(tree, w, kappa, c, lam, start, end, X)
    border(tree, w.alive, -1.0, start.A, end.A, w.K)
    elastic = has_elastic(tree)
    if elastic:
        soften(tree, w.alive, dt, q0, q1, lam, w.K)
        elastic_gap_rows(tree, dt, q0, q1, lam, start, end, X)
        late_bends(tree, w, dt, lam, end, m.V, m.Z, m.C0)
        for i in range(n):
            for j in range(n):
                m.p1[i, j] += m.C0[i, j]
            for k in range(n, nq):
                m.p1k[i, k - n] += m.C0[i, k]
    for c in range(nc):
        if w.slides[c] and tree.links[c].normal == c - 1:
            slip_rows(tree.links[c].friction, kappa, c - 1, lam, start.h, end.h, end.A, n, w.K)
    only_alive(tree.elimination, n, w.alive, w.E)
    rank = factor(w.E, w.K, w.L, n, w.rows, w.cols, w.alive)
    inverse(w.E, w.K, w.L, n, w.rows, w.cols, rank, m.N, m.block)
    product(m.N, X, D[:ny])
    product(m.p1, D[:n], D[ny:])
    for i in range(n):
        for j in range(nq):
            D[ny + i, j] += m.p0[i, j]
        for k in range(nq - n):
            D[ny + i, nq + n + k] += m.p1k[i, k]
    if elastic:
        late_pulls(tree, dt, w.alive, end.A, D)


@woven
def _pairs(tree, w, dt, share, m):
    """K, X and derivatives of p1 that come from the Lagrangian and from armatures, springs and dampers of joints."""
    n, nq, nm, joints = tree.n_dynamic, tree.n_q, tree.n_massive, tree.joints
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    K, X, p0, p1k, p1, Y, last = w.K, m.X, m.p0, m.p1k, m.p1, w.Y, 0
    scale = (0.25 * dt, 1.0 / dt, 0.5)
    spread(joints, nm, 0, w.S, w.T, w.columns)
    for j in range(nm):
        qj = joints[j].variable
        last = max(last, qj + 1)
        pair(j, g, scale, w.S, w.T, w.I, w.P, w.columns, w.pair, Y, last)
        i = joints[j].parent
        while i >= 0:
            qi = joints[i].variable
            y11, y10, y01, y00 = Y[qi >> 3, 0, qi & 7], Y[qi >> 3, 1, qi & 7], Y[qi >> 3, 2, qi & 7], Y[qi >> 3, 3, qi & 7]
            if qi < n:
                X[qi, qj] -= y00
                p0[qi, qj] = y10
                if qj < n:
                    p1[qi, qj], K[qi, qj] = y11, y01
                else:
                    p1k[qi, qj - n], X[qi, nq + qj] = y11, -y01
            if qj < n:
                X[qj, qi] -= y00
                p0[qj, qi] = y01
                if qi < n:
                    p1[qj, qi], K[qj, qi] = y11, y10
                else:
                    p1k[qj, qi - n], X[qj, nq + qi] = y11, -y10
            i = joints[i].parent
        if qj < n:
            y11, y01, y00 = Y[qj >> 3, 0, qj & 7], Y[qj >> 3, 2, qj & 7], Y[qj >> 3, 3, qj & 7]
            spring, rotor, b = 0.25 * dt * joints[j].stiffness, joints[j].armature / dt, joints[j].damping
            X[qj, qj] -= y00 - spring + rotor + share * b
            p0[qj, qj] = y01 - spring - rotor + (1.0 - share) * b
            p1[qj, qj] = y11 - spring + rotor - (1.0 - share) * b
            K[qj, qj] = y01 - spring - rotor - share * b


@bare
def _springs(tree, w, o, u, dt, share, m):
    """The same from springs between points, dampers and pushes, which couple joints that the tree does not couple."""
    n, nq = tree.n_dynamic, tree.n_q
    spring_forces(tree, w.qm, w.vq, u, o, w.R, w.p, w.S, w.x, w.f, w.n, w.d, w.e, w.As, w.Lqq, w.Fq, w.Fv)
    for i in range(n):
        for j in range(nq):
            even, fq, fv = 0.25 * dt * w.Lqq[i, j], 0.5 * dt * w.Fq[i, j], w.Fv[i, j]
            m.X[i, j] -= even + share * (fq - fv)
            m.p0[i, j] += even + (1.0 - share) * (fq - fv)
            if j < n:
                m.p1[i, j] += even + (1.0 - share) * (fq + fv)
                w.K[i, j] += even + share * (fq + fv)
            else:
                m.p1k[i, j - n] += even + (1.0 - share) * (fq + fv)
                m.X[i, nq + j] -= even + share * (fq + fv)


@bare
def _forget(tree, m):
    """Clears what springs and links that stretch add to: entries that no pair of joints writes."""
    n, nq = tree.n_dynamic, tree.n_q
    clear(m.p0)
    clear(m.p1)
    clear(m.p1k)
    for i in range(n):
        for k in range(nq + n, 2 * nq):
            m.X[i, k] = 0.0


@woven
def _gap_row(tree, w, kappa, c, lam, start, end, X):
    """The row of link c in X: its gap by k1; a slip also forgets where it started."""
    n, nq = tree.n_dynamic, tree.n_q
    if tree.links[c].kind != LinkKind.SLIP:
        for a in range(1, tree.support[c, 0] + 1):
            k = tree.joints[tree.support[c, a]].variable
            if k >= n:
                X[n + c, nq + k] = -end.A[c, k]
        k = tree.links[c].variable
        if k >= n:
            X[n + c, nq + k] = -end.A[c, k]
    elif w.alive[c]:
        a1, a2 = slip_weights(tree, w, kappa, c, lam, start.h, end.h)
        first = tree.links[c].normal + 1
        for k in range(nq):
            X[n + c, k] = a1 * start.A[first, k] + a2 * start.A[first + 1, k]
            if k >= n:
                X[n + c, nq + k] = -a1 * end.A[first, k] - a2 * end.A[first + 1, k]


@bare
def slip_weights(tree, w, kappa, c, lam, h0, h):
    """The row of slip c moves by a₁ δs₁ + a₂ δs₂ with the slips s of its contact."""
    normal = tree.links[c].normal
    if not w.slides[c]:
        return (1.0, 0.0) if c == normal + 1 else (0.0, 1.0)
    _, y1, y2, size, radius = slips(tree.links[c].friction, kappa, normal, lam, h0, h)
    m11, m12, m22 = slip_turn(y1, y2, size, radius)
    return (-kappa * m11, -kappa * m12) if c == normal + 1 else (-kappa * m12, -kappa * m22)
