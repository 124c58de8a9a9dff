"""Which pairs are tested, what may touch, and what happens to bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bunraku.collision import World
from bunraku.errors import BunrakuError, FileError, MotionError, NotFinite, UnknownName
from bunraku.figure import Box, Mesh, Sphere, library
from bunraku.figure.build import ball, capsule, figure, fixed, free, rx, ry, sphere
from bunraku.motion import Motion, Track
from bunraku.scene import Obstacle, Scene
from tests.collision.worlds import flying, room


def arm(**words):
    """Three links, each with a capsule; the ball's first two frames carry nothing."""
    hand = rx("wrist", sphere(0.05, at=(0, 0, -0.05), name="hand"), at=(0, 0, -0.3))
    lower = ry("elbow", capsule(0.03, to=(0, 0, -0.3), name="lower"), hand, at=(0, 0, -0.3))
    upper = ball("shoulder", capsule(0.03, to=(0, 0, -0.3), name="upper"), lower)
    return figure("arm", fixed("bench", sphere(0.05, name="bench"), upper), **words)


def sets(pairs) -> set[frozenset[str]]:
    """Which of the two comes first does not matter."""
    return {frozenset(pair) for pair in pairs}


def test_neighbours_may_touch():
    # bench–upper, upper–lower, lower–hand are neighbours; the ball's own frames do not come between.
    assert sets(World(arm()).pairs) == sets([("upper", "hand"), ("lower", "bench"), ("hand", "bench")])


def test_a_free_body_is_nobodys_neighbour():
    stand = figure("stand", fixed("base", sphere(0.1, name="base")), free("bird", sphere(0.1, name="bird")))
    assert World(stand).pairs == (("bird", "base"),)


def test_shapes_that_do_not_collide_are_left_out():
    lone = figure("lone", free("bird", sphere(0.1, name="bird"), sphere(0.2, name="halo", collides=False)))
    assert World(lone).names == ("bird",)
    assert World(lone).pairs == ()
    assert World(lone).distance(lone.start).value == np.inf
    assert not World(lone).collides(lone.start)


def test_allowed_pairs():
    folded = arm(allowed=[("shoulder", "wrist")])
    assert sets(World(folded).pairs) == sets([("lower", "bench"), ("hand", "bench")])
    q = arm().configuration(elbow=np.pi - 0.05)
    world = World(arm())
    assert world.collides(q)
    touching = world.touching_at(q)
    assert sets(touching) == sets([("shoulder", "wrist"), ("elbow", "bench"), ("wrist", "bench")])
    assert not world.allowing(touching).collides(q)
    assert world.touching_at() == ()


def test_allowed_by_obstacle_group_and_figure():
    scene = room(Obstacle("leg", Box((0.1, 0.1, 0.1)), group="table"), Obstacle("top", Box((1, 1, 0.1)), group="table"))
    world = World(flying(Sphere(0.2)), scene)
    q = np.zeros(6)
    assert {b for _, b in world.touching_at(q)} == {"leg", "top"}
    assert {b for _, b in world.allowing([("flyer", "leg")]).touching_at(q)} == {"top"}
    assert world.allowing([("table", "flyer")]).touching_at(q) == ()
    with pytest.raises(UnknownName, match=r"no shape, frame or obstacle is called 'tabel'[^$]*did you mean table"):
        world.allowing([("tabel", "flyer")])


def test_shapes_of_one_name_are_told_apart_by_their_frames():
    names = World(library.named("mannequin")).names
    assert {"left_elbow.forearm", "right_elbow.forearm", "chest"} <= set(names)


def test_two_figures():
    a, b = flying(Sphere(0.1), "cat"), flying(Sphere(0.2), "dog")
    world = World([a, b])
    q = np.zeros(12)
    q[6] = 1.0
    distance = world.distance(q)
    assert (distance.a, distance.b) == ("cat.cat", "dog.dog")
    assert distance.value == pytest.approx(0.7)
    assert world.clearances(q, within=1.0).gradient[0, [0, 6]] == pytest.approx([-1.0, 1.0])
    q[6] = 0.25
    assert world.collides(q)
    assert not world.allowing([("cat", "dog")]).collides(q)


