"""References for a marionette from a human's motion."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.control import gestures
from bunraku.control.imitate import imitate
from bunraku.dynamics import settle
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.motion import Motion

FIGURE = library.marionette22()


@pytest.fixture(scope="module")
def waving() -> Motion:
    return gestures.wave(6.0)


def test_starts_where_the_marionette_hangs_and_its_strings_reach(waving: Motion) -> None:
    reference = imitate(waving, FIGURE)
    assert np.abs(reference.q[0] - settle(FIGURE)).max() < 1e-9
    gaps = np.array([pose(FIGURE, q).gaps for q in reference.q[::20]])
    assert np.abs(gaps).max() < 0.02  # near enough to pull along
    assert np.ptp(reference.column("rshoulder_rx")) > 1.0
    assert np.ptp(reference.column("right_arm_length")) > 0.3
    assert np.abs(reference.q[-1, :22] - reference.q[0, :22]).max() < 1e-9


def test_exaggerates_and_simplifies(waving: Motion) -> None:
    plain = imitate(waving, FIGURE)
    more = imitate(waving, FIGURE, exaggerate=1.3)
    rest = plain.q[0]
    turn = FIGURE.index("rshoulder_rx")
    assert np.allclose(more.q[:, turn] - rest[turn], 1.3 * (plain.q[:, turn] - rest[turn]))
    slow = imitate(waving, FIGURE, simplify=0.3)
    sway = FIGURE.index("rshoulder_rz")
    assert np.ptp(slow.q[:, sway]) < 0.3 * np.ptp(plain.q[:, sway])  # it waves at 1 Hz
    assert np.ptp(slow.q[:, turn]) > 0.9 * np.ptp(plain.q[:, turn])  # and rises in a second


def test_refuses_nonsense(waving: Motion) -> None:
    with pytest.raises(BunrakuError, match="advice"):
        imitate(waving, FIGURE, exaggerate=-1.0)
    with pytest.raises(BunrakuError, match="below 50 Hz"):
        imitate(waving, FIGURE, simplify=1000.0)
