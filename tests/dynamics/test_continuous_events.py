"""The continuous model with slack and impact events."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.dynamics import Simulation, settle, simulate
from bunraku.dynamics.continuous_events import impact, integrate
from bunraku.dynamics.quantities import gap_derivatives
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.figure.build import body, closure, contact, figure, rx, string, tx, ty, tz

g = 9.81


def bob(z: float = -0.2):  # type: ignore[no-untyped-def]
    return figure("bob", tx("x", ty("y", tz("bob", body(0.5), start=z))), strings=[string("cord", "bob", "world", 1.0)])


def test_a_dropped_bob_catches_on_time() -> None:
    motion = integrate(bob(), duration=0.8)
    caught = next(mark for mark in motion.marks if mark.kind == "impact")
    assert caught.t == pytest.approx(np.sqrt(1.6 / g), abs=1e-8)
    np.testing.assert_allclose(motion.q[-1, 2], -1.0, atol=1e-8)
    np.testing.assert_allclose(motion.tension[-1, 0], 0.5 * g, rtol=1e-8)


def test_energy_between_events_is_kept() -> None:
    motion = integrate(library.double_pendulum(), duration=5.0)
    E = motion.tracks[0].energy.sum(1)  # type: ignore[union-attr]
    assert np.ptp(E) < 1e-7


@pytest.mark.parametrize("name", ["arm2d", "arm3d"])
def test_the_step_converges_to_it(name: str) -> None:
    """Through slack and a catch: the string is let out fast, and what hangs on it falls into it."""
    fig = library.named(name)
    n, out = fig.n_dynamic, fig.index("hand_length") - fig.n_dynamic
    start = fig.start[n:]

    def hands(t: float):  # type: ignore[no-untyped-def]
        k, rate, second = start.copy(), np.zeros_like(start), np.zeros_like(start)
        s = min(t / 0.1, 1.0)
        k[out] += 0.12 * s * s * (3 - 2 * s)
        if t < 0.1:
            rate[out], second[out] = 0.12 * 6 * s * (1 - s) / 0.1, 0.12 * 6 * (1 - 2 * s) / 0.01
        return k, rate, second

    exact = integrate(fig, hands, duration=0.6, samples=200.0)
    assert "impact" in {mark.kind for mark in exact.marks}
    assert (exact.tension[:, 0] == 0.0).any()
    off = []
    for dt in (5e-3, 5e-4, 5e-5):
        motion = simulate(fig, lambda t: hands(t)[0], duration=0.6, dt=dt)
        off.append(np.abs(motion.q[:: round(5e-3 / dt)] - exact.q)[:, :n].max())
    assert off[0] < 2e-3
    assert off[1] < 0.2 * off[0]  # the time of the catch is known to a step: first order
    assert off[2] < 0.3 * off[1]


def test_an_impact_of_all_closed_strings() -> None:
    """Complementary: no string pulls below zero, none lengthens, and energy goes down by exactly what is lost along them."""
    fig = library.marionette25()
    rng = np.random.default_rng(3)
    for _ in range(20):
        v = np.zeros(fig.n_q)
        v[: fig.n_dynamic] = rng.normal(size=fig.n_dynamic)
        after, pull = impact(fig, fig.start, v)
        ropes = slice(0, len(fig.strings))
        A = gap_derivatives(fig, fig.start)[1]
        rate = (A @ after)[ropes]
        assert pull.min() >= 0.0
        assert rate.max() < 1e-9
        assert np.abs(pull[ropes] * rate).max() < 1e-9
        from bunraku.dynamics import energy

        assert energy(fig, fig.start, after)[0] <= energy(fig, fig.start, v)[0] + 1e-12


def test_friction_is_for_the_step() -> None:
    fig = figure("rubs", tx("x", tz("z", body(1.0))), contacts=[contact("foot", "z", friction=0.3)])
    with pytest.raises(BunrakuError, match="no friction"):
        integrate(fig, duration=0.1)
    assert Simulation(fig).step().q.shape == (1, 2)


def test_a_start_that_is_out_of_joint_is_refused() -> None:
    """The continuous model would keep an open loop open for ever, and go on."""
    loop = figure(
        "loop", rx("crank", body(0.3, (0, 0, -0.1), (1e-3,) * 3), start=0.7), tz("block", body(0.2), start=-0.2),
        closures=[closure("pin", ("crank", (0, 0, -0.3)), "block", kind="plane")],
    )  # fmt: skip
    with pytest.raises(BunrakuError, match="the loop pin is open by"):
        integrate(loop, duration=0.1)
    rest = settle(loop)
    assert np.abs(integrate(loop, q=rest, duration=0.1).q - rest).max() < 1e-6
