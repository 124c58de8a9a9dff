"""Gaps between features of two bodies: points and lines with a radius around them, and rims of cylinders on planes.

Feature a is the point x_a, or the line through it; so is b. With the directions e_i of the lines (none, one or two), and
d = x_a − x_b, the nearest points of the two features are

    y = d + Σ s_i e_i,    e_i·y = 0          distance = |y|,   n = y/|y|,   gap = radius − distance ≤ 0

and since y is where the distance is least, moving s changes nothing: gap_k = −n by x_a, n by x_b, −s_i n by e_i. Two lines have the
normal n = ± e₁ × e₂/|e₁ × e₂|, with the sign of the side on which a is, so that edges without a radius may pass through zero.

A rim is a circle of radius ρ about the centre c, square to the axis a. Above the plane with normal n through b,

    gap = ρ √(1 − (n·a)²) − n·(c − b).

Rims beside points, lines and other rims are in bunraku.kinematics.rim_gaps.

`feature_bend` gives the change of all pulls where the points move, as `wrapping_derivatives.bend` does for strings.
"""

from __future__ import annotations

import numpy as np

from bunraku.figure.records import LinkKind
from bunraku.kernels.compile import bare, unit, woven
from bunraku.kinematics.rim_gaps import curves_at, nearest_places, rim_bend, rim_normal
from bunraku.kinematics.wrapping import way_row
from bunraku.kinematics.wrapping_derivatives import MOVE, PULL
from bunraku.spatial.algebra import axpy3, cross, dot3, get3, put3, scale3, sub3


@woven
def along_lines(link, x, d):
    """(s₁, s₂, inverse of the Gram matrix as 11, 12, 22) of d and the directions of a link; zero where it has none."""
    k = link.first + 2
    zero = 0.0 * d[0]
    if link.count == 2:
        return zero, zero, zero, zero, zero
    e = get3(x, k)
    if link.count == 3:
        a = 1.0 / dot3(e, e)
        return -a * dot3(e, d), zero, a, zero, zero
    f = get3(x, k + 1)
    ee, ef, ff = dot3(e, e), dot3(e, f), dot3(f, f)
    scale = 1.0 / (ee * ff - ef * ef)
    a, b, c = scale * ff, -scale * ef, scale * ee
    u, v = -dot3(e, d), -dot3(f, d)
    return a * u + b * v, b * u + c * v, a, b, c


@woven
def _normal(link, x, d, s1, s2):
    """(n, distance)."""
    k = link.first + 2
    if link.count == 4:
        m = cross(get3(x, k), get3(x, k + 1))
        n = scale3(link.ratio / np.sqrt(dot3(m, m)), m)
        return n, dot3(n, d)
    y = d if link.count == 2 else axpy3(s1, get3(x, k), d)
    l = np.sqrt(dot3(y, y))
    return scale3(1.0 / (l if abs(l) > 1e-12 else l + 1e300), y), l


@bare
def feature_pulls(link, x, f):
    """f_k of every point. Returns the gap without the radius."""
    k = link.first
    d = sub3(get3(x, k), get3(x, k + 1))
    if link.kind == LinkKind.RIM and link.count > 4:
        return curve_pulls(link, x, f)
    if link.kind == LinkKind.RIM:
        a, n = get3(x, k + 2), get3(x, k + 3)
        cosine = dot3(n, a)
        sine = np.sqrt(1.0 + 1e-12 - cosine * cosine)  # a rim that lies flat has no lowest point
        lean = -link.ratio * cosine / sine
        put3(f, k, scale3(-1.0, n))
        put3(f, k + 1, n)
        put3(f, k + 2, scale3(lean, n))
        put3(f, k + 3, axpy3(lean, a, scale3(-1.0, d)))
        return link.ratio * sine - dot3(n, d)
    s1, s2, _, _, _ = along_lines(link, x, d)
    n, distance = _normal(link, x, d, s1, s2)
    put3(f, k, scale3(-1.0, n))
    put3(f, k + 1, n)
    if link.count > 2:
        put3(f, k + 2, scale3(-s1, n))
    if link.count > 3:
        put3(f, k + 3, scale3(-s2, n))
    return -distance


@woven
def curves_of(link, x):
    """(whether both features are rims, x_a − c, e, f, a, m) of a rim beside a point, a line or a rim: see rim_gaps."""
    k = link.first
    e = get3(x, k + 4)
    return link.count == 6, sub3(get3(x, k), get3(x, k + 1)), e, get3(x, k + link.count - 1), get3(x, k + 2), get3(x, k + 3)


