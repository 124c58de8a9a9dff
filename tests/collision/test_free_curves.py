"""Proofs that ways are free: agreement with coal and with the dense check, and never the other way round."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from bunraku.collision import World
from bunraku.collision.free_curves import ReachLink, Ways
from bunraku.collision.way_curve import WayCurve, samples_of
from bunraku.errors import BunrakuError
from bunraku.figure import Box, Point
from bunraku.figure.build import box, capsule, cylinder, figure, free, mesh, rz, sphere, tx, ty
from bunraku.scene import Heightfield, Obstacle, Plane
from tests.collision.worlds import clutter, flying, geometries, room, saved


def samples(curve: WayCurve, s: np.ndarray) -> np.ndarray:
    out = np.empty((len(s), curve.Q.shape[1]))
    samples_of(curve, s, out)
    return out


@pytest.mark.parametrize("name", ["sphere", "capsule", "cylinder", "box", "pebble", "ring"])
def test_samples_agree_with_world(tmp_path, name):
    shapes = geometries(tmp_path)
    obstacles = [Obstacle(f"o{k}", g, (0.4 * k - 1.0, 0.1 * k, 0.1)) for k, g in enumerate(shapes.values())]
    obstacles += [
        Obstacle("slope", Plane((0.3, 0.0, 1.0)), (0.0, 0.0, -0.5)),
        Obstacle("hills", Heightfield(((0.0, 0.2), (0.1, 0.0)), (1.0, 1.0)), (0.0, 0.9, -0.2)),
    ]
    world = World(flying(shapes[name]), room(*obstacles))
    rng = np.random.default_rng(3)
    Q = rng.uniform([-1.4, -0.6, -0.4, -3, -1.5, -3], [1.4, 1.2, 0.6, 3, 1.5, 3], (400, 6))
    margin = 0.02
    free_ = Ways(world, margin=margin).free(Q)
    near = np.array([world.distance(q).value for q in Q])
    assert 0.1 < free_.mean() < 0.95
    assert not (free_ & (near < margin - 1e-6)).any()
    # What is not convex is covered by convex pieces, which may be a little larger.
    refused = ~free_ & (near > margin + 1e-5)
    assert refused.sum() <= (20 if name == "ring" else 0)


def team(*more):
    return figure(
        "team",
        tx("ax", ty("ay", rz("at", box((0.7, 0.5, 1.0), at=(0, 0, 0.6))))),
        tx("bx", ty("by", rz("bt", cylinder(0.3, 1.6, at=(0, 0, 0.95))))),
        free("object", box((1.2, 0.5, 0.1)), capsule(0.05, 0.3, at=(0, 0, 0.2)), *more),
    )


LOWER = np.array([-3, -3, -3, -3, -3, -3, -3, -3, 0.6, -3, -0.3, -0.3])
UPPER = np.array([3, 3, 3, 3, 3, 3, 3, 3, 1.2, 3, 0.3, 0.3])


def test_lines_agree_with_the_slow_proof(tmp_path):
    scene = room(Obstacle("clutter", saved(clutter(6000), tmp_path, "clutter")), floor=0.0)
    world = World(team(), scene)
    ways = Ways(world)
    rng = np.random.default_rng(1)
    Q = rng.uniform(LOWER, UPPER, (1500, 12))
    Q = Q[ways.free(Q)][:30]
    answers = []
    for q in Q:
        end = q + 0.4 * rng.normal(size=12)
        answers.append((ways.free_along(WayCurve(np.stack([q, end]))), world.free_between(q, end)))
    ours, slow = np.array(answers).T
    assert 4 < ours.sum() < 26
    assert (ours == slow).mean() >= 0.95


def test_what_is_called_free_has_no_hit_in_a_dense_check(tmp_path):
    scene = room(Obstacle("clutter", saved(clutter(6000), tmp_path, "clutter")), floor=0.0)
    world = World(team(), scene)
    ways = Ways(world, margin=0.005)
    rng = np.random.default_rng(2)
    Q = rng.uniform(LOWER, UPPER, (1500, 12))
    checked = 0
    for q in Q[ways.free(Q)][:14]:
        end = q + 0.3 * rng.normal(size=12)
        control = np.stack([q[3:5], q[3:5] + rng.normal(size=2) * 0.2, end[3:5] + rng.normal(size=2) * 0.2, end[3:5]])
        bent = WayCurve(np.stack([q, q + 0.5 * (end - q), end]), np.array([0.0, 0.4, 1.0]), np.array([[3, 4, 5, 0]]), control[None])
        for curve in (WayCurve(np.stack([q, end])), bent):
            if ways.free_along(curve):
                checked += 1
                dense = samples(curve, np.linspace(0.0, 1.0, 80))
                assert world.check(dense).clearance.min() >= 0.005 - 1e-6
    assert checked >= 6


def test_a_thin_wall_between_two_samples_is_seen():
    world = World(figure("ball", tx("x", sphere(0.02))), room(Obstacle("wall", Box((1e-4, 1.0, 1.0)), (0.5, 0.0, 0.0))))
    passage = Ways(world).along(WayCurve(np.array([[0.0], [1.0]])))
    assert not passage.free
    assert passage.b == "wall"
    assert abs(passage.s - 0.5) < 0.03


def test_a_sample_inside_of_a_solid_is_not_free(tmp_path):
    drum = saved(trimesh.creation.icosphere(subdivisions=3, radius=1.0), tmp_path, "drum")
    world = World(figure("ball", tx("x", sphere(0.02))), room(Obstacle("drum", drum)))
    assert Ways(world).free([[0.0], [0.99], [1.5]]).tolist() == [False, False, True]


def test_pieces_of_a_mesh_that_moves(tmp_path):
    ring = saved(trimesh.creation.torus(0.3, 0.05), tmp_path, "ring")
    pole = Obstacle("pole", Box((0.02, 0.02, 1.0)), (1.0, 0.0, 0.0))
    world = World(figure("ring", tx("x", ty("y", mesh(ring.file)))), room(pole))
    ways = Ways(world)
    assert ways.free([[1.0, 0.0]])[0], "the pole stands in the hole"
    assert ways.free_along(WayCurve(np.array([[0.95, 0.0], [1.05, 0.02]])))
    assert not ways.free_along(WayCurve(np.array([[0.0, 0.0], [1.0, 0.0]])))


def test_links():
    pair = figure("pair", tx("ax", ty("ay", sphere(0.05))), tx("bx", ty("by", sphere(0.05))))
    link = ReachLink(Point("ay"), Point("by"), 0.5, 1.0, "rope")
    ways = Ways(World(pair), links=[link])
    assert ways.free([[0, 0, 0.7, 0], [0, 0, 0.4, 0], [0, 0, 1.1, 0]]).tolist() == [True, False, False]
    together = WayCurve(np.array([[0.0, 0.0, 0.7, 0.0], [5.0, 0.0, 5.7, 0.0]]))
    assert ways.free_along(together)
    past = ways.along(WayCurve(np.array([[0.0, 0.0, 0.7, 0.0], [0.0, 0.0, -0.7, 0.0]])))
    assert not past.free
    assert past.a == "rope"


def test_links_of_what_is_carried_along_do_not_feel_the_way():
    chain = figure("chain", tx("x", rz("turn", sphere(0.05), tx("arm", sphere(0.05), at=(0.3, 0, 0)))))
    ways = Ways(World(chain), links=[ReachLink(Point("turn"), Point("arm"), 0.25, 0.5)])
    far = WayCurve(np.array([[0.0, 0.0, 0.0], [100.0, 50.0, 0.1]]))
    assert ways.free_along(far)


def test_bad_links_are_refused():
    with pytest.raises(BunrakuError, match="least < most"):
        ReachLink(Point("a"), Point("b"), 1.0, 0.5)
    with pytest.raises(BunrakuError, match="no frame is called 'nose'"):
        Ways(World(figure("ball", tx("x", sphere(0.1)))), links=[ReachLink(Point("nose"), Point("x"), 0.0, 1.0)])
