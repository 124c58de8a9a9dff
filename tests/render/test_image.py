from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Figure, library
from bunraku.figure.build import box, figure, fixed, sphere, tx
from bunraku.figure.shape import Box
from bunraku.kinematics import pose
from bunraku.render.image import Camera, Strand, image, outline
from bunraku.scene import Heightfield, Obstacle, Plane, Scene

RED, BLUE = (0.9, 0.1, 0.1), (0.1, 0.1, 0.9)
EMPTY = Scene("empty", floor=None)
AHEAD = Camera((10.0, 0.0, 0.0), (0.0, 0.0, 0.0))
SIZE = (80, 60)


def ball(x: float = 0.0, color: tuple = RED) -> Figure:
    return figure(f"ball{x}", tx("x", sphere(0.5, color=color), start=x))


def middle(picture: np.ndarray) -> np.ndarray:
    return picture[picture.shape[0] // 2, picture.shape[1] // 2].astype(int)


def test_size_kind_and_colour() -> None:
    picture = image(ball(), scene=EMPTY, camera=AHEAD, size=SIZE)
    assert picture.shape == (60, 80, 3)
    assert picture.dtype == np.uint8
    r, g, b = middle(picture)
    assert r > 100
    assert r > 2 * max(g, b)


def test_a_ball_is_as_large_as_it_should_be_and_in_its_place() -> None:
    camera = Camera((10.0, 0.0, 0.0), (0.0, 0.0, 0.0), field=0.5)
    aside = figure("b", fixed("f", sphere(0.5, color=RED), at=(0, 0.4, 0.2)))
    picture = image(aside, scene=EMPTY, camera=camera, size=(400, 400))
    red = picture[..., 0].astype(int) > 1.5 * picture[..., 2]
    rows, columns = np.nonzero(red)
    focal = 200 / np.tan(0.25)
    # From +x, +y is to the right and +z up; the outline of a ball is a little wider than its radius over its distance.
    assert columns.mean() == pytest.approx(200 + focal * 0.04, abs=1.0)
    assert rows.mean() == pytest.approx(200 - focal * 0.02, abs=1.0)
    assert np.sqrt(red.sum() / np.pi) == pytest.approx(focal * 0.05, rel=0.02)


def test_the_nearer_one_hides_the_other() -> None:
    for first, second in ((1.0, -1.0), (-1.0, 1.0)):
        picture = image([ball(first, RED), ball(second, BLUE)], scene=EMPTY, camera=AHEAD, size=SIZE)
        r, _, b = middle(picture)
        assert (r > b) == (first > second)


def test_hidden_shapes_are_not_drawn() -> None:
    hidden = figure("b", fixed("f", sphere(0.5, color=RED, visible=False), sphere(0.1, color=BLUE)))
    r, _, b = middle(image(hidden, scene=EMPTY, camera=AHEAD, size=SIZE))
    assert b > r


def test_shadow_falls_on_the_floor() -> None:
    camera = Camera((6.0, 0.0, 4.0), (0.0, 0.0, 0.0))
    high, none = (
        image(figure("b", fixed("f", sphere(0.3, color=RED), at=(0, 0, z))), scene=Scene("s"), camera=camera, size=SIZE)
        for z in (0.5, -5.0)
    )  # fmt: skip
    darker = none.astype(int).sum(2) - high.astype(int).sum(2)
    red = high[..., 0].astype(int) > 1.5 * high[..., 2]
    assert np.count_nonzero((darker > 60) & ~red) > 20
    assert not (none[..., 0].astype(int) > 1.5 * none[..., 2]).any()  # what is under the floor is not seen


def test_without_a_scene_the_floor_is_under_the_figure() -> None:
    hangs = figure("b", fixed("f", sphere(0.3, color=RED), at=(0, 0, -4.0)))
    assert (image(hangs, size=SIZE)[..., 0].astype(int) > 1.5 * image(hangs, size=SIZE)[..., 2]).sum() > 500


def test_strings_are_drawn_in_front_and_hidden_behind() -> None:
    for x, seen in ((2.0, True), (-2.0, False)):
        line = Strand(np.array([[x, 0.0, -0.2], [x, 0.0, 0.2]]), tension=1.0)
        with_line = image(ball(0.0, BLUE), scene=EMPTY, camera=AHEAD, size=SIZE, strings=[line])
        without = image(ball(0.0, BLUE), scene=EMPTY, camera=AHEAD, size=SIZE, strings=[])
        assert np.any(with_line != without) == seen


def test_edges_are_smooth() -> None:
    picture = image(ball(), scene=EMPTY, camera=AHEAD, size=SIZE, samples=4)
    row = picture[30].astype(int)
    ratio = row[:, 2] / row[:, 0]
    assert np.any((ratio > 0.45) & (ratio < 0.9))  # between the ball's red and the background


def test_obstacles_of_every_kind_are_drawn() -> None:
    hill = Heightfield(((0.0, 0.1), (0.2, 0.4)), (1.0, 1.0))
    for geometry in (Box((0.5, 0.5, 0.5)), hill, Plane((1.0, 0.0, 0.0))):
        scene = Scene("s", (Obstacle("o", geometry, color=RED),), floor=None)
        picture = image([], scene=scene, camera=Camera((5.0, 1.0, 2.0), (0.0, 0.0, 0.0)), size=SIZE)
        assert (picture[..., 0].astype(int) > 1.5 * picture[..., 2]).any(), geometry


def test_the_same_picture_twice() -> None:
    marionette = library.marionette25()
    np.testing.assert_array_equal(image(marionette, size=SIZE), image(marionette, size=SIZE))


@pytest.mark.parametrize("name", library.names())
def test_every_figure_of_the_library_fits_in_its_picture(name: str) -> None:
    thing = library.named(name)
    camera = Camera.around(outline(thing, pose(thing, thing.start).frames))
    full, empty = (image(figures, scene=EMPTY, camera=camera, size=(120, 90)) for figures in (thing, []))
    drawn = np.any(full != empty, axis=2)
    assert drawn.sum() > 100
    assert not drawn[[0, -1]].any()
    assert not drawn[:, [0, -1]].any()


def test_outline_holds_the_figure() -> None:
    crate = figure("c", tx("x", box((1.0, 2.0, 3.0)), start=0.5))
    points = outline(crate, pose(crate, crate.start).frames)
    np.testing.assert_allclose([points.min(0), points.max(0)], [[0.0, -1.0, -1.5], [1.0, 1.0, 1.5]])


def test_a_figure_without_shapes_and_no_figure_at_all() -> None:
    assert image(figure("bare", tx("x")), size=SIZE).shape == (60, 80, 3)
    assert image([], size=SIZE).shape == (60, 80, 3)


def test_wrong_frames_are_refused() -> None:
    with pytest.raises(BunrakuError, match="1 frames"):
        image(ball(), np.eye(4)[None].repeat(2, 0))
    with pytest.raises(NotFinite):
        image(ball(), np.full((1, 4, 4), np.nan))
