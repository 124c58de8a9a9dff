"""Strings over pulleys: the length of the way, and its gradient.

A *stretch* runs from one eyelet to the next, over any number of pulleys with one axis a, or over a sphere, whose axis is
square to the plane of its centre and the two eyelets. In the plane square to a, give every circle it touches a signed
radius ρ (ρ > 0: the string turns counterclockwise about a; an eyelet has ρ = 0). The straight piece from circle i to the next,
with d = c_next − c_i in that plane and w = ρ_next − ρ_i, has the direction u, n = a × u, and the length t:

    d = t u + w n           t = √(|d|² − w²)        u = (t d − w a × d)/|d|²

since it touches each circle at c − ρ n. With ψ the angle of u, the planar length is

    L₂ = Σ t + Σ ρ (ψ_next − ψ) = Σ (t − w ψ)       δψ = n·δd/t      δt = u·δd + w δψ      δL₂ = Σ u·δd.

Along the axis the string climbs evenly (unroll the cylinder): L = √(L₂² + z²) with z = a·(end − start). With c = L₂/L,
σ = z/L, D = d + s a the way in space, and δd = δD − s δa in the turning plane,

    ∂L/∂D = c u + σ a       ∂L/∂a = Σ (σ t − c s) u + σ w n.

On a sphere, and to a drum, z does not count: c = 1, σ = 0. On a drum, L₂ goes on to the direction `onto` that is fixed in the
drum's frame: L₂ += ρ (ψ_onto − ψ). A string inside a pulley, as through a ring, bends at one point c + r e of the circle, where
|A − c − r e| + |B − c − r e| is least; there D goes to c + r e, and w = 0. See docs/strings.md.

Rows of `n` (`way_row`): of each point where a piece begins, (u, 1/t); of the first pulley's axis, (ρ, mode, c, σ); of its side,
(a, 1/L); of other pulleys' axes, (ρ, …). Layers 1 to 5 are scratch of `wrapping_derivatives`.
"""

from __future__ import annotations

import numpy as np

from bunraku.figure.records import PointRole
from bunraku.kernels.compile import bare, unit, woven
from bunraku.spatial.algebra import add3, axpy3, cross, dot3, get3, put3, scale3, sub3

STRAIGHT, CYLINDRICAL, SPHERICAL, SPOOLED = 0.0, 1.0, 2.0, 3.0  # the mode of a stretch
INSIDE = 1e-300  # ρ of a pulley that is touched from inside: not 0, and nothing beside any length


@woven
def way_row(points, layer, k):
    """The row of point k in a layer of the scratch."""
    return layer * (points.shape[0] + 1) + k


@woven
def next_eyelet(points, k):
    """The next point where the string is held in place: an eyelet or a drum."""
    e = k + 1
    while points[e].role == PointRole.CYLINDER or points[e].role == PointRole.SPHERE:
        e += 3
    return e


@woven
def next_circle(points, k, e, n):
    """The next circle after point k that the string touches, or its end e."""
    j = k + 1 if points[k].role == PointRole.EYELET else k + 3
    while j < e and n[j + 1, 0].real == 0.0:
        j += 3
    return j


@woven
def signed_radius(points, k, n):
    """ρ of a circle that is touched, of a drum, or of an eyelet."""
    return n[k + 1, 0] if points[k].role != PointRole.EYELET else n.dtype.type(0)


@woven
def touches_inside(points, h, n):
    """Whether the string of a stretch runs inside its pulley h."""
    return points[h].role != PointRole.DRUM and n[h + 1, 0].real == INSIDE


@woven
def is_plain(points, k, e):
    """Whether there is neither a pulley nor a drum between two eyelets."""
    return e == k + 1 and points[e].role == PointRole.EYELET


@unit("n")
def wrapped_pulls(link, points, x, f, n):
    """f_k of every point of a string over pulleys, and the rows of n. Returns the length of its way."""
    total = n.dtype.type(0)  # of the type of n
    for k in range(link.first, link.first + link.count):
        put3(f, k, (0.0, 0.0, 0.0))
    k = link.first
    while k < link.first + link.count - 1 and points[k].role == PointRole.EYELET:
        e = next_eyelet(points, k)
        weight = points[k].weight
        if weight != 0.0:
            if is_plain(points, k, e):
                total += weight * _straight(weight, k, e, x, f, n)
            else:
                flat = _touch(points, k, e, x, n)
                if n[k + 2, 1].real == STRAIGHT:
                    total += weight * _straight(weight, k, e, x, f, n)
                else:
                    total += weight * _curved(weight, flat, points, k, e, x, f, n)
        k = e
    return total


