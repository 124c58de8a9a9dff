"""Second and third derivatives of gaps.

Along a string, d is the vector from one point to the next. With l = |d|, u = d/l, and joint i turning by ω_i,

    l_i = u·d_i                                     d_i = ∂d/∂q_i
    l_ij = u·(ω_i × d_j) + (d_i·d_j − l_i l_j)/l    the first term only if i is above j, or is j

since an ancestor i turns the velocity d_j as well. For a plane or closure, the gap n·d has the second derivatives of n and of d,
and the mixed terms n_i·d_j + n_j·d_i. Third derivatives are tangents of these: derivatives along one direction.
"""

from __future__ import annotations

from bunraku.figure.records import LinkKind
from bunraku.kernels.compile import bare, unit, woven
from bunraku.kinematics.drum_layers import has_layers
from bunraku.kinematics.feature_gaps import feature_bend
from bunraku.kinematics.gaps import velocity
from bunraku.kinematics.shared_slips import shared_slip_bend
from bunraku.kinematics.wrapping import way_row
from bunraku.kinematics.wrapping_derivatives import MOVE, MOVE_TANGENT, PULL, PULL_TANGENT, bend, bend_tangent
from bunraku.spatial.algebra import add3, axpy3, axpy6, bracket, cross, dot3, dot6, get3, get6, put3, put6, scale3, scale6, sub3


@woven
def _add_pair(H, i, j, g):
    """Adds g to H[i, j] and H[j, i]; rows that H does not have are left out."""
    if i < H.shape[0]:
        H[i, j] += g
    if i != j and j < H.shape[0]:
        H[j, i] += g


@woven
def chains(chain, j, k):
    """How many joints carry j, how many carry k but not j, and how many carry both."""
    a, b, both = chain[j, 0] if j >= 0 else 0, chain[k, 0] if k >= 0 else 0, 0
    while both < a and both < b and chain[j, a - both] == chain[k, b - both]:
        both += 1
    return a, b - both, both


@bare
def hessian(tree, weights, S, x, f, n, d, e, H):
    """H[q, q] = Σ_c weights_c · gap_qq; x, f, n as `gaps` left them."""
    for i in range(H.shape[0]):
        for j in range(H.shape[1]):
            H[i, j] = 0.0
    add_hessians(tree, weights, S, x, f, n, d, e, H)


@bare
def add_hessians(tree, weights, S, x, f, n, d, e, H):
    for c in range(tree.links.shape[0]):
        if weights[c] != 0.0:
            add_hessian(weights[c], tree.links[c], tree.points, tree.joints, tree.chain, tree.support[c], S, x, f, n, d, e, H)


@bare
def add_hessian(weight, link, points, joints, chain, support, S, x, f, n, d, e, H):
    """H[q, q] += weight · gap_qq of one link, in the rows that H has. `d` and `e` are scratch over joints."""
    if link.kind == LinkKind.LENGTH:
        for k in range(link.first, link.first + link.count - 1):
            _add_way(weight, k, points, joints, chain, S, x, n, d, H)
    elif link.kind >= LinkKind.WRAPPED or link.count == 5:
        _add_wrapped(weight, link, points, joints, chain, support, S, x, f, n, H)
    else:
        _add_plane(weight, link.first, points, joints, chain, support, S, x, f, d, e, H)


@bare
def _add_way(weight, k, points, joints, chain, S, x, n, d, H):
    """The part of the segment from point k to the next."""
    tip, tail = points[k].joint, points[k + 1].joint
    on, off, both = chains(chain, tip, tail)
    X, Y, wx, wy = get3(x, k), get3(x, k + 1), points[k].is_point, points[k + 1].is_point
    for a in range(1, on + 1):
        s = get6(S, chain[tip, a])
        y = velocity(s, X, wx)
        put3(d, chain[tip, a], sub3(y, velocity(s, Y, wy)) if a > on - both else y)
    for a in range(1, off + 1):
        put3(d, chain[tail, a], scale3(-1.0, velocity(get6(S, chain[tail, a]), Y, wy)))
    u, bend = get3(n, k), weight * n[k, 3]
    for a in range(1, on + 1):
        _add_row(weight, bend, u, tip, a, joints, chain, S, d, H)
    for a in range(1, off + 1):
        j = chain[tail, a]
        v = _add_row(weight, bend, u, tail, a, joints, chain, S, d, H)
        for b in range(1, on - both + 1):
            i = chain[tip, b]
            _add_pair(H, joints[i].variable, joints[j].variable, dot3(v, get3(d, i)))


