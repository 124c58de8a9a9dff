"""From rest to rest."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.spatial.rest_to_rest import PEAK, eased


def test_it_goes_from_rest_to_rest_and_stays_there():
    np.testing.assert_array_equal(eased([-1.0, 0.0, 0.5, 1.0, 2.0]), [0.0, 0.0, 0.5, 1.0, 1.0])
    s = np.linspace(0.0, 1.0, 10001)
    speed = np.gradient(eased(s), s)
    assert np.all(speed >= 0.0)
    assert speed.max() == pytest.approx(PEAK, rel=1e-6)
    assert speed[[0, -1]].max() < 1e-6
    assert np.abs(np.gradient(speed, s)[[0, -1]]).max() < 0.01