@unit("x")
def curve_pulls(link, x, f):
    """`feature_pulls` of a rim beside a point, a line or a rim."""
    k = link.first
    rims, d, e, g, a, m = curves_of(link, x)
    s, angle = nearest_places(rims, d, e, g, a, m)
    pa, ta, pb, tb, y = curves_at(rims, d, e, g, a, m, s, angle)
    n, distance = rim_normal(link.ratio, ta, tb, y)
    put3(f, k, scale3(-1.0, n))
    put3(f, k + 1, n)
    put3(f, k + 2, scale3(-dot3(n, a), pb))
    put3(f, k + 3, scale3(0.0, n))
    put3(f, k + link.count - 1, scale3(0.0, n))
    put3(f, k + 4, scale3(dot3(n, e), pa) if rims else scale3(-s, n))
    return -distance


@unit("none")
def curve_bend(link, points, x, n):
    """`feature_bend` of a rim beside a point, a line or a rim."""
    k = link.first
    rims, d, e, g, a, m = curves_of(link, x)
    dd = sub3(_move(points, n, k), _move(points, n, k + 1))
    du, by_axis, by_line = rim_bend(rims, link.ratio, d, e, g, a, m, dd, _move(points, n, k + 4), _move(points, n, k + 2))
    put3(n, way_row(points, PULL, k), du)
    put3(n, way_row(points, PULL, k + 1), scale3(-1.0, du))
    put3(n, way_row(points, PULL, k + 2), by_axis)
    put3(n, way_row(points, PULL, k + 3), scale3(0.0, du))
    put3(n, way_row(points, PULL, k + link.count - 1), scale3(0.0, du))
    put3(n, way_row(points, PULL, k + 4), by_line)


@bare
def feature_bend(link, points, x, n):
    """PULL: how the pulls of a link change where its points move by MOVE."""
    k = link.first
    d, dd = sub3(get3(x, k), get3(x, k + 1)), sub3(_move(points, n, k), _move(points, n, k + 1))
    if link.kind == LinkKind.RIM and link.count > 4:
        curve_bend(link, points, x, n)
        return
    if link.kind == LinkKind.RIM:
        _bend_rim(link, points, x, n, d, dd)
        return
    s1, s2, a11, a12, a22 = along_lines(link, x, d)
    u, distance = _normal(link, x, d, s1, s2)
    de, df = scale3(0.0, d), scale3(0.0, d)
    e, f = de, df
    if link.count > 2:
        de, e = _move(points, n, k + 2), get3(x, k + 2)
    if link.count > 3:
        df, f = _move(points, n, k + 3), get3(x, k + 3)
    # e_i·y = 0 stays: δe_i·y + e_i·(δd + Σ s_j δe_j + Σ δs_j e_j) = 0, where y = distance · n
    fixed = axpy3(s1, de, axpy3(s2, df, dd))
    b1, b2 = -distance * dot3(de, u) - dot3(e, fixed), -distance * dot3(df, u) - dot3(f, fixed)
    ds1, ds2 = a11 * b1 + a12 * b2, a12 * b1 + a22 * b2
    if link.count == 4:  # n·e_i = 0 stays, and so does |n|
        c1, c2 = -dot3(de, u), -dot3(df, u)
        du = axpy3(a11 * c1 + a12 * c2, e, scale3(a12 * c1 + a22 * c2, f))
    else:
        y = axpy3(ds1, e, fixed)
        inverse = 1.0 / (distance if abs(distance) > 1e-12 else distance + 1e300)
        du = scale3(inverse, axpy3(-dot3(u, y), u, y))
    put3(n, way_row(points, PULL, k), scale3(-1.0, du))
    put3(n, way_row(points, PULL, k + 1), du)
    if link.count > 2:
        put3(n, way_row(points, PULL, k + 2), axpy3(-ds1, u, scale3(-s1, du)))
    if link.count > 3:
        put3(n, way_row(points, PULL, k + 3), axpy3(-ds2, u, scale3(-s2, du)))


@woven
def _move(points, n, k):
    return get3(n, way_row(points, MOVE, k))


@bare
def _bend_rim(link, points, x, n, d, dd):
    k = link.first
    a, u, da, du = get3(x, k + 2), get3(x, k + 3), _move(points, n, k + 2), _move(points, n, k + 3)
    cosine, dcosine = dot3(u, a), dot3(du, a) + dot3(u, da)
    square = 1.0 + 1e-12
    sine = np.sqrt(square - cosine * cosine)
    lean, dlean = -link.ratio * cosine / sine, -link.ratio * square * dcosine / (sine * sine * sine)
    put3(n, way_row(points, PULL, k), scale3(-1.0, du))
    put3(n, way_row(points, PULL, k + 1), du)
    put3(n, way_row(points, PULL, k + 2), axpy3(dlean, u, scale3(lean, du)))
    put3(n, way_row(points, PULL, k + 3), axpy3(dlean, a, axpy3(lean, da, scale3(-1.0, dd))))
