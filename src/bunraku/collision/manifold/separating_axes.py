"""Two polytopes: the axis along which they stay apart longest in a step, and the contacts across it.

An axis separates two convex bodies where one is beyond the other along it. Candidates are the normals of faces and the products of
edges. Seen at both ends of a step, each axis is lost at some moment; the last one to be lost is the one that they collide across.
"""

from __future__ import annotations

import math

from bunraku.collision.manifold.contact_rows import feature_contact, plane_contact
from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD
from bunraku.kernels.compile import bare, unit, woven
from bunraku.kinematics.tree import carry
from bunraku.spatial.algebra import axpy3, cross, dot3, get3, scale3, sub3


@woven
def _least(world, at, b, n):
    """The least n·x of the vertices of b."""
    least = math.inf
    for v in range(world.first[b, 0], world.first[b, 0] + world.count[b, 0]):
        least = min(least, dot3(n, get3(at.x, v)))
    return least


@woven
def _score(apart, then):
    """How long an axis separates: above 1 to the end of the step and beyond, 0…1 part of it, below 0 not at all."""
    if apart < -MANIFOLD.reach:
        return apart - 1.0
    if then >= 0.0:
        return 1.0 + then
    return max(apart, 0.0) / (max(apart, 0.0) - then) if apart >= 0.0 else apart


@woven
def _face_apart(world, at, f, b):
    n = get3(at.n, f)
    return _least(world, at, b, n) - dot3(n, get3(at.x, world.loops[world.loop[f, 0]]))


@bare
def _edge_axis(world, at, o, a, b, i, j):
    """(n from a to b, how far apart they are along it) for directions i of a and j of b; −∞ where they are parallel."""
    u = carry(at.R, at.p, o, world.joint[a], world.axes[i], 0.0)
    v = carry(at.R, at.p, o, world.joint[b], world.axes[j], 0.0)
    m = cross(u, v)
    l = math.sqrt(dot3(m, m))
    if l < MANIFOLD.parallel:
        return m, -math.inf
    n = scale3(1.0 / l, m)
    if dot3(n, sub3(get3(at.c, b), get3(at.c, a))) < 0.0:
        n = scale3(-1.0, n)
    back = scale3(-1.0, n)
    return n, _least(world, at, b, n) + _least(world, at, a, back)


@bare
def best_axis(world, start, end, o, a, b):
    """(score, kind, i, j, how far apart at `end`) of the best axis: kind 0 a face i of a, 1 a face i of b, 2 directions i and j."""
    best, kind, first, second, apart = -math.inf, 0, 0, 0, 0.0
    for side in range(2):
        own, other = (a, b) if side == 0 else (b, a)
        for f in range(world.first[own, 2], world.first[own, 2] + world.count[own, 2]):
            before, then = _face_apart(world, start, f, other), _face_apart(world, end, f, other)
            score = _score(before, then)
            if score > best:
                best, kind, first, apart = score, side, f, then
    for i in range(world.first[a, 3], world.first[a, 3] + world.count[a, 3]):
        for j in range(world.first[b, 3], world.first[b, 3] + world.count[b, 3]):
            _, before = _edge_axis(world, start, o, a, b, i, j)
            _, then = _edge_axis(world, end, o, a, b, i, j)
            if before == -math.inf or then == -math.inf:
                continue
            score = _score(before, then)
            if score > best + MANIFOLD.face_bias:
                best, kind, first, second, apart = score, 2, i, j, then
    return best, kind, first, second, apart


@unit("none")
def polytope_pair(t, world, chain, start, end, at, o, a, b, reach, polygon):
    """Contacts across the axis that two polytopes lose last from `start` to `end`, for features placed `at` one of them."""
    _, kind, i, j, apart = best_axis(world, start, end, o, a, b)
    if apart > reach:
        return
    if kind == 2 and reach < 0.0 and not _supported(world, at, o, a, b, i, j):  # other features are further along it now
        _, kind, i, j, apart = best_axis(world, end, end, o, a, b)
    if kind == 2:
        _cross_edges(t, world, chain, at, o, a, b, i, j)
    else:
        own, other = (a, b) if kind == 0 else (b, a)
        _on_face(t, world, chain, at, o, own, other, i, reach, polygon)


@bare
def _supporting_edge(world, at, o, a, i, n):
    """The edge of a along its direction i that is furthest along n."""
    u = world.axes[i]
    best, far = -1, -math.inf
    for e in range(world.first[a, 1], world.first[a, 1] + world.count[a, 1]):
        y, z = world.edges[e, 0], world.edges[e, 1]
        w = sub3(
            (world.vertices[z, 0], world.vertices[z, 1], world.vertices[z, 2]),
            (world.vertices[y, 0], world.vertices[y, 1], world.vertices[y, 2]),
        )
        m = cross((u[0], u[1], u[2]), w)
        if dot3(m, m) < 1e-12 * dot3(w, w):
            x = 0.5 * (dot3(n, get3(at.x, y)) + dot3(n, get3(at.x, z)))
            if x > far:
                best, far = e, x
    return best


