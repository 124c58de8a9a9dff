from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.errors import FigureError, UnknownName
from bunraku.figure import Box, Sphere
from bunraku.scene import Heightfield, Obstacle, Plane, Scene

TABLE = Obstacle("table", Box((1.0, 0.6, 0.05)), (0.0, 0.0, 0.7), group="furniture")
LAMP = Obstacle("lamp", Sphere(0.1), (0.0, 0.0, 1.0), group="furniture")
WALL = Obstacle("wall", Plane((0.0, -2.0, 0.0)))


def test_a_scene_is_frozen_and_knows_its_parts():
    scene = Scene("room", (TABLE, WALL, LAMP))
    assert scene.floor == 0.0
    assert scene.obstacle("lamp") is LAMP
    assert scene.groups == {"furniture": (TABLE, LAMP)}
    assert scene.replace(floor=None).obstacles == scene.obstacles
    with pytest.raises(dataclasses.FrozenInstanceError):
        scene.floor = 1.0  # type: ignore[misc]
    assert repr(scene) == "<Scene room: 3 obstacles, floor at 0 m>"


def test_scenes_compare_and_hash_by_value():
    assert Scene("room", (TABLE,)) == Scene("room", (dataclasses.replace(TABLE),))
    assert len({Scene("room", (TABLE,)), Scene("room", (TABLE,))}) == 1
    assert Scene("room", (TABLE,)) != Scene("room", (LAMP,))


def test_unknown_obstacles_are_named_with_those_that_come_close():
    with pytest.raises(UnknownName, match="did you mean table"):
        Scene("room", (TABLE,)).obstacle("tabel")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Scene("room", (TABLE, TABLE)), "the name is taken"),
        (lambda: Scene(""), "no name"),
        (lambda: Scene("room", floor=float("nan")), "not finite"),
        (lambda: Obstacle("", Sphere(0.1)), "no name"),
        (lambda: Obstacle("ball", Sphere(-0.1)), "radius"),
        (lambda: Obstacle("ball", Sphere(0.1), (0.0, 0.0, float("inf"))), "finite"),
        (lambda: Obstacle("ball", Sphere(0.1), rotation=(0.0, 0.0, 0.0, 0.0)), "quaternion is zero"),
        (lambda: Plane((0.0, 0.0, 0.0)), "no direction"),
        (lambda: Heightfield(((0.0, 0.0),), (1.0, 1.0)), "table"),
        (lambda: Heightfield(((0.0, 0.0), (0.0,)), (1.0, 1.0)), "table"),
        (lambda: Heightfield(((0.0, 0.0), (0.0, float("nan"))), (1.0, 1.0)), "finite"),
        (lambda: Heightfield(((0.0, 0.0), (0.0, 0.0)), (1.0, 0.0)), "positive"),
    ],
)
def test_contradictions_are_refused(make, message):
    with pytest.raises(FigureError, match=message):
        make()


def test_directions_become_unit_vectors():
    assert Plane((0.0, -2.0, 0.0)).normal == (0.0, -1.0, 0.0)
    assert Obstacle("ball", Sphere(0.1), rotation=(2.0, 0.0, 0.0, 0.0)).rotation == (1.0, 0.0, 0.0, 0.0)


def test_a_heightfield_has_x_along_its_rows_and_triangles_that_look_up():
    field = Heightfield(((0.0, 0.1, 0.2), (0.3, 0.4, 0.5)), (4.0, 1.0))
    np.testing.assert_allclose(field.vertices[:3], [[-2, -0.5, 0], [0, -0.5, 0.1], [2, -0.5, 0.2]])
    np.testing.assert_allclose(field.vertices[5], [2, 0.5, 0.5])
    a, b, c = (field.vertices[field.faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    assert len(field.faces) == 4
    assert (normals[:, 2] > 0).all()
    assert normals[:, 2].sum() / 2 == pytest.approx(4.0)  # the triangles cover the rectangle once
