"""Exact derivatives of a step: first, and the second contracted with any number of covectors.

Outputs are (q1, λ, p1) of the dynamic variables and links, inputs x = (q0, p0, k1): all variables at the start, the
momentum, and the kinematic variables at the end. A force input enters like momentum (`forced`). With N the inverse of
the step's system and E = [N; ∂p1/∂q1 N], the first derivative is −E ∂(r, gap)/∂x plus what x does to p1 directly.

For a covector z of the outputs let μ = −Eᵀ z. Then z·D²(outputs) is the second derivative along x of the scalar
μ·(r, gap) + z_p·p1 in which q1 and λ follow x. Of L_d this is the derivative of L along (a, b) with a = dt/2 (z_p + μ_r),
b = z_p − μ_r, so one tangent of the recursion gives all of it. One row of weights serves optimal control; the identity
gives the full tensor.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from bunraku.dynamics.blocks import clear, padded
from bunraku.dynamics.friction import slip_rows, slip_turn, slips
from bunraku.dynamics.kkt import border, factor, inverse, only_alive
from bunraku.dynamics.lagrangian import columns, tangent, total_mass
from bunraku.dynamics.springs import spring_forces, spring_tangent
from bunraku.dynamics.variational import midpoint, workspace
from bunraku.figure.compiled import SLIP
from bunraku.kinematics.gaps import add_hessian, add_third, gaps, hessian, tangent_screws
from bunraku.kinematics.tree import place
from bunraku.spatial.algebra import dot3, dot6, get6
from bunraku.spatial.kernel import borrow, inline, keep, kernel

# The links at one end of the step: screws, points, pulls, segments, gaps, gradients.
End = namedtuple("End", "S x f n h A")
# Matrices on the way to D: the response E to residuals, λ·gap_qq at q0, J = ∂(r, gap)/∂(q0, k1), p1 by q0, by k1, by q1.
Middle = namedtuple("Middle", "N block E C0 J p0 p1k p1 product")
Expansion = namedtuple("Expansion", "start end E D")


@inline
def _end(tree):
    nj, npt, nc, nq = tree.joints.shape[0], tree.points.shape[0], tree.shape[3], tree.shape[1]
    return End(
        np.empty((nj, 6)), np.empty((npt, 3)), np.empty((npt, 3)), np.zeros((npt + 1, 4)), np.zeros(nc), np.zeros((nc, nq))
    )


@inline
def _middle(tree):
    n, nq, nc = tree.shape[0], tree.shape[1], tree.shape[3]
    ny, nk = n + nc, nq - n
    return Middle(
        np.empty((ny, padded(ny))), np.empty((nc, padded(ny))), np.empty((ny + n, ny)), np.zeros((nq, nq)), np.zeros((ny, nq + nk)),
        np.zeros((n, nq)), np.zeros((n, nk)),
        np.zeros((n, n)), np.empty((ny + n, nq + nk)),
    )  # fmt: skip


@inline
def _look(tree, w, o, q, end):
    if tree.links.shape[0] > 0:
        place(tree.joints, 0, tree.joints.shape[0], q, o, w.R, w.p, end.S)
        gaps(tree, q, w.R, w.p, end.S, o, end.x, end.f, end.n, end.h, end.A)


@inline
def linearise(tree, w, o, q0, q1, lam, u, dt, share, kappa, start, end, m, D):
    """D = ∂(q1, λ, p1)/∂(q0, p0, k1), with the links in w.alive taut and the others slack; after a look at `start`."""
    n, nq, nm, nc = tree.shape
    ny, nk, joints, E_, E = n + nc, nq - n, tree.joints, w.E, m.E
    only_alive(tree.elimination, n, w.alive, E_)
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    _look(tree, w, o, q1, end)
    midpoint(tree, w, o, q0, q1, u, dt)
    K, J, p0, p1k, p1 = w.K, m.J, m.p0, m.p1k, m.p1
    if nc > 0:
        hessian(tree, lam, start.S, start.x, start.f, start.n, w.d, w.e, m.C0)
    for i in range(n):
        for j in range(nq):
            J[i, j] = -m.C0[i, j]
    springs = tree.springs.shape[0] > 0
    clear(K)
    if springs:
        _clear(tree, m)
    S, T = w.S, w.T
    for j in range(nm):
        F, G, gamma = columns(j, g, S, T, w.I, w.P)
        qj = joints[j].q
        i = j
        while i >= 0:
            qi = joints[i].q
            if qi < n or qj < n:
                s, t = get6(S, i), get6(T, i)
                qq, mm = 0.25 * dt * (dot6(t, G) + dot3(s, gamma)), dot6(s, F) / dt
                qv, vq = 0.5 * dot6(t, F), 0.5 * dot6(s, G)
                bl, br = 0.0, 0.0
                if i == j:
                    qq -= 0.25 * dt * joints[j].stiffness
                    mm += joints[j].armature / dt
                    bl, br = share * joints[j].damping, (1.0 - share) * joints[j].damping
                if qi < n:
                    J[qi, qj] += qq + mm - qv - vq + bl
                    p0[qi, qj] = qq - mm - qv + vq + br
                    if qj < n:
                        p1[qi, qj] = qq + mm + qv + vq - br
                        K[qi, qj] = qq - mm + qv - vq - bl
                    else:
                        p1k[qi, qj - n] = qq + mm + qv + vq
                        J[qi, nq + qj - n] = qq - mm + qv - vq
                if qj < n and i != j:
                    J[qj, qi] += qq + mm - qv - vq
                    p0[qj, qi] = qq - mm + qv - vq
                    if qi < n:
                        p1[qj, qi] = qq + mm + qv + vq
                        K[qj, qi] = qq - mm - qv + vq
                    else:
                        p1k[qj, qi - n] = qq + mm + qv + vq
                        J[qj, nq + qi - n] = qq - mm - qv + vq
            i = joints[i].parent
    if springs:
        spring_forces(tree, w.qm, w.vq, u, o, w.R, w.p, w.S, w.x, w.f, w.n, w.d, w.e, w.As, w.Lqq, w.Fq, w.Fv)
        for i in range(n):
            for j in range(nq):
                even, fq, fv = 0.25 * dt * w.Lqq[i, j], 0.5 * dt * w.Fq[i, j], w.Fv[i, j]
                J[i, j] += even + share * (fq - fv)
                p0[i, j] += even + (1.0 - share) * (fq - fv)
                if j < n:
                    p1[i, j] += even + (1.0 - share) * (fq + fv)
                    K[i, j] += even + share * (fq + fv)
                else:
                    p1k[i, j - n] += even + (1.0 - share) * (fq + fv)
                    J[i, nq + j - n] += even + share * (fq + fv)
    border(tree, w.alive, -1.0, start.A, end.A, K)
    for c in range(nc):
        if w.slides[c] and tree.links[c].normal == c - 1:
            slip_rows(tree.links[c].friction, kappa, c - 1, lam, start.h, end.h, end.A, n, K)
    rank = factor(E_, K, w.L, n, w.rows, w.cols, w.alive)
    inverse(E_, K, w.L, n, w.rows, w.cols, rank, m.N, m.block)
    for i in range(ny):
        for j in range(ny):
            E[i, j] = m.N[i, j]
    np.dot(p1, E[:n], E[ny:])
    for c in range(nc):
        _gap_row(tree, w, kappa, c, lam, start, end, J)
    # D = −E ∂(r, gap)/∂x, with p0 in r itself, and what x does to p1 directly
    np.dot(E, J, m.product)
    for a in range(ny + n):
        for j in range(nq):
            D[a, j] = -m.product[a, j]
        for i in range(n):
            D[a, nq + i] = -E[a, i]
        for k in range(nq, nq + nk):
            D[a, n + k] = -m.product[a, k]
    for i in range(n):
        for j in range(nq):
            D[ny + i, j] += p0[i, j]
        for k in range(nk):
            D[ny + i, nq + n + k] += p1k[i, k]


@inline
def _clear(tree, m):
    """Springs add to entries that no pair of joints writes."""
    n, nq = tree.shape[0], tree.shape[1]
    for i in range(n):
        for j in range(nq):
            m.p0[i, j] = 0.0
        for j in range(n):
            m.p1[i, j] = 0.0
        for k in range(nq - n):
            m.p1k[i, k] = m.J[i, nq + k] = 0.0


@inline
def _gap_row(tree, w, kappa, c, lam, start, end, J):
    """The row of link c in J: its gap by k1; a slip also forgets where it started."""
    n, nq = tree.shape[0], tree.shape[1]
    if tree.links[c].kind != SLIP:
        for k in range(n, nq):
            J[n + c, nq + k - n] = end.A[c, k]
    elif w.alive[c]:
        a1, a2 = _slip_weights(tree, w, kappa, c, lam, start.h, end.h)
        first = tree.links[c].normal + 1
        for k in range(nq):
            J[n + c, k] = -a1 * start.A[first, k] - a2 * start.A[first + 1, k]
            if k >= n:
                J[n + c, nq + k - n] = a1 * end.A[first, k] + a2 * end.A[first + 1, k]


@inline
def _slip_weights(tree, w, kappa, c, lam, h0, h):
    """The row of slip c moves by a₁ δs₁ + a₂ δs₂ with the slips s of its contact."""
    normal = tree.links[c].normal
    if not w.slides[c]:
        return (1.0, 0.0) if c == normal + 1 else (0.0, 1.0)
    _, y1, y2, size, radius = slips(tree.links[c].friction, kappa, normal, lam, h0, h)
    m11, m12, m22 = slip_turn(y1, y2, size, radius)
    return (-kappa * m11, -kappa * m12) if c == normal + 1 else (-kappa * m12, -kappa * m22)


Tangents = namedtuple("Tangents", "a b W dS dV dT dI dP Lqq Lqv Lvv H0 H1 Wj dSj dx df dd de slope aq wq S11 C Q")


@inline
def _tangents(tree):
    nq, nm, nc = tree.shape[1], tree.shape[2], tree.shape[3]
    nj, npt = tree.joints.shape[0], tree.points.shape[0]
    nx = 2 * nq
    return Tangents(
        np.zeros(nm), np.zeros(nm), np.empty((nm, 6)), np.empty((nm, 6)), np.empty((nm, 6)), np.empty((nm, 6)),
        np.empty((nm, 10)), np.empty((nm, 6)), np.zeros((nm, nm)), np.zeros((nm, nm)), np.zeros((nm, nm)),
        np.zeros((nq, nq)), np.zeros((nq, nq)), np.empty((nj, 6)), np.empty((nj, 6)), np.empty((npt, 3)), np.empty((npt, 3)),
        np.empty((nj, 3)), np.empty((nj, 3)), np.zeros((nc, nq)), np.zeros(nq), np.zeros(nq), np.zeros((nm, nm)),
        np.empty((nm, nx)), np.zeros((nm, nx)),
    )  # fmt: skip


@inline
def follow(tree, D, Q):
    """Q = ∂q1/∂x of every joint with mass: from D where it is dynamic, the identity where it is kinematic."""
    n, nq, nm = tree.shape[0], tree.shape[1], tree.shape[2]
    for j in range(nm):
        k = tree.joints[j].q
        for x in range(D.shape[1]):
            Q[j, x] = D[k, x] if k < n else 0.0
        if k >= n:
            Q[j, nq + k] = 1.0


@inline
def curvature(tree, w, o, lam, u, dt, share, kappa, X, t, z, H):
    """H = Σ z_o D²(output o), over x."""
    n, nq, nm, nc = tree.shape
    ny, joints, D, E = n + nc, tree.joints, X.D, X.E
    nx = D.shape[1]
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    mu = -np.dot(z, E)
    for j in range(nm):
        k = joints[j].q
        if k < n:
            t.a[j] = 0.5 * dt * (z[ny + k] + mu[k])
            t.b[j] = z[ny + k] - mu[k]
    if tree.springs.shape[0] > 0:  # which couple joints that the tree does not
        for i in range(nm):
            for j in range(nm):
                t.Lqq[i, j] = t.Lqv[i, j] = 0.0
    tangent(joints, nm, g, w.v, t.a, t.b, w.S, w.V, w.T, w.B, w.I, w.P, t.W, t.dS, t.dV, t.dT, t.dI, t.dP, t.Lqq, t.Lqv, t.Lvv)
    i2, i1 = 1.0 / (dt * dt), 0.5 / dt
    S11, C, Q = t.S11, t.C, t.Q
    springs = tree.springs.shape[0] > 0
    if springs:
        for k in range(n):
            t.aq[k] = 0.5 * dt * (z[ny + k] + mu[k])
            t.wq[k] = dt * (share * mu[k] + (1.0 - share) * z[ny + k])
        spring_tangent(tree, w, o, u, t)
    if nc > 0:
        for k in range(n):
            t.aq[k] = mu[k]
        tangent_screws(joints, t.aq, X.start.S, t.Wj, t.dSj)
        for i in range(nq):
            for j in range(nq):
                t.H0[i, j] = t.H1[i, j] = 0.0
        for c in range(nc):
            if w.alive[c]:
                s, e, link, support = X.start, X.end, tree.links[c], tree.support[c]
                add_third(
                    lam[c], link, tree.points, joints, tree.chain, support, s.S, t.Wj, t.dSj, s.x, s.f, s.n, t.dx, t.df,
                    w.d, w.e, t.dd, t.de, t.H0, t.slope[c],
                )  # fmt: skip
                weight = mu[n + c]
                if link.kind == SLIP:
                    a1, a2 = _slip_weights(tree, w, kappa, link.normal + 1, lam, s.h, e.h)
                    b1, b2 = _slip_weights(tree, w, kappa, link.normal + 2, lam, s.h, e.h)
                    m1, m2 = mu[n + link.normal + 1], mu[n + link.normal + 2]
                    weight = a1 * m1 + b1 * m2 if c == link.normal + 1 else a2 * m1 + b2 * m2
                    add_hessian(weight, link, tree.points, joints, tree.chain, support, s.S, s.x, s.f, s.n, w.d, w.e, t.H0)
                add_hessian(weight, link, tree.points, joints, tree.chain, support, e.S, e.x, e.f, e.n, w.d, w.e, t.H1)
    for i in range(nm):
        qi = joints[i].q
        for j in range(nm):
            qj = joints[j].q
            x = 0.25 * t.Lqq[i, j] + i1 * (t.Lqv[i, j] + t.Lqv[j, i]) + i2 * t.Lvv[i, j]
            if nc > 0 and qi < n and qj < n:
                x += t.H1[qi, qj]
            S11[i, j] = 0.5 * x
    np.dot(S11, Q, C)  # C = S11 Q / 2 + S10 on q0 + gap_qk on k1
    for i in range(nm):
        qi = joints[i].q
        for j in range(nm):
            C[i, joints[j].q] += 0.25 * t.Lqq[i, j] + i1 * (t.Lqv[j, i] - t.Lqv[i, j]) - i2 * t.Lvv[i, j]
        if nc > 0 and qi < n:
            for k in range(n, nq):
                C[i, nq + k] += t.H1[qi, k]
    np.dot(Q.T, C, H)
    for c in range(nc):
        if w.alive[c]:
            for s in range(1, tree.support[c, 0] + 1):
                i = joints[tree.support[c, s]].q
                x = t.slope[c, i]
                for y in range(nx):
                    H[i, y] -= x * D[n + c, y]
    add_transpose(H)
    for i in range(nm):
        for j in range(nm):
            f = 0.25 * t.Lqq[i, j] - i1 * (t.Lqv[i, j] + t.Lqv[j, i]) + i2 * t.Lvv[i, j]
            H[joints[i].q, joints[j].q] += f
    if nc > 0:
        for i in range(nq):
            for j in range(nq):
                H[i, j] -= t.H0[i, j]
        for k in range(n, nq):
            for l in range(n, nq):
                H[nq + k, nq + l] += t.H1[k, l]
    for c in range(nc):
        if w.slides[c] and tree.links[c].normal == c - 1:
            _add_slide(tree, kappa, c - 1, lam, X, mu[n + c], mu[n + c + 1], H)


@inline
def add_transpose(H):
    """H + Hᵀ in place, by small blocks that stay at hand."""
    n = H.shape[0]
    for a in range(0, n, 8):
        for b in range(0, a + 1, 8):
            for x in range(a, min(a + 8, n)):
                for y in range(b, min(b + 8, x + 1)):
                    f = H[x, y] + H[y, x]
                    H[x, y] = f
                    H[y, x] = f


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


@inline
def _read_states(states, w):
    for c in range(states.shape[0]):
        w.alive[c] = states[c] > 0
        w.slides[c] = states[c] > 1


@kernel
def expand(tree, states, q0, q1, lam, u, dt, share, weights, D, H):
    """D (outputs × inputs) and H[r] = Σ_o weights[r, o] D²(output o). No rows: the first derivative alone.

    `states` are those of the links at the end of the step: 0 slack, 1 acting, 2 sliding.
    """
    figure, lent, first, last, rest = borrow(tree), workspace(tree), _end(tree), _end(tree), _middle(tree)
    w, start, end, m = borrow(lent), borrow(first), borrow(last), borrow(rest)
    o = (0.0, 0.0, 0.0)
    _read_states(states, w)
    kappa = total_mass(figure.joints) / dt
    _look(figure, w, o, q0, start)
    linearise(figure, w, o, q0, q1, lam, u, dt, share, kappa, start, end, m, D)
    if weights.shape[0] > 0:
        tangents = _tangents(figure)
        t = borrow(tangents)
        X = Expansion(start, end, m.E, D)
        follow(figure, D, t.Q)
        for r in range(weights.shape[0]):
            curvature(figure, w, o, lam, u, dt, share, kappa, X, t, weights[r], H[r])
        keep(tangents)
    keep(tree)
    keep(lent)
    keep(first)
    keep(last)
    keep(rest)


@kernel
def expand_along(tree, states, Q, L, U, dt, share, weights, D, H):
    """D and, for a row of weights a step, H of every step k of a motion, from Q[k] to Q[k + 1] with impulses L[k]."""
    figure, lent, rest, tangents = borrow(tree), workspace(tree), _middle(tree), _tangents(tree)
    first, last = _end(tree), _end(tree)
    w, start, end, m, t = borrow(lent), borrow(first), borrow(last), borrow(rest), borrow(tangents)
    o = (0.0, 0.0, 0.0)
    kappa = total_mass(figure.joints) / dt
    _look(figure, w, o, Q[0], start)
    for k in range(L.shape[0]):
        _read_states(states[k], w)
        linearise(figure, w, o, Q[k], Q[k + 1], L[k], U[k], dt, share, kappa, start, end, m, D[k])
        if weights.shape[0] > 0:
            X = Expansion(start, end, m.E, D[k])
            follow(figure, D[k], t.Q)
            curvature(figure, w, o, L[k], U[k], dt, share, kappa, X, t, weights[k], H[k])
        start, end = end, start  # where one step ends, the next begins
    keep(tree)
    keep(lent)
    keep(first)
    keep(last)
    keep(rest)
    keep(tangents)
