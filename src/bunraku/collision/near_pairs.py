"""The kernel under every query: which things are near each other at a configuration, and how near.

Things are numbered: first the shapes that move, then the static things. Each shape lies within a capsule (a segment with a
radius); a *round* shape is equal to it. Distances between round shapes, and from round shapes to planes, boxes and meshes, are
exact. For other pairs the kernel gives a lower bound, and coal the distance. An answer is one row of integers (sample, A, B,
status) and one of floats (value, p_A, p_B, normal, margin), with p_B − p_A = value · normal.
"""

from __future__ import annotations

import numpy as np

from bunraku.collision.box_tree import STACK_DEPTH, away, corners, inside, nearest, vertices
from bunraku.collision.closest_points import above_plane, between_segments, inverse_way, meets_box
from bunraku.collision.shape_motion import travels
from bunraku.collision.world_arrays import MODE, ORIGIN, STATIC, STATUS, SURFACE, end_of, start_of
from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.tree import carry, place
from bunraku.spatial.algebra import axpy3, cross, dot3, scale3, sub3


@inline
def _emit(out, count, who, status, value, x, y, n, margin):
    """Writes one more row if there is room; returns the new count. `who` is (sample, A, B)."""
    ints, floats = out
    if count < ints.shape[0]:
        ints[count, 0], ints[count, 1], ints[count, 2], ints[count, 3] = who[0], who[1], who[2], status
        floats[count, 0], floats[count, 10] = value, margin
        for k in range(3):
            floats[count, 1 + k], floats[count, 4 + k], floats[count, 7 + k] = x[k], y[k], n[k]
    return count + 1


@inline
def _across(u, v):
    """A unit vector perpendicular to u and v; where these are parallel, to the longer one."""
    n = cross(u, v)
    size = dot3(n, n)
    if size <= 1e-24 * dot3(u, u) * dot3(v, v) or size == 0.0:
        w = u if dot3(u, u) >= dot3(v, v) else v
        n = cross(w, (1.0, 0.0, 0.0) if abs(w[0]) <= max(abs(w[1]), abs(w[2])) else (0.0, 1.0, 0.0))
        size = dot3(n, n)
        if size == 0.0:
            return 0.0, 0.0, 1.0
    return scale3(1.0 / np.sqrt(size), n)


@inline
def _round(a, b, r, c, d, s):
    """(value, p_A, p_B, normal) of two capsules: the segment a–b with radius r, and c–d with radius s."""
    x, y = between_segments(a, b, c, d)
    gap = sub3(y, x)
    size = np.sqrt(dot3(gap, gap))
    n = scale3(1.0 / size, gap) if size > 1e-12 else _across(sub3(b, a), sub3(d, c))
    return size - r - s, axpy3(r, n, x), axpy3(-s, n, y), n


@inline
def _poked(ints, boxes, triangles, root, solid, a, b, r, triangle, stack):
    """(value, p_A, p_B, normal) of a capsule whose segment a–b passes through a surface, or is inside of it.

    The depth in a solid is that of the deeper end. At an open surface it is the height over the triangle of the end that is
    nearer to it.
    """
    depth = -1.0
    x = y = a
    if solid:
        for k in range(2):
            end = a if k == 0 else b
            if inside(ints, boxes, triangles, root, end, stack):
                deep, _, out, _ = nearest(ints, boxes, triangles, root, end, end, np.inf, stack)
                if deep > depth:
                    depth, x, y = deep, end, out
    if depth > 1e-12:
        n = scale3(1.0 / depth, sub3(x, y))
    else:
        p0, p1, p2 = vertices(triangles, max(triangle, 0))
        n = cross(sub3(p1, p0), sub3(p2, p0))
        n = scale3(1.0 / np.sqrt(max(dot3(n, n), 1e-300)), n)
        ha, hb = dot3(n, sub3(a, p0)), dot3(n, sub3(b, p0))
        if depth >= 0.0:  # an end lies on the surface itself: the normal points outward
            depth, n = 0.0, scale3(-1.0, n)
        else:
            if abs(ha) > abs(hb):
                ha, a = hb, b
            depth, x, y = abs(ha), a, axpy3(-ha, n, a)
            n = n if ha > 0.0 else scale3(-1.0, n)
    return -depth - r, axpy3(r, n, x), y, n


