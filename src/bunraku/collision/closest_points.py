"""Closest points of segments, triangles, boxes and half-spaces, for kernels. Points are tuples.

A capsule is a segment with a radius; a sphere is a capsule of length zero. While the segment itself stays outside of a
convex body, the signed distance of the capsule is the distance of the segment minus the radius, also where it is negative.
"""

from __future__ import annotations

from bunraku.kernels.compile import inline
from bunraku.spatial.algebra import axpy3, cross, dot3, sub3


@inline
def clamp(x):
    return min(max(x, 0.0), 1.0)


@inline
def between_segments(a, b, c, d):
    """Closest points of the segments a–b and c–d."""
    u, v, w = sub3(b, a), sub3(d, c), sub3(a, c)
    uu, uv, vv, uw, vw = dot3(u, u), dot3(u, v), dot3(v, v), dot3(u, w), dot3(v, w)
    s = t = 0.0
    point = 1e-24  # [m²] below this squared length a segment counts as a point
    if uu <= point:
        if vv > point:
            t = clamp(vw / vv)
    elif vv <= point:
        s = clamp(-uw / uu)
    else:
        area = uu * vv - uv * uv
        if area > 1e-12 * uu * vv:  # otherwise parallel: any s will do
            s = clamp((uv * vw - vv * uw) / area)
        t = (uv * s + vw) / vv
        if t < 0.0:
            t, s = 0.0, clamp(-uw / uu)
        elif t > 1.0:
            t, s = 1.0, clamp((uv - uw) / uu)
    return axpy3(s, u, a), axpy3(t, v, c)


@inline
def _above(n, x, p0, p1, p2):
    """Whether x projects into the triangle along its normal n (of any length)."""
    if dot3(n, cross(sub3(p1, p0), sub3(x, p0))) < 0.0:
        return False
    if dot3(n, cross(sub3(p2, p1), sub3(x, p1))) < 0.0:
        return False
    return dot3(n, cross(sub3(p0, p2), sub3(x, p2))) >= 0.0


@inline
def to_triangle(a, b, p0, p1, p2, bound):
    """(squared distance, x on the segment a–b, y on the triangle) of the closest points; `bound`, also squared, if none is closer.

    A segment that passes through the triangle has the distance 0.
    """
    best, x, y = bound, a, p0
    n = cross(sub3(p1, p0), sub3(p2, p0))
    nn = dot3(n, n)
    if nn > 1e-24:  # [m⁴] the square of twice the area; below this a triangle counts as an edge
        ha, hb = dot3(n, sub3(a, p0)), dot3(n, sub3(b, p0))
        if ha * hb > 0.0:
            low = min(abs(ha), abs(hb))
            if low * low >= best * nn:
                return best, x, y
        elif ha != hb:
            crossing = axpy3(ha / (ha - hb), sub3(b, a), a)
            if _above(n, crossing, p0, p1, p2):
                return 0.0, crossing, crossing
        a_above, b_above = _above(n, a, p0, p1, p2), _above(n, b, p0, p1, p2)
        if a_above and ha * ha < best * nn:
            best, x, y = ha * ha / nn, a, axpy3(-ha / nn, n, a)
        if b_above and hb * hb < best * nn:
            best, x, y = hb * hb / nn, b, axpy3(-hb / nn, n, b)
        if a_above and b_above:
            return best, x, y  # the height over the triangle is linear along the segment: one end is the closest
    for k in range(3):
        start, end = (p0, p1) if k == 0 else (p1, p2) if k == 1 else (p2, p0)
        on_segment, on_edge = between_segments(a, b, start, end)
        gap = sub3(on_edge, on_segment)
        square = dot3(gap, gap)
        if square < best:
            best, x, y = square, on_segment, on_edge
    return best, x, y


@inline
def above_plane(a, b, n, offset):
    """(height of the lower end, lower end) of the segment a–b over the half-space n·x ≤ offset."""
    ha, hb = dot3(n, a) - offset, dot3(n, b) - offset
    return (ha, a) if ha <= hb else (hb, b)


@inline
def inverse_way(a, b):
    """1 over each component of b − a; 1e30 for components that are zero."""
    u, v, w = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    never = 1e30
    return (
        1.0 / u if abs(u) > 1e-12 else never,
        1.0 / v if abs(v) > 1e-12 else never,
        1.0 / w if abs(w) > 1e-12 else never,
    )


@inline
def meets_box(a, inverse, lo, hi, margin):
    """Whether the segment that starts in a and has this `inverse_way` enters the box lo–hi widened by `margin` (slab method)."""
    margin += 1e-12  # `inverse_way` takes smaller components as zero
    enter, leave = 0.0, 1.0
    for k in range(3):
        first, second = (lo[k] - margin - a[k]) * inverse[k], (hi[k] + margin - a[k]) * inverse[k]
        enter, leave = max(enter, min(first, second)), min(leave, max(first, second))
    return enter <= leave


@inline
def crosses(x, way, p0, p1, p2):
    """±1 if the ray from x in the direction `way` passes through the triangle, by the side that it comes from; else 0."""
    e, f = sub3(p1, p0), sub3(p2, p0)
    h = cross(way, f)
    det = dot3(e, h)
    if det == 0.0:
        return 0
    s = sub3(x, p0)
    u = dot3(s, h) / det
    if u < 0.0 or u > 1.0:
        return 0
    g = cross(s, e)
    v = dot3(way, g) / det
    if v < 0.0 or u + v > 1.0 or dot3(f, g) / det <= 0.0:
        return 0
    return 1 if det > 0.0 else -1
