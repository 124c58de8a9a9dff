"""Writes a contact as rows: its normal, two slips where it rubs, two turns where it resists rolling."""

from __future__ import annotations

import math

from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD
from bunraku.figure.records import LinkKind, PointRole
from bunraku.kernels.compile import bare, woven
from bunraku.kinematics.rim_gaps import curves_at, nearest_places, rim_normal
from bunraku.kinematics.tree import carry
from bunraku.spatial.algebra import axpy3, cross, dot3, scale3, sub3


@woven
def in_joint(placed, o, j, x, w):
    """A point (w = 1) or direction (w = 0) of the world in the axes of joint j."""
    if j < 0:
        return x[0] + w * o[0], x[1] + w * o[1], x[2] + w * o[2]
    y = (x[0] - w * placed.p[j, 0], x[1] - w * placed.p[j, 1], x[2] - w * placed.p[j, 2])
    R = placed.R
    return (
        R[j, 0, 0] * y[0] + R[j, 0, 1] * y[1] + R[j, 0, 2] * y[2],
        R[j, 1, 0] * y[0] + R[j, 1, 1] * y[1] + R[j, 1, 2] * y[2],
        R[j, 2, 0] * y[0] + R[j, 2, 1] * y[1] + R[j, 2, 2] * y[2],
    )


@woven
def _put_point(point, placed, o, j, x, w):
    y = in_joint(placed, o, j, x, w)
    point.position[0], point.position[1], point.position[2] = y[0], y[1], y[2]


@bare
def add_point(t, placed, o, j, x, w):
    """One more point of the last row."""
    k = t.number[2]
    t.number[2] += 1
    point = t.points[k]
    point.joint, point.is_point, point.role, point.turn, point.radius, point.weight = j, w, PointRole.EYELET, 0, 0.0, 1.0
    _put_point(point, placed, o, j, x, w)
    t.links[t.number[1] - 1].count += 1


@woven
def _repeat_point(t, i):
    """One more point of the last row, like point i."""
    k = t.number[2]
    t.number[2] += 1
    point, other = t.points[k], t.points[i]
    point.joint, point.is_point, point.role, point.turn, point.radius, point.weight = (
        other.joint, other.is_point, PointRole.EYELET, 0, 0.0, 1.0,
    )  # fmt: skip
    for s in range(3):
        point.position[s] = other.position[s]
    t.links[t.number[1] - 1].count += 1


@bare
def add_link(t, kind, pulls, normal, length, ratio, friction):
    """One more row, still without points."""
    c = t.number[1]
    t.number[1] += 1
    link = t.links[c]
    link.kind, link.first, link.count, link.pulls, link.variable, link.normal = kind, t.number[2], 0, pulls, -1, normal
    link.length, link.ratio, link.friction, link.stiffness, link.damping, link.frequency = length, ratio, friction, 0.0, 0.0, 0.0


@bare
def has_room(t):
    """Whether one more contact fits. Where it does not, t.number[3] says so."""
    fits = t.number[0] + 1 < t.key.shape[0] and t.number[1] + 5 <= t.links.shape[0] and t.number[2] + 22 <= t.points.shape[0]
    if not fits:
        t.number[3] = 1
    return fits


@bare
def begin_contact(t, a, b, fa, fb):
    """One more contact, of features fa and fb of bodies a and b."""
    k = t.number[0]
    t.number[0] += 1
    t.key[k, 0], t.key[k, 1], t.key[k, 2], t.key[k, 3] = a, b, fa, fb
    t.head[k] = t.number[1]
    t.speed[k], t.plane[k] = 0.0, -1
    t.stick[t.number[1]] = 0.0


@woven
def _along(n):
    """Two unit vectors square to n and to each other."""
    u = (1.0, 0.0, 0.0) if abs(n[0]) < 0.6 else (0.0, 1.0, 0.0)
    u = axpy3(-dot3(n, u), n, u)
    u = scale3(1.0 / math.sqrt(dot3(u, u)), u)
    return u, cross(n, u)


