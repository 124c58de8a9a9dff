"""A segment: the speeds of the puppeteer's hands change linearly for a short time, and the figure follows.

The inputs are speeds, and they are continuous (*marionettes*, eq. 12 with its text): over a segment of N steps the speed of each
kinematic variable changes from its current value to a given one. A state is stored as one row: q now, q one step before, and q
independent of charts (of ball joints); momentum, impulses, charts and taut strings of the rollout; and the speeds of the hands.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from bunraku.collision.box_tree import STACK_DEPTH
from bunraku.collision.near_pairs import against_static, near
from bunraku.collision.world_arrays import MODE, ORIGIN, ROW_NUMBERS
from bunraku.dynamics.rollout import STEP_BITS, rollout
from bunraku.kernels.compile import borrow, inline, keep, kernel, unit
from bunraku.kernels.xorshift import uniform
from bunraku.kinematics.tree import carry, place

Course = namedtuple(
    "Course",
    "dt steps margin "  # [s], a count, [m]
    "lower upper speed acceleration groups "  # limits of kinematic variables; groups that move together, padded with −1
    "points places "  # for each point that shows where the figure is: its joint, and its position in the joint's frame
    "ends "  # for each straight piece of string: the figure's two points that it joins
    "tolerance",  # of Newton's method [rad or m]
)
Scratch = namedtuple("Scratch", "q p lam charts alive K U Q P L G En states bits middle half ints floats R x S E stack near v")


@inline
def scratch(tree, world, course):
    """Scratch arrays; they hold no results."""
    rows = 64  # for results of the collision kernel, of which only the count is used
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    N, nk, nj, nb = course.steps, nq - n, tree.joints.shape[0], tree.balls.shape[0]
    return Scratch(
        np.zeros((4, nq)), np.zeros(n), np.zeros(nc), np.zeros((nb, 3, 3)), np.zeros(nc, np.bool_),
        np.zeros((N, nk)), np.zeros((N, tree.forces.shape[0])), np.zeros((N + 1, nq)), np.zeros((N, n)), np.zeros((N, nc)),
        np.zeros((0, nc)), np.zeros((0, 2)), np.zeros((N, nc), np.int8), np.zeros(N, np.int64),
        np.zeros((N, nq)), np.zeros((N, nq)), np.zeros((rows, 4), np.int64), np.zeros((rows, ROW_NUMBERS)),
        np.zeros((nj, 3, 3)), np.zeros((nj, 3)), np.zeros((nj, 6)), np.zeros((course.ends.shape[0], 6)),
        np.zeros(STACK_DEPTH, np.int64), np.zeros(world.kind.shape[0] + 1, np.int64), np.zeros(nk),
    )  # fmt: skip


@unit("boolean", allocates=True)
def propagate(tree, course, w, state, v1, out):
    """Simulates one segment from `state` to hand speeds v1 and fills `out`. Returns whether it succeeded; the samples are w.Q."""
    n, nq, nc, nb = tree.n_dynamic, tree.n_q, tree.n_links, tree.balls.shape[0]
    nk, N, T = nq - n, course.steps, course.dt * course.steps
    at = _read(state, w, n, nq, nc, nb)
    for k in range(nk):
        v0, q0 = state[at + k], w.q[3, n + k]
        for j in range(N):
            t = course.dt * (j + 1)
            w.K[j, k] = q0 + v0 * t + 0.5 * (v1[k] - v0) * t * t / T
    for i in range(nq):
        w.Q[0, i] = w.q[3, i]
    rollout(
        tree, w.q, w.p, w.lam, w.charts, w.alive, w.K, w.U, course.dt, 0.5, course.tolerance, w.Q[1:], w.P, w.L, w.G, w.En,
        w.states, w.bits,
    )  # fmt: skip
    for j in range(N):
        if w.bits[j] & (STEP_BITS.held | STEP_BITS.frozen):
            return False
    _write(out, w, n, nq, nc, nb)
    for k in range(nk):
        out[at + k] = v1[k]
    total = 0.0
    for i in range(out.shape[0]):
        total += out[i]
    return math.isfinite(total)


@inline
def _read(state, w, n, nq, nc, nb):
    for i in range(nq):
        w.q[0, i], w.q[1, i], w.q[3, i] = state[i], state[nq + i], state[2 * nq + i]
        w.q[2, i] = 2.0 * w.q[1, i] - w.q[0, i]
    at = 3 * nq
    for i in range(n):
        w.p[i] = state[at + i]
    at += n
    for c in range(nc):
        w.lam[c] = state[at + c]
        w.alive[c] = state[at + nc + c] > 0.5
    at += 2 * nc
    for b in range(nb):
        for i in range(9):
            w.charts[b, i // 3, i % 3] = state[at + 9 * b + i]
    return at + 9 * nb


@inline
def _write(out, w, n, nq, nc, nb):
    for i in range(nq):
        out[i], out[nq + i], out[2 * nq + i] = w.q[0, i], w.q[1, i], w.q[3, i]
    at = 3 * nq
    for i in range(n):
        out[at + i] = w.p[i]
    at += n
    for c in range(nc):
        out[at + c] = w.lam[c]
        out[at + nc + c] = 1.0 if w.alive[c] else 0.0
    at += 2 * nc
    for b in range(nb):
        for i in range(9):
            out[at + 9 * b + i] = w.charts[b, i // 3, i % 3]


@unit("boolean", allocates=True)
def clear(tree, world, threads, course, w):
    """Whether the margin is kept at the samples w.Q, and on the straight lines between them."""
    for j in range(course.steps):
        for i in range(w.Q.shape[1]):
            w.middle[j, i] = 0.5 * (w.Q[j, i] + w.Q[j + 1, i])
            w.half[j, i] = 0.5 * abs(w.Q[j + 1, i] - w.Q[j, i])
    if near(world, w.middle, w.half, course.margin, MODE.first, w.ints, w.floats) > 0:
        return False
    return course.ends.shape[0] == 0 or _threads_clear(tree, threads, course, w)


@inline
def _threads_clear(tree, threads, course, w):
    """Whether the strings keep the margin. Between samples none of their points moves farther than their ends."""
    D = np.empty((0, 0))
    for j in range(course.steps + 1):
        place(tree.joints, 0, tree.joints.shape[0], w.Q[j], ORIGIN, w.R, w.x, w.S)
        far = 0.0
        for e in range(course.ends.shape[0]):
            for side in range(2):
                point = tree.points[course.ends[e, side]]
                x = carry(w.R, w.x, ORIGIN, point.joint, point.position, 1.0)
                moved = 0.0
                for k in range(3):
                    moved += (x[k] - w.E[e, 3 * side + k]) ** 2
                    w.E[e, 3 * side + k] = x[k]
                far = max(far, moved)
        spare = 0.5 * math.sqrt(far) if j > 0 else 0.0
        count, _, _ = against_static(threads, 0, course.margin + spare, MODE.first, w.E, D, w.stack, w.near, (w.ints, w.floats), 0)
        if count > 0:
            return False
    return True


@inline
def whereabouts(tree, course, w, row, X):
    """Positions of the points of the course at sample `row` of w.Q, into X (points, 3)."""
    place(tree.joints, 0, tree.joints.shape[0], w.Q[row], ORIGIN, w.R, w.x, w.S)
    for k in range(course.points.shape[0]):
        c = course.places[k]
        x = carry(w.R, w.x, ORIGIN, course.points[k], (c[0], c[1], c[2]), 1.0)
        X[k, 0], X[k, 1], X[k, 2] = x


@inline
def _stopping(v, a, T):
    """Stopping distance of a hand with speed v ≥ 0 that brakes with acceleration a in whole segments of T."""
    k = math.floor(v / (a * T))
    return T * (k * v - 0.5 * a * T * k * k) + 0.5 * (v - k * a * T) * T


@inline
def _within(room, v0, v, a, T):
    """Whether a hand can still stop within the distance `room`, after a segment from speed v0 to v."""
    return 0.5 * (v0 + v) * T + (_stopping(v, a, T) if v > 0.0 else 0.0) <= room


@inline
def _slowed(room, v0, v, lowest, a, T):
    """The largest speed up to v with which the hand can still stop within `room`."""
    if _within(room, v0, v, a, T):
        return v
    low, high = lowest, v
    for _ in range(30):
        middle = 0.5 * (low + high)
        if _within(room, v0, middle, a, T):
            low = middle
        else:
            high = middle
    return low


@inline
def allowed_speed(course, k, q, v0, T, wanted):
    """The speed nearest to `wanted` that variable k may have after a segment, such that it can still stop within its limits."""
    a, top = course.acceleration[k], course.speed[k]
    if a <= 0.0 or top <= 0.0:
        return 0.0
    low, high = max(-top, v0 - a * T), min(top, v0 + a * T)
    v = min(max(wanted, low), high)
    if v > 0.0 or v > -v0:  # it moves up in this segment or in the next
        v = _slowed(course.upper[k] - q, v0, v, low, a, T)
    if v < 0.0 or v < -v0:
        v = -_slowed(q - course.lower[k], -v0, -v, -high, a, T)
    return v


@inline
def random_speeds(tree, course, state, at, toward, goal_rate, one_group, dice, v1):
    """Speeds for the next segment: for one group of variables or for all, random or toward a kinematic configuration.

    `toward` is empty if no such configuration is known.
    """
    n, nq, T = tree.n_dynamic, tree.n_q, course.dt * course.steps
    nk = nq - n
    roll = uniform(dice)
    if toward.shape[0] > 0 and roll < goal_rate:
        hurry = 1.0 / (0.15 + 0.6 * uniform(dice))
        for k in range(nk):
            q = state[2 * nq + n + k]
            v1[k] = allowed_speed(course, k, q, state[at + k], T, hurry * (toward[k] - q))
        return
    chosen = int(uniform(dice) * course.groups.shape[0]) if uniform(dice) < one_group else -1
    braking = uniform(dice) < 0.15
    for k in range(nk):
        mine = chosen < 0
        if chosen >= 0:
            for i in range(course.groups.shape[1]):
                mine |= course.groups[chosen, i] == k
        wanted = (2.0 * uniform(dice) - 1.0) * course.speed[k] if mine and not braking else 0.0
        v1[k] = allowed_speed(course, k, state[2 * nq + n + k], state[at + k], T, wanted)


@kernel
def allowed_speeds(course, q, v0, wanted, out):
    """`allowed_speed` for every kinematic variable, for callers in Python."""
    for k in range(out.shape[0]):
        out[k] = allowed_speed(course, k, q[k], v0[k], course.dt * course.steps, wanted[k])


@kernel
def one_segment(tree, world, threads, course, state, v1, out, Q):
    """One segment, for callers in Python. Returns whether it is possible and collision-free; Q receives its samples (steps + 1)."""
    tree_, world_, threads_ = borrow(tree), borrow(world), borrow(threads)
    lent = scratch(tree_, world_, course)
    w = borrow(lent)
    ok = propagate(tree_, course, w, state, v1, out)
    for j in range(Q.shape[0]):
        for i in range(Q.shape[1]):
            Q[j, i] = w.Q[j, i]
    ok = ok and clear(tree_, world_, threads_, course, w)
    keep(tree)
    keep(world)
    keep(threads)
    keep(lent)
    return ok
