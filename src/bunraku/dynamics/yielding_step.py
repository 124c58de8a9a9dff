"""A step when the puppeteer asks for the impossible: strings give way, and then hold the puppeteer back.

If no configuration reaches what the puppeteer asks for, Newton's method finds no step, and the figure goes as near as it can.
Without strings it would fly to q* within the step. With a large stiffness k of the links that are then too long,

    (q − q*)ᵀ M (q − q*)/2dt + Σ k gap²/2

is minimised by the method of Gauss and Newton with a line search, which always converges. Links pull in their direction at the
end of the step here, so nothing gains energy. Then the kinematic variables move back by as little as closes the gaps: they are
*held*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bunraku.dynamics.lagrangian import fill_mass, slopes
from bunraku.dynamics.variational import midpoint
from bunraku.figure.records import LinkKind
from bunraku.kernels.compile import bare, inline
from bunraku.kinematics.gaps import gaps
from bunraku.kinematics.tree import place
from bunraku.spatial.linalg import cholesky, cholesky_solve


class YieldingOptions(NamedTuple):
    """Numbers that tune a step that gives way."""

    stiffness: float = 1e3
    """Of a link, relative to its figure's mass over dt: it gives a thousandth of what the figure would move."""
    hard_stiffness: float = 1e6
    """Of a link whose gap no kinematic variable can close."""
    max_rounds: int = 5
    """Rounds of giving way and holding the puppeteer back."""
    max_flight: float = 1.0
    """How far a figure flies in such a step; what is faster is lost [rad or m]."""
    max_correction: float = 0.5
    """Largest correction of a variable; a larger one is shortened [rad or m]."""


YIELDING = YieldingOptions()


@inline
def yielding(tree, w, o, q0, p0, u, dt, kappa, q1, lam, p1):
    """q1 (its kinematic part is what was asked for), λ and p1 of a step that gives way; w.alive are the links that act.

    What the puppeteer asks for may be far away, so giving way and holding back are repeated until gaps are closed.
    """
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    M, aim, stiff = np.zeros((nq, nq)), np.empty(nq), np.empty(nc)
    _fly(tree, w, o, q0, p0, u, dt, M, aim)
    for i in range(n):
        q1[i] = q0[i]
    _measure(tree, w, o, q1)
    for c in range(nc):
        stiff[c] = YIELDING.hard_stiffness * kappa
        for k in range(n, nq):
            if w.A1[c, k] != 0.0:
                stiff[c] = YIELDING.stiffness * kappa
    for _ in range(YIELDING.max_rounds):
        _approach(tree, w, o, aim, M, dt, stiff, q1)
        worst = 0.0
        for c in range(nc):
            lam[c] = stiff[c] * w.h[c] if w.alive[c] else 0.0
            if w.alive[c] and stiff[c] == YIELDING.hard_stiffness * kappa:
                worst = max(worst, abs(w.h[c]))
        hold(tree, w, o, q1, stiff, YIELDING.hard_stiffness * kappa)
        if worst < 1e-9:
            break
    for c in range(nc):
        w.alive[c], w.slides[c] = lam[c] != 0.0, False
    _mass(tree, w, o, q1, q1, u, dt, M)
    for i in range(n):
        p1[i] = 0.0
        for j in range(nq):
            p1[i] += M[i, j] * (q1[j] - q0[j]) / dt


@inline
def _approach(tree, w, o, aim, M, dt, stiff, q1):
    """Minimises over the dynamic variables from q1, in place."""
    n, nc = tree.n_dynamic, tree.n_links
    H, b = np.empty((n, n)), np.empty(n)
    merit = _merit(tree, w, o, q1, aim, M, dt, stiff)
    for _ in range(60):
        for i in range(n):
            b[i] = 0.0
            for j in range(n):
                H[i, j] = M[i, j] / dt
                b[i] += H[i, j] * (q1[j] - aim[j])
        for c in range(nc):
            if w.alive[c]:
                for i in range(n):
                    f = stiff[c] * w.A1[c, i]
                    if f != 0.0:
                        b[i] += f * w.h[c]
                        for j in range(n):
                            H[i, j] += f * w.A1[c, j]
        cholesky(H, n)
        cholesky_solve(H, n, b)
        size = 0.0
        for i in range(n):
            size = max(size, abs(b[i]))
        part = 1.0 if size < YIELDING.max_correction else YIELDING.max_correction / size
        for i in range(n):
            q1[i] -= part * b[i]
        new = _merit(tree, w, o, q1, aim, M, dt, stiff)
        while not new < merit and part > 1e-9:
            part *= 0.5
            for i in range(n):
                q1[i] += part * b[i]
            new = _merit(tree, w, o, q1, aim, M, dt, stiff)
        if not new < merit or part * size < 1e-11:
            break
        merit = new


