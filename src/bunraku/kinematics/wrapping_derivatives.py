"""Second and third derivatives of the ways of strings over pulleys.

With the names of `wrapping`, let the points move by δx: D by δD, the axis by δa. Seen in the plane, d moves by y = δD − s δa, and

    δψ = n·y/t        δu = n δψ − a (u·δa)        δt = u·y + w δψ        δs = δa·D + a·δD
    δL₂ = Σ u·y       δz = Σ δs                   δL = c δL₂ + σ δz      δc = (δL₂ − c δL)/L      δσ = (δz − σ δL)/L

give the change δf of all pulls (`bend`): the Hessian of the length times δx. On a ring, D ends at c + r e and moves with e. A
link's second derivative by joints i above j is then

    gap_ij = Σ_k ω_i·(x_k × δf_k + δx_k × f_k) + w_k v_i·δf_k        over the points that i carries, with δ along q_j:

S_i on the tangent of the wrench (x × f, f). Third derivatives, along one direction, are tangents of these lines; `u1` is the change
of u along that direction, and `du1` that of δu.
"""

from __future__ import annotations

from bunraku.figure.records import PointRole
from bunraku.kernels.compile import bare, woven
from bunraku.kinematics.wrapping import (
    CYLINDRICAL,
    SPHERICAL,
    SPOOLED,
    STRAIGHT,
    is_plain,
    next_circle,
    next_eyelet,
    signed_radius,
    touches_inside,
    way_row,
)
from bunraku.spatial.algebra import add3, axpy3, cross, dot3, get3, put3, scale3, sub3

STATE, MOVE, PULL, MOVE_TANGENT, PULL_TANGENT = 1, 2, 3, 4, 5  # layers of n


@woven
def _add(n, k, s, y):
    put3(n, k, axpy3(s, y, get3(n, k)))


@woven
def _between(points, layer, n, i, j):
    """How the way from point i to point j moves."""
    return sub3(get3(n, way_row(points, layer, j)), get3(n, way_row(points, layer, i)))


@woven
def is_straight(points, k, e, n):
    """Whether the stretch from eyelet k to eyelet e touches nothing."""
    return is_plain(points, k, e) or n[k + 2, 1].real == STRAIGHT


@bare
def bend(link, points, x, n):
    """PULL: how the pulls of a link change where its points move by MOVE. Leaves the changes of u, t, (c, σ), (a, 1/L) in STATE."""
    for k in range(link.first, link.first + link.count):
        put3(n, way_row(points, PULL, k), (0.0, 0.0, 0.0))
    k = link.first
    while k < link.first + link.count - 1 and points[k].role == PointRole.EYELET:
        e = next_eyelet(points, k)
        if points[k].weight != 0.0:
            if is_straight(points, k, e, n):
                _bend_straight(points, k, e, n)
            else:
                _bend_curved(points, k, e, x, n)
        k = e


@bare
def _bend_straight(points, k, e, n):
    u, y = get3(n, k), _between(points, MOVE, n, k, e)
    du, weight = scale3(n[k, 3], axpy3(-dot3(u, y), u, y)), points[k].weight
    put3(n, way_row(points, STATE, k), du)
    _add(n, way_row(points, PULL, k), -weight, du)
    _add(n, way_row(points, PULL, e), weight, du)


@bare
def axis_change(points, k, e, x, n, a):
    """δa: of the axis as it is carried, or of the normal of the plane through a sphere's centre: a = m/|m|, m = A × B."""
    if n[k + 2, 1].real != SPHERICAL:
        return get3(n, way_row(points, MOVE, k + 2))
    A, B = sub3(get3(x, k), get3(x, k + 1)), sub3(get3(x, e), get3(x, k + 1))
    dm = add3(cross(_between(points, MOVE, n, k + 1, k), B), cross(A, _between(points, MOVE, n, k + 1, e)))
    return scale3(1.0 / _size(a, A, B), axpy3(-dot3(a, dm), a, dm))


