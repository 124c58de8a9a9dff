"""Strings that lie on round bodies: the shortest way from one point to another around spheres and capsules.

On a capsule with the axis a and the radius r, such a way is a straight piece to a point T₁, a geodesic, and a straight piece
from T₂. On the mantle a geodesic is a helix of slope m (unrolled, a straight line); on a cap it is a great circle. Where it
crosses the circle between cap and mantle with the slope m, it has come round the axis, from where the end of the string sees it, by

    δ = asin(tan β / m)                     β: latitude of that end, seen from the centre of the cap

since on a sphere tan(latitude) = m sin(longitude) along a great circle. So with tA, tB the tangents of ends that reach the
mantle itself, αA, αB the angles that these cover (cos α = r/ρ), and φ the angle from end to end about the axis, m gives all of it:

    m·H(m) = Δz             H(m) = r (|φ| − δ or α of A − δ or α of B) + (tA) + (tB)

where Δz is the height that the way climbs on the mantle and along such tangents. The left side grows with m.

The string pulls at its ends along its straight pieces, and on the body by the same at T₁ and T₂: how the geodesic between them
moves does not change the length, for it is the shortest. So ∂length/∂A = −u₁, at T₁ +u₁, at T₂ −u₂, ∂length/∂B = u₂.

Points of such a link: A; of every body both ends of its core, T₁ and T₂, which are found here; B. The radius is that of the first
point of a body, whose weight is φ at the start of the step: strings keep the side on which they lie. See docs/touch.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bunraku.kernels.compile import bare, kernel, unit
from bunraku.spatial.algebra import add3, axpy3, cross, dot3, get3, put3, scale3, sub3


class DrapingOptions(NamedTuple):
    """Numbers that tune how ways around bodies are found."""

    sweeps: int = 60
    """Times that each body of a way is looked at, at most."""
    accuracy: float = 1e-14
    """How far T₁ and T₂ may still move [m]."""
    iterations: int = 100
    """Newton steps and halvings for the slope m, at most."""


DRAPING = DrapingOptions()


@bare
def _norm(v):
    return math.sqrt(dot3(v, v))


@bare
def winding(A, B, p0, p1, near):
    """The angle from A to B about the axis of a capsule from p0 to p1, of all that differ by 2π the one next to `near` [rad]."""
    a = sub3(p1, p0)
    size = _norm(a)
    if size < 1e-12:
        return 0.0
    a = scale3(1.0 / size, a)
    P, Q = sub3(A, p0), sub3(B, p0)
    P, Q = axpy3(-dot3(a, P), a, P), axpy3(-dot3(a, Q), a, Q)
    raw = math.atan2(dot3(a, cross(P, Q)), dot3(P, Q))
    return raw + 2.0 * math.pi * math.floor((near - raw) / (2.0 * math.pi) + 0.5)


@bare
def core_distance(A, B, p0, p1):
    """(distance, where on the core from 0 to 1) of the segment from A to B and the core from p0 to p1."""
    d, e, r = sub3(B, A), sub3(p1, p0), sub3(A, p0)
    dd, ee, er, dr, de = dot3(d, d), dot3(e, e), dot3(e, r), dot3(d, r), dot3(d, e)
    s, t = 0.0, 0.0
    if ee < 1e-24:
        s = min(max(-dr / dd, 0.0), 1.0) if dd > 0.0 else 0.0
    else:
        rest = dd * ee - de * de
        if rest > 1e-14 * dd * ee:
            s = min(max((de * er - dr * ee) / rest, 0.0), 1.0)
        t = (de * s + er) / ee
        if t < 0.0 or t > 1.0:
            t = min(max(t, 0.0), 1.0)
            s = min(max((t * de - dr) / dd, 0.0), 1.0) if dd > 0.0 else 0.0
    y = sub3(axpy3(s, d, A), axpy3(t, e, p0))
    return _norm(y), t


@kernel
def segment_distance(A, B, C, D):
    """The distance of the segments from A to B and from C to D."""
    return core_distance(A, B, C, D)[0]


@bare
def _toward(D, C, angle):
    """The direction D (unit), turned by an angle towards C."""
    e = axpy3(-dot3(D, C), D, C)
    size = _norm(e)
    if size < 1e-15:
        e = cross(D, (1.0, 0.0, 0.0)) if abs(D[0]) < 0.7 else cross(D, (0.0, 1.0, 0.0))
        size = _norm(e)
    return axpy3(math.sin(angle) / size, e, scale3(math.cos(angle), D))


@bare
def _between(D, C):
    """The angle between two directions."""
    x = cross(D, C)
    return math.atan2(_norm(x), dot3(D, C))


@bare
def _on_sphere(A, B, c, r):
    """(whether it touches, T₁, T₂, arc) of a string over a sphere; T relative to the centre c."""
    D, E = sub3(A, c), sub3(B, c)
    d, e = _norm(D), _norm(E)
    if d <= r or e <= r:
        return False, D, E, 0.0
    D, E = scale3(1.0 / d, D), scale3(1.0 / e, E)
    first, last = math.acos(r / d), math.acos(r / e)
    arc = _between(D, E) - first - last
    if arc <= 0.0:
        return False, D, E, 0.0
    return True, scale3(r, _toward(D, E, first)), scale3(r, _toward(E, D, last)), r * arc


@bare
def _first_turn(r, least, other, run, rise):
    """δ of the end with the larger tan β, `least`, where m·H(m) = rise with m = least/sin δ; the other end has `other`, or 0.

    `run` is H without what lies on caps, and with all of φ. Times sin δ, what has to be zero decreases up to a quarter turn.
    """
    low, high = 0.0, 0.5 * math.pi
    if _excess(r, least, other, run, rise, high) > 0.0:  # more than a quarter turn is on that cap
        for k in range(1, 65):
            low, high = high, 0.5 * math.pi * (1.0 + k / 64.0)
            if _excess(r, least, other, run, rise, high) <= 0.0:
                break
    turn = 0.5 * (low + high)
    for _ in range(DRAPING.iterations):
        x = other * math.sin(turn) / least
        value = _excess(r, least, other, run, rise, turn)
        if value > 0.0:
            low = turn
        else:
            high = turn
        slope = -least * r - math.cos(turn) * (rise + r * other / math.sqrt(max(1.0 - x * x, 1e-300)))
        better = turn - value / slope if slope < 0.0 else low
        if not low < better < high:
            better = 0.5 * (low + high)
        if abs(better - turn) <= 1e-16:
            break
        turn = better
    return turn


@bare
def _excess(r, least, other, run, rise, turn):
    """sin δ (m·H(m) − rise) at δ = turn."""
    sine = math.sin(turn)
    return least * (run - r * (turn + math.asin(min(other * sine / least, 1.0)))) - rise * sine


@bare
def capsule_way(A, B, p0, p1, r, before):
    """(0 past it, 1 on the mantle, 2 on a cap; T₁, T₂; arc; φ) of the string from A to B past a capsule, with φ next to `before`.

    Where there is no way on that side, because the string has slipped over an end, it is on the other.
    """
    a, zero = sub3(p1, p0), (0.0, 0.0, 0.0)
    size = _norm(a)
    away, where = core_distance(A, B, p0, p1)
    phi = winding(A, B, p0, p1, before)
    if away >= r and not (abs(phi) > math.pi and 0.0 < where < 1.0):
        return 0, zero, zero, 0.0, phi
    if core_distance(A, A, p0, p1)[0] <= r or core_distance(B, B, p0, p1)[0] <= r:
        return 0, zero, zero, 0.0, phi  # an end is in it: no string can go round
    if size < 1e-12:
        on, first, last, arc = _on_sphere(A, B, p0, r)
        return (2 if on else 0), add3(p0, first), add3(p0, last), arc, phi
    a = scale3(1.0 / size, a)
    kind, first, last, arc = _past(A, B, p0, a, size, r, phi)
    if kind == 0 and away < r:
        phi = winding(A, B, p0, p1, 0.0)
        kind, first, last, arc = _past(A, B, p0, a, size, r, phi)
    return kind, first, last, arc, phi


@bare
def _past(A, B, p0, a, size, r, phi):
    """The same with this φ."""
    if dot3(a, sub3(B, A)) < 0.0:  # so that it climbs from A to B
        kind, last, first, arc = _climb(B, A, p0, a, size, r, -phi)
    else:
        kind, first, last, arc = _climb(A, B, p0, a, size, r, phi)
    return kind, first, last, arc


@bare
def _climb(A, B, p0, a, size, r, phi):
    """The same for a string that does not descend along the axis a; the core begins at p0 and has this size."""
    P, Q, p1 = sub3(A, p0), sub3(B, p0), axpy3(size, a, p0)
    za, zb = dot3(a, P), dot3(a, Q)
    on, first, last, arc = _on_sphere(A, B, p0, r)
    if on and dot3(a, first) <= 0.0 and dot3(a, last) <= 0.0:
        return 2, add3(p0, first), add3(p0, last), arc
    on, first, last, arc = _on_sphere(A, B, p1, r)
    if on and dot3(a, first) >= 0.0 and dot3(a, last) >= 0.0:
        return 2, add3(p1, first), add3(p1, last), arc
    flat_a, flat_b = axpy3(-za, a, P), axpy3(-zb, a, Q)
    ra, rb = _norm(flat_a), _norm(flat_b)
    ex = scale3(1.0 / ra, flat_a) if ra > 1e-15 else _toward(a, (0.6, 0.8, 0.0), 0.5 * math.pi)
    ey = cross(a, ex)
    sense, best = (1.0 if phi > 0.0 else -1.0), math.inf
    cap_a, cap_b, turn_a, turn_b, m = False, False, 0.0, 0.0, 0.0
    for caps in range(4):  # which ends come over a cap
        on_a, on_b = caps % 2 == 1, caps >= 2
        if (on_a and za >= 0.0) or (on_b and zb <= size) or (not on_a and ra <= r) or (not on_b and rb <= r):
            continue
        wrong, one, two, slope = _bends(ra, za, rb, zb, size, r, abs(phi), on_a, on_b)
        if wrong < best:
            best, cap_a, cap_b, turn_a, turn_b, m = wrong, on_a, on_b, one, two, slope
        if best <= 0.0:
            break
    low, high = (0.0 if cap_a else za), (size if cap_b else zb)
    ta, tb = (0.0 if cap_a else math.sqrt(ra * ra - r * r)), (0.0 if cap_b else math.sqrt(rb * rb - r * r))
    run = r * (abs(phi) - turn_a - turn_b)
    rise = high - low - (ta + tb) * m
    if run < 0.0:
        return 0, P, Q, 0.0
    total = math.sqrt(run * run + rise * rise)
    at, end = sense * turn_a, phi - sense * turn_b
    C = add3(scale3(r * math.cos(at), ex), scale3(r * math.sin(at), ey))
    E = add3(scale3(r * math.cos(end), ex), scale3(r * math.sin(end), ey))
    if cap_a:
        T, arc = _cap_end(P, C, r)
        first, total = add3(p0, T), total + arc
    else:
        first = add3(p0, axpy3(za + ta * m, a, C))
    if cap_b:
        T, arc = _cap_end(axpy3(-size, a, Q), E, r)
        last, total = add3(p1, T), total + arc
    else:
        last = add3(p0, axpy3(zb - tb * m, a, E))
    return 1, first, last, total


@bare
def _bends(ra, za, rb, zb, size, r, phi, on_a, on_b):
    """(how wrong it is, angles that the ends cover, slope) of a way whose ends come over a cap (on) or not."""
    low, high = (0.0 if on_a else za), (size if on_b else zb)
    lat_a, lat_b = (-za / max(ra, 1e-15) if on_a else 0.0), ((zb - size) / max(rb, 1e-15) if on_b else 0.0)
    ta, tb = (0.0 if on_a else math.sqrt(ra * ra - r * r)), (0.0 if on_b else math.sqrt(rb * rb - r * r))
    cover_a, cover_b = (math.acos(r / ra) if ra > r else 0.0), (math.acos(r / rb) if rb > r else 0.0)
    turn_a, turn_b = (0.0 if on_a else cover_a), (0.0 if on_b else cover_b)
    run = r * (phi - turn_a - turn_b) + ta + tb
    if lat_a > 0.0 or lat_b > 0.0:
        least, other = max(lat_a, lat_b), min(lat_a, lat_b)
        turn = _first_turn(r, least, other, run, high - low)
        m, rest = least / math.sin(turn), math.asin(min(other * math.sin(turn) / least, 1.0))
        turn_a = (turn if lat_a >= lat_b else rest) if on_a else turn_a
        turn_b = (rest if lat_a >= lat_b else turn) if on_b else turn_b
    else:
        m = (high - low) / max(run, 1e-300)
    wrong_a = cover_a - turn_a if on_a else -(za + ta * m) / r
    wrong_b = cover_b - turn_b if on_b else (zb - tb * m - size) / r
    return max(wrong_a, wrong_b, 0.0), turn_a, turn_b, m


@bare
def _cap_end(P, C, r):
    """(T, arc) from an end P to the point C on the circle between cap and mantle, both from the cap's centre."""
    d = _norm(P)
    if d <= r:
        return C, 0.0
    D, tangent = scale3(1.0 / d, P), math.acos(r / d)
    arc = _between(D, scale3(1.0 / r, C)) - tangent
    if arc <= 0.0:
        return C, 0.0
    return scale3(r, _toward(D, scale3(1.0 / r, C), tangent)), r * arc


