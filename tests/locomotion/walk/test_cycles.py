from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BunrakuError, FileError
from bunraku.locomotion.walk.cycles import (
    CYCLE_CHANNELS,
    HARMONICS,
    STANCE_PHASE,
    Cycle,
    Cycles,
    harmonics,
    load_cycles,
    save_cycles,
    series,
)

PHASE = np.linspace(0.0, 1.0, 200, endpoint=False)


def test_series_gives_back_what_it_was_made_of():
    coefficients = np.random.default_rng(0).normal(size=(2 * HARMONICS + 1, 3))
    samples = harmonics(np.arange(64) / 64) @ coefficients
    assert np.allclose(series(samples), coefficients)


def test_the_library_holds_all_ways_of_walking():
    library = load_cycles()
    velocity = np.array([cycle.velocity for cycle in library.cycles])
    assert {0.0, 0.4, 1.2, 1.6} <= set(velocity[:, 0].round(6))
    assert (velocity[:, 0] < 0.0).any()
    assert ((velocity[:, 1] > 0.0).any(), (velocity[:, 1] < 0.0).any()) == (True, True)
    assert {(speed, turn) for speed in (0.4, 1.2, 1.6) for turn in (-1.0, 0.0, 1.0)} <= {(g[0].round(6), g[2]) for g in velocity}


def test_a_stride_looks_like_one():
    """Heel first, flat, heel off, toes last; the foot is off the ground in the swing only."""
    for name in ("slow", "comfortable", "fast"):
        cycle = load_cycles()[name]
        pitch, lift = cycle.at(PHASE, "left_foot"), cycle.at(PHASE, "left_lift")
        assert pitch[0] < -0.1
        assert np.abs(pitch[(PHASE > 0.12) & (PHASE < 0.3)]).max() < 0.05
        assert pitch[np.searchsorted(PHASE, STANCE_PHASE)] > 0.3
        assert np.abs(lift[PHASE < 0.95 * STANCE_PHASE]).max() < 0.003
        assert lift[(PHASE > 0.7) & (PHASE < 0.9)].min() > 0.012


def test_left_and_right_turns_mirror_each_other():
    left, right = load_cycles()["comfortable left"], load_cycles()["comfortable right"]
    assert np.allclose(left.at(PHASE, "waist_rz"), -right.at(PHASE + 0.5, "waist_rz"), atol=1e-5)
    assert np.allclose(left.at(PHASE, "left_elbow"), right.at(PHASE + 0.5, "right_elbow"), atol=1e-5)


def test_a_known_speed_is_that_cycle_and_others_are_between():
    library = load_cycles()
    names = [cycle.name for cycle in library.cycles]
    weights = library.weights(np.array([[1.2, 0.0, 0.0], [0.8, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert np.allclose(weights.sum(1), 1.0)
    assert names[weights[0].argmax()] == "comfortable"
    assert weights[0].max() > 0.95
    assert {names[k] for k in np.argsort(-weights[1])[:2]} == {"slow", "comfortable"}
    assert weights[2, names.index("stand")] > 0.999


def test_saved_and_loaded(tmp_path):
    save_cycles(load_cycles(), tmp_path / "own.npz")
    assert np.allclose(load_cycles(tmp_path / "own.npz")["fast"].coefficients, load_cycles()["fast"].coefficients, atol=1e-6)


def test_what_is_no_library_is_refused(tmp_path):
    (tmp_path / "bad.npz").write_bytes(b"no")
    for name in ("bad.npz", "missing.npz"):
        with pytest.raises(FileError, match="not a library of cycles"):
            load_cycles(tmp_path / name)
    with pytest.raises(BunrakuError, match="no cycle is called 'run'"):
        load_cycles()["run"]
    with pytest.raises(BunrakuError, match="no cycles to blend"):
        Cycles(())
    good = np.zeros((2 * HARMONICS + 1, len(CYCLE_CHANNELS)))
    for velocity, stance, table in ([1.0, 0.0], 0.6, good), ([1.0, 0.0, 0.0], 0.3, good), ([1.0, 0.0, 0.0], 0.6, good[1:]):
        with pytest.raises(BunrakuError, match="cycle 'odd'"):
            Cycle("odd", np.array(velocity), stance, table)
