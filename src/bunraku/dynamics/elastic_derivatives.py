"""Derivatives of a step with elastic strings: what they add to the derivatives with inelastic ones.

Letters are those of bunraku.dynamics.elastic: read that first. Two things differ from an inelastic string. Its row also depends
on gap(q0) and, since the mean length enters, on λ times the variable that winds the string. And a part of its impulse acts at
q1, so that p1 contains −(1 − θ) λ gap_q(q1), which depends on λ and, through gap_qq, on q1.
"""

from __future__ import annotations

import numpy as np

from bunraku.dynamics.elastic import length_slope, softness
from bunraku.dynamics.link_derivatives import add_half, add_half_third
from bunraku.kernels.compile import bare, inline
from bunraku.kernels.row_sums import fold
from bunraku.kinematics.gap_derivatives import tangent_screws


@bare
def elastic_gap_rows(tree, dt, q0, q1, lam, start, end, X):
    """X[n + c] = −∂row/∂(q0, k1) of every link that stretches."""
    n, nq = tree.n_dynamic, tree.n_q
    for c in range(tree.links.shape[0]):
        link = tree.links[c]
        if link.stiffness == 0.0:
            continue
        soft = softness(link, dt)
        for k in range(nq):
            X[n + c, k] = -(1.0 - soft.end) * start.A[c, k]
            if k >= n:
                X[n + c, nq + k] = -soft.end * end.A[c, k]
        if link.variable >= 0:
            by = soft.compliance * lam[c] * length_slope(link, q0, q1)
            X[n + c, link.variable] += by
            if link.variable >= n:
                X[n + c, nq + link.variable] += by


@bare
def late_bends(tree, w, dt, lam, end, V, Z, H):
    """H = −Σ (1 − θ) λ gap_qq(q1): the part of ∂p1/∂q1 that comes from impulses at q1."""
    for i in range(H.shape[0]):
        for j in range(H.shape[1]):
            H[i, j] = 0.0
    for c in range(tree.links.shape[0]):
        if tree.links[c].stiffness > 0.0 and lam[c] != 0.0:
            late = (1.0 - softness(tree.links[c], dt).theta) * lam[c]
            add_half(tree, -late, c, end.S, end.x, end.f, end.n, w.d, w.e, V, Z, H)
    fold(H)


@bare
def late_pulls(tree, dt, alive, A1, D):
    """Adds ∂p1/∂λ · ∂λ/∂x = −(1 − θ) gap_q(q1)ᵀ ∂λ/∂x to the rows of p1 in D."""
    n, nc = tree.n_dynamic, tree.n_links
    for c in range(nc):
        if tree.links[c].stiffness > 0.0 and alive[c]:
            late = 1.0 - softness(tree.links[c], dt).theta
            for i in range(n):
                for x in range(D.shape[1]):
                    D[n + nc + i, x] -= late * A1[c, i] * D[n + c, x]


@bare
def late_adjoint(tree, dt, alive, A1, z, zeta):
    """Adds −z_p ∂p1/∂λ to ζ."""
    n, nc = tree.n_dynamic, tree.n_links
    for c in range(nc):
        if tree.links[c].stiffness > 0.0 and alive[c]:
            late = 1.0 - softness(tree.links[c], dt).theta
            for i in range(n):
                zeta[n + c] += late * z[n + nc + i] * A1[c, i]


@inline
def elastic_curvature(tree, w, dt, q0, q1, lam, X, t, z):
    """Adds to Φ_00, Φ_11 and Φ_λ0 of links that stretch, and writes Φ_λ1 to t.late; `t.mu` is μ, z the weights of the outputs.

    Φ is the second derivative of μ_r·r + μ_c row_c + z_p·p1. With θ: r has −θ λ gap_q(q0), which `_links` has added with the
    weights θ λ; row_c has (1 − end) gap(q0) and end · gap(q1); p1 has −(1 − θ) λ gap_q(q1).
    """
    n, nc = tree.n_dynamic, tree.n_links
    along, late_third = np.zeros(tree.n_q), np.zeros_like(t.T[2])
    for i in range(n):
        along[i] = z[n + nc + i]
    tangent_screws(tree.joints, along, X.end.S, t.Wj, t.dSj)
    for c in range(nc):
        link = tree.links[c]
        if link.stiffness == 0.0 or not w.alive[c]:
            continue
        soft, s, e, mu = softness(link, dt), X.start, X.end, t.mu[n + c]
        add_half(tree, mu * (1.0 - soft.end), c, s.S, s.x, s.f, s.n, w.d, w.e, t.V, t.Z, t.T[0])
        late = 1.0 - soft.theta
        for k in range(tree.n_q):
            t.late[c, k] = 0.0
        add_half_third(
            tree, -late * lam[c], c, e.S, t.Wj, t.dSj, e.x, e.f, e.n, t.dx, t.df, w.d, w.e, t.dd, t.de, t.V, t.Z, late_third,
            t.late[c],
        )  # fmt: skip
        for k in range(tree.n_q):
            t.slope[c, k] *= soft.theta
            t.late[c, k] *= -late
        if link.variable >= 0:
            by = mu * soft.compliance * length_slope(link, q0, q1)
            t.slope[c, link.variable] += by  # Φ_λ0 is −slope
            t.late[c, link.variable] -= by
    fold(late_third)
    for i in range(late_third.shape[0]):
        for j in range(late_third.shape[1]):
            t.T[2, i, j] += late_third[i, j]


@bare
def late_cross(tree, alive, D, late, C):
    """Adds Φ_λ1 ∂q1/∂x + Φ_λk to the rows of λ in C."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    for c in range(nc):
        if tree.links[c].stiffness > 0.0 and alive[c]:
            for x in range(C.shape[1]):
                for i in range(n):
                    C[n + c, x] += late[c, i] * D[i, x]
            for k in range(n, nq):
                C[n + c, nq + k] += late[c, k]
