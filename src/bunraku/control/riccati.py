"""The Riccati sweep, backward along a motion that has been linearised: one compiled call.

The Hessian of a step and of what follows it, over z = (q, p, u), is M = Tᵀ V T + cost; the inputs are eliminated by M_uu⁻¹:

    δu = −d − K δx,    K = M_uu⁻¹ M_ux,    d = M_uu⁻¹ m_u,    V ← M_xx − M_xu K,    v ← m_x − M_xu d
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from bunraku.control.cholesky import cholesky, solve_rows
from bunraku.control.steps import add_curvature, add_turns, fill, fill_links, impulse
from bunraku.spatial.kernel import inline, kernel


@inline
def _kinematic_blocks(V, hands, n, nq, dt, M):
    """M += what the cost-to-go says of (k₊, w₊) alone: k₊ = S₁ z, w₊ = (S₁ z − q_kin)/dt."""
    nk, m, nh, i1 = nq - n, nq + n, hands.shape[0], 1.0 / dt
    i2 = i1 * i1
    for i in range(nk):
        for j in range(nk):
            M[n + i, n + j] += V[m + i, m + j] * i2
    for a in range(nh):
        ka = hands[a]
        for j in range(nk):
            x = -i1 * (V[n + ka, m + j] + i1 * V[m + ka, m + j])
            M[m + a, n + j] += x
            M[n + j, m + a] += x
        for b in range(nh):
            kb = hands[b]
            M[m + a, m + b] += V[n + ka, n + kb] + i1 * (V[n + ka, m + kb] + V[m + ka, n + kb]) + i2 * V[m + ka, m + kb]


# Scratch of the sweep: F and what the cost-to-go makes of it; M with its gradient m; the cost-to-go V, v; the inputs' part.
Room = namedtuple("Room", "F Y M Vdd mz Ux V v A cross product G Gw")


@inline
def room(steps, slopes):
    n, nq, nc = steps.shape
    nu = steps.hands.shape[0] + steps.E.shape[2]
    nx, nz, links = 2 * nq, nq + n + nu, nc if slopes.hl.shape[0] > 0 else 0
    return Room(
        np.empty((2 * n, nz)), np.empty((2 * n, nz)), np.empty((nz, nz)), np.empty((2 * n, 2 * n)), np.empty(nz),
        np.empty((nu, nx + 1)), np.zeros((nx, nx)), np.empty(nx), np.empty((nu, nu)), np.empty((nu, nx)), np.empty((nx, nx)),
        np.empty((links, nz)), np.empty((links, nz)),
    )  # fmt: skip


@inline
def at_end(steps, slopes, mu, bends, V, v):
    """The cost-to-go at the last sample: its own cost."""
    nx, nq, N, more = v.shape[0], steps.shape[1], slopes.gx.shape[0] - 1, 1.0 + mu
    for i in range(nx):
        v[i] = slopes.gx[N, i]
        V[i, i] = more * slopes.hx[N, i]
    if slopes.end.shape[0] > 0:
        for i in range(nx):
            for j in range(nx):
                V[i, j] += more * slopes.end[i, j]
    if slopes.Hq.shape[0] > 0:
        for i in range(nq):
            for j in range(nq):
                V[i, j] += more * slopes.Hq[N, i, j] + bends * slopes.bend[N, i, j]


@kernel
def riccati(steps, slopes, H, mu, shift, K, d, first):
    """Gains K and feedforward d of the LQ problem along the motion: δu = −d − K δx.

    With H, the curvature of the steps, the Hessian is exact; without, that of Gauss and Newton. The latter is stretched by
    1 + μ, which keeps the change small where the curvature would run away with it, and `shift`, relative to its diagonal, is
    added to the Hessian of the inputs. Returns (−1, Σ d·gradient) or, where the Hessian of
    the inputs is not positive definite, the step at which it fails: the problem is convex exactly when it nowhere does.
    `first` is the cost-to-go at the start: matrix and, in its last column, gradient.
    """
    r = room(steps, slopes)
    at_end(steps, slopes, mu, 1.0 if H.shape[0] > 0 else 0.0, r.V, r.v)
    failed, total = sweep(steps.D.shape[0], 0, steps, slopes, H, mu, shift, r, K, d)
    if failed < 0:
        nx = r.v.shape[0]
        for i in range(nx):
            first[i, nx] = r.v[i]
            for j in range(nx):
                first[i, j] = r.V[i, j]
    return failed, total


@inline
def sweep(last, first, steps, slopes, H, mu, shift, r, K, d):
    """The cost-to-go r.V, r.v from sample `last` back to sample `first`. A range, so that a caller with all steps at hand pays for
    one call, and one that makes them on the way may take them one by one."""
    hands, dt, share = steps.hands, steps.dt, steps.share
    n, nq, nc = steps.shape
    nk, nh, nf = nq - n, hands.shape[0], steps.E.shape[2]
    m, nu = nq + n, nh + nf
    nz, nx = m + nu, m + nk
    F, Y, M, Vdd, mz, Ux, V, v, A, cross, product, G, Gw = r
    tension, Ra = G.shape[0] > 0, slopes.acceleration
    accelerates = Ra.shape[0] > 0
    i1, i2, more, bends = 1.0 / dt, 1.0 / (dt * dt), 1.0 + mu, 1.0 if H.shape[0] > 0 else 0.0
    total = 0.0
    for k in range(last - 1, first - 1, -1):
        E = impulse(steps.E, k)
        fill(steps.D, k, E, hands, n, nq, nc, share, F)
        # M = Tᵀ V T + cost, with the dense rows first: Y = ½ V_dd F + V_d,kin S₁ + V_dw (S₁ − S₀)/dt
        for i in range(2 * n):
            ri = i if i < n else i + nk
            for j in range(2 * n):
                Vdd[i, j] = 0.5 * V[ri, j if j < n else j + nk]
        np.dot(Vdd, F, Y)
        for i in range(2 * n):
            ri = i if i < n else i + nk
            for j in range(nk):
                Y[i, n + j] -= V[ri, m + j] * i1
            for a in range(nh):
                Y[i, m + a] += V[ri, n + hands[a]] + V[ri, m + hands[a]] * i1
        np.dot(F.T, Y, M)
        for i in range(nz):
            for j in range(i + 1):
                x = M[i, j] + M[j, i]
                M[i, j] = x
                M[j, i] = x
        _kinematic_blocks(V, hands, n, nq, dt, M)
        for j in range(nz):
            x = 0.0
            for i in range(n):
                x += F[i, j] * v[i] + F[n + i, j] * v[nq + i]
            mz[j] = x
        for j in range(nk):
            mz[n + j] -= v[m + j] * i1
        for a in range(nh):
            mz[m + a] += v[n + hands[a]] + v[m + hands[a]] * i1
        # the cost of this step
        for i in range(m):
            mz[i] += slopes.gx[k, i]
            M[i, i] += more * slopes.hx[k, i]
        for a in range(nu):
            mz[m + a] += slopes.gu[k, a]
            M[m + a, m + a] += more * slopes.hu[k, a]
        if slopes.Hq.shape[0] > 0:
            for i in range(nq):
                for j in range(nq):
                    M[i, j] += more * slopes.Hq[k, i, j] + bends * slopes.bend[k, i, j]
        if tension:
            fill_links(steps.D[k], E, hands, n, nq, nc, share, G)
            for c in range(nc):
                for j in range(nz):
                    Gw[c, j] = more * slopes.hl[k, c] * G[c, j]
                    mz[j] += slopes.gl[k, c] * G[c, j]
            M += np.dot(G.T, Gw)
        if H.shape[0] > 0:
            add_curvature(H[k], E, hands, n, nq, share, M)
            if steps.turn.shape[0] > 0:
                add_turns(steps.turn[k], F, hands, n, nq, M)
        if accelerates:  # ½ Ra (S₁ z − q_kin − dt w)²/dt⁴; its gradient is in gx and gu
            for j in range(nk):
                M[n + j, n + j] += more * Ra[j] * i2 * i2
            for a in range(nh):
                x = more * Ra[hands[a]] * i2 * i2
                M[m + a, m + a] += x
                M[m + a, n + hands[a]] -= x
                M[n + hands[a], m + a] -= x
        for a in range(nu):
            for j in range(m):
                cross[a, j] = M[m + a, j]
            for j in range(nk):
                cross[a, m + j] = 0.0
            for b in range(nu):
                A[a, b] = M[m + a, m + b]
            A[a, a] += shift * abs(A[a, a])
            Ux[a, nx] = mz[m + a]
        if accelerates:
            for a in range(nh):
                cross[a, m + hands[a]] = -more * Ra[hands[a]] * i2 * i1
        for a in range(nu):
            for j in range(nx):
                Ux[a, j] = cross[a, j]
        if not cholesky(A, nu):
            return k, total
        solve_rows(A, nu, Ux)
        for a in range(nu):
            for j in range(nx):
                K[k, a, j] = Ux[a, j]
            d[k, a] = Ux[a, nx]
            total += Ux[a, nx] * mz[m + a]
        np.dot(cross.T, K[k], product)
        for i in range(nx):
            for j in range(i + 1):
                x = 0.5 * (product[i, j] + product[j, i])
                y = 0.0
                if i < m:
                    y = 0.5 * (M[i, j] + M[j, i])
                elif i == j:
                    y = more * (slopes.hx[k, i] + (Ra[i - m] * i2 if accelerates else 0.0))
                elif accelerates and j == n + i - m:
                    y = more * Ra[i - m] * i1 * i2
                V[i, j] = y - x
                V[j, i] = y - x
            x = mz[i] if i < m else slopes.gx[k, i]
            for a in range(nu):
                x -= cross[a, i] * d[k, a]
            v[i] = x
    return -1, total
