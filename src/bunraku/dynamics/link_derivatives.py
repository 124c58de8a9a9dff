"""Second and third derivatives of gaps, a row at a time (bunraku.kinematics.gap_derivatives has them pair by pair).

Half of each symmetric matrix is kept: H, where H + Hᵀ is the matrix. The joints that move a segment of length l are put in a line:
those from the root to one end, then those that move only the other end. With d = ∂(end − start)/∂q, row j takes

    u·(ω_i × d_j) + (d_i·d_j − l_i l_j)/l        of every i before it in line, and half of that of itself;

the first part only where i is above j. V (bunraku.kernels.row_sums) has a column for each place in the line; its rows are the
components of d and ω, or of d, its tangent, ω, and its tangent.
"""

from __future__ import annotations

from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import add_row, clear
from bunraku.kernels.compile import bare, woven
from bunraku.kernels.row_sums import fold, row_sum
from bunraku.kinematics.gap_derivatives import add_hessian, add_third, chains, moved_steps
from bunraku.kinematics.gaps import velocity
from bunraku.spatial.algebra import add3, axpy3, cross, dot3, get3, get6, put3, scale3, sub3


@woven
def add_halves(tree, weights, S, x, f, n, d, e, V, Z, H):
    """Half of Σ_c weights_c · gap_qq; x, f, n as `gaps` left them."""
    for c in range(tree.links.shape[0]):
        if weights[c] != 0.0:
            add_half(tree, weights[c], c, S, x, f, n, d, e, V, Z, H)


@woven
def add_half(tree, weight, c, S, x, f, n, d, e, V, Z, H):
    """Half of weight · gap_qq of link c."""
    link = tree.links[c]
    if link.kind != LinkKind.LENGTH:
        add_hessian(0.5 * weight, link, tree.points, tree.joints, tree.chain, tree.support[c], S, x, f, n, d, e, H)
        return
    for k in range(link.first, link.first + link.count - 1):
        _add_way(weight, k, tree.points, tree.joints, tree.chain, S, x, n, V, Z, H)


@bare
def keep_bends(tree, alive, S, x, f, n, d, e, V, Z, B):
    """B[c] = gap_qq of every link that acts."""
    for c in range(tree.links.shape[0]):
        if alive[c]:
            own = B[c]
            clear(own)
            add_half(tree, 1.0, c, S, x, f, n, d, e, V, Z, own)
            fold(own)


@woven
def add_bends(tree, weight, c, B, H):
    """H += weight · B[c], in the rows that it has."""
    own = B[c]
    for a in range(1, tree.support[c, 0] + 1):
        q = tree.joints[tree.support[c, a]].variable
        add_row(H, q, weight, own, q, 0, H.shape[1])


@woven
def _put(V, place, row, a):
    b, c = place >> 3, place & 7
    V[b, row, c], V[b, row + 1, c], V[b, row + 2, c] = a


@woven
def _get(V, place, row):
    b, c = place >> 3, place & 7
    return V[b, row, c], V[b, row + 1, c], V[b, row + 2, c]


@woven
def _turns(s):
    return s[0], s[1], s[2]


@woven
def _scatter(joints, chain, tip, length, first, count, Z, q, H):
    """Z of the first `count` places of a chain of this length, whose line begins at place `first`, into row q."""
    for b in range(count):
        H[q, joints[chain[tip, length - b]].variable] += Z[first + b]


@bare
def _add_way(weight, k, points, joints, chain, S, x, n, V, Z, H):
    tip, tail = points[k].joint, points[k + 1].joint
    on, off, both = chains(chain, tip, tail)
    X, Y, wx, wy = get3(x, k), get3(x, k + 1), points[k].is_point, points[k + 1].is_point
    for a in range(on):
        s = get6(S, chain[tip, on - a])
        y = velocity(s, X, wx)
        _put(V, a, 0, sub3(y, velocity(s, Y, wy)) if a < both else y)
        _put(V, a, 3, _turns(s))
    for a in range(off):
        s = get6(S, chain[tail, off - a])
        _put(V, on + a, 0, scale3(-1.0, velocity(s, Y, wy)))
        _put(V, on + a, 3, _turns(s))
    u, bend = get3(n, k), n[k, 3]
    for a in range(on):
        q = joints[chain[tip, on - a]].variable
        _row(weight, bend, u, a, V, Z)
        _scatter(joints, chain, tip, on, 0, a, Z, q, H)
        H[q, q] += 0.5 * Z[a]
    if off > 0:
        for a in range(both, on):
            _put(V, a, 3, (0.0, 0.0, 0.0))
        for a in range(off):
            q = joints[chain[tail, off - a]].variable
            _row(weight, bend, u, on + a, V, Z)
            _scatter(joints, chain, tip, on, 0, on, Z, q, H)
            _scatter(joints, chain, tail, off, on, a, Z, q, H)
            H[q, q] += 0.5 * Z[on + a]


