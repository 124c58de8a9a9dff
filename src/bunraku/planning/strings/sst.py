"""Stable sparse trees (Li, Littlefield and Bekris, 2016): of all nodes near one witness only the cheapest stays.

A place is drawn near a random witness, of two the one nearer to the goal; of the nodes near it the cheapest is extended, or the
nearest where none is near.
Distances are over the leading points: where they are and, weighted by a time, how fast. Neighbours are found by looking at
all, eight at a time.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from bunraku.kernels.compile import inline
from bunraku.kernels.xorshift import below, uniform

GIVEN_UP = np.float32(1e18)  # first coordinate of nodes that have been given up: far from everything

Sparse = namedtuple(
    "Sparse",
    "F W keeper count "  # places of nodes and of witnesses, a row a coordinate; who keeps which witness; how many
    "near apart goal_rate "  # [m]: radius of picking, radius of a witness; how often the goal itself is drawn
    "hurry",  # [s]: what a metre a second too fast is worth in metres
)


def sparse(capacity: int, points: int, *, near: float, apart: float, goal_rate: float, hurry: float) -> Sparse:
    """Nothing yet, and room for `capacity` nodes of that many `points`.

    near: radius in which the cheapest node is picked [m]. apart: least distance of witnesses [m].
    goal_rate: how often the goal itself is drawn, from 0 to 1. hurry: weight of speeds in distances [s].
    """
    d = 6 * points
    return Sparse(
        np.zeros((d, capacity), np.float32), np.zeros((d, capacity), np.float32), np.zeros(capacity, np.int64),
        np.zeros(1, np.int64), near, apart, goal_rate, hurry,
    )  # fmt: skip


@inline
def enter(sparse, nodes, node):
    """The place of a node among the others."""
    for k in range(sparse.F.shape[0] // 6):
        for i in range(3):
            x, v = nodes.X[node, k, i], sparse.hurry * nodes.V[node, k, i]
            sparse.F[6 * k + i, node], sparse.F[6 * k + 3 + i, node] = x, v


@inline
def look(F, count, x, cost, radius):
    """(The cheapest within the radius, or else the nearest, of the first `count` columns; its distance).

    Without costs (of no entries) it is the nearest.
    """
    block = 512  # nodes between two comparisons, so that the sums stay in the nearest cache
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
    """A witness whose node has not been given up: of two drawn at random, the one whose node is nearer to the goal."""
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
    """A node to go on from: near the goal, or near a random witness (of places drawn at random limbs rule most out).

    The place is drawn from a cube so small that it is half of `near` away, on the average: of as many coordinates as two points
    have, a cube of that half width reaches twice as far, and what is near would nearly always be nothing.
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
    """Whether a new node is the cheapest of its witness; if so, the one before it is given up."""
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
