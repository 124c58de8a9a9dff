from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bunraku.choreography.jet import Jet
from tests.differences import difference_quotient, relative_error

numbers = st.floats(-2.0, 2.0)


def of(x: np.ndarray) -> Jet:
    """Two curves of two parameters: (x₀, x₀x₁) at three samples."""
    a = Jet(np.full(3, x[0]), np.tile([1.0, 0.0], (3, 1)), np.zeros((3, 2, 2)))
    b = Jet(np.full(3, x[1]), np.tile([0.0, 1.0], (3, 1)), np.zeros((3, 2, 2)))
    y = (a * b).sin() + a.cos() * b - a
    powers = np.array([1.0, 2.0])
    z = y.through(y.value[:, None] ** 3 * powers, 3 * y.value[:, None] ** 2 * powers, 6 * y.value[:, None] * powers)
    z.put(1, y + b)
    return z


@given(numbers, numbers)
def test_the_chain_rule(p: float, q: float) -> None:
    x = np.array([p, q])
    here = of(x)
    assert relative_error(here.first, difference_quotient(lambda x: of(x).value, x)) < 1e-8
    assert relative_error(here.second, difference_quotient(lambda x: of(x).first, x)) < 1e-8
    np.testing.assert_array_equal(here.second, here.second.swapaxes(-1, -2))


def test_a_constant_has_no_derivatives() -> None:
    jet = Jet.constant(np.arange(6.0).reshape(3, 2), 4)
    assert jet.first.shape == (3, 2, 4)
    assert not jet.first.any()
    assert not jet.second.any()
