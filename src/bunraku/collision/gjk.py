"""A lower bound on the distance of two convex bodies, for kernels: the algorithm of Gilbert, Johnson and Keerthi (GJK).

Each iteration yields a plane that separates the two bodies. The bound therefore never exceeds their distance, however early
the search ends, which is what proofs need. When it converges, it is the distance to within one part in a million.

A body is a convex core with a radius. The core has a kind, half sizes and a pose; a row of `P` holds its three axes
and its centre in the world. A triangle is a row of nine numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bunraku.kernels.compile import inline
from bunraku.spatial.algebra import axpy3, cross, dot3, sub3


class CoreKind(NamedTuple):
    """Kinds of cores."""

    box: int = 0
    cylinder: int = 1
    segment: int = 2
    """Along the z axis."""
    hull: int = 3
    """The convex hull of points."""


CORE = CoreKind()
TRIANGLE = 4  # one more kind of core; a plain constant, since the compiler then specializes the code for it: a tenth faster


@inline
def support(kind, half, points, first, count, P, row, d):
    """The support point of a core: its point farthest along d."""
    if kind == TRIANGLE:
        best, at = -np.inf, 0
        for k in range(3):
            along = points[first, 3 * k] * d[0] + points[first, 3 * k + 1] * d[1] + points[first, 3 * k + 2] * d[2]
            if along > best:
                best, at = along, 3 * k
        return points[first, at], points[first, at + 1], points[first, at + 2]
    x = P[row, 0] * d[0] + P[row, 1] * d[1] + P[row, 2] * d[2]
    y = P[row, 3] * d[0] + P[row, 4] * d[1] + P[row, 5] * d[2]
    z = P[row, 6] * d[0] + P[row, 7] * d[1] + P[row, 8] * d[2]
    if kind == CORE.hull:
        best, at = -np.inf, first
        for k in range(first, first + count):
            along = points[k, 0] * x + points[k, 1] * y + points[k, 2] * z
            if along > best:
                best, at = along, k
        u, v, w = points[at, 0], points[at, 1], points[at, 2]
    else:
        w = half[row, 2] if z >= 0.0 else -half[row, 2]
        if kind == CORE.box:
            u = half[row, 0] if x >= 0.0 else -half[row, 0]
            v = half[row, 1] if y >= 0.0 else -half[row, 1]
        elif kind == CORE.cylinder:
            size = np.sqrt(x * x + y * y)
            scale = half[row, 0] / size if size > 1e-12 else 0.0
            u, v = scale * x, scale * y
        else:
            u, v = 0.0, 0.0
    return (
        P[row, 9] + u * P[row, 0] + v * P[row, 3] + w * P[row, 6],
        P[row, 10] + u * P[row, 1] + v * P[row, 4] + w * P[row, 7],
        P[row, 11] + u * P[row, 2] + v * P[row, 5] + w * P[row, 8],
    )


@inline
def _edge(a, b, i, j):
    """(point of the segment a–b nearest to the origin, bits of the corners i, j that it depends on)."""
    u = sub3(b, a)
    uu = dot3(u, u)
    t = -dot3(a, u) / uu if uu > 0.0 else 0.0
    if t <= 0.0:
        return a, 1 << i
    if t >= 1.0:
        return b, 1 << j
    return axpy3(t, u, a), (1 << i) | (1 << j)


@inline
def _face(a, b, c, i, j, k):
    """The same for the triangle a b c with the corners i, j, k."""
    u, v = sub3(b, a), sub3(c, a)
    n = cross(u, v)
    nn = dot3(n, n)
    if nn > 1e-24 * dot3(u, u) * dot3(v, v):
        inside = (
            dot3(cross(u, n), a) >= 0.0
            and dot3(cross(n, v), a) >= 0.0
            and dot3(cross(sub3(c, b), n), b) >= 0.0
        )  # fmt: skip
        if inside:
            scale = dot3(a, n) / nn
            return (scale * n[0], scale * n[1], scale * n[2]), (1 << i) | (1 << j) | (1 << k)
    best, bits = _edge(a, b, i, j)
    x, other = _edge(b, c, j, k)
    if dot3(x, x) < dot3(best, best):
        best, bits = x, other
    x, other = _edge(a, c, i, k)
    if dot3(x, x) < dot3(best, best):
        best, bits = x, other
    return best, bits


@inline
def _beyond(a, b, c, d):
    """Whether the face a b c separates the origin from d; always true for a flat tetrahedron, which has no inside."""
    n = cross(sub3(b, a), sub3(c, a))
    return dot3(n, sub3(d, a)) * -dot3(n, a) <= 0.0


@inline
def nearest_in_simplex(W, n):
    """The point of the simplex W[:n] nearest to the origin, and the bits of the corners it depends on; 0: the origin is inside."""
    a = (W[0, 0], W[0, 1], W[0, 2])
    if n == 1:
        return a, 1
    b = (W[1, 0], W[1, 1], W[1, 2])
    if n == 2:
        return _edge(a, b, 0, 1)
    c = (W[2, 0], W[2, 1], W[2, 2])
    if n == 3:
        return _face(a, b, c, 0, 1, 2)
    d = (W[3, 0], W[3, 1], W[3, 2])
    best, bits, size = a, 0, np.inf
    if _beyond(a, b, c, d):
        best, bits = _face(a, b, c, 0, 1, 2)
        size = dot3(best, best)
    if _beyond(a, b, d, c):
        x, other = _face(a, b, d, 0, 1, 3)
        if dot3(x, x) < size:
            best, bits, size = x, other, dot3(x, x)
    if _beyond(a, c, d, b):
        x, other = _face(a, c, d, 0, 2, 3)
        if dot3(x, x) < size:
            best, bits, size = x, other, dot3(x, x)
    if _beyond(b, c, d, a):
        x, other = _face(b, c, d, 1, 2, 3)
        if dot3(x, x) < size:
            best, bits, size = x, other, dot3(x, x)
    return best, bits


@inline
def apart(kind, half, points, first, count, P, row, kind2, half2, points2, first2, count2, P2, row2, start, cap, W):
    """A lower bound on the distance of two cores: the distance itself, or the first bound that reaches `cap`; 0 where they overlap.

    `start` is a first guess of the vector from the second core to the first.
    """
    v = start
    if dot3(v, v) == 0.0:
        v = (1.0, 0.0, 0.0)
    n, bound, before, joined = 0, 0.0, np.inf, False
    for _ in range(48):  # at most; it ends once the relative error is below 1e-6
        vv = dot3(v, v)
        if joined and vv <= 1e-18:
            return 0.0
        minus = (-v[0], -v[1], -v[2])
        near = support(kind, half, points, first, count, P, row, minus)
        w = sub3(near, support(kind2, half2, points2, first2, count2, P2, row2, v))
        vw = dot3(v, w)
        if vw > 0.0:
            bound = max(bound, vw / np.sqrt(vv))
            if bound >= cap:
                return bound
        if joined and (vv - vw <= 1e-6 * vv or vv >= before):
            return bound
        W[n, 0], W[n, 1], W[n, 2] = w
        if joined:
            before = vv
        v, bits = nearest_in_simplex(W, n + 1)
        if bits == 0:
            return 0.0
        kept = 0
        for k in range(n + 1):
            if bits & (1 << k):
                W[kept, 0], W[kept, 1], W[kept, 2] = W[k, 0], W[k, 1], W[k, 2]
                kept += 1
        n, joined = kept, True
        if n == 4:
            return 0.0
    return bound
