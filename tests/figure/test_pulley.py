"""Pulleys and drums as parts of a figure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from bunraku.errors import FigureError
from bunraku.figure import Drum

TURNS, RADIUS, THICK = 4.0, 0.05, 0.008
DRUM = Drum("world", radius=RADIUS, axis=(0, 1, 0), turns=TURNS, thickness=THICK)


def radius(wound: float) -> float:
    """Of the layer that is being wound: a step over half a turn wherever one is full."""
    steps = (min(max((wound - k * 2.0 * math.pi * TURNS) / math.pi + 0.5, 0.0), 1.0) for k in range(1, 6))
    return RADIUS + THICK * sum(x**3 * (10.0 - 15.0 * x + 6.0 * x**2) for x in steps)


@pytest.mark.parametrize("turns", [-1.0, 0.3, 3.9, 4.0, 4.1, 7.9, 8.05, 11.5])
def test_three_layers_take_the_integral_of_the_radius(turns: float) -> None:
    wound = 2.0 * math.pi * turns
    edges = [e for k in (1, 2) for e in (2.0 * math.pi * TURNS * k - 0.5 * math.pi, 2.0 * math.pi * TURNS * k + 0.5 * math.pi)]
    exact = quad(radius, 0.0, wound, points=[e for e in edges if 0.0 < e < wound] or None, limit=200, epsabs=1e-13)[0]
    assert -DRUM.let_out(-wound) == pytest.approx(exact, abs=1e-12)
    assert float(DRUM.angle(DRUM.let_out(-wound))) == pytest.approx(-wound, abs=1e-9)


def test_the_middle_of_each_layer_has_its_radius() -> None:
    for layer in range(3):
        turn = 2.0 * math.pi * (TURNS * layer + 2.0)
        taken = DRUM.let_out(-turn + 0.01) - DRUM.let_out(-turn - 0.01)
        assert taken / 0.02 == pytest.approx(RADIUS + layer * THICK, rel=1e-12)


def test_one_layer_is_a_circle() -> None:
    plain = Drum("world", radius=RADIUS, axis=(0, 1, 0))
    np.testing.assert_allclose(plain.let_out(np.array([-3.0, 0.0, 5.0])), RADIUS * np.array([-3.0, 0.0, 5.0]))
    assert plain.angle(0.1) == pytest.approx(2.0)


def test_half_described_layers_are_refused() -> None:
    with pytest.raises(FigureError, match="together"):
        Drum("world", radius=RADIUS, turns=4.0)
    with pytest.raises(FigureError, match="at least 1"):
        Drum("world", radius=RADIUS, turns=0.5, thickness=0.01)