@bare
def _straight(weight, k, e, x, f, n):
    d = sub3(get3(x, e), get3(x, k))
    l = np.sqrt(dot3(d, d))
    inverse = 1.0 / (l if abs(l) > 1e-12 else l + 1e300)  # a segment of no length has no direction
    u = scale3(inverse, d)
    n[k, 0], n[k, 1], n[k, 2], n[k, 3] = u[0], u[1], u[2], inverse
    put3(f, k, axpy3(-weight, u, get3(f, k)))
    put3(f, e, axpy3(weight, u, get3(f, e)))
    return l


@woven
def _curved(weight, flat, points, k, e, x, f, n):
    """The length of a stretch that touches something, and its pulls; `flat` is L₂ without what lies on a drum."""
    mode, a, climb = n[k + 2, 1].real, get3(n, k + 3), 0.0 * flat
    if mode == SPOOLED:
        onto, rho = get3(x, e + 2), n[e + 1, 0]
        u, turn = _last(points, k, e, n), points[e].turn
        flat += abs(rho) * _angle(turn * dot3(a, cross(u, onto)), dot3(u, onto))
        put3(f, e + 2, scale3(weight * rho, cross(a, onto)))
    elif mode == CYLINDRICAL:
        climb = dot3(a, sub3(get3(x, e), get3(x, k)))
    inverse = 1.0 / np.sqrt(flat * flat + climb * climb)
    if mode == CYLINDRICAL:
        c, sigma = flat * inverse, climb * inverse
    else:
        c, sigma = 1.0 + 0.0 * flat, 0.0 * flat
    n[k + 2, 2], n[k + 2, 3], n[k + 3, 3] = c, sigma, inverse
    i, tilt = k, scale3(0.0, a)
    while i != e:
        j = next_circle(points, i, e, n)
        u, t, w = get3(n, i), 1.0 / n[i, 3], signed_radius(points, j, n) - signed_radius(points, i, n)
        s = dot3(a, sub3(get3(x, j), get3(x, i)))
        g = axpy3(c, u, scale3(sigma, a))
        put3(f, i, axpy3(-weight, g, get3(f, i)))
        put3(f, j, axpy3(weight, g, get3(f, j)))
        tilt = axpy3(sigma * t - c * s, u, axpy3(sigma * w, cross(a, u), tilt))
        i = j
    if mode != SPHERICAL:
        put3(f, k + 2, axpy3(weight, tilt, get3(f, k + 2)))
    return 1.0 / inverse if flat.real >= 0.0 else -1.0 / inverse  # where a string rubs, its way may end behind its beginning


@woven
def _last(points, k, e, n):
    """The direction of the last piece."""
    i = k
    while next_circle(points, i, e, n) != e:
        i = next_circle(points, i, e, n)
    return get3(n, i)


@woven
def _angle(sine, cosine):
    """Between −π and π; the arguments may be complex, with small imaginary parts: those of the sine and cosine that are left over
    after turning back by the angle of the real parts."""
    c, s = cosine.real, sine.real
    return np.arctan2(s, c) + (c * sine - s * cosine) / (c * cosine + s * sine)


@woven
def _piece(i, j, w, a, x, n):
    """(u, 1/t) of the piece from circle i to circle j. Returns t."""
    d = sub3(get3(x, j), get3(x, i))
    d = axpy3(-dot3(a, d), a, d)
    square = dot3(d, d)
    rest = square - w * w
    if rest.real < 1e-24:  # no common tangent, and nothing better to do
        rest = 0.0 * rest + 1e-24
    t = np.sqrt(rest)
    u = scale3(1.0 / (t * t + w * w), axpy3(t, d, scale3(-w, cross(a, d))))
    n[i, 0], n[i, 1], n[i, 2], n[i, 3] = u[0], u[1], u[2], 1.0 / t
    return t


