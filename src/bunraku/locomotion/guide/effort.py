"""Efforts of the motors along a motion: what the joints must give, when the floor gives what balance asks for.

The rate of generalised momentum, d(∂L/∂v)/dt − ∂L/∂q, is the sum of the motors' efforts and of the floor's wrenches on the feet.
Its rows of the floating base know no motor: they say what the floor gives. On two feet it is shared by where the ZMP is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics.lagrangian import momenta, slopes
from bunraku.dynamics.variational import workspace
from bunraku.figure import Figure
from bunraku.kinematics import pose
from bunraku.kinematics.tree import place
from bunraku.spatial.kernel import kernel

Array = NDArray[np.float64]


@kernel
def _slopes(tree, Q, V, L_q, L_v):
    w = workspace(tree)
    joints, nm = tree.joints, tree.shape[2]
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for t in range(Q.shape[0]):
        place(joints, 0, joints.shape[0], Q[t], (0.0, 0.0, 0.0), w.R, w.p, w.S)
        for j in range(nm):
            w.v[j] = V[t, joints[j].q]
        momenta(joints, nm, w.v, w.R, w.p, w.S, w.V, w.T, w.B, w.I, w.P)
        for j in range(nm):
            k = joints[j].q
            L_q[t, k], L_v[t, k] = slopes(joints[j], j, g, Q[t, k], w.v[j], w.S, w.T, w.I, w.P)


def needed(figure: Figure, Q: Array, dt: float) -> Array:
    """Generalised efforts (k, n_q) of samples Q, of second order in dt."""
    V = np.gradient(Q, dt, axis=0)
    L_q, L_v = np.zeros_like(Q), np.zeros_like(Q)
    _slopes(figure.compiled.tree, np.ascontiguousarray(Q), np.ascontiguousarray(V), L_q, L_v)
    return np.asarray(np.gradient(L_v, dt, axis=0) - L_q)


def shared(figure: Figure, q: Array, wanted: Array, base: NDArray[np.int64], feet: tuple[str, ...], shares: Array) -> Array:
    """Efforts (n_q,) at one sample, zero in the base: `wanted` without what the floor gives to the feet, each by its share.

    The floor's wrenches are the smallest that fit; a foot counts by its share, a moment by a lever of a tenth of the height.
    """
    here = pose(figure, q)
    J = np.vstack([here.jacobian(foot) for foot in feet])
    lever = 0.1 * float(np.ptp([here.point(feet[0])[2], here.com[2]]))
    scale = np.concatenate([np.repeat([1.0, lever], 3) * max(share, 1e-6) for share in shares])
    A = J[:, base].T * scale
    wrench = scale * np.linalg.lstsq(A, wanted[base], rcond=None)[0]
    out = wanted - J.T @ wrench
    out[base] = 0.0
    return np.asarray(out)
