"""The second derivative of a step, weighted with a covector z of its outputs.

Let μ = −(z_q1,λ + z_p ∂p1/∂q1) N. Then z·D²(outputs) is the second derivative along x of the scalar μ·(r, gap) + z_p·p1, in
which q1 and λ follow x by D. Of L_d this is the derivative of L along (a, b) with a = dt/2 (z_p + μ_r), b = z_p − μ_r, so one
tangent of the recursion gives all of it. With Φ the second derivatives of the scalar by q1, q0 and k1,

    H = G + Gᵀ + Φ_00 + Φ_kk,    G = [∂q1/∂x; ∂λ/∂x]ᵀ [½ Φ_11 ∂q1/∂x + Φ_10 + Φ_1k; Φ_λ0].
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from bunraku.dynamics.blocks import clear, padded
from bunraku.dynamics.first import slip_weights
from bunraku.dynamics.friction import slips
from bunraku.dynamics.lagrangian import tangent
from bunraku.dynamics.springs import spring_tangent
from bunraku.dynamics.taut import add_half, add_half_third
from bunraku.figure.compiled import SLIP
from bunraku.kinematics.bends import tangent_screws
from bunraku.spatial.kernel import inline

# A step that has been linearised: the links at its ends, N, ∂p1/∂q1 and D (`first`).
Expansion = namedtuple("Expansion", "start end N p1 D")
Tangents = namedtuple(
    "Tangents",
    "a b W dS dV dT dI dP Lqq Lqv Lvv "  # of the recursion and of the Hessian of L, over joints
    "aq wq Wj dSj dx df dd de slope T0 T1 V "  # of links: gap_qq along μ; half of its derivative at q0, and of gap_qq at q1
    "S11 C zeta mu",
)
SMALL = 250_000  # multiplications in a product that BLAS leaves to one thread: others only wait for each other


@inline
def fresh_tangents(tree):
    n, nq, nm, nc = tree.shape
    nj, npt = tree.joints.shape[0], tree.points.shape[0]
    return Tangents(
        np.zeros(nm), np.zeros(nm), np.empty((nm, 6)), np.empty((nm, 6)), np.empty((nm, 6)), np.empty((nm, 6)),
        np.empty((nm, 10)), np.empty((nm, 6)), np.zeros((nm, nm)), np.zeros((nm, nm)), np.zeros((nm, nm)),
        np.zeros(nq), np.zeros(nq), np.empty((nj, 6)), np.empty((nj, 6)), np.empty((npt, 3)), np.empty((npt, 3)),
        np.empty((nj, 3)), np.empty((nj, 3)), np.zeros((nc, nq)), np.zeros((nq, padded(nq))),
        np.zeros((nq, padded(nq))), np.zeros((12, padded(nq))),
        np.empty((n, n)), np.zeros((n + nc, 2 * nq)), np.empty(n + nc), np.empty(n + nc),
    )  # fmt: skip


@inline
def curvature(tree, w, o, lam, u, dt, share, kappa, X, t, z, H):
    """H = Σ z_o D²(output o), over x."""
    n, nm, nc, joints = tree.shape[0], tree.shape[2], tree.shape[3], tree.joints
    ny, mu = n + nc, t.mu
    _adjoint(X, z, t.zeta, mu)
    for j in range(nm):
        k = joints[j].q
        if k < n:
            t.a[j] = 0.5 * dt * (z[ny + k] + mu[k])
            t.b[j] = z[ny + k] - mu[k]
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    if tree.springs.shape[0] > 0:
        clear(t.Lqq)
        clear(t.Lqv)
    tangent(joints, nm, g, w.v, t.a, t.b, w.S, w.V, w.T, w.B, w.I, w.P, t.W, t.dS, t.dV, t.dT, t.dI, t.dP, t.Lqq, t.Lqv, t.Lvv)
    if tree.springs.shape[0] > 0:
        for k in range(n):
            t.aq[k] = 0.5 * dt * (z[ny + k] + mu[k])
            t.wq[k] = dt * (share * mu[k] + (1.0 - share) * z[ny + k])
        spring_tangent(tree, w, o, u, t)
    if nc > 0:
        _links(tree, w, lam, kappa, X, t)
    _assemble(tree, dt, X, t, H)
    for c in range(nc):
        if w.slides[c] and tree.links[c].normal == c - 1:
            _add_slide(tree, kappa, c - 1, lam, X, mu[n + c], mu[n + c + 1], H)


@inline
def _adjoint(X, z, zeta, mu):
    """μ = −(z_q1,λ + z_p ∂p1/∂q1) N."""
    n, ny = X.p1.shape[0], X.N.shape[0]
    for k in range(ny):
        zeta[k] = -z[k]
        mu[k] = 0.0
    for i in range(n):
        for k in range(n):
            zeta[k] -= z[ny + i] * X.p1[i, k]
    for i in range(ny):
        for k in range(ny):
            mu[k] += zeta[i] * X.N[i, k]


@inline
def _links(tree, w, lam, kappa, X, t):
    """Of the links that act: T0 = λ·gap_qqq μ and slope = gap_qq μ at q0, T1 = μ·gap_qq at q1; halves of T0 and T1 (`taut`)."""
    n, joints, s, e, mu = tree.shape[0], tree.joints, X.start, X.end, t.mu
    for k in range(n):
        t.aq[k] = mu[k]
    tangent_screws(joints, t.aq, s.S, t.Wj, t.dSj)
    clear(t.T0)
    clear(t.T1)
    for c in range(tree.links.shape[0]):
        if not w.alive[c]:
            for k in range(t.slope.shape[1]):
                t.slope[c, k] = 0.0
            continue
        link = tree.links[c]
        add_half_third(
            tree, lam[c], c, s.S, t.Wj, t.dSj, s.x, s.f, s.n, t.dx, t.df, w.d, w.e, t.dd, t.de, t.V, t.T0, t.slope[c]
        )
        weight = mu[n + c]
        if link.kind == SLIP:
            a1, a2 = slip_weights(tree, w, kappa, link.normal + 1, lam, s.h, e.h)
            b1, b2 = slip_weights(tree, w, kappa, link.normal + 2, lam, s.h, e.h)
            m1, m2 = mu[n + link.normal + 1], mu[n + link.normal + 2]
            weight = a1 * m1 + b1 * m2 if c == link.normal + 1 else a2 * m1 + b2 * m2
            add_half(tree, weight, c, s.S, s.x, s.f, s.n, w.d, w.e, t.V, t.T0)
        add_half(tree, weight, c, e.S, e.x, e.f, e.n, w.d, w.e, t.V, t.T1)


@inline
def _phi(t, i, j, one, two):
    """Of a pair of joints: Φ_11, Φ_10 with i at the end of the step, with j at the end, Φ_00."""
    qq, vv, a, b = 0.25 * t.Lqq[i, j], two * t.Lvv[i, j], one * t.Lqv[i, j], one * t.Lqv[j, i]
    return qq + vv + a + b, qq - vv + b - a, qq - vv + a - b, qq + vv - a - b


@inline
def _assemble(tree, dt, X, t, H):
    """H from what the recursion and the links have left in t."""
    n, nq, nm, nc = tree.shape
    ny, joints, springs, C, S11 = n + nc, tree.joints, tree.springs.shape[0] > 0, t.C, t.S11
    one, two = 0.5 / dt, 1.0 / (dt * dt)
    for i in range(n):
        for j in range(n):
            S11[i, j] = 0.5 * (t.T1[i, j] + t.T1[j, i])
    for j in range(nm):
        qj = joints[j].q
        for a in range(j + 1 if springs else tree.chain[j, 0]):
            i = a if springs else tree.chain[j, a + 1]
            qi = joints[i].q
            if qi < n and qj < n:
                x, _, _, _ = _phi(t, i, j, one, two)
                S11[qi, qj] += 0.5 * x
                if i != j:
                    S11[qj, qi] += 0.5 * x
    np.dot(S11, X.D[:n], C[:n])
    for i in range(n):
        for k in range(n, nq):
            C[i, nq + k] += t.T1[i, k] + t.T1[k, i]
    for c in range(nc):
        for k in range(nq):
            C[n + c, k] = -t.slope[c, k]
    for j in range(nm):
        qj = joints[j].q
        for a in range(j + 1 if springs else tree.chain[j, 0]):
            i = a if springs else tree.chain[j, a + 1]
            qi = joints[i].q
            _, x, y, _ = _phi(t, i, j, one, two)
            if qi < n:
                C[qi, qj] += x
            if qj < n and i != j:
                C[qj, qi] += y
    square(X.D[:ny], C, H)
    for i in range(nq):
        for j in range(nq):
            H[i, j] -= t.T0[i, j]
    for k in range(n, nq):
        for l in range(n, nq):
            H[nq + k, nq + l] += t.T1[k, l]
    for j in range(nm):
        for a in range(j + 1 if springs else tree.chain[j, 0]):
            i = a if springs else tree.chain[j, a + 1]
            _, _, _, x = _phi(t, i, j, one, two)
            H[joints[j].q, joints[i].q] += x if i != j else 0.5 * x
    add_transpose(H)
    if nm > n:
        _driven(tree, one, two, springs, X, t, H)


@inline
def _driven(tree, one, two, springs, X, t, H):
    """What is left of pairs of joints with mass of which one is kinematic."""
    n, nq, joints = tree.shape[0], tree.shape[1], tree.joints
    for j in range(tree.shape[2]):
        for a in range(j + 1 if springs else tree.chain[j, 0]):
            i = a if springs else tree.chain[j, a + 1]
            if joints[i].q >= n or joints[j].q >= n:
                v, x, y, _ = _phi(t, i, j, one, two)
                _add_driven(n, nq, joints[i].q, joints[j].q, i == j, v, x, y, X.D, H)


@inline
def _add_driven(n, nq, i, j, same, v, x, y, D, H):
    """Pairs of joints with mass of which one is kinematic: at the end of the step it is where k1 says."""
    k, l = nq + i, nq + j
    if i >= n and j >= n:
        _add_both(H, k, l, v)
        if same:
            _add_both(H, k, j, x)
        else:
            _add_both(H, k, j, x)
            _add_both(H, l, i, y)
        return
    if j < n:
        i, j, k, x, y = j, i, l, y, x
    # now i is dynamic, j kinematic; k is the place of j at the end
    k = nq + j
    for c in range(H.shape[0]):
        H[c, k] += v * D[i, c]
        H[k, c] += v * D[i, c]
    _add_both(H, k, i, y)


@inline
def _add_both(H, i, j, x):
    H[i, j] += x
    if i != j:
        H[j, i] += x


@inline
def square(A, C, H):
    """H = Aᵀ C, a few rows at a time."""
    most = max(8, SMALL // max(1, A.shape[0] * C.shape[1]))
    total = H.shape[0]
    if total <= most:
        np.dot(A.T, C, H)
        return
    for first in range(0, total, most):
        last = min(first + most, total)
        np.dot(np.ascontiguousarray(A[:, first:last].T), C, H[first:last])


@inline
def add_transpose(H):
    """H + Hᵀ in place, two rows and two columns at a time (there is an even number of both)."""
    for x in range(0, H.shape[0], 2):
        for y in range(0, x, 2):
            a, b = H[x, y] + H[y, x], H[x, y + 1] + H[y + 1, x]
            c, d = H[x + 1, y] + H[y, x + 1], H[x + 1, y + 1] + H[y + 1, x + 1]
            H[x, y], H[x, y + 1], H[x + 1, y], H[x + 1, y + 1] = a, b, c, d
            H[y, x], H[y, x + 1], H[y + 1, x], H[y + 1, x + 1] = a, c, b, d
        off = H[x, x + 1] + H[x + 1, x]
        H[x, x] *= 2.0
        H[x + 1, x + 1] *= 2.0
        H[x, x + 1] = H[x + 1, x] = off


@inline
def _add_slide(tree, kappa, normal, lam, X, m1, m2, H):
    """The curvature of −μ λ_n y/|y| itself, weighted with (m1, m2), for a sliding contact."""
    n, nq = tree.shape[0], tree.shape[1]
    D, nx, a = X.D, X.D.shape[1], normal + 1
    friction = tree.links[a].friction
    _, y1, y2, size, radius = slips(friction, kappa, normal, lam, X.start.h, X.end.h)
    u1, u2 = y1 / size, y2 / size
    P11, P12, P22 = u2 * u2, -u1 * u2, u1 * u1
    # Σ m_i ∂²(y_i/|y|) = −(u ⊗ Pm + Pm ⊗ u + (m·u) P)/|y|²
    v1, v2, along = P11 * m1 + P12 * m2, P12 * m1 + P22 * m2, m1 * u1 + m2 * u2
    f = radius / (size * size)
    g11, g12, g22 = f * (2.0 * u1 * v1 + along * P11), f * (u1 * v2 + u2 * v1 + along * P12), f * (2.0 * u2 * v2 + along * P22)
    h1, h2 = -friction * v1 / size, -friction * v2 / size  # with λ_n
    Y = np.empty((2, nx))
    for x in range(nx):
        for s in range(2):
            c = a + s
            y = D[n + c, x]
            for k in range(n):
                y += kappa * X.end.A[c, k] * D[k, x]
            if x < nq:
                y -= kappa * X.start.A[c, x]
            elif x >= nq + n:
                y += kappa * X.end.A[c, x - nq]
            Y[s, x] = y
    for x in range(nx):
        g1, g2 = g11 * Y[0, x] + g12 * Y[1, x], g12 * Y[0, x] + g22 * Y[1, x]
        hx = h1 * Y[0, x] + h2 * Y[1, x]
        for y in range(nx):
            H[x, y] += g1 * Y[0, y] + g2 * Y[1, y] + hx * D[n + normal, y]
            H[y, x] += hx * D[n + normal, y]
