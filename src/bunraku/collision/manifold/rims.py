"""Rims of cylinders across edges and across other rims.

Where a rim touches an edge, the normal is square to both. Along all normals square to the edge, the one is sought along which the
two bodies are furthest apart: a search over one angle. For two rims that is done for the tangents of both, in turn. There the two
curves must stay apart (bunraku.kinematics.rim_gaps); where they are nearly parallel, the other body must stay beyond the plane
across that normal, which touches the cylinder at its rim.
"""

from __future__ import annotations

import math

from bunraku.collision.manifold.contact_rows import curve_contact, plane_contact
from bunraku.collision.manifold.support import apart_along
from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD
from bunraku.kernels.compile import bare, woven
from bunraku.spatial.algebra import axpy3, cross, dot3, get3, scale3, sub3


@woven
def _unit(d):
    return scale3(1.0 / math.sqrt(max(dot3(d, d), 1e-300)), d)


@woven
def _parallel(u, v):
    """Whether two unit vectors are nearly parallel."""
    m = cross(u, v)
    return dot3(m, m) < MANIFOLD.grazing * MANIFOLD.grazing


@bare
def _best_about(world, at, a, b, u):
    """The unit vector square to the unit vector u along which a is furthest beyond b."""
    p = (1.0, 0.0, 0.0) if abs(u[0]) < 0.6 else (0.0, 1.0, 0.0)
    p = _unit(axpy3(-dot3(u, p), u, p))
    s = cross(u, p)
    count, best, angle = 24, -math.inf, 0.0
    for i in range(count):
        x = 2.0 * math.pi * i / count
        now = apart_along(world, at, a, b, axpy3(math.cos(x), p, scale3(math.sin(x), s)))
        if now > best:
            best, angle = now, x
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    low, high = angle - 2.0 * math.pi / count, angle + 2.0 * math.pi / count
    x, y = high - golden * (high - low), low + golden * (high - low)
    fx = apart_along(world, at, a, b, axpy3(math.cos(x), p, scale3(math.sin(x), s)))
    fy = apart_along(world, at, a, b, axpy3(math.cos(y), p, scale3(math.sin(y), s)))
    for _ in range(36):
        if fx > fy:
            high, y, fy = y, x, fx
            x = high - golden * (high - low)
            fx = apart_along(world, at, a, b, axpy3(math.cos(x), p, scale3(math.sin(x), s)))
        else:
            low, x, fx = x, y, fy
            y = low + golden * (high - low)
            fy = apart_along(world, at, a, b, axpy3(math.cos(y), p, scale3(math.sin(y), s)))
    x = 0.5 * (low + high)
    return axpy3(math.cos(x), p, scale3(math.sin(x), s))


@bare
def _rim_point(world, at, a, n):
    """(whether n meets a rim of the cylinder a, which, the point of it furthest along n, the tangent there)."""
    axis = get3(at.n, world.first[a, 2] + 1)
    cosine = dot3(n, axis)
    sine = math.sqrt(max(1.0 - cosine * cosine, 0.0))
    k = 1 if cosine > 0.0 else 0
    c = get3(at.x, world.first[a, 0] + k)
    out = scale3(1.0 / sine if sine > 1e-6 else 0.0, axpy3(-cosine, axis, n))
    return min(abs(cosine), sine) > 1e-3, k, axpy3(world.radius[a], out, c), cross(axis, out)


@bare
def rim_across_edges(t, world, chain, at, o, a, b, reach):
    """The rims of the cylinder a across edges of b."""
    rb = world.radius[b]
    for e in range(world.first[b, 1], world.first[b, 1] + world.count[b, 1]):
        y = get3(at.x, world.edges[e, 0])
        w = sub3(get3(at.x, world.edges[e, 1]), y)
        length = math.sqrt(dot3(w, w))
        u = scale3(1.0 / length, w)
        n = _best_about(world, at, a, b, u)
        apart = apart_along(world, at, a, b, n)
        meets, k, x, tangent = _rim_point(world, at, a, scale3(-1.0, n))
        if apart > reach or not meets:
            continue
        gap = dot3(n, sub3(x, y)) - rb  # of the rim above the edge: another feature of b may be higher
        share = dot3(u, sub3(x, y)) / length
        foot = axpy3(share, w, y)
        aside = dot3(cross(u, n), sub3(x, foot))  # where other features of b limit n, the rim is not above the edge
        if gap - apart < 1e-7 and 0.0 < share < 1.0 and abs(aside) < 1e-5:
            c, axis = get3(at.x, world.first[a, 0] + k), get3(at.n, world.first[a, 2] + 1)
            if rb > 0.0 or not _parallel(u, tangent):
                back, m, fa, fb = scale3(-1.0, n), sub3(x, c), BODY.edge + e, BODY.rim + k
                curve_contact(t, world, chain, at, o, b, a, fa, fb, False, foot, u, u, rb, c, axis, m, back)
                continue
            plane_contact(t, world, chain, at, o, b, a, BODY.edge + e, BODY.rim + k, foot, rb, x, scale3(-1.0, n))


@bare
def rim_across_rim(t, world, chain, at, o, a, b, reach):
    """A rim of the cylinder a across one of the cylinder b."""
    best, n = -math.inf, (0.0, 0.0, 1.0)
    for start in range(3):
        m = _unit(sub3(get3(at.c, a), get3(at.c, b)))
        if start > 0:
            axis = get3(at.n, world.first[a if start == 1 else b, 2] + 1)
            m = axis if dot3(axis, m) > 0.0 else scale3(-1.0, axis)
        for turn in range(12):
            own, sign = (a, -1.0) if turn % 2 == 0 else (b, 1.0)
            _, _, _, tangent = _rim_point(world, at, own, scale3(sign, m))
            if dot3(tangent, tangent) < 0.5:
                break
            m = _best_about(world, at, a, b, _unit(tangent))
        now = apart_along(world, at, a, b, m)
        if now > best:
            best, n = now, m
    one, i, x, s = _rim_point(world, at, a, scale3(-1.0, n))
    other, j, y, r = _rim_point(world, at, b, n)
    d = sub3(x, y)
    aside = axpy3(-dot3(n, d), n, d)
    if best < reach and one and other and dot3(aside, aside) < 1e-8:
        if not _parallel(r, s):
            c, axis = get3(at.x, world.first[a, 0] + i), get3(at.n, world.first[a, 2] + 1)
            d, own, back = get3(at.x, world.first[b, 0] + j), get3(at.n, world.first[b, 2] + 1), scale3(-1.0, n)
            fa, fb, f, m = BODY.rim + j, BODY.rim + i, sub3(y, d), sub3(x, c)
            curve_contact(t, world, chain, at, o, b, a, fa, fb, True, d, own, f, 0.0, c, axis, m, back)
            return
        plane_contact(t, world, chain, at, o, b, a, BODY.rim + j, BODY.rim + i, y, 0.0, x, scale3(-1.0, n))