@woven
def _add_row(weight, bend, u, tip, a, joints, chain, S, d, H):
    """Pairs of one joint with itself and all joints above it. Returns the vector by which it enters pairs with other joints."""
    j = chain[tip, a]
    y, q = get3(d, j), joints[j].variable
    v = scale3(bend, axpy3(-dot3(u, y), u, y))
    m = scale3(weight, cross(y, u))  # u·(ω × y) = ω·(y × u)
    for b in range(a, chain[tip, 0] + 1):
        i = chain[tip, b]
        _add_pair(H, joints[i].variable, q, dot3(v, get3(d, i)) + dot3(get3(S, i), m))
    return v


@woven
def carries(chain, i, j):
    """Whether joint i carries what joint j does."""
    return j >= 0 and chain[j, 0] >= chain[i, 0] and chain[j, chain[j, 0] - chain[i, 0] + 1] == i


@unit("none")
def _add_wrapped(weight, link, points, joints, chain, support, S, x, f, n, H):
    """Of a string over pulleys (see `wrapping_derivatives`), of features that touch, or of a slip in a shared plane."""
    if link.kind == LinkKind.WRAPPED and has_layers(link, points):
        _add_pair(H, link.variable, link.variable, weight * n[link.first + link.count - 1, 1])
    for b in range(1, support[0] + 1):
        j = support[b]
        for k in range(link.first, link.first + link.count):
            y = velocity(get6(S, j), get3(x, k), points[k].is_point)
            put3(n, way_row(points, MOVE, k), y if carries(chain, j, points[k].joint) else scale3(0.0, y))
        if link.kind == LinkKind.WRAPPED:
            bend(link, points, x, n)
        elif link.kind == LinkKind.SLIP:
            shared_slip_bend(link, points, x, n)
        else:
            feature_bend(link, points, x, n)
        for a in range(1, b + 1):
            i, g = support[a], n.dtype.type(0)
            for k in range(link.first, link.first + link.count):
                if carries(chain, i, points[k].joint):
                    y, df = get3(n, way_row(points, MOVE, k)), get3(n, way_row(points, PULL, k))
                    s = get6(S, i)
                    g += dot3(df, velocity(s, get3(x, k), points[k].is_point)) + dot3((s[0], s[1], s[2]), cross(y, get3(f, k)))
            _add_pair(H, joints[i].variable, joints[j].variable, weight * g)


@bare
def _add_plane(weight, k, points, joints, chain, support, S, x, f, d, e, H):
    for p in range(k, k + 3):
        tip = points[p].joint
        if tip < 0:
            continue
        X, F, w = get3(x, p), get3(f, p), points[p].is_point
        for a in range(1, chain[tip, 0] + 1):
            j = chain[tip, a]
            m = cross(velocity(get6(S, j), X, w), F)  # f·(ω_i × y) = ω_i·(y × f)
            for b in range(a, chain[tip, 0] + 1):
                i = chain[tip, b]
                _add_pair(H, joints[i].variable, joints[j].variable, weight * dot3(get3(S, i), m))
    steps_of(k, points, support, chain, S, x, d)
    _turns(k + 2, points, support, chain, S, x, e)
    for a in range(1, support[0] + 1):
        i = support[a]
        for b in range(1, support[0] + 1):
            j = support[b]
            g = weight * dot3(get3(e, i), get3(d, j))
            if i == j:
                g *= 2.0
            _add_pair(H, joints[i].variable, joints[j].variable, g)


@bare
def steps_of(link, points, support, chain, S, x, d):
    """d[i] = ∂(x_a − x_b)/∂q_i of the points a = `link` and b = `link` + 1, for every joint i of the support."""
    for a in range(1, support[0] + 1):
        put3(d, support[a], (0.0, 0.0, 0.0))
    for side in range(2):
        k = link + side
        j = points[k].joint
        if j < 0:
            continue
        X, w = get3(x, k), points[k].is_point
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            y = velocity(get6(S, i), X, w)
            if side == 0:
                put3(d, i, add3(get3(d, i), y))
            else:
                put3(d, i, sub3(get3(d, i), y))


@bare
def _turns(k, points, support, chain, S, x, e):
    """e[i] = ∂n/∂q_i of the normal n of a plane."""
    for a in range(1, support[0] + 1):
        put3(e, support[a], (0.0, 0.0, 0.0))
    j = points[k].joint
    if j >= 0:
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            put3(e, i, velocity(get6(S, i), get3(x, k), 0.0))


@bare
def tangent_screws(joints, direction, S, W, dS):
    """Along a direction in q, every joint moves with the twist W, and its screw changes by δS = [W of its parent, S]."""
    for j in range(joints.shape[0]):
        i = joints[j].parent
        s = get6(S, j)
        w = get6(W, i) if i >= 0 else scale6(0.0, s)
        put6(dS, j, bracket(w, s))
        put6(W, j, axpy6(direction[joints[j].variable], s, w))


