"""Films and pictures are taken from the side from which the motion is seen."""

from __future__ import annotations

import math

import numpy as np

from bunraku.figure.shape import Box, Mesh, Sphere
from bunraku.render.camera import Camera
from bunraku.render.sight import clear_view, hidden
from bunraku.scene import Obstacle, Scene
from bunraku.spatial import so3

WALL = Scene("wall", (Obstacle("slab", Box((0.02, 4.0, 4.0)), (0.5, 0.0, 0.0)),), floor=None)


def test_what_is_behind_or_inside_a_box_is_hidden():
    x = np.array([[1.0, 0, 0], [0.5, 0, 0], [0.4, 0, 0], [1.0, 9.0, 0], [-3.0, 0, 0]])
    assert hidden(x, (0, 0, 0), WALL).tolist() == [True, True, False, False, False]
    turned = Scene(
        "turned", (Obstacle("slab", Box((0.02, 4.0, 4.0)), (0, 0.5, 0), tuple(so3.quaternion(so3.about(2, math.pi / 2)))),)
    )
    assert hidden(x[:1], (1.0, 1.0, 0), turned).tolist() == [True]
    assert hidden(x[:1], (1.0, 0.4, 0), turned).tolist() == [False]


def test_a_camera_looks_from_the_side_of_the_wall_on_which_something_climbs():
    climbs = np.array([[0.4, 0.1 * k, 0.1 * k] for k in range(5)])
    assert hidden(climbs, Camera.around(climbs, aspect=1.0).eye, WALL).all()
    for follow in (False, True):
        points = np.random.default_rng(1).normal(size=(20, 3)) * 0.05 if follow else climbs
        view = clear_view(points, climbs, WALL, aspect=1.0, follow=follow)
        assert not hidden(climbs, np.asarray(view.eye) + (climbs if follow else 0.0), WALL).any()
    assert clear_view(climbs, climbs, None, aspect=1.0) == Camera.around(climbs, aspect=1.0)


def test_meshes_and_round_things_hide_too(tmp_path):
    (tmp_path / "wall.obj").write_text("v 0.5 -2 -2\nv 0.5 2 -2\nv 0.5 2 2\nv 0.5 -2 2\nf 1 2 3\nf 1 3 4\n")
    x = np.array([[1.0, 0.1, 0.2], [0.4, 0, 0], [1.0, 9.0, 0], [-3.0, 0, 0]])
    mesh = Scene("mesh", (Obstacle("wall", Mesh(str(tmp_path / "wall.obj"))),), floor=None)
    assert hidden(x, (0, 0, 0), mesh).tolist() == [True, False, False, False]
    ball = Scene("ball", (Obstacle("ball", Sphere(0.3), (0.5, 0.0, 0.0)),), floor=None)
    assert hidden(x, (0, 0, 0), ball).tolist() == [True, True, False, False]
