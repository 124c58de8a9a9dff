"""Ball joints turn through every orientation; nobody outside sees that a chart moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from bunraku.collision.manifold.touch_rules import Touch
from bunraku.dynamics import Simulation, momentum
from bunraku.dynamics.fast_turns import FAST_TURNS
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.figure import Figure
from bunraku.figure.build import ball, body, capsule, figure, fixed, free, ry
from bunraku.kinematics import pose

Array = NDArray[np.float64]
INERTIA = np.array([0.02, 0.03, 0.045])


def top() -> Figure:
    return figure("top", free("body", body(1.0, inertia=tuple(INERTIA))), gravity=(0, 0, 0))


def angular_momentum(simulation: Simulation) -> Array:
    """Of the free body, in the world, out of whatever chart it is in now."""
    (a, b, _), C = simulation._q[0, 3:6], simulation._charts[0]
    first, second = Rotation.from_euler("Z", a), Rotation.from_euler("ZY", [a, b])
    axes = np.stack([[0.0, 0.0, 1.0], first.apply([0, 1, 0]), second.apply([1, 0, 0])])
    return np.asarray(C @ np.linalg.solve(axes, simulation._p[3:6]))


def tumble(dt: float, steps: int, chunks: int = 100) -> tuple[Array, Array, Array, int]:
    """Angular momenta, energies, heights of the body's own z axis, and how often a chart moved."""
    simulation = Simulation(top(), v=[0.1, 0.2, -0.1, 0.1, 2.0, 0.3], dt=dt)
    J, E, up, moved = [angular_momentum(simulation)], [], [], 0
    for _ in range(chunks):
        part = simulation.run(np.zeros((steps // chunks, 0)))
        assert not (part.bits & ~STEP_BITS.recharted).any()
        assert np.abs(np.diff(part.q, axis=0)).max() < 3.5  # beside a pole angles turn by half a turn, never by whole ones
        J.append(angular_momentum(simulation))
        E.append(part.energy.sum(1))
        up.append(Rotation.from_euler("ZYX", part.q[:, 3:6]).apply([0, 0, 1]))
        moved += int(np.count_nonzero(part.bits & STEP_BITS.recharted))
    return np.array(J), np.concatenate(E), np.concatenate(up), moved


def test_a_tumbling_body_feels_no_singular_orientation() -> None:
    J, E, up, moved = tumble(0.01, 20_000)
    assert moved > 50
    assert up[:, 2].min() < -0.95
    assert up[:, 2].max() > 0.95
    assert np.ptp(E) < 5e-3 * E.mean()
    assert np.abs(J - J[0]).max() < 1e-9 * np.linalg.norm(J[0])


def test_energies_told_of_a_tumbling_body_are_of_second_order() -> None:
    """They are those of angles in the middle of a step; its angular momentum stays."""
    coarse, fine = tumble(0.01, 10_000), tumble(0.0025, 40_000)
    assert np.ptp(coarse[1]) / np.ptp(fine[1]) > 10.0
    for J, *_ in (coarse, fine):
        assert np.abs(J - J[0]).max() < 1e-8 * np.linalg.norm(J[0])


@pytest.mark.slow
def test_a_body_tumbles_for_a_hundred_thousand_steps() -> None:
    J, E, _, moved = tumble(0.002, 100_000)
    assert moved > 100
    assert np.ptp(E) < 1e-4 * E.mean()
    assert np.abs(J - J[0]).max() < 1e-8 * np.linalg.norm(J[0])


def test_it_tumbles_as_euler_says() -> None:
    """Against Euler's equations and the orientation that they drive, through several charts."""
    w0 = np.array([0.05, 2.0, 0.02])  # about the middle axis: it flips
    simulation = Simulation(top(), v=[0, 0, 0, w0[2], w0[1], w0[0]], dt=1e-3)
    steps = simulation.run(np.zeros((8000, 0)))
    assert np.count_nonzero(steps.bits & STEP_BITS.recharted) > 3

    def rate(_: float, y: Array) -> Array:
        w, Q = y[:3], y[3:]
        x, z = Q[1:], 0.5
        return np.concatenate([np.cross(INERTIA * w, w) / INERTIA, [-z * x @ w], z * (Q[0] * w + np.cross(x, w))])

    exact = solve_ivp(rate, (0.0, 8.0), [*w0, 1.0, 0, 0, 0], rtol=1e-11, atol=1e-12, dense_output=True)
    for k in (999, 3999, 7999):
        Q = exact.sol(1e-3 * (k + 1))[3:]
        there, here = Rotation.from_quat([*Q[1:], Q[0]]), Rotation.from_euler("ZYX", steps.q[k, 3:6])
        assert (there.inv() * here).magnitude() < 1e-4


def euler(I: Array, w: Array, R: Rotation, times: NDArray[Any]) -> Rotation:
    """Orientations at these times of a free body with the moments of inertia I that begins at R and turns at w, seen by itself."""

    def rate(_: float, y: Array) -> Array:
        w, Q = y[:3], y[3:]
        return np.concatenate([np.cross(I * w, w) / I, [-0.5 * Q[1:] @ w], 0.5 * (Q[0] * w + np.cross(Q[1:], w))])

    x, y, z, s = R.as_quat()
    found = solve_ivp(rate, (0.0, times[-1]), [*w, s, x, y, z], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times)
    return Rotation.from_quat(found.y[[4, 5, 6, 3]].T)


def fast_tumbler(seed: int, *, steps: int, touch: bool = False) -> tuple[float, float, float, float]:
    """A random body, orientation, time step, and spin of up to 200 rad/s.

    Returns how far it turns in a step or a part of one [rad], the largest relative errors of energy and angular momentum, and how
    far it is from where Euler's equations bring it in ten steps [rad].
    """
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(0.1, 1.0, 3)
    I, R = 1e-3 * np.array([b + c, a + c, a + b]), Rotation.from_euler("ZYX", rng.uniform(-1.2, 1.2, 3) * [2, 1, 2])
    w, dt = rng.normal(size=3), float(rng.choice([1e-3, 2e-3, 5e-3, 1e-2]))
    w *= 10 ** rng.uniform(1.0, np.log10(200.0)) / np.linalg.norm(w)
    start = R.as_euler("ZYX")
    first, second = Rotation.from_euler("Z", start[0]), Rotation.from_euler("ZY", start[:2])
    axes = np.stack([[0.0, 0.0, 1.0], first.apply([0, 1, 0]), second.apply([1, 0, 0])])
    fig = figure("top", free("body", body(1.0, inertia=tuple(I)), start=(0, 0, 0, *start)), gravity=(0, 0, 0))
    v = np.concatenate([np.zeros(3), np.linalg.solve(axes.T, R.apply(w))])
    simulation = TouchSimulation(fig, v=v, scene=None, touch=Touch(), dt=dt) if touch else Simulation(fig, v=v, dt=dt)
    J, E = R.apply(I * w), 0.5 * I @ w**2
    off_J = off_E = off = 0.0
    exact = euler(I, w, R, dt * np.arange(1.0, 11.0))
    for k in range(steps):
        q = simulation.step().q[0]
        here, now = Rotation.from_euler("ZYX", q[3:6]), angular_momentum(simulation)
        off_J = max(off_J, float(np.linalg.norm(now - J) / np.linalg.norm(J)))
        off_E = max(off_E, abs(0.5 * np.sum(here.inv().apply(now) ** 2 / I) / E - 1.0))
        if k == 9:
            off = float((exact[-1].inv() * here).magnitude())
    turn = float(np.linalg.norm(w)) * dt
    return min(turn, FAST_TURNS.part), off_E, off_J, off / turn


@pytest.mark.parametrize("seed", range(6))
def test_fast_bodies_keep_energy_and_angular_momentum(seed: int) -> None:
    """To the last digits, whatever the orientation; where they are errs by the square of the turn in a step."""
    turn, off_E, off_J, off = fast_tumbler(seed, steps=400)
    assert max(off_E, off_J) < 1e-8
    assert off < 0.5 * turn**2


@pytest.mark.slow
@pytest.mark.parametrize("touch", [False, True])
def test_many_fast_bodies_keep_energy_and_angular_momentum(touch: bool) -> None:
    for seed in range(100, 160):
        turn, off_E, off_J, off = fast_tumbler(seed, steps=600, touch=touch)
        assert max(off_E, off_J) < 1e-8, seed
        assert off < 0.5 * turn**2, seed


@pytest.mark.parametrize("touch", [False, True])
def test_a_hammer_that_is_thrown_spins_about_its_centre_of_mass(touch: bool) -> None:
    """The centre goes along a parabola, and the spin about it keeps its angular momentum and energy."""
    I, c, w = np.array([2e-3, 3e-3, 1.2e-3]), np.array([0.03, -0.12, 0.2]), np.array([20.0, -30.0, 50.0])
    fig = figure("hammer", free("hammer", body(0.7, tuple(c), tuple(I)), start=(0, 0, 50, 0, 0, 0)))
    v = np.array([1.0, 2.0, 3.0, *w[::-1]])
    simulation = TouchSimulation(fig, v=v, scene=None, touch=Touch(), dt=5e-3) if touch else Simulation(fig, v=v, dt=5e-3)
    q, t = simulation.run(np.zeros((300, 0))).q, 5e-3 * np.arange(1.0, 301.0)[:, None]
    R = Rotation.from_euler("ZYX", q[:, 3:6])
    way = [0.0, 0.0, 50.0] + c + (v[:3] + np.cross(w, c)) * t - 0.5 * 9.81 * np.array([0.0, 0.0, 1.0]) * t**2
    np.testing.assert_allclose(q[:, :3] + R.apply(c), way, atol=1e-9)
    energy = 0.5 * np.sum(R.inv().apply(I * w) ** 2 / I, 1)  # by the angular momentum that it began with
    np.testing.assert_allclose(energy, 0.5 * np.sum(I * w * w), rtol=1e-8)


@pytest.mark.parametrize("off", [0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-3])
def test_a_body_may_start_beside_the_pole(off: float) -> None:
    """It moves as Euler says, and its angles tell the orientation that it has, though two of them hardly mean anything there."""
    start, rates = np.array([0.7, 0.5 * np.pi - off, -0.4]), np.array([3.0, 2.0, -1.0])
    first, second = Rotation.from_euler("Z", start[0]), Rotation.from_euler("ZY", start[:2])
    turning = np.stack([[0.0, 0.0, 1.0], first.apply([0, 1, 0]), second.apply([1, 0, 0])]).T
    R = Rotation.from_euler("ZYX", start)
    fig = figure("top", free("body", body(1.0, inertia=tuple(INERTIA)), start=(0, 0, 0, *start)), gravity=(0, 0, 0))
    simulation = Simulation(fig, v=[0, 0, 0, *rates], dt=1e-3)
    w = R.inv().apply(turning @ rates)
    np.testing.assert_allclose(angular_momentum(simulation), R.apply(INERTIA * w), rtol=1e-12)
    exact = euler(INERTIA, w, R, 1e-3 * np.arange(1.0, 51.0))
    for k in range(50):
        here = Rotation.from_euler("ZYX", simulation.step().q[0, 3:6])
        own = Rotation.from_matrix(simulation._charts[0]) * Rotation.from_euler("ZYX", simulation._q[0, 3:6])
        assert (here.inv() * own).magnitude() < 1e-9
        assert (exact[k].inv() * here).magnitude() < 1e-5
    rests = Simulation(fig, dt=1e-2)
    rests.run(np.zeros((100, 0)))
    assert (R.inv() * Rotation.from_euler("ZYX", rests.q[3:6])).magnitude() < 1e-9


def test_a_push_means_the_same_in_every_chart() -> None:
    """Between steps, on a body that tumbles: the momentum of an angle is that about the axis of this angle."""
    simulation = Simulation(top(), v=[0, 0, 0, 20.0, 5.0, -8.0], dt=1e-2)
    simulation.run(np.zeros((37, 0)))
    assert not simulation.is_at_home(np.arange(6))
    before, push = angular_momentum(simulation), np.array([0.1, -0.2, 0.3])
    simulation.push([3, 4, 5], push)
    a, b = simulation.q[3:5]
    axes = np.stack([[0.0, 0.0, 1.0], [-np.sin(a), np.cos(a), 0.0], [np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), -np.sin(b)]])
    np.testing.assert_allclose(axes @ (angular_momentum(simulation) - before), push, atol=1e-9)


def leaning(turn: tuple[float, float, float]) -> Figure:
    """A heavy arm on a ball joint whose zero is turned: the same arm, seen from another chart."""
    back = tuple(Rotation.from_euler("xyz", turn).inv().as_euler("xyz"))
    return figure(
        "leaning",
        fixed(
            "mount",
            ball("joint", fixed("arm", capsule(0.03, to=(0, 0, -0.4), mass=1.0),
                 ry("flap", body(0.2, (0.05, 0, -0.1), (1e-3, 1e-3, 2e-3)), at=(0, 0, -0.4)), rpy=back)), rpy=turn,
        ),
    )  # fmt: skip


def test_the_zero_of_a_ball_joint_does_not_matter() -> None:
    """Two descriptions of one arm move alike, to second order, although they pass their singular angles at different times."""
    away = []
    for dt in (2e-3, 1e-3):
        ends, moved = [], []
        for turn in ((0.0, 0.0, 0.0), (1.2, 0.7, -0.4)):
            fig = leaning(turn)
            # the same spin in the world, whatever the angles are called
            J = pose(fig).jacobian("arm")[3:, :3]
            v = np.append(np.linalg.solve(J, [7.0, 5.0, 3.0]), 1.0)
            simulation = Simulation(fig, v=v, dt=dt)
            moved.append((simulation.run(np.zeros((round(0.8 / dt), 0))).bits & STEP_BITS.recharted).any())
            ends.append(pose(fig, simulation.q).X("flap"))
        assert moved == [True, False]
        away.append(np.abs(ends[1] - ends[0]).max())
    assert away[0] < 5e-3
    np.testing.assert_allclose(away[0] / away[1], 4.0, rtol=0.05)


def test_a_chart_that_moves_changes_nothing_physical() -> None:
    """Angles outside continue; energy, as charts see it half-way through a step, jumps by no more than their second order."""
    fig, jumps = leaning((0.0, 0.0, 0.0)), []
    for dt in (1e-3, 5e-4):
        simulation = Simulation(fig, v=[3.0, 9.0, 2.0, 0.5], dt=dt)
        steps = simulation.run(np.zeros((round(1.5 / dt), 0)))
        moved = np.flatnonzero(steps.bits & STEP_BITS.recharted)
        assert len(moved) > 2
        assert np.abs(np.diff(steps.q, axis=0))[moved[:-1]].max() < 0.2
        jumps.append(np.abs(np.diff(steps.energy.sum(1))).max())
    assert jumps[0] < 1e-3
    assert jumps[0] / jumps[1] > 3.5


def test_home_again() -> None:
    """Back at small angles the momentum is that of the angles as they are named."""
    fig = leaning((0.0, 0.0, 0.0)).replace(gravity=(0.0, 0.0, 0.0))
    simulation = Simulation(fig, v=[0.0, 5.0, 0.0, 0.0], dt=1e-3)
    for _ in range(3000):
        steps = simulation.run(np.zeros((1, 0)))
        q = simulation.q
        if np.abs(np.sin(q[1])) < 0.1 and simulation.t > 0.5:
            break
    v = (simulation._q[0] - simulation._q[1]) / 1e-3
    assert np.array_equal(simulation._charts[0], np.eye(3))
    np.testing.assert_allclose(steps.momentum[0], momentum(fig, q, v), atol=2e-3)
