"""Efforts of the motors along a motion: inverse dynamics with contact wrenches at the feet.

The rate of generalised momentum, d(∂L/∂v)/dt − ∂L/∂q, is the sum of the motors' efforts and of the contact wrenches at the feet. No
motor acts on the rows of the floating base, so these determine the total wrench. The position of the ZMP divides it between two
feet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics.lagrangian import momenta, slopes
from bunraku.dynamics.variational import workspace
from bunraku.figure import Figure
from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics import frames_along
from bunraku.kinematics.tree import place
from bunraku.spatial.linalg import pivoted_solve

Array = NDArray[np.float64]


@kernel
def _slopes(tree, Q, V, L_q, L_v):
    w = workspace(tree)
    joints, nm = tree.joints, tree.n_massive
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for t in range(Q.shape[0]):
        place(joints, 0, joints.shape[0], Q[t], (0.0, 0.0, 0.0), w.R, w.p, w.S)
        for j in range(nm):
            w.v[j] = V[t, joints[j].variable]
        momenta(joints, nm, w.v, w.R, w.p, w.S, w.V, w.T, w.B, w.I, w.P)
        for j in range(nm):
            k = joints[j].variable
            L_q[t, k], L_v[t, k] = slopes(joints[j], j, g, Q[t, k], w.v[j], w.S, w.T, w.I, w.P)


def needed(figure: Figure, Q: Array, dt: float) -> Array:
    """Generalised efforts (k, n_q) [N m, N] of a `figure` along samples `Q` (k, n_q), `dt` [s] apart; second-order accurate."""
    V = np.gradient(Q, dt, axis=0)
    L_q, L_v = np.zeros_like(Q), np.zeros_like(Q)
    _slopes(figure.compiled.tree, np.require(Q, float, ["C", "W"]), np.ascontiguousarray(V), L_q, L_v)  # "W": see frames_along
    return np.asarray(np.gradient(L_v, dt, axis=0) - L_q)


@inline
def _twist(screw, x, share, lever, out):
    """Velocity of a foot at x per unit rate of the joint (linear, angular), weighted."""
    out[0] = share * (screw[3] + screw[1] * x[2] - screw[2] * x[1])
    out[1] = share * (screw[4] + screw[2] * x[0] - screw[0] * x[2])
    out[2] = share * (screw[5] + screw[0] * x[1] - screw[1] * x[0])
    for i in range(3):
        out[3 + i] = share * lever * screw[i]


@kernel
def _shared(tree, Q, wanted, rows, carriers, places, shares, lever, out):
    """Writes efforts (k, n_q): `wanted` without the contact wrenches at the feet.

    `rows` (n_q,) are indices among the base's variables, −1 for motors; `carriers` (2,) the joints that carry the feet, `places`
    (k, 2, 3) the positions of the feet.
    """
    joints, chain = tree.joints, tree.chain
    n = joints.shape[0]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    A, M, w = np.empty((6, 12)), np.empty((6, 7)), np.empty(12)
    for t in range(Q.shape[0]):
        place(joints, 0, n, Q[t], (0.0, 0.0, 0.0), R, p, S)
        A[:] = 0.0
        for f in range(2):
            j = carriers[f]
            for c in range(1, 1 + chain[j, 0]):
                b = rows[joints[chain[j, c]].variable]
                if b >= 0:
                    _twist(S[chain[j, c]], places[t, f], shares[t, f], lever, A[b, 6 * f : 6 * f + 6])
        for a in range(6):
            for b in range(6):
                M[a, b] = 0.0
                for i in range(12):
                    M[a, b] += A[a, i] * A[b, i]
        for k in range(Q.shape[1]):
            out[t, k] = wanted[t, k]
            if rows[k] >= 0:
                M[rows[k], 6] = wanted[t, k]
        pivoted_solve(M, 6)
        for i in range(12):
            w[i] = 0.0
            for a in range(6):
                w[i] += A[a, i] * M[a, 6]
        for f in range(2):
            j = carriers[f]
            for c in range(1, 1 + chain[j, 0]):
                _twist(S[chain[j, c]], places[t, f], shares[t, f], lever, A[0, :6])
                for i in range(6):
                    out[t, joints[chain[j, c]].variable] -= A[0, i] * w[6 * f + i]
        for k in range(Q.shape[1]):
            if rows[k] >= 0:
                out[t, k] = 0.0


def shared(
    figure: Figure, Q: Array, wanted: Array, base: NDArray[np.int64], feet: tuple[str, str], shares: Array, lever: float
) -> Array:  # fmt: skip
    """Efforts of the motors at every sample (k, n_q) [N m, N]; zero for the floating base.

    figure: the figure
    Q: samples (k, n_q)
    wanted: generalised efforts from `needed` (k, n_q)
    base: indices of the six variables of the floating base
    feet: frames of the two feet
    shares: share of the contact force that each foot bears (k, 2)
    lever: a moment counts as the force that causes it at this distance [m]

    The contact wrenches are the smallest that balance the base, weighted by shares and lever.
    """
    rows = np.full(figure.n_q, -1)
    rows[base] = np.arange(len(base))
    numbers = [figure.frame_index[foot] for foot in feet]
    places = np.ascontiguousarray(frames_along(figure, Q)[:, numbers][..., :3, 3])
    out = np.empty_like(wanted)
    carriers = np.asarray(figure.compiled.frame_joint[numbers], np.int64)
    _shared(
        figure.compiled.tree, np.require(Q, float, ["C", "W"]), wanted, rows, carriers, places, np.maximum(shares, 1e-9), lever, out
    )
    return out