@inline
def _to_surface(ints, boxes, triangles, root, surface, a, b, r, exact, margin, mode, stack):
    """(status, or −1 where they are not near; value, p_A, p_B, normal) of a capsule and a static surface of triangles."""
    # If the margin is below −r, an earlier pair is deeper than r: only a segment that passes through the surface is deeper still.
    bound = max(r + margin, 1e-9)
    d, x, y, triangle = nearest(ints, boxes, triangles, root, a, b, bound, stack)
    if d > 0.0:  # the segment does not pass through the surface; it may still be wholly inside
        middle = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
        within = (
            surface != SURFACE.open
            and away(boxes, root, middle) == 0.0
            and inside(ints, boxes, triangles, root, middle, stack)
        )  # fmt: skip
        if not within:
            if triangle < 0 or d - r >= margin:
                return -1, np.inf, x, y, ORIGIN
            n = scale3(1.0 / d, sub3(y, x))
            return STATUS.exact if exact else STATUS.bound, d - r, axpy3(r, n, x), y, n
    elif not exact:
        return STATUS.bound, -r, x, y, ORIGIN
    if mode == MODE.first or surface == SURFACE.convex:  # overlap is all that is asked, or coal finds the depth in a convex solid
        return STATUS.deep, -r, x, y, ORIGIN
    value, x, y, n = _poked(ints, boxes, triangles, root, surface != SURFACE.open, a, b, r, triangle, stack)
    return STATUS.exact if value < margin else -1, value, x, y, n


@inline
def _misses(pose, half, R, p, j, i, M, a, b, reach):
    """Whether the segment a–b stays farther than `reach` from the box around shape i, which joint j carries."""
    x = carry(R, p, ORIGIN, j, (pose[i, 0, 0], pose[i, 1, 0], pose[i, 2, 0]), 0.0)
    y = carry(R, p, ORIGIN, j, (pose[i, 0, 1], pose[i, 1, 1], pose[i, 2, 1]), 0.0)
    z = cross(x, y)
    middle, box = (M[i, 0], M[i, 1], M[i, 2]), (half[i, 0], half[i, 1], half[i, 2])
    a, b = sub3(a, middle), sub3(b, middle)
    a, b = (dot3(x, a), dot3(y, a), dot3(z, a)), (dot3(x, b), dot3(y, b), dot3(z, b))
    return not meets_box(a, inverse_way(a, b), scale3(-1.0, box), box, reach)


@inline
def _between_shapes(world, t, cutoff, mode, R, p, E, M, D, out, count):
    """Writes the near pairs of moving shapes; returns (new count, new cutoff, whether to stop)."""
    moving = D.shape[0] > 0
    for pair in range(world.pairs.shape[0]):
        i, j = world.pairs[pair, 0], world.pairs[pair, 1]
        margin = cutoff
        if moving:
            margin += D[i, world.pairs[pair, 2]] + D[j, world.pairs[pair, 3]]
        reach = max(world.ball[i] + world.ball[j] + margin, 0.0)
        u, v, w = M[i, 0] - M[j, 0], M[i, 1] - M[j, 1], M[i, 2] - M[j, 2]
        if u * u + v * v + w * w >= reach * reach:
            continue
        a, b, c, d = start_of(E, i), end_of(E, i), start_of(E, j), end_of(E, j)
        value, x, y, n = _round(a, b, world.radius[i], c, d, world.radius[j])
        if value < margin:
            sure = world.round[i] and world.round[j]
            if not sure:  # a capsule bounds a flat shape poorly: test its box as well
                r, s = world.radius[i] + margin, world.radius[j] + margin
                if not world.round[i] and _misses(world.pose, world.half, R, p, world.joint[i], i, M, c, d, s):
                    continue
                if not world.round[j] and _misses(world.pose, world.half, R, p, world.joint[j], j, M, a, b, r):
                    continue
            count = _emit(out, count, (t, i, j), STATUS.exact if sure else STATUS.bound, value, x, y, n, margin)
            if sure and mode == MODE.nearest:
                cutoff = value
            elif sure and mode == MODE.first:
                return count, cutoff, True
    return count, cutoff, False


@inline
def _near_boxes(top_ints, top_boxes, top_order, static_box, a, b, reach, stack, near, count):
    """Appends to `near` the static things whose boxes are within `reach` of the segment a–b; returns the new count."""
    inverse = inverse_way(a, b)
    stack[0] = 0
    top = 1 if top_order.shape[0] > 0 else 0
    while top > 0:
        top -= 1
        node = stack[top]
        lo, hi = corners(top_boxes, node)
        if not meets_box(a, inverse, lo, hi, reach):
            continue
        if top_ints[node, 2] == 0:
            stack[top], stack[top + 1] = top_ints[node, 0], node + 1
            top += 2
            continue
        for k in range(top_ints[node, 1], top_ints[node, 1] + top_ints[node, 2]):
            s = top_order[k]
            lo, hi = corners(static_box, s)
            if meets_box(a, inverse, lo, hi, reach):
                near[count] = s
                count += 1
    return count


