"""Distances agree with coal used directly, gradients with difference quotients."""

from __future__ import annotations

import itertools
import math

import coal
import numpy as np
import pytest
import trimesh

from bunraku.collision import World, coal_pairs
from bunraku.collision.coal_shapes import solid
from bunraku.ensemble.scenes import living_room
from bunraku.figure import Box, Capsule, Cylinder, Sphere, library
from bunraku.kinematics import pose
from bunraku.scene import Heightfield, Obstacle, Plane
from bunraku.spatial import so3
from tests.collision.worlds import clutter, flown, flying, geometries, room, saved, stood, with_coal
from tests.differences import difference_quotient, relative_error

KINDS = ("sphere", "capsule", "cylinder", "box", "pebble", "ring")
ROUND = ("sphere", "capsule")
COAL = 2e-6  # what coal promises (1e-6), twice: both sides may ask it


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    return geometries(tmp_path_factory.mktemp("meshes"))


def placed(geometry) -> Obstacle:
    return Obstacle("thing", geometry, (0.1, -0.2, 0.3), tuple(so3.quaternion(so3.rpy(0.5, 0.2, -0.7))))


def around(rng: np.random.Generator, n: int) -> np.ndarray:
    """Configurations of a flyer near the thing."""
    Q = rng.uniform(-math.pi, math.pi, (n, 6))
    Q[:, :3] = rng.uniform((-0.2, -0.5, 0.0), (0.4, 0.1, 0.6), (n, 3))
    return Q


@pytest.mark.parametrize(("a", "b"), list(itertools.product(KINDS, KINDS)))
def test_agrees_with_coal(a, b, shapes):
    figure, obstacle = flying(shapes[a]), placed(shapes[b])
    world = World(figure, room(obstacle))
    apart = deep = 0
    for q in around(np.random.default_rng(11), 60):
        value = with_coal(flown(figure, q), stood(obstacle))
        own = world.distance(q)
        assert (own.a, own.b) == ("flyer", "thing")
        np.testing.assert_allclose(own.p_B - own.p_A, own.value * own.normal, atol=1e-9)
        assert world.collides(q) == (own.value < 0.0)
        if value > COAL:
            apart += 1
            if b == "ring" and own.value < 0.0:  # wholly inside of the ring's tube, which coal does not see
                continue
            assert own.value == pytest.approx(value, abs=COAL)
            assert np.linalg.norm(own.normal) == pytest.approx(1.0, abs=1e-6)
        elif value < -COAL or a == b == "ring":  # between meshes, coal says 0
            deep += 1
            assert own.value < 0.0
            if "ring" not in (a, b):  # coal measures how deep in convex things only
                assert own.value == pytest.approx(value, abs=COAL)
    assert apart >= 5
    assert deep >= 5


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations_with_replacement(KINDS, 2)))
def test_two_that_move_agree_with_coal(a, b, shapes):
    one, two = flying(shapes[a], "one"), flying(shapes[b], "two")
    world = World([one, two])
    hits = 0
    rng = np.random.default_rng(12)
    for q_a, q_b in zip(around(rng, 60), around(rng, 60), strict=True):
        q_b[:3] = 0.5 * q_a[:3] + (0.05, -0.1, 0.15)
        value = with_coal(flown(one, q_a), flown(two, q_b))
        q = np.concatenate([q_a, q_b])
        own = world.distance(q)
        if value > COAL:
            assert own.value == pytest.approx(value, abs=COAL)
            for margin in (0.9 * value, 1.1 * value):
                assert world.collides(q, margin=margin) == (margin > value)
                assert len(world.clearances(q, within=margin)) == (margin > value)
        else:
            hits += 1
            assert own.value < COAL
            assert world.collides(q) == (own.value < 0.0)
    assert 5 <= hits <= 55


@pytest.mark.parametrize(("a", "b"), [*itertools.product(ROUND, KINDS), ("cylinder", "box"), ("box", "box"), ("box", "ring")])
def test_gradient_agrees_with_difference_quotients(a, b, shapes):
    world = World(flying(shapes[a]), room(placed(shapes[b])))
    exact = a in ROUND and b != "cylinder"
    checked = 0
    for q in around(np.random.default_rng(7), 60):
        near = world.clearances(q, within=math.inf)
        assert len(near) == 1
        if near.value[0] < (-0.03 if exact else 0.005):  # deep in a convex thing it is coal who measures
            continue
        step, tolerance = (1e-5, 1e-7) if exact else (1e-4, 1e-5)  # coal's normals are good to 1e-6 or so
        coarse, fine = (difference_quotient(lambda x: world.distance(x).value, q, step=h) for h in (step, step / 2))
        if relative_error(coarse, fine) > tolerance:  # a kink within the step: the nearest feature changes
            continue
        assert relative_error(near.gradient[0], fine) < 3 * tolerance
        checked += 1
        if checked == 20:
            break
    assert checked == 20


