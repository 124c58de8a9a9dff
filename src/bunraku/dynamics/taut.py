"""How links bend, a row of a matrix at a time: what `kinematics.bends` says pair by pair, faster.

Half of a symmetric matrix is kept: H with H + Hᵀ the one that is wanted. Of a way of length l along a string, row j of H takes
½ (d_i·d_j − l_i l_j)/l of every i, and u·(ω_i × d_j) of every i above j; of j itself the half. Columns of V are variables, its
rows the components of d and ω (and of their tangents), filled from the root to the tip, so that only those above j are there.
"""

from __future__ import annotations

from bunraku.dynamics.sums import add_rows
from bunraku.figure.compiled import LENGTH
from bunraku.kinematics.bends import add_hessian, add_third, chains, moved_steps
from bunraku.kinematics.gaps import velocity
from bunraku.spatial.algebra import add3, axpy3, cross, dot3, get3, get6, put3, scale3, sub3
from bunraku.spatial.kernel import inline


@inline
def add_halves(tree, weights, S, x, f, n, d, e, V, H):
    """Half of Σ_c weights_c · gap_qq; x, f, n as `gaps` left them."""
    for c in range(tree.links.shape[0]):
        if weights[c] != 0.0:
            add_half(tree, weights[c], c, S, x, f, n, d, e, V, H)


@inline
def add_half(tree, weight, c, S, x, f, n, d, e, V, H):
    """Half of weight · gap_qq of link c."""
    link = tree.links[c]
    if link.kind != LENGTH:
        add_hessian(0.5 * weight, link, tree.points, tree.joints, tree.chain, tree.support[c], S, x, f, n, d, e, H)
        return
    for k in range(link.first, link.first + link.count - 1):
        _add_way(weight, k, tree.points, tree.joints, tree.chain, S, x, n, V, H)


@inline
def _put(V, row, q, a):
    V[row, q], V[row + 1, q], V[row + 2, q] = a


@inline
def _get(V, row, q):
    return V[row, q], V[row + 1, q], V[row + 2, q]


@inline
def _forget(V, first, last, chain, tip, count, joints):
    """Zeros where `count` joints from the tip up have been."""
    for a in range(1, count + 1):
        q = joints[chain[tip, a]].q
        for row in range(first, last):
            V[row, q] = 0.0


@inline
def _add_way(weight, k, points, joints, chain, S, x, n, V, H):
    tip, tail = points[k].joint, points[k + 1].joint
    on, off, both = chains(chain, tip, tail)
    X, Y, wx, wy = get3(x, k), get3(x, k + 1), points[k].w, points[k + 1].w
    for a in range(1, on + 1):
        s = get6(S, chain[tip, a])
        y = velocity(s, X, wx)
        _put(V, 0, joints[chain[tip, a]].q, sub3(y, velocity(s, Y, wy)) if a > on - both else y)
    for a in range(1, off + 1):
        _put(V, 0, joints[chain[tail, a]].q, scale3(-1.0, velocity(get6(S, chain[tail, a]), Y, wy)))
    u, bend = get3(n, k), n[k, 3]
    for a in range(on, 0, -1):
        _add_row(weight, bend, u, chain[tip, a], joints, S, V, H)
    _forget(V, 3, 6, chain, tip, on - both, joints)
    for a in range(off, 0, -1):
        _add_row(weight, bend, u, chain[tail, a], joints, S, V, H)
    _forget(V, 0, 6, chain, tip, on, joints)
    _forget(V, 0, 6, chain, tail, off, joints)


@inline
def _add_row(weight, bend, u, j, joints, S, V, H):
    q, omega = joints[j].q, get3(S, j)
    y = _get(V, 0, q)
    v, m = scale3(0.5 * weight * bend, axpy3(-dot3(u, y), u, y)), scale3(weight, cross(y, u))  # u·(ω × y) = ω·(y × u)
    _put(V, 3, q, scale3(0.5, omega))
    add_rows(H, q, (v[0], v[1], v[2], m[0], m[1], m[2]), V, V.shape[1])
    _put(V, 3, q, omega)