@inline
def hold(tree, w, o, q1, stiff, hard):
    """Moves the kinematic variables by as little as closes the gaps of strings that gave way. Returns whether it could."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    G, e, rows = np.empty((nc, nc)), np.empty(nc), np.empty(nc, np.int64)
    for _ in range(20):
        _measure(tree, w, o, q1)
        m = 0
        for c in range(nc):
            wide = abs(w.h[c]) if tree.links[c].pulls == 0 else w.h[c]
            if wide > 1e-13 and tree.links[c].kind != LinkKind.SLIP and stiff[c] < hard:
                rows[m] = c
                m += 1
        if m == 0:
            return True
        for a in range(m):
            e[a] = -w.h[rows[a]]
            for b in range(m):
                x = 1e-14 if a == b else 0.0
                for k in range(n, nq):
                    x += w.A1[rows[a], k] * w.A1[rows[b], k]
                G[a, b] = x
        cholesky(G, m)  # positive definite by at least 1e-14
        cholesky_solve(G, m, e)
        for k in range(n, nq):
            x = 0.0
            for a in range(m):
                x += w.A1[rows[a], k] * e[a]
            if not abs(x) < 1e3:
                return False
            q1[k] += x
    return False


@inline
def _fly(tree, w, o, q0, p0, u, dt, M, aim):
    """M, and where the dynamic variables would be at the end of the step if nothing pulled."""
    n, nq, joints = tree.n_dynamic, tree.n_q, tree.joints
    L = np.empty((n, n))
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for i in range(nq):
        aim[i] = q0[i]
    v, push = p0.copy(), np.zeros(n)
    for half in range(2):
        _mass(tree, w, o, q0, aim, u, dt, M)
        for i in range(n):
            for j in range(n):
                L[i, j] = M[i, j]
        cholesky(L, n)
        if half == 0:
            cholesky_solve(L, n, v)
            _limit(v, YIELDING.max_flight / dt)
            for i in range(n):
                aim[i] = q0[i] + dt * v[i]
    for j in range(tree.n_massive):
        i = joints[j].variable
        if i < n:
            push[i] = dt * (slopes(joints[j], j, g, w.qm[i], w.v[j], w.S, w.T, w.I, w.P)[0] + w.Lq[i] + w.F[i])
    cholesky_solve(L, n, push)
    for i in range(n):
        v[i] += push[i]
    _limit(v, YIELDING.max_flight / dt)
    for i in range(n):
        aim[i] = q0[i] + dt * v[i]


@bare
def _limit(v, most):
    size = 0.0
    for i in range(v.shape[0]):
        size = max(size, abs(v[i]))
    if not size <= most:
        for i in range(v.shape[0]):
            v[i] = v[i] * most / size if size < math.inf else 0.0


@bare
def _mass(tree, w, o, qa, qb, u, dt, M):
    """The mass matrix half-way from qa to qb, over all variables."""
    midpoint(tree, w, o, qa, qb, u, dt)
    fill_mass(tree.joints, tree.n_massive, w.S, w.T, w.I, w.P, M)


@bare
def _measure(tree, w, o, q):
    """Gaps and their gradients at q."""
    place(tree.joints, 0, tree.joints.shape[0], q, o, w.R, w.p, w.S)
    gaps(tree, q, w.R, w.p, w.S, o, w.x, w.f, w.n, w.h, w.A1)


@bare
def _merit(tree, w, o, q, aim, M, dt, stiff):
    """What is minimised; leaves gaps, their gradients, and in w.alive the links that are too long."""
    n = tree.n_dynamic
    _measure(tree, w, o, q)
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += 0.5 * (q[i] - aim[i]) * M[i, j] * (q[j] - aim[j]) / dt
    for c in range(tree.links.shape[0]):
        w.alive[c] = tree.links[c].kind != LinkKind.SLIP and (w.h[c] > 0.0 or tree.links[c].pulls == 0)
        if w.alive[c]:
            total += 0.5 * stiff[c] * w.h[c] * w.h[c]
    return total
