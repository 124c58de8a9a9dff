"""Springs and dampers between points, and forces that push at a point.

A spring of gap h = distance − length has the potential k h²/2; its damper pulls with c dh/dt. A push along a fixed e is
u times the gradient of e·x; a push that turns with its body is the wrench W = (x × e, e) carried along, for which
∂(S_i·W)/∂q_j = S_i·(S_j ×* W) where i is strictly above j, and nothing elsewhere.
"""

from __future__ import annotations

import numpy as np

from bunraku.figure.records import LinkKind
from bunraku.kernels.compile import bare, inline, unit
from bunraku.kinematics.gap_derivatives import add_hessian, add_third, tangent_screws
from bunraku.kinematics.gaps import clear_row, gap_of, gradient
from bunraku.spatial.algebra import cross, dot6, dual, get3, get6


@bare
def _wrench(k, x):
    """(x × e, e) of a push whose point is k and whose direction is k + 2."""
    e = get3(x, k + 2)
    n = cross(get3(x, k), e)
    return n[0], n[1], n[2], e[0], e[1], e[2]


@unit("none")
def spring_slopes(tree, q, v, u, o, R, p, S, x, f, n, A, Lq, F):
    """Adds springs to L_q, and dampers and pushes to F; leaves the gradients in A and the points in x, f, n."""
    joints = tree.joints
    for s in range(tree.springs.shape[0]):
        spring, support = tree.springs[s], tree.spring_support[s]
        h = gap_of(spring, tree.points, q, R, p, o, x, f, n)
        clear_row(spring, joints, support, A[s])
        gradient(spring, tree.points, joints, tree.chain, S, x, f, A[s])
        if spring.kind == LinkKind.LENGTH:
            rate = 0.0
            for a in range(1, support[0] + 1):
                rate += A[s, joints[support[a]].variable] * v[joints[support[a]].variable]
            for a in range(1, support[0] + 1):
                k = joints[support[a]].variable
                Lq[k] -= spring.stiffness * h * A[s, k]
                F[k] -= spring.damping * rate * A[s, k]
    for k in range(tree.forces.shape[0]):
        force = tree.forces[k]
        if force.link < 0:
            continue
        support = tree.spring_support[force.link]
        W = _wrench(tree.springs[force.link].first, x)
        for a in range(1, support[0] + 1):
            i = support[a]
            if force.turns:
                F[joints[i].variable] += u[k] * dot6(get6(S, i), W)
            else:
                F[joints[i].variable] += u[k] * A[force.link, joints[i].variable]


@unit("none", allocates=True)
def spring_forces(tree, q, v, u, o, R, p, S, x, f, n, d, e, A, Lqq, Fq, Fv):
    """Derivatives of what `spring_slopes` adds: L_qq of springs, ∂F/∂q and ∂F/∂v of dampers and pushes."""
    joints = tree.joints
    for i in range(Lqq.shape[0]):
        for j in range(Lqq.shape[1]):
            Lqq[i, j] = Fq[i, j] = Fv[i, j] = 0.0
    for s in range(tree.springs.shape[0]):
        spring, support = tree.springs[s], tree.spring_support[s]
        if spring.kind != LinkKind.LENGTH:
            continue
        h = gap_of(spring, tree.points, q, R, p, o, x, f, n)
        add_hessian(-spring.stiffness * h, spring, tree.points, joints, tree.chain, support, S, x, f, n, d, e, Lqq)
        for a in range(1, support[0] + 1):
            i = joints[support[a]].variable
            for b in range(1, support[0] + 1):
                j = joints[support[b]].variable
                Lqq[i, j] -= spring.stiffness * A[s, i] * A[s, j]
        if spring.damping == 0.0:
            continue
        # F_i = −c h_i ḣ with ḣ = h_k v_k:  F_i,qj = −c (h_ij ḣ + h_i h_kj v_k),  F_i,vj = −c h_i h_j
        rate = 0.0
        for a in range(1, support[0] + 1):
            rate += A[s, joints[support[a]].variable] * v[joints[support[a]].variable]
        H = np.zeros_like(Fq)
        add_hessian(1.0, spring, tree.points, joints, tree.chain, support, S, x, f, n, d, e, H)
        for b in range(1, support[0] + 1):
            j = joints[support[b]].variable
            slope = 0.0
            for a in range(1, support[0] + 1):
                slope += H[joints[support[a]].variable, j] * v[joints[support[a]].variable]
            for a in range(1, support[0] + 1):
                i = joints[support[a]].variable
                Fq[i, j] -= spring.damping * (H[i, j] * rate + A[s, i] * slope)
                Fv[i, j] -= spring.damping * A[s, i] * A[s, j]
    for k in range(tree.forces.shape[0]):
        force = tree.forces[k]
        if force.link < 0:
            continue
        link, support = tree.springs[force.link], tree.spring_support[force.link]
        if force.turns:
            W = _wrench(link.first, x)
            for b in range(1, support[0] + 1):
                j = support[b]
                turned = dual(get6(S, j), W)
                i = joints[j].parent
                while i >= 0:
                    Fq[joints[i].variable, joints[j].variable] += u[k] * dot6(get6(S, i), turned)
                    i = joints[i].parent
        else:
            add_hessian(u[k], link, tree.points, joints, tree.chain, support, S, x, f, n, d, e, Fq)


