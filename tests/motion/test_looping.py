"""Loops: pose and velocity at the end are those of the start, by other differences than those that closed them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bunraku.errors import MotionError
from bunraku.figure import Figure, library
from bunraku.kinematics import frames_along
from bunraku.motion import Mark, Motion
from tests.stage.toys import puppet, waving

Array = NDArray[np.float64]
NAMES = ["marionette22", "marionette25", "mannequin", "humanoid"]


def wandering(figure: Figure, seed: int, *, seconds: float = 3.0, dt: float = 1 / 60) -> Motion:
    """A smooth motion without a period, whose root goes along."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds + dt / 2, dt)
    lower, upper = figure.limits
    # Joints with limits move about the middle of their range: a loop cannot lead smoothly through a limit.
    both = np.isfinite(lower) & np.isfinite(upper)
    middle, size = np.array(figure.start), np.full(figure.n_q, 0.1)
    middle[both], size[both] = (lower[both] + upper[both]) / 2, 0.03 * (upper[both] - lower[both])
    q = np.array(np.tile(middle, (len(t), 1)))
    for k in range(figure.n_q):
        for _ in range(3):
            q[:, k] += size[k] * rng.uniform(-1, 1) * np.sin(rng.uniform(0.3, 4.0) * t + rng.uniform(0, 6))
    for name in figure.names:
        if name.endswith(("_tx", "torso_x", "arm_x", "leg_x", "head_x", "shoulder_x")):
            q[:, figure.index(name)] += 0.4 * t
    return Motion.of(figure, t, q, marks=(Mark(1.0, "step"),))


def jump(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max())


@pytest.mark.parametrize("name", NAMES)
@given(st.integers(0, 10_000), st.floats(0.1, 3.0))
@settings(max_examples=8)
def test_pose_and_velocity_close(name: str, seed: int, blend: float) -> None:
    figure = library.named(name)
    motion = wandering(figure, seed)
    loop = motion.loop(blend)
    X = frames_along(figure, loop.q)
    assert jump(X[0], X[-1]) < 1e-12
    # One-sided differences of second order of every frame in the world.
    dt = motion.t[1]
    before = (3 * X[-1] - 4 * X[-2] + X[-3]) / (2 * dt)
    after = (-3 * X[0] + 4 * X[1] - X[2]) / (2 * dt)
    inner = np.abs(X[2:] - 2 * X[1:-1] + X[:-2]).max() / dt  # how much velocities change from sample to sample inside
    assert jump(before, after) < 0.1 * inner
    q = loop.q
    ends = (3 * q[-1] - 4 * q[-2] + q[-3]) / (2 * dt), (-3 * q[0] + 4 * q[1] - q[2]) / (2 * dt)
    assert jump(*ends) < 1e-9
    untouched = motion.t < motion.t[-1] - blend
    np.testing.assert_array_equal(loop.q[untouched], motion.q[untouched])


@pytest.mark.parametrize("name", NAMES)
def test_a_walk_goes_on(name: str) -> None:
    figure = library.named(name)
    motion = wandering(figure, 5)
    stays, goes = motion.loop(0.5, times=3), motion.loop(0.5, travel=True, times=3)
    root = next(k for k in range(figure.n_q) if figure.names[k].endswith("_tx"))
    way = motion.q[-1, root] - motion.q[0, root]
    assert stays.q[-1, root] == pytest.approx(motion.q[0, root], abs=1e-12)
    assert goes.q[-1, root] - goes.q[0, root] == pytest.approx(3 * way, abs=1e-9)
    assert goes.duration == pytest.approx(3 * motion.duration)
    assert [mark.t for mark in goes.marks] == pytest.approx([1.0, 1.0 + motion.duration, 1.0 + 2 * motion.duration])
    # Everything else closes, and everything that hangs goes along: seen from the root, rounds are the same.
    n = len(motion) - 1
    parts = [figure.frame_index[body.frame] for body in figure.bodies]
    parts += [figure.frame_index[string.spindle.frame] for string in figure.strings]
    X = frames_along(figure, goes.q)[:, parts][:, :, :3, 3]
    shift = X[n] - X[0]
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=1e-9)
    np.testing.assert_allclose(X[n : 2 * n] - X[:n], np.broadcast_to(shift, X[:n].shape), atol=1e-9)


def test_a_whole_turn_is_not_unwound() -> None:
    figure = library.named("humanoid")
    motion = wandering(figure, 2)
    turn = figure.index("trunk_rz")
    q = np.array(motion.q)
    q[:, turn] += 2 * np.pi * motion.t / motion.duration
    loop = Motion.of(figure, motion.t, q).loop(0.3, times=2)
    assert loop.q[-1, turn] - loop.q[0, turn] == pytest.approx(4 * np.pi)
    assert np.abs(np.diff(loop.q[:, turn])).max() < 0.2


def test_velocities_close_and_forces_go() -> None:
    figure = library.pendulum()
    t = np.linspace(0.0, 2.0, 401)
    motion = Motion.of(figure, t, np.sin(t)[:, None], v=np.cos(t)[:, None], energy=np.ones((401, 2)))
    loop = motion.loop(1.0)
    assert loop.v is not None
    assert loop.v[-1] == loop.v[0]
    np.testing.assert_allclose(np.gradient(loop.q[:, 0], t, edge_order=2), loop.v[:, 0], atol=2e-2)  # acceleration jumps
    assert loop.energy is None


def test_limits_hold() -> None:
    motion = waving(puppet())
    q = np.array(motion.q)
    elbow = motion.figure.index("left_elbow")
    q[:, elbow] = np.linspace(1.99, 0.0, len(q))
    loop = Motion.of(motion.figure, motion.t, q).loop(0.2)
    assert loop.q[:, elbow].max() <= 2.0


def test_wrong_loops_are_refused() -> None:
    motion = waving(puppet())
    for blend in (0.0, -1.0, 0.03, 2.5, float("nan")):
        with pytest.raises(MotionError, match="cannot close a loop"):
            motion.loop(blend)
    with pytest.raises(MotionError, match="0 times"):
        motion.loop(times=0)
    pendulum = library.pendulum()
    with pytest.raises(MotionError, match="along the floor"):
        Motion.of(pendulum, np.arange(9.0), np.zeros((9, pendulum.n_q))).loop(3.0, travel=True)
