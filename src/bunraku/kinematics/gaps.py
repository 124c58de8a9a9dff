"""Gaps of links and their derivatives: strings through eyelets and over pulleys, wires, points on planes, closures.

A link is a scalar function of a few points x_k. Along a string, gap = Σ |x_a − x_b| − length; on a plane or in a closure,
gap = n·(x_a − x_b), where the direction n is one more "point", with w = 0 instead of 1. Either way, with (ω_i, v_i) the
screw of joint i,

    gap_i = Σ_k f_k · x_k,i                          f_k = ∂gap/∂x_k, and x_k,i = ω_i × x_k + w_k v_i

Second and third derivatives are in `gap_derivatives`; strings over pulleys in `wrapping`; strings that lie on bodies in `draping`;
bodies that touch in `feature_gaps` and `shared_slips`.
"""

from __future__ import annotations

import numpy as np

from bunraku.figure.records import LinkKind, PointRole
from bunraku.kernels.compile import bare, woven
from bunraku.kinematics.draping import draped_pulls
from bunraku.kinematics.drum_layers import has_layers, layers_wound
from bunraku.kinematics.feature_gaps import feature_pulls
from bunraku.kinematics.shared_slips import shared_slip_pulls
from bunraku.kinematics.tree import carry
from bunraku.kinematics.wrapping import wrapped_pulls
from bunraku.spatial.algebra import add3, cross, dot3, get3, get6, put3, scale3, sub3


@woven
def velocity(s, x, w):
    """x_k,i of a point (w = 1) or a direction (w = 0) under the motion s."""
    return (
        s[1] * x[2] - s[2] * x[1] + w * s[3],
        s[2] * x[0] - s[0] * x[2] + w * s[4],
        s[0] * x[1] - s[1] * x[0] + w * s[5],
    )


@woven
def carry_points(link, points, R, p, o, x):
    for k in range(link.first, link.first + link.count):
        put3(x, k, carry(R, p, o, points[k].joint, points[k].position, points[k].is_point))


@woven
def wound(link, q):
    """The free length of a string."""
    return link.length + (link.ratio * q[link.variable] if link.variable >= 0 else 0.0)


@bare
def pulls(link, points, x, f, n):
    """f_k of every point, and n = (unit vector, 1/length) of every segment. Returns the distance along the link."""
    first = link.first
    if link.kind == LinkKind.WRAPPED:
        return wrapped_pulls(link, points, x, f, n)
    if link.kind == LinkKind.DRAPED:
        return draped_pulls(link, points, x, f) + n.dtype.type(0)  # of the type of n
    if link.kind >= LinkKind.FEATURES:
        return feature_pulls(link, x, f)
    if link.kind == LinkKind.SLIP and link.count == 5:
        return shared_slip_pulls(link, x, f)
    if link.kind != LinkKind.LENGTH:
        d = sub3(get3(x, first), get3(x, first + 1))
        direction = get3(x, first + 2)
        put3(f, first, direction)
        put3(f, first + 1, scale3(-1.0, direction))
        put3(f, first + 2, d)
        return dot3(direction, d)
    total = n.dtype.type(0)  # zero, of the type of n
    if link.count == 0:  # a joint limit
        return total
    put3(f, first, (0.0, 0.0, 0.0))
    for k in range(first, first + link.count - 1):
        d = sub3(get3(x, k), get3(x, k + 1))
        l = np.sqrt(dot3(d, d))
        total += l
        # A segment without length (below 1e-12 m) has no direction: its tension exerts no force.
        inverse = 1.0 / (l if abs(l) > 1e-12 else l + 1e300)
        u = scale3(inverse, d)
        n[k, 0], n[k, 1], n[k, 2], n[k, 3] = u[0], u[1], u[2], inverse
        put3(f, k, add3(get3(f, k), u))
        put3(f, k + 1, scale3(-1.0, u))
    return total


@bare
def gap_of(link, points, q, R, p, o, x, f, n):
    """The gap of a link, without derivatives; also writes its points x, their f, and its segments n."""
    carry_points(link, points, R, p, o, x)
    distance = pulls(link, points, x, f, n)
    if link.kind == LinkKind.WRAPPED and has_layers(link, points):
        return distance - layers_wound(link, points, q, f, n)
    if link.kind == LinkKind.FEATURES or link.kind == LinkKind.RIM:
        return distance + link.length
    return distance if link.kind == LinkKind.PLANE or link.kind == LinkKind.SLIP else distance - wound(link, q)


@bare
def gradient(link, points, joints, chain, S, x, f, A):
    """A[q] += gap_q; the row must be zero on the link's support."""
    for k in range(link.first, link.first + link.count):
        j = points[k].joint
        if j < 0 or points[k].role == PointRole.SIDE:
            continue
        X, F, w = get3(x, k), get3(f, k), points[k].is_point
        n = cross(X, F)
        for a in range(1, chain[j, 0] + 1):
            i = chain[j, a]
            s = get6(S, i)
            A[joints[i].variable] += s[0] * n[0] + s[1] * n[1] + s[2] * n[2] + w * (s[3] * F[0] + s[4] * F[1] + s[5] * F[2])
    if link.variable >= 0:
        if link.kind == LinkKind.WRAPPED and has_layers(link, points):
            A[link.variable] += f[link.first + link.count - 1, 0]
        else:
            A[link.variable] -= link.ratio


@woven
def clear_row(link, joints, support, A):
    """Sets A to zero on the link's support, which is all that `gradient` writes."""
    for a in range(1, support[0] + 1):
        A[joints[support[a]].variable] = 0.0
    if link.variable >= 0:
        A[link.variable] = 0.0


@bare
def gaps(tree, q, R, p, S, o, x, f, n, h, A):
    """All gaps h and their gradients A, for joints placed by `tree.place`."""
    for c in range(tree.links.shape[0]):
        link = tree.links[c]
        h[c] = gap_of(link, tree.points, q, R, p, o, x, f, n)
        clear_row(link, tree.joints, tree.support[c], A[c])
        gradient(link, tree.points, tree.joints, tree.chain, S, x, f, A[c])