@bare
def add_third(
    weight, link, points, joints, chain, support, S, W, dS, x, f, n, dx, df, d, e, dd, de, H, slope
):  # fmt: skip
    """H[q, q] += weight · ∂(gap_qq)[direction], and slope[q] = gap_qq · direction, of one link.

    W and dS belong to the direction (`tangent_screws`); dx, df and dd, de are scratch beside x, f and d, e.
    """
    for k in range(link.first, link.first + link.count):
        j = points[k].joint
        put3(dx, k, velocity(get6(W, j), get3(x, k), points[k].is_point) if j >= 0 else scale3(0.0, get3(x, k)))
    for a in range(1, support[0] + 1):
        slope[joints[support[a]].variable] = 0.0
    if link.kind == LinkKind.LENGTH:
        for k in range(link.first, link.first + link.count - 1):
            _add_way_third(weight, k, points, joints, chain, S, dS, x, n, dx, d, dd, H, slope)
    elif link.kind == LinkKind.WRAPPED:
        _add_wrapped_third(weight, link, points, joints, chain, support, S, W, dS, x, f, n, dx, df, H, slope)
    else:
        _add_plane_third(weight, link.first, points, joints, chain, support, S, dS, x, f, dx, df, d, e, dd, de, H, slope)


@woven
def moved_steps(k, sign, points, S, dS, x, dx, i):
    """± the derivative of point k with respect to q_i, and its tangent."""
    s, X, w = get6(S, i), get3(x, k), points[k].is_point
    return (
        scale3(sign, velocity(s, X, w)),
        scale3(sign, add3(velocity(get6(dS, i), X, w), cross((s[0], s[1], s[2]), get3(dx, k)))),
    )


@bare
def _add_way_third(weight, k, points, joints, chain, S, dS, x, n, dx, d, dd, H, slope):
    tip, tail = points[k].joint, points[k + 1].joint
    on, off, both = chains(chain, tip, tail)
    for a in range(1, on + 1):
        i = chain[tip, a]
        y, dy = moved_steps(k, 1.0, points, S, dS, x, dx, i)
        if a > on - both:
            z, dz = moved_steps(k + 1, -1.0, points, S, dS, x, dx, i)
            y, dy = add3(y, z), add3(dy, dz)
        put3(d, i, y)
        put3(dd, i, dy)
    for a in range(1, off + 1):
        i = chain[tail, a]
        y, dy = moved_steps(k + 1, -1.0, points, S, dS, x, dx, i)
        put3(d, i, y)
        put3(dd, i, dy)
    u, bend, c = get3(n, k), n[k, 3], sub3(get3(dx, k), get3(dx, k + 1))
    along = dot3(u, c)
    du, dbend = scale3(bend, axpy3(-along, u, c)), -bend * bend * along
    for a in range(1, on + 1):
        _add_row_third(weight, bend, dbend, u, du, tip, a, joints, chain, S, dS, d, dd, H, slope)
    for a in range(1, off + 1):
        j = chain[tail, a]
        v, dv = _add_row_third(weight, bend, dbend, u, du, tail, a, joints, chain, S, dS, d, dd, H, slope)
        for b in range(1, on - both + 1):
            i = chain[tip, b]
            _add_pair(H, joints[i].variable, joints[j].variable, dot3(dv, get3(d, i)) + dot3(v, get3(dd, i)))


@woven
def _add_row_third(weight, bend, dbend, u, du, tip, a, joints, chain, S, dS, d, dd, H, slope):
    """The tangent of `_add_row`."""
    j = chain[tip, a]
    y, dy, q = get3(d, j), get3(dd, j), joints[j].variable
    l, dl = dot3(u, y), dot3(u, dy) + dot3(du, y)
    slope[q] += dl
    v, dv = axpy3(-l, u, y), axpy3(-dl, u, axpy3(-l, du, dy))
    dv = scale3(weight, axpy3(dbend, v, scale3(bend, dv)))
    v = scale3(weight * bend, v)
    m, dm = scale3(weight, cross(y, u)), scale3(weight, add3(cross(dy, u), cross(y, du)))
    for b in range(a, chain[tip, 0] + 1):
        i = chain[tip, b]
        g = dot3(dv, get3(d, i)) + dot3(v, get3(dd, i)) + dot3(get3(dS, i), m) + dot3(get3(S, i), dm)
        _add_pair(H, joints[i].variable, q, g)
    return v, dv


@woven
def _along(joints, j, S, W):
    """The direction's component at joint j, from W_j = W_parent + component · S_j."""
    s, moved = get6(S, j), get6(W, j)
    if joints[j].parent >= 0:
        moved = axpy6(-1.0, get6(W, joints[j].parent), moved)
    return dot6(moved, s) / dot6(s, s)


