from __future__ import annotations

import itertools

import numpy as np

from bunraku.collision.meshes import load
from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.scenes import factory
from bunraku.ensemble.team import Carried, Team
from bunraku.figure import Box, Shape
from bunraku.planning.find import find


def test_factory(tmp_path):
    scene = factory(tmp_path)
    surfaces = {obstacle.name: load(obstacle.geometry) for obstacle in scene.obstacles}
    assert {"drums", "low_pipes", "high_pipes", "beams", "balcony", "ventilation"} <= set(surfaces)
    assert sum(len(surface.faces) for surface in surfaces.values()) >= 90_000
    assert all(surface.solid for surface in surfaces.values())


def test_a_door(tmp_path):
    wall = factory(tmp_path, door=0.95).obstacle("wall")
    y = load(wall.geometry).vertices[:, 1]
    gap = sorted({round(float(v), 6) for v in y})
    assert any(abs(b - a - 0.95) < 1e-6 for a, b in itertools.pairwise(gap))


def test_people_and_robots_find_their_way_through_the_door(tmp_path):
    """*carrying*, Section V-A: a person who walks and a robot that rolls, 12 variables, a door of 0.95 m."""
    places = {"left_palm": (-0.72, 0.25, -0.05), "right_palm": (-0.72, -0.25, -0.05)}
    person = porter("person", *(hold(palm, at, z=(-1, 0, 0), x=(0, 0, 1)) for palm, at in places.items()))
    robot = rover("robot", hold("tool", (0.62, 0.0, 0.05), x=(0, 1, 0)))
    slab = Shape("world", Box((1.5, 0.8, 0.06)), name="slab")
    team = Team((person, robot), Carried((slab,), tilt=0.3, heights=(0.75, 1.25)))
    space = team.space(factory(tmp_path, door=0.95), ((-5.8, 5.8), (-3.8, 3.8)), margin=0.01)

    def standing(x, y, yaw):
        ahead = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        at = np.array([x, y, yaw])
        return team.configuration({"person": at - 1.05 * ahead, "robot": at + 1.2 * ahead + [0, 0, np.pi]}, (x, y, 1.02, yaw, 0, 0))

    found = find(space, standing(-4.1, -0.6, 0.0), standing(4.4, -0.6, np.pi / 2), seed=0, seconds=30)
    assert found.outcome.found
    Q = found.path.dense(0.005)
    assert space.world.check(Q).clearance.min() > 0.01 - 2e-4, "coal agrees, every 5 mm"
    assert team.reaches(Q).all()
