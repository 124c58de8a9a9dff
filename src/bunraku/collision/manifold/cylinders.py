"""Cylinders: their mantle is a segment with a radius, their ends are faces, and their rims circles.

On a plane the lowest point of a rim counts. A cylinder that stands has six fixed points of its rim instead, and its lowest one only
where these let it sink in: a rim that lies flat has no lowest point. Beside points, lines and other rims, it counts by its nearest
point, wherever that is (LinkKind.RIM).
"""

from __future__ import annotations

import math

from bunraku.collision.manifold.any_direction import along_any_direction, best_direction
from bunraku.collision.manifold.contact_rows import curve_contact, plane_contact, put_away, rim_contact
from bunraku.collision.manifold.rims import rim_across_edges, rim_across_rim
from bunraku.collision.manifold.round_features import best_face, edge_to_edge, inside_face, vertex_to_edge
from bunraku.collision.manifold.support import apart_along
from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD
from bunraku.kernels.compile import bare, unit, woven
from bunraku.spatial.algebra import axpy3, cross, dot3, get3, scale3, sub3


@woven
def _across(u):
    """A unit vector square to the unit vector u."""
    e = (1.0, 0.0, 0.0) if abs(u[0]) < 0.6 else (0.0, 1.0, 0.0)
    e = axpy3(-dot3(u, e), u, e)
    return scale3(1.0 / math.sqrt(dot3(e, e)), e)


@woven
def _toward(axis, c, x):
    """The unit vector from the centre c to x, square to the axis; and how far x is from the axis."""
    d = sub3(x, c)
    d = axpy3(-dot3(axis, d), axis, d)
    l = math.sqrt(dot3(d, d))
    return (scale3(1.0 / l, d) if l > 1e-9 else _across(axis)), l


@unit("none")
def cylinder_pair(t, world, chain, start, end, at, o, a, b, reach, polygon):
    """The cylinder a and any body b; arguments as of `pair_contacts`."""
    kind = world.kind[b]
    if kind == BODY.half_space:
        f = world.first[b, 2]
        _rims_on_plane(t, world, chain, at, o, a, b, f, get3(at.x, world.first[b, 0]), get3(at.n, f), reach, False)
        return
    if reach < 0.0 and best_direction(world, at, a, b, reach, polygon[0])[1] >= reach:
        return  # along one direction they are apart: what features say of others, to the last digit, does not count
    first = t.number[0]
    _beside_mantle(t, world, chain, at, o, a, b, reach)
    _on_ends(t, world, chain, at, o, a, b, reach)
    if kind == BODY.polytope:
        _rims_on_faces(t, world, chain, at, o, a, b, reach)
    elif kind == BODY.cylinder:
        _beside_mantle(t, world, chain, at, o, b, a, reach)
        _on_ends(t, world, chain, at, o, b, a, reach)
        _edges_over_ends(t, world, chain, at, o, a, b, reach)
        _edges_over_ends(t, world, chain, at, o, b, a, reach)
        rim_across_rim(t, world, chain, at, o, a, b, reach)
    if kind == BODY.polytope or kind == BODY.segment:
        _edges_over_ends(t, world, chain, at, o, a, b, reach)
        rim_across_edges(t, world, chain, at, o, a, b, reach)
    if t.number[0] == first and reach < 0.0:
        along_any_direction(t, world, chain, start, end, o, a, b, reach, polygon[0])
    _keep_shallow(t, world, at, first)


@bare
def _keep_shallow(t, world, at, first):
    """Of the contacts from `first` on, those along whose normals the bodies overlap much more than along another are moved away."""
    best = -math.inf
    for k in range(first, t.number[0]):
        best = max(best, apart_along(world, at, t.key[k, 0], t.key[k, 1], get3(t.normal, k)))
    if best > 0.0:
        return
    for k in range(first, t.number[0]):
        if apart_along(world, at, t.key[k, 0], t.key[k, 1], get3(t.normal, k)) < best - MANIFOLD.unlike:
            put_away(t, k)