@woven
def _size(a, A, B):
    size = dot3(a, cross(A, B))
    return size if abs(size) > 1e-15 else size + 1e300  # no plane: any will do, and it stays


@bare
def _bend_curved(points, k, e, x, n):
    mode, a, c, sigma, inverse = n[k + 2, 1].real, get3(n, k + 3), n[k + 2, 2], n[k + 2, 3], n[k + 3, 3]
    da = axis_change(points, k, e, x, n, a)
    ring = _ring(points, k, x, n, a)
    dp = _ring_turn(points, k, e, x, n, a, da, ring)
    dring = _ring_change(a, da, ring, dp)
    dflat, dz, i = 0.0 * inverse, 0.0 * inverse, k
    while i != e:
        j = next_circle(points, i, e, n)
        y, du, dt, ds = piece_change(points, i, j, x, n, a, da, ring, dring)
        dflat += dot3(get3(n, i), y)
        dz += ds
        at = way_row(points, STATE, i)
        put3(n, at, du)
        n[at, 3] = dt
        i = j
    if mode == SPOOLED:
        dflat += n[e + 1, 0] * dot3(cross(a, get3(x, e + 2)), get3(n, way_row(points, MOVE, e + 2)))
    if mode != CYLINDRICAL:
        dz = 0.0 * dz
    dL = c * dflat + sigma * dz
    dc, dsigma = inverse * (dflat - c * dL), inverse * (dz - sigma * dL)
    if mode != CYLINDRICAL:
        dc = 0.0 * dc
    at = way_row(points, STATE, k + 2)
    n[at, 0], n[at, 2], n[at, 3] = dp, dc, dsigma
    at = way_row(points, STATE, k + 3)
    put3(n, at, da)
    n[at, 3] = -inverse * inverse * dL
    weight, tilt, i = points[k].weight, scale3(0.0, a), k
    while i != e:
        j = next_circle(points, i, e, n)
        u, t, w = get3(n, i), 1.0 / n[i, 3], signed_radius(points, j, n) - signed_radius(points, i, n)
        _, du, dt, ds = piece_change(points, i, j, x, n, a, da, ring, dring)
        dg = add3(axpy3(dc, u, scale3(c, du)), axpy3(dsigma, a, scale3(sigma, da)))
        _add(n, way_row(points, PULL, i), -weight, dg)
        _add(n, way_row(points, PULL, j), weight, dg)
        s = dot3(a, sub3(get3(x, j), get3(x, i)))
        tilt = axpy3(dsigma * t + sigma * dt - dc * s - c * ds, u, axpy3(sigma * t - c * s, du, tilt))
        dn = add3(cross(da, u), cross(a, du))
        tilt = axpy3(dsigma * w, cross(a, u), axpy3(sigma * w, dn, tilt))
        i = j
    if mode != SPHERICAL:
        _add(n, way_row(points, PULL, k + 2), weight, tilt)
    if mode == SPOOLED:
        onto, donto = get3(x, e + 2), get3(n, way_row(points, MOVE, e + 2))
        _add(n, way_row(points, PULL, e + 2), weight * n[e + 1, 0].real, add3(cross(da, onto), cross(a, donto)))


@woven
def _ends(points, i, j):
    """1 for a piece that ends at a pulley, −1 for one that begins there, 0 for one that does both or neither."""
    here = points[i].role == PointRole.CYLINDER or points[i].role == PointRole.SPHERE
    there = points[j].role == PointRole.CYLINDER or points[j].role == PointRole.SPHERE
    return (1.0 if there else 0.0) - (1.0 if here else 0.0)


@bare
def _ring(points, k, x, n, a):
    """r e of the ring of a stretch; zero where there is none."""
    h = k + 1
    if not touches_inside(points, h, n):
        return scale3(0.0, a)
    to = axpy3(1.0 / n[k, 3], get3(n, k), sub3(get3(x, k), get3(x, h)))
    return axpy3(-dot3(a, to), a, to)


