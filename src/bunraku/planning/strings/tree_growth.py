"""The growing loop of every tree: pick a node, simulate a segment, keep its end. One compiled call adds many nodes."""

from __future__ import annotations

from bunraku.kernels.compile import borrow, inline, keep, kernel
from bunraku.kernels.xorshift import uniform
from bunraku.planning.strings import est, sst
from bunraku.planning.strings.hand_segment import clear, propagate, random_speeds, scratch, whereabouts
from bunraku.planning.strings.tree_nodes import farness, step_cost

pick_cell, settle_in = est.pick, est.settle_in
pick_sparse, enter, stays = sst.pick, sst.enter, sst.stays


@kernel
def plant(tree, world, course, aim, taste, state, nodes, cells, sparse, dice):
    """Adds the root. Returns whether it is already in the goal."""
    w = scratch(tree, world, course)
    nq = tree.n_q
    for i in range(nq):
        w.Q[0, i] = state[2 * nq + i]
    whereabouts(tree, course, w, 0, nodes.X[0])
    nodes.V[0] = 0.0
    nodes.state[0, :] = state
    nodes.parent[0], nodes.cost[0] = -1, 0.0
    nodes.far[0], found = farness(aim, taste.hurry, nodes.X[0], nodes.V[0], 1.0)
    nodes.count[0] = 1
    if taste.sparse:
        enter(sparse, nodes, 0)
        stays(sparse, nodes, 0)
    else:
        settle_in(nodes, cells, aim, taste, 0, dice)
    return found


@inline
def arrive(tree, course, aim, hurry, w, nodes, node, worst):
    """Stores positions and velocities of a new node's points, and its distance from the goal. Returns whether it is in the goal."""
    X, V = nodes.X[node], nodes.V[node]
    whereabouts(tree, course, w, course.steps - 1, V)
    whereabouts(tree, course, w, course.steps, X)
    for k in range(X.shape[0]):
        for i in range(3):
            V[k, i] = (X[k, i] - V[k, i]) / course.dt
    nodes.far[node], reached = farness(aim, hurry, X, V, worst)
    return reached


@kernel
def grow(tree, world, threads, course, aim, taste, nodes, cells, sparse, dice, segments, bound, worst):
    """Simulates up to `segments` more segments. Returns the node that reached the goal; −1 if none did; −2 if the tree is full.

    Nodes that cost `bound` or more are dropped; `worst` below one shrinks the goal.
    """
    tree_, world_, threads_ = borrow(tree), borrow(world), borrow(threads)
    lent = scratch(tree_, world_, course)
    w = borrow(lent)
    nk, T = tree.n_q - tree.n_dynamic, course.dt * course.steps
    at = nodes.state.shape[1] - nk
    found, follow = -1, -1
    for _ in range(segments):
        node = nodes.count[0]
        if node >= nodes.parent.shape[0]:
            found = -2
            break
        parent = follow
        if parent < 0:
            parent = pick_sparse(sparse, nodes, aim, dice) if taste.sparse else pick_cell(cells, aim, taste, dice)
        follow = -1
        if parent < 0:
            found = -2
            break
        random_speeds(tree_, course, nodes.state[parent], at, aim.toward, taste.goal_rate, taste.one_group, dice, w.v)
        cost = nodes.cost[parent] + step_cost(taste, nodes.state[parent], w.v, nk, at, T)
        nodes.segments[0] += 1
        if cost >= bound:
            continue
        if not propagate(tree_, course, w, nodes.state[parent], w.v, nodes.state[node]):
            continue
        if not clear(tree_, world_, threads_, course, w):
            continue
        reached = arrive(tree_, course, aim, taste.hurry, w, nodes, node, worst)
        nodes.parent[node], nodes.cost[node] = parent, cost
        for k in range(nk):
            nodes.speeds[node, k] = w.v[k]
        if taste.sparse:
            enter(sparse, nodes, node)
            if not stays(sparse, nodes, node) and not reached:
                continue
        elif not settle_in(nodes, cells, aim, taste, node, dice):
            found = -2
            break
        nodes.count[0] = node + 1
        if reached:
            found = node
            break
        if nodes.far[node] < nodes.far[parent] and uniform(dice) < taste.follow:
            follow = node
    keep(tree)
    keep(world)
    keep(threads)
    keep(lent)
    return found
