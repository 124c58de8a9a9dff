"""Stable sparse trees (Li, Littlefield and Bekris, 2016): of all nodes near one witness, only the cheapest is kept.

A witness is a position that represents its neighbourhood.

To pick a node, draw two random witnesses, take the one nearer to the goal, and draw a position near it. Of the nodes near that
position the cheapest is extended, or the nearest if none is near. Distances are measured over the leading points (those of the
goal): their positions and, multiplied by a time, their velocities. Neighbours are found by comparing all nodes, eight at a time.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from bunraku.kernels.compile import inline
from bunraku.kernels.xorshift import below, uniform

GIVEN_UP = np.float32(1e18)  # first coordinate of dropped nodes: far from everything

Sparse = namedtuple(
    "Sparse",
    "F W keeper count "  # coordinates of nodes, of witnesses (one row per coordinate); node of each witness; number of witnesses
    "near apart goal_rate "  # [m] radius of picking; [m] radius of a witness; probability that the goal is drawn
    "hurry",  # [s] factor that turns velocities into distances
)


def sparse(capacity: int, points: int, *, near: float, apart: float, goal_rate: float, hurry: float) -> Sparse:
    """Empty arrays of SST for `capacity` nodes with `points` points each.

    near: radius in which the cheapest node is picked [m]. apart: smallest distance between witnesses [m].
    goal_rate: probability that the goal is drawn. hurry: factor that turns velocities into distances [s].
    """
    d = 6 * points
    return Sparse(
        np.zeros((d, capacity), np.float32), np.zeros((d, capacity), np.float32), np.zeros(capacity, np.int64),
        np.zeros(1, np.int64), near, apart, goal_rate, hurry,
    )  # fmt: skip


@inline
def enter(sparse, nodes, node):
    """Writes the coordinates of a node."""
    for k in range(sparse.F.shape[0] // 6):
        for i in range(3):
            x, v = nodes.X[node, k, i], sparse.hurry * nodes.V[node, k, i]
            sparse.F[6 * k + i, node], sparse.F[6 * k + 3 + i, node] = x, v


@inline
def look(F, count, x, cost, radius):
    """(The cheapest within the radius, or else the nearest, of the first `count` columns; its distance).

    If `cost` is empty, it is the nearest.
    """
    block = 512  # nodes per block, so that the sums stay in the L1 cache
    sums = np.empty(block, np.float32)
    best, least, nearest, closest = -1, math.inf, -1, math.inf
    reach, priced = radius * radius, cost.shape[0] > 0
    for first in range(0, count, block):
        size = min(block, count - first)
        for i in range(size):
            sums[i] = 0.0
        for k in range(F.shape[0]):
            y = x[k]
            for i in range(size):
                d = F[k, first + i] - y
                sums[i] += d * d
        for i in range(size):
            if sums[i] < closest:
                closest, nearest = sums[i], first + i
            if priced and sums[i] < reach and cost[first + i] < least:
                least, best = cost[first + i], first + i
    return (best if best >= 0 else nearest), math.sqrt(closest)


@inline
def origin(sparse, nodes, dice):
    """Of two random witnesses that still have a node, the one whose node is nearer to the goal."""
    best, least = 0, math.inf
    for _ in range(2):
        drawn = below(dice, sparse.count[0])
        for _ in range(20):
            if sparse.F[0, sparse.keeper[drawn]] < GIVEN_UP:
                break
            drawn = below(dice, sparse.count[0])
        far = nodes.far[sparse.keeper[drawn]]
        if far < least:
            best, least = drawn, far
    return best


@inline
def pick(sparse, nodes, aim, dice):
    """A node to extend: near the goal, or near a random witness.

    Positions are drawn near witnesses because limbs make most random positions impossible. They are drawn from a cube around the
    witness, whose width is chosen so that the root-mean-square distance from the witness is half of `near`.
    """
    x = np.empty(sparse.F.shape[0], np.float32)
    to_goal, witness = uniform(dice) < sparse.goal_rate, origin(sparse, nodes, dice)
    half = 0.5 * sparse.near * math.sqrt(3.0 / x.shape[0])
    for k in range(x.shape[0]):
        x[k] = sparse.W[k, witness] + 2.0 * (uniform(dice) - 0.5) * half
        if to_goal:
            x[k] = aim.targets[k // 6, k % 6] if k % 6 < 3 else 0.0
    node, _ = look(sparse.F, nodes.count[0], x, nodes.cost, sparse.near)
    return node


@inline
def stays(sparse, nodes, node):
    """Whether a new node is the cheapest of its witness; if so, the witness's previous node is dropped."""
    x = np.empty(sparse.F.shape[0], np.float32)
    for k in range(x.shape[0]):
        x[k] = sparse.F[k, node]
    m = sparse.count[0]
    witness, distance = look(sparse.W, m, x, np.empty(0), 0.0)
    if witness < 0 or distance > sparse.apart:
        if m >= sparse.keeper.shape[0]:
            return False
        for k in range(x.shape[0]):
            sparse.W[k, m] = x[k]
        sparse.keeper[m] = node
        sparse.count[0] = m + 1
        return True
    other = sparse.keeper[witness]
    if nodes.cost[node] >= nodes.cost[other]:
        return False
    sparse.F[0, other] = GIVEN_UP
    sparse.keeper[witness] = node
    return True
