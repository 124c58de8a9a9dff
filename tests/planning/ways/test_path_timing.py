from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.planning.ways.find_way import find
from bunraku.planning.ways.path import through
from bunraku.planning.ways.path_timing import PathLimits, steadied, timed
from bunraku.planning.ways.steer import Bezier, Differential
from bunraku.scene import Scene
from tests.planning.rooms import space

START, GOAL = np.array([-1.2, -1.0, 0.3]), np.array([1.2, -1.0, 2.0])


def rates(motion):
    dt = motion.t[1] - motion.t[0]
    v = np.diff(motion.q, axis=0) / dt
    return np.abs(v).max(0), np.abs(np.diff(v, axis=0) / dt).max(0)


PARTS = {"straight": (), "walks": (Bezier("x", "y", "turn"),), "drives": (Differential("x", "y", "turn"),)}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("seed", range(3))
def test_limits_hold(parts, seed):
    path = find(space(parts=parts, margin=0.01), START, GOAL, seed=seed).path
    timing = timed(path, speed={"x": 0.8, "y": 0.8, "turn": 1.5}, acceleration=1.0)
    motion = timing.motion(1 / 60)
    v, a = rates(motion)
    assert (v <= np.array([0.8, 0.8, 1.5]) * 1.01).all()
    assert (a <= 1.05).all()
    assert np.allclose(motion.q[0], START)
    assert np.abs(path.space.steering.difference(motion.q[-1], GOAL)).max() < 1e-9
    assert path.space.world.check(motion).clearance.min() > 0.0


def test_a_straight_way_takes_as_long_as_it_must():
    room = space(Scene("empty"))
    path = through(room, [np.array([-1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])])
    assert timed(path, speed=10.0, acceleration=2.0).duration == pytest.approx(2.0, rel=0.02)
    assert timed(path, speed=0.5, acceleration=2.0).duration == pytest.approx(2.0 / 0.5 + 0.5 / 2.0, rel=0.02)


def test_sharp_corners_are_passed_at_rest():
    room = space(Scene("empty"))
    path = through(room, np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0]]))
    motion = timed(path, speed=1.0, acceleration=2.0).motion(1 / 120)
    _, a = rates(motion)
    assert (a <= 2.1).all()
    k = int(np.argmin(np.linalg.norm(motion.q - [1.0, -1.0, 0.0], axis=1)))
    assert np.linalg.norm(motion.q[k + 1] - motion.q[k]) < 0.01


def test_as_many_samples_as_asked_for():
    path = through(space(Scene("empty")), [np.array([-1.0, 0.0, 0.0]), np.array([1.0, 0.5, 1.0])])
    timing = timed(path)
    assert len(timing.samples(268)) == 268
    assert timing.samples(268).duration == pytest.approx(timing.samples(530).duration)


def test_bad_limits_are_refused():
    path = through(space(Scene("empty")), [np.array([-1.0, 0.0, 0.0]), np.array([1.0, 0.5, 1.0])])
    with pytest.raises(BunrakuError, match="give positive limits"):
        timed(path, speed={"turn": 0.0})
    with pytest.raises(BunrakuError, match="start and goal are the same"):
        timed(through(path.space, [START, START]))


@pytest.mark.parametrize("seed", range(2))
def test_limits_of_points_in_the_world(seed):
    """A point beside the body, which moves and turns: its speed and its acceleration, not those of single variables."""
    path = find(space(margin=0.01), START, GOAL, seed=seed).path

    def point(Q):
        k = path.space.figure.indices(("x", "y", "turn"))
        x, y, turn = Q[:, k].T
        return np.stack([x - 0.5 * np.sin(turn), y + 0.5 * np.cos(turn)], 1)

    limits = PathLimits(point, (2,), np.array([0.4]), np.array([0.6]))
    timing = timed(path, limits=limits)
    t = np.linspace(0.0, timing.duration, int(60 * timing.duration))
    v = np.diff(point(timing.at(t)), axis=0) / t[1]
    a = np.diff(v, axis=0) / t[1]
    assert np.linalg.norm(v, axis=1).max() <= 0.4 * 1.001
    assert np.linalg.norm(a, axis=1).max() <= 0.6 * 1.1
    assert np.linalg.norm(v, axis=1).max() > 0.3, "no slower than necessary"
    slow = timed(path, limits=limits, slower=np.array([[0.0, 0.2], [path.length, 0.2]]))
    assert slow.duration >= path.length / 0.2
    rest = steadied(np.linspace(0.0, 1.0, 50)[:, None], 3.0)
    assert len(rest) == 50 + 24
    assert rest[[0, -1], 0] == pytest.approx([0.0, 1.0], abs=1e-4)
