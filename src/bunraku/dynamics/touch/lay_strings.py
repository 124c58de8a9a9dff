"""Strings that lie on bodies: which bodies a string may meet in a step, and on which side of them it is.

A step first takes the bodies that are near the way of each string as candidates, in their order along it; the row of such a
string is then of the kind DRAPED (bunraku.kinematics.draping), which finds by itself on which of them the string lies. After the
step all bodies are looked at again: where the way runs through one that was no candidate, it becomes one, and the step is solved
again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.collision.manifold.touch_arrays import MANIFOLD
from bunraku.figure.records import LinkKind, PointRole
from bunraku.kernels.compile import bare, unit
from bunraku.kinematics.draping import core_distance, drape, winding
from bunraku.kinematics.gaps import carry_points
from bunraku.kinematics.tree import carry
from bunraku.spatial.algebra import dot3, get3, sub3


class StringBodies(NamedTuple):
    """Strings that lie on bodies, and these bodies: spheres and capsules.

    `lies`, `phi`, `legs`, `corners` and `route` are remembered from step to step.
    """

    link: Any
    """(strings,) their links."""
    joint: Any
    """(bodies,) that carries each."""
    core: Any
    """(bodies, 2, 3) both ends of its core, in the axes of that joint."""
    radius: Any
    """(bodies,) [m]."""
    may: Any
    """(strings, bodies) which strings may lie on which bodies."""
    lies: Any
    """(strings, bodies) whether it does: 1 on the mantle, 2 on a cap, 0 not."""
    phi: Any
    """(strings, bodies) the angle from end to end about the axis of the body [rad], where it lies on the mantle."""
    forced: Any
    """(strings, bodies) bodies that turned out to be near in this step."""
    legs: Any
    """(strings, 2 room + 2, 3) corners of the way of each at the end of the last step, in the world [m]."""
    corners: Any
    """(strings,) how many corners."""
    route: Any
    """(strings, room) the bodies on which it lies there, in their order along it: half as many as corners between its ends."""
    order: Any
    """(room,) scratch: the bodies that a string may meet, in their order along it."""
    along: Any
    """(room,) scratch: where."""
    marked: Any
    """(joints,) scratch: those that move a string."""


def string_room(bodies: int) -> int:
    """For how many bodies at once a string has room, of so many `bodies`."""
    return min(bodies, 24)


@bare
def _core(b, k, R, p, o):
    """Both ends of the core of body k."""
    j = b.joint[k]
    return carry(R, p, o, j, b.core[k, 0], 1.0), carry(R, p, o, j, b.core[k, 1], 1.0)


@bare
def _farther(a, b):
    d = sub3(a, b)
    return np.sqrt(dot3(d, d))


@bare
def _is_near(b, s, k, A, B, p0, p1, way, o):
    """Whether body k may be met by string s, whose ends and which itself move by no more than `way` in this step."""
    if b.lies[s, k] > 0 or b.forced[s, k]:
        return True
    reach = b.radius[k] + MANIFOLD.reach + way
    if core_distance(A, B, p0, p1)[0] < reach:
        return True
    for i in range(b.corners[s] - 1):
        C, D = sub3(get3(b.legs[s], i), o), sub3(get3(b.legs[s], i + 1), o)
        if core_distance(C, D, p0, p1)[0] < reach:
            return True
    return False


@unit("none")
def lay_strings(tree, b, t, start, end, o):
    """Rows of the strings for a step from `start` to about `end`: with the bodies that each may meet, in their order along it."""
    t.number[4] = 0
    points = tree.points
    room, order, along = b.order.shape[0], b.order, b.along
    for s in range(b.link.shape[0]):
        c = b.link[s]
        own = tree.links[c]
        first, last = points[own.first], points[own.first + 1]
        A, B = (
            carry(start.R, start.p, o, first.joint, first.position, 1.0),
            carry(start.R, start.p, o, last.joint, last.position, 1.0),
        )
        ends = max(
            _farther(A, carry(end.R, end.p, o, first.joint, first.position, 1.0)),
            _farther(B, carry(end.R, end.p, o, last.joint, last.position, 1.0)),
        )
        count, way = 0, sub3(B, A)
        size = max(dot3(way, way), 1e-24)
        for k in range(b.joint.shape[0]):
            if not b.may[s, k]:
                continue
            p0, p1 = _core(b, k, start.R, start.p, o)
            e0, e1 = _core(b, k, end.R, end.p, o)
            moves = 2.0 * (ends + max(_farther(p0, e0), _farther(p1, e1)))
            if not _is_near(b, s, k, A, B, p0, p1, moves, o):
                continue
            if count == room:
                continue
            _, share = core_distance(A, B, p0, p1)
            at = (p0[0] + share * (p1[0] - p0[0]), p0[1] + share * (p1[1] - p0[1]), p0[2] + share * (p1[2] - p0[2]))
            place, where = count, dot3(sub3(at, A), way) / size
            while place > 0 and along[place - 1] > where:
                order[place], along[place] = order[place - 1], along[place - 1]
                place -= 1
            order[place], along[place] = k, where
            count += 1
        _write(tree, b, t, s, count, A, B, start, o)


@bare
def _write(tree, b, t, s, count, A, B, placed, o):
    """The row of string s over the first `count` bodies of b.order, or its own where there are none."""
    c, marked, joints, room = b.link[s], b.marked, tree.chain.shape[0], b.order.shape[0]
    own, link = tree.links[c], t.links[c]
    for j in range(joints):
        marked[j] = False
    for i in range(1, tree.support[c, 0] + 1):
        marked[tree.support[c, i]] = True
    if count == 0:
        link.kind, link.first, link.count = own.kind, own.first, own.count
    else:
        t.number[4] += 1
        link.kind, link.first, link.count = LinkKind.DRAPED, tree.points.shape[0] + s * (4 * room + 2), 4 * count + 2
        _copy(t.points[link.first], tree.points[own.first])
        _copy(t.points[link.first + link.count - 1], tree.points[own.first + 1])
        for i in range(count):
            k, first = b.order[i], link.first + 1 + 4 * i
            p0, p1 = _core(b, k, placed.R, placed.p, o)
            for n in range(4):
                point = t.points[first + n]
                point.joint, point.is_point, point.role, point.turn, point.radius = (
                    b.joint[k],
                    1.0,
                    PointRole.EYELET,
                    0,
                    b.radius[k],
                )
                for r in range(3):
                    point.position[r] = b.core[k, n % 2, r]
                point.weight = 1.0
            t.points[first].weight = b.phi[s, k] if b.lies[s, k] == 1 else winding(A, B, p0, p1, 0.0)
            t.points[first].turn = k
            if b.joint[k] >= 0:
                for j in range(1, tree.chain[b.joint[k], 0] + 1):
                    marked[tree.chain[b.joint[k], j]] = True
    found = 0
    for j in range(joints):
        if marked[j]:
            found += 1
            t.support[c, found] = j
    t.support[c, 0] = found


@bare
def _copy(point, other):
    point.joint, point.is_point, point.role, point.turn = other.joint, other.is_point, other.role, other.turn
    point.radius, point.weight = other.radius, other.weight
    for r in range(3):
        point.position[r] = other.position[r]


@unit("int64")
def look_along(b, t, R, p, o, x, f, done):
    """Writes the ways of all strings, where joints are at R and p, into `legs`, and where the step is `done`, on what they lie.

    Returns how many bodies they run through that were no candidates; these are forced to be.
    """
    more = 0
    for s in range(b.link.shape[0]):
        c = b.link[s]
        link = t.links[c]
        carry_points(link, t.points, R, p, o, x)
        first, last = link.first, link.first + link.count - 1
        _corner(b, s, 0, x, first, o)
        count = 1
        for k in range(b.joint.shape[0] if done else 0):
            b.lies[s, k], b.forced[s, k] = 0, False
        if link.kind == LinkKind.DRAPED:
            drape(link, t.points, x, f)
            for k in range(first + 1, last, 4):
                body = t.points[k].turn
                if done:
                    b.lies[s, body], b.phi[s, body] = int(f[k, 0]), f[k, 1]
                if f[k, 0] > 0.0:
                    _corner(b, s, count, x, k + 2, o)
                    _corner(b, s, count + 1, x, k + 3, o)
                    b.route[s, count // 2] = body
                    count += 2
        _corner(b, s, count, x, last, o)
        b.corners[s] = count + 1
        for k in range(b.joint.shape[0]):
            if done or not b.may[s, k] or b.forced[s, k] or _is_candidate(link, t.points, k):
                continue
            p0, p1 = _core(b, k, R, p, o)
            for i in range(0, count + 1, 2):  # straight pieces
                C, D = sub3(get3(b.legs[s], i), o), sub3(get3(b.legs[s], i + 1), o)
                if core_distance(C, D, p0, p1)[0] < b.radius[k] - MANIFOLD.max_depth:
                    b.forced[s, k] = True
                    more += 1
                    break
    return more


@bare
def _corner(b, s, i, x, k, o):
    for r in range(3):
        b.legs[s, i, r] = x[k, r] + o[r]


@bare
def _is_candidate(link, points, k):
    if link.kind != LinkKind.DRAPED:
        return False
    found = False
    for i in range(link.first + 1, link.first + link.count - 1, 4):
        found |= points[i].turn == k
    return found
