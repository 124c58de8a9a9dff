"""The second derivative of a step, weighted with a covector z of its outputs.

In the variables of bunraku.dynamics.first_derivative, the shift s and the way d of a step, with p1 = p0 + dt·(L_q + F) − A(q0)ᵀλ,
let ν solve Kᵀν = −(z_q1,λ + Pᵀz_p). Then z·D²(outputs) is the second derivative along x of the scalar ν·(r, gap) + z_p·p1, in
which d and λ follow x by ∂(d, λ)/∂x. Of L_d this is the derivative of L along (a, b) with a = dt (z_p + ½ ν_r), b = −ν_r, so one
tangent of the recursion gives all of it. With Φ the second derivatives of the scalar and Y = [∂d/∂x; ∂λ/∂x],

    H = YᵀC + RᵀY + Φ_ss + Φ_kk,    C = [Φ_dd ∂d/∂x; 0] + R,    R = [Φ_ds + Φ_dk; Φ_λs].

By p0, R is zero; its rows of λ, and those of C, are zero but by q0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.capstan import rubs_somewhere
from bunraku.dynamics.capstan_derivatives import rubbing_curvature
from bunraku.dynamics.elastic import has_elastic, softness
from bunraku.dynamics.elastic_derivatives import elastic_curvature, late_cross
from bunraku.dynamics.first_derivative import add_rows, slip_weights
from bunraku.dynamics.friction import slips
from bunraku.dynamics.joint_pairs import put_column_tangents, spread
from bunraku.dynamics.kkt import solve_transposed
from bunraku.dynamics.lagrangian import tangent
from bunraku.dynamics.link_derivatives import add_bends, add_half, add_half_third, keep_bends
from bunraku.dynamics.refinement import residual_transposed
from bunraku.dynamics.springs import spring_tangent
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import clear, copy_row, padded
from bunraku.kernels.compile import bare, inline, unit, woven
from bunraku.kernels.products import product, put_block, put_mirrored
from bunraku.kernels.row_sums import fold, pair_tangents, put_sum
from bunraku.kinematics.gap_derivatives import tangent_screws
from bunraku.kinematics.wrap_angle import rubs


class StepExpansion(NamedTuple):
    """A step that has been linearised (bunraku.dynamics.first_derivative)."""

    start: Any
    """StepEnd at q0."""
    end: Any
    """StepEnd at q1."""
    m: Any
    """Its StepMiddle."""
    rank: Any
    """Of the links that act."""
    refined: Any
    """Whether solutions with the factors need refinement."""


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
    """(joints, 6) velocity along ν_r + z_p, of links; dSj, dx, df, dd, de are what that does to S, x, f, d, e."""
    dSj: Any
    dx: Any
    df: Any
    dd: Any
    de: Any
    slope: Any
    """(links, variables) gap_qq at q0 along ν_r + z_p; of a link that stretches, −Φ of λ and q0."""
    late: Any
    """(links, variables) Φ of λ and q1, of links that stretch."""
    V: Any
    """Scratch of links."""
    Z: Any
    """The same."""
    bends: Any
    """(links, padded, padded) gap_qq at q1, kept where many rows of weights follow; empty otherwise."""
    T: Any
    """(3, padded, padded) half of Φ_ss, Φ_ds, Φ_dd of everything but the gaps at q1. Kinematic variables stand for themselves: at
    the start in the place of s, at the end in that of d."""
    bend: Any
    """(padded, padded) ν·gap_qq at q1."""
    S: Any
    """(n, variables) Φ_dd of the dynamic variables, and with k1."""
    R: Any
    """(n + links, 2 variables) Φ_ds + Φ_dk, and Φ_λs."""
    C: Any
    """(n + links, 2 variables) R and what follows from Φ_dd."""
    nu: Any
    """(n + links,) ν."""
    zeta: Any
    """(n + links,) what is left of its equation."""
    y: Any
    """(links,) scratch of its solution."""


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
        T=np.zeros((3, padded(nq), padded(nq))), bend=np.zeros((padded(nq), padded(nq))), S=np.empty((n, nq)),
        R=np.zeros((n + nc, 2 * nq)), C=np.zeros((n + nc, 2 * nq)), nu=np.empty(n + nc), zeta=np.empty(n + nc), y=np.empty(nc),
    )  # fmt: skip


@bare
def prepare(tree, w, e, t):
    """Computes what does not depend on the weights, where many rows of them follow."""
    if t.bends.shape[0] > 0:
        keep_bends(tree, w.alive, e.S, e.x, e.f, e.n, w.d, w.e, t.V, t.Z, t.bends)


@unit("none", hot=True)
def curvature(tree, w, o, q0, q1, lam, u, dt, share, kappa, X, t, z, H):
    """H = Σ z_o D²(output o), over x."""
    n, nm, nc, joints = tree.n_dynamic, tree.n_massive, tree.n_links, tree.joints
    ny, nu = n + nc, t.nu
    _adjoint(tree, w, dt, X, t, z)
    for j in range(nm):
        k = joints[j].variable
        if k < n:
            t.a[j] = dt * (z[ny + k] + 0.5 * nu[k])
            t.b[j] = -nu[k]
    clear(t.T[0])
    elastic = has_elastic(tree)
    if nc > 0:
        clear(t.bend)
        for k in range(n):
            t.aq[k] = nu[k] + z[ny + k]
        _links(tree, w, dt, lam, kappa, X, t)
    if elastic:
        elastic_curvature(tree, w, dt, q0, q1, lam, X, t, z)
    tangent(joints, nm, w.v, t.a, t.b, w.S, w.V, w.B, t.W, t.dS, t.dV, t.dT, t.dI, t.dP)
    _pairs(tree, w, dt, t)
    if tree.springs.shape[0] > 0:
        for k in range(n):
            t.aq[k] = dt * (z[ny + k] + 0.5 * nu[k])
            t.wq[k] = dt * (share * nu[k] + z[ny + k])
        _springs(tree, w, o, u, dt, t)
    _assemble(tree, w, elastic, X, t, H)
    for c in range(nc):
        if w.slides[c] and tree.links[c].kind == LinkKind.SLIP and tree.links[c].normal == c - 1:
            _add_slide(tree, kappa, c - 1, lam, X, nu[n + c], nu[n + c + 1], H)


@woven
def _adjoint(tree, w, dt, X, t, z):
    """Kᵀν = −(z_q1,λ + Pᵀz_p), with the factors that `linearise` left."""
    P, nu, zeta = X.m.P, t.nu, t.zeta
    n, ny = P.shape
    for k in range(ny):
        nu[k] = -z[k]
    for i in range(n):
        if z[ny + i] != 0.0:  # in a full tensor, most are zero
            for k in range(ny):
                nu[k] -= z[ny + i] * P[i, k]
    if X.refined:
        for k in range(ny):
            zeta[k] = nu[k]
    solve_transposed(w.E, w.K, w.L, n, w.rows, w.cols, X.rank, nu, t.y)
    if X.refined:
        residual_transposed(tree.joints, tree.n_massive, n, dt, w.S, w.B, X.m.K, nu, zeta)
        solve_transposed(w.E, w.K, w.L, n, w.rows, w.cols, X.rank, zeta, t.y)
        for k in range(ny):
            nu[k] += zeta[k]


@woven
def _links(tree, w, dt, lam, kappa, X, t):
    """Of the links that act: half of −λ·gap_qqq and slope = gap_qq at q0, both along t.aq; bend = ν·gap_qq at q1."""
    n, joints, s, e, nu, T0, bend = tree.n_dynamic, tree.joints, X.start, X.end, t.nu, t.T[0], t.bend
    tangent_screws(joints, t.aq, s.S, t.Wj, t.dSj)
    for c in range(tree.links.shape[0]):
        if not w.alive[c]:
            for k in range(t.slope.shape[1]):
                t.slope[c, k] = 0.0
            continue
        link = tree.links[c]
        if link.stiffness > 0.0 or rubs(link):  # what winds it, or its angle, may depend on more than its support
            for k in range(t.slope.shape[1]):
                t.slope[c, k] = 0.0
        add_half_third(
            tree, -w.early[c], c, s.S, t.Wj, t.dSj, s.x, s.f, s.n, t.dx, t.df, w.d, w.e, t.dd, t.de, t.V, t.Z, T0, t.slope[c]
        )
        weight = nu[n + c] * softness(link, dt).end
        if link.kind == LinkKind.SLIP:
            a1, a2 = slip_weights(tree, w, kappa, link.normal + 1, lam, s.h, e.h)
            b1, b2 = slip_weights(tree, w, kappa, link.normal + 2, lam, s.h, e.h)
            m1, m2 = nu[n + link.normal + 1], nu[n + link.normal + 2]
            weight = a1 * m1 + b1 * m2 if c == link.normal + 1 else a2 * m1 + b2 * m2
            add_half(tree, -weight, c, s.S, s.x, s.f, s.n, w.d, w.e, t.V, t.Z, T0)
        elif rubs(link):
            weight = 0.0 if w.slides[c] else nu[n + c]
            add_half(tree, -weight, c, s.S, s.x, s.f, s.n, w.d, w.e, t.V, t.Z, T0)
        if t.bends.shape[0] > 0:
            add_bends(tree, weight, c, t.bends, bend)
        else:
            add_half(tree, weight, c, e.S, e.x, e.f, e.n, w.d, w.e, t.V, t.Z, bend)
    if t.bends.shape[0] == 0:
        fold(bend)
    if rubs_somewhere(tree):
        rubbing_curvature(tree, w, lam, X, nu, t.slope, T0)


@woven
def _pairs(tree, w, dt, t):
    """Φ of pairs of joints; that of Φ_ss is added to what links have left."""
    n, nm, joints, Y, T, last = tree.n_dynamic, tree.n_massive, tree.joints, t.Y, t.T, 0
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    spread(joints, nm, 0, w.S, w.T, t.columns)
    spread(joints, nm, 12, t.dS, t.dT, t.columns)
    put_column_tangents(nm, g, w.S, w.T, w.I, w.P, t.dS, t.dT, t.dI, t.dP, w.pair)
    if tree.springs.shape[0] > 0:  # they add to entries that no pair of joints writes
        clear(T[1])
        clear(T[2])
    for j in range(nm):
        qj = joints[j].variable
        last = max(last, qj + 1)
        pair_tangents(Y, w.pair, j, (1.0, 1.0 / (dt * dt), 1.0 / dt), t.columns, last)
        a, b = qj >> 3, qj & 7
        dd, sd, ss = Y[a, 0, b], Y[a, 1, b], Y[a, 3, b]
        if qj >= n:
            sd, ss = sd - dd, ss - 2.0 * sd + dd
        T[2, qj, qj], T[1, qj, qj] = dd, sd
        T[0, qj, qj] += 0.5 * ss
        i = joints[j].parent
        while i >= 0:
            qi = joints[i].variable
            a, b = qi >> 3, qi & 7
            dd, sd, ds, ss = Y[a, 0, b], Y[a, 1, b], Y[a, 2, b], Y[a, 3, b]
            if qi >= n:  # ∂/∂k0 = ∂_s − ∂_d
                sd, ss = sd - dd, ss - ds
            if qj >= n:
                ds, ss = ds - dd, ss - sd
            T[2, qi, qj] = T[2, qj, qi] = dd
            T[1, qi, qj], T[1, qj, qi] = ds, sd
            T[0, qj, qi] += ss
            i = joints[i].parent


@inline
def _springs(tree, w, o, u, dt, t):
    """The same of springs, dampers and pushes, between any two joints."""
    n, nm, joints, T = tree.n_dynamic, tree.n_massive, tree.joints, t.T
    clear(t.Lqq)
    clear(t.Lqv)
    spring_tangent(tree, w, o, u, t)
    for i in range(nm):
        for j in range(nm):
            qi, qj = joints[i].variable, joints[j].variable
            qq, qv, vq = 0.5 * (t.Lqq[i, j] + t.Lqq[j, i]), t.Lqv[i, j] / dt, t.Lqv[j, i] / dt
            dd, sd, ds, ss = 0.25 * qq + 0.5 * (qv + vq), 0.5 * qq + qv, 0.5 * qq + vq, qq
            if qi >= n:
                sd, ss = sd - dd, ss - ds
            if qj >= n:
                ds, ss = ds - dd, ss - sd
            T[2, qi, qj] += dd
            T[1, qi, qj] += ds
            T[0, qi, qj] += 0.5 * ss


@woven
def _assemble(tree, w, elastic, X, t, H):
    """H from Φ. Dynamic variables at the end follow x; kinematic ones are part of x."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    R, C, T, B = t.R, t.C, t.T, t.bend
    for i in range(n):
        put_sum(t.S, i, 0, T[2], i, 0, B, i, 0, nq)
        put_sum(R, i, 0, T[1], i, 0, B, i, 0, n)
        for k in range(n, nq):
            R[i, k] = T[1, i, k]
        for k in range(n, nq):
            R[i, nq + k] = t.S[i, k]
    for c in range(nc):
        for k in range(nq):
            R[n + c, k] = -t.slope[c, k]
    if elastic:
        late_cross(tree, w.alive, X.m.Y, t.late, R)
    product(t.S, X.m.Y[:n], C[:n])
    add_rows(1.0, R, n, 2 * nq, C, 0)
    for c in range(n, n + nc):
        copy_row(C, c, R, c)
    _symmetric_product(n, nq, elastic, X.m.Y, C, R, H)
    fold(T[0])
    for i in range(n):
        put_sum(T[0], i, 0, T[0], i, 0, B, i, 0, n)
        put_sum(H, i, nq + n, H, i, nq + n, B, i, n, nq - n)
    add_rows(1.0, T[0], nq, nq, H, 0)
    for k in range(n, nq):
        put_sum(H, nq + k, 0, H, nq + k, 0, B, k, 0, n)
        put_sum(H, nq + k, nq + n, H, nq + k, nq + n, B, k, n, nq - n)
    if tree.n_massive > n:
        for k in range(n, nq):
            put_sum(H, nq + k, nq + n, H, nq + k, nq + n, T[2], k, n, nq - n)
            for j in range(nq):
                H[nq + k, j] += T[1, k, j]
                H[j, nq + k] += T[1, k, j]


