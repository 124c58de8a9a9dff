"""Builds the flat arrays of a world from its figures and scene."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import box_tree
from bunraku.collision.things import PairRules, Thing
from bunraku.collision.world_arrays import STATIC, SURFACE, WorldArrays
from bunraku.figure import Figure
from bunraku.spatial import se3

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def flat(figures: tuple[Figure, ...], moving: list[Thing], static: list[Thing], rules: PairRules) -> WorldArrays:
    """The arrays of a world: `figures`, their `moving` shapes, the `static` things, and `rules` for which pairs are tested."""
    joints, chain, first = _forest(figures)
    joint = np.array([first[thing.figure] + thing.joint for thing in moving], np.int64)
    ends, radius = _capsules(moving)
    still = _still(static)
    boxed = np.flatnonzero(still["kind"] != STATIC.plane)
    top_ints, top_boxes, top_order = _tree(still["static_box"][boxed].reshape(-1, 2, 3))
    return WorldArrays(
        joints=joints, chain=chain, joint=joint, ends=ends, radius=radius,
        pose=np.array([thing.X[:3] for thing in moving]).reshape(-1, 3, 4),
        ball=radius + np.linalg.norm(ends[:, 3:] - ends[:, :3], axis=1) / 2,
        half=np.array([_solid(thing).half for thing in moving]).reshape(-1, 3),
        round=np.array([_solid(thing).round for thing in moving], np.bool_),
        pairs=_pairs(moving, joint, chain, rules),
        tested=np.array([[rules.tested(a, b) for b in static] for a in moving], np.bool_).reshape(len(moving), len(static)),
        planes=np.flatnonzero(still["kind"] == STATIC.plane),
        top_ints=top_ints, top_boxes=top_boxes, top_order=boxed[top_order], **still,
    )  # fmt: skip


def _solid(thing: Thing) -> Any:
    assert thing.solid is not None  # only static things are half-spaces
    return thing.solid


def _forest(figures: tuple[Figure, ...]) -> tuple[Any, Ints, list[int]]:
    """The joints and chains of all figures one after another; the number of the first joint of each."""
    trees = [figure.compiled.tree for figure in figures]
    first, first_q, joints, first_joint = 0, 0, [], []
    chain = np.zeros((sum(len(t.joints) for t in trees), max((t.chain.shape[1] for t in trees), default=1)), np.int64)
    for figure, tree in zip(figures, trees, strict=True):
        own, rows = tree.joints.copy(), tree.chain.copy()
        own["parent"][own["parent"] >= 0] += first
        own["variable"] += first_q
        rows[:, 1:] += first  # entries beyond a row's count are not read
        chain[first : first + len(own), : rows.shape[1]] = rows
        first_joint.append(first)
        joints.append(own)
        first, first_q = first + len(own), first_q + figure.n_q
    return np.concatenate(joints).view(type(joints[0])), chain, first_joint


def _capsules(things: list[Thing]) -> tuple[Array, Array]:
    """The segments (n, 6) and radii of the capsules that contain the things."""
    ends = [np.concatenate([se3.transform(t.X, _solid(t).start), se3.transform(t.X, _solid(t).end)]) for t in things]
    return np.array(ends).reshape(-1, 6), np.array([_solid(t).radius for t in things])


def _pairs(moving: list[Thing], joint: Ints, chain: Ints, rules: PairRules) -> Ints:
    """(A, B, number of joints that move A but not B, number of joints that move B but not A) of every tested moving pair."""
    above = [[int(k) for k in row[1 : 1 + row[0]]] for row in chain]
    out = []
    for i, a in enumerate(moving):
        for j in range(i + 1, len(moving)):
            if rules.tested(a, moving[j]):
                mine, other = above[joint[i]], above[joint[j]]
                shared = len(set(mine) & set(other))
                out.append((i, j, len(mine) - shared, len(other) - shared))
    return np.array(out, np.int64).reshape(-1, 4)


def _still(static: list[Thing]) -> dict[str, Any]:
    """Arrays of the static things, in world axes; a plane keeps its normal in static_ends and its offset in static_radius."""
    n = len(static)
    kind, root, surface = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    ends, radius, box = np.zeros((n, 6)), np.zeros(n), np.zeros((n, 6))
    trees: list[tuple[Ints, Array, Array]] = []
    nodes = corners = 0
    for s, thing in enumerate(static):
        X, solid = thing.X, thing.solid
        if solid is None:
            kind[s] = STATIC.plane
            ends[s, :3] = X[:3, 2]
            radius[s] = X[:3, 2] @ X[:3, 3]
        elif solid.surface is not None:
            kind[s], root[s] = STATIC.surface, nodes
            # In a convex solid coal computes the depth.
            surface[s] = SURFACE.convex if solid.surface.convex else SURFACE.solid if solid.surface.solid else SURFACE.open
            tree = _triangles(se3.transform(X, solid.surface.corners().reshape(-1, 3)).reshape(-1, 3, 3))
            box[s] = tree[1][0]
            tree[0][:, 0] += nodes
            tree[0][:, 1] += corners
            trees.append(tree)
            nodes, corners = nodes + len(tree[0]), corners + len(tree[2])
        else:
            kind[s] = STATIC.round if solid.round else STATIC.hull
            (ends[s],), (radius[s],) = _capsules([thing])
            pair = ends[s].reshape(2, 3)
            box[s] = np.concatenate([pair.min(0) - radius[s], pair.max(0) + radius[s]])
    empty = (np.zeros((0, 3), np.int64), np.zeros((0, 6)), np.zeros((0, 9)))
    ints, boxes, triangles = (np.concatenate(parts) for parts in zip(empty, *trees, strict=True))
    return {
        "kind": kind, "root": root, "surface": surface, "static_ends": ends, "static_radius": radius, "static_box": box,
        "ints": ints, "boxes": boxes, "triangles": triangles,
    }  # fmt: skip


def _triangles(corners: Array) -> tuple[Ints, Array, Array]:
    ints, boxes, order = _tree(np.stack([corners.min(1), corners.max(1)], 1))
    return ints, boxes, corners[order].reshape(-1, 9)


def _tree(spans: Array) -> tuple[Ints, Array, Ints]:
    """A tree over boxes (n, 2, 3)."""
    n = len(spans)
    if n == 0:
        return np.zeros((0, 3), np.int64), np.zeros((0, 6)), np.zeros(0, np.int64)
    ints, boxes, order = np.empty((2 * n, 3), np.int64), np.empty((2 * n, 6)), np.empty(n, np.int64)
    size = box_tree.build(np.ascontiguousarray(spans[:, 0]), np.ascontiguousarray(spans[:, 1]), ints, boxes, order)
    return ints[:size].copy(), boxes[:size].copy(), order