@bare
def _rims_on_plane(t, world, chain, at, o, a, b, f, on, n, reach, bounded):
    """Both rims above a plane, as far as their lowest point is above face f, where it is `bounded`."""
    axis = get3(at.n, world.first[a, 2] + 1)
    r, cosine = world.radius[a], dot3(n, axis)
    sine = math.sqrt(max(1.0 - cosine * cosine, 0.0))
    for k in range(2):
        c = get3(at.x, world.first[a, 0] + k)
        if dot3(n, sub3(c, on)) - r * sine > reach:
            continue
        down, size = axpy3(-cosine, axis, n), sine
        low = axpy3(-r / size, down, c) if size > 1e-6 else c
        if bounded and not inside_face(world, at, f, low, 0.0):
            continue
        if abs(cosine) > MANIFOLD.standing:
            _standing(t, world, chain, at, o, a, b, f, c, axis, k, on, n)
        if abs(cosine) < MANIFOLD.standing or reach < 0.0:
            rim_contact(t, world, chain, at, o, a, b, BODY.rim + k, BODY.face + f, c, axis, r, on, n)


@bare
def _fixed_point(world, at, a, c, axis, i):
    """One of six points of the rim about c that turn with the cylinder a."""
    j = world.joint[a]
    own = (1.0, 0.0, 0.0) if j < 0 else get3(at.R[j], 0)  # any direction that turns with the cylinder
    u = axpy3(-dot3(axis, own), axis, own)
    if dot3(u, u) < 0.1:
        own = (0.0, 1.0, 0.0) if j < 0 else get3(at.R[j], 1)
        u = axpy3(-dot3(axis, own), axis, own)
    u = scale3(1.0 / math.sqrt(dot3(u, u)), u)
    s, r = math.pi * i / 3.0, world.radius[a]
    return axpy3(r * math.cos(s), u, axpy3(r * math.sin(s), cross(axis, u), c))


@bare
def _standing(t, world, chain, at, o, a, b, f, c, axis, k, on, n):
    """Six points of a rim that lies nearly flat on a plane."""
    for i in range(6):
        x = _fixed_point(world, at, a, c, axis, i)
        plane_contact(t, world, chain, at, o, a, b, BODY.rim + 10 + 6 * k + i, BODY.face + f, x, 0.0, on, n)


@bare
def _beside_mantle(t, world, chain, at, o, a, b, reach):
    """Ends and edges of b beside the mantle of the cylinder a."""
    own = world.first[a, 1]
    if world.kind[b] != BODY.cylinder:
        for v in range(world.first[b, 0], world.first[b, 0] + world.count[b, 0]):
            vertex_to_edge(t, world, chain, at, o, b, a, v, own, reach, False)
    if world.kind[b] != BODY.cylinder or a < b:  # two cylinders are looked at both ways, and have one place where mantles meet
        for e in range(world.first[b, 1], world.first[b, 1] + world.count[b, 1]):
            edge_to_edge(t, world, chain, at, o, a, b, own, e, reach)
    if world.kind[b] == BODY.cylinder:
        _rims_beside_mantle(t, world, chain, at, o, a, b, reach)


@bare
def _rims_beside_mantle(t, world, chain, at, o, a, b, reach):
    """The points of the rims of b nearest to the axis of a."""
    y, z = get3(at.x, world.first[a, 0]), get3(at.x, world.first[a, 0] + 1)
    u = sub3(z, y)
    l = math.sqrt(dot3(u, u))
    u = scale3(1.0 / l, u)
    axis = get3(at.n, world.first[b, 2] + 1)
    for k in range(2):
        c = get3(at.x, world.first[b, 0] + k)
        x = c
        s = 0.0
        for _ in range(8):
            s = dot3(u, sub3(x, y))
            x = axpy3(world.radius[b], _toward(axis, c, axpy3(s, u, y))[0], c)
        if not 0.0 < s < l:
            continue
        foot = axpy3(s, u, y)
        d = sub3(x, foot)
        away = math.sqrt(dot3(d, d))
        if away - world.radius[a] < reach and away > 1e-9:
            fa, fb, n = BODY.edge + world.first[a, 1], BODY.rim + k, scale3(-1.0 / away, d)
            curve_contact(t, world, chain, at, o, a, b, fa, fb, False, foot, u, u, world.radius[a], c, axis, sub3(x, c), n)