@woven
def _pieces(points, k, e, x, n, a):
    """All pieces of a stretch; returns L₂ up to a drum.

    A pulley that would turn the string against its sense (of several, the worst), or inside which a neighbour lies, is not touched.
    """
    lifts = points[k + 1].turn != 0  # a pulley without a sense of its own is touched by the rule of `_sense`
    while True:
        flat, worst, where, i, before = n.dtype.type(0), 0.0, -1, k, scale3(0.0, a)
        while i != e:
            j = next_circle(points, i, e, n)
            rho = signed_radius(points, i, n)
            t = _piece(i, j, signed_radius(points, j, n) - rho, a, x, n)
            flat += t
            u = get3(n, i)
            if t.real < 1e-11 and (i != k or j != e):
                worst, where = -10.0, i if i != k else j
            if i != k:
                sense = 1.0 if rho.real > 0.0 else -1.0
                turned = _angle(sense * dot3(a, cross(before, u)), dot3(before, u))
                if turned.real < (-0.5 * np.pi if lifts else 0.0):
                    turned += 2.0 * np.pi
                if turned.real < worst and points[i].weight == 0.0:  # one with whole turns besides keeps its string
                    worst, where = turned.real, i
                flat += sense * rho * (turned + points[i].weight)
            before, i = u, j
        if where < 0:
            return flat
        n[where + 1, 0] = 0.0


@woven
def _touch(points, k, e, x, n):
    """Which circles the string touches (ρ), the axis, the mode, and all pieces. Returns L₂ up to a drum."""
    h, mode = k + 1, SPOOLED if points[e].role == PointRole.DRUM else CYLINDRICAL
    a = get3(x, h + 1)
    for c in range(h, e + 1 if mode == SPOOLED else e, 3):
        n[c + 1, 0] = points[c].turn * points[c].radius
    if points[h].turn == 0:
        A, B = sub3(get3(x, k), get3(x, h)), sub3(get3(x, e), get3(x, h))
        if points[h].role == PointRole.SPHERE:
            mode = SPHERICAL
            normal = cross(A, B)
            size = np.sqrt(dot3(normal, normal))
            a = scale3(1.0 / size, normal) if size.real > 1e-15 else _square_to(A)
        if _is_ring(points, h, x):
            n[h + 1, 0] = INSIDE if _misses(points, h, a, A, B) else 0.0
        else:
            n[h + 1, 0] = _sense(points, h, a, A, B, x) * points[h].radius
    n[h + 2, 0], n[h + 2, 1], n[h + 2, 2] = a
    flat = n.dtype.type(0)
    if touches_inside(points, h, n):
        flat = _bent_inside(points[h].radius, k, h, e, x, n, a)
    elif mode == SPOOLED or next_circle(points, k, e, n) != e:
        flat = _pieces(points, k, e, x, n, a)
    n[h + 1, 1] = mode if mode == SPOOLED or next_circle(points, k, e, n) != e else STRAIGHT
    return flat


@woven
def _square_to(A):
    """Any direction square to A."""
    x, y, z = abs(A[0].real), abs(A[1].real), abs(A[2].real)
    other = (1.0, 0.0, 0.0)
    if y <= x and y <= z:
        other = (0.0, 1.0, 0.0)
    elif z <= x and z <= y:
        other = (0.0, 0.0, 1.0)
    b = cross(A, other)
    return scale3(1.0 / np.sqrt(dot3(b, b)), b)


@woven
def _is_ring(points, h, x):
    """Whether the side point is inside the pulley."""
    d = _real(sub3(get3(x, h + 2), get3(x, h)))
    return points[h + 2].role == PointRole.SIDE and dot3(d, d) < points[h].radius * points[h].radius


@bare
def _misses(points, h, a, A, B):
    """Whether the straight way misses a ring, so that the string bends at it: both ends are outside, and so is all between."""
    r, axis = points[h].radius, _real(a)
    P, Q = _flat(axis, _real(A)), _flat(axis, _real(B))
    AA, BB, AB = dot3(P, P), dot3(Q, Q), dot3(P, Q)
    gap = AA + BB - 2.0 * AB
    share = min(max((AA - AB) / gap, 0.0), 1.0) if gap > 1e-15 else 0.0
    near = axpy3(share, sub3(Q, P), P)
    return r * r < AA and r * r < BB and dot3(near, near) > r * r and -(1.0 - 1e-15) * np.sqrt(AA * BB) < AB


