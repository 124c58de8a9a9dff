"""Which bodies come near each other in a step.

Where few pairs may touch, each is watched: two bodies whose capsules are d apart cannot meet before these have travelled
d together, so a pair is looked at again only then. Where many may, boxes around the balls at both ends of the step are sorted and
swept along one axis.
"""

from __future__ import annotations

import math

from bunraku.collision.closest_points import between_segments
from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD
from bunraku.kernels.compile import bare, woven
from bunraku.kinematics.tree import carry, place
from bunraku.spatial.algebra import dot3, get3, put3, sub3


@bare
def put_bodies(world, joints, q, o, placed, near):
    """Joints at q, and centres of all bodies that may touch others."""
    place(joints, 0, joints.shape[0], q, o, placed.R, placed.p, placed.S)
    put_centres(world, o, placed, near)


@bare
def put_centres(world, o, placed, near):
    """Centres of all bodies that may touch others, whose joints are already placed."""
    for a in range(world.kind.shape[0]):
        if near.watched.shape[0] == 0 or near.concerned[a]:
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
def near_pairs_of(world, o, start, end, near):
    """Pairs of bodies that may come near each other between `start` and `end`. Returns how many; too many for near.pairs count."""
    if near.watched.shape[0] > 0:
        return _watched_pairs(world, o, start, end, near)
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
            beside = (near.low[b, y] > near.high[a, y]) | (near.low[a, y] > near.high[b, y])  # no jumps that depend on chance
            beside |= (near.low[b, z] > near.high[a, z]) | (near.low[a, z] > near.high[b, z])
            if beside or not world.may[a, b] or _above(world, a, b, start, end):
                continue
            if count < near.pairs.shape[0]:
                near.pairs[count, 0], near.pairs[count, 1] = min(a, b), max(a, b)
            count += 1
    return count


@bare
def _watched_pairs(world, o, start, end, near):
    """The same, by how far bodies have travelled since each pair was last looked at."""
    come, way, joint = 0.0, 0.0, -1
    for a in range(world.kind.shape[0]):
        if not near.concerned[a]:
            continue
        if world.joint[a] != joint:  # how far it turns: bodies of one joint stand together
            joint = world.joint[a]
            come, way = _turn(near.last_R, start.R, joint), _turn(start.R, end.R, joint)
            _keep_axes(near.last_R, start.R, joint)
        lever = _half_length(world, a)
        near.travelled[a, 0] += lever * come + _far_apart(near.last_c, start.c, a)
        near.travelled[a, 1] = near.travelled[a, 0] + lever * way + _far_apart(start.c, end.c, a)
        put3(near.last_c, a, get3(start.c, a))
    count = 0
    for p in range(near.watched.shape[0]):
        a, b = near.watched[p, 0], near.watched[p, 1]
        if near.travelled[a, 1] + near.travelled[b, 1] < near.until[p]:
            continue
        near.until[p] = _apart(world, o, start, near, a, b) - MANIFOLD.reach + near.travelled[a, 0] + near.travelled[b, 0]
        if near.travelled[a, 1] + near.travelled[b, 1] < near.until[p]:
            continue
        if count < near.pairs.shape[0]:
            near.pairs[count, 0], near.pairs[count, 1] = a, b
        count += 1
    return count


@bare
def _turn(before, after, j):
    """The chord of the angle by which joint j turns."""
    square = 0.0
    if j >= 0:
        for i in range(3):
            for k in range(3):
                square += (after[j, i, k] - before[j, i, k]) ** 2
    return math.sqrt(0.5 * square)


@woven
def _keep_axes(kept, R, j):
    if j >= 0:
        for i in range(3):
            for k in range(3):
                kept[j, i, k] = R[j, i, k]


@woven
def _far_apart(before, after, a):
    x, y, z = after[a, 0] - before[a, 0], after[a, 1] - before[a, 1], after[a, 2] - before[a, 2]
    return math.sqrt(x * x + y * y + z * z)


@woven
def _half_length(world, a):
    """Half the length of the segment in a body, see `end_of`; turning moves its ends by no more than this times its chord."""
    if world.kind[a] == BODY.segment:
        return world.bound[a] - world.radius[a]
    if world.kind[a] == BODY.cylinder:
        return math.sqrt(max(world.bound[a] ** 2 - world.radius[a] ** 2, 0.0))
    return 0.0


@bare
def _apart(world, o, placed, near, a, b):
    """How far the capsules around two bodies are apart, less than nothing where they overlap."""
    if world.kind[a] == BODY.half_space:
        a, b = b, a
    put_once(world, o, placed, near.put, a, 0)
    if world.kind[b] == BODY.half_space:
        if world.joint[b] >= 0 or world.kind[a] == BODY.half_space:  # it may turn
            return -math.inf
        n, y = get3(placed.n, world.first[b, 2]), get3(placed.x, world.first[b, 0])
        low = min(dot3(n, end_of(world, placed, a, 0)), dot3(n, end_of(world, placed, a, 1)))
        return low - dot3(n, y) - around(world, a)
    put_once(world, o, placed, near.put, b, 0)
    x, y = between_segments(
        end_of(world, placed, a, 0), end_of(world, placed, a, 1), end_of(world, placed, b, 0), end_of(world, placed, b, 1)
    )
    d = sub3(x, y)
    return math.sqrt(dot3(d, d)) - around(world, a) - around(world, b)


@woven
def end_of(world, placed, a, k):
    """An end of the segment in a body: its core, or the centre of a polytope."""
    if world.kind[a] == BODY.polytope:
        return get3(placed.c, a)
    return get3(placed.x, world.first[a, 0] + k * (world.count[a, 0] - 1))


@woven
def around(world, a):
    """The radius of the capsule around that segment."""
    return world.bound[a] if world.kind[a] == BODY.polytope else world.radius[a]


@bare
def put_once(world, o, placed, put, a, k):
    """Places vertices and faces of body a, unless `put[a, k]` says that they are."""
    if not put[a, k]:
        put_features(world, a, o, placed)
        put[a, k] = True


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
