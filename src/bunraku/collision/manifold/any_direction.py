"""Cylinders that are in another body although no features of the two say so.

The search for places where rims meet edges and other rims may end beside them, where an edge grazes a rim. So the direction is
sought along which the two bodies are furthest apart, by their support only. If they overlap even along that, the other body must
stay beyond the plane across it, which touches the cylinder and turns with it.
"""

from __future__ import annotations

import math

from bunraku.collision.gjk import nearest_in_simplex
from bunraku.collision.manifold.contact_rows import in_joint, plane_contact
from bunraku.collision.manifold.support import apart_along
from bunraku.collision.manifold.touch_arrays import BODY
from bunraku.kernels.compile import bare, woven
from bunraku.kinematics.tree import carry
from bunraku.spatial.algebra import axpy3, dot3, get3, scale3, sub3


@woven
def _unit(d):
    return scale3(1.0 / math.sqrt(max(dot3(d, d), 1e-300)), d)


@bare
def along_any_direction(t, world, chain, start, end, o, a, b, reach, W):
    """A contact of the cylinder a and the body b, which are less than `reach` < 0 apart along every direction at the end.

    It is across the direction along which they were furthest apart at the start, which keeps them there. W is scratch of four rows.
    """
    n, _ = best_direction(world, start, a, b, math.inf, W)
    j = world.joint[a]
    if j >= 0:
        n = carry(end.R, end.p, o, j, in_joint(start, o, j, n, 0.0), 0.0)
    if apart_along(world, end, a, b, n) >= reach:
        return
    on, _ = _furthest(world, end, a, scale3(-1.0, n))
    x, v = _furthest(world, end, b, n)
    r = world.radius[b] if world.kind[b] != BODY.cylinder else 0.0
    plane_contact(t, world, chain, end, o, b, a, v, BODY.rim + 50, x, r, on, scale3(-1.0, n))


@bare
def best_direction(world, at, a, b, enough, W):
    """The direction along which a is furthest beyond b, and how far; or the first along which it is `enough`.

    The vector from one to the other, where they are nearest, is a normal of both (GJK). Bodies that are in each other have none:
    a is moved out along a direction, which gives a better one.
    """
    n, best = _first_direction(world, at, a, b)
    away = 0.0
    for _ in range(12):
        if best >= enough:
            break
        separate, m = _toward_nearest(world, at, a, b, n, away, W)
        now = apart_along(world, at, a, b, m)
        if separate and now <= best + 1e-10 and (away > 0.0 or now > 0.0):
            break
        if separate and now > best:
            n, best = m, now
        away = max(-2.0 * best, 1e-4) if separate or away == 0.0 else 2.0 * away
    return n, best


@bare
def _toward_nearest(world, at, a, b, n, away, W):
    """(whether their cores are apart, the unit vector from b to a where these are nearest), with a moved by `away` along n."""
    v, size = scale3(max(away, 1e-3), n), 0
    for _ in range(48):
        vv = dot3(v, v)
        if vv < 1e-20:
            return False, n
        u = scale3(1.0 / math.sqrt(vv), v)
        w = axpy3(away, n, sub3(_furthest(world, at, a, scale3(-1.0, u))[0], _furthest(world, at, b, u)[0]))
        if size > 0 and vv - dot3(v, w) < 1e-9 * vv:
            return True, u
        W[size, 0], W[size, 1], W[size, 2] = w
        v, bits = nearest_in_simplex(W, size + 1)
        kept = 0
        for k in range(size + 1):
            if bits >> k & 1:
                W[kept, 0], W[kept, 1], W[kept, 2] = W[k, 0], W[k, 1], W[k, 2]
                kept += 1
        size = kept
        if bits == 0 or size == 4:
            return False, n
    return True, _unit(v)


@bare
def _first_direction(world, at, a, b):
    """The best of a few directions from b to a, and how far apart they are along it."""
    between = sub3(get3(at.c, a), get3(at.c, b))
    n = _unit(between) if dot3(between, between) > 1e-18 else (0.0, 0.0, 1.0)
    best = apart_along(world, at, a, b, n)
    for body in (a, b):
        for f in range(world.first[body, 2], world.first[body, 2] + world.count[body, 2]):
            m = get3(at.n, f) if body == b else scale3(-1.0, get3(at.n, f))
            now = apart_along(world, at, a, b, m)
            if now > best:
                n, best = m, now
    return n, best


@bare
def _furthest(world, at, a, n):
    """The point of the core of body a, or of a rim, that is furthest along n, and its feature."""
    far, v = -math.inf, world.first[a, 0]
    for k in range(world.first[a, 0], world.first[a, 0] + world.count[a, 0]):
        now = dot3(n, get3(at.x, k))
        if now > far:
            far, v = now, k
    x = get3(at.x, v)
    if world.kind[a] != BODY.cylinder:
        return x, v
    axis = get3(at.n, world.first[a, 2] + 1)
    out = axpy3(-dot3(n, axis), axis, n)
    size = math.sqrt(dot3(out, out))
    return axpy3(world.radius[a] / size if size > 1e-9 else 0.0, out, x), BODY.rim + 51
