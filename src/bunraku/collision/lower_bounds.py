"""Lower bounds on the distances of things at a configuration: the kernels under the proofs of `curve_proofs`."""

from __future__ import annotations

import numpy as np

from bunraku.collision.gjk import TRIANGLE, apart, support
from bunraku.collision.world_arrays import ORIGIN, STATIC
from bunraku.kernels.compile import inline
from bunraku.kinematics.tree import carry


@inline
def put_piece(pose, b, j, R, p, P, half, radius, reach):
    """Writes the axes and centre in the world of piece b, carried by joint j, and the half sizes of its axis-aligned box."""
    for c in range(4):
        x = carry(R, p, ORIGIN, j, (pose[b, 3 * c], pose[b, 3 * c + 1], pose[b, 3 * c + 2]), 1.0 if c == 3 else 0.0)
        P[b, 3 * c], P[b, 3 * c + 1], P[b, 3 * c + 2] = x
    for r in range(3):
        size = abs(P[b, r]) * half[b, 0] + abs(P[b, 3 + r]) * half[b, 1] + abs(P[b, 6 + r]) * half[b, 2]
        reach[b, r] = size + radius[b]


@inline
def box_gap(P, b, half, radius, reach, boxes, node):
    """A lower bound on the distance of piece b to an axis-aligned box: its gap along the world's or the piece's axes."""
    total = 0.0
    for k in range(3):
        gap = max(boxes[node, k] - P[b, 9 + k], P[b, 9 + k] - boxes[node, 3 + k]) - reach[b, k]
        if gap > 0.0:
            total += gap * gap
    u = 0.5 * (boxes[node, 0] + boxes[node, 3]) - P[b, 9]
    v = 0.5 * (boxes[node, 1] + boxes[node, 4]) - P[b, 10]
    w = 0.5 * (boxes[node, 2] + boxes[node, 5]) - P[b, 11]
    a, c, d = (
        0.5 * (boxes[node, 3] - boxes[node, 0]), 0.5 * (boxes[node, 4] - boxes[node, 1]), 0.5 * (boxes[node, 5] - boxes[node, 2]),
    )  # fmt: skip
    other = 0.0
    for k in range(3):
        x, y, z = P[b, 3 * k], P[b, 3 * k + 1], P[b, 3 * k + 2]
        gap = abs(u * x + v * y + w * z) - half[b, k] - radius[b] - abs(x) * a - abs(y) * c - abs(z) * d
        if gap > 0.0:
            other += gap * gap
    return np.sqrt(max(total, other))


@inline
def _to_triangle(bodies, b, P, triangles, i, cap, W):
    """A lower bound on the distance of piece b to triangle i, by GJK."""
    x = (triangles[i, 0] + triangles[i, 3] + triangles[i, 6]) / 3.0
    y = (triangles[i, 1] + triangles[i, 4] + triangles[i, 7]) / 3.0
    z = (triangles[i, 2] + triangles[i, 5] + triangles[i, 8]) / 3.0
    start, r = (P[b, 9] - x, P[b, 10] - y, P[b, 11] - z), bodies.radius[b]
    return (
        apart(
            bodies.kind[b], bodies.half, bodies.points, bodies.first[b], bodies.count[b], P, b,
            TRIANGLE, bodies.half, triangles, i, 0, P, b, start, cap + r, W,
        )
        - r
    )  # fmt: skip


@inline
def _triangle_gap(P, b, half, radius, triangles, i):
    """A cheaper lower bound on the distance of piece b to triangle i: the gaps along the axes of the piece."""
    total = 0.0
    for k in range(3):
        x, y, z = P[b, 3 * k], P[b, 3 * k + 1], P[b, 3 * k + 2]
        at = x * P[b, 9] + y * P[b, 10] + z * P[b, 11]
        p = x * triangles[i, 0] + y * triangles[i, 1] + z * triangles[i, 2] - at
        q = x * triangles[i, 3] + y * triangles[i, 4] + z * triangles[i, 5] - at
        r = x * triangles[i, 6] + y * triangles[i, 7] + z * triangles[i, 8] - at
        gap = max(min(p, q, r), -max(p, q, r)) - half[b, k] - radius[b]
        if gap > 0.0:
            total += gap * gap
    return np.sqrt(total)


