"""Coulomb friction: blocks on planes stick, slide and stop as the textbook says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bunraku.dynamics import Simulation
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.figure import Figure, library
from bunraku.figure.build import body, box, contact, figure, free, tx, ty, tz

Array = NDArray[np.float64]
g = 9.81
CORNERS = {"a": (0.1, 0.08, -0.05), "b": (-0.1, 0.08, -0.05), "c": (0.1, -0.08, -0.05), "d": (-0.1, -0.08, -0.05)}


def pebble(slope: float, friction: float, *, mass: float = 0.7) -> Figure:
    """A point on a plane that falls toward +x."""
    normal = (math.sin(slope), 0.0, math.cos(slope))
    return figure(
        "pebble", tx("x", ty("y", tz("pebble", body(mass)))), contacts=[contact("foot", "pebble", normal=normal, friction=friction)]
    )


def brick(slope: float, friction: float, *, corners: int = 4, mass: float = 1.3) -> Figure:
    """A brick flat on the same plane, which is what its axes are along."""
    feet = list(CORNERS.items())[:corners] if corners != 3 else [*list(CORNERS.items())[:2], ("c", (0.0, -0.08, -0.05))]
    return figure(
        "brick", free("brick", box((0.2, 0.16, 0.1), mass=mass), start=(0, 0, 0.05, 0, 0, 0)),
        contacts=[contact(name, ("brick", x), friction=friction) for name, x in feet],
        gravity=(g * math.sin(slope), 0.0, -g * math.cos(slope)),
    )  # fmt: skip


def run(fig: Figure, steps: int, dt: float, v: Array | list[float] | None = None) -> tuple[Array, Array, NDArray[np.int8]]:
    """q, forces and states; nothing was held or frozen, all impulses are in their cones."""
    result = Simulation(fig, v=v, dt=dt).run(np.zeros((steps, 0)))
    assert not (result.bits & (STEP_BITS.held | STEP_BITS.frozen)).any()
    names = fig.compiled.link_names
    for k, found in enumerate(names):
        if f"{found}.slip1" in names:
            across = np.hypot(result.impulse[:, k + 1], result.impulse[:, k + 2])
            friction = next(c.friction for c in fig.contacts if c.name == found)
            assert result.impulse[:, k].min() >= 0.0
            assert (across - friction * result.impulse[:, k]).max() < 1e-9 * max(1.0, across.max())
            assert result.gap[:, k].max() < 1e-10
    return result.q, result.impulse / dt, result.states


SLOPES = pytest.mark.parametrize("make", [pebble, brick], ids=lambda make: make.__name__)


@SLOPES
def test_it_sticks_below_the_angle_of_friction(make: object) -> None:
    slope = 0.98 * math.atan(0.5)
    fig = make(slope, 0.5)  # type: ignore[operator]
    q, force, states = run(fig, 300, 0.01)
    assert np.abs(q - fig.start).max() < 1e-9
    assert make is brick or (states == 1).all()  # of four corners some may carry all that they can
    normals = [k for k, name in enumerate(fig.compiled.link_names) if ".slip" not in name]
    mass = sum(b.mass for b in fig.bodies)
    np.testing.assert_allclose(force[-1, normals].sum(), mass * g * math.cos(slope), rtol=1e-9)


@SLOPES
@pytest.mark.parametrize("factor", [1.02, 1.5])
def test_it_slides_above_it_as_fast_as_it_must(make: object, factor: float) -> None:
    slope = factor * math.atan(0.5)
    fig, dt = make(slope, 0.5), 0.002  # type: ignore[operator]
    q, _, states = run(fig, 500, dt)
    assert (states.max(1) == 2).all()
    down = np.array([math.cos(slope), 0.0, -math.sin(slope)]) if make is pebble else np.array([1.0, 0.0, 0.0])
    way = (q - fig.start)[:, :3] @ down
    t = dt * np.arange(1, 501)
    a = g * (math.sin(slope) - 0.5 * math.cos(slope))
    np.testing.assert_allclose(way, 0.5 * a * t**2, atol=0.6 * a * dt * t[-1])
    np.testing.assert_allclose(np.diff(way, 2)[5:] / dt**2, a, rtol=1e-6)


@SLOPES
def test_a_push_is_braked_and_stops(make: object) -> None:
    """From v it slides v²/2μg along its own line, then stays."""
    fig, dt = make(0.0, 0.4), 0.002  # type: ignore[operator]
    v = np.zeros(fig.n_q)
    v[:2] = 0.9, 1.2
    q, _, states = run(fig, 500, dt, v)
    far = 1.5**2 / (2 * 0.4 * g)
    np.testing.assert_allclose(np.linalg.norm(q[-1, :2]), far, rtol=5e-3)
    np.testing.assert_allclose(q[-1, 0] / q[-1, 1], 0.75, rtol=1e-3)
    stopped = round(1.5 / (0.4 * g) / dt)
    assert np.abs(q[stopped + 5 :] - q[-1]).max() < 1e-9
    assert (states[stopped + 5 :] != 2).all()


@pytest.mark.parametrize("corners", [1, 3, 4])
def test_a_brick_that_is_dropped_comes_to_rest(corners: int) -> None:
    """Flat on three or four corners, which is more than determines who carries what."""
    fig = brick(0.0, 0.6, corners=corners)
    q = fig.start.copy()
    q[2], q[4] = 0.12, 0.2
    result = Simulation(fig, q, dt=0.005).run(np.zeros((600, 0)))
    assert not (result.bits & (STEP_BITS.held | STEP_BITS.frozen)).any()
    assert np.isfinite(result.q).all()
    if corners > 1:
        assert np.abs(result.q[-1] - result.q[-50]).max() < 1e-7
        np.testing.assert_allclose(result.q[-1, [2, 4, 5]], [0.05, 0.0, 0.0], atol=1e-7)
    E = result.energy.sum(1)
    assert E.max() <= E[0] + 1e-3


def test_without_friction_it_slides_for_ever() -> None:
    fig = brick(0.0, 0.0)
    q, _, _ = run(fig, 200, 0.01, [0.5, 0.2, 0, 0.3, 0, 0])
    np.testing.assert_allclose(q[-1, :2], [1.0, 0.4], atol=1e-9)
    np.testing.assert_allclose(q[-1, 3], 0.6, atol=1e-9)


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_thrown_bricks_never_gain_energy_or_sink(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fig = brick(0.0, rng.uniform(0.1, 1.0))
    q = fig.start.copy()
    q[2], q[3:] = 0.3, rng.uniform(-0.6, 0.6, 3)
    result = Simulation(fig, q, rng.normal(size=6), dt=0.005).run(np.zeros((200, 0)))
    assert not (result.bits & STEP_BITS.frozen).any()
    normals = [k for k, name in enumerate(fig.compiled.link_names) if ".slip" not in name]
    sound = (result.bits & STEP_BITS.held) == 0
    assert result.gap[sound][:, normals].max() < 1e-10
    E = result.energy.sum(1)
    assert E.max() <= E[0] + 0.02 * abs(E[0])


def test_the_humanoid_stands_on_its_feet_until_it_falls() -> None:
    """Eight corners with friction under two feet: they carry its weight, and do not slip while it sags."""
    fig = library.humanoid()
    q, force, states = run(fig, 15, 0.005)
    names = fig.compiled.link_names
    normals = [k for k, name in enumerate(names) if f"{name}.slip1" in names]
    weight = g * sum(b.mass for b in fig.bodies)
    assert force[:, normals].sum(1).min() > 0.1 * weight
    assert force[:, normals].sum(1).max() < 2.0 * weight
    assert not (states == 2).any()
    assert q[-1, 2] < q[0, 2]


def test_a_plane_may_be_carried() -> None:
    """On a tray that moves along with less than μg nothing slips; with more it stays behind."""
    for a, stays in ((0.9 * 0.3 * g, True), (1.3 * 0.3 * g, False)):
        fig = figure(
            "waiter", tx("x", ty("y", tz("cup", body(0.3, inertia=(1e-4,) * 3), start=0.02))), tx("tray", kinematic=True),
            contacts=[contact("foot", ("cup", (0, 0, -0.02)), "tray", friction=0.3)],
        )  # fmt: skip
        dt, t = 0.002, 0.002 * np.arange(1, 251)
        steps = Simulation(fig, dt=dt).run((0.5 * a * t**2)[:, None])
        behind = steps.q[-1, 3] - steps.q[-1, 0]
        if stays:
            assert abs(behind) < 1e-9
        else:
            np.testing.assert_allclose(behind, 0.5 * (a - 0.3 * g) * 0.5**2, rtol=0.02)
