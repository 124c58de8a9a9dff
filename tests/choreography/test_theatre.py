from __future__ import annotations

import numpy as np
import pytest

from bunraku.choreography.theatre import in_theatre, theatre
from bunraku.collision import World
from bunraku.figure.library import named
from bunraku.figure.library.costume import dressed
from bunraku.io.shipped import shipped_motion
from bunraku.kinematics import frames_along
from bunraku.render.triangles import triangles
from bunraku.spatial import se3


@pytest.fixture(scope="module")
def show():
    return shipped_motion("the_meeting")


def test_nobody_touches_the_theatre(show):
    scene = theatre(show)
    for track in show.tracks:
        world = World(track.figure, scene)
        names = {obstacle.name for obstacle in scene.obstacles}
        met = [c for q in track.q[::50] for c in world.contacts(q) if c.b in names]
        assert all(c.b.startswith("board") and c.value > -0.007 for c in met)  # soles stand on the boards
        assert world.collides(track.figure.configuration(track.q[0], torso_tz=-0.5))  # whose feet would be in the boards


def test_whoever_rests_stands_on_the_boards(show):
    """No sole is more than a centimetre above them, nor ever more than a few millimetres in them."""
    boards = next(o for o in theatre(show).obstacles if o.name == "board 1")
    floor = boards.position[2] + 0.02
    for track in show.tracks:
        soles = np.min([_lowest(track.figure, track.q[::-4], s) for s in track.figure.shapes], axis=0)[::-1]
        assert 0.0 <= soles[-1] - floor < 0.01
        assert soles.min() - floor > -0.008
        assert np.mean(soles - floor < 0.015) > 0.4  # most of the time somebody's foot is down


def _lowest(figure, q, shape):
    X = frames_along(figure, q)[:, figure.frame_index[shape.frame]] @ se3.pose(shape.position, shape.rotation)
    return (triangles(shape.geometry).vertices @ X[:, 2, :3].T + X[:, 2, 3]).min(0)


def test_each_has_a_costume_of_its_own(show):
    piece = in_theatre(show)
    jackets = [next(s.color for s in track.figure.shapes if s.name == "chest") for track in piece.motion.tracks]
    assert len(set(jackets)) == len(jackets) == 2
    for before, after in zip(show.tracks, piece.motion.tracks, strict=True):
        assert np.array_equal(before.q, after.q)
        assert before.name == after.name


def test_other_colours_are_all_that_changes():
    puppet = named("marionette22")
    assert dressed(puppet, 0).shapes == puppet.shapes
    other = dressed(puppet, 1)
    assert all(a.geometry == b.geometry and a.position == b.position for a, b in zip(puppet.shapes, other.shapes, strict=True))
    chest = next(s for s in puppet.shapes if s.name.endswith("chest"))
    assert chest.color not in {s.color for s in other.shapes}
