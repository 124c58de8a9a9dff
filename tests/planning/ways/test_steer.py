from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BunrakuError
from bunraku.planning.ways.steer import Bezier, Differential, Holonomic, Steering, length, part_of, reversed_curve, samples
from tests.planning.rooms import cart

CART = cart()
WAYS = [Holonomic("x", "y", "turn"), Bezier("x", "y", "turn"), Differential("x", "y", "turn")]
poses = st.tuples(*(st.floats(-3, 3) for _ in range(3))).map(np.array)


@pytest.mark.parametrize("part", WAYS, ids=lambda part: type(part).__name__)
@given(a=poses, b=poses)
@settings(max_examples=40, deadline=None)
def test_begins_and_ends_where_it_should(part, a, b):
    steering = Steering(CART, part)
    curve = steering.curve(a, b)
    start, end = samples(curve, [0.0, 1.0])
    assert np.abs(steering.difference(start, a)).max() < 1e-9
    assert np.abs(steering.difference(end, b)).max() < 1e-9


@given(a=poses, b=poses)
@settings(max_examples=40, deadline=None)
def test_a_walker_faces_its_way(a, b):
    curve = Steering(CART, Bezier("x", "y", "turn")).curve(a, b)
    Q = samples(curve, np.linspace(0.0, 1.0, 401))
    if not len(curve.bends):
        assert np.hypot(*(b - a)[:2]) <= 0.3
        return
    step = np.diff(Q[:, :2], axis=0)
    sign = -1.0 if curve.bends[0, 3] else 1.0
    middle = 0.5 * (Q[1:, 2] + Q[:-1, 2])
    fast = np.hypot(*step.T) > 0.2 * np.hypot(*step.T).mean()
    sideways = np.abs(np.cos(middle) * step[:, 1] - np.sin(middle) * step[:, 0])
    ahead = sign * (np.cos(middle) * step[:, 0] + np.sin(middle) * step[:, 1])
    assert (sideways[fast] < 0.05 * np.abs(ahead[fast])).all()
    assert (ahead[fast] > 0.0).all()


@given(a=poses, b=poses)
@settings(max_examples=40, deadline=None)
def test_wheels_never_slip_sideways(a, b):
    curve = Steering(CART, Differential("x", "y", "turn")).curve(a, b)
    step = np.diff(curve.Q, axis=0)
    heading = curve.Q[:-1, 2]
    sideways = np.cos(heading) * step[:, 1] - np.sin(heading) * step[:, 0]
    assert np.abs(sideways).max() < 1e-9
    turning, driving = np.abs(step[:, 2]) > 1e-9, np.hypot(step[:, 0], step[:, 1]) > 1e-9
    assert not (turning & driving).any()
    assert np.abs(step[:, 2]).sum() <= np.pi + 1e-9 + np.pi


def test_the_short_way_round():
    curve = Steering(CART).curve(np.array([0.0, 0.0, 3.0]), np.array([1.0, 0.0, -3.0]))
    assert samples(curve, 1.0)[2] == pytest.approx(2 * np.pi - 3.0)
    assert samples(curve, 0.5)[2] == pytest.approx(np.pi)


@pytest.mark.parametrize("part", WAYS, ids=lambda part: type(part).__name__)
def test_parts_and_reverses_are_the_same_way(part):
    a, b = np.array([0.0, 0.0, 0.4]), np.array([1.5, 1.0, 1.4])
    curve = Steering(CART, part).curve(a, b)
    s = np.linspace(0.0, 1.0, 21)
    assert np.allclose(samples(part_of(curve, 0.3, 0.8), s), samples(curve, 0.3 + 0.5 * s))
    assert np.allclose(samples(reversed_curve(curve), s), samples(curve, 1.0 - s))
    weights = np.array([1.0, 1.0, 0.5])
    assert length(reversed_curve(curve), weights) == pytest.approx(length(curve, weights))
    assert length(curve, weights) >= np.linalg.norm((b - a) * weights) - 1e-9


def test_two_parts_cannot_steer_one_variable():
    with pytest.raises(BunrakuError, match="two parts steer one variable"):
        Steering(CART, Holonomic("x", "y", "turn"), Bezier("x", "y", "turn"))
