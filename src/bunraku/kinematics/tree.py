"""The one recursion over the tree: the pose of every joint, and its screw.

Kernels work in world axes about an origin `o` that may be anywhere: if it is near the figure, numbers stay small even when
the figure is a kilometre from the world's origin. `R[j, k]` is the direction of joint j's own axis k; `p[j]` is its position;
`S[j]` = (ω, v) is the twist of everything that joint j carries, per unit of q_j.
"""

from __future__ import annotations

import numpy as np

from bunraku.kernels.compile import bare, kernel, woven
from bunraku.spatial.algebra import cross, put3, put6


@bare
def place(joints, first, last, q, o, R, p, S):
    """Computes R, p and S of joints first … last−1, parents before children."""
    for j in range(first, last):
        joint = joints[j]
        i, k, value, c = joint.parent, joint.kind, q[joint.variable], joint.position
        if i < 0:
            x = (c[0] - o[0], c[1] - o[1], c[2] - o[2])
            if joint.turned:
                for a in range(3):
                    for r in range(3):
                        R[j, a, r] = joint.rotation[r, a]
            else:
                for a in range(3):
                    for r in range(3):
                        R[j, a, r] = 1.0 if a == r else 0.0
        else:
            x = (
                p[i, 0] + R[i, 0, 0] * c[0] + R[i, 1, 0] * c[1] + R[i, 2, 0] * c[2],
                p[i, 1] + R[i, 0, 1] * c[0] + R[i, 1, 1] * c[1] + R[i, 2, 1] * c[2],
                p[i, 2] + R[i, 0, 2] * c[0] + R[i, 1, 2] * c[1] + R[i, 2, 2] * c[2],
            )
            if joint.turned:
                for a in range(3):
                    for r in range(3):
                        R[j, a, r] = (
                            joint.rotation[0, a] * R[i, 0, r]
                            + joint.rotation[1, a] * R[i, 1, r]
                            + joint.rotation[2, a] * R[i, 2, r]
                        )
            else:
                for a in range(3):
                    for r in range(3):
                        R[j, a, r] = R[i, a, r]
        if k < 3:
            e = (R[j, k, 0], R[j, k, 1], R[j, k, 2])
            m = cross(x, e)
            h = joint.pitch
            put6(S, j, (e[0], e[1], e[2], m[0] + h * e[0], m[1] + h * e[1], m[2] + h * e[2]))
            cosine, sine = np.cos(value), np.sin(value)
            a, b = (k + 1) % 3, (k + 2) % 3
            for r in range(3):
                ra, rb = R[j, a, r], R[j, b, r]
                R[j, a, r] = cosine * ra + sine * rb
                R[j, b, r] = cosine * rb - sine * ra
            slide = h * value
        else:
            e = (R[j, k - 3, 0], R[j, k - 3, 1], R[j, k - 3, 2])
            put6(S, j, (0.0, 0.0, 0.0, e[0], e[1], e[2]))
            slide = value
        put3(p, j, (x[0] + slide * e[0], x[1] + slide * e[1], x[2] + slide * e[2]))


@woven
def on_joint(R, p, j, x):
    """The position of the point x of joint j."""
    return (
        p[j, 0] + R[j, 0, 0] * x[0] + R[j, 1, 0] * x[1] + R[j, 2, 0] * x[2],
        p[j, 1] + R[j, 0, 1] * x[0] + R[j, 1, 1] * x[1] + R[j, 2, 1] * x[2],
        p[j, 2] + R[j, 0, 2] * x[0] + R[j, 1, 2] * x[1] + R[j, 2, 2] * x[2],
    )


@woven
def carry(R, p, o, j, x, w):
    """The position of the point x of joint j (w = 1), or the world direction of its direction x (w = 0); joint −1 is the world."""
    if j < 0:
        return x[0] - w * o[0], x[1] - w * o[1], x[2] - w * o[2]
    return (
        w * p[j, 0] + R[j, 0, 0] * x[0] + R[j, 1, 0] * x[1] + R[j, 2, 0] * x[2],
        w * p[j, 1] + R[j, 0, 1] * x[0] + R[j, 1, 1] * x[1] + R[j, 2, 1] * x[2],
        w * p[j, 2] + R[j, 0, 2] * x[0] + R[j, 1, 2] * x[1] + R[j, 2, 2] * x[2],
    )


@kernel
def forward(joints, q, R, p, S):
    """Everything that forward kinematics and all Jacobians need, in one call."""
    place(joints, 0, joints.shape[0], q, (0.0, 0.0, 0.0), R, p, S)