@bare
def _real(y):
    return y[0].real, y[1].real, y[2].real


@bare
def drape(link, points, x, f):
    """The way of a string past its bodies: writes T₁ and T₂ into x. Returns the sum of the arcs.

    f of the first end of each core: (kind as of capsule_way, φ, 0). Bodies are looked at in turn, each between the places where the
    string leaves its neighbours, until nothing moves any more.
    """
    first, last = link.first, link.first + link.count - 1
    for k in range(first + 1, last, 4):
        put3(f, k, (0.0, 0.0, 0.0))
    total = 0.0
    for sweep in range(DRAPING.sweeps):
        total, moved, touching = 0.0, 0.0, 0
        for k in range(first + 1, last, 4):
            p0, p1, r = _real(get3(x, k)), _real(get3(x, k + 1)), points[k].radius
            A, B = _real(get3(x, _before(first, k, x, f, p0, p1, r))), _real(get3(x, _behind(last, k, x, f, p0, p1, r)))
            kind, T1, T2, arc, phi = capsule_way(A, B, p0, p1, r, points[k].weight)
            if kind > 0:
                touching += 1
                total += arc
                if f[k, 0].real > 0.0:
                    moved = max(moved, _norm(sub3(T1, _real(get3(x, k + 2)))), _norm(sub3(T2, _real(get3(x, k + 3)))))
                else:
                    moved = 1.0
                put3(x, k + 2, T1)
                put3(x, k + 3, T2)
            elif f[k, 0].real > 0.0:
                moved = 1.0
            put3(f, k, (float(kind), phi, 0.0))
        if moved <= DRAPING.accuracy or (touching <= 1 and sweep > 0 and moved < 1.0):
            break
    return total


