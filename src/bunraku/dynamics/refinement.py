"""Refinement of solutions of K y = x, where the mass matrix is ill-conditioned.

In joint coordinates the mass matrix of a long chain has large entries, each the inertia of everything behind a joint. Most of it
cancels in elimination: what is left is the inertia of a link or two. Rounding of the entries then costs digits, however good the
solver. But M y can be had without the entries, body by body, from the motion of each under y, which is small where neighbouring
joints undo each other. One step of refinement with that residual brings the digits back.
"""

from __future__ import annotations

import numpy as np

from bunraku.kernels.blocks import add_row
from bunraku.kernels.compile import inline

MAX_CANCELLATION = 1e4  # a diagonal entry over the pivot that elimination leaves of it


@inline
def residual_rows(joints, nm, n, dt, S, B, K, Y, X):
    """X −= (K − M/dt) Y, for the matrix K without M/dt; the columns of X are padded."""
    ny, width = X.shape
    y = np.zeros((ny, width))
    for i in range(ny):
        for j in range(Y.shape[1]):
            y[i, j] = Y[i, j]
    for i in range(ny):
        for k in range(ny):
            if K[i, k] != 0.0:
                add_row(X, i, -K[i, k], y, k, 0, width)
    add_mass(joints, nm, n, 1.0 / dt, S, B, y, X)


@inline
def residual_transposed(joints, nm, n, dt, S, B, K, nu, b):
    """b −= (K − M/dt)ᵀ ν."""
    y, out = np.zeros((nu.shape[0], 8)), np.zeros((nu.shape[0], 8))
    for i in range(nu.shape[0]):
        y[i, 0] = nu[i]
        for k in range(nu.shape[0]):
            b[k] -= K[i, k] * nu[i]
    add_mass(joints, nm, n, 1.0 / dt, S, B, y, out)
    for k in range(n):
        b[k] += out[k, 0]


@inline
def add_mass(joints, nm, n, factor, S, B, Y, X):
    """X += factor · M Y, for the inertias B of the bodies. Y and X are padded."""
    width = Y.shape[1]
    V, P = np.zeros((6 * nm, width)), np.zeros((6 * nm, width))  # motions and momenta, six rows a joint
    for j in range(nm):
        i, q = joints[j].parent, joints[j].variable
        m, h0, h1, h2 = B[j, 0], B[j, 1], B[j, 2], B[j, 3]
        xx, xy, xz, yy, yz, zz = B[j, 4], B[j, 5], B[j, 6], B[j, 7], B[j, 8], B[j, 9]
        for c in range(6):
            if i >= 0:
                add_row(V, 6 * j + c, 1.0, V, 6 * i + c, 0, width)
            if q < n:
                add_row(V, 6 * j + c, S[j, c], Y, q, 0, width)
        # bunraku.spatial.algebra.apply as a matrix
        rows = (
            (xx, xy, xz, 0.0, -h2, h1), (xy, yy, yz, h2, 0.0, -h0), (xz, yz, zz, -h1, h0, 0.0),
            (0.0, h2, -h1, m, 0.0, 0.0), (-h2, 0.0, h0, 0.0, m, 0.0), (h1, -h0, 0.0, 0.0, 0.0, m),
        )  # fmt: skip
        for r in range(6):
            for c in range(6):
                if rows[r][c] != 0.0:
                    add_row(P, 6 * j + r, rows[r][c], V, 6 * j + c, 0, width)
    for j in range(nm - 1, -1, -1):
        i, q = joints[j].parent, joints[j].variable
        for c in range(6):
            if q < n:
                add_row(X, q, factor * S[j, c], P, 6 * j + c, 0, width)
            if i >= 0:
                add_row(P, 6 * i + c, 1.0, P, 6 * j + c, 0, width)
