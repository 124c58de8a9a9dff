from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import FigureError
from bunraku.figure.mass import Body, inertia_matrix, inertia_tuple
from bunraku.spatial import so3

VECTOR = st.tuples(*[st.floats(-2, 2)] * 3)
MASSES = st.lists(st.tuples(st.floats(0.01, 5.0), VECTOR), min_size=1, max_size=6)


@given(MASSES)
def test_every_heap_of_point_masses_is_a_body(points: list) -> None:
    """Whatever is made of positive masses has an inertia that is accepted."""
    m = np.array([mass for mass, _ in points])
    r = np.array([place for _, place in points])
    com = m @ r / m.sum()
    d = r - com
    inertia = np.einsum("n,ni,ni->", m, d, d) * np.eye(3) - np.einsum("n,ni,nj->ij", m, d, d)
    Body("frame", float(m.sum()), tuple(com), inertia_tuple(inertia))


@given(st.tuples(*[st.floats(0.1, 2.0)] * 2), st.floats(1.01, 3.0), VECTOR)
def test_more_than_the_sum_of_the_others_is_refused(pair: tuple, factor: float, turn: tuple) -> None:
    a, b = pair
    R = so3.exp(turn)
    with pytest.raises(FigureError, match="no body has principal moments"):
        Body("frame", 1.0, inertia=inertia_tuple(R @ np.diag([a, b, factor * (a + b)]) @ R.T))


@given(st.tuples(*[st.floats(-3, 3)] * 6))
def test_matrix_and_tuple(inertia: tuple) -> None:
    matrix = inertia_matrix(inertia)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert inertia_tuple(matrix) == inertia


def test_order_of_the_six_numbers() -> None:
    np.testing.assert_array_equal(inertia_matrix((1, 2, 3, 4, 5, 6)), [[1, 4, 5], [4, 2, 6], [5, 6, 3]])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mass": -1.0}, "body 'arm': mass: -1.0 is not a mass"),
        ({"mass": math.nan}, "body 'arm': mass: nan is not a mass"),
        ({"mass": math.inf}, "body 'arm': mass: inf is not a mass"),
        ({"com": (0.0, math.nan, 0.0)}, "body 'arm': com: not a finite number"),
        ({"inertia": (1.0, 1.0, math.inf, 0.0, 0.0, 0.0)}, "body 'arm': inertia: not a finite number"),
        ({"inertia": (1.0, 1.0, -0.1, 0.0, 0.0, 0.0)}, "body 'arm': inertia: not positive definite"),
        ({"inertia": (1.0, 1.0, 1.0, 2.0, 0.0, 0.0)}, "body 'arm': inertia: not positive definite"),
    ],
)
def test_bad_values(fields: dict, message: str) -> None:
    with pytest.raises(FigureError) as caught:
        Body(**{"frame": "elbow", "mass": 1.0, "name": "arm", **fields})
    assert str(caught.value).startswith(message)
    assert "advice: " in str(caught.value)


def test_a_point_and_a_rod_are_bodies() -> None:
    assert Body("tip", 1.0).inertia == (0.0,) * 6
    assert Body("tip", 1.0).name == "tip"
    Body("rod", 1.0, inertia=(1.0, 1.0, 0.0, 0.0, 0.0, 0.0))