@unit("none")
def _add_wrapped_third(weight, link, points, joints, chain, support, S, W, dS, x, f, n, dx, df, H, slope):
    """The tangent of `_add_wrapped`."""
    if has_layers(link, points):
        last = link.first + link.count - 1
        turned = _along(joints, points[last].joint, S, W)
        slope[link.variable] += n[last, 1] * turned
        _add_pair(H, link.variable, link.variable, weight * n[last, 2] * turned)
    for k in range(link.first, link.first + link.count):
        put3(n, way_row(points, MOVE, k), get3(dx, k))
    bend(link, points, x, n)
    for k in range(link.first, link.first + link.count):
        put3(df, k, get3(n, way_row(points, PULL, k)))
    for b in range(1, support[0] + 1):
        j = support[b]
        q = joints[j].variable
        for k in range(link.first, link.first + link.count):
            y, dy = moved_steps(k, 1.0, points, S, dS, x, dx, j)
            if carries(chain, j, points[k].joint):
                slope[q] += dot3(dy, get3(f, k)) + dot3(y, get3(df, k))
            else:
                y, dy = scale3(0.0, y), scale3(0.0, dy)
            put3(n, way_row(points, MOVE, k), y)
            put3(n, way_row(points, MOVE_TANGENT, k), dy)
        bend_tangent(link, points, x, dx, n)
        for a in range(1, b + 1):
            i, g = support[a], n.dtype.type(0)
            for k in range(link.first, link.first + link.count):
                if carries(chain, i, points[k].joint):
                    z, dz = moved_steps(k, 1.0, points, S, dS, x, dx, i)
                    g += dot3(dz, get3(n, way_row(points, PULL, k))) + dot3(z, get3(n, way_row(points, PULL_TANGENT, k)))
                    y, dy, F = get3(n, way_row(points, MOVE, k)), get3(n, way_row(points, MOVE_TANGENT, k)), get3(f, k)
                    g += dot3(get3(dS, i), cross(y, F)) + dot3(get3(S, i), add3(cross(dy, F), cross(y, get3(df, k))))
            _add_pair(H, joints[i].variable, q, weight * g)


@bare
def _add_plane_third(weight, first, points, joints, chain, support, S, dS, x, f, dx, df, d, e, dd, de, H, slope):
    put3(df, first, get3(dx, first + 2))
    put3(df, first + 1, scale3(-1.0, get3(dx, first + 2)))
    put3(df, first + 2, sub3(get3(dx, first), get3(dx, first + 1)))
    for k in range(first, first + 3):
        tip = points[k].joint
        if tip < 0:
            continue
        F, dF = get3(f, k), get3(df, k)
        for a in range(1, chain[tip, 0] + 1):
            j = chain[tip, a]
            y, dy = moved_steps(k, 1.0, points, S, dS, x, dx, j)
            slope[joints[j].variable] += dot3(dy, F) + dot3(y, dF)
            m, dm = cross(y, F), add3(cross(dy, F), cross(y, dF))
            for b in range(a, chain[tip, 0] + 1):
                i = chain[tip, b]
                g = weight * (dot3(get3(dS, i), m) + dot3(get3(S, i), dm))
                _add_pair(H, joints[i].variable, joints[j].variable, g)
    steps_of(first, points, support, chain, S, x, d)
    _tangent_steps(first, points, support, chain, S, dS, x, dx, dd)
    _turns(first + 2, points, support, chain, S, x, e)
    _tangent_turns(first + 2, points, support, chain, S, dS, x, dx, de)
    for a in range(1, support[0] + 1):
        i = support[a]
        for b in range(1, support[0] + 1):
            j = support[b]
            g = weight * (dot3(get3(de, i), get3(d, j)) + dot3(get3(e, i), get3(dd, j)))
            if i == j:
                g *= 2.0
            _add_pair(H, joints[i].variable, joints[j].variable, g)


@bare
def _tangent_steps(k, points, support, chain, S, dS, x, dx, dd):
    for a in range(1, support[0] + 1):
        put3(dd, support[a], (0.0, 0.0, 0.0))
    for side in range(2):
        j = points[k + side].joint
        if j < 0:
            continue
        X, Y, w = get3(x, k + side), get3(dx, k + side), points[k + side].is_point
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            y = add3(velocity(get6(dS, i), X, w), cross(get3(S, i), Y))
            if side == 0:
                put3(dd, i, add3(get3(dd, i), y))
            else:
                put3(dd, i, sub3(get3(dd, i), y))


@bare
def _tangent_turns(k, points, support, chain, S, dS, x, dx, de):
    for a in range(1, support[0] + 1):
        put3(de, support[a], (0.0, 0.0, 0.0))
    j = points[k].joint
    if j >= 0:
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            put3(de, i, add3(velocity(get6(dS, i), get3(x, k), 0.0), cross(get3(S, i), get3(dx, k))))