@woven
def _ring_change(a, da, ring, dp):
    """r δe, of e that turns by δp about a: δe = a × e δp − a (e·δa)."""
    return axpy3(dp, cross(a, ring), scale3(-dot3(ring, da), a))


@bare
def _ring_turn(points, k, e, x, n, a, da, ring):
    """δp on a ring. There m·(u₁ − u₂) = 0 with m = a × e; that stays so if, with y of pieces to and from the centre c,

    δp (r (m·n₁)²/t₁ + r (m·n₂)²/t₂ − e·(u₁ − u₂)) = (m·n₂)(n₂·y₂)/t₂ − (m·n₁)(n₁·y₁)/t₁        (times r in code)
    """
    h, zero = k + 1, scale3(0.0, a)
    if not touches_inside(points, h, n):
        return n.dtype.type(0)
    m, u1, u2 = cross(a, ring), get3(n, k), get3(n, h)
    m1, m2 = dot3(m, cross(a, u1)), dot3(m, cross(a, u2))
    y1, _, _, _ = piece_change(points, k, h, x, n, a, da, zero, zero)
    y2, _, _, _ = piece_change(points, h, e, x, n, a, da, zero, zero)
    stiff = m1 * m1 * n[k, 3] + m2 * m2 * n[h, 3] - dot3(ring, sub3(u1, u2))
    return (m2 * dot3(cross(a, u2), y2) * n[h, 3] - m1 * dot3(cross(a, u1), y1) * n[k, 3]) / stiff


@bare
def piece_change(points, i, j, x, n, a, da, ring, dring):
    """y, δu, δt, δs of the piece from circle i to circle j."""
    D, dD, u, on = sub3(get3(x, j), get3(x, i)), _between(points, MOVE, n, i, j), get3(n, i), _ends(points, i, j)
    D, dD = axpy3(on, ring, D), axpy3(on, dring, dD)
    y = axpy3(-dot3(a, D), da, dD)
    normal = cross(a, u)
    dpsi = dot3(normal, y) * n[i, 3]
    du = axpy3(dpsi, normal, scale3(-dot3(u, da), a))
    w = signed_radius(points, j, n) - signed_radius(points, i, n)
    return y, du, dot3(u, y) + w * dpsi, dot3(da, D) + dot3(a, dD)


# -- third derivatives -----------------------------------------------------------------------------------------------


@bare
def bend_tangent(link, points, x, dx, n):
    """PULL_TANGENT: how PULL changes along a direction in which the points move by dx, and MOVE by MOVE_TANGENT.

    STATE is what `bend` left there along that direction, and PULL what it leaves along MOVE.
    """
    for k in range(link.first, link.first + link.count):
        put3(n, way_row(points, PULL, k), (0.0, 0.0, 0.0))
        put3(n, way_row(points, PULL_TANGENT, k), (0.0, 0.0, 0.0))
    k = link.first
    while k < link.first + link.count - 1 and points[k].role == PointRole.EYELET:
        e = next_eyelet(points, k)
        if points[k].weight != 0.0:
            if is_straight(points, k, e, n):
                _tangent_straight(points, k, e, dx, n)
            else:
                _tangent_curved(points, k, e, x, dx, n)
        k = e


@bare
def _tangent_straight(points, k, e, dx, n):
    u, y, b = get3(n, k), _between(points, MOVE, n, k, e), n[k, 3]
    u1, y1, D1 = get3(n, way_row(points, STATE, k)), _between(points, MOVE_TANGENT, n, k, e), sub3(get3(dx, e), get3(dx, k))
    b1 = -b * b * dot3(u, D1)
    across = axpy3(-dot3(u, y), u, y)
    across1 = axpy3(-dot3(u1, y) - dot3(u, y1), u, axpy3(-dot3(u, y), u1, y1))
    du, du1, weight = scale3(b, across), axpy3(b1, across, scale3(b, across1)), points[k].weight
    _add(n, way_row(points, PULL, k), -weight, du)
    _add(n, way_row(points, PULL, e), weight, du)
    _add(n, way_row(points, PULL_TANGENT, k), -weight, du1)
    _add(n, way_row(points, PULL_TANGENT, e), weight, du1)


