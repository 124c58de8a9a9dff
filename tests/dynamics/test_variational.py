"""The step: no drift of energy, exact momenta, second order."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, momentum
from bunraku.dynamics.step_derivatives import step_once
from bunraku.figure import Figure, library
from bunraku.figure.build import ball, body, capsule, figure, free, rx, ry, spring, tx
from bunraku.kinematics import pose

Array = NDArray[np.float64]


def at_rest(simulation: Simulation, steps: int, forces: Array | None = None) -> Array:
    """Rows for a puppeteer who does nothing."""
    return np.repeat(simulation.q[simulation.figure.n_dynamic :][None], steps, 0)


def floating(*, gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Figure:
    """A body with two limbs and an odd spring between them, that nothing holds."""
    return figure(
        "floating",
        free(
            "torso", body(2.0, (0.01, 0.02, 0.03), (0.02, 0.03, 0.04, 1e-3, 2e-3, -1e-3)),
            ball("left", capsule(0.02, to=(0, 0, -0.3), mass=0.5), at=(-0.1, 0, 0)),
            rx(
                "right", capsule(0.02, to=(0, 0.2, -0.3), mass=0.4),
                ry("hand", body(0.2, (0, 0, -0.1), (1e-3,) * 3), at=(0, 0.2, -0.3)), at=(0.1, 0, 0.1),
            ),
        ),
        springs=[spring("band", ("left", (0, 0, -0.3)), ("hand", (0, 0, -0.1)), 8.0, 0.2, 0.5)],
        gravity=gravity,
    )  # fmt: skip


# -- energy --------------------------------------------------------------------------------------------------


def energies(fig: Figure, steps: int, dt: float) -> Array:
    simulation = Simulation(fig, dt=dt)
    return np.asarray(simulation.run(at_rest(simulation, steps)).energy.sum(1))


def assert_no_drift(total: Array) -> None:
    """The fitted line rises by no more than its own uncertainty, taken from the means of twenty stretches."""
    means = total[: len(total) // 20 * 20].reshape(20, -1).mean(1)
    t = np.arange(20) - 9.5
    slope = means @ t / (t @ t)
    rest = means - means.mean() - slope * t
    error = np.sqrt(rest @ rest / 18 / (t @ t))
    assert abs(slope) < 3.5 * error + 1e-15 * abs(means.mean()), (slope, error)


UNDAMPED = ("pendulum", "double_pendulum", "chain3", "arm2d")


@pytest.mark.parametrize("name", UNDAMPED)
def test_energy_does_not_drift(name: str) -> None:
    total = energies(library.named(name), 40_000, 0.005)
    assert np.ptp(total) < 0.03 * abs(total.mean())
    assert_no_drift(total)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNDAMPED)
def test_energy_does_not_drift_in_a_million_steps(name: str) -> None:
    total = energies(library.named(name), 1_000_000, 0.005)
    assert np.ptp(total) < 0.05 * abs(total.mean())
    assert_no_drift(total)


def test_the_wobble_of_energy_is_of_second_order() -> None:
    wobble = [np.ptp(energies(library.pendulum(), round(10 / dt), dt)) for dt in (0.02, 0.01, 0.005)]
    np.testing.assert_allclose(np.array(wobble[:-1]) / wobble[1:], 4.0, rtol=0.05)


# -- momentum ------------------------------------------------------------------------------------------------


def momentum_maps(fig: Figure, q: Array, p: Array) -> tuple[Array, Array]:
    """Linear momentum, and angular momentum about the origin, of a figure whose root is a free joint."""
    root = next(joint for joint in fig.groups if joint.kind == "free")
    names = [fig.frame(frame).variable.name for frame in root.frames]  # type: ignore[union-attr]
    here, rows = pose(fig, q), fig.indices(names)
    linear = p[rows[:3]]
    axes = here.jacobian(root.frames[-1])[3:, rows[3:]]
    about_root = np.linalg.solve(axes.T, p[rows[3:]])
    return linear, about_root + np.cross(here.X(root.frames[-1])[:3, 3], linear)


def momenta(dt: float) -> tuple[Array, Array]:
    """Errors of linear and angular momentum along three seconds of floating, while balls are in their own charts."""
    fig = floating()
    v = np.random.default_rng(1).normal(size=fig.n_q) * 0.3
    simulation = Simulation(fig, v=v, dt=dt)
    linear, angular = momentum_maps(fig, simulation.q, momentum(fig, simulation.q, v))
    steps = simulation.run(at_rest(simulation, round(3.0 / dt)))
    assert not steps.bits.any()
    assert np.ptp(steps.q, 0).max() > 1.0
    now = [momentum_maps(fig, q, p) for q, p in zip(steps.q, steps.momentum, strict=True)]
    return np.array([a for a, _ in now]) - linear, np.array([b for _, b in now]) - angular


def test_momenta_of_a_floating_figure_stay() -> None:
    """Shifts, and turns about the vertical, are symmetries of the rule itself; other turns only of what it approximates."""
    linear, angular = momenta(0.01)
    assert np.abs(linear).max() < 1e-10
    assert np.abs(angular[:, 2]).max() < 1e-10
    coarse, fine = np.abs(angular[:, :2]).max(), np.abs(momenta(0.005)[1][:, :2]).max()
    assert coarse < 1e-5
    np.testing.assert_allclose(coarse / fine, 4.0, rtol=0.1)


def test_gravity_adds_to_momentum_what_it_must() -> None:
    fig = floating(gravity=(0.3, 0.0, -9.0))
    simulation = Simulation(fig, dt=0.01)
    steps = simulation.run(at_rest(simulation, 50))
    mass = sum(b.mass for b in fig.bodies)
    np.testing.assert_allclose(steps.momentum[-1, :3], 0.5 * mass * np.array([0.3, 0.0, -9.0]), atol=1e-11)


def test_wires_and_strings_inside_a_figure_keep_its_momentum() -> None:
    """Forces of links that hold two parts of one floating figure together come in pairs."""
    from bunraku.figure.build import string

    fig = figure(
        "bolas",
        free("one", body(0.5, inertia=(1e-3,) * 3)), free("two", body(0.7, inertia=(2e-3,) * 3), start=(0.4, 0, 0, 0, 0, 0)),
        strings=[string("cord", ("one", (0.01, 0, 0)), ("two", (0, 0.02, 0)), 0.5)], gravity=(0, 0, 0),
    )  # fmt: skip
    v = np.array([0.0, 0.5, 0, 0, 0.2, 0, 0.3, -0.4, 0.1, 0, 0, 0.3])
    simulation = Simulation(fig, v=v, dt=0.01)
    p0 = momentum(fig, simulation.q, v)
    steps = simulation.run(at_rest(simulation, 300))
    assert (steps.impulse > 0.0).any()
    assert (steps.states == 0).any()
    np.testing.assert_allclose(steps.momentum[:, :3] + steps.momentum[:, 6:9], p0[:3] + p0[6:9] + np.zeros((300, 1)), atol=1e-12)


# -- order ---------------------------------------------------------------------------------------------------


def end(fig: Figure, dt: float, share: float, duration: float = 0.64) -> Array:
    simulation = Simulation(fig, dt=dt, share=share)
    return simulation.run(at_rest(simulation, round(duration / dt))).q[-1]


def orders(fig: Figure, share: float) -> Array:
    """Observed orders, from errors against a run with much smaller steps."""
    exact = end(fig, 1e-4, 0.5)
    off = np.array([np.abs(end(fig, dt, share) - exact).max() for dt in (0.016, 0.008, 0.004)])
    return np.log2(off[:-1] / off[1:])


DAMPED = (
    lambda: library.double_pendulum(damping=0.4), lambda: library.chain(4, damping=0.2), lambda: library.arm2d(damping=0.05),
    library.marionette22, floating,
)  # fmt: skip


@pytest.mark.parametrize("make", DAMPED, ids=["double_pendulum", "chain", "arm2d", "marionette22", "floating"])
def test_second_order_with_damping(make: object) -> None:
    np.testing.assert_allclose(orders(make(), 0.5), 2.0, atol=0.2)  # type: ignore[operator]


def test_second_order_without_damping() -> None:
    np.testing.assert_allclose(orders(library.double_pendulum(), 0.5), 2.0, atol=0.1)


def test_the_rule_of_the_reference_is_of_first_order_with_damping() -> None:
    np.testing.assert_allclose(orders(library.double_pendulum(damping=0.4), 1.0), 1.0, atol=0.2)


# -- symmetries and corners ----------------------------------------------------------------------------------


def test_a_step_can_be_taken_back() -> None:
    """Without damping the rule is symmetric: from (q1, −p1) the step leads to (q0, −p0)."""
    fig = library.chain(6)
    rng = np.random.default_rng(2)
    q0, p0 = fig.start + rng.normal(size=6), rng.normal(size=6)
    there = step_once(fig, q0, p0, np.zeros(0), dt=0.01)
    back = step_once(fig, there.q, -there.momentum, np.zeros(0), dt=0.01)
    np.testing.assert_allclose(back.q, q0, atol=1e-12)
    np.testing.assert_allclose(back.momentum, -p0, atol=1e-10)


def test_far_from_home_steps_are_as_good() -> None:
    """A kilometre away the same thing happens, as far as numbers of that size can tell."""
    fig = library.marionette25()
    away = fig.start.copy()
    for k, name in enumerate(fig.names):
        if name == "torso_tx" or name.endswith("_x"):
            away[k] += 1000.0
    runs = []
    for q in (fig.start, away):
        simulation = Simulation(fig, q, dt=0.01)
        K = at_rest(simulation, 100)
        K[:, -1] -= 0.1 * np.linspace(0, 1, 100)
        steps = simulation.run(K)
        assert not (steps.bits & ~1).any()
        runs.append(steps.q)
    np.testing.assert_allclose(runs[1] - away, runs[0] - fig.start, atol=1e-7)


def test_a_massless_variable_is_refused() -> None:
    from bunraku.errors import BunrakuError

    fig = figure("loose", tx("slide", body(1.0), rx("flap")))
    with pytest.raises(BunrakuError, match="no mass moves with flap"):
        Simulation(fig)
    held = figure("held", tx("slide", body(1.0), rx("flap")), springs=[spring("s", "flap", "world", 1.0)])
    with pytest.raises(BunrakuError, match="no mass moves with flap"):
        Simulation(held)
