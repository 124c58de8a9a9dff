"""Gaps of links and their derivatives: strings through eyelets, wires, points on planes, closures.

A link is a scalar function of a few points. Along a string, gap = Σ |x_a − x_b| − length; on a plane or in a closure,
gap = n·(x_a − x_b) with the direction n carried by a joint like a point whose w is 0. Either way

    gap_i = Σ_k f_k · x_k,i                          f_k = ∂gap/∂x_k, and x_k,i = ω_i × x_k + w_k v_i
    gap_ij = Σ_k f_k · x_k,ij + curvature            x_k,ij = ω_i × x_k,j for i above j

with curvature (d_i·d_j − l_i l_j)/l of a segment d of length l, and n_i·d_j + n_j·d_i of a plane.
"""

from __future__ import annotations

import numpy as np

from bunraku.figure.compiled import LENGTH
from bunraku.kinematics.tree import carry
from bunraku.spatial.algebra import add3, axpy6, bracket, cross, dot3, get3, get6, put3, put6, scale3, scale6, sub3
from bunraku.spatial.kernel import inline

TINY = 1e-12  # [m] a segment of no length has no direction; its tension then pulls nowhere
HUGE = 1e300


@inline
def velocity(s, x, w):
    """x_k,i of a point (w = 1) or a direction (w = 0) under the motion s."""
    return (
        s[1] * x[2] - s[2] * x[1] + w * s[3],
        s[2] * x[0] - s[0] * x[2] + w * s[4],
        s[0] * x[1] - s[1] * x[0] + w * s[5],
    )


@inline
def carry_points(link, points, R, p, o, x):
    for k in range(link.first, link.first + link.count):
        put3(x, k, carry(R, p, o, points[k].joint, points[k].x, points[k].w))


@inline
def wound(link, q):
    """The length that a string is wound to."""
    return link.length + (link.ratio * q[link.variable] if link.variable >= 0 else 0.0)


@inline
def pulls(link, x, f, n):
    """f_k of every point, and n = (unit vector, 1/length) of every segment. Returns the distance along the link."""
    first = link.first
    if link.kind != LENGTH:
        d = sub3(get3(x, first), get3(x, first + 1))
        direction = get3(x, first + 2)
        put3(f, first, direction)
        put3(f, first + 1, scale3(-1.0, direction))
        put3(f, first + 2, d)
        return dot3(direction, d)
    total = 0.0 * n[0, 0]  # of the type of n
    if link.count == 0:  # the stop of a joint
        return total
    put3(f, first, (0.0, 0.0, 0.0))
    for k in range(first, first + link.count - 1):
        d = sub3(get3(x, k), get3(x, k + 1))
        l = np.sqrt(dot3(d, d))
        total += l
        inverse = 1.0 / (l if abs(l) > TINY else l + HUGE)
        u = scale3(inverse, d)
        n[k, 0], n[k, 1], n[k, 2], n[k, 3] = u[0], u[1], u[2], inverse
        put3(f, k, add3(get3(f, k), u))
        put3(f, k + 1, scale3(-1.0, u))
    return total


@inline
def gap_of(link, points, q, R, p, o, x, f, n):
    """The gap alone (its points, pulls and segments are left behind)."""
    carry_points(link, points, R, p, o, x)
    distance = pulls(link, x, f, n)
    return distance - wound(link, q) if link.kind == LENGTH else distance


@inline
def gradient(link, points, joints, chain, S, x, f, A):
    """A[q] += gap_q; the row must be clear on the link's support."""
    for k in range(link.first, link.first + link.count):
        j = points[k].joint
        if j < 0:
            continue
        X, F, w = get3(x, k), get3(f, k), points[k].w
        n = cross(X, F)
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            s = get6(S, i)
            A[joints[i].q] += s[0] * n[0] + s[1] * n[1] + s[2] * n[2] + w * (s[3] * F[0] + s[4] * F[1] + s[5] * F[2])
    if link.variable >= 0:
        A[link.variable] -= link.ratio


@inline
def clear_row(link, joints, support, A):
    """Zero on the support, which is all that `gradient` writes."""
    for a in range(1, support[0] + 1):
        A[joints[support[a]].q] = 0.0
    if link.variable >= 0:
        A[link.variable] = 0.0


@inline
def gaps(tree, q, R, p, S, o, x, f, n, h, A):
    """All gaps h and their gradients A, for placed joints."""
    for c in range(tree.links.shape[0]):
        link = tree.links[c]
        h[c] = gap_of(link, tree.points, q, R, p, o, x, f, n)
        clear_row(link, tree.joints, tree.support[c], A[c])
        gradient(link, tree.points, tree.joints, tree.chain, S, x, f, A[c])


