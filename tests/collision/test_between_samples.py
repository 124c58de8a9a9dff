"""Between samples: free means free, and what is told apart is told apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.collision import World
from bunraku.collision.between_samples import denser
from bunraku.collision.shape_motion import travel
from bunraku.figure import Box, Capsule, Figure, Sphere, library
from bunraku.figure.build import ball, box, capsule, figure, free, mesh, rz, screw, sphere, tx
from bunraku.kinematics import pose
from bunraku.scene import Obstacle, Plane
from tests.collision.worlds import flying, room, saved


def crane() -> Figure:
    """Every kind of joint: turns, slides, screws, and a slide below a turn."""
    hook = ball("hook", box((0.1, 0.2, 0.3), at=(0.0, 0.1, -0.2), name="load"), at=(0.3, 0.0, 0.0))
    trolley = tx("trolley", sphere(0.1, name="trolley"), screw((0.0, 1.0, 2.0), 0.1, "drum", hook, at=(0.0, 0.0, -0.2)))
    return figure("crane", rz("mast", capsule(0.1, to=(1.0, 0, 0), name="mast"), trolley, at=(0.0, 0.0, 1.0)))


def corners(figure: Figure, q: np.ndarray) -> np.ndarray:
    """Points of the crane's load in the world."""
    load = next(shape for shape in figure.shapes if shape.name == "load")
    half = np.array(load.geometry.size) / 2
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.array([pose(figure, q).point(load.frame, np.array(load.position) + half * s) for s in signs])


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(1e-3, 2.0))
def test_no_point_gets_farther_than_the_bound(seed, size):
    rng = np.random.default_rng(seed)
    crane_ = crane()
    world = World(crane_)
    q, half = rng.uniform(-1.5, 1.5, crane_.n_q), size * rng.random(crane_.n_q)
    reach = np.zeros((1, len(world.flat.joint)))
    travel(world.flat, q[None], half[None], reach)
    bound = reach[0, world.names.index("load")]
    here = corners(crane_, q)
    moved = 0.0
    for _ in range(40):
        there = corners(crane_, q + half * rng.choice((-1.0, 1.0, rng.uniform(-1.0, 1.0)), crane_.n_q))
        moved = max(moved, float(np.linalg.norm(there - here, axis=1).max()))
    assert moved <= bound + 1e-12


def test_the_bound_is_tight_for_small_steps():
    """Σ |Δq| · lever arm, with the lever arms of here and now: a lone hinge moves its tip by exactly that."""
    door = figure("door", rz("hinge", capsule(0.01, to=(1.0, 0, 0))))
    world = World(door)
    reach = np.zeros((1, 1))
    travel(world.flat, door.start[None].copy(), np.array([[1e-3]]), reach)
    assert reach[0, 0] == pytest.approx(1e-3 * 1.01, rel=1e-9)


def test_a_thin_wall_between_two_samples():
    """Free at both ends and at every sample of the check, but not between."""
    world = World(flying(Sphere(0.02)), room(Obstacle("wall", Box((0.001, 2.0, 2.0)), (0.333, 0.0, 0.0))))
    a, b = np.zeros(6), np.array([1.0, 0, 0, 0, 0, 0])
    Q = np.array([a, b])
    assert world.check(Q).free
    report = world.check(Q, between=True)
    assert not report.free
    assert report.passages[0][0] == 0
    assert "between: samples 0–1, flyer – wall" in str(report)
    passage = world.between(a, b)
    assert not passage.free
    assert (passage.a, passage.b) == ("flyer", "wall")
    assert passage.s == pytest.approx(0.333 - 0.02, abs=0.03)
    assert not world.free_between(a, b)
    assert world.free_between(a, 0.25 * b)
    assert world.free_between(a, b + np.array([0, 0, 1.2, 0, 0, 0]), margin=0.0) is False  # still through the wall
    around = np.array([0.0, 0, 1.2, 0, 0, 0])
    assert world.free_between(a, around)
    assert world.free_between(around, b + around)


