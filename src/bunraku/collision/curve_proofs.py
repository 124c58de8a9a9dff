"""Proofs that the way along a curve is free, and keeps to its links: one kernel call for a whole curve.

A curve is a chain of straight pieces in q, of which some triples (x, y, heading) may instead follow a Bézier curve of
third degree, heading along it. On an interval no variable gets farther from the middle than its largest rate times half
the width, so no point of a shape farther than `_travels` says: a pair that is farther apart than that is free on the
whole interval; one that is not is free on as much of it as its distance allows, and the rest is asked again, coarse to
fine.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.box_tree import STACK_DEPTH, inside
from bunraku.collision.lower_bounds import put_piece, to_shape, to_static
from bunraku.collision.world_arrays import ORIGIN, STATIC, SURFACE, end_of, start_of
from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.tree import carry, place
from bunraku.spatial.algebra import axpy3, cross, dot3


class WayCurve(NamedTuple):
    """A curve through configurations: straight pieces, parts of which follow Bézier curves. With one argument, a straight line."""

    Q: NDArray[np.float64]
    """Configurations at the knots (K, n_q)."""
    knots: NDArray[np.float64] = np.array([0.0, 1.0])
    """Parameters from 0 to 1, (K,)."""
    bends: NDArray[np.int64] = np.zeros((0, 4), np.int64)
    """Variables x, y and heading that follow control points, and 1 where the heading is against the way, (B, 4)."""
    control: NDArray[np.float64] = np.zeros((0, 4, 2))
    """Control points of x and y [m], (B, 4, 2)."""


Links = namedtuple("Links", "joint_a point_a joint_b point_b least most below")
"""Points of two joints whose distance stays between `least` and `most`; `below`: how many joints each has below their fork."""


class ProofStatus(NamedTuple):
    """What a proof came to."""

    free: int = 0
    hit: int = 1
    """Something comes nearer than the margin."""
    link: int = 2
    """A link is too short or too long."""
    unsure: int = 3
    """Too near to tell, or too many intervals."""


class IntervalKind(NamedTuple):
    """What `half` of an interval means."""

    straight: int = 0
    """Signed: the way is half · t for t from −1 to 1."""
    bounded: int = 1
    """How far each variable gets from the middle at most."""
    unknown: int = 2
    """Nothing: a heading cannot be bounded."""


PROOF, INTERVAL = ProofStatus(), IntervalKind()


@inline
def bend(control, k, s):
    """(x, y, heading, first derivative, second derivative) of a Bézier curve at s."""
    r = 1.0 - s
    x = y = u = v = a = b = 0.0
    for c in range(2):
        p0, p1, p2, p3 = control[k, 0, c], control[k, 1, c], control[k, 2, c], control[k, 3, c]
        at = r * r * r * p0 + 3.0 * r * r * s * p1 + 3.0 * r * s * s * p2 + s * s * s * p3
        rate = 3.0 * (r * r * (p1 - p0) + 2.0 * r * s * (p2 - p1) + s * s * (p3 - p2))
        second = 6.0 * (r * (p2 - 2.0 * p1 + p0) + s * (p3 - 2.0 * p2 + p1))
        if c == 0:
            x, u, a = at, rate, second
        else:
            y, v, b = at, rate, second
    return x, y, np.arctan2(v, u), u, v, a, b


@inline
def curve_at(curve, s, q):
    """The configuration at s into q."""
    n, last = curve.Q.shape[1], curve.knots.shape[0] - 2
    k = 0
    while k < last and s > curve.knots[k + 1]:
        k += 1
    width = curve.knots[k + 1] - curve.knots[k]
    f = (s - curve.knots[k]) / width if width > 0.0 else 0.0
    for i in range(n):
        q[i] = curve.Q[k, i] + f * (curve.Q[k + 1, i] - curve.Q[k, i])
    for k in range(curve.bends.shape[0]):
        x, y, heading, _, _, _, _ = bend(curve.control, k, s)
        q[curve.bends[k, 0]], q[curve.bends[k, 1]] = x, y
        i = curve.bends[k, 2]
        heading += np.pi * curve.bends[k, 3]
        q[i] += (heading - q[i] + np.pi) % (2.0 * np.pi) - np.pi  # the turn that is nearest to the straight way


@kernel
def samples_of(curve, s, out):
    """Configurations at many places."""
    for t in range(s.shape[0]):
        curve_at(curve, s[t], out[t])


@inline
def curve_half(curve, start, end, half):
    """How far each variable may get from the middle of an interval.

    Writes `half` and returns what it means: one of INTERVAL.
    """
    n, width, pieces = curve.Q.shape[1], 0.5 * (end - start), 0
    for i in range(n):
        half[i] = 0.0
    if width == 0.0:
        return INTERVAL.straight
    for k in range(curve.knots.shape[0] - 1):
        span = curve.knots[k + 1] - curve.knots[k]
        if span <= 0.0 or curve.knots[k] >= end or curve.knots[k + 1] <= start:
            continue
        pieces += 1
        for i in range(n):
            step = (curve.Q[k + 1, i] - curve.Q[k, i]) / span * width
            if abs(step) > abs(half[i]):
                half[i] = step
    if pieces <= 1 and curve.bends.shape[0] == 0:
        return INTERVAL.straight
    for i in range(n):
        half[i] = abs(half[i])
    middle = 0.5 * (start + end)
    for k in range(curve.bends.shape[0]):
        _, _, _, u, v, a, b = bend(curve.control, k, middle)
        _, _, _, _, _, a0, b0 = bend(curve.control, k, start)
        _, _, _, _, _, a1, b1 = bend(curve.control, k, end)
        # The second derivative is linear in s, its own rate (c, d) is constant.
        c, d = (a1 - a0) / (2.0 * width), (b1 - b0) / (2.0 * width)
        second = np.sqrt(max(a0 * a0 + b0 * b0, a1 * a1 + b1 * b1))
        slowest = np.sqrt(u * u + v * v) - second * width
        if slowest <= 0.0:
            return INTERVAL.unknown
        turn = abs(u * b - v * a) + width * abs(u * d - v * c) + 0.5 * width * width * abs(a * d - b * c)
        half[curve.bends[k, 0]] = width * (abs(u) + max(abs(a0), abs(a1)) * width)
        half[curve.bends[k, 1]] = width * (abs(v) + max(abs(b0), abs(b1)) * width)
        half[curve.bends[k, 2]] = width * turn / (slowest * slowest)
    return INTERVAL.bounded


@inline
def _travels(joints, chain, S, j, a, b, r, half, kind, D):
    """D[m]: how far any point within a segment with a radius can get, relative to what carries its m-th joint upward.

    Each joint adds its own way times its lever, which what is below it may make longer (as in `shape_motion.travels`). Along a
    straight way that is too much: ways of several joints add up as vectors. There, the velocity x' = Σ q'_k x_k holds at
    the middle, and x'' = Σ q'_k (q'_k ω_k + 2 Σ q'_i ω_i) × x_k over the joints i above k, with every lever at its longest,
    bounds how it changes.
    """
    D[0] = 0.0
    if j < 0:
        return
    u = v = w = (0.0, 0.0, 0.0)
    bend = turns = inner = 0.0
    for m in range(1, chain[j, 0] + 1):
        k = chain[j, m]
        step = half[joints[k].variable]
        e, f = (S[k, 0], S[k, 1], S[k, 2]), (S[k, 3], S[k, 4], S[k, 5])
        at_a, at_b = axpy3(1.0, cross(e, a), f), axpy3(1.0, cross(e, b), f)
        turn = np.sqrt(dot3(e, e))
        lever = np.sqrt(max(dot3(at_a, at_a), dot3(at_b, at_b))) + turn * (r + inner)
        size = abs(step)
        # This joint turns all that is below it, and its own way.
        bend += 2.0 * size * turn * turns + size * size * turn * lever
        turns += size * lever
        inner += size * lever
        D[m] = inner
        if kind == INTERVAL.straight:
            u, v, w = axpy3(step, at_a, u), axpy3(step, at_b, v), axpy3(step, e, w)
            fastest = np.sqrt(max(dot3(u, u), dot3(v, v))) + r * np.sqrt(dot3(w, w))
            D[m] = min(inner, fastest + 0.5 * bend)


@inline
def _spread(world, S, i, E, half, kind, D):
    _travels(world.joints, world.chain, S, world.joint[i], start_of(E, i), end_of(E, i), world.radius[i], half, kind, D)


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
    """(distance, how far it may change)."""
    x = carry(R, p, ORIGIN, links.joint_a[k], (links.point_a[k, 0], links.point_a[k, 1], links.point_a[k, 2]), 1.0)
    y = carry(R, p, ORIGIN, links.joint_b[k], (links.point_b[k, 0], links.point_b[k, 1], links.point_b[k, 2]), 1.0)
    spare = 0.0
    if moving:
        _travels(world.joints, world.chain, S, links.joint_a[k], x, x, 0.0, half, kind, D)
        spare += D[links.below[k, 0]]
        _travels(world.joints, world.chain, S, links.joint_b[k], y, y, 0.0, half, kind, D)
        spare += D[links.below[k, 1]]
    u, v, w = x[0] - y[0], x[1] - y[1], x[2] - y[2]
    return np.sqrt(u * u + v * v + w * w), spare


@inline
def _swallowed(world, bodies, i, P, stack):
    """Whether the middle of a shape's first piece is inside of a static solid."""
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