@bare
def axis_change_tangent(points, k, e, x, dx, n, a, a1, da):
    """The change of δa."""
    if n[k + 2, 1].real != SPHERICAL:
        return get3(n, way_row(points, MOVE_TANGENT, k + 2))
    C, C1 = get3(x, k + 1), get3(dx, k + 1)
    A, B, A1, B1 = sub3(get3(x, k), C), sub3(get3(x, e), C), sub3(get3(dx, k), C1), sub3(get3(dx, e), C1)
    dA, dB = _between(points, MOVE, n, k + 1, k), _between(points, MOVE, n, k + 1, e)
    dA1, dB1 = _between(points, MOVE_TANGENT, n, k + 1, k), _between(points, MOVE_TANGENT, n, k + 1, e)
    dm, m1 = add3(cross(dA, B), cross(A, dB)), add3(cross(A1, B), cross(A, B1))
    dm1 = add3(add3(cross(dA1, B), cross(dA, B1)), add3(cross(A1, dB), cross(A, dB1)))
    out = axpy3(-dot3(a, dm), a1, axpy3(-dot3(a1, dm) - dot3(a, dm1), a, dm1))
    return scale3(1.0 / _size(a, A, B), axpy3(-dot3(a, m1), da, out))


@bare
def _tangent_curved(points, k, e, x, dx, n):
    mode, a, c, sigma, inverse = n[k + 2, 1].real, get3(n, k + 3), n[k + 2, 2], n[k + 2, 3], n[k + 3, 3]
    at = way_row(points, STATE, k + 2)
    c1, sigma1 = n[at, 2], n[at, 3]
    at = way_row(points, STATE, k + 3)
    a1, inverse1 = get3(n, at), n[at, 3]
    da = axis_change(points, k, e, x, n, a)
    da1 = axis_change_tangent(points, k, e, x, dx, n, a, a1, da)
    ring = _ring(points, k, x, n, a)
    dp, p1 = _ring_turn(points, k, e, x, n, a, da, ring), n[way_row(points, STATE, k + 2), 0]
    dring, ring1 = _ring_change(a, da, ring, dp), _ring_change(a, a1, ring, p1)
    dp1 = _ring_turn_tangent(points, k, e, x, dx, n, a, a1, da, da1, ring, ring1, dp)
    dring1 = _ring_change_tangent(a, a1, da, da1, ring, ring1, dp, dp1)
    dflat, dflat1, dz, dz1, i = 0.0 * inverse, 0.0 * inverse, 0.0 * inverse, 0.0 * inverse, k
    while i != e:
        j = next_circle(points, i, e, n)
        y, _, _, ds = piece_change(points, i, j, x, n, a, da, ring, dring)
        y1, _, _, ds1 = piece_tangent(points, i, j, x, dx, n, a, a1, da, da1, ring, ring1, dring, dring1)
        dflat += dot3(get3(n, i), y)
        dflat1 += dot3(get3(n, way_row(points, STATE, i)), y) + dot3(get3(n, i), y1)
        dz += ds
        dz1 += ds1
        i = j
    if mode == SPOOLED:
        onto, onto1, rho = get3(x, e + 2), get3(dx, e + 2), n[e + 1, 0]
        donto, donto1 = get3(n, way_row(points, MOVE, e + 2)), get3(n, way_row(points, MOVE_TANGENT, e + 2))
        dflat += rho * dot3(cross(a, onto), donto)
        dflat1 += rho * (dot3(add3(cross(a1, onto), cross(a, onto1)), donto) + dot3(cross(a, onto), donto1))
        both = rho * points[k].weight
        _add(n, way_row(points, PULL, e + 2), both, add3(cross(da, onto), cross(a, donto)))
        mixed = add3(add3(cross(da1, onto), cross(da, onto1)), add3(cross(a1, donto), cross(a, donto1)))
        _add(n, way_row(points, PULL_TANGENT, e + 2), both, mixed)
    if mode == CYLINDRICAL:
        dL = c * dflat + sigma * dz
        dL1 = c1 * dflat + c * dflat1 + sigma1 * dz + sigma * dz1
        dc, dsigma = inverse * (dflat - c * dL), inverse * (dz - sigma * dL)
        dc1 = inverse1 * (dflat - c * dL) + inverse * (dflat1 - c1 * dL - c * dL1)
        dsigma1 = inverse1 * (dz - sigma * dL) + inverse * (dz1 - sigma1 * dL - sigma * dL1)
    else:
        dc, dc1, dsigma, dsigma1 = 0.0 * dz, 0.0 * dz, 0.0 * dz, 0.0 * dz
    weight, tilt, tilt1, i = points[k].weight, scale3(0.0, a), scale3(0.0, a), k
    while i != e:
        j = next_circle(points, i, e, n)
        at = way_row(points, STATE, i)
        u, t, w = get3(n, i), 1.0 / n[i, 3], signed_radius(points, j, n) - signed_radius(points, i, n)
        u1, t1, D, D1 = get3(n, at), n[at, 3], sub3(get3(x, j), get3(x, i)), sub3(get3(dx, j), get3(dx, i))
        _, du, dt, ds = piece_change(points, i, j, x, n, a, da, ring, dring)
        _, du1, dt1, ds1 = piece_tangent(points, i, j, x, dx, n, a, a1, da, da1, ring, ring1, dring, dring1)
        dg = add3(axpy3(dc, u, scale3(c, du)), axpy3(dsigma, a, scale3(sigma, da)))
        dg1 = axpy3(dc1, u, axpy3(dc, u1, axpy3(c1, du, scale3(c, du1))))
        dg1 = axpy3(dsigma1, a, axpy3(dsigma, a1, axpy3(sigma1, da, axpy3(sigma, da1, dg1))))
        _add(n, way_row(points, PULL, i), -weight, dg)
        _add(n, way_row(points, PULL, j), weight, dg)
        _add(n, way_row(points, PULL_TANGENT, i), -weight, dg1)
        _add(n, way_row(points, PULL_TANGENT, j), weight, dg1)
        s, s1 = dot3(a, D), dot3(a1, D) + dot3(a, D1)
        tip, tip1 = sigma * t - c * s, sigma1 * t + sigma * t1 - c1 * s - c * s1
        dtip = dsigma * t + sigma * dt - dc * s - c * ds
        dtip1 = dsigma1 * t + dsigma * t1 + sigma1 * dt + sigma * dt1 - dc1 * s - dc * s1 - c1 * ds - c * ds1
        normal, normal1 = cross(a, u), add3(cross(a1, u), cross(a, u1))
        dn = add3(cross(da, u), cross(a, du))
        dn1 = add3(add3(cross(da1, u), cross(da, u1)), add3(cross(a1, du), cross(a, du1)))
        tilt = axpy3(dtip, u, axpy3(tip, du, axpy3(w * dsigma, normal, axpy3(w * sigma, dn, tilt))))
        tilt1 = axpy3(dtip1, u, axpy3(dtip, u1, axpy3(tip1, du, axpy3(tip, du1, tilt1))))
        tilt1 = axpy3(w * dsigma1, normal, axpy3(w * dsigma, normal1, axpy3(w * sigma1, dn, axpy3(w * sigma, dn1, tilt1))))
        i = j
    if mode != SPHERICAL:
        _add(n, way_row(points, PULL, k + 2), weight, tilt)
        _add(n, way_row(points, PULL_TANGENT, k + 2), weight, tilt1)


