"""The cost of a motion as arrays, and the kernels that evaluate it: value, gradient, Gauss–Newton Hessian, curvature.

A `Sheet` has one row per sample. Terms of states, forces and impulses have diagonal Hessians; those of points and of the centre of
mass depend on q through the kinematic tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.tree import on_joint, place
from bunraku.spatial.algebra import cross


class Sheet(NamedTuple):
    """A cost over N steps: weights w…, multiplied by the time that a sample counts for [s], and references r….

    Arrays of terms that the cost does not have are empty. Links are strings, wires and loop constraints.
    """

    wx: Any
    """(N + 1, states) weights of states."""
    rx: Any
    """(N + 1, states) references of states."""
    wu: Any
    """(N, forces) weights of forces."""
    ru: Any
    """(N, forces) references of forces."""
    wl: Any
    """(N, links) weights of impulses, or empty."""
    rl: Any
    """(N, links) references of impulses, or empty."""
    acceleration: Any
    """(kinematic variables,) weights of their accelerations, or empty."""
    end: Any
    """(states, states) matrix of the cost-to-go at the end, or empty."""
    r_end: Any
    """(states,) its reference, or empty."""
    joint: Any
    """(points,) index of the joint that carries each point."""
    local: Any
    """(points, 3) position of each point in its joint's frame [m]."""
    wp: Any
    """(N + 1, points) weights of points."""
    target: Any
    """(N + 1, points, 3) references of points, in the world [m]."""
    wc: Any
    """(N + 1,) weights of the centre of mass, or empty."""
    centre: Any
    """(N + 1, 3) reference of the centre of mass [m], or empty."""
    offset_x: Any
    """(N + 1,) constant part of each sample's cost, which no motion changes."""
    offset_u: Any
    """(N,) constant part of each step's cost, which no motion changes."""


class Bounds(NamedTuple):
    """Bounds of states (x), forces (u) and impulses (l), with multipliers and penalties of the augmented Lagrangian."""

    x: Any
    """(2, states) lower and upper bounds."""
    x_m: Any
    """(2, N + 1, states) their multipliers."""
    x_rho: Any
    """(states,) penalties; 0 for a state without a bound, empty if there are no bounds."""
    u: Any
    u_m: Any
    u_rho: Any
    l: Any
    l_m: Any
    l_rho: Any


@inline
def _beyond(x, k, i, bounds, multipliers, penalty):
    """Augmented Lagrangian of low ≤ x ≤ high, for column i of row k: value, first and second derivative."""
    value, slope, curvature, rho = 0.0, 0.0, 0.0, penalty[i]
    if rho > 0.0:
        m_low, m_high = multipliers[0, k, i], multipliers[1, k, i]
        a, b = x - bounds[1, i] + m_high / rho, bounds[0, i] - x + m_low / rho
        value -= 0.5 * (m_high * m_high + m_low * m_low) / rho
        if a > 0.0:
            value += 0.5 * rho * a * a
            slope += rho * a
            curvature += rho
        if b > 0.0:
            value += 0.5 * rho * b * b
            slope -= rho * b
            curvature += rho
    return value, slope, curvature


@inline
def _moments(joints, R, p, m, h):
    """Mass and first moment of all that every joint carries. Returns the total mass."""
    total = 0.0
    for j in range(joints.shape[0]):
        m[j] = joints[j].mass
        total += m[j]
        x = on_joint(R, p, j, joints[j].com)
        for r in range(3):
            h[j, r] = m[j] * x[r]
    for j in range(joints.shape[0] - 1, -1, -1):
        i = joints[j].parent
        if i >= 0:
            m[i] += m[j]
            for r in range(3):
                h[i, r] += h[j, r]
    return total


