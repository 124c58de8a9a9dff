from __future__ import annotations

import numpy as np

from bunraku.collision import World
from bunraku.ensemble.pace import jumps, paced
from bunraku.figure.build import figure, rz, tx
from bunraku.motion import Motion
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.path import through
from bunraku.planning.ways.path_timing import timed

CART = figure("cart", tx("x", rz("turn")))


def swinging(timing, count=60):
    """Someone whose joint swings fast in the middle of the way."""
    reduced = timing.samples(count)
    angle = 1.5 * np.tanh(6.0 * (reduced.q[:, 0] - 2.0))
    return Motion.of(CART, reduced.t, np.stack([reduced.q[:, 0], angle], 1))


def test_time_is_taken_where_joints_jump():
    space = FreeSpace(World(CART), bounds={"x": (-1, 5)})
    timing = timed(through(space, np.array([[0.0, 0.0], [4.0, 0.0]])), speed=1.0, acceleration=4.0)
    before = swinging(timing)
    assert jumps(before).max() > 0.4
    slow = timing
    for _ in range(4):
        slow = paced(slow, swinging(slow))
    after = swinging(slow)
    assert jumps(after).max() < 0.2
    assert np.allclose(after.q[[0, -1], 0], [0.0, 4.0])
    assert (np.diff(after.q[:, 0]) > -1e-12).all()
    speed = np.diff(after.q[:, 0]) / np.diff(after.t)
    assert speed.max() < 1.0 + 1e-6, "nobody is hurried"
    assert slow.duration > timing.duration


def test_an_even_motion_keeps_its_pace():
    space = FreeSpace(World(CART), bounds={"x": (-1, 5)})
    timing = timed(through(space, np.array([[0.0, 0.0], [4.0, 0.0]])), speed=1.0, acceleration=4.0)
    reduced = timing.samples(60)
    calm = Motion.of(CART, reduced.t, np.stack([reduced.q[:, 0], 0.5 * reduced.q[:, 0]], 1))
    same = paced(timing, calm)
    assert abs(same.duration - timing.duration) < 0.35 * timing.duration
