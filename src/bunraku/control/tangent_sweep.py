"""The tangent sweep, forward along a motion: the first derivative of the projection with respect to the curve."""

from __future__ import annotations

import numpy as np

from bunraku.control.linear_steps import impulse
from bunraku.kernels.compile import kernel


@kernel
def tangent(steps, K, dx, du, X, U):
    """(X, U) = DP·(dx, du): x₊ = A x + B u, u = du − K(x − dx), from x₀ = dx₀ (*trep*, after Lemma 3.1)."""
    hands, i1, share, D = steps.hands, 1.0 / steps.dt, steps.share, steps.D
    n, nq, nc = steps.shape
    N, nk, nh, nf = D.shape[0], nq - n, hands.shape[0], steps.E.shape[2]
    m, nu = nq + n, nh + nf
    nx = m + nk
    inner = np.empty(2 * nq)
    for i in range(nx):
        X[0, i] = dx[0, i]
    for k in range(N):
        E = impulse(steps.E, k)
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