@woven
def _symmetric_product(n, nq, elastic, Y, C, R, H):
    """H = YᵀC + RᵀY, which is symmetric: blocks of eight by eight below the diagonal, and their mirrors."""
    size = H.shape[0]
    if size < 8:
        for i in range(size):
            for j in range(i + 1):
                x = 0.0
                for k in range(Y.shape[0]):
                    x += Y[k, i] * C[k, j] + R[k, i] * Y[k, j]
                H[i, j] = H[j, i] = x
        return
    for a in range(0, size, 8):
        i = min(a, size - 8)  # the last block ends with the matrix
        rows = _rows_beside(n, nq, elastic, i, R)
        for b in range(0, a, 8):
            others = _rows_beside(n, nq, elastic, b, R)
            if others > 0:
                put_mirrored(H, i, b, Y, C, max(n, others), R, Y, rows)
            else:  # S is symmetric, so this is the same
                put_mirrored(H, i, b, C, Y, max(n, rows), R, Y, 0)
        put_block(H, i, i, Y, C, max(n, rows), R, Y, rows)
        for j in range(i, i + 8):
            for k in range(i, j):
                H[k, j] = H[j, k]


@woven
def _rows_beside(n, nq, elastic, first, R):
    """How many rows of R are not zero in the eight columns from `first` on."""
    if elastic or first < nq:
        return R.shape[0]
    return 0 if first + 8 <= nq + n else n


@inline
def _add_slide(tree, kappa, normal, lam, X, m1, m2, H):
    """The curvature of −μ λ_n y/|y| itself, weighted with (m1, m2), for a sliding contact."""
    n, nq = tree.n_dynamic, tree.n_q
    D, nx, a = X.m.Y, X.m.Y.shape[1], normal + 1
    friction = tree.links[a].friction
    _, y1, y2, size, radius = slips(friction, kappa, normal, a, lam, X.start.h, X.end.h)
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
            if x < n:
                y += kappa * X.end.A[c, x]
            elif x >= nq + n:
                y += kappa * X.end.A[c, x - nq]
            Y[s, x] = y
    for x in range(nx):
        g1, g2 = g11 * Y[0, x] + g12 * Y[1, x], g12 * Y[0, x] + g22 * Y[1, x]
        hx = h1 * Y[0, x] + h2 * Y[1, x]
        for y in range(nx):
            H[x, y] += g1 * Y[0, y] + g2 * Y[1, y] + hx * D[n + normal, y]
            H[y, x] += hx * D[n + normal, y]