@woven
def _ring_change_tangent(a, a1, da, da1, ring, ring1, dp, dp1):
    """The change of r δe."""
    out = axpy3(dp1, cross(a, ring), scale3(dp, add3(cross(a1, ring), cross(a, ring1))))
    return axpy3(-dot3(ring1, da) - dot3(ring, da1), a, axpy3(-dot3(ring, da), a1, out))


@bare
def _ring_turn_tangent(points, k, e, x, dx, n, a, a1, da, da1, ring, ring1, dp):
    """The change of δp."""
    h, zero, stiff, stiff1, force1 = k + 1, scale3(0.0, a), 0.0 * dp, 0.0 * dp, 0.0 * dp
    if not touches_inside(points, h, n):
        return 0.0 * dp
    m, m1, sign = cross(a, ring), add3(cross(a1, ring), cross(a, ring1)), -1.0
    for i, j in ((k, h), (h, e)):
        at = way_row(points, STATE, i)
        u, u1, b = get3(n, i), get3(n, at), n[i, 3]
        b1 = -b * b * n[at, 3]
        normal, normal1 = cross(a, u), add3(cross(a1, u), cross(a, u1))
        y, _, _, _ = piece_change(points, i, j, x, n, a, da, zero, zero)
        y1, _, _, _ = piece_tangent(points, i, j, x, dx, n, a, a1, da, da1, zero, zero, zero, zero)
        lever, lever1 = dot3(m, normal), dot3(m1, normal) + dot3(m, normal1)
        step, step1 = dot3(normal, y), dot3(normal1, y) + dot3(normal, y1)
        stiff += lever * lever * b + sign * dot3(ring, u)
        stiff1 += 2.0 * lever * lever1 * b + lever * lever * b1 + sign * (dot3(ring1, u) + dot3(ring, u1))
        force1 += sign * (lever1 * step * b + lever * step1 * b + lever * step * b1)
        sign = 1.0
    return (force1 - dp * stiff1) / stiff


