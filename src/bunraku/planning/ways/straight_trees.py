"""RRT-Connect with straight curves in one kernel: used by `connect` if nothing needs steering.

Most branches lead nowhere, so they are only checked at samples; the few that form a path are proven afterwards.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bunraku.collision.curve_proofs import free_samples
from bunraku.kernels.compile import inline, kernel


class GrowthStatus(NamedTuple):
    """Why `grow` returned."""

    all_tried: int = 0
    """Every target was tried."""
    met: int = 1
    """The trees met."""
    full: int = 2
    """A tree has no room for more nodes."""


GROWTH = GrowthStatus()


@inline
def _nearest(Q, n, target, per_turn, weights):
    """The node nearest to a target."""
    best, at = np.inf, 0
    for k in range(n):
        total = 0.0
        for i in range(target.shape[0]):
            d = target[i] - Q[k, i]
            d = (d - math.tau * np.rint(d * per_turn[i])) * weights[i]
            total += d * d
            if total >= best:
                break
        if total < best:
            best, at = total, k
    return at


@inline
def _aim(q, target, per_turn, weights, stride, end):
    """Writes the end of the straight curve toward a target, at most one stride long. Returns its length and whether it arrives."""
    total = 0.0
    for i in range(target.shape[0]):
        d = target[i] - q[i]
        d -= math.tau * np.rint(d * per_turn[i])
        end[i] = q[i] + d
        total += (d * weights[i]) ** 2
    size = np.sqrt(total)
    if size <= stride:
        return size, True
    for i in range(target.shape[0]):
        end[i] = q[i] + stride / size * (end[i] - q[i])
    return stride, False


@inline
def _looks_free(world, bodies, links, margin, q, end, parts, sample, ok):
    """Whether the end is free, and samples at equal distances on the line to it, coarse to fine."""
    step = parts
    while step >= 1:
        for k in range(step, parts + 1, 2 * step if step < parts else step):
            for i in range(q.shape[0]):
                sample[0, i] = q[i] + k / parts * (end[i] - q[i])
            free_samples(world, bodies, links, sample, margin, False, ok)
            if not ok[0]:
                return False
        step //= 2
    return True


@inline
def _within(q, lower, upper):
    inside = True
    for i in range(q.shape[0]):
        inside = inside and lower[i] - 1e-9 <= q[i] <= upper[i] + 1e-9
    return inside


@kernel
def grow(world, bodies, links, margin, metric, trees, counts, targets, stride, look, here, ends):
    """Grows the trees in alternation: one toward a target, then the other toward the node that the first reached.

    `metric` is (per_turn, weights, lower, upper); `trees` are (Q, parent, Q, parent) with counts[0] and counts[1] nodes; `look` is
    the largest distance between samples; `ends` receives the two nodes that met. Returns a GrowthStatus and whose turn it is.
    """
    per_turn, weights, lower, upper = metric
    n = targets.shape[1]
    goal, end, sample, ok = np.empty(n), np.empty(n), np.empty((1, n)), np.empty(1, np.bool_)
    for t in range(targets.shape[0]):
        for i in range(n):
            goal[i] = targets[t, i]
        for turn in range(2):  # first this tree toward the target, then the other toward the node that this one reached
            side = here if turn == 0 else 1 - here
            Q, parent = (trees[0], trees[1]) if side == 0 else (trees[2], trees[3])
            near = _nearest(Q, counts[side], goal, per_turn, weights)
            reached = -1
            arrived = False
            while not arrived:
                size, arrived = _aim(Q[near], goal, per_turn, weights, stride, end)
                parts = 1
                while size > look * parts:
                    parts *= 2
                if not _within(end, lower, upper) or not _looks_free(world, bodies, links, margin, Q[near], end, parts, sample, ok):
                    arrived = False
                    break
                if counts[side] == Q.shape[0]:
                    return GROWTH.full, here
                k = counts[side]
                counts[side] += 1
                Q[k], parent[k] = end, near
                near = reached = k
                if turn == 0:
                    break
            if turn == 0:
                if reached < 0:
                    break
                ends[side] = reached
                for i in range(n):
                    goal[i] = Q[reached, i]
            elif arrived and reached >= 0:
                ends[side] = reached
                return GROWTH.met, here
        here = 1 - here
    return GROWTH.all_tried, here
