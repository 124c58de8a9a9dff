"""Proofs that a curve through configurations is free of collisions and keeps its links: one kernel call for a whole curve.

On an interval of the curve, no variable gets farther from its value at the middle than its largest rate times half the width.
`travels_along` then bounds how far any point of a shape moves. A pair that is farther apart at the middle than its bounds is
free on the whole interval. A nearer pair is free on a part about the middle, in proportion to its distance; the two ends of
the interval that are left are checked again.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from bunraku.collision.box_tree import STACK_DEPTH, inside
from bunraku.collision.lower_bounds import put_piece, to_shape, to_static
from bunraku.collision.shape_motion import travels_along
from bunraku.collision.way_curve import INTERVAL, curve_at, curve_half
from bunraku.collision.world_arrays import ORIGIN, STATIC, SURFACE, end_of, start_of
from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.tree import carry, place

Links = namedtuple("Links", "joint_a point_a joint_b point_b least most below")
"""Points on two joints whose distance must stay between `least` and `most` [m]; `below`: how many joints move point a but not
point b, and the reverse."""


class ProofStatus(NamedTuple):
    """The result of a proof."""

    free: int = 0
    hit: int = 1
    """Something comes nearer than the margin."""
    link: int = 2
    """The distance of a link is below its `least` or above its `most`."""
    unsure: int = 3
    """Not decided: an interval became too short, or there were too many."""


PROOF = ProofStatus()


@inline
def _spread(world, S, i, E, half, kind, D):
    travels_along(world.joints, world.chain, S, world.joint[i], start_of(E, i), end_of(E, i), world.radius[i], half, kind, D)


@inline
def _put_shape(world, bodies, i, R, p, P, reach, E):
    j = world.joint[i]
    for b in range(bodies.own[i], bodies.own[i + 1]):
        put_piece(bodies.pose, b, j, R, p, P, bodies.half, bodies.radius, reach)
    a, b = carry(R, p, ORIGIN, j, start_of(world.ends, i), 1.0), carry(R, p, ORIGIN, j, end_of(world.ends, i), 1.0)
    for k in range(3):
        E[i, k], E[i, 3 + k] = a[k], b[k]


@inline
def _link(world, links, k, R, p, S, half, kind, moving, D):
    """(distance of the points of link k, bound on how far it changes over the interval)."""
    x = carry(R, p, ORIGIN, links.joint_a[k], (links.point_a[k, 0], links.point_a[k, 1], links.point_a[k, 2]), 1.0)
    y = carry(R, p, ORIGIN, links.joint_b[k], (links.point_b[k, 0], links.point_b[k, 1], links.point_b[k, 2]), 1.0)
    spare = 0.0
    if moving:
        travels_along(world.joints, world.chain, S, links.joint_a[k], x, x, 0.0, half, kind, D)
        spare += D[links.below[k, 0]]
        travels_along(world.joints, world.chain, S, links.joint_b[k], y, y, 0.0, half, kind, D)
        spare += D[links.below[k, 1]]
    u, v, w = x[0] - y[0], x[1] - y[1], x[2] - y[2]
    return np.sqrt(u * u + v * v + w * w), spare


@inline
def _swallowed(world, bodies, i, P, stack):
    """Whether the centre of the first piece of shape i is inside of a static solid."""
    b = bodies.own[i]
    x = (P[b, 9], P[b, 10], P[b, 11])
    for s in range(world.kind.shape[0]):
        if world.kind[s] != STATIC.surface or world.surface[s] == SURFACE.open or not world.tested[i, s]:
            continue
        out = False
        for k in range(3):
            out = out or x[k] < world.static_box[s, k] or x[k] > world.static_box[s, 3 + k]
        if not out and inside(world.ints, world.boxes, world.triangles, world.root[s], x, stack):
            return True
    return False


@inline
def _scratch(world, bodies):
    """Work arrays: joint poses and screws (R, p, S), pieces in the world (P, reach), ends of shapes (E), and what queries need.

    Static pieces are already placed. `last` is the triangle that was nearest to each piece: it is tried first in the next query.
    """
    n, n_joints, n_pieces = world.joint.shape[0], world.joints.shape[0], bodies.kind.shape[0]
    R, p, S = np.empty((n_joints, 3, 3)), np.empty((n_joints, 3)), np.empty((n_joints, 6))
    P, reach, E = np.empty((n_pieces, 12)), np.empty((n_pieces, 3)), np.empty((n, 6))
    stack, gaps = np.empty(STACK_DEPTH, np.int64), np.empty(STACK_DEPTH)
    W, D = np.empty((4, 3)), np.empty(world.chain.shape[1])
    last = np.full((bodies.own[n], world.kind.shape[0]), -1)
    for b in range(bodies.own[n], n_pieces):
        put_piece(bodies.pose, b, -1, R, p, P, bodies.half, bodies.radius, reach)
    return R, p, S, P, reach, E, stack, gaps, W, D, last


@kernel
def free_samples(world, bodies, links, Q, margin, deep, out):
    """out[t]: whether at Q[t] all pairs keep the margin and all links hold; with `deep`, also no shape is inside of a solid."""
    n, n_joints = world.joint.shape[0], world.joints.shape[0]
    R, p, S, P, reach, E, stack, gaps, W, D, last = _scratch(world, bodies)
    for t in range(Q.shape[0]):
        place(world.joints, 0, n_joints, Q[t], ORIGIN, R, p, S)
        ok = True
        for k in range(links.least.shape[0]):
            d, _ = _link(world, links, k, R, p, S, Q[t], INTERVAL.bounded, False, D)
            if d < links.least[k] or d > links.most[k]:
                ok = False
                break
        if ok:
            for i in range(n):
                _put_shape(world, bodies, i, R, p, P, reach, E)
            for m in range(world.pairs.shape[0]):
                if to_shape(bodies, world.pairs[m, 0], world.pairs[m, 1], P, margin + 1e-9, W) <= margin:
                    ok = False
                    break
        if ok:
            for i in range(n):
                gap, _ = to_static(world, bodies, i, P, reach, margin + 1e-9, last, stack, gaps, W)
                if gap <= margin or (deep and _swallowed(world, bodies, i, P, stack)):
                    ok = False
                    break
        out[t] = ok


@kernel
def free_along(world, bodies, links, curve, margin, resolution, out):
    """Whether the whole curve keeps the margin and its links: one of PROOF.

    out: the parameter s and the distance where it fails, and the two things (or the link and −1). The start is assumed to be
    free; the end, which fails most often, is checked first.
    """
    n, n_q, n_joints = world.joint.shape[0], curve.Q.shape[1], world.joints.shape[0]
    n_pairs, n_links = world.pairs.shape[0], links.least.shape[0]
    R, p, S, P, reach, E, stack, gaps, W, D, last = _scratch(world, bodies)
    q, half = np.empty(n_q), np.empty(n_q)
    first = 2 * (n_links + n_pairs + n)
    room, patience = max(2048, 2 * first), 20_000 + first  # the most intervals that wait in the queue, and that enter it
    task, span = np.empty(room, np.int64), np.empty((room, 2))
    head, tail = 0, 0
    for start in (1.0, 0.0):
        for k in range(n_links + n_pairs + n):
            task[tail], span[tail, 0], span[tail, 1] = k, start, 1.0
            tail += 1
    placed = -1.0
    while head < tail:
        k, start, end = task[head % room], span[head % room, 0], span[head % room, 1]
        head += 1
        middle = 0.5 * (start + end)
        if middle != placed:
            curve_at(curve, middle, q)
            place(world.joints, 0, n_joints, q, ORIGIN, R, p, S)
            placed = middle
        kind = curve_half(curve, start, end, half)
        told = kind != INTERVAL.unknown
        value, spare, a, b = np.inf, 0.0, -1, -1
        if k < n_links:
            d, spare = _link(world, links, k, R, p, S, half, kind, True, D)
            value, a, floor = min(d - links.least[k], links.most[k] - d), k, 0.0
        elif k < n_links + n_pairs:
            m, floor = k - n_links, margin
            a, b = world.pairs[m, 0], world.pairs[m, 1]
            _put_shape(world, bodies, a, R, p, P, reach, E)
            _put_shape(world, bodies, b, R, p, P, reach, E)
            _spread(world, S, a, E, half, kind, D)
            spare += D[world.pairs[m, 2]]
            _spread(world, S, b, E, half, kind, D)
            spare += D[world.pairs[m, 3]]
            value = to_shape(bodies, a, b, P, (margin + spare) if told else np.inf, W)
        else:
            a, floor = k - n_links - n_pairs, margin
            _put_shape(world, bodies, a, R, p, P, reach, E)
            _spread(world, S, a, E, half, kind, D)
            spare = D[world.chain[world.joint[a], 0]]
            value, b = to_static(world, bodies, a, P, reach, margin + (spare if told else 1.0), last, stack, gaps, W)
        if told and value >= floor + spare:
            continue
        out[0], out[1], out[2], out[3] = middle, value, a, b
        if not value >= floor + resolution:  # true for NaN, too
            return PROOF.link if k < n_links else PROOF.hit
        share = (value - floor) / spare if told and spare > 0.0 else 0.0
        done = 0.5 * (end - start) * min(share, 1.0)
        if tail + 2 - head > room or tail > patience or end - start < 1e-6:
            return PROOF.unsure
        for side in range(2):
            task[tail % room] = k
            span[tail % room, 0] = start if side == 0 else middle + done
            span[tail % room, 1] = middle - done if side == 0 else end
            tail += 1
    return PROOF.free