@bare
def _on_ends(t, world, chain, at, o, a, b, reach):
    """Points of b above the ends of the cylinder a, or beyond its rims."""
    r, rb = world.radius[a], world.radius[b]
    for k in range(2):
        f = world.first[a, 2] + k
        c, n = get3(at.x, world.first[a, 0] + k), get3(at.n, f)
        if world.kind[b] == BODY.cylinder:
            _rims_on_end(t, world, chain, at, o, a, b, f, c, n, reach)
            continue
        for v in range(world.first[b, 0], world.first[b, 0] + world.count[b, 0]):
            x = get3(at.x, v)
            height = dot3(n, sub3(x, c))
            if height - rb > reach or height < -r:
                continue
            e, away = _toward(n, c, x)
            if away <= r:
                if height > 0.0 or r - away > -height:
                    plane_contact(t, world, chain, at, o, b, a, v, BODY.face + f, x, rb, c, n)
            elif height > 0.0 and rb > 0.0:
                l = math.hypot(height, away - r)
                if l - rb < reach and l > 1e-9:
                    z = (0.0, 0.0, 0.0)
                    curve_contact(t, world, chain, at, o, b, a, v, BODY.rim + k, False, x, z, z, rb, c, n, scale3(r, e), n)


@bare
def _edges_over_ends(t, world, chain, at, o, a, b, reach):
    """Where edges of b that are nearly level, or the axis of a cylinder b, cross the rims of the cylinder a."""
    r, rb = world.radius[a], world.radius[b]
    for k in range(2):
        f = world.first[a, 2] + k
        c, n = get3(at.x, world.first[a, 0] + k), get3(at.n, f)
        for e in range(world.first[b, 1], world.first[b, 1] + world.count[b, 1]):
            y = get3(at.x, world.edges[e, 0])
            u = sub3(get3(at.x, world.edges[e, 1]), y)
            rise, d = dot3(n, u), sub3(y, c)
            if rise * rise > 0.01 * dot3(u, u) or dot3(n, d) - abs(rise) - rb > reach:
                continue
            v, d = axpy3(-rise, n, u), axpy3(-dot3(n, d), n, d)
            vv, vd = dot3(v, v), dot3(v, d)
            root = vd * vd - vv * (dot3(d, d) - r * r)
            if root <= 0.0:
                continue
            for side in range(2):
                s = (-vd - math.sqrt(root)) / vv if side == 0 else (-vd + math.sqrt(root)) / vv
                x = axpy3(s, u, y)
                height = dot3(n, sub3(x, c))
                if 0.0 < s < 1.0 and -0.1 * r < height - rb < reach:
                    plane_contact(t, world, chain, at, o, b, a, BODY.edge + e, BODY.face + f, x, rb, c, n)


@bare
def _rims_on_end(t, world, chain, at, o, a, b, f, c, n, reach):
    """Rims of the cylinder b above an end of the cylinder a."""
    axis, r = get3(at.n, world.first[b, 2] + 1), world.radius[b]
    cosine = dot3(n, axis)
    sine = math.sqrt(max(1.0 - cosine * cosine, 0.0))
    for k in range(2):
        y = get3(at.x, world.first[b, 0] + k)
        if abs(dot3(n, sub3(y, c)) - r * sine) > reach + r:
            continue
        for i in range(7 if abs(cosine) < MANIFOLD.standing or reach < 0.0 else 6):  # the lowest point of a flat rim leaps
            if i == 6:
                x = axpy3(-r / sine, axpy3(-cosine, axis, n), y) if sine > 1e-6 else y
            else:
                x = _fixed_point(world, at, b, y, axis, i)
            height = dot3(n, sub3(x, c))
            if height >= reach or height <= -0.1 * r or _toward(n, c, x)[1] > world.radius[a]:
                continue
            fb = BODY.rim + 30 + 7 * k + i
            if i == 6:
                rim_contact(t, world, chain, at, o, b, a, fb, BODY.face + f, y, axis, r, c, n)
            else:
                plane_contact(t, world, chain, at, o, b, a, fb, BODY.face + f, x, 0.0, c, n)


@bare
def _rims_on_faces(t, world, chain, at, o, a, b, reach):
    """The rims of the cylinder a above faces of the polytope b."""
    for k in range(2):
        c = get3(at.x, world.first[a, 0] + k)
        f, _ = best_face(world, at, b, c)
        n, on = get3(at.n, f), get3(at.x, world.loops[world.loop[f, 0]])
        _rims_on_plane(t, world, chain, at, o, a, b, f, on, n, reach, True)
        if k == 0 and best_face(world, at, b, get3(at.x, world.first[a, 0] + 1))[0] == f:
            break
