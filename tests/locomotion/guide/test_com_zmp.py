"""The closed form against plain integration of the law that it solves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.locomotion.guide.com_zmp import GRAVITY, samples

DT = 0.005


def integrated(w: float, ticks: np.ndarray, knots: np.ndarray, p: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Runge–Kutta, ten steps a tick."""
    h, out = DT / 10, [np.array([p, v])]

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        b = np.array([np.interp(t, ticks * DT, knots[:, a]) for a in range(3)])
        return np.array([y[1], w * w * (y[0] - b)])

    y = out[0]
    for k in range(10 * int(ticks[-1])):
        t = k * h
        k1 = slope(t, y)
        k2 = slope(t + h / 2, y + h / 2 * k1)
        k3 = slope(t + h / 2, y + h / 2 * k2)
        k4 = slope(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if (k + 1) % 10 == 0:
            out.append(y)
    return np.array(out)


@settings(max_examples=15)
@given(st.integers(0, 2**31), st.floats(3.0, 7.0))
def test_closed_form_is_the_motion(seed: int, w: float) -> None:
    rng = np.random.default_rng(seed)
    ticks = np.cumsum([0, *rng.integers(2, 15, 5)])
    p, v = rng.normal(0, 0.02, 3) + np.array([0, 0, 0.3]), rng.normal(0, 0.05, 3)
    knots = rng.normal(0, 0.03, (6, 3)) + np.array([0, 0, 0.3])
    out = np.empty((int(ticks[-1]) + 1, 11))
    samples(w, DT, ticks, knots, np.zeros(5), p, v, out)
    want = integrated(w, ticks, knots, p, v)
    assert np.abs(out[:, :3] - want[:, 0]).max() < 1e-8
    assert np.abs(out[:, 3:6] - want[:, 1]).max() < 1e-7


def test_zmp_is_where_the_floor_pushes() -> None:
    """The push of the floor through the ZMP passes through the centre of mass: (p − zmp) ∥ (p″ − g)."""
    rng = np.random.default_rng(1)
    ticks = np.array([0, 10, 22, 40])
    knots = rng.normal(0, 0.02, (4, 3)) + np.array([0, 0, 0.31])
    out = np.empty((41, 11))
    samples(5.6, DT, ticks, knots, np.full(3, 0.02), np.array([0.01, 0.0, 0.32]), np.array([0.05, -0.02, 0.03]), out)
    arm = out[:, :3] - np.column_stack([out[:, 9:], np.full(41, 0.02)])
    force = out[:, 6:9] + (0.0, 0.0, GRAVITY)
    assert np.abs(np.cross(arm, force)).max() < 1e-12


def test_rest_stays_at_rest() -> None:
    p = np.array([0.1, -0.2, 0.3])
    out = np.empty((31, 11))
    samples(5.7, DT, np.array([0, 15, 30]), np.tile(p, (3, 1)), np.zeros(2), p, np.zeros(3), out)
    assert np.abs(out[:, :3] - p).max() == 0.0
    assert np.abs(out[:, 9:] - p[:2]).max() == pytest.approx(0.0, abs=1e-15)
