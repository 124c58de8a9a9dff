from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bunraku.choreography.crossing import between, nearest
from bunraku.choreography.puppet import Puppet
from bunraku.figure import library

points = arrays.arrays(float, (4, 3), elements=st.floats(-2, 2, width=16))


@given(points)
def test_segments_are_as_far_apart_as_a_search_finds(p: np.ndarray) -> None:
    a0, a1, b0, b1 = p
    found = between(*(x[None, None] for x in p))[0, 0, 0]
    s = np.linspace(0, 1, 81)
    grid = (a0 + s[:, None, None] * (a1 - a0)) - (b0 + s[None, :, None] * (b1 - b0))
    best = np.linalg.norm(grid, axis=-1).min()
    spacing = (np.linalg.norm(a1 - a0) + np.linalg.norm(b1 - b0)) / 160
    assert found <= best + 1e-9
    assert found >= best - spacing - 1e-9


def test_two_puppets_that_meet() -> None:
    puppet = Puppet.hanging(library.marionette22())
    x = np.linspace(2.0, 0.0, 41)
    still = np.repeat(puppet.rest[None], 41, 0)
    comes = puppet.placed(still, x, np.zeros(41), np.zeros(41))
    near = nearest({"anna": (puppet.figure, still), "bert": (puppet.figure, comes)})
    assert near is not None
    assert near.distance < 1e-9
    assert near.roles == ("anna", "bert")
    apart = nearest({"anna": (puppet.figure, still[:1]), "bert": (puppet.figure, comes[:1])})
    assert apart is not None
    assert 1.5 < apart.distance < 2.0
    assert nearest({"anna": (puppet.figure, still)}) is None