@bare
def end_contact(t, world, chain, placed, o, a, b, x, y, n):
    """Slips and turns of the contact that was begun, at the point x of a and y of b with the normal n from b to a.

    Directions along the surface turn with b: bodies that turn together do not slip, and friction keeps their angular momentum.
    """
    k = t.number[0] - 1
    normal = t.head[k]
    t.normal[k, 0], t.normal[k, 1], t.normal[k, 2] = n[0], n[1], n[2]
    ja, jb = world.joint[a], world.joint[b]
    friction, rolling = world.matter[a, b, 0], world.matter[a, b, 3]
    u, v = _along(n)
    if friction > 0.0:
        first = t.number[2]
        add_link(t, LinkKind.SLIP, 0, normal, 0.0, 1.0, friction)
        add_point(t, placed, o, ja, x, 1.0)
        add_point(t, placed, o, jb, y, 1.0)
        add_point(t, placed, o, jb, u, 0.0)
        add_point(t, placed, o, jb, n, 0.0)
        add_point(t, placed, o, ja, n, 0.0)
        add_link(t, LinkKind.SLIP, 0, normal, 0.0, 1.0, friction)
        for i in range(5):  # the same points, along the other direction
            _repeat_point(t, first + i)
        _put_point(t.points[first + 7], placed, o, jb, v, 0.0)
        for c in range(normal + 1, normal + 3):
            t.links[c].count = 3  # the other two are for `share_planes`
    if rolling > 0.0 and friction > 0.0:
        for side in range(2):  # v·n changes by the angle about u
            add_link(t, LinkKind.SLIP, 0, normal, 0.0, 1.0, rolling)
            add_point(t, placed, o, ja, v if side == 0 else u, 0.0)
            add_point(t, placed, o, -1, (0.0, 0.0, 0.0), 0.0)
            add_point(t, placed, o, jb, n, 0.0)
    t.head[k + 1] = t.number[1]
    _put_support(t, chain, ja, jb, normal)
    for c in range(normal + 1, t.number[1]):  # the same joints move all of them
        for s in range(t.support[normal, 0] + 1):
            t.support[c, s] = t.support[normal, s]


@bare
def rub_from(t, world, placed, o, k):
    """Makes friction of contact k act where its features are nearest as they are `placed`: at the start of the step."""
    c, a, b = t.head[k], t.key[k, 0], t.key[k, 1]
    if t.head[k + 1] - c < 3:
        return
    found, x, y, n = _nearest(t, world, placed, o, k)
    if not found:
        return
    ja, jb = world.joint[a], world.joint[b]
    u, v = _along(n)
    for i in range(t.head[k + 1] - c - 1):
        first = t.links[c + 1 + i].first
        if i < 2:  # slips, in their own plane again
            t.links[c + 1 + i].count, t.links[c + 1 + i].length = 3, 0.0
            t.points[first].joint = t.points[first + 4].joint = ja
            t.points[first + 1].joint = t.points[first + 2].joint = t.points[first + 3].joint = jb
            _put_point(t.points[first], placed, o, ja, x, 1.0)
            _put_point(t.points[first + 1], placed, o, jb, y, 1.0)
            _put_point(t.points[first + 2], placed, o, jb, u if i == 0 else v, 0.0)
            _put_point(t.points[first + 3], placed, o, jb, n, 0.0)
            _put_point(t.points[first + 4], placed, o, ja, n, 0.0)
        else:  # turns
            _put_point(t.points[first], placed, o, ja, v if i == 2 else u, 0.0)
            _put_point(t.points[first + 2], placed, o, jb, n, 0.0)