@woven
def _row(weight, bend, u, a, V, Z):
    """Z of all places up to a."""
    y = _get(V, a, 0)
    v, m = scale3(weight * bend, axpy3(-dot3(u, y), u, y)), scale3(weight, cross(y, u))  # u·(ω × y) = ω·(y × u)
    row_sum(Z, (v[0], v[1], v[2], m[0], m[1], m[2]), V, a + 1)


@woven
def add_half_third(tree, weight, c, S, W, dS, x, f, n, dx, df, d, e, dd, de, V, Z, H, slope):
    """Half of weight · ∂(gap_qq)[direction], and slope[q] = gap_qq · direction, of link c (see `add_third`)."""
    link, points, support = tree.links[c], tree.points, tree.support[c]
    if link.kind != LinkKind.LENGTH:
        add_third(0.5 * weight, link, points, tree.joints, tree.chain, support, S, W, dS, x, f, n, dx, df, d, e, dd, de, H, slope)
        return
    for a in range(1, support[0] + 1):
        slope[tree.joints[support[a]].variable] = 0.0
    for k in range(link.first, link.first + link.count):
        j = points[k].joint
        put3(dx, k, velocity(get6(W, j), get3(x, k), points[k].is_point) if j >= 0 else (0.0, 0.0, 0.0))
    for k in range(link.first, link.first + link.count - 1):
        _add_way_third(weight, k, points, tree.joints, tree.chain, S, dS, x, n, dx, V, Z, H, slope)


@bare
def _add_way_third(weight, k, points, joints, chain, S, dS, x, n, dx, V, Z, H, slope):
    tip, tail = points[k].joint, points[k + 1].joint
    on, off, both = chains(chain, tip, tail)
    for a in range(on):
        i = chain[tip, on - a]
        y, dy = moved_steps(k, 1.0, points, S, dS, x, dx, i)
        if a < both:
            z, dz = moved_steps(k + 1, -1.0, points, S, dS, x, dx, i)
            y, dy = add3(y, z), add3(dy, dz)
        _put_tangents(V, a, y, dy, get3(S, i), get3(dS, i))
    for a in range(off):
        i = chain[tail, off - a]
        y, dy = moved_steps(k + 1, -1.0, points, S, dS, x, dx, i)
        _put_tangents(V, on + a, y, dy, get3(S, i), get3(dS, i))
    u, bend, c = get3(n, k), n[k, 3], sub3(get3(dx, k), get3(dx, k + 1))
    along = dot3(u, c)
    du, dbend = scale3(bend, axpy3(-along, u, c)), -bend * bend * along
    for a in range(on):
        q = joints[chain[tip, on - a]].variable
        slope[q] += _row_third(weight, bend, dbend, u, du, a, V, Z)
        _scatter(joints, chain, tip, on, 0, a, Z, q, H)
        H[q, q] += 0.5 * Z[a]
    if off > 0:
        for a in range(both, on):
            _put(V, a, 6, (0.0, 0.0, 0.0))
            _put(V, a, 9, (0.0, 0.0, 0.0))
        for a in range(off):
            q = joints[chain[tail, off - a]].variable
            slope[q] += _row_third(weight, bend, dbend, u, du, on + a, V, Z)
            _scatter(joints, chain, tip, on, 0, on, Z, q, H)
            _scatter(joints, chain, tail, off, on, a, Z, q, H)
            H[q, q] += 0.5 * Z[on + a]


@woven
def _put_tangents(V, place, y, dy, omega, domega):
    _put(V, place, 0, y)
    _put(V, place, 3, dy)
    _put(V, place, 6, omega)
    _put(V, place, 9, domega)


@woven
def _row_third(weight, bend, dbend, u, du, a, V, Z):
    """The tangent of `_row`. Returns that of the slope of the way."""
    y, dy = _get(V, a, 0), _get(V, a, 3)
    l, dl = dot3(u, y), dot3(u, dy) + dot3(du, y)
    v, dv = axpy3(-l, u, y), axpy3(-dl, u, axpy3(-l, du, dy))
    dv, v = scale3(weight, axpy3(dbend, v, scale3(bend, dv))), scale3(weight * bend, v)
    m, dm = scale3(weight, cross(y, u)), scale3(weight, add3(cross(dy, u), cross(y, du)))
    row_sum(Z, (dv[0], dv[1], dv[2], v[0], v[1], v[2], dm[0], dm[1], dm[2], m[0], m[1], m[2]), V, a + 1)
    return dl
