"""Whatever sets strings over time, as rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics.puppeteer import Puppeteer, force_rows, kinematic_rows
from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import library
from bunraku.motion import Motion

Array = NDArray[np.float64]
ARM = library.arm2d()
T = 0.1 * np.arange(1, 6)
REST = ARM.start[ARM.n_dynamic :]


def rows(puppeteer: Puppeteer) -> Array:
    return kinematic_rows(ARM, puppeteer, T, REST)


def test_nobody_leaves_everything_where_it_is() -> None:
    np.testing.assert_array_equal(rows(None), np.repeat(REST[None], 5, 0))
    np.testing.assert_array_equal(rows({}), rows(None))


def test_the_same_thing_said_in_five_ways() -> None:
    """By a function, by functions and numbers by name, by rows, by a motion of this figure, and of another that has the names."""
    x, length = 0.3 + 0.1 * T, np.full(5, 0.7)
    wanted = np.stack([x, length], 1)
    np.testing.assert_array_equal(rows(lambda t: [0.3 + 0.1 * t, 0.7]), wanted)
    np.testing.assert_array_equal(rows({"hand_length": 0.7, "hand_x": lambda t: 0.3 + 0.1 * t}), wanted)
    np.testing.assert_array_equal(rows(wanted), wanted)
    q = np.repeat(ARM.start[None], 2, 0)
    q[:, 2:] = [[0.3, 0.7], [0.4, 0.7]]
    np.testing.assert_allclose(rows(Motion.of(ARM, [0.0, 1.0], q)), wanted, atol=1e-12)
    other = library.arm2d(lengths=(0.2, 0.2))
    np.testing.assert_allclose(rows(Motion.of(other, [0.0, 1.0], q)), wanted, atol=1e-12)


def test_a_motion_of_one_sample_stands_still() -> None:
    np.testing.assert_array_equal(rows(Motion.of(ARM, [0.0], ARM.start[None])), rows(None))


def test_rows_are_a_copy() -> None:
    mine = rows(None)
    got = rows(mine)
    got[:] = 0.0
    assert mine.any()


def test_forces_are_zero_where_nobody_pushes() -> None:
    cart = library.cart_pendulum()
    (name,) = (force.name for force in cart.forces)
    np.testing.assert_array_equal(force_rows(cart, None, T), np.zeros((5, 1)))
    np.testing.assert_array_equal(force_rows(cart, {name: lambda t: 2 * t}, T), 2 * T[:, None])
    assert force_rows(library.pendulum(), None, T).shape == (5, 0)


@pytest.mark.parametrize(
    ("puppeteer", "error", "says"),
    [
        ({"hand_lenght": 1.0}, UnknownName, "hand_length"),
        ({"elbow": 1.0}, UnknownName, "no kinematic variable is called 'elbow'"),  # dynamic: physics sets it
        (lambda t: [0.3], BunrakuError, r"shape \(1,\), but there are 2: hand_x, hand_length"),
        (lambda t: 0.3, BunrakuError, r"shape \(\)"),
        (np.zeros((4, 2)), BunrakuError, r"expected \(5, 2\)"),
        (np.zeros(2), BunrakuError, r"expected \(5, 2\)"),
        ({"hand_x": lambda t: np.nan if t > 0.25 else 0.3}, NotFinite, r"sets hand_x to nan at t = 0\.3 s"),
        ({"hand_length": np.inf}, NotFinite, "hand_length to inf"),
        (lambda t: [0.3, -np.inf], NotFinite, r"hand_length to -inf at t = 0\.1"),
        ({"hand_x": "far"}, BunrakuError, "a number for hand_x, got"),
        ({"hand_x": lambda t: [1.0, 2.0]}, BunrakuError, "a number for hand_x"),
        ({"hand_x": lambda t: None}, NotFinite, "hand_x to nan"),
        (lambda t: ["a", "b"], BunrakuError, "must give numbers"),
        ("pull", BunrakuError, "rows of numbers, got pull"),
        (Motion.of(library.pendulum(), [0.0, 1.0], [[0.0], [1.0]]), UnknownName, "hand_x"),
    ],
)
def test_what_is_no_puppeteer(puppeteer: Puppeteer, error: type[BunrakuError], says: str) -> None:
    with pytest.raises(error, match=says):
        rows(puppeteer)