def test_gradients_of_the_whole_figure():
    """Self, scene, floor: every pair of the mannequin within reach, at once."""
    figure = library.named("mannequin")
    obstacles = (
        Obstacle("table", Box((0.8, 1.2, 0.05)), (0.6, 0.0, 0.7)),
        Obstacle("lamp", Sphere(0.12), (0.0, 0.35, 1.6)),
        Obstacle("bar", Capsule(0.03, 1.0), (0.3, -0.5, 1.0)),
        Obstacle("wall", Plane((1.0, 0.0, 0.0)), (-0.3, 0.0, 0.0)),
    )
    world = World(figure, room(*obstacles, floor=0.0))
    rng = np.random.default_rng(3)
    q = figure.start + rng.uniform(-0.1, 0.1, figure.n_q)
    near = world.clearances(q, within=0.25)
    assert {"table", "lamp", "bar", "wall", "floor"} <= {b for _, b in near.pairs}
    edged = {shape.name for shape in figure.shapes if not isinstance(shape.geometry, Sphere | Capsule)}
    exact = [k for k, pair in enumerate(near.pairs) if not any(name.split(".")[-1] in edged for name in pair)]
    keys = list(map(tuple, near.things))

    def values(x: np.ndarray) -> np.ndarray:
        there = world.clearances(x, within=0.26)
        found = dict(zip(map(tuple, there.things), there.value, strict=True))
        return np.array([found[k] for k in keys])

    quotient = difference_quotient(values, q, step=1e-5)
    errors = np.array([relative_error(near.gradient[k], quotient[k]) for k in exact])
    assert len(errors) > 100
    assert np.median(errors) < 1e-8
    assert np.mean(errors < 1e-6) > 0.97  # the rest are kinks: parallel capsules, ends of segments


def test_gradient_is_that_of_the_witness_points():
    figure = library.named("mannequin")
    world = World(figure, room(floor=0.0))
    q = figure.start
    near = world.clearances(q, within=0.05)
    here = pose(figure, q)
    frame = {shape.name: shape.frame for shape in figure.shapes}
    for k, (a, b) in enumerate(near.pairs):
        if b != "floor":
            continue
        name = a.split(".")[0] if "." in a else frame[a]
        X = here.X(name)
        J = here.point_jacobian(name, X[:3, :3].T @ (near.p_A[k] - X[:3, 3]))
        np.testing.assert_allclose(near.gradient[k], -near.normal[k] @ J, atol=1e-12)


