"""Pin and drag: pins stay, the hand follows, out of reach it stops nearby."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.figure import Figure, Point, library
from bunraku.figure.build import figure, rx, sphere, string, tz
from bunraku.kinematics import pose
from bunraku.kinematics.inverse.drag import Drag, wound


def test_hand_follows_while_feet_stay() -> None:
    figure = library.mannequin()
    here = pose(figure)
    drag = Drag(figure, figure.start, "left_palm", pins=["left_sole", "right_sole"])
    angles = np.linspace(0, 2 * np.pi, 60)
    places = here.point("left_palm") + np.stack([0.25 * np.sin(angles), 0.1 * np.sin(2 * angles), 0.35 * (1 - np.cos(angles))], 1)
    solutions = drag.along(places)
    before = figure.start
    for solution, place in zip(solutions, places, strict=True):
        there = pose(figure, solution.q)
        assert np.allclose(there.point("left_palm"), place, atol=1e-6)
        for foot in ("left_sole", "right_sole"):
            assert np.allclose(there.X(foot), here.X(foot), atol=1e-6)
        assert np.abs(solution.q - before).max() < 0.35  # no leap from one mouse event to the next
        before = solution.q
    assert np.allclose(solutions[-1].q, figure.start, atol=0.02)  # back where it began


def test_far_out_of_reach_pins_still_hold() -> None:
    figure = library.mannequin()
    here = pose(figure)
    drag = Drag(figure, figure.start, Point("left_palm", (0, 0, -0.05)), pins=["left_sole", Point("right_sole")])
    q = figure.start
    ok = True
    for k in range(40):
        solution = drag.to(q, here.point("left_palm") + np.array([0.06 * k, 0.02 * k, 0.03 * k]))
        q, ok = solution.q, solution.outcome.ok
        assert np.allclose(pose(figure, q).X("left_sole"), here.X("left_sole"), atol=1e-5)
        assert np.allclose(pose(figure, q).point("right_sole"), here.point("right_sole"), atol=1e-5)
    assert not ok
    assert solution.errors["dragged"] > 0.5


def test_only_what_may_move_moves() -> None:
    figure = library.mannequin()
    moves = ["left_shoulder_rz", "left_shoulder_ry", "left_shoulder_rx", "left_elbow"]
    drag = Drag(figure, figure.start, "left_palm", moves=moves)
    solution = drag.to(figure.start, pose(figure).point("left_palm") + np.array([0.1, 0.0, 0.1]))
    changed = np.flatnonzero(solution.q != figure.start)
    assert solution.outcome.ok
    assert {figure.names[k] for k in changed} <= set(moves)


@pytest.mark.parametrize("name", ["marionette22", "gecko", "hand"])
def test_any_figure_can_be_dragged(name: str) -> None:
    figure = library.named(name)
    frame = figure.frames[-1].name if name != "marionette22" else "lhand"
    place = pose(figure).point(frame)
    solution = Drag(figure, figure.start, frame).to(figure.start, place + np.array([0.0, 0.005, 0.005]))
    assert solution.errors["dragged"] < 0.006


def test_several_points_are_dragged_at_once() -> None:
    f = library.mannequin()
    hands = ["left_palm", "right_palm"]
    places = [pose(f).point(hand) + np.array([0.1, 0.0, 0.1]) for hand in hands]
    solution = Drag(f, f.start, hands, pins=["left_sole", "right_sole"]).to(f.start, places)
    for hand, place in zip(hands, places, strict=True):
        np.testing.assert_allclose(pose(f, solution.q).point(hand), place, atol=1e-6)


def test_beyond_reach_a_step_at_a_time_comes_to_rest() -> None:
    """No trembling: where nothing comes nearer, nothing moves."""
    f = library.mannequin()
    place = pose(f).point("right_toe") + np.array([1.5, 0.3, 0.5])
    moves = [name for name in f.names if name.startswith("right_")]
    drag, q, path = Drag(f, f.start, "right_toe", moves=moves), np.array(f.start), []
    for _ in range(200):
        q = drag.step(q, place, longest=0.02)
        path.append(q)
    assert np.abs(np.diff(path, axis=0)).max() < 0.15
    assert np.abs(np.diff(path[-20:], axis=0)).max() < 2e-3
    assert np.all(np.diff([np.linalg.norm(pose(f, q).point("right_toe") - place) for q in path]) <= 0.0)


def on_a_drum(radius: float) -> Figure:
    """A weight on a string that a drum winds: the string is 1 m + radius · angle long."""
    drum = rx("drum", kinematic=True, at=(0, 0, 2))
    rope = string("rope", "z", "drum", length=1.0, variable="drum", ratio=radius)
    return figure("hoist", tz("z", sphere(0.05, mass=1.0), start=1.0), drum, strings=[rope])


@pytest.mark.parametrize("radius", [0.02, -0.05, 1.0])
def test_winding_is_in_metres_of_string_whatever_it_is_wound_on(radius: float) -> None:
    """A string is length + ratio · variable long: the hand that winds it by metres turns the drum by metres / ratio."""
    f = on_a_drum(radius)
    rope = f.strings[0]
    for by in (-0.1, 0.3):
        angle = wound(f, rope, f.start, by)
        assert angle == pytest.approx(by / radius)
        assert rope.length + rope.ratio * angle == pytest.approx(1.0 + by)
    assert rope.length + rope.ratio * wound(f, rope, f.start, -9.0, least=0.02) == pytest.approx(0.02)