@bare
def piece_tangent(points, i, j, x, dx, n, a, a1, da, da1, ring, ring1, dring, dring1):
    """The changes of y, δu, δt, δs."""
    at, on = way_row(points, STATE, i), _ends(points, i, j)
    D, dD, u = sub3(get3(x, j), get3(x, i)), _between(points, MOVE, n, i, j), get3(n, i)
    D1, dD1, u1, t1 = sub3(get3(dx, j), get3(dx, i)), _between(points, MOVE_TANGENT, n, i, j), get3(n, at), n[at, 3]
    D, dD, D1, dD1 = axpy3(on, ring, D), axpy3(on, dring, dD), axpy3(on, ring1, D1), axpy3(on, dring1, dD1)
    s, s1 = dot3(a, D), dot3(a1, D) + dot3(a, D1)
    y, y1 = axpy3(-s, da, dD), axpy3(-s1, da, axpy3(-s, da1, dD1))
    normal, normal1 = cross(a, u), add3(cross(a1, u), cross(a, u1))
    dpsi = dot3(normal, y) * n[i, 3]
    dpsi1 = (dot3(normal1, y) + dot3(normal, y1) - dpsi * t1) * n[i, 3]
    du1 = axpy3(dpsi1, normal, axpy3(dpsi, normal1, scale3(-dot3(u, da), a1)))
    du1 = axpy3(-dot3(u1, da) - dot3(u, da1), a, du1)
    w = signed_radius(points, j, n) - signed_radius(points, i, n)
    return y1, du1, dot3(u1, y) + dot3(u, y1) + w * dpsi1, dot3(da1, D) + dot3(da, D1) + dot3(a1, dD) + dot3(a, dD1)
