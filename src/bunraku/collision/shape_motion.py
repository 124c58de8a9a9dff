"""How shapes move with q: their poses, bounds on how far their points move, and gradients of distances."""

from __future__ import annotations

import numpy as np

from bunraku.collision.way_curve import INTERVAL
from bunraku.collision.world_arrays import ORIGIN, end_of, start_of
from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.tree import carry, place
from bunraku.spatial.algebra import axpy3, cross, dot3


@inline
def travels(joints, chain, S, j, a, b, r, half, D):
    """D[m]: bound on how far a point of a capsule moves by the m joints nearest above it, relative to what carries the m-th.

    Each joint k turns or slides by at most half[k] to either side. Per unit of q_k it moves a point x by |ω × x + v|, which is
    largest at an end of the segment. The joints below k have moved x by at most D[m − 1], which adds at most that to its lever.
    """
    D[0] = 0.0
    if j < 0:
        return
    for m in range(1, chain[j, 0] + 1):
        k = chain[j, m]
        w, v = (S[k, 0], S[k, 1], S[k, 2]), (S[k, 3], S[k, 4], S[k, 5])
        at_a, at_b = axpy3(1.0, cross(w, a), v), axpy3(1.0, cross(w, b), v)
        lever = np.sqrt(max(dot3(at_a, at_a), dot3(at_b, at_b))) + np.sqrt(dot3(w, w)) * (r + D[m - 1])
        D[m] = D[m - 1] + half[joints[k].variable] * lever


@inline
def travels_along(joints, chain, S, j, a, b, r, half, kind, D):
    """D[m] as in `travels`, but tighter on a straight interval of a curve (`kind` is INTERVAL.straight).

    `travels` adds lengths, although the motions of several joints add up as vectors. On a straight interval a point x has, at
    the middle, the velocity x' = Σ q'_k x_k, where x_k = ω_k × x + v_k. Its change is bounded by the acceleration
    x'' = Σ q'_k (q'_k ω_k + 2 Σ q'_i ω_i) × x_k, the inner sum over the joints i above k, with every lever at its longest.
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
        # This joint turns the velocities that the joints below it cause, and its own.
        bend += 2.0 * size * turn * turns + size * size * turn * lever
        turns += size * lever
        inner += size * lever
        D[m] = inner
        if kind == INTERVAL.straight:
            u, v, w = axpy3(step, at_a, u), axpy3(step, at_b, v), axpy3(step, e, w)
            fastest = np.sqrt(max(dot3(u, u), dot3(v, v))) + r * np.sqrt(dot3(w, w))
            D[m] = min(inner, fastest + 0.5 * bend)


@kernel
def shape_poses(joints, joint, pose, q, out):
    """X_WS of every moving shape S: the columns of its rotation, then its position."""
    n_joints = joints.shape[0]
    R, p, S = np.empty((n_joints, 3, 3)), np.empty((n_joints, 3)), np.empty((n_joints, 6))
    place(joints, 0, n_joints, q, ORIGIN, R, p, S)
    for i in range(joint.shape[0]):
        for c in range(4):
            x = (pose[i, 0, c], pose[i, 1, c], pose[i, 2, c])
            x = carry(R, p, ORIGIN, joint[i], x, 1.0 if c == 3 else 0.0)
            for r in range(3):
                out[i, c, r] = x[r]


@kernel
def gradients(world, Q, ints, floats, out):
    """∂value/∂q of every row: normal · (∂p_B/∂q − ∂p_A/∂q); joints that carry both points cancel."""
    n, n_joints = world.joint.shape[0], world.joints.shape[0]
    R, p, S = np.empty((n_joints, 3, 3)), np.empty((n_joints, 3)), np.empty((n_joints, 6))
    placed = -1
    for row in range(ints.shape[0]):
        t = ints[row, 0]
        if t != placed:
            place(world.joints, 0, n_joints, Q[t], ORIGIN, R, p, S)
            placed = t
        normal = (floats[row, 7], floats[row, 8], floats[row, 9])
        for side in range(2):
            i = ints[row, 1 + side]
            if i >= n:
                continue
            x = (floats[row, 1 + 3 * side], floats[row, 2 + 3 * side], floats[row, 3 + 3 * side])
            sign = 2.0 * side - 1.0
            j = world.joint[i]
            for m in range(1, world.chain[j, 0] + 1):
                k = world.chain[j, m]
                w, v = (S[k, 0], S[k, 1], S[k, 2]), (S[k, 3], S[k, 4], S[k, 5])
                out[row, world.joints[k].variable] += sign * dot3(normal, axpy3(1.0, cross(w, x), v))


@kernel
def travel(world, Q, half, out):
    """out[t, i]: bound on how far any point of moving shape i gets from its place at Q[t] while q is within Q[t] ± half[t]."""
    n, n_joints = world.joint.shape[0], world.joints.shape[0]
    R, p, S = np.empty((n_joints, 3, 3)), np.empty((n_joints, 3)), np.empty((n_joints, 6))
    D = np.empty(world.chain.shape[1])
    for t in range(Q.shape[0]):
        place(world.joints, 0, n_joints, Q[t], ORIGIN, R, p, S)
        for i in range(n):
            j = world.joint[i]
            a = carry(R, p, ORIGIN, j, start_of(world.ends, i), 1.0)
            b = carry(R, p, ORIGIN, j, end_of(world.ends, i), 1.0)
            travels(world.joints, world.chain, S, j, a, b, world.radius[i], half[t], D)
            out[t, i] = D[world.chain[j, 0]]