@bare
def _nearest(t, world, placed, o, k):
    """(whether they are defined, the nearest points of both bodies of contact k as it is `placed`, the normal from b to a)."""
    link, a, b = t.links[t.head[k]], t.key[k, 0], t.key[k, 1]
    ra = world.radius[a] if t.key[k, 2] < BODY.rim else 0.0
    rb = world.radius[b] if t.key[k, 3] < BODY.rim else 0.0
    x, y, e = placed_point(t, placed, o, link, 0), placed_point(t, placed, o, link, 1), (0.0, 0.0, 0.0)
    f = e
    if link.count > 2:
        e = placed_point(t, placed, o, link, 2)
    if link.count > 3:
        f = placed_point(t, placed, o, link, 3)
    d = sub3(x, y)
    if link.kind == LinkKind.PLANE:
        n = scale3(-1.0, e)
        return True, axpy3(-ra, n, x), axpy3(-dot3(n, d) - ra, n, x), n
    if link.kind == LinkKind.RIM and link.count == 4:
        down = axpy3(-dot3(f, e), e, f)
        size = math.sqrt(dot3(down, down))
        low = axpy3(-link.ratio / max(size, 1e-6), down, x)
        return size > 1e-6, low, axpy3(dot3(f, sub3(y, low)), f, low), f
    if link.kind == LinkKind.RIM:
        rims, g, h = link.count == 6, placed_point(t, placed, o, link, 4), placed_point(t, placed, o, link, link.count - 1)
        s, angle = nearest_places(rims, d, g, h, e, f)
        pa, ta, pb, tb, away = curves_at(rims, d, g, h, e, f, s, angle)
        n, far = rim_normal(link.ratio, ta, tb, away)
        return abs(far) < MANIFOLD.away, axpy3(-ra, n, axpy3(1.0, pa, x)), axpy3(1.0, pb, y), n
    ee, ef, ff = dot3(e, e), dot3(e, f), dot3(f, f)
    if link.count == 4:
        m = cross(e, f)
        size = math.sqrt(dot3(m, m))
        scale, n = 1.0 / max(size * size, 1e-300), scale3(link.ratio / max(size, 1e-300), m)
        u, v = -dot3(e, d), -dot3(f, d)
        x, y = axpy3(scale * (ff * u - ef * v), e, x), axpy3(-scale * (ee * v - ef * u), f, y)
        return size > MANIFOLD.parallel, axpy3(-ra, n, x), axpy3(rb, n, y), n
    if link.count == 3 and BODY.edge <= t.key[k, 2] < BODY.face:
        x = axpy3(-dot3(e, d) / ee, e, x)
    elif link.count == 3:
        y = axpy3(dot3(e, d) / ee, e, y)
    d = sub3(x, y)
    size = math.sqrt(dot3(d, d))
    n = scale3(1.0 / max(size, 1e-300), d)
    return size > 1e-9, axpy3(-ra, n, x), axpy3(rb, n, y), n


@woven
def placed_point(t, placed, o, link, i):
    """Point i of a link in the world, or a direction."""
    point = t.points[link.first + i]
    return carry(placed.R, placed.p, o, point.joint, point.position, point.is_point)


@bare
def _put_support(t, chain, ja, jb, c):
    """All joints that move either body, lowest first."""
    a, b = chain[ja, 0] if ja >= 0 else 0, chain[jb, 0] if jb >= 0 else 0
    count = 0
    while a > 0 or b > 0:
        x = chain[ja, a] if a > 0 else 1 << 60
        y = chain[jb, b] if b > 0 else 1 << 60
        count += 1
        t.support[c, count] = min(x, y)
        if x <= y:
            a -= 1
        if y <= x:
            b -= 1
    t.support[c, 0] = count


@bare
def plane_contact(t, world, chain, placed, o, a, b, fa, fb, x, r, on, n):
    """The point x of body a, with a radius r, above the plane through `on` of body b with normal n."""
    if not has_room(t):
        return
    begin_contact(t, a, b, fa, fb)
    add_link(t, LinkKind.PLANE, 1, -1, 0.0, 1.0, 0.0)
    add_point(t, placed, o, world.joint[a], x, 1.0)
    add_point(t, placed, o, world.joint[b], axpy3(r, n, on), 1.0)
    add_point(t, placed, o, world.joint[b], scale3(-1.0, n), 0.0)
    height = dot3(n, x) - dot3(n, on)
    foot = axpy3(-height, n, x)
    end_contact(t, world, chain, placed, o, a, b, axpy3(-r, n, x), foot, n)


