"""Sweeps along a motion, each one compiled call: Riccati (backward), adjoint (backward), tangent (forward).

The state is x = (q, p, w): all variables, the momentum, the rates w of the kinematic variables; the inputs u are the next
kinematic variables and the force inputs that may be chosen. With z = (q, p, u), one step of a small change is

    δ(q_dyn, p)₊ = F z        δq_kin₊ = S₁ z        δw₊ = (S₁ z − δq_kin)/dt

Only F (2n rows) is dense: the kinematic part of the state forgets its past, and a sweep multiplies nothing by its zeros.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from bunraku.spatial.kernel import inline, kernel

# The first derivative of every step: D as bunraku.dynamics gives it; E = dt · ∂F/∂u (n × forces chosen); which kinematic
# variables are inputs; (n, n_q, n_links); dt; share.
Steps1 = namedtuple("Steps1", "D E hands shape dt share")
# The cost along the motion to second order: gradient and diagonal by state, input and impulse; dense blocks by q (N+1 or
# none), of Gauss–Newton and what that leaves out; weights of the accelerations of kinematic variables; a matrix at the end
# (or none).
Slopes = namedtuple("Slopes", "gx hx gu hu gl hl Hq bend acceleration end")


@inline
def fill(D, E, hands, n, nq, nc, share, F):
    """F = ∂(q_dyn, p)₊/∂z of one step."""
    m, nh = nq + n, hands.shape[0]
    for r in range(2 * n):
        row = D[r] if r < n else D[r + nc]
        for j in range(m):
            F[r, j] = row[j]
        for a in range(nh):
            F[r, m + a] = row[m + hands[a]]
        for f in range(E.shape[1]):
            F[r, m + nh + f] = (1.0 - share) * E[r - n, f] if r >= n else 0.0
    for f in range(E.shape[1]):
        for i in range(n):
            if E[i, f] != 0.0:
                s = share * E[i, f]
                for r in range(2 * n):
                    F[r, m + nh + f] += s * D[r if r < n else r + nc, nq + i]


@inline
def fill_links(D, E, hands, n, nq, nc, share, G):
    """G = ∂λ/∂z of one step."""
    m, nh = nq + n, hands.shape[0]
    for c in range(nc):
        row = D[n + c]
        for j in range(m):
            G[c, j] = row[j]
        for a in range(nh):
            G[c, m + a] = row[m + hands[a]]
        for f in range(E.shape[1]):
            x = 0.0
            for i in range(n):
                x += E[i, f] * row[nq + i]
            G[c, m + nh + f] = share * x


@inline
def add_curvature(H, E, hands, n, nq, share, M):
    """M += H, from (q0, p0, k1) to z: a force enters like momentum."""
    m, nh = nq + n, hands.shape[0]
    for i in range(m):
        for j in range(m):
            M[i, j] += H[i, j]
        for a in range(nh):
            x = H[i, m + hands[a]]
            M[i, m + a] += x
            M[m + a, i] += x
    for a in range(nh):
        for b in range(nh):
            M[m + a, m + b] += H[m + hands[a], m + hands[b]]
    for f in range(E.shape[1]):
        for i in range(n):
            if E[i, f] == 0.0:
                continue
            s = share * E[i, f]
            for j in range(m):
                x = s * H[nq + i, j]
                M[m + nh + f, j] += x
                M[j, m + nh + f] += x
            for a in range(nh):
                x = s * H[nq + i, m + hands[a]]
                M[m + nh + f, m + a] += x
                M[m + a, m + nh + f] += x
            for g in range(E.shape[1]):
                for k in range(n):
                    if E[k, g] != 0.0:
                        M[m + nh + f, m + nh + g] += s * share * E[k, g] * H[nq + i, nq + k]


@inline
def cholesky(A, n):
    """The lower factor in place; false where A is not positive definite."""
    largest = 0.0
    for j in range(n):
        largest = max(largest, abs(A[j, j]))
    floor = 1e-14 * largest
    for j in range(n):
        x = A[j, j]
        for k in range(j):
            x -= A[j, k] * A[j, k]
        if not x > floor:
            return False
        d = np.sqrt(x)
        A[j, j] = d
        for i in range(j + 1, n):
            y = A[i, j]
            for k in range(j):
                y -= A[i, k] * A[j, k]
            A[i, j] = y / d
    return True


@inline
def solve_rows(A, n, Y):
    """Y ← (A Aᵀ)⁻¹ Y for the lower factor A; rows of Y are updated as wholes."""
    w = Y.shape[1]
    for i in range(n):
        for k in range(i):
            a = A[i, k]
            for c in range(w):
                Y[i, c] -= a * Y[k, c]
        a = 1.0 / A[i, i]
        for c in range(w):
            Y[i, c] *= a
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            a = A[k, i]
            for c in range(w):
                Y[i, c] -= a * Y[k, c]
        a = 1.0 / A[i, i]
        for c in range(w):
            Y[i, c] *= a


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


@kernel
def riccati(steps, slopes, H, mu, shift, K, d, first):
    """Gains K and feedforward d of the LQ problem along the motion: δu = −d − K δx.

    With H, the curvature of the steps, the Hessian is exact; without, that of Gauss and Newton. The latter is stretched by
    1 + μ, which keeps the change small where the curvature would run away with it, and `shift`, relative to its diagonal, is
    added to the Hessian of the inputs. Returns (−1, Σ d·gradient) or, where the Hessian of
    the inputs is not positive definite, the step at which it fails: the problem is convex exactly when it nowhere does.
    `first` is the cost-to-go at the start: matrix and, in its last column, gradient.
    """
    E, hands, dt, share = steps.E, steps.hands, steps.dt, steps.share
    n, nq, nc = steps.shape
    N, nk, nh, nf = steps.D.shape[0], nq - n, hands.shape[0], E.shape[1]
    m, nu = nq + n, nh + nf
    nz, nx = m + nu, m + nk
    F, Y, M, Vdd, mz = np.empty((2 * n, nz)), np.empty((2 * n, nz)), np.empty((nz, nz)), np.empty((2 * n, 2 * n)), np.empty(nz)
    Ux, V, v, A = np.empty((nu, nx + 1)), np.zeros((nx, nx)), np.empty(nx), np.empty((nu, nu))
    cross, product = np.empty((nu, nx)), np.empty((nx, nx))
    tension = slopes.hl.shape[0] > 0
    G, Gw = np.empty((nc if tension else 0, nz)), np.empty((nc if tension else 0, nz))
    Ra = slopes.acceleration
    accelerates = Ra.shape[0] > 0
    i1, i2, more, bends = 1.0 / dt, 1.0 / (dt * dt), 1.0 + mu, 1.0 if H.shape[0] > 0 else 0.0
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
    total = 0.0
    for k in range(N - 1, -1, -1):
        fill(steps.D[k], E, hands, n, nq, nc, share, F)
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
    for i in range(nx):
        first[i, nx] = v[i]
        for j in range(nx):
            first[i, j] = V[i, j]
    return -1, total


@kernel
def adjoint(steps, slopes, K, weights, gradient):
    """Derivative of the cost along the motion under feedback (*trep*, Lemma 3.1 and eq. 12 with inputs u = ū − K(x − x̄)).

    `gradient[k]` is by ū_k; `weights[k]` are the covectors of the outputs (q₊, λ, p₊) of step k, with which the second
    derivative of the projection is to be contracted: Dg·D²P(ζ, ζ) = Σ weights·D²step(ζ, ζ).
    """
    E, hands, i1, share = steps.E, steps.hands, 1.0 / steps.dt, steps.share
    n, nq, nc = steps.shape
    N, nk, nh, nf = steps.D.shape[0], nq - n, hands.shape[0], E.shape[1]
    m, nu = nq + n, nh + nf
    nx = m + nk
    chi, D, row, by_u = np.empty(nx), steps.D, np.empty(steps.D.shape[2]), np.empty(nu)
    for i in range(nx):
        chi[i] = slopes.gx[N, i]
    for k in range(N - 1, -1, -1):
        w = weights[k]
        for i in range(n):
            w[i] = chi[i]
            w[n + nc + i] = chi[nq + i]
        for c in range(nc):
            w[n + c] = slopes.gl[k, c] if slopes.gl.shape[0] > 0 else 0.0
        for j in range(row.shape[0]):
            row[j] = 0.0
        for o in range(2 * n + nc):
            x = w[o]
            if x != 0.0:
                for j in range(row.shape[0]):
                    row[j] += x * D[k, o, j]
        for a in range(nh):
            by_u[a] = slopes.gu[k, a] + row[m + hands[a]] + chi[n + hands[a]] + chi[m + hands[a]] * i1
        for f in range(nf):
            x = slopes.gu[k, nh + f]
            for i in range(n):
                x += E[i, f] * (share * row[nq + i] + (1.0 - share) * w[n + nc + i])
            by_u[nh + f] = x
        for j in range(nk):
            row[n + j] -= chi[m + j] * i1
        for i in range(nx):
            x = slopes.gx[k, i] + (row[i] if i < m else 0.0)
            for a in range(nu):
                x -= K[k, a, i] * by_u[a]
            chi[i] = x
        for a in range(nu):
            gradient[k, a] = by_u[a]


@kernel
def tangent(steps, K, dx, du, X, U):
    """(X, U) = DP·(dx, du): x₊ = A x + B u, u = du − K(x − dx), from x₀ = dx₀ (*trep*, after Lemma 3.1)."""
    E, hands, i1, share, D = steps.E, steps.hands, 1.0 / steps.dt, steps.share, steps.D
    n, nq, nc = steps.shape
    N, nk, nh, nf = D.shape[0], nq - n, hands.shape[0], E.shape[1]
    m, nu = nq + n, nh + nf
    nx = m + nk
    inner = np.empty(2 * nq)
    for i in range(nx):
        X[0, i] = dx[0, i]
    for k in range(N):
        for a in range(nu):
            x = du[k, a]
            for i in range(nx):
                x -= K[k, a, i] * (X[k, i] - dx[k, i])
            U[k, a] = x
        for j in range(m):
            inner[j] = X[k, j]
        for j in range(nk):
            inner[m + j] = 0.0
            X[k + 1, n + j] = 0.0
        for a in range(nh):
            inner[m + hands[a]] = U[k, a]
            X[k + 1, n + hands[a]] = U[k, a]
        for j in range(nk):
            X[k + 1, m + j] = (X[k + 1, n + j] - X[k, n + j]) * i1
        for i in range(n):
            x = 0.0
            for f in range(nf):
                x += E[i, f] * U[k, nh + f]
            inner[nq + i] += share * x
            X[k + 1, nq + i] = (1.0 - share) * x
        for i in range(n):
            x, y = 0.0, X[k + 1, nq + i]
            for j in range(2 * nq):
                x += D[k, i, j] * inner[j]
                y += D[k, n + nc + i, j] * inner[j]
            X[k + 1, i] = x
            X[k + 1, nq + i] = y
