"""Whole rollouts in one compiled call."""
from __future__ import annotations

import numpy as np

from bunraku.dynamics.variational import begin, step, workspace
from bunraku.spatial.kernel import kernel


@kernel
def rollout(tree, q, p, lam, K, U, dt, share, tolerance, Q, P, L, iterations):
    n, nq, nc = tree.shape[0], tree.shape[1], tree.shape[3]
    w = workspace(tree)
    o = (0.0, 0.0, 0.0)
    for i in range(nq):
        Q[0, i] = q[i]
    for i in range(n):
        P[0, i] = p[i]
    for c in range(nc):
        L[0, c] = lam[c]
    for k in range(K.shape[0]):
        for i in range(n):
            if k >= 2:
                Q[k + 1, i] = 3.0 * (Q[k, i] - Q[k - 1, i]) + Q[k - 2, i]
            elif k == 1:
                Q[k + 1, i] = 2.0 * Q[k, i] - Q[k - 1, i]
            else:
                Q[k + 1, i] = Q[k, i]
        for i in range(n, nq):
            Q[k + 1, i] = K[k, i - n]
        for c in range(nc):
            L[k + 1, c] = L[k, c]
        begin(tree, w, o, Q[k])
        iterations[k] = step(tree, w, o, Q[k], P[k], U[k], dt, share, 0.0, Q[k + 1], L[k + 1], P[k + 1], tolerance, 30)
        if iterations[k] < 0:
            return k
    return K.shape[0]
