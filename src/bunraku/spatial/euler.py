"""Rotation matrices as nine numbers, row by row, and the Euler angles z, y, x of ball joints, for kernels."""

from __future__ import annotations

import math

import numpy as np

from bunraku.kernels.compile import inline
from bunraku.spatial.algebra import cross, dot3, scale3


@inline
def ball_rotation(z, y, x):
    """Rz(z) Ry(y) Rx(x)."""
    a, b, c, d, e, f = math.cos(z), math.sin(z), math.cos(y), math.sin(y), math.cos(x), math.sin(x)
    return a * c, a * d * f - b * e, a * d * e + b * f, b * c, b * d * f + a * e, b * d * e - a * f, -d, c * f, c * e


@inline
def times(A, B):
    """A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@inline
def transposed(A):
    """Aᵀ, the inverse of a rotation A."""
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@inline
def exp_rotation(w):
    """The rotation by the angle |w| about the vector w."""
    square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    angle = math.sqrt(square)
    if angle < 1e-4:
        s, c = 1.0 - square / 6.0, 0.5 - square / 24.0
    else:
        s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    x, y, z = w
    return (
        1.0 - c * (y * y + z * z), c * x * y - s * z, c * x * z + s * y,
        c * x * y + s * z, 1.0 - c * (x * x + z * z), c * y * z - s * x,
        c * x * z - s * y, c * y * z + s * x, 1.0 - c * (x * x + y * y),
    )  # fmt: skip


@inline
def log_rotation(C):
    """The rotation vector of C, of length at most π, accurate near 0 and near π."""
    v = (0.5 * (C[7] - C[5]), 0.5 * (C[2] - C[6]), 0.5 * (C[3] - C[1]))  # sin θ · u, for the angle θ about the unit axis u
    sine = math.sqrt(dot3(v, v))
    cosine = 0.5 * (C[0] + C[4] + C[8] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > -0.99:
        return scale3(angle / sine if sine > 1e-9 else 1.0, v)
    # Near π, sin θ is too small to give u. Its direction is the largest column of u uᵀ = (C + Cᵀ − 2 cos θ 1) / (2 − 2 cos θ).
    k = 1.0 / (1.0 - cosine)
    xx, yy, zz = (C[0] - cosine) * k, (C[4] - cosine) * k, (C[8] - cosine) * k
    xy, xz, yz = 0.5 * (C[1] + C[3]) * k, 0.5 * (C[2] + C[6]) * k, 0.5 * (C[5] + C[7]) * k
    if xx >= yy and xx >= zz:
        u = (xx, xy, xz)
    elif yy >= zz:
        u = (xy, yy, yz)
    else:
        u = (xz, yz, zz)
    size = math.sqrt(dot3(u, u))
    sign = -1.0 if dot3(u, v) < 0.0 else 1.0
    return scale3(sign * angle / size, u)


@inline
def left_inverse(e, w):
    """The derivative of log(exp(w) exp(e)) at w = 0, along w: J⁻¹(e) w = w − ½ e × w + c e × (e × w), the inverse left Jacobian."""
    square = dot3(e, e)
    if square < 1e-8:
        c = 1.0 / 12.0 + square / 720.0
    else:
        half = 0.5 * math.sqrt(square)
        c = (1.0 - half / math.tan(half)) / square
    first = cross(e, w)
    second = cross(e, first)
    return (
        w[0] - 0.5 * first[0] + c * second[0],
        w[1] - 0.5 * first[1] + c * second[1],
        w[2] - 0.5 * first[2] + c * second[2],
    )


@inline
def near(angle, other):
    """The angle plus the number of whole turns that brings it nearest to `other`."""
    return angle - 2.0 * math.pi * np.rint((angle - other) / (2.0 * math.pi))


@inline
def ball_angles(C, z, y, x):
    """Angles (z, y, x) of the rotation C: of its two solutions the one nearer to the given angles."""
    across = math.hypot(C[0], C[3])
    pitch = math.atan2(-C[6], across)
    if across > 1e-9:
        yaw, roll = math.atan2(C[3], C[0]), math.atan2(C[7], C[8])
    else:  # gimbal lock: only yaw ∓ roll is determined, so roll is kept
        roll = x
        sign = 1.0 if pitch > 0.0 else -1.0
        yaw = math.atan2(-C[1], C[4]) + sign * roll
    first = near(yaw, z), near(pitch, y), near(roll, x)
    second = near(yaw + math.pi, z), near(math.pi - pitch, y), near(roll + math.pi, x)
    a = (first[0] - z) ** 2 + (first[1] - y) ** 2 + (first[2] - x) ** 2
    b = (second[0] - z) ** 2 + (second[1] - y) ** 2 + (second[2] - x) ** 2
    return first if a <= b else second