@unit("none", allocates=True)
def spring_tangent(tree, w, o, u, t):
    """Adds springs, dampers and pushes to the Hessian of L along t.aq and of F along t.wq (Lqq, Lqv, Lvv over joints)."""
    joints = tree.joints
    nq = tree.n_q
    Hq, Ha, H3 = np.zeros((nq, nq)), np.zeros((nq, nq)), np.zeros((nq, nq))
    slope, slope_v = np.zeros(nq), np.zeros(nq)
    for s in range(tree.springs.shape[0]):
        spring, support = tree.springs[s], tree.spring_support[s]
        A = w.As[s]
        if spring.kind != LinkKind.LENGTH:
            continue
        h = gap_of(spring, tree.points, w.qm, w.R, w.p, o, w.x, w.f, w.n)
        Hq[:] = 0.0
        add_hessian(1.0, spring, tree.points, joints, tree.chain, support, w.S, w.x, w.f, w.n, w.d, w.e, Hq)
        # the potential: −k [h D³h[a] + (A·a) h_qq + (h_qq a) Aᵀ + A (h_qq a)ᵀ]
        H3[:] = 0.0
        _third(tree, s, t.aq, w, t, H3, slope)
        along = np.dot(A, t.aq)
        for i in range(nq):
            for j in range(nq):
                Ha[i, j] = -spring.stiffness * (h * H3[i, j] + along * Hq[i, j] + slope[i] * A[j] + A[i] * slope[j])
        _add(tree, Ha, t.Lqq)
        if spring.damping == 0.0:
            continue
        # the damper: φ = −c (A·w)(A·v)
        along, rate = np.dot(A, t.wq), np.dot(A, w.vq)
        H3[:] = 0.0
        _third(tree, s, t.wq, w, t, H3, slope)
        for i in range(nq):
            for j in range(nq):
                Ha[i, j] = H3[i, j] * rate
        H3[:] = 0.0
        _third(tree, s, w.vq, w, t, H3, slope_v)
        for i in range(nq):
            for j in range(nq):
                Ha[i, j] += H3[i, j] * along + slope[i] * slope_v[j] + slope_v[i] * slope[j]
                Ha[i, j] *= -spring.damping
        _add(tree, Ha, t.Lqq)
        for i in range(nq):
            for j in range(nq):
                Ha[i, j] = -spring.damping * (slope[i] * A[j] + along * Hq[i, j])
        _add(tree, Ha, t.Lqv)
    _push_tangent(tree, w, u, t, H3, slope)


@inline
def _push_tangent(tree, w, u, t, H3, slope):
    """Adds pushes to the Hessian of F along t.wq."""
    joints = tree.joints
    for k in range(tree.forces.shape[0]):
        force = tree.forces[k]
        if force.link < 0 or u[k] == 0.0:
            continue
        if not force.turns:
            H3[:] = 0.0
            _third(tree, force.link, t.wq, w, t, H3, slope)
            H3 *= u[k]
            _add(tree, H3, t.Lqq)
            continue
        support = tree.spring_support[force.link]
        W = _wrench(tree.springs[force.link].first, w.x)
        for a in range(1, support[0] + 1):
            l = support[a]
            inner = dual(get6(w.S, l), W)
            j = l
            while j >= 0:
                outer = dual(get6(w.S, j), inner)
                x = 0.0
                i = joints[j].parent
                while i >= 0:
                    x += t.wq[joints[i].variable] * dot6(get6(w.S, i), outer)
                    i = joints[i].parent
                t.Lqq[j, l] += u[k] * x
                if j != l:
                    t.Lqq[l, j] += u[k] * x
                j = joints[j].parent


@inline
def _third(tree, s, direction, w, t, H, slope):
    """D³h[direction] of one spring's gap, and slope = h_qq·direction."""
    slope[:] = 0.0
    tangent_screws(tree.joints, direction, w.S, t.Wj, t.dSj)
    add_third(
        1.0, tree.springs[s], tree.points, tree.joints, tree.chain, tree.spring_support[s], w.S, t.Wj, t.dSj, w.x, w.f, w.n,
        t.dx, t.df, w.d, w.e, t.dd, t.de, H, slope,
    )  # fmt: skip


@bare
def _add(tree, H, out):
    """From variables to joints with mass."""
    for i in range(tree.n_massive):
        for j in range(tree.n_massive):
            out[i, j] += H[tree.joints[i].variable, tree.joints[j].variable]
