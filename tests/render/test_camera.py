from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import NotFinite
from bunraku.render.camera import Camera

PLACES = st.lists(st.tuples(*[st.floats(-5, 5)] * 3), min_size=1, max_size=12)


@given(PLACES, st.floats(-7, 7), st.floats(-1.4, 1.4), st.floats(0.5, 2.5))
def test_around_sees_every_point(points: list, azimuth: float, elevation: float, aspect: float) -> None:
    camera = Camera.around(points, azimuth=azimuth, elevation=elevation, aspect=aspect, field=0.6)
    right, up, back = (np.subtract(points, camera.eye) @ camera.axes.T).T
    tall = math.tan(0.3) * -back
    assert np.all(back < 0)
    assert np.all(np.abs(up) <= tall * (1 + 1e-6))
    assert np.all(np.abs(right) <= aspect * tall * (1 + 1e-6))


@given(PLACES, st.floats(-1.4, 1.4))
def test_axes_are_a_right_handed_frame(points: list, elevation: float) -> None:
    axes = Camera.around(points, elevation=elevation).axes
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) > 0
    assert axes[1, 2] >= 0  # up is up


def test_straight_down_is_fine() -> None:
    axes = Camera((0.0, 0.0, 5.0), (0.0, 0.0, 0.0)).axes
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("points", [np.zeros((0, 3)), [[0.0, 0.0, math.nan]]])
def test_nothing_to_look_at(points: object) -> None:
    with pytest.raises(NotFinite):
        Camera.around(points)
