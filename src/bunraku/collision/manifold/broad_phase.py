"""Which bodies come near each other in a step: boxes around their balls at both ends of it, sorted and swept along one axis."""

from __future__ import annotations

import math

from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD
from bunraku.kernels.compile import bare
from bunraku.kinematics.tree import carry, place
from bunraku.spatial.algebra import dot3, get3, put3


@bare
def put_bodies(world, joints, q, o, placed):
    """Joints and centres of all bodies at q."""
    place(joints, 0, joints.shape[0], q, o, placed.R, placed.p, placed.S)
    for a in range(world.kind.shape[0]):
        put3(placed.c, a, carry(placed.R, placed.p, o, world.joint[a], world.centre[a], 1.0))


@bare
def put_features(world, a, o, placed):
    """Vertices and normals of body a."""
    j = world.joint[a]
    for v in range(world.first[a, 0], world.first[a, 0] + world.count[a, 0]):
        put3(placed.x, v, carry(placed.R, placed.p, o, j, world.vertices[v], 1.0))
    for f in range(world.first[a, 2], world.first[a, 2] + world.count[a, 2]):
        put3(placed.n, f, carry(placed.R, placed.p, o, j, world.faces[f], 0.0))


@bare
def near_pairs_of(world, start, end, near):
    """Pairs of bodies that may come near each other between `start` and `end`. Returns how many; too many for near.pairs count."""
    m, order = world.kind.shape[0], near.order
    for a in range(m):
        r = world.bound[a] + 0.5 * MANIFOLD.reach
        for k in range(3):
            near.low[a, k] = min(start.c[a, k], end.c[a, k]) - r
            near.high[a, k] = max(start.c[a, k], end.c[a, k]) + r
    x = _longest(world, start)
    y, z = (x + 1) % 3, (x + 2) % 3
    for i in range(1, m):  # nearly sorted since the last step
        a, k = order[i], i
        while k > 0 and near.low[order[k - 1], x] > near.low[a, x]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = a
    count = 0
    for i in range(m):
        a = order[i]
        for k in range(i + 1, m):
            b = order[k]
            if near.low[b, x] > near.high[a, x]:
                break
            if not world.may[a, b] or near.low[b, y] > near.high[a, y] or near.low[a, y] > near.high[b, y]:
                continue
            if near.low[b, z] > near.high[a, z] or near.low[a, z] > near.high[b, z] or _above(world, a, b, start, end):
                continue
            if count < near.pairs.shape[0]:
                near.pairs[count, 0], near.pairs[count, 1] = min(a, b), max(a, b)
            count += 1
    return count


@bare
def _longest(world, placed):
    """The axis along which the bodies that move are spread most."""
    best, most = 0, -1.0
    for k in range(3):
        low, high = math.inf, -math.inf
        for a in range(world.kind.shape[0]):
            if world.joint[a] >= 0:
                low, high = min(low, placed.c[a, k]), max(high, placed.c[a, k])
        if high - low > most:
            best, most = k, high - low
    return best


@bare
def _above(world, a, b, start, end):
    """Whether one is a half-space that the other stays away from."""
    if world.kind[a] == BODY.half_space:
        a, b = b, a
    if world.kind[b] != BODY.half_space:
        return False
    f = world.first[b, 2]
    r = world.bound[a] + MANIFOLD.reach
    return _height(world, a, b, f, start) > r and _height(world, a, b, f, end) > r


@bare
def _height(world, a, b, f, placed):
    """Of the centre of a above the half-space b, whose point and normal are already placed."""
    n, x, y = get3(placed.n, f), get3(placed.c, a), get3(placed.x, world.first[b, 0])
    return dot3(n, x) - dot3(n, y)