@bare
def rim_contact(t, world, chain, placed, o, a, b, fa, fb, c, axis, r, on, n):
    """The rim of radius r about c of body a, square to its axis, above the plane through `on` of body b with normal n."""
    if not has_room(t):
        return
    begin_contact(t, a, b, fa, fb)
    add_link(t, LinkKind.RIM, 1, -1, 0.0, r, 0.0)
    add_point(t, placed, o, world.joint[a], c, 1.0)
    add_point(t, placed, o, world.joint[b], on, 1.0)
    add_point(t, placed, o, world.joint[a], axis, 0.0)
    add_point(t, placed, o, world.joint[b], n, 0.0)
    down = axpy3(-dot3(n, axis), axis, n)
    size = math.sqrt(dot3(down, down))
    x = axpy3(-r / size, down, c) if size > 1e-6 else c
    foot = axpy3(dot3(n, on) - dot3(n, x), n, x)
    end_contact(t, world, chain, placed, o, a, b, x, foot, n)


@bare
def feature_contact(t, world, chain, placed, o, a, b, fa, fb, xa, xb, lines, ea, eb, ra, rb, x, y, n):
    """Features of a and b, at the points xa and xb, with 0, 1 or 2 lines; x and y are where they are nearest, n from b to a.

    ra and rb are the radii around them. One line is that of b along eb, unless `lines` is −1: that of a along ea.
    """
    if not has_room(t):
        return
    r = ra + rb
    begin_contact(t, a, b, fa, fb)
    side = 1.0
    if lines == 2:
        side = 1.0 if dot3(cross(ea, eb), n) > 0.0 else -1.0
    add_link(t, LinkKind.FEATURES, 1, -1, r, side, 0.0)
    add_point(t, placed, o, world.joint[a], xa, 1.0)
    add_point(t, placed, o, world.joint[b], xb, 1.0)
    if lines == 2 or lines == -1:
        add_point(t, placed, o, world.joint[a], ea, 0.0)
    if lines > 0:
        add_point(t, placed, o, world.joint[b], eb, 0.0)
    end_contact(t, world, chain, placed, o, a, b, axpy3(-ra, n, x), axpy3(rb, n, y), n)


@bare
def curve_contact(t, world, chain, placed, o, a, b, fa, fb, rims, xa, e, f, r, c, axis, m, n):
    """The rim of body b about c, with its axis and a point c + m near where it touches; and a feature of body a with a radius r.

    That is the line through xa along e, the point xa where e is zero; or, for two `rims`, the rim about xa with the axis e and the
    start f. n is about the normal from b to a. Rims and lines without a radius must not be parallel there.
    """
    if not has_room(t):
        return
    d = sub3(xa, c)
    s, angle = nearest_places(rims, d, e, f, axis, m)
    pa, ta, pb, tb, y = curves_at(rims, d, e, f, axis, m, s, angle)
    side = 0.0
    if r == 0.0:
        side = 1.0 if dot3(cross(ta, tb), n) > 0.0 else -1.0
    u, _ = rim_normal(side, ta, tb, y)
    begin_contact(t, a, b, fa, fb)
    add_link(t, LinkKind.RIM, 1, -1, r, side, 0.0)
    add_point(t, placed, o, world.joint[a], xa, 1.0)
    add_point(t, placed, o, world.joint[b], c, 1.0)
    add_point(t, placed, o, world.joint[b], axis, 0.0)
    add_point(t, placed, o, world.joint[b], m, 0.0)
    add_point(t, placed, o, world.joint[a], e, 0.0)
    if rims:
        add_point(t, placed, o, world.joint[a], f, 0.0)
    end_contact(t, world, chain, placed, o, a, b, axpy3(-r, u, axpy3(1.0, pa, xa)), axpy3(1.0, pb, c), u)


@bare
def part_by(t, c, by):
    """Makes the two bodies of row c stay apart by a length."""
    link = t.links[c]
    if link.kind == LinkKind.PLANE:
        on, down = t.points[link.first + 1].position, t.points[link.first + 2].position
        for i in range(3):
            on[i] -= by * down[i]
    else:
        link.length += by


@bare
def put_away(t, k):
    """Moves contact k, which is none, away."""
    part_by(t, t.head[k], -MANIFOLD.away)
    t.plane[k] = MANIFOLD.is_away