@kernel
def value(tree, sheet, bounds, X, U, L, dt, n_kin):
    """The cost of a motion."""
    n, nq, joints = tree.n_dynamic, tree.n_q, tree.joints
    N, m, nj = U.shape[0], nq + n, joints.shape[0]
    R, p, S, mass, h = np.empty((nj, 3, 3)), np.empty((nj, 3)), np.empty((nj, 6)), np.empty(nj), np.empty((nj, 3))
    J, penalty = 0.0, 0.0
    bounded = bounds.x_rho.shape[0] > 0
    for k in range(N + 1):
        for i in range(X.shape[1]):
            e = X[k, i] - sheet.rx[k, i]
            J += 0.5 * sheet.wx[k, i] * e * e
            if bounded and k > 0:
                penalty += _beyond(X[k, i], k, i, bounds.x, bounds.x_m, bounds.x_rho)[0]
        if k < N:
            for i in range(sheet.wu.shape[1]):
                e = U[k, n_kin + i] - sheet.ru[k, i]
                J += 0.5 * sheet.wu[k, i] * e * e
                if bounded:
                    penalty += _beyond(U[k, n_kin + i], k, i, bounds.u, bounds.u_m, bounds.u_rho)[0]
            for c in range(L.shape[1]):
                if sheet.wl.shape[0] > 0:
                    e = L[k, c] - sheet.rl[k, c]
                    J += 0.5 * sheet.wl[k, c] * e * e
                if bounded:
                    penalty += _beyond(L[k, c], k, c, bounds.l, bounds.l_m, bounds.l_rho)[0]
            for i in range(sheet.acceleration.shape[0]):
                e = (X[k + 1, m + i] - X[k, m + i]) / dt
                J += 0.5 * sheet.acceleration[i] * e * e
        if sheet.joint.shape[0] > 0 or sheet.wc.shape[0] > 0:
            place(joints, 0, nj, X[k], (0.0, 0.0, 0.0), R, p, S)
        for a in range(sheet.joint.shape[0]):
            x = on_joint(R, p, sheet.joint[a], sheet.local[a])
            for r in range(3):
                e = x[r] - sheet.target[k, a, r]
                J += 0.5 * sheet.wp[k, a] * e * e
        if sheet.wc.shape[0] > 0:
            total = _moments(joints, R, p, mass, h)
            for r in range(3):
                e = -sheet.centre[k, r]
                for j in range(nj):
                    if joints[j].parent < 0:
                        e += h[j, r] / total
                J += 0.5 * sheet.wc[k] * e * e
    for i in range(sheet.end.shape[0]):
        for j in range(sheet.end.shape[0]):
            J += 0.5 * (X[N, i] - sheet.r_end[i]) * sheet.end[i, j] * (X[N, j] - sheet.r_end[j])
    return J, penalty


@kernel
def slopes(tree, sheet, bounds, X, U, L, dt, n_kin, hands, thrusts, out):
    """Fills `out` (Slopes): gradient, Gauss–Newton Hessian, and the part of the Hessian that Gauss–Newton leaves out."""
    n, nq, joints, chain = tree.n_dynamic, tree.n_q, tree.joints, tree.chain
    N, m, nj, nh = U.shape[0], nq + n, joints.shape[0], hands.shape[0]
    R, p, S, mass, h = np.empty((nj, 3, 3)), np.empty((nj, 3)), np.empty((nj, 6)), np.empty(nj), np.empty((nj, 3))
    y, bounded = np.empty((nj, 3)), bounds.x_rho.shape[0] > 0
    for k in range(N + 1):
        for i in range(X.shape[1]):
            out.gx[k, i] = sheet.wx[k, i] * (X[k, i] - sheet.rx[k, i])
            out.hx[k, i] = sheet.wx[k, i]
            if bounded and k > 0:
                _, s, c = _beyond(X[k, i], k, i, bounds.x, bounds.x_m, bounds.x_rho)
                out.gx[k, i] += s
                out.hx[k, i] += c
        if k < N:
            for a in range(nh):
                out.gu[k, a] = out.hu[k, a] = 0.0
            for f in range(thrusts.shape[0]):
                i = thrusts[f]
                u = U[k, n_kin + i]
                out.gu[k, nh + f] = sheet.wu[k, i] * (u - sheet.ru[k, i])
                out.hu[k, nh + f] = sheet.wu[k, i]
                if bounded:
                    _, s, c = _beyond(u, k, i, bounds.u, bounds.u_m, bounds.u_rho)
                    out.gu[k, nh + f] += s
                    out.hu[k, nh + f] += c
            if out.gl.shape[0] > 0:
                for c in range(L.shape[1]):
                    g, w = 0.0, 0.0
                    if sheet.wl.shape[0] > 0:
                        g, w = sheet.wl[k, c] * (L[k, c] - sheet.rl[k, c]), sheet.wl[k, c]
                    if bounded:
                        _, s, b = _beyond(L[k, c], k, c, bounds.l, bounds.l_m, bounds.l_rho)
                        g += s
                        w += b
                    out.gl[k, c] = g
                    out.hl[k, c] = w
    for k in range(N):  # accelerations: (k₊ − k₀ − dt w)/dt²
        for i in range(sheet.acceleration.shape[0]):
            g = sheet.acceleration[i] * (X[k + 1, m + i] - X[k, m + i]) / (dt * dt * dt)
            out.gx[k, n + i] -= g
            out.gx[k, m + i] -= dt * g
            for a in range(nh):
                if hands[a] == i:
                    out.gu[k, a] += g
    if out.Hq.shape[0] > 0:
        for k in range(N + 1):
            H, C = out.Hq[k], out.bend[k]
            for i in range(nq):
                for j in range(nq):
                    H[i, j] = C[i, j] = 0.0
            place(joints, 0, nj, X[k], (0.0, 0.0, 0.0), R, p, S)
            for a in range(sheet.joint.shape[0]):
                if sheet.wp[k, a] != 0.0:
                    w, aim = sheet.wp[k, a], sheet.target[k, a]
                    _point(joints, chain, sheet.joint[a], sheet.local[a], w, aim, R, p, S, y, out.gx[k], H, C)
            if sheet.wc.shape[0] > 0 and sheet.wc[k] != 0.0:
                total = _moments(joints, R, p, mass, h)
                _centre(joints, total, sheet.wc[k], sheet.centre[k], S, mass, h, y, out.gx[k], H, C)
    for i in range(sheet.end.shape[0]):
        for j in range(sheet.end.shape[0]):
            out.gx[N, i] += sheet.end[i, j] * (X[N, j] - sheet.r_end[j])