@bare
def _is_inside(x, i, p0, p1, r):
    """Whether point i is in a capsule."""
    X = _real(get3(x, i))
    return core_distance(X, X, p0, p1)[0] < r


@bare
def _before(first, k, x, f, p0, p1, r):
    """Where the string comes from before body k: the end of the last body that it touches, or its own.

    Where that is in body k, because the two bodies overlap, the beginning of that body.
    """
    for j in range(k - 4, first, -4):
        if f[j, 0].real > 0.0:
            for i in (j + 3, j + 2):
                if not _is_inside(x, i, p0, p1, r):
                    return i
    return first


@bare
def _behind(last, k, x, f, p0, p1, r):
    """Where the string goes to behind body k."""
    for j in range(k + 4, last, 4):
        if f[j, 0].real > 0.0:
            for i in (j + 2, j + 3):
                if not _is_inside(x, i, p0, p1, r):
                    return i
    return last


@unit("x")
def draped_pulls(link, points, x, f):
    """f_k of every point of a string that may lie on bodies. Returns the length of its way."""
    first, last = link.first, link.first + link.count - 1
    total, here = drape(link, points, x, f), first
    put3(f, first, (0.0, 0.0, 0.0))
    for k in range(first + 1, last + 1, 4):
        to = k + 2 if k < last else last
        if k == last or f[k, 0].real > 0.0:
            d = sub3(_real(get3(x, to)), _real(get3(x, here)))
            l = _norm(d)
            total += l
            u = scale3(1.0 / l, d) if l > 1e-12 else (0.0, 0.0, 0.0)
            put3(f, here, axpy3(-1.0, u, _real(get3(f, here))))
            put3(f, to, u)
            here = k + 3
            if k < last:
                put3(f, here, (0.0, 0.0, 0.0))
        else:
            put3(f, k + 2, (0.0, 0.0, 0.0))
            put3(f, k + 3, (0.0, 0.0, 0.0))
    for k in range(first + 1, last, 4):
        put3(f, k, (0.0, 0.0, 0.0))
        put3(f, k + 1, (0.0, 0.0, 0.0))
    return total