@kernel
def free_samples(world, bodies, links, Q, margin, deep, out):
    """out[t]: whether everything keeps the margin at Q[t] and links hold; with `deep`, also that nothing is inside of a solid."""
    n, n_joints = world.joint.shape[0], world.joints.shape[0]
    R, p, S = np.empty((n_joints, 3, 3)), np.empty((n_joints, 3)), np.empty((n_joints, 6))
    n_pieces = bodies.kind.shape[0]
    P, reach, E = np.empty((n_pieces, 12)), np.empty((n_pieces, 3)), np.empty((n, 6))
    stack, W, D = np.empty(STACK_DEPTH, np.int64), np.empty((4, 3)), np.empty(world.chain.shape[1])
    gaps = np.empty(STACK_DEPTH)
    last = np.full((bodies.own[n], world.kind.shape[0]), -1)  # the triangle found last is likely the nearest again
    for b in range(bodies.own[n], n_pieces):
        put_piece(bodies.pose, b, -1, R, p, P, bodies.half, bodies.radius, reach)
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

    out: s, value, the two things or the link. Its start is taken to be free; its end, where most trouble is, comes first.
    """
    n, n_q, n_joints = world.joint.shape[0], curve.Q.shape[1], world.joints.shape[0]
    n_pairs, n_links = world.pairs.shape[0], links.least.shape[0]
    R, p, S = np.empty((n_joints, 3, 3)), np.empty((n_joints, 3)), np.empty((n_joints, 6))
    n_pieces = bodies.kind.shape[0]
    P, reach, E = np.empty((n_pieces, 12)), np.empty((n_pieces, 3)), np.empty((n, 6))
    stack, W, D = np.empty(STACK_DEPTH, np.int64), np.empty((4, 3)), np.empty(world.chain.shape[1])
    gaps = np.empty(STACK_DEPTH)
    last = np.full((bodies.own[n], world.kind.shape[0]), -1)  # the triangle found last is likely the nearest again
    q, half = np.empty(n_q), np.empty(n_q)
    for b in range(bodies.own[n], n_pieces):
        put_piece(bodies.pose, b, -1, R, p, P, bodies.half, bodies.radius, reach)
    room, patience = 2048, 20_000  # the most intervals that wait, and that are looked at
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
        if not value >= floor + resolution:  # also where it is not a number
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