def test_twins():
    twin = library.named("gecko")
    world = World([twin, twin])
    assert world.n_q == 2 * twin.n_q
    q = np.concatenate([twin.start, twin.start + 0.0])
    q[twin.n_q + 1] += 0.05
    own = {pair for pair in world.touching_at(q) if pair[0].startswith("gecko.") and pair[1].startswith("gecko_2.")}
    assert own  # two bodies side by side at 5 cm overlap
    q[twin.n_q + 1] += 5.0
    assert not any(a.startswith("gecko.") and b.startswith("gecko_2.") for a, b in world.touching_at(q))


def test_motion_of_two_tracks():
    a, b = flying(Sphere(0.1), "cat"), flying(Sphere(0.1), "dog")
    t = np.linspace(0.0, 1.0, 11)
    q_a, q_b = np.zeros((11, 6)), np.zeros((11, 6))
    q_b[:, 0] = 1.01 - t
    motion = Motion(t, (Track(b, q_b), Track(a, q_a)))  # the other way round: names count, not the order
    report = World([a, b]).check(motion)
    np.testing.assert_allclose(report.clearance, 1.01 - t - 0.2, atol=1e-12)
    assert report.first == 9
    with pytest.raises(MotionError, match="no tracks of bird"):
        World(flying(Sphere(0.1), "bird")).check(motion)
    one = Motion.of(arm(), t, np.tile(arm().start, (11, 1)))
    with pytest.raises(MotionError, match="is not of cat"):
        World(a).check(one)


def test_bad_input():
    world = World(flying(Sphere(0.1)))
    with pytest.raises(BunrakuError, match="6 variables, but q has shape"):
        world.collides(np.zeros(5))
    with pytest.raises(BunrakuError, match="6 variables, but q has shape"):
        world.check(np.zeros(6))
    with pytest.raises(NotFinite, match="q is not finite at tz"):
        world.distance([0, 0, np.nan, 0, 0, 0])
    with pytest.raises(NotFinite):
        world.clearances(np.zeros(6), within=np.nan)
    with pytest.raises(BunrakuError, match="a margin of nan"):
        world.collides(np.zeros(6), margin=np.nan)
    with pytest.raises(BunrakuError, match="a margin of -1"):
        world.free_between(np.zeros(6), np.ones(6), margin=-1)
    with pytest.raises(BunrakuError, match="at least one figure"):
        World([])
    with pytest.raises(BunrakuError, match="a step of 0"):
        world.denser(np.zeros((2, 6)), step=0)
    with pytest.raises(BunrakuError, match="a resolution of 0"):
        world.free_between(np.zeros(6), np.ones(6), resolution=0)


def test_meshes_that_cannot_be_read(tmp_path):
    broken = tmp_path / "broken.stl"
    broken.write_text("solid nothing")
    for name in (str(broken), str(tmp_path / "missing.obj")):
        with pytest.raises(FileError, match="advice: a mesh is an STL"):
            World(flying(Sphere(0.1)), room(Obstacle("thing", Mesh(name))))


def test_a_scene_without_anything():
    world = World(library.named("pendulum"), Scene("void", floor=None))
    assert world.check(np.zeros((3, world.n_q))).free
    assert repr(world).startswith("<World:")


def test_questions_leave_the_configuration_alone():
    world = World(arm(), room(floor=-1.0))
    q = arm().start.copy()
    kept = pickle.dumps(q)
    world.collides(q), world.distance(q), world.clearances(q, within=1.0), world.free_between(q, q)
    assert pickle.dumps(q) == kept


@pytest.mark.parametrize("name", library.names())
def test_no_figure_of_the_library_collides_with_itself_at_the_start(name):
    figure = library.named(name)
    world = World(figure)
    assert world.contacts(figure.start) == ()
    assert not world.collides(figure.start)


def test_what_library_figures_allow_is_only_what_overlaps():
    """Besides, a hand on the chest is a collision."""
    figure = library.mannequin()
    assert not {frozenset(("chest", "left_wrist")), frozenset(("chest", "left_elbow"))} & sets(figure.allowed)
    q = figure.configuration(left_shoulder_rz=-1.2, left_elbow=-2.4)
    assert any("left" in d.a + d.b for d in World(figure).contacts(q))
