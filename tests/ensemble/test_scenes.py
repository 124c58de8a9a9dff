from __future__ import annotations

import itertools

import numpy as np
import pytest

from bunraku.collision.triangle_meshes import load
from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.scenes import factory, living_room, named, piano
from bunraku.ensemble.team import Carried, Team
from bunraku.errors import BunrakuError
from bunraku.figure import Box, Shape
from bunraku.planning.ways.find_way import find
from tests.patience import PATIENCE


def test_factory(tmp_path):
    scene = factory(tmp_path)
    surfaces = {obstacle.name: load(obstacle.geometry) for obstacle in scene.obstacles}
    assert {"drums", "low_pipes", "high_pipes", "beams", "balcony", "ventilation"} <= set(surfaces)
    assert sum(len(surface.faces) for surface in surfaces.values()) >= 90_000
    assert all(surface.solid for surface in surfaces.values())


def test_living_room(tmp_path):
    scene = living_room(tmp_path)
    surfaces = {obstacle.name: load(obstacle.geometry) for obstacle in scene.obstacles}
    assert {"desk", "chair", "sofa", "coffee_table", "bookshelf", "lamp"} <= set(surfaces)
    assert sum(len(surface.faces) for surface in surfaces.values()) >= 19_000
    assert all(surface.solid for name, surface in surfaces.items() if name != "plant")


def test_what_collides_is_around_what_is_seen_of_the_piano(tmp_path):
    shapes = piano(tmp_path)
    seen = np.concatenate([load(shape.geometry).vertices for shape in shapes if shape.visible])
    inside = np.zeros(len(seen), bool)
    for shape in shapes:
        if shape.collides:
            assert not shape.visible
            x = seen - shape.position
            if isinstance(shape.geometry, Box):
                inside |= (np.abs(x) <= np.array(shape.geometry.size) / 2 + 1e-6).all(1)
            else:
                inside |= (np.hypot(x[:, 0], x[:, 1]) <= shape.geometry.radius + 1e-6) & (np.abs(x[:, 2]) <= 0.18 + 1e-6)
    assert inside[seen[:, 2] < 0.3].mean() > 0.99, "all but the rounding of the bent side"


def test_named_scenes_are_made_once():
    first, again = named("factory", door=0.95), named("factory", door=0.95)
    assert first == again
    assert named("factory") != first
    with pytest.raises(BunrakuError, match="factory"):
        named("factori")


def test_a_door(tmp_path):
    wall = factory(tmp_path, door=0.95).obstacle("wall")
    y = load(wall.geometry).vertices[:, 1]
    gap = sorted({round(float(v), 6) for v in y})
    assert any(abs(b - a - 0.95) < 1e-6 for a, b in itertools.pairwise(gap))


@pytest.mark.slow
def test_people_and_robots_find_their_way_through_the_door(tmp_path):
    """*carrying*, Section V-A: a person who walks and a robot that rolls, 12 variables, a door of 0.95 m."""
    places = {"left_palm": (-0.72, 0.25, -0.05), "right_palm": (-0.72, -0.25, -0.05)}
    person = porter("person", *(hold(palm, at, z=(-1, 0, 0), x=(0, 0, 1)) for palm, at in places.items()))
    robot = rover("robot", hold("tool", (0.73, 0.0, -0.02), z=(-1, 0, 1), x=(0, 1, 0)))
    slab = Shape("world", Box((1.5, 0.8, 0.06)), name="slab")
    team = Team((person, robot), Carried((slab,), tilt=0.3, heights=(0.75, 1.25)))
    space = team.space(factory(tmp_path, door=0.95), ((-5.8, 5.8), (-3.8, 3.8)), margin=0.01)

    def standing(x, y, yaw):
        ahead = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        at = np.array([x, y, yaw])
        bases = {"person": at - 1.05 * ahead, "robot": at + 1.45 * ahead + [0, 0, np.pi]}
        return team.configuration(bases, (x, y, 1.02, yaw, 0, 0))

    found = find(space, standing(-4.1, -0.6, 0.0), standing(4.4, -0.6, np.pi / 2), seed=0, seconds=PATIENCE)
    assert found.outcome.ok
    Q = found.path.dense(0.005)
    assert space.world.check(Q).clearance.min() > 0.01 - 2e-4, "coal agrees, every 5 mm"
    assert team.reaches(Q).all()
