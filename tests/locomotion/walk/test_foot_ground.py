from __future__ import annotations

import numpy as np
import pytest

from bunraku.figure import library
from bunraku.locomotion.walk.foot_ground import rest
from bunraku.locomotion.walk.legs import Leg, legs_of


@pytest.fixture(scope="module")
def leg() -> Leg:
    return legs_of(library.named("mannequin"))[0]


def test_flat_ground_leaves_feet_where_they_are(leg):
    place = np.array([[1.0, 2.0, 0.3], [0.0, 0.0, -1.0]])
    for heights in (None, lambda points: np.zeros(len(points))):
        ground = rest(place, leg, heights)
        assert np.allclose(ground.at, [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
        assert np.allclose(ground.R[:, :, 2], [0.0, 0.0, 1.0])


def test_soles_lie_on_a_slope(leg):
    slope = lambda points: 0.2 * points[:, 0] - 0.1 * points[:, 1]  # noqa: E731
    ground = rest(np.array([[0.5, 0.5, 0.7]]), leg, slope)
    for x in (leg.heel, leg.toe):
        for y in (-0.03, 0.03):
            point = ground.at[0] + ground.R[0] @ [x, y, 0.0]
            assert point[2] == pytest.approx(slope(point[None])[0], abs=1e-9)
    assert np.allclose(ground.R[0].T @ ground.R[0], np.eye(3))


@pytest.mark.parametrize("x", np.linspace(-0.3, 0.1, 9))
def test_soles_keep_off_an_edge(x, leg):
    step = lambda points: np.where(points[:, 0] > 0.0, 0.15, 0.0)  # noqa: E731
    ground = rest(np.array([[x, 0.0, 0.0]]), leg, step)
    z = ground.at[0, 2]
    assert min(abs(z), abs(z - 0.15)) < 1e-9
    ends = ground.at[0] + np.array([[leg.heel, 0.0, 0.0], [leg.toe, 0.0, 0.0]])
    assert (step(ends[:, :2]) <= z + 1e-9).all()  # nothing of it is inside the step
    assert abs(ground.at[0, 0] - x) <= 0.16 + 1e-9


@pytest.mark.parametrize("rise", [(0.0, 0.12), (0.12, 0.0)], ids=["foot", "top"])
@pytest.mark.parametrize("x", np.linspace(-0.2, 0.1, 7))
def test_where_slopes_meet_nothing_sinks(x, rise, leg):
    bend = lambda points: np.where(points[:, 0] < 0.0, rise[0], rise[1]) * points[:, 0]  # noqa: E731
    ground = rest(np.array([[x, 0.0, 0.4]]), leg, bend)
    along = np.linspace(leg.heel, leg.toe, 25)
    sole = np.stack([along, 0.0 * along, 0.0 * along], 1) @ ground.R[0].T + ground.at[0]
    up = sole[:, 2] - bend(sole)
    assert up.min() > -1.5e-3
    assert up.min() < 1.5e-3
    assert up.max() < 0.012