def test_planes_and_floor():
    world = World(flying(Sphere(0.1)), room(Obstacle("ramp", Plane((0.0, 1.0, 1.0)), (0.0, 0.0, 1.0)), floor=-1.0))
    q = np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    centre = q[:3] + np.array([0.02, -0.01, 0.03])
    near = world.clearances(q, within=math.inf)
    found = dict(zip((b for _, b in near.pairs), near.value, strict=True))
    assert found["floor"] == pytest.approx(centre[2] + 1.0 - 0.1)
    assert found["ramp"] == pytest.approx((centre[1] + centre[2] - 1.0) / math.sqrt(2.0) - 0.1)
    assert world.collides((0.0, 0.0, -5.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize("kind", KINDS)
def test_heightfield(kind, shapes):
    """Over a slope, the distance is that to the plane; under it, everything overlaps, however deep."""
    xs, ys = np.linspace(-2.0, 2.0, 9), np.linspace(-1.5, 1.5, 7)
    heights = tuple(tuple(0.25 * x + 0.1 * y for x in xs) for y in ys)
    figure = flying(shapes[kind])
    field = World(figure, room(Obstacle("ground", Heightfield(heights, (4.0, 3.0)), (0.0, 0.0, 0.5))))
    plane = World(figure, room(Obstacle("ground", Plane((-0.25, -0.1, 1.0)), (0.0, 0.0, 0.5))))
    for q in np.random.default_rng(1).uniform((-1, -0.7, 0.9, -3, -3, -3), (1, 0.7, 1.2, 3, 3, 3), (30, 6)):
        over = plane.distance(q).value
        if over > 0.0:
            assert field.distance(q).value == pytest.approx(over, abs=COAL)
        for down in (0.5, 1.0, 3.0):
            below = q - np.array([0.0, 0.0, down, 0.0, 0.0, 0.0])
            if plane.distance(below).value < -COAL:
                assert field.collides(below)
                assert field.distance(below).value < 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_inside_of_a_closed_mesh_is_overlap(kind, shapes, tmp_path):
    """coal knows triangles only, and would call the inside of a big hollow thing free."""
    import trimesh

    big = trimesh.creation.torus(3.0, 1.0, major_sections=48, minor_sections=24)
    world = World(flying(shapes[kind]), room(Obstacle("big", saved(big, tmp_path, "big"))))
    inside, outside = (3.0, 0.0, 0.0, 0.1, 0.2, 0.3), (0.0, 0.0, 0.0, 0.1, 0.2, 0.3)
    assert world.collides(inside)
    assert world.distance(inside).value < -0.5
    assert not world.collides(outside)
    assert world.distance(outside).value == pytest.approx(2.0, abs=0.4)


def test_the_way_out_is_the_gradient(tmp_path):
    """From anywhere inside of a solid, steps along the gradient lead out."""
    import trimesh

    ring = trimesh.creation.torus(0.5, 0.2, major_sections=32, minor_sections=16)
    world = World(flying(Capsule(0.03, 0.1)), room(Obstacle("ring", saved(ring, tmp_path, "ring"))))
    for angle in np.linspace(0.0, 6.0, 8):
        q = np.array([0.5 * math.cos(angle), 0.5 * math.sin(angle), 0.05, angle, 0.3, 0.2])
        for _ in range(60):
            near = world.clearances(q, within=0.0)
            if not len(near):
                break
            way = near.gradient[0]
            q = q + 0.01 * way / np.linalg.norm(way)
        assert not world.collides(q)


def test_nearest_is_the_least_of_all_pairs(tmp_path):
    figure = library.named("humanoid")
    mesh = saved(clutter(8000, size=1.5), tmp_path, "clutter")
    crate = Obstacle("crate", Box((0.4, 0.3, 0.2)), (0.5, 0.0, 0.1))
    world = World(figure, room(Obstacle("clutter", mesh), crate, floor=0.0))
    world = world.allowing(World(figure).touching_at())
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = figure.start + rng.uniform(-0.3, 0.3, figure.n_q)
        every = world.clearances(q, within=math.inf)
        assert len(every) == len(world.pairs)
        nearest = world.distance(q)
        assert nearest.value == pytest.approx(every.value.min(), abs=1e-12)
        contacts = world.contacts(q)
        assert [c.value for c in contacts] == pytest.approx(sorted(every.value[every.value < 0.0]), abs=1e-12)
        assert world.collides(q) == bool(contacts)
        some = world.clearances(q, within=0.1)
        assert sorted(some.value) == pytest.approx(sorted(every.value[every.value < 0.1]), abs=1e-12)


@pytest.mark.parametrize(("q", "value"), [
    ((-0.22644167484219935, 0.96036378915571, 0.72, -2.163207355371296, 0.0, 0.0), 0.153),
    ((0.9095069051429869, -0.6270428937734138, 0.72, 1.530097375436748, 0.0, 0.0), 0.256),
])  # fmt: skip
def test_where_coal_does_not_converge_it_is_asked_less_exactly(tmp_path, q, value):
    profile = np.array([(0, 0), (0.29, 0), (0.3, 0.02), (0.28, 0.28), (0.3, 0.3), (0.28, 0.32), (0.29, 0.88), (0, 0.88)])
    drum = saved(trimesh.creation.revolve(profile, sections=40), tmp_path, "drum")
    world = World(flying(Cylinder(0.26, 1.36)), room(Obstacle("drum", drum)))
    assert world.distance(q).value == pytest.approx(value, abs=1e-3)


def test_of_many_triangles_none_lies(tmp_path):
    """Asked to 1e-12, coal calls a leg of a piano that is 32 mm above a desk a contact."""
    R = [
        [0.04720014589510719, 0.9978095003275138, -0.046350267352387974],
        [-0.9969477869100432, 0.04994667508595412, 0.060003665079938553],
        [0.062187268814829805, 0.04337661471363776, 0.9971214634603632],
    ]
    leg = coal.Transform3s(np.array(R), np.array([-0.21144394531624733, 0.3909346482323766, 0.8968733597607239]))
    desk = solid(living_room(tmp_path).obstacle("desk").geometry).coal
    pair = coal.Cylinder(0.07, 0.36), leg, desk, coal.Transform3s.Identity()
    assert coal_pairs._distance(pair, coal.DistanceResult(), math.inf) == pytest.approx(0.03208, abs=1e-5)