@inline
def to_surface(bodies, b, P, reach, ints, boxes, triangles, root, cap, last, stack, gaps, W):
    """(lower bound on the distance of piece b to a mesh, at most `cap`; nearest triangle, or −1). `last` is tried first."""
    best, found = cap, -1
    if last >= 0:
        gap = _to_triangle(bodies, b, P, triangles, last, best, W)
        if gap < best:
            best, found = gap, last
    half, radius = bodies.half, bodies.radius
    stack[0], gaps[0] = root, box_gap(P, b, half, radius, reach, boxes, root)
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if gaps[top] >= best:
            continue
        if ints[node, 2] > 0:
            for i in range(ints[node, 1], ints[node, 1] + ints[node, 2]):
                if i == found or _triangle_gap(P, b, half, radius, triangles, i) >= best:
                    continue
                gap = _to_triangle(bodies, b, P, triangles, i, best, W)
                if gap < best:
                    best, found = gap, i
            if best <= 0.0:
                return best, found
        else:
            near, far = node + 1, ints[node, 0]
            close, away = box_gap(P, b, half, radius, reach, boxes, near), box_gap(P, b, half, radius, reach, boxes, far)
            if close > away:
                near, far, close, away = far, near, away, close
            if away < best:
                stack[top], gaps[top] = far, away
                top += 1
            if close < best:
                stack[top], gaps[top] = near, close
                top += 1
    return best, found


@inline
def between(bodies, b, c, P, cap, W):
    """A lower bound on the distance of the pieces b and c, by GJK."""
    start = (P[b, 9] - P[c, 9], P[b, 10] - P[c, 10], P[b, 11] - P[c, 11])
    r = bodies.radius[b] + bodies.radius[c]
    return (
        apart(
            bodies.kind[b], bodies.half, bodies.points, bodies.first[b], bodies.count[b], P, b,
            bodies.kind[c], bodies.half, bodies.points, bodies.first[c], bodies.count[c], P, c, start, cap + r, W,
        )
        - r
    )  # fmt: skip


@inline
def to_static(world, bodies, i, P, reach, cap, last, stack, gaps, W):
    """(lower bound on the distance of shape i to all static things, at most `cap`; number of the nearest thing, or −1)."""
    best, which = cap, -1
    n = world.joint.shape[0]
    for b in range(bodies.own[i], bodies.own[i + 1]):
        for s in range(world.kind.shape[0]):
            if not world.tested[i, s]:
                continue
            if world.kind[s] == STATIC.plane:
                c = (world.static_ends[s, 0], world.static_ends[s, 1], world.static_ends[s, 2])
                down = (-c[0], -c[1], -c[2])
                x = support(bodies.kind[b], bodies.half, bodies.points, bodies.first[b], bodies.count[b], P, b, down)
                gap = c[0] * x[0] + c[1] * x[1] + c[2] * x[2] - world.static_radius[s] - bodies.radius[b]
            elif box_gap(P, b, bodies.half, bodies.radius, reach, world.static_box, s) >= best:
                continue
            elif world.kind[s] == STATIC.surface:
                gap, triangle = to_surface(
                    bodies, b, P, reach, world.ints, world.boxes, world.triangles, world.root[s], best, last[b, s], stack,
                    gaps, W,
                )  # fmt: skip
                if triangle >= 0:
                    last[b, s] = triangle
            else:
                gap = between(bodies, b, bodies.own[n + s], P, best, W)
            if gap < best:
                best, which = gap, n + s
    return best, which


@inline
def to_shape(bodies, i, j, P, cap, W):
    """A lower bound on the distance of the moving shapes i and j, at most `cap`."""
    best = cap
    for b in range(bodies.own[i], bodies.own[i + 1]):
        for c in range(bodies.own[j], bodies.own[j + 1]):
            best = min(best, between(bodies, b, c, P, best, W))
    return best
