"""The second derivative of a step, weighted with a covector z of its outputs.

Let μ = −(z_q1,λ + z_p ∂p1/∂q1) N. Then z·D²(outputs) is the second derivative along x of the scalar μ·(r, gap) + z_p·p1, in
which q1 and λ follow x by D. Of L_d this is the derivative of L along (a, b) with a = dt/2 (z_p + μ_r), b = z_p − μ_r, so one
tangent of the recursion gives all of it. With Φ the second derivatives of the scalar by q1, q0 and k1,

    H = G + Gᵀ + Φ_00 + Φ_kk,    G = [∂q1/∂x; ∂λ/∂x]ᵀ [½ Φ_11 ∂q1/∂x + Φ_10 + Φ_1k; Φ_λ0].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.elastic import has_elastic, softness
from bunraku.dynamics.elastic_derivatives import elastic_curvature, late_adjoint, late_cross
from bunraku.dynamics.first_derivative import product, slip_weights
from bunraku.dynamics.friction import slips
from bunraku.dynamics.joint_pairs import pair_tangent, spread
from bunraku.dynamics.lagrangian import tangent
from bunraku.dynamics.link_derivatives import add_bends, add_half, add_half_third, keep_bends
from bunraku.dynamics.springs import spring_tangent
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import clear, padded
from bunraku.kernels.compile import bare, inline, woven
from bunraku.kernels.row_sums import fold
from bunraku.kinematics.gap_derivatives import tangent_screws


class StepExpansion(NamedTuple):
    """A step that has been linearised (bunraku.dynamics.first_derivative)."""

    start: Any
    """StepEnd at q0."""
    end: Any
    """StepEnd at q1."""
    N: Any
    """Inverse of ∂(r, gap)/∂(q1, λ)."""
    p1: Any
    """∂p1/∂q1."""
    D: Any
    """The first derivative."""


class StepTangents(NamedTuple):
    """Scratch of the second derivative."""

    a: Any
    """(massive,) direction along which L is differentiated, by q."""
    b: Any
    """(massive,) the same by v."""
    W: Any
    """(massive, 6) velocity along the direction; dS, dV, dT, dI, dP are what that does to S, V, T, I, P."""
    dS: Any
    dV: Any
    dT: Any
    dI: Any
    dP: Any
    columns: Any
    """Screws of all joints and their tangents, eight side by side (bunraku.dynamics.joint_pairs)."""
    Y: Any
    """What comes of all pairs with one joint."""
    Lqq: Any
    """(massive, massive) tangent of L_qq of springs; empty without any."""
    Lqv: Any
    """The same of L_qv."""
    aq: Any
    """(variables,) the direction by variable, for springs."""
    wq: Any
    """(variables,) weights of forces."""
    Wj: Any
    """(joints, 6) velocity along μ, of links; dSj, dx, df, dd, de are what that does to S, x, f, d, e."""
    dSj: Any
    dx: Any
    df: Any
    dd: Any
    de: Any
    slope: Any
    """(links, variables) gap_qq along μ at q0; of a link that stretches, −Φ_λ0."""
    late: Any
    """(links, variables) Φ_λ1 of links that stretch."""
    V: Any
    """Scratch of links."""
    Z: Any
    """The same."""
    bends: Any
    """(links, padded, padded) gap_qq at q1, kept where many rows of weights follow; empty otherwise."""
    T: Any
    """(3, padded, padded) half of Φ_00, Φ_10, Φ_11, with the kinematic variables at the end as well."""
    S11: Any
    """(n, n) half of Φ_11 of the dynamic variables."""
    C: Any
    """(n + links, 2 variables) the right factor of G."""
    zeta: Any
    """(n + links,) z_q1,λ + z_p ∂p1/∂q1."""
    mu: Any
    """(n + links,) μ."""


@inline
def fresh_tangents(tree, many=False):
    """Scratch for the second derivatives of steps of this figure."""
    n, nq, nm, nc = tree.n_dynamic, tree.n_q, tree.n_massive, tree.n_links
    nj, npt = tree.joints.shape[0], tree.points.shape[0]
    eights, ns, kept = padded(nq) // 8, nm if tree.springs.shape[0] > 0 else 0, nc if many else 0
    return StepTangents(
        a=np.zeros(nm), b=np.zeros(nm), W=np.empty((nm, 6)), dS=np.empty((nm, 6)), dV=np.empty((nm, 6)), dT=np.empty((nm, 6)),
        dI=np.empty((nm, 10)), dP=np.empty((nm, 6)), columns=np.zeros((eights, 24, 8)), Y=np.empty((eights, 4, 8)),
        Lqq=np.zeros((ns, ns)), Lqv=np.zeros((ns, ns)),
        aq=np.zeros(nq), wq=np.zeros(nq), Wj=np.empty((nj, 6)), dSj=np.empty((nj, 6)), dx=np.empty((npt, 3)), df=np.empty((npt, 3)),
        dd=np.empty((nj, 3)), de=np.empty((nj, 3)), slope=np.zeros((nc, nq)), late=np.zeros((nc, nq)),
        V=np.zeros((padded(nj) // 8, 12, 8)),
        Z=np.empty(padded(nj)), bends=np.zeros((kept, padded(nq), padded(nq))),
        T=np.zeros((3, padded(nq), padded(nq))), S11=np.empty((n, n)), C=np.zeros((n + nc, 2 * nq)), zeta=np.empty(n + nc),
        mu=np.empty(n + nc),
    )  # fmt: skip


@bare
def prepare(tree, w, e, t):
    """Computes what does not depend on the weights, where many rows of them follow."""
    if t.bends.shape[0] > 0:
        keep_bends(tree, w.alive, e.S, e.x, e.f, e.n, w.d, w.e, t.V, t.Z, t.bends)


@woven
def curvature(tree, w, o, q0, q1, lam, u, dt, share, kappa, X, t, z, H):
    """H = Σ z_o D²(output o), over x."""
    n, nm, nc, joints = tree.n_dynamic, tree.n_massive, tree.n_links, tree.joints
    ny, mu = n + nc, t.mu
    _adjoint(tree, w, dt, X, z, t.zeta, mu)
    for j in range(nm):
        k = joints[j].variable
        if k < n:
            t.a[j] = 0.5 * dt * (z[ny + k] + mu[k])
            t.b[j] = z[ny + k] - mu[k]
    clear(t.T[0])
    clear(t.T[2])
    elastic = has_elastic(tree)
    if nc > 0:
        _links(tree, w, dt, lam, kappa, X, t)
    if elastic:
        elastic_curvature(tree, w, dt, q0, q1, lam, X, t, z)
    tangent(joints, nm, w.v, t.a, t.b, w.S, w.V, w.B, t.W, t.dS, t.dV, t.dT, t.dI, t.dP)
    springs = tree.springs.shape[0] > 0
    if springs:
        clear(t.T[1])  # springs add to entries that no pair of joints writes
    _pairs(tree, w, dt, t)
    if springs:
        for k in range(n):
            t.aq[k] = 0.5 * dt * (z[ny + k] + mu[k])
            t.wq[k] = dt * (share * mu[k] + (1.0 - share) * z[ny + k])
        _springs(tree, w, o, u, dt, t)
    _assemble(tree, w, elastic, X, t, H)
    for c in range(nc):
        if w.slides[c] and tree.links[c].normal == c - 1:
            _add_slide(tree, kappa, c - 1, lam, X, mu[n + c], mu[n + c + 1], H)


@woven
def _adjoint(tree, w, dt, X, z, zeta, mu):
    """μ = −(z_q1,λ + z_p ∂p1/∂q1) N."""
    n, ny = X.p1.shape[0], X.N.shape[0]
    for k in range(ny):
        zeta[k] = -z[k]
        mu[k] = 0.0
    for i in range(n):
        for k in range(n):
            zeta[k] -= z[ny + i] * X.p1[i, k]
    if has_elastic(tree):
        late_adjoint(tree, dt, w.alive, X.end.A, z, zeta)
    for i in range(ny):
        for k in range(ny):
            mu[k] += zeta[i] * X.N[i, k]


@woven
def _links(tree, w, dt, lam, kappa, X, t):
    """Of the links that act: T0 = −λ·gap_qqq μ, half of it; slope = gap_qq μ at q0; T1 = μ·gap_qq at q1."""
    n, joints, s, e, mu, T0, T1 = tree.n_dynamic, tree.joints, X.start, X.end, t.mu, t.T[0], t.T[2]
    for k in range(n):
        t.aq[k] = mu[k]
    tangent_screws(joints, t.aq, s.S, t.Wj, t.dSj)
    for c in range(tree.links.shape[0]):
        if not w.alive[c]:
            for k in range(t.slope.shape[1]):
                t.slope[c, k] = 0.0
            continue
        link = tree.links[c]
        if link.stiffness > 0.0:  # the variable that winds it may be no part of its support
            for k in range(t.slope.shape[1]):
                t.slope[c, k] = 0.0
        add_half_third(
            tree, -w.early[c], c, s.S, t.Wj, t.dSj, s.x, s.f, s.n, t.dx, t.df, w.d, w.e, t.dd, t.de, t.V, t.Z, T0, t.slope[c]
        )
        weight = mu[n + c] * softness(link, dt).end
        if link.kind == LinkKind.SLIP:
            a1, a2 = slip_weights(tree, w, kappa, link.normal + 1, lam, s.h, e.h)
            b1, b2 = slip_weights(tree, w, kappa, link.normal + 2, lam, s.h, e.h)
            m1, m2 = mu[n + link.normal + 1], mu[n + link.normal + 2]
            weight = a1 * m1 + b1 * m2 if c == link.normal + 1 else a2 * m1 + b2 * m2
            add_half(tree, -weight, c, s.S, s.x, s.f, s.n, w.d, w.e, t.V, t.Z, T0)
        if t.bends.shape[0] > 0:
            add_bends(tree, weight, c, t.bends, T1)
        else:
            add_half(tree, weight, c, e.S, e.x, e.f, e.n, w.d, w.e, t.V, t.Z, T1)
    if t.bends.shape[0] == 0:
        fold(T1)


@woven
def _pairs(tree, w, dt, t):
    """Φ of pairs of joints, added to those of the links."""
    nm, joints, Y, T, last = tree.n_massive, tree.joints, t.Y, t.T, 0
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    scale = (0.25, 1.0 / (dt * dt), 0.5 / dt)
    spread(joints, nm, 0, w.S, w.T, t.columns)
    spread(joints, nm, 12, t.dS, t.dT, t.columns)
    for j in range(nm):
        qj = joints[j].variable
        last = max(last, qj + 1)
        pair_tangent(j, g, scale, w.S, w.T, w.I, w.P, t.dS, t.dT, t.dI, t.dP, t.columns, w.pair, Y, last)
        a, b = qj >> 3, qj & 7
        T[2, qj, qj] += Y[a, 0, b]
        T[1, qj, qj] = Y[a, 1, b]
        T[0, qj, qj] += 0.5 * Y[a, 3, b]
        i = joints[j].parent
        while i >= 0:
            qi = joints[i].variable
            a, b = qi >> 3, qi & 7
            x = Y[a, 0, b]
            T[2, qi, qj] += x
            T[2, qj, qi] += x
            T[1, qi, qj], T[1, qj, qi] = Y[a, 1, b], Y[a, 2, b]
            T[0, qj, qi] += Y[a, 3, b]
            i = joints[i].parent


@inline
def _springs(tree, w, o, u, dt, t):
    """The same of springs, dampers and pushes, between any two joints."""
    nm, joints, T = tree.n_massive, tree.joints, t.T
    clear(t.Lqq)
    clear(t.Lqv)
    spring_tangent(tree, w, o, u, t)
    for i in range(nm):
        for j in range(nm):
            qi, qj = joints[i].variable, joints[j].variable
            qq, a, b = 0.25 * t.Lqq[i, j], 0.5 / dt * t.Lqv[i, j], 0.5 / dt * t.Lqv[j, i]
            T[2, qi, qj] += qq + a + b
            T[1, qi, qj] += qq + b - a
            T[0, qi, qj] += 0.5 * (qq - a - b)


@woven
def _assemble(tree, w, elastic, X, t, H):
    """H from Φ. At the end of the step dynamic variables follow x by D, kinematic ones are part of x."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    ny, C, T = n + nc, t.C, t.T
    for i in range(n):
        for j in range(n):
            t.S11[i, j] = 0.5 * T[2, i, j]
    product(t.S11, X.D[:n], C[:n])
    for i in range(n):
        for k in range(nq):
            C[i, k] += T[1, i, k]
        for k in range(n, nq):
            C[i, nq + k] += T[2, i, k]
    for c in range(nc):
        for k in range(nq):
            C[n + c, k] = -t.slope[c, k]
        for k in range(nq, C.shape[1]):
            C[n + c, k] = 0.0
    if elastic:
        late_cross(tree, w.alive, X.D, t.late, C)
    square(X.D[:ny], C, H)
    for i in range(nq):
        for j in range(nq):
            H[i, j] += T[0, i, j]
    for k in range(n, nq):
        for l in range(n, nq):
            H[nq + k, nq + l] += 0.5 * T[2, k, l]
        if tree.n_massive > n:
            for j in range(nq):
                H[nq + k, j] += T[1, k, j]
    fold(H)


@inline
def square(A, C, H):
    """H = Aᵀ C, a few rows at a time."""
    # BLAS leaves a product of so few multiplications to one thread; in a larger one threads only wait for each other.
    most = max(8, 250_000 // max(1, A.shape[0] * C.shape[1]))
    total = H.shape[0]
    if total <= most:
        np.dot(A.T, C, H)
        return
    for first in range(0, total, most):
        last = min(first + most, total)
        np.dot(np.ascontiguousarray(A[:, first:last].T), C, H[first:last])


@inline
def _add_slide(tree, kappa, normal, lam, X, m1, m2, H):
    """The curvature of −μ λ_n y/|y| itself, weighted with (m1, m2), for a sliding contact."""
    n, nq = tree.n_dynamic, tree.n_q
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
