from __future__ import annotations

import numpy as np
import pytest

from bunraku.choreography.motion_library import repertoire_of
from bunraku.choreography.repertoire import Repertoire
from bunraku.errors import UnknownName
from bunraku.figure import library
from bunraku.kinematics import frames_along, pose


@pytest.fixture(scope="module")
def known() -> Repertoire:
    return repertoire_of(library.marionette22())


def test_there_are_at_least_twelve(known: Repertoire) -> None:
    assert len(known.pieces) >= 12
    assert {"wave", "walk", "bow", "point", "nod"} <= set(known.pieces)
    with pytest.raises(UnknownName, match="wave"):
        known["wawe"]


def test_each_goes_from_rest_to_rest_on_strings_that_reach(known: Repertoire) -> None:
    for piece in known.pieces.values():
        q = piece.motion.q
        assert np.abs(q[0] - known.puppet.rest).max() < 1e-5, piece.name
        assert np.abs(q[-1] - q[0]).max() < 0.02, piece.name
        assert max(pose(known.puppet.figure, row).gaps.max() for row in q[::5]) < 1e-3, piece.name
        assert set(piece.parts) <= set(known.puppet.parts)


def test_no_foot_is_let_down_through_the_boards(known: Repertoire) -> None:
    figure = known.puppet.figure
    feet = figure.frame_index["lfoot"], figure.frame_index["rfoot"]
    for piece in known.pieces.values():
        height = frames_along(figure, piece.motion.q)[:, feet, 2, 3]
        assert (height - height[0]).min() > -0.01, piece.name


def test_gestures_are_large_enough_to_read(known: Repertoire) -> None:
    def moved(piece: str, frame: str) -> float:
        p = frames_along(known.puppet.figure, known[piece].motion.q)[:, known.puppet.figure.frame_index[frame], :3, 3]
        return float(np.linalg.norm(p - p[0], axis=1).max())

    def turned(piece: str, variable: str) -> float:
        return float(np.ptp(known[piece].motion.column(variable)))

    assert moved("kick", "rfoot") > 0.25
    assert moved("march", "lfoot") > 0.2
    assert moved("bow", "torso") > 0.15
    assert moved("nod", "head") > 0.07
    assert min(moved(name, "rhand") for name in ("wave", "salute", "point", "cheer")) > 0.5
    assert turned("twist", "torso_rz") > 0.7
    assert turned("sway", "torso_ry") > 0.3


def test_a_loop_is_played_as_often_as_time_allows(known: Repertoire) -> None:
    wave = known["wave"]
    assert wave.loops(wave.duration) == 1
    assert wave.loops(wave.duration + 3 * wave.period) == 4
    t, off = wave.unrolled(3)
    np.testing.assert_allclose(t[-1], wave.natural(3))
    steps, once = np.abs(np.diff(off, axis=0)).max(), np.abs(np.diff(wave.motion.q, axis=0)).max()
    assert steps < 1.3 * once  # rounds join without a jump
    np.testing.assert_allclose(off[-1], wave.motion.q[-1] - wave.motion.q[0])


def test_rounds_join_without_a_kink(known: Repertoire) -> None:
    for piece in known.pieces.values():
        if piece.loop is not None and piece.parts:
            bend = [np.abs(np.diff(piece.unrolled(loops)[1], 2, axis=0)).max() for loops in (1, 3)]
            assert bend[1] < 1.25 * bend[0], piece.name


def test_what_fits_is_neither_too_fast_nor_too_slow(known: Repertoire) -> None:
    salute, wave = known["salute"], known["wave"]
    assert salute.fits(salute.fastest * salute.duration)
    assert not salute.fits(0.99 * salute.fastest * salute.duration)
    assert not salute.fits(1.01 * salute.slowest * salute.duration)
    assert wave.fits(60.0)


def test_a_curve_sets_out_and_arrives_gently(known: Repertoire) -> None:
    for piece in known.pieces.values():
        curve = piece.curve(2)
        for k in (1, 2):
            assert np.abs(curve([0.0, 1.0], k)).max() < 1e-6, piece.name
        np.testing.assert_allclose(curve(0.0), 0.0, atol=1e-12)


def test_left_for_right(known: Repertoire) -> None:
    wave = known.mirrored["wave"]
    assert wave.parts == ("left_arm",)
    figure, k = known.puppet.figure, len(wave.motion) // 3
    right, left = pose(figure, known["wave"].motion.q[k]).X("rhand"), pose(figure, wave.motion.q[k]).X("lhand")
    np.testing.assert_allclose(left[:3, 3], right[:3, 3] * [-1, 1, 1], atol=1e-5)


def test_a_figure_that_the_library_never_met_knows_nothing() -> None:
    assert not repertoire_of(library.marionette25()).pieces