@inline
def against_static(world, t, cutoff, mode, E, D, stack, near, out, count):
    """Writes the near pairs of a moving shape and a static thing; returns (new count, new cutoff, whether to stop)."""
    n, n_planes = world.joint.shape[0], world.planes.shape[0]
    near[:n_planes] = world.planes
    for i in range(n):
        a, b, r, round_ = start_of(E, i), end_of(E, i), world.radius[i], world.round[i]
        spare = D[i, world.chain[world.joint[i], 0]] if D.shape[0] > 0 else 0.0
        reach = max(r + cutoff + spare, 0.0)
        # Single arrays as arguments: passing the whole world costs more than a test against a plane.
        n_near = _near_boxes(world.top_ints, world.top_boxes, world.top_order, world.static_box, a, b, reach, stack, near, n_planes)
        for k in range(n_near):
            s, margin, exact = near[k], cutoff + spare, round_
            if not world.tested[i, s]:
                continue
            kind, c, radius = world.kind[s], start_of(world.static_ends, s), world.static_radius[s]
            if kind == STATIC.surface:
                status, value, x, y, normal = _to_surface(
                    world.ints, world.boxes, world.triangles, world.root[s], world.surface[s], a, b, r, exact, margin,
                    mode, stack,
                )  # fmt: skip
                if status < 0:
                    continue
            else:
                if kind == STATIC.plane:
                    height, x = above_plane(a, b, c, radius)
                    value, normal = height - r, scale3(-1.0, c)
                    x, y = axpy3(r, normal, x), axpy3(height, normal, x)
                else:
                    value, x, y, normal = _round(a, b, r, c, end_of(world.static_ends, s), radius)
                    exact = exact and kind == STATIC.round
                if value >= margin:
                    continue
                status = STATUS.exact if exact else STATUS.bound
            count = _emit(out, count, (t, i, n + s), status, value, x, y, normal, margin)
            if status != STATUS.bound and mode == MODE.nearest:
                cutoff = min(cutoff, value)
            elif status != STATUS.bound and mode == MODE.first:
                return count, cutoff, True
    return count, cutoff, False


@kernel
def near(world, Q, half, within, mode, ints, floats):
    """Writes the rows of all samples of Q, as far as they fit; returns how many there are.

    A pair is near at q if its distance is below `within` [m]; with `half` (T, n_q), if it may be so anywhere in the box q ± half.
    """
    n, n_joints, n_static = world.joint.shape[0], world.joints.shape[0], world.kind.shape[0]
    R, p, S = np.empty((n_joints, 3, 3)), np.empty((n_joints, 3)), np.empty((n_joints, 6))
    E, M, stack, candidates = np.empty((n, 6)), np.empty((n, 3)), np.empty(STACK_DEPTH, np.int64), np.empty(n_static, np.int64)
    D = np.empty((n if half.shape[0] else 0, world.chain.shape[1]))
    count = 0
    for t in range(Q.shape[0]):
        place(world.joints, 0, n_joints, Q[t], ORIGIN, R, p, S)
        for i in range(n):
            a = carry(R, p, ORIGIN, world.joint[i], start_of(world.ends, i), 1.0)
            b = carry(R, p, ORIGIN, world.joint[i], end_of(world.ends, i), 1.0)
            for k in range(3):
                E[i, k], E[i, 3 + k], M[i, k] = a[k], b[k], 0.5 * (a[k] + b[k])
            if half.shape[0]:
                travels(world.joints, world.chain, S, world.joint[i], a, b, world.radius[i], half[t], D[i])
        count, cutoff, stop = _between_shapes(world, t, within, mode, R, p, E, M, D, (ints, floats), count)
        if not stop:
            count, cutoff, stop = against_static(world, t, cutoff, mode, E, D, stack, candidates, (ints, floats), count)
    return count


@kernel
def contains(ints, boxes, triangles, root, x):
    """Whether the point x is inside of a closed surface."""
    return inside(ints, boxes, triangles, root, (x[0], x[1], x[2]), np.empty(STACK_DEPTH, np.int64))
