"""Spatial algebra on tuples, for kernels. Everything is expressed in world axes about the world's origin.

Motions (twists) are (ω, v) and wrenches (n, f), moment first. A rigid inertia is ten numbers: mass m, first moment h = m·c of
the centre of mass c, and I_O about the origin as xx xy xz yy yz zz. Inertias add up entry by entry, so sums over subtrees
need no transforms. Tuples of known size are kept in registers.
"""

from __future__ import annotations

from bunraku.kernels.compile import woven

ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ZERO10 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@woven
def get3(A, i):
    return A[i, 0], A[i, 1], A[i, 2]


@woven
def get6(A, i):
    return A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5]


@woven
def get10(A, i):
    return A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5], A[i, 6], A[i, 7], A[i, 8], A[i, 9]


@woven
def put3(A, i, x):
    A[i, 0], A[i, 1], A[i, 2] = x


@woven
def put6(A, i, x):
    A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5] = x


@woven
def put10(A, i, x):
    A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5], A[i, 6], A[i, 7], A[i, 8], A[i, 9] = x


@woven
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@woven
def dot6(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@woven
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@woven
def add3(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@woven
def sub3(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@woven
def scale3(s, a):
    return s * a[0], s * a[1], s * a[2]


@woven
def axpy3(s, a, b):
    return s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2]


@woven
def add6(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@woven
def axpy6(s, a, b):
    return (
        s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2], s * a[3] + b[3], s * a[4] + b[4], s * a[5] + b[5],
    )  # fmt: skip


@woven
def scale6(s, a):
    return s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5]


@woven
def bracket(a, b):
    """The Lie bracket [a, b]: the rate of change of the motion b while it moves along with a."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
        a[1] * b[5] - a[2] * b[4] + a[4] * b[2] - a[5] * b[1],
        a[2] * b[3] - a[0] * b[5] + a[5] * b[0] - a[3] * b[2],
        a[0] * b[4] - a[1] * b[3] + a[3] * b[1] - a[4] * b[0],
    )


@woven
def dual(a, f):
    """a ×* f: the rate of change of the wrench f while it moves along with a."""
    return (
        a[1] * f[2] - a[2] * f[1] + a[4] * f[5] - a[5] * f[4],
        a[2] * f[0] - a[0] * f[2] + a[5] * f[3] - a[3] * f[5],
        a[0] * f[1] - a[1] * f[0] + a[3] * f[4] - a[4] * f[3],
        a[1] * f[5] - a[2] * f[4],
        a[2] * f[3] - a[0] * f[5],
        a[0] * f[4] - a[1] * f[3],
    )


@woven
def move(a, x):
    """Velocity of the point x under the motion a."""
    return a[1] * x[2] - a[2] * x[1] + a[3], a[2] * x[0] - a[0] * x[2] + a[4], a[0] * x[1] - a[1] * x[0] + a[5]


@woven
def apply(inertia, x):
    """Momentum (angular, linear) of an inertia that moves with x."""
    m, h0, h1, h2, xx, xy, xz, yy, yz, zz = inertia
    w0, w1, w2, v0, v1, v2 = x
    return (
        xx * w0 + xy * w1 + xz * w2 + h1 * v2 - h2 * v1,
        xy * w0 + yy * w1 + yz * w2 + h2 * v0 - h0 * v2,
        xz * w0 + yz * w1 + zz * w2 + h0 * v1 - h1 * v0,
        m * v0 + w1 * h2 - w2 * h1,
        m * v1 + w2 * h0 - w0 * h2,
        m * v2 + w0 * h1 - w1 * h0,
    )


@woven
def carried(inertia, x):
    """Rate of change of an inertia that moves with x: again ten numbers, with mass 0."""
    m, h0, h1, h2, xx, xy, xz, yy, yz, zz = inertia
    w0, w1, w2, v0, v1, v2 = x
    # Σ = ∫ r rᵀ dm has the rate Σ' = [ω]Σ − Σ[ω] + v hᵀ + h vᵀ, and I_O = tr(Σ) 1 − Σ.
    t = 0.5 * (xx + yy + zz)
    s00, s11, s22, s01, s02, s12 = t - xx, t - yy, t - zz, -xy, -xz, -yz
    a00 = 2.0 * (w1 * s02 - w2 * s01 + v0 * h0)
    a11 = 2.0 * (w2 * s01 - w0 * s12 + v1 * h1)
    a22 = 2.0 * (w0 * s12 - w1 * s02 + v2 * h2)
    a01 = w1 * s12 - w2 * s11 + w2 * s00 - w0 * s02 + v0 * h1 + v1 * h0
    a02 = w1 * s22 - w2 * s12 + w0 * s01 - w1 * s00 + v0 * h2 + v2 * h0
    a12 = w2 * s02 - w0 * s22 + w0 * s11 - w1 * s01 + v1 * h2 + v2 * h1
    return (
        0.0, w1 * h2 - w2 * h1 + m * v0, w2 * h0 - w0 * h2 + m * v1, w0 * h1 - w1 * h0 + m * v2,
        a11 + a22, -a01, -a02, a00 + a22, -a12, a00 + a11,
    )  # fmt: skip


@woven
def lever(inertia, x):
    """Rate of change of the first moment h = m·c of an inertia that moves with x."""
    m, h0, h1, h2 = inertia[0], inertia[1], inertia[2], inertia[3]
    return (
        x[1] * h2 - x[2] * h1 + m * x[3],
        x[2] * h0 - x[0] * h2 + m * x[4],
        x[0] * h1 - x[1] * h0 + m * x[5],
    )


@woven
def weight(gravity, inertia):
    """The wrench of gravity on an inertia."""
    m, h0, h1, h2 = inertia[0], inertia[1], inertia[2], inertia[3]
    return (
        h1 * gravity[2] - h2 * gravity[1],
        h2 * gravity[0] - h0 * gravity[2],
        h0 * gravity[1] - h1 * gravity[0],
        m * gravity[0],
        m * gravity[1],
        m * gravity[2],
    )