@inline
def steps_of(link, points, support, chain, S, x, d):
    """d[i] = ∂(x_a − x_b)/∂q_i of one segment starting at point k, for every joint i of the support."""
    for a in range(1, support[0] + 1):
        put3(d, support[a], (0.0, 0.0, 0.0))
    for side in range(2):
        k = link + side
        j = points[k].joint
        if j < 0:
            continue
        X, w = get3(x, k), points[k].w
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            y = velocity(get6(S, i), X, w)
            if side == 0:
                put3(d, i, add3(get3(d, i), y))
            else:
                put3(d, i, sub3(get3(d, i), y))


@inline
def add_hessian(weight, link, points, joints, chain, support, S, x, f, n, d, e, H):
    """H[q, q] += weight · gap_qq of one link. `d` and `e` are scratch over joints."""
    for k in range(link.first, link.first + link.count):
        j = points[k].joint
        if j < 0:
            continue
        X, F, w = get3(x, k), get3(f, k), points[k].w
        for a in range(1, chain[j, 0] + 1):
            jj = chain[j, a]
            m = cross(velocity(get6(S, jj), X, w), F)  # f·(ω_i × y) = ω_i·(y × f)
            qj = joints[jj].q
            for b in range(a, chain[j, 0] + 1):
                i = chain[j, b]
                g = weight * (S[i, 0] * m[0] + S[i, 1] * m[1] + S[i, 2] * m[2])
                qi = joints[i].q
                H[qi, qj] += g
                if a != b:
                    H[qj, qi] += g
    if link.kind == LENGTH:
        for k in range(link.first, link.first + link.count - 1):
            steps_of(k, points, support, chain, S, x, d)
            u, inverse = get3(n, k), weight * n[k, 3]
            for a in range(1, support[0] + 1):
                i = support[a]
                di = get3(d, i)
                li = dot3(u, di)
                v = (di[0] - li * u[0], di[1] - li * u[1], di[2] - li * u[2])
                qi = joints[i].q
                for b in range(1, a + 1):
                    j = support[b]
                    g = inverse * dot3(v, get3(d, j))
                    qj = joints[j].q
                    H[qi, qj] += g
                    if a != b:
                        H[qj, qi] += g
    else:
        k = link.first
        steps_of(k, points, support, chain, S, x, d)
        _turns(k + 2, points, support, chain, S, x, e)
        for a in range(1, support[0] + 1):
            i = support[a]
            qi = joints[i].q
            for b in range(1, support[0] + 1):
                j = support[b]
                g = weight * dot3(get3(e, i), get3(d, j))
                qj = joints[j].q
                H[qi, qj] += g
                H[qj, qi] += g


@inline
def _turns(k, points, support, chain, S, x, e):
    """e[i] = ∂n/∂q_i of the direction of a plane."""
    for a in range(1, support[0] + 1):
        put3(e, support[a], (0.0, 0.0, 0.0))
    j = points[k].joint
    if j >= 0:
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            put3(e, i, velocity(get6(S, i), get3(x, k), 0.0))


@inline
def hessian(tree, weights, S, x, f, n, d, e, H):
    """H[q, q] = Σ_c weights_c · gap_qq; x, f, n as `gaps` left them."""
    for i in range(H.shape[0]):
        for j in range(H.shape[1]):
            H[i, j] = 0.0
    for c in range(tree.links.shape[0]):
        if weights[c] != 0.0:
            add_hessian(
                weights[c], tree.links[c], tree.points, tree.joints, tree.chain, tree.support[c], S, x, f, n, d, e, H
            )


@inline
def tangent_screws(joints, direction, S, W, dS):
    """Along a direction in q, every joint moves by W and its screw changes by δS = [W of its parent, S]."""
    for j in range(joints.shape[0]):
        i = joints[j].parent
        s = get6(S, j)
        w = get6(W, i) if i >= 0 else scale6(0.0, s)
        put6(dS, j, bracket(w, s))
        put6(W, j, axpy6(direction[joints[j].q], s, w))