def test_margin_and_resolution():
    """Along a wall at 5 mm: free, but not with a margin of 6 mm; at 5 mm exactly it cannot be told."""
    world = World(flying(Sphere(0.1)), room(Obstacle("wall", Plane((0.0, 1.0, 0.0)), (0.0, -0.105 - 0.01, 0.0))))
    a, b = np.zeros(6), np.array([2.0, 0, 0.5, 0, 0, 0])
    assert world.distance(a).value == pytest.approx(0.005)
    assert world.free_between(a, b)
    assert world.free_between(a, b, margin=0.0048)
    assert not world.free_between(a, b, margin=0.006)
    passage = world.between(a, b, margin=0.005 - 1e-7)
    assert not passage.free
    assert passage.value > 0.0


def test_what_is_called_free_is_free_everywhere():
    """Random lines of the mannequin, self-collision included, with both ends free; what is not free comes near somewhere."""
    mannequin = library.named("mannequin")
    obstacles = (
        Obstacle("post", Capsule(0.04, 2.0), (0.35, 0.3, 1.0)),
        Obstacle("table", Box((0.5, 0.9, 0.04)), (0.5, -0.3, 0.9)),
    )
    world = World(mannequin, room(*obstacles))
    world = world.allowing(world.touching_at())
    rng = np.random.default_rng(0)
    outcomes = []
    for _ in range(150):
        a = mannequin.start + rng.normal(0.0, 0.05, mannequin.n_q)
        b = a + rng.normal(0.0, 0.08, mannequin.n_q)
        b[0] += 1.2 * (rng.random() < 0.3)  # some walk on through the table
        if world.collides(a) or world.collides(b):
            continue
        least = world.check(a + np.linspace(0.0, 1.0, 200)[:, None] * (b - a)).least
        passage = world.between(a, b)
        outcomes.append(passage.free)
        if passage.free:
            assert least > 0.0
        else:
            assert least < 1e-3
            assert world.distance(a + passage.s * (b - a)).value == pytest.approx(passage.value, abs=1e-9)
    assert outcomes.count(True) >= 10
    assert outcomes.count(False) >= 1


def test_edged_shapes_between_samples(tmp_path):
    """coal's shapes too: a box that slips past, or through, the edge of a cylinder-like mesh."""
    import trimesh

    pillar = saved(trimesh.creation.annulus(0.2, 0.25, 1.0), tmp_path, "pipe")
    cart = figure("cart", free("cart", box((0.1, 0.1, 0.1), name="cart"), mesh(pillar.file, (0.2, 0.2, 0.2), name="pipe")))
    world = World(cart, room(Obstacle("pillar", pillar)))
    a, b = np.zeros(6), np.zeros(6)
    a[0], b[0] = -1.0, 1.0
    assert not world.free_between(a, b)
    a[1] = b[1] = 0.5
    assert world.free_between(a, b)
    inside = np.zeros(6)
    assert not world.collides(inside)  # in the hole of the pipe
    assert world.free_between(inside, inside + np.array([0, 0, 0.2, 0, 0, 0]))


def test_denser():
    crane_ = crane()
    world = World(crane_)
    Q = np.random.default_rng(2).uniform(-1.0, 1.0, (6, crane_.n_q))
    dense = world.denser(Q, step=0.005)
    place, _ = denser(world.flat, Q, step=0.005)
    np.testing.assert_allclose(dense[np.isin(place, np.arange(6))], Q, atol=1e-12)
    points = np.array([corners(crane_, q) for q in dense])
    longest = float(np.linalg.norm(np.diff(points, axis=0), axis=2).max())
    assert 0.0005 < longest <= 0.005
    assert len(world.denser(Q[:1])) == 1
    assert math.isclose(float(world.denser(np.array([Q[0], Q[0]])).shape[0]), 2)
