"""The broad phase misses no pair, whatever bodies do: watched pairs against all distances, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision.manifold.broad_phase import near_pairs_of, put_bodies, put_features
from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD, near_room, place_room, watched_pairs
from bunraku.collision.manifold.touch_rules import Touch, TouchPair
from bunraku.collision.manifold.touch_world import TouchBodies
from bunraku.figure import Figure
from bunraku.figure.library import named
from bunraku.figure.shape import Box
from bunraku.kernels.compile import borrow, keep, kernel
from bunraku.kinematics import pose
from bunraku.scene import Obstacle, Scene

FLOOR = Scene("room", (Obstacle("table", Box((0.3, 0.3, 0.02)), (0.2, 0.0, -0.3)),), floor=-1.0)


@kernel
def _near_pairs(tree, bodies, watch, Q, found):  # type: ignore[no-untyped-def]
    """found[k, a, b]: whether the pair is near in the step from Q[k] to Q[k + 1]. Returns how many pairs are watched.

    The origin moves every seven steps.
    """
    world = borrow(bodies)
    owned_start, owned_end = place_room(tree.joints.shape[0], world), place_room(tree.joints.shape[0], world)
    owned_near = near_room(world, watch, world.kind.shape[0] ** 2)
    start, end, near = borrow(owned_start), borrow(owned_end), borrow(owned_near)
    for k in range(Q.shape[0] - 1):
        o = (0.01 * (k // 7), -0.02 * (k // 7), 0.005 * (k // 7 % 3))
        put_bodies(world, tree.joints, Q[k], o, start, near)
        put_bodies(world, tree.joints, Q[k + 1], o, end, near)
        for b in range(world.kind.shape[0]):
            near.put[b, 0] = False
            if world.kind[b] == BODY.half_space:
                put_features(world, b, o, start)
                put_features(world, b, o, end)
        for i in range(near_pairs_of(world, o, start, end, near)):
            found[k, near.pairs[i, 0], near.pairs[i, 1]] = True
    watched = near.watched.shape[0]
    keep(bodies)
    keep(watch)
    keep(owned_start)
    keep(owned_end)
    keep(owned_near)
    return watched


def _motion(figure: Figure, seed: int, steps: int) -> np.ndarray:
    """Some of the time still, some of the time slow, some of the time with leaps."""
    rng = np.random.default_rng(seed)
    pace = rng.choice([0.0, 1e-3, 0.02, 0.3], steps)[:, None]
    return np.asarray(figure.start + np.cumsum(pace * rng.normal(size=(steps, figure.n_q)), 0))


def _gaps(figure: Figure, bodies: TouchBodies, q: np.ndarray) -> np.ndarray:
    """(bodies, bodies) at least how far bodies are apart, by points on the segments in them; less than nothing at half-spaces."""
    world, here = bodies.arrays, pose(figure, q)
    rows = []
    for k, j in enumerate(world.joint):
        own = world.vertices[world.first[k, 0] : world.first[k, 0] + world.count[k, 0]]
        ends = np.array([world.centre[k]] * 2 if world.kind[k] == BODY.polytope else [own[0], own[-1]])
        if j >= 0:
            X = here.X_joint(int(j))
            ends = ends @ X[:3, :3].T + X[:3, 3]
        rows.append(ends[0] + np.linspace(0.0, 1.0, 9)[:, None] * (ends[1] - ends[0]))
    points = np.array(rows)
    radius = np.where(world.kind == BODY.polytope, world.bound, world.radius)
    apart = np.linalg.norm(points[:, None, :, None] - points[None, :, None], axis=-1).min((2, 3))
    flat = world.kind == BODY.half_space
    low = points[:, :, 2].min(1)
    height = np.where(flat, -np.inf, low)[:, None] - np.where(flat, low, np.inf)[None]
    apart = np.where(flat[None] & ~flat[:, None], height, np.where(flat[:, None] & ~flat[None], height.T, apart))
    return np.asarray(apart - radius[:, None] - radius[None])


@pytest.mark.parametrize("name", ["marionette22", pytest.param("actor", marks=pytest.mark.slow)])
def test_no_pair_is_missed(name: str) -> None:
    figure = named(name)
    limbs = [f for f in figure.frame_index if "knee" in f or "elbow" in f][:4]
    rules = Touch(tuple(TouchPair(limb, other) for limb in limbs for other in ("floor", "torso", "table")))
    bodies = TouchBodies(figure, FLOOR, rules)
    for seed in range(2 if name == "marionette22" else 10):
        Q = _motion(figure, seed, 100)
        found = np.zeros((len(Q) - 1, len(bodies.names), len(bodies.names)), np.bool_)
        watch = watched_pairs(len(figure.compiled.tree.joints), bodies.arrays)
        watched = _near_pairs(figure.compiled.tree, bodies.arrays, watch, Q, found)
        assert watched == len(bodies.pairs)
        near = np.array([_gaps(figure, bodies, q) for q in Q]) < MANIFOLD.reach
        must = np.triu(bodies.arrays.may) & (near[1:] | near[:-1])
        assert must.any()
        assert not np.any(must & ~found)
        assert found.mean() < 0.5 * np.triu(bodies.arrays.may).mean()