@inline
def add_third(
    weight, link, points, joints, chain, support, S, W, dS, x, f, n, dx, df, d, e, dd, de, H, slope
):  # fmt: skip
    """H[q, q] += weight · ∂(gap_qq)[direction], and slope[q] = gap_qq · direction, of one link.

    W and dS belong to the direction (`tangent_screws`); dx, df and dd, de are scratch beside x, f and d, e.
    """
    first, last = link.first, link.first + link.count
    for k in range(first, last):
        j = points[k].joint
        put3(dx, k, (0.0, 0.0, 0.0))
        if j >= 0:
            put3(dx, k, velocity(get6(W, j), get3(x, k), points[k].w))
        put3(df, k, (0.0, 0.0, 0.0))
    if link.kind == LENGTH:
        for k in range(first, last - 1):
            u, c = get3(n, k), sub3(get3(dx, k), get3(dx, k + 1))
            along = dot3(u, c)
            du = scale3(n[k, 3], (c[0] - along * u[0], c[1] - along * u[1], c[2] - along * u[2]))
            put3(df, k, add3(get3(df, k), du))
            put3(df, k + 1, sub3(get3(df, k + 1), du))
    else:
        put3(df, first, get3(dx, first + 2))
        put3(df, first + 1, scale3(-1.0, get3(dx, first + 2)))
        put3(df, first + 2, sub3(get3(dx, first), get3(dx, first + 1)))
    for a in range(1, support[0] + 1):
        slope[joints[support[a]].q] = 0.0
    for k in range(first, last):
        j = points[k].joint
        if j < 0:
            continue
        X, Y, F, dF, w = get3(x, k), get3(dx, k), get3(f, k), get3(df, k), points[k].w
        for a in range(1, chain[j, 0] + 1):
            jj = chain[j, a]
            s = get6(S, jj)
            y = velocity(s, X, w)
            dy = add3(velocity(get6(dS, jj), X, w), cross((s[0], s[1], s[2]), Y))
            qj = joints[jj].q
            slope[qj] += dot3(dy, F) + dot3(y, dF)
            m, dm = cross(y, F), add3(cross(dy, F), cross(y, dF))
            for b in range(a, chain[j, 0] + 1):
                i = chain[j, b]
                g = weight * (dot3(get3(dS, i), m) + dot3(get3(S, i), dm))
                qi = joints[i].q
                H[qi, qj] += g
                if a != b:
                    H[qj, qi] += g
    if link.kind == LENGTH:
        for k in range(first, last - 1):
            steps_of(k, points, support, chain, S, x, d)
            _tangent_steps(k, points, support, chain, S, dS, x, dx, dd)
            u, il, c = get3(n, k), n[k, 3], sub3(get3(dx, k), get3(dx, k + 1))
            along = dot3(u, c)
            du, dil = scale3(il, (c[0] - along * u[0], c[1] - along * u[1], c[2] - along * u[2])), -il * il * along
            for a in range(1, support[0] + 1):
                i = support[a]
                di, ei = get3(d, i), get3(dd, i)
                li = dot3(u, di)
                dli = dot3(u, ei) + dot3(du, di)
                # v = di − li u, and its tangent; g = δ(il v·dj)
                v = (di[0] - li * u[0], di[1] - li * u[1], di[2] - li * u[2])
                dv = (
                    il * (ei[0] - dli * u[0] - li * du[0]) + dil * v[0],
                    il * (ei[1] - dli * u[1] - li * du[1]) + dil * v[1],
                    il * (ei[2] - dli * u[2] - li * du[2]) + dil * v[2],
                )
                qi = joints[i].q
                for b in range(1, a + 1):
                    j = support[b]
                    g = weight * (dot3(dv, get3(d, j)) + il * dot3(v, get3(dd, j)))
                    qj = joints[j].q
                    H[qi, qj] += g
                    if a != b:
                        H[qj, qi] += g
    else:
        steps_of(first, points, support, chain, S, x, d)
        _tangent_steps(first, points, support, chain, S, dS, x, dx, dd)
        _turns(first + 2, points, support, chain, S, x, e)
        _tangent_turns(first + 2, points, support, chain, S, dS, x, dx, de)
        for a in range(1, support[0] + 1):
            i = support[a]
            qi = joints[i].q
            for b in range(1, support[0] + 1):
                j = support[b]
                g = weight * (dot3(get3(de, i), get3(d, j)) + dot3(get3(e, i), get3(dd, j)))
                qj = joints[j].q
                H[qi, qj] += g
                H[qj, qi] += g


@inline
def _tangent_steps(k, points, support, chain, S, dS, x, dx, dd):
    for a in range(1, support[0] + 1):
        put3(dd, support[a], (0.0, 0.0, 0.0))
    for side in range(2):
        j = points[k + side].joint
        if j < 0:
            continue
        X, Y, w = get3(x, k + side), get3(dx, k + side), points[k + side].w
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            y = add3(velocity(get6(dS, i), X, w), cross(get3(S, i), Y))
            if side == 0:
                put3(dd, i, add3(get3(dd, i), y))
            else:
                put3(dd, i, sub3(get3(dd, i), y))


@inline
def _tangent_turns(k, points, support, chain, S, dS, x, dx, de):
    for a in range(1, support[0] + 1):
        put3(de, support[a], (0.0, 0.0, 0.0))
    j = points[k].joint
    if j >= 0:
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            put3(de, i, add3(velocity(get6(dS, i), get3(x, k), 0.0), cross(get3(S, i), get3(dx, k))))
