from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import MotionError
from bunraku.stage import Recorded, Series, describe
from bunraku.stage.mesh_store import Meshes
from bunraku.stage.takes import recorded, trimmed
from tests.stage.toys import Swinging, puppet, waving


def test_samples_become_a_motion() -> None:
    live = Swinging((puppet(), puppet()))
    samples = [live.step() for _ in range(20)]
    piece = recorded(live, samples)
    assert piece.motion.names == ("puppet", "puppet 2")
    assert piece.motion.t[0] == 0.0
    np.testing.assert_allclose(np.diff(piece.motion.t), live.dt)
    np.testing.assert_array_equal(piece.motion.tracks[1].q, [s.q[1] for s in samples])
    np.testing.assert_array_equal(piece.motion.tracks[0].tension, [s.tension[0] for s in samples])  # type: ignore[arg-type]
    assert [s.name for s in piece.series] == ["kinetic energy"]


def test_what_was_recorded_is_not_computed_and_plotted_again() -> None:
    live = Swinging()
    content, _ = describe.recorded(recorded(live, [live.step() for _ in range(20)]), Meshes())
    names = [series["name"] for series in content["series"]]
    assert names.count("kinetic energy") == 1
    assert "constraint error" in names


def test_a_take_needs_two_samples() -> None:
    live = Swinging()
    with pytest.raises(MotionError, match="empty"):
        recorded(live, [live.step()])


@given(st.floats(0.0, 2.0), st.floats(0.0, 2.0))
def test_a_trim_keeps_what_is_between(a: float, b: float) -> None:
    motion = waving(puppet())
    piece = Recorded(motion, series=(Series("x", "m", motion.t),))
    start, stop = min(a, b), max(a, b)
    rows = np.flatnonzero((motion.t >= start - 1e-9) & (motion.t <= stop + 1e-9))
    if len(rows) < 2:
        with pytest.raises(MotionError, match="nothing is left"):
            trimmed(piece, start, stop)
        return
    kept = trimmed(piece, start, stop)
    np.testing.assert_array_equal(kept.motion.q, motion.q[rows])
    np.testing.assert_allclose(kept.motion.t, motion.t[rows] - motion.t[rows[0]])
    np.testing.assert_array_equal(kept.series[0].values, motion.t[rows])
    assert [m.text for m in kept.motion.marks] == [m.text for m in motion.marks if start <= m.t <= stop]


def test_series_must_fit() -> None:
    motion = waving(puppet())
    with pytest.raises(MotionError, match="does not fit"):
        Recorded(motion, series=(Series("x", "m", np.zeros(3)),))
    with pytest.raises(MotionError, match="does not fit"):
        Recorded(motion, series=(Series("x", "m", np.full(len(motion), np.nan)),))