@kernel
def pose(joints, q, buffer):
    """`forward` into one buffer: R, then p, then S. Returns whether q is finite."""
    total = 0.0
    for k in range(q.shape[0]):
        total += 0.0 * q[k]  # NaN where q[k] is NaN or infinite
    n = joints.shape[0]
    R, p, S = buffer[: 9 * n].reshape((n, 3, 3)), buffer[9 * n : 12 * n].reshape((n, 3)), buffer[12 * n :].reshape((n, 6))
    place(joints, 0, n, q, (0.0, 0.0, 0.0), R, p, S)
    return total == 0.0


@woven
def _compose(R, p, j, Y, out):
    """out = X_WJ · Y."""
    for r in range(3):
        for c in range(4):
            x = R[j, 0, r] * Y[0, c] + R[j, 1, r] * Y[1, c] + R[j, 2, r] * Y[2, c]
            out[r, c] = x + (p[j, r] if c == 3 else 0.0)
    for c in range(4):
        out[3, c] = Y[3, c]


@kernel
def frames(R, p, frame_joint, frame_X, out):
    """X_WF of every named frame."""
    for f in range(frame_joint.shape[0]):
        j = frame_joint[f]
        if j < 0:
            for r in range(4):
                for c in range(4):
                    out[f, r, c] = frame_X[f, r, c]
        else:
            _compose(R, p, j, frame_X[f], out[f])


@kernel
def frames_of_samples(joints, Q, frame_joint, frame_X, out):
    """X_WF of every named frame at every sample."""
    n = joints.shape[0]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    for t in range(Q.shape[0]):
        place(joints, 0, n, Q[t], (0.0, 0.0, 0.0), R, p, S)
        for f in range(frame_joint.shape[0]):
            j = frame_joint[f]
            if j < 0:
                for r in range(4):
                    for c in range(4):
                        out[t, f, r, c] = frame_X[f, r, c]
            else:
                _compose(R, p, j, frame_X[f], out[t, f])


@kernel
def centre_of_mass(joints, R, p, S, n_q):
    """Mass, centre, and ∂centre/∂q: a subtree's first moment moves with the joint that carries it."""
    n = joints.shape[0]
    m, h, J = np.empty(n), np.empty((n, 3)), np.zeros((3, n_q))
    for j in range(n):
        m[j] = joints[j].mass
        c = on_joint(R, p, j, joints[j].com)
        put3(h, j, (m[j] * c[0], m[j] * c[1], m[j] * c[2]))
    total, centre = 0.0, np.zeros(3)
    for j in range(n - 1, -1, -1):
        i = joints[j].parent
        if i >= 0:
            m[i] += m[j]
            for r in range(3):
                h[i, r] += h[j, r]
        else:
            total += m[j]
            for r in range(3):
                centre[r] += h[j, r]
    for j in range(n):
        k = joints[j].variable
        J[0, k] = S[j, 1] * h[j, 2] - S[j, 2] * h[j, 1] + m[j] * S[j, 3]
        J[1, k] = S[j, 2] * h[j, 0] - S[j, 0] * h[j, 2] + m[j] * S[j, 4]
        J[2, k] = S[j, 0] * h[j, 1] - S[j, 1] * h[j, 0] + m[j] * S[j, 5]
    return total, centre / total, J / total


@kernel
def point_derivatives(joints, chain, S, j, x, n_q, first, second, third):
    """Derivatives of a point of joint j that is at x.

    With a above or equal to b, and b above or equal to c: x_c = ω_c × x + v_c, x_bc = ω_b × x_c, x_abc = ω_a × x_bc.
    Arrays of size zero are not filled.
    """
    if j < 0:
        return
    for a in range(1, chain[j, 0] + 1):
        k = chain[j, a]
        qk = joints[k].variable
        w = (S[k, 0], S[k, 1], S[k, 2])
        y = cross(w, x)
        y = (y[0] + S[k, 3], y[1] + S[k, 4], y[2] + S[k, 5])
        for r in range(3):
            first[r, qk] = y[r]
        if second.size == 0:
            continue
        for b in range(a, chain[j, 0] + 1):
            l = chain[j, b]
            ql = joints[l].variable
            z = cross((S[l, 0], S[l, 1], S[l, 2]), y)
            for r in range(3):
                second[r, qk, ql] = second[r, ql, qk] = z[r]
            if third.size == 0:
                continue
            for c in range(b, chain[j, 0] + 1):
                i = chain[j, c]
                qi = joints[i].variable
                u = cross((S[i, 0], S[i, 1], S[i, 2]), z)
                for r in range(3):
                    third[r, qk, ql, qi] = third[r, qk, qi, ql] = third[r, ql, qk, qi] = u[r]
                    third[r, ql, qi, qk] = third[r, qi, qk, ql] = third[r, qi, ql, qk] = u[r]
