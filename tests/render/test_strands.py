from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.figure import library
from bunraku.figure.build import figure, fixed, spindle, string, tx
from bunraku.kinematics import pose
from bunraku.render.strands import Strand, StrandColors, catenary, color, hanging, strands

PLACES = st.tuples(*[st.floats(-2, 2)] * 3)


def long(path: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


@given(PLACES, PLACES, st.floats(0.01, 3.0))
def test_a_slack_string_keeps_its_length_and_its_ends(a: tuple, b: tuple, spare: float) -> None:
    start, end = np.array(a), np.array(b)
    length = float(np.linalg.norm(end - start)) + spare
    curve = catenary(start, end, length, pieces=2000)
    np.testing.assert_allclose(curve[[0, -1]], [start, end], atol=1e-9)
    # A thousandth of the length is added across where the ends are straight above each other.
    assert long(curve) == pytest.approx(length, rel=3e-3)


@given(PLACES, PLACES, st.floats(0.05, 3.0))
def test_a_slack_string_hangs_in_a_plane_and_bends_upward(a: tuple, b: tuple, spare: float) -> None:
    start, end = np.array(a), np.array(b)
    curve = catenary(start, end, float(np.linalg.norm(end - start)) + spare)
    straight = start + np.linspace(0, 1, len(curve))[:, None] * (end - start)
    middle = curve[len(curve) // 2]
    assert middle[2] < straight[len(curve) // 2][2]


def test_taut_is_straight_and_slack_sags() -> None:
    ends = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    path, slack = hanging(Strand(ends, length=1.0))
    assert not slack
    assert len(path) == 2
    path, slack = hanging(Strand(ends, length=1.5))
    assert slack
    assert path[:, 2].min() == pytest.approx(-0.25, abs=1.5 / 64)  # half a piece
    path, slack = hanging(Strand(ends, length=1.5, tension=3.0))  # a pull says more than a length
    assert not slack


def test_spare_length_hangs_in_the_longest_segment() -> None:
    path, slack = hanging(Strand(np.array([[0.0, 0, 0], [0.1, 0, 0], [1.1, 0, 0]]), length=1.3))
    assert slack
    np.testing.assert_array_equal(path[0], 0.0)
    assert path[1:, 0].min() >= 0.1 - 1e-12


def test_colors_tell_the_pull() -> None:
    ends = np.zeros((2, 3))
    assert color(Strand(ends), True, 1.0) == StrandColors.slack
    assert color(Strand(ends), False, 1.0) == StrandColors.plain
    assert color(Strand(ends, tension=0.0), False, 5.0) == pytest.approx(StrandColors.tension[0])
    assert color(Strand(ends, tension=9.0), False, 5.0) == pytest.approx(StrandColors.tension[2])


def test_strands_of_a_figure_are_where_its_strings_are() -> None:
    marionette = library.marionette22()
    frames = pose(marionette, marionette.start).frames
    found = strands(marionette, frames, marionette.start, np.arange(6.0))
    assert [s.tension for s in found] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    for strand in found:
        assert long(strand.points) == pytest.approx(strand.length, abs=1e-12)


def test_drums_and_constant_lengths() -> None:
    puppet = figure(
        "p", tx("drum", kinematic=True, start=0.5), fixed("hook"), spindle("a", at=(0, 0, 2.0)),
        strings=[string("wound", "hook", "a_spindle", "drum", ratio=2.0), string("plain", "hook", "world", 3.0)],
    )  # fmt: skip
    found = strands(puppet, pose(puppet, puppet.start).frames, puppet.start)
    assert [s.length for s in found] == [1.0, 3.0]
    np.testing.assert_array_equal(found[1].points[1], 0.0)
