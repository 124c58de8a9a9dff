"""Simulation: the state between steps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, settle, simulate
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.figure.build import body, closure, contact, effort, figure, rx, spindle, string, tx, tz, wire
from tests.dynamics.test_rollout import puppeteer

Array = NDArray[np.float64]


def test_step_by_step_is_the_run() -> None:
    fig = library.marionette25()
    K = puppeteer(fig, 0, 60)
    whole, single = Simulation(fig), Simulation(fig)
    steps = whole.run(K)
    for k, row in enumerate(K):
        np.testing.assert_allclose(single.step(row).q[0], steps.q[k], atol=1e-9)
    assert single.t == pytest.approx(0.6)


def test_told_nothing_it_stays_where_it_is() -> None:
    fig = library.marionette25()
    simulation = Simulation(fig, settle(fig))
    before = simulation.q
    for _ in range(20):
        simulation.step()
    np.testing.assert_allclose(simulation.q, before, atol=1e-8)


def test_tension_now() -> None:
    """The weight, from the first step on; a wire that holds from below pushes."""
    for make, sign in ((string, 1.0), (wire, -1.0)):
        at = -0.4 * sign
        fig = figure("bob", tz("bob", body(0.5), start=at), strings=[make("s", "bob", "world", 0.4)])
        simulation = Simulation(fig)
        for _ in range(3):
            simulation.step()
            np.testing.assert_allclose(simulation.tension, [sign * 0.5 * 9.81], rtol=1e-9)


def test_forces_push_for_as_long_as_the_step() -> None:
    simulation = Simulation(figure("sled", tx("x", body(2.0)), forces=[effort("x")]))
    rows = simulation.run(np.zeros((1, 0)), [[3.0]])
    np.testing.assert_allclose(rows.momentum[0, 0], 0.03, atol=1e-12)


def test_its_configuration_is_a_copy() -> None:
    simulation = Simulation(library.pendulum())
    simulation.q[:] = 7.0
    assert simulation.q[0] == 0.7


def test_two_lie_on_their_own() -> None:
    """A copy shares nothing that moves; not even after both went on."""
    fig = library.arm3d()
    one = Simulation(fig)
    one.step()
    two = one.copy()
    kept = two.q
    for _ in range(5):
        one.step()
    np.testing.assert_array_equal(two.q, kept)
    np.testing.assert_array_equal(Simulation.copy(two).step().q, two.step().q)
    assert (two.figure, two.dt, two.share) == (one.figure, one.dt, one.share)


def test_batches_on_threads_are_the_same_runs() -> None:
    """Rollouts run outside Python's lock, and share nothing."""
    fig = library.marionette22()
    orders = [puppeteer(fig, seed, 200) for seed in range(8)]
    zeros = np.zeros((200, len(fig.forces)))
    single = [Simulation(fig).run(K, zeros).q for K in orders]
    with ThreadPoolExecutor(4) as pool:
        many = list(pool.map(lambda K: Simulation(fig).run(K, zeros).q, orders))
    for a, b in zip(single, many, strict=True):
        np.testing.assert_array_equal(a, b)


def test_held_names_the_string_and_by_how_much() -> None:
    """Wound to nothing below a second string of 0.3 m to the floor: 0.2 m are what can be had."""
    fig = figure(
        "bob", tz("bob", body(0.4), start=-0.5), spindle("hand", moves=""),
        strings=[string("leash", "bob", ("world", (0, 0, -0.5)), 0.3), string("cord", "bob", "hand_spindle")],
    )  # fmt: skip
    simulation = Simulation(fig)
    steps = simulation.run(np.linspace(0.5, 0.1, 200)[:, None])
    held = simulation.held(steps)
    assert {one.link for one in held} == {"cord"}
    first, last = held[0], held[-1]
    assert 0.5 - 0.4 * (first.step + 1) / 199 == pytest.approx(0.2, abs=0.01)
    assert last.by == pytest.approx(0.1, abs=1e-3)
    np.testing.assert_allclose(simulation.q[0], -0.2, atol=1e-4)


def test_what_cannot_start_is_refused_with_advice() -> None:
    fig = library.arm2d()
    short = fig.start.copy()
    short[-1] -= 0.2
    with pytest.raises(BunrakuError, match=r"hand by 0\.2 m\n  advice: lengthen"):
        Simulation(fig, short)
    rod = figure("rod", tz("bob", body(0.5), start=-0.4), strings=[wire("rod", "bob", "world", 0.5)])
    with pytest.raises(BunrakuError, match=r"rod by -0\.1 m"):
        Simulation(rod)
    with pytest.raises(BunrakuError):
        Simulation(fig, fig.start[:-1])


def test_a_start_that_the_first_step_would_tear_into_place_is_refused() -> None:
    """An open loop, a point below the floor, a joint beyond its stop: each would be thrown at gap/dt. At rest all are well."""
    at = {"x": 0.3, "z": -0.2}
    loop = figure(
        "loop", rx("crank", body(0.3, (0, 0, -0.1), (1e-3,) * 3), start=0.7), tz("block", body(0.2), start=-0.2),
        closures=[closure("pin", ("crank", (0, 0, -0.3)), "block", kind="plane")],
    )  # fmt: skip
    with pytest.raises(BunrakuError, match=r"the loop pin is open by 0\.0295\n  advice: give another q, or start from settle"):
        Simulation(loop)
    rest = settle(loop)
    assert np.abs(simulate(loop, q=rest, duration=0.2).q - rest).max() < 1e-8
    ball = figure("ball", tx("x", tz("z", body(1.0))), contacts=[contact("sole", "z")])
    with pytest.raises(BunrakuError, match=r"sole is 0\.2 m below its plane"):
        Simulation(ball, ball.configuration(**at))
    stop = figure("stop", rx("knee", body(1.0, (0, 0, -0.4)), limits=(-0.5, 0.5)))
    with pytest.raises(BunrakuError, match=r"knee is 0\.7 beyond its upper limit"):
        Simulation(stop, [1.2])
    with pytest.raises(BunrakuError, match=r"knee is 0\.1 beyond its lower limit"):
        Simulation(stop, [-0.6])
