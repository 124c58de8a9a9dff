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
    """X[n + c] = −∂row/∂(s, k0, k1) of every link that stretches."""
    n, nq = tree.n_dynamic, tree.n_q
    for c in range(tree.links.shape[0]):
        link = tree.links[c]
        if link.stiffness == 0.0:
            continue
        soft = softness(link, dt)
        for k in range(nq):
            X[n + c, k] = -(1.0 - soft.end) * start.A[c, k]
            if k < n:
                X[n + c, k] -= soft.end * end.A[c, k]
            else:
                X[n + c, nq + k] = -soft.end * end.A[c, k]
        k = link.variable
        if k >= 0:
            by = soft.compliance * lam[c] * length_slope(link, q0, q1)
            X[n + c, k] += by
            X[n + c, k if k < n else nq + k] += by


@bare
def late_pulls(tree, w, dt, lam, start, end, m):
    """What impulses of links that stretch do to p1: −θ λ gap_q(q0) − (1 − θ) λ gap_q(q1)."""
    n, nq = tree.n_dynamic, tree.n_q
    H = m.late
    for i in range(H.shape[0]):
        for j in range(H.shape[1]):
            H[i, j] = 0.0
    for c in range(tree.links.shape[0]):
        if tree.links[c].stiffness > 0.0:
            theta = softness(tree.links[c], dt).theta
            for i in range(n):
                m.P[i, n + c] = -theta * start.A[c, i] - (1.0 - theta) * end.A[c, i]
            if lam[c] != 0.0:
                add_half(tree, (theta - 1.0) * lam[c], c, end.S, end.x, end.f, end.n, w.d, w.e, m.V, m.Z, H)
    fold(H)
    for i in range(n):
        for j in range(n):
            m.P[i, j] += H[i, j]
            m.P0[i, j] += H[i, j]
        for k in range(n, nq):
            m.P1[i, k - n] += H[i, k]


@inline
def elastic_curvature(tree, w, dt, q0, q1, lam, X, t, z):
    """Adds to Φ of links that stretch: at q0, at q1 (t.bend), and by λ and q0; writes Φ of λ and q1 to t.late.

    Φ is the second derivative of ν_r·r + ν_c row_c + z_p·p1, with weights z of the outputs. r and p1 have −θ λ gap_q(q0), which
    `_links` has added with the weights θ λ; row_c has (1 − end) gap(q0) and end · gap(q1); p1 has −(1 − θ) λ gap_q(q1).
    """
    n, nc = tree.n_dynamic, tree.n_links
    along, late_third = np.zeros(tree.n_q), np.zeros_like(t.bend)
    for i in range(n):
        along[i] = z[n + nc + i]
    tangent_screws(tree.joints, along, X.end.S, t.Wj, t.dSj)
    for c in range(nc):
        link = tree.links[c]
        if link.stiffness == 0.0 or not w.alive[c]:
            continue
        soft, s, e, nu = softness(link, dt), X.start, X.end, t.nu[n + c]
        add_half(tree, nu * (1.0 - soft.end), c, s.S, s.x, s.f, s.n, w.d, w.e, t.V, t.Z, t.T[0])
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
            by = nu * soft.compliance * length_slope(link, q0, q1)
            t.slope[c, link.variable] += by  # Φ_λ0 is −slope
            t.late[c, link.variable] -= by
    fold(late_third)
    for i in range(late_third.shape[0]):
        for j in range(late_third.shape[1]):
            t.bend[i, j] += late_third[i, j]


@bare
def late_cross(tree, alive, Y, late, C):
    """Adds Φ of λ and q1 to the rows of λ in C; q1 is shift and displacement, and k1."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    for c in range(nc):
        if tree.links[c].stiffness > 0.0 and alive[c]:
            for x in range(C.shape[1]):
                y = 0.0
                for i in range(n):
                    y += late[c, i] * Y[i, x]
                C[n + c, x] = y + (C[n + c, x] if x < nq else 0.0)
            for k in range(nq):
                C[n + c, k if k < n else nq + k] += late[c, k]