@inline
def _point(joints, chain, j, local, weight, target, R, p, S, y, g, H, C):
    """½ weight |x − target|² of a point of joint j. ∂x/∂q_k = x_k = ω_k × x + v_k; ∂²x/∂q_k∂q_l = ω_l × x_k for l above k."""
    x = on_joint(R, p, j, local)
    r = (x[0] - target[0], x[1] - target[1], x[2] - target[2])
    for a in range(1, chain[j, 0] + 1):
        k = chain[j, a]
        c = cross((S[k, 0], S[k, 1], S[k, 2]), x)
        for i in range(3):
            y[k, i] = c[i] + S[k, 3 + i]
    for a in range(1, chain[j, 0] + 1):
        k = chain[j, a]
        qk, yk = joints[k].variable, (y[k, 0], y[k, 1], y[k, 2])
        g[qk] += weight * (r[0] * yk[0] + r[1] * yk[1] + r[2] * yk[2])
        for b in range(a, chain[j, 0] + 1):
            l = chain[j, b]
            ql = joints[l].variable
            gn = weight * (yk[0] * y[l, 0] + yk[1] * y[l, 1] + yk[2] * y[l, 2])
            z = cross((S[l, 0], S[l, 1], S[l, 2]), yk)
            bend = weight * (r[0] * z[0] + r[1] * z[1] + r[2] * z[2])
            H[qk, ql] += gn
            C[qk, ql] += bend
            if l != k:
                H[ql, qk] += gn
                C[ql, qk] += bend


@inline
def _centre(joints, total, weight, target, S, mass, h, y, g, H, C):
    """½ weight |centre − target|². A joint moves the mass that it carries."""
    nj = joints.shape[0]
    r0, r1, r2 = -target[0], -target[1], -target[2]
    for j in range(nj):
        c = cross((S[j, 0], S[j, 1], S[j, 2]), (h[j, 0], h[j, 1], h[j, 2]))
        for i in range(3):
            y[j, i] = (c[i] + mass[j] * S[j, 3 + i]) / total
        if joints[j].parent < 0:
            r0 += h[j, 0] / total
            r1 += h[j, 1] / total
            r2 += h[j, 2] / total
    for k in range(nj):
        qk, yk = joints[k].variable, (y[k, 0], y[k, 1], y[k, 2])
        g[qk] += weight * (r0 * yk[0] + r1 * yk[1] + r2 * yk[2])
        for l in range(nj):
            H[qk, joints[l].variable] += weight * (yk[0] * y[l, 0] + yk[1] * y[l, 1] + yk[2] * y[l, 2])
        l = k
        while l >= 0:
            ql = joints[l].variable
            z = cross((S[l, 0], S[l, 1], S[l, 2]), yk)
            bend = weight * (r0 * z[0] + r1 * z[1] + r2 * z[2])
            C[qk, ql] += bend
            if l != k:
                C[ql, qk] += bend
            l = joints[l].parent
