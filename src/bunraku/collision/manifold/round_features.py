"""Features of round bodies (points and segments with a radius) that are near others, at one configuration.

Each feature of one body keeps its distance from each of the other: an end from an end, an end from the inside of an edge or face,
the inside of an edge from that of another. That is true of every such pair, so all that are near become contacts.
"""

from __future__ import annotations

import math

from bunraku.collision.closest_points import between_segments
from bunraku.collision.manifold.contact_rows import feature_contact, plane_contact
from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD
from bunraku.kernels.compile import bare, unit, woven
from bunraku.spatial.algebra import axpy3, cross, dot3, get3, scale3, sub3


@woven
def _unit(d):
    l = math.sqrt(dot3(d, d))
    return scale3(1.0 / max(l, 1e-300), d), l


@woven
def _on_line(x, y, z):
    """Where the point x is beside the segment from y to z, as a share of it."""
    u = sub3(z, y)
    return dot3(sub3(x, y), u) / max(dot3(u, u), 1e-300)


@bare
def vertex_to_vertex(t, world, chain, at, o, a, b, va, vb, reach):
    x, y = get3(at.x, va), get3(at.x, vb)
    n, l = _unit(sub3(x, y))
    if l - world.radius[a] - world.radius[b] < reach and l > 1e-9:
        feature_contact(t, world, chain, at, o, a, b, va, vb, x, y, 0, n, n, world.radius[a], world.radius[b], x, y, n)


@bare
def vertex_to_edge(t, world, chain, at, o, a, b, va, e, reach, turned):
    """The vertex va of a beside the inside of edge e of b; their roles are the other way round where `turned`."""
    x, y, z = get3(at.x, va), get3(at.x, world.edges[e, 0]), get3(at.x, world.edges[e, 1])
    s = _on_line(x, y, z)
    if not 0.0 < s < 1.0:
        return
    u = sub3(z, y)
    foot = axpy3(s, u, y)
    n, l = _unit(sub3(x, foot))
    if l - world.radius[a] - world.radius[b] < reach and l > 1e-9:
        u = _unit(u)[0]
        if turned:
            n = scale3(-1.0, n)
            feature_contact(
                t, world, chain, at, o, b, a, BODY.edge + e, va, foot, x, -1, u, u, world.radius[b], world.radius[a], foot, x, n
            )
        else:
            feature_contact(
                t, world, chain, at, o, a, b, va, BODY.edge + e, x, foot, 1, u, u, world.radius[a], world.radius[b], x, foot, n
            )


@bare
def edge_to_edge(t, world, chain, at, o, a, b, ea, eb, reach):
    """The insides of two edges that are not parallel."""
    x0, x1 = get3(at.x, world.edges[ea, 0]), get3(at.x, world.edges[ea, 1])
    y0, y1 = get3(at.x, world.edges[eb, 0]), get3(at.x, world.edges[eb, 1])
    u, v = _unit(sub3(x1, x0))[0], _unit(sub3(y1, y0))[0]
    m = cross(u, v)
    if dot3(m, m) < MANIFOLD.parallel * MANIFOLD.parallel:
        return
    x, y = between_segments(x0, x1, y0, y1)
    n, l = _unit(sub3(x, y))
    if l - world.radius[a] - world.radius[b] > reach or l < 1e-9:
        return
    s, r = _on_line(x, x0, x1), _on_line(y, y0, y1)
    if 0.0 < s < 1.0 and 0.0 < r < 1.0:
        feature_contact(
            t,
            world,
            chain,
            at,
            o,
            a,
            b,
            BODY.edge + ea,
            BODY.edge + eb,
            x,
            y,
            2,
            u,
            v,
            world.radius[a],
            world.radius[b],
            x,
            y,
            n,
        )


@unit("none")
def round_pair(t, world, chain, at, o, a, b, reach):
    """Two points or segments."""
    va, na, vb, nb = world.first[a, 0], world.count[a, 0], world.first[b, 0], world.count[b, 0]
    ea, eb = world.first[a, 1], world.first[b, 1]
    for i in range(na):
        for j in range(nb):
            vertex_to_vertex(t, world, chain, at, o, a, b, va + i, vb + j, reach)
        if nb == 2:
            vertex_to_edge(t, world, chain, at, o, a, b, va + i, eb, reach, False)
    if na == 2:
        for j in range(nb):
            vertex_to_edge(t, world, chain, at, o, b, a, vb + j, ea, reach, True)
        if nb == 2:
            edge_to_edge(t, world, chain, at, o, a, b, ea, eb, reach)


@woven
def inside_face(world, at, f, x, slack):
    """Whether the point x is above or below face f, or beside it by less than `slack` [m]."""
    n, first, count = get3(at.n, f), world.loop[f, 0], world.loop[f, 1]
    for k in range(count):
        y = get3(at.x, world.loops[first + k])
        z = get3(at.x, world.loops[first + (k + 1) % count])
        side = cross(n, sub3(z, y))  # points inward
        if dot3(side, sub3(x, y)) < -slack * math.sqrt(dot3(side, side)):
            return False
    return True


@bare
def best_face(world, at, b, x):
    """The face of polytope b that the point x is highest above, and how high."""
    best, height = -1, -math.inf
    for f in range(world.first[b, 2], world.first[b, 2] + world.count[b, 2]):
        h = dot3(get3(at.n, f), sub3(x, get3(at.x, world.loops[world.loop[f, 0]])))
        if h > height:
            best, height = f, h
    return best, height


@unit("none")
def round_to_polytope(t, world, chain, at, o, a, b, reach):
    """A point or segment beside a polytope."""
    r = world.radius[a]
    for i in range(world.count[a, 0]):
        v = world.first[a, 0] + i
        x = get3(at.x, v)
        f, height = best_face(world, at, b, x)
        if height - r > reach:
            continue
        if height <= 0.0 or inside_face(world, at, f, x, 0.0):
            on = get3(at.x, world.loops[world.loop[f, 0]])
            plane_contact(t, world, chain, at, o, a, b, v, BODY.face + f, x, r, on, get3(at.n, f))
            continue
        for e in range(world.first[b, 1], world.first[b, 1] + world.count[b, 1]):
            vertex_to_edge(t, world, chain, at, o, a, b, v, e, reach, False)
        for w in range(world.first[b, 0], world.first[b, 0] + world.count[b, 0]):
            vertex_to_vertex(t, world, chain, at, o, a, b, v, w, reach)
    if world.kind[a] == BODY.segment:
        own = world.first[a, 1]
        for e in range(world.first[b, 1], world.first[b, 1] + world.count[b, 1]):
            edge_to_edge(t, world, chain, at, o, a, b, own, e, reach)
        for w in range(world.first[b, 0], world.first[b, 0] + world.count[b, 0]):
            vertex_to_edge(t, world, chain, at, o, b, a, w, own, reach, True)


@bare
def above_half_space(t, world, chain, at, o, a, b, reach):
    """Vertices of a that are near the half-space b."""
    f = world.first[b, 2]
    n, y = get3(at.n, f), get3(at.x, world.first[b, 0])
    for v in range(world.first[a, 0], world.first[a, 0] + world.count[a, 0]):
        x = get3(at.x, v)
        if dot3(n, sub3(x, y)) - world.radius[a] < reach:
            plane_contact(t, world, chain, at, o, a, b, v, BODY.face + f, x, world.radius[a], y, n)