@bare
def _bent_inside(r, k, h, e, x, n, a):
    """Both pieces of a string that bends at one point of a ring; returns L₂.

    With p the angle of that point from A towards B, of all G, the length is least where
    |A| sin p/|A − re| = |B| sin(G − p)/|B − re|: Newton's method between 0 and G, and twice more for imaginary parts.
    """
    A, B = _flat(a, sub3(get3(x, k), get3(x, h))), _flat(a, sub3(get3(x, e), get3(x, h)))
    da, db = np.sqrt(dot3(A, A)), np.sqrt(dot3(B, B))
    sine, cosine = dot3(a, cross(A, B)), dot3(A, B)
    sense = 1.0 if sine.real >= 0.0 else -1.0
    G = _angle(sense * sine, cosine)
    low, high, p = 0.0, G.real, 0.5 * G.real
    for _ in range(100):
        g, slope = _ring_slope(p, r, da.real, db.real, G.real)
        if g < 0.0:
            low = p
        else:
            high = p
        better = p - g / slope if slope > 0.0 else low
        if not low < better < high:
            better = 0.5 * (low + high)
        if abs(better - p) <= 1e-16 * (1.0 + abs(p)):
            break
        p = better
    exact = p + 0.0 * G
    for _ in range(2):
        g, slope = _ring_slope(exact, r, da, db, G)
        if slope.real > 0.0:
            exact = exact - g / slope
    along, across = scale3(1.0 / da, A), scale3(sense / da, cross(a, A))
    bend = add3(scale3(r * np.cos(exact), along), scale3(r * np.sin(exact), across))
    first, second = sub3(bend, A), sub3(B, bend)
    t1, t2 = np.sqrt(dot3(first, first)), np.sqrt(dot3(second, second))
    n[k, 0], n[k, 1], n[k, 2], n[k, 3] = first[0] / t1, first[1] / t1, first[2] / t1, 1.0 / t1
    n[h, 0], n[h, 1], n[h, 2], n[h, 3] = second[0] / t2, second[1] / t2, second[2] / t2, 1.0 / t2
    return t1 + t2


@bare
def _ring_slope(p, r, da, db, G):
    """The derivative of |A − re| + |B − re| by p, over r, and its derivative."""
    sa, ca, sb, cb = np.sin(p), np.cos(p), np.sin(G - p), np.cos(G - p)
    la, lb = np.sqrt(da * da + r * r - 2.0 * da * r * ca), np.sqrt(db * db + r * r - 2.0 * db * r * cb)
    ga, gb = da * sa / la, db * sb / lb
    return ga - gb, da * ca / la - r * ga * ga / la + db * cb / lb - r * gb * gb / lb


@woven
def _sense(points, h, a, A, B, x):
    """How a string from A to B (from the centre) passes one pulley: 1, −1, or 0 where it is straight. MuJoCo 4 has the same rule.

    It goes round as the way from A by the side point to B does: through the angle θ = ∠(A, side) + ∠(side, B), or through ∠(A, B)
    without a side. It touches the circle where |θ| is more than the angles from the ends to the tangent points, acos(r/|A|) +
    acos(r/|B|), whose cosine is (r² − t_A t_B)/|A||B|. |θ| > π where both parts of θ have one sign, and ∠(A, B) the other.
    """
    r, axis = points[h].radius, _real(a)
    P, Q = _flat(axis, _real(A)), _flat(axis, _real(B))
    free_P, free_Q = dot3(P, P) - r * r, dot3(Q, Q) - r * r
    apart = sub3(Q, P)
    if free_P <= 0.0 or free_Q <= 0.0 or dot3(apart, apart) < 1e-15:  # [m²] else rounding would tell the side of the same place
        return 0.0
    turn = dot3(axis, cross(P, Q))
    if points[h + 2].role == PointRole.SIDE:
        side = _real(sub3(get3(x, h + 2), get3(x, h)))
        first, second = dot3(axis, cross(P, side)), dot3(axis, cross(side, Q))
        if first * second > 0.0 and first * turn < 0.0:
            return 1.0 if first > 0.0 else -1.0
    if dot3(P, Q) >= r * r - np.sqrt(free_P * free_Q):
        return 0.0
    return 1.0 if turn > 0.0 else -1.0


@woven
def _flat(a, y):
    return axpy3(-dot3(a, y), a, y)


@woven
def _real(y):
    return y[0].real, y[1].real, y[2].real