@inline
def add_half_third(tree, weight, c, S, W, dS, x, f, n, dx, df, d, e, dd, de, V, H, slope):
    """Half of weight · ∂(gap_qq)[direction], and slope[q] = gap_qq · direction, of link c (see `add_third`)."""
    link, points, support = tree.links[c], tree.points, tree.support[c]
    if link.kind != LENGTH:
        add_third(
            0.5 * weight, link, points, tree.joints, tree.chain, support, S, W, dS, x, f, n, dx, df, d, e, dd, de, H, slope
        )
        return
    for a in range(1, support[0] + 1):
        slope[tree.joints[support[a]].q] = 0.0
    for k in range(link.first, link.first + link.count):
        j = points[k].joint
        put3(dx, k, velocity(get6(W, j), get3(x, k), points[k].w) if j >= 0 else (0.0, 0.0, 0.0))
    for k in range(link.first, link.first + link.count - 1):
        _add_way_third(weight, k, points, tree.joints, tree.chain, S, dS, x, n, dx, V, H, slope)


@inline
def _add_way_third(weight, k, points, joints, chain, S, dS, x, n, dx, V, H, slope):
    tip, tail = points[k].joint, points[k + 1].joint
    on, off, both = chains(chain, tip, tail)
    for a in range(1, on + 1):
        i = chain[tip, a]
        y, dy = moved_steps(k, 1.0, points, S, dS, x, dx, i)
        if a > on - both:
            z, dz = moved_steps(k + 1, -1.0, points, S, dS, x, dx, i)
            y, dy = add3(y, z), add3(dy, dz)
        _put(V, 0, joints[i].q, y)
        _put(V, 3, joints[i].q, dy)
    for a in range(1, off + 1):
        i = chain[tail, a]
        y, dy = moved_steps(k + 1, -1.0, points, S, dS, x, dx, i)
        _put(V, 0, joints[i].q, y)
        _put(V, 3, joints[i].q, dy)
    u, bend, c = get3(n, k), n[k, 3], sub3(get3(dx, k), get3(dx, k + 1))
    along = dot3(u, c)
    du, dbend = scale3(bend, axpy3(-along, u, c)), -bend * bend * along
    for a in range(on, 0, -1):
        _add_row_third(weight, bend, dbend, u, du, chain[tip, a], joints, S, dS, V, H, slope)
    _forget(V, 6, 12, chain, tip, on - both, joints)
    for a in range(off, 0, -1):
        _add_row_third(weight, bend, dbend, u, du, chain[tail, a], joints, S, dS, V, H, slope)
    _forget(V, 0, 12, chain, tip, on, joints)
    _forget(V, 0, 12, chain, tail, off, joints)


@inline
def _add_row_third(weight, bend, dbend, u, du, j, joints, S, dS, V, H, slope):
    """The tangent of `_add_row`."""
    q, omega, domega = joints[j].q, get3(S, j), get3(dS, j)
    y, dy = _get(V, 0, q), _get(V, 3, q)
    l, dl = dot3(u, y), dot3(u, dy) + dot3(du, y)
    slope[q] += dl
    v, dv = axpy3(-l, u, y), axpy3(-dl, u, axpy3(-l, du, dy))
    dv, v = scale3(0.5 * weight, axpy3(dbend, v, scale3(bend, dv))), scale3(0.5 * weight * bend, v)
    m, dm = scale3(weight, cross(y, u)), scale3(weight, add3(cross(dy, u), cross(y, du)))
    _put(V, 6, q, scale3(0.5, omega))
    _put(V, 9, q, scale3(0.5, domega))
    factors = (dv[0], dv[1], dv[2], v[0], v[1], v[2], dm[0], dm[1], dm[2], m[0], m[1], m[2])
    add_rows(H, q, factors, V, V.shape[1])
    _put(V, 6, q, omega)
    _put(V, 9, q, domega)
