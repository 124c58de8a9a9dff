"""What may be wished, and how it is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.control import Centre, Configuration, PointAt, System
from bunraku.control.cost import Term, sheet_of
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.kinematics import pose

ARM = library.arm3d()
T = 0.01 * np.arange(6)
HERE = pose(ARM)


def sheet(*terms: Term) -> Any:
    system = System.of(ARM, dt=0.01)
    start = np.zeros(system.n_x)
    start[: ARM.n_q] = ARM.start
    return sheet_of(terms, system, T, start)


def test_coordinates_that_are_not_named_are_wished_where_they_start() -> None:
    made = sheet(PointAt("tip", {"z": lambda t: 0.5 + t}, 2.0, offset=(0.0, 0.01, 0.0)), Centre({"x": 0.1}))
    x, y, _ = HERE.point("tip", (0.0, 0.01, 0.0))
    np.testing.assert_allclose(made.target[:, 0], np.stack([np.full(6, x), np.full(6, y), 0.5 + T], 1))
    np.testing.assert_allclose(made.centre, np.repeat([[0.1, *HERE.com[1:]]], 6, 0))


@pytest.mark.parametrize(
    ("term", "says"),
    [
        (PointAt("tip", 3.0, lambda t: (0, 0, t)), "weight of a point is <function"),  # type: ignore[arg-type]
        (Configuration({"elbow": "much"}), "weight of a variable is {'elbow': 'much'}"),  # type: ignore[dict-item]
        (PointAt("tip", "there"), "reference of the point is there"),
        (PointAt("tip", lambda t: None), "reference of the point is not finite|reference of the point has shape"),
    ],
)
def test_what_is_no_number_is_said_so(term: Term, says: str) -> None:
    with pytest.raises(BunrakuError, match=says):
        sheet(term)
