from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.ensemble.warp import Warp, window
from bunraku.errors import BunrakuError

changes = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).map(np.array)
windows = st.tuples(st.floats(30.0, 60.0), st.floats(0.0, 40.0), st.floats(2.0, 25.0))


@given(windows, changes)
def test_zero_outside_and_as_the_key_says_inside(parts, change):
    begin, size, ease = parts
    warp = window({begin + 0.5 * size: change}, begin, begin + size, ease=ease, last=200.0)
    outside = np.r_[np.linspace(0.0, begin - ease, 50), np.linspace(begin + size + ease, 200.0, 50)]
    assert not warp.at(outside).any()
    assert np.array_equal(warp.at(np.linspace(begin, begin + size, 50)), np.tile(change, (50, 1)))
    assert (np.abs(warp.at(np.linspace(0.0, 200.0, 500))) <= np.abs(change) + 1e-12).all(), "no overshoot"


@given(windows, changes, changes)
def test_no_jump_of_speed_nor_of_acceleration(parts, a, b):
    begin, size, ease = parts
    warp = window({begin: a, begin + size + 1.0: b}, begin, begin + size + 1.0, ease=ease, last=200.0)
    h = 1e-3
    for place in warp.places:
        # One-sided differences on either side of a key agree: all derivatives up to the second vanish there.
        left, right = warp.at(place - h * np.arange(3)), warp.at(place + h * np.arange(3))
        for side in (left, right):
            shortest = float(np.diff(warp.places).min())
            assert np.abs(side[1] - side[0]).max() / h <= 60.0 * h**2 / shortest**3
            assert np.abs(side[2] - 2.0 * side[1] + side[0]).max() / h**2 <= 500.0 * h / shortest**3


def test_where_there_is_no_room_it_stays():
    change = np.ones(2)
    early = window({3.0: change}, 1.0, 5.0, ease=10.0, last=100.0)
    assert early.opens == (True, False)
    assert np.array_equal(early.at(np.arange(6)), np.ones((6, 2)))
    assert not early.at([15.0, 100.0]).any()
    late = window({97.0: change}, 95.0, 99.0, ease=10.0, last=100.0)
    assert late.opens == (False, True)
    assert np.array_equal(late.at([95.0, 100.0]), np.ones((2, 2)))
    short = window({8.0: change}, 6.0, 9.0, ease=10.0, last=100.0)
    assert not short.at(0.0).any(), "a shorter ease is better than another beginning"


def test_scaled():
    warp = window({40.0: np.array([1.0, 2.0])}, 38.0, 42.0, ease=10.0, last=100.0)
    x = np.linspace(20.0, 60.0, 30)
    assert np.allclose(warp.scaled([0.5, 0.0]).at(x), warp.at(x) * [0.5, 0.0])


def test_bad_warps_are_refused():
    with pytest.raises(BunrakuError, match="in order"):
        Warp(np.array([1.0, 1.0]), np.zeros((2, 1)))
    with pytest.raises(BunrakuError, match="first change"):
        Warp(np.array([0.0, 1.0]), np.ones((2, 1)))