@bare
def _supported(world, at, o, a, b, i, j):
    """Whether edges along the directions i of a and j of b are those that are furthest along their axis."""
    n, apart = _edge_axis(world, at, o, a, b, i, j)
    if apart == -math.inf:
        return False
    e, f = _supporting_edge(world, at, o, a, i, n), _supporting_edge(world, at, o, b, j, scale3(-1.0, n))
    return dot3(n, sub3(get3(at.x, world.edges[f, 0]), get3(at.x, world.edges[e, 0]))) < apart + 1e-9


@bare
def _cross_edges(t, world, chain, at, o, a, b, i, j):
    """One contact between the edges that are nearest along the axis."""
    n, _ = _edge_axis(world, at, o, a, b, i, j)
    e, f = _supporting_edge(world, at, o, a, i, n), _supporting_edge(world, at, o, b, j, scale3(-1.0, n))
    x, y = get3(at.x, world.edges[e, 0]), get3(at.x, world.edges[f, 0])
    u, v = sub3(get3(at.x, world.edges[e, 1]), x), sub3(get3(at.x, world.edges[f, 1]), y)
    uu, uv, vv = dot3(u, u), dot3(u, v), dot3(v, v)
    d = sub3(y, x)
    scale = 1.0 / (uu * vv - uv * uv)
    s = scale * (vv * dot3(u, d) - uv * dot3(v, d))
    r = scale * (uv * dot3(u, d) - uu * dot3(v, d))
    s, r = min(max(s, 0.0), 1.0), min(max(r, 0.0), 1.0)
    x, y = axpy3(s, u, x), axpy3(r, v, y)
    u, v = scale3(1.0 / math.sqrt(uu), u), scale3(1.0 / math.sqrt(vv), v)
    feature_contact(t, world, chain, at, o, a, b, BODY.edge + e, BODY.edge + f, x, y, 2, u, v, 0.0, 0.0, x, y, scale3(-1.0, n))


@bare
def _facing(world, at, b, n):
    """The face of b that looks most against n."""
    best, least = world.first[b, 2], math.inf
    for f in range(world.first[b, 2], world.first[b, 2] + world.count[b, 2]):
        x = dot3(n, get3(at.n, f))
        if x < least:
            best, least = f, x
    return best


@bare
def _on_face(t, world, chain, at, o, b, a, f, reach, polygon):
    """Points of the face of a that looks at face f of b, clipped to what is above face f."""
    n, on = get3(at.n, f), get3(at.x, world.loops[world.loop[f, 0]])
    g = _facing(world, at, a, n)
    count, now = world.loop[g, 1], 0
    for k in range(count):
        v = world.loops[world.loop[g, 0] + k]
        polygon[0, k, 0], polygon[0, k, 1], polygon[0, k, 2], polygon[0, k, 3] = at.x[v, 0], at.x[v, 1], at.x[v, 2], float(v)
    sides = world.loop[f, 1]
    for k in range(sides):
        y = get3(at.x, world.loops[world.loop[f, 0] + k])
        z = get3(at.x, world.loops[world.loop[f, 0] + (k + 1) % sides])
        count = _clip(polygon, now, count, y, cross(n, sub3(z, y)), k)
        now = 1 - now
    least = math.inf
    for k in range(count):
        x = (polygon[now, k, 0], polygon[now, k, 1], polygon[now, k, 2])
        height = dot3(n, sub3(x, on))
        if height < reach + MANIFOLD.reach:
            plane_contact(t, world, chain, at, o, a, b, int(polygon[now, k, 3]), BODY.face + f, x, 0.0, on, n)
            least = min(least, height)
    if count == 0 or (reach < 0.0 and least > _least(world, at, a, n) - dot3(n, on) + MANIFOLD.max_depth):
        _lowest(t, world, chain, at, o, a, b, f, n, on)  # what is lowest is beside the face


@bare
def _lowest(t, world, chain, at, o, a, b, f, n, on):
    best, low = world.first[a, 0], math.inf
    for v in range(world.first[a, 0], world.first[a, 0] + world.count[a, 0]):
        h = dot3(n, get3(at.x, v))
        if h < low:
            best, low = v, h
    plane_contact(t, world, chain, at, o, a, b, best, BODY.face + f, get3(at.x, best), 0.0, on, n)


@bare
def _clip(polygon, now, count, y, inward, side):
    """The part of a polygon on the inner side of a plane through y. Returns how many vertices it has."""
    out, then = 0, 1 - now
    for k in range(count):
        i = (k + 1) % count
        x = (polygon[now, k, 0], polygon[now, k, 1], polygon[now, k, 2])
        z = (polygon[now, i, 0], polygon[now, i, 1], polygon[now, i, 2])
        hx, hz = dot3(inward, sub3(x, y)), dot3(inward, sub3(z, y))
        if hx >= 0.0 and out < 63:
            for c in range(4):
                polygon[then, out, c] = polygon[now, k, c]
            out += 1
        if (hx >= 0.0) != (hz >= 0.0) and out < 63:
            s = hx / (hx - hz)
            for c in range(3):
                polygon[then, out, c] = polygon[now, k, c] + s * (polygon[now, i, c] - polygon[now, k, c])
            polygon[then, out, 3] = BODY.corner * (side + 1.0) + polygon[now, k, 3]  # a number that is the same in the next step
            out += 1
    return out
