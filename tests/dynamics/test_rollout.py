"""Whole rollouts: nothing that a puppeteer does breaks them, and they say what they made of it."""

from __future__ import annotations

import collections

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, Steps
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Figure, library
from bunraku.figure.build import body, figure, spindle, string, tx, ty, tz
from bunraku.kinematics import pose

Array = NDArray[np.float64]
MARIONETTES = ("marionette25", "marionette22")


def puppeteer(fig: Figure, seed: int, steps: int = 300, dt: float = 0.01) -> Array:
    """Lively; and by turns also jumping by a metre, winding a string to nothing, trembling, or tearing at everything."""
    rng, n = np.random.default_rng(seed), fig.n_dynamic
    t, K = dt * np.arange(1, steps + 1), np.repeat(fig.start[n:][None], steps, 0)
    lengths = np.array([k for k, name in enumerate(fig.kinematic) if name.endswith("length")])
    places = np.setdiff1d(np.arange(K.shape[1]), lengths)
    size = np.full(K.shape[1], 0.08)
    size[lengths] = 0.1
    for k in range(K.shape[1]):
        for _ in range(3):
            K[:, k] += size[k] / 3 * rng.normal() * np.sin(rng.uniform(1, 9) * t + rng.uniform(0, 6)) * (1 - np.exp(-2 * t))
    match seed % 6:
        case 1:  # jumps of a metre
            for _ in range(4):
                K[rng.integers(steps // 10, steps) :, rng.integers(K.shape[1])] += rng.choice([-1.0, 1.0])
        case 2:  # a length to zero
            K[:, rng.choice(lengths)] *= np.clip(1 - 1.5 * t / t[-1], 0, 1)
        case 3:  # trembling hands
            K[:, places] += 0.02 * rng.normal(size=(steps, len(places)))
            K[:, lengths] += 0.05 * rng.normal(size=(steps, len(lengths)))
        case 4:  # a string torn to nothing, a spindle thrown away
            K[steps // 2 :, rng.choice(lengths)] = 0.0
            K[steps // 3 :, rng.choice(places)] = 5.0 * rng.normal()
        case 5:  # everything wound up at once, or let go at once
            K[steps // 2 :, lengths] += rng.choice([-2.0, 3.0])
    K[:, lengths] = np.maximum(K[:, lengths], 0.0)
    return K


def survive(fig: Figure, K: Array) -> tuple[Simulation, Steps]:
    simulation = Simulation(fig)
    steps = simulation.run(K, np.zeros((len(K), len(fig.forces))))
    ropes = len(fig.strings)
    for part in (steps.q, steps.momentum, steps.impulse, steps.gap, steps.energy):
        assert np.isfinite(part).all()
    assert not (steps.bits & STEP_BITS.frozen).any()
    assert steps.impulse[:, :ropes].min() >= 0.0
    assert steps.gap[:, :ropes].max() < 1e-9
    assert not steps.impulse[steps.gap < -1e-9].any()
    asked = np.abs(steps.q[:, fig.n_dynamic :] - K).max(1) > 0.0
    assert (steps.bits[asked] & STEP_BITS.held).all()  # the puppeteer gets what he asks for, or is told
    return simulation, steps


def wild(count: int) -> list[tuple[str, int]]:
    return [(name, seed) for name in MARIONETTES for seed in range(count)]


@pytest.mark.parametrize(("name", "seed"), wild(6))
def test_puppeteers_lively_and_absurd(name: str, seed: int) -> None:
    fig = library.named(name)
    survive(fig, puppeteer(fig, seed))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [(name, seed) for name, seed in wild(100) if seed >= 6])
def test_two_hundred_puppeteers(name: str, seed: int) -> None:
    """A minute each."""
    fig = library.named(name)
    survive(fig, puppeteer(fig, seed, 6000))


def test_lively_motion_needs_no_crutches() -> None:
    """A minute of hopping and waving with slack and catches: plain steps, a few of them divided."""
    for name in MARIONETTES:
        fig = library.named(name)
        _, steps = survive(fig, puppeteer(fig, 0, 6000))
        assert (steps.states[:, : len(fig.strings)] == 0).any()
        kinds = collections.Counter((steps.bits & ~STEP_BITS.recharted).tolist())
        assert kinds[0] + kinds[STEP_BITS.retried] > 0.97 * 6000
        assert set(kinds) <= {0, STEP_BITS.retried, STEP_BITS.divided, STEP_BITS.divided | STEP_BITS.retried}


def test_a_spindle_below_the_floor() -> None:
    """The whole rig lowered by three metres, below the puppet: it hangs from it all the same."""
    fig = library.marionette25()
    low = fig.replace(frames=tuple(
        f.__class__(f.name, f.parent, (*f.position[:2], f.position[2] - 3.0), f.rotation, f.variable) if f.position[2] == 1.3 else f
        for f in fig.frames
    ))  # fmt: skip
    q = fig.start.copy()
    for string_ in low.strings:
        q[low.index(string_.variable)] = 0.0
    q[[low.index(s.variable) for s in low.strings]] = pose(low, q).gaps + 1e-3
    steps = Simulation(low, q).run(np.repeat(q[low.n_dynamic :][None], 600, 0))
    assert not (steps.bits & (STEP_BITS.held | STEP_BITS.frozen)).any()
    assert steps.q[-1, 2] < q[2] - 1.0


# -- held ----------------------------------------------------------------------------------------------------


def bob(reach: float = 0.5) -> Figure:
    """On a fixed tether and on a string that the puppeteer winds."""
    return figure(
        "bob", tx("x", ty("y", tz("bob", body(0.4), start=-0.3))), spindle("hand", at=(0.5, 0, 0.0)),
        strings=[string("tether", "bob", "world", reach), string("pull", "bob", "hand_spindle")],
    )  # fmt: skip


def test_the_unreachable_is_held_and_reported() -> None:
    """Wound shorter than the tether lets it: as near as it gets, the string's own length is what was held."""
    fig = bob()
    simulation = Simulation(fig)
    K = np.repeat(fig.start[3:][None], 400, 0)
    K[:, 0] = np.linspace(0.5, 1.5, 400)  # the hand goes a metre away, the string stays 0.58 m long
    steps = simulation.run(K)
    held = simulation.held(steps)
    assert {one.link for one in held} == {"pull"}
    first = held[0].step
    assert 1.0 < K[first, 0] < 1.15  # beyond 0.5 + 0.58 nothing reaches
    assert steps.gap.max() < 1e-9
    x = steps.q[-1, :3]
    np.testing.assert_allclose(np.linalg.norm(x), 0.5, atol=1e-9)
    assert x[0] > 0.49
    assert steps.impulse.min() >= 0.0
    by = held[-1].by
    np.testing.assert_allclose(by, 1.5 - 0.5 - K[-1, 2], atol=0.35)


def test_after_it_is_held_it_goes_on() -> None:
    """Asked for what can be had again, the puppeteer gets it at once."""
    fig = bob()
    simulation = Simulation(fig)
    K = np.repeat(fig.start[3:][None], 300, 0)
    K[:, 0] = 0.8
    K[:, 2] = 0.6
    K[50:150, 2] = 0.0
    steps = simulation.run(K)
    assert (steps.bits[60:149] & STEP_BITS.held).all()
    assert not (steps.bits[151:] & (STEP_BITS.held | STEP_BITS.frozen)).any()
    np.testing.assert_allclose(steps.q[151:, 3:], K[151:], atol=0.0)
    assert steps.gap.max() < 1e-9


def test_strings_that_contradict_each_other() -> None:
    """Two hands pull one point apart: both are held, the point stays between them."""
    fig = figure(
        "torn", tx("x", ty("y", tz("bob", body(0.4), start=-0.3))),
        spindle("left", at=(-0.5, 0, 0)), spindle("right", at=(0.5, 0, 0)),
        strings=[string("l", "bob", "left_spindle"), string("r", "bob", "right_spindle")],
    )  # fmt: skip
    simulation = Simulation(fig)
    K = np.repeat(fig.start[3:][None], 200, 0)
    K[:, 4:] = np.linspace(K[0, 4], 0.2, 200)[:, None]
    steps = simulation.run(K)
    assert {one.link for one in simulation.held(steps)} == {"l", "r"}
    assert not (steps.bits & STEP_BITS.frozen).any()
    assert abs(steps.q[-1, 0]) < 1e-3
    assert abs(steps.q[-1, 2]) < 0.02
    assert steps.gap.max() < 1e-10


# -- bookkeeping ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MARIONETTES)
def test_a_run_in_parts_is_the_same_run(name: str) -> None:
    fig = library.named(name)
    K = puppeteer(fig, 3, 240)
    whole, parts = Simulation(fig), Simulation(fig)
    a = whole.run(K)
    b = [parts.run(K[k : k + 64]) for k in range(0, 192, 64)] + [parts.run(K[192:])]
    for field in ("q", "momentum", "impulse", "energy", "states", "bits"):
        np.testing.assert_array_equal(getattr(a, field), np.concatenate([getattr(part, field) for part in b]))
    np.testing.assert_allclose(a.gap, np.concatenate([part.gap for part in b]), atol=1e-14)
    assert whole.t == pytest.approx(parts.t)


def test_a_copy_goes_its_own_way() -> None:
    fig = library.marionette25()
    K = puppeteer(fig, 0, 100)
    simulation = Simulation(fig)
    simulation.run(K[:50])
    other = simulation.copy()
    expected = simulation.run(K[50:]).q
    other.run(K[50:][::-1].copy())
    again = Simulation(fig)
    again.run(K[:50])
    np.testing.assert_array_equal(again.copy().run(K[50:]).q, expected)
    assert not np.array_equal(other.q, simulation.q)


def test_what_is_wrong_is_refused() -> None:
    fig = library.marionette25()
    K = puppeteer(fig, 0, 5)
    with pytest.raises(BunrakuError, match="21 kinematic variables"):
        Simulation(fig).run(K[:, :4])
    with pytest.raises(NotFinite):
        Simulation(fig).run(np.where(np.arange(21) == 3, np.nan, K))
    with pytest.raises(NotFinite):
        Simulation(library.cart_pendulum()).run(np.zeros((1, 0)), [[np.inf]])
    with pytest.raises(BunrakuError, match="force inputs"):
        Simulation(library.cart_pendulum()).run(np.zeros((2, 0)), [[1.0]])
    with pytest.raises(BunrakuError, match="time step"):
        Simulation(fig, dt=0.0)
    with pytest.raises(NotFinite):
        Simulation(fig, np.full(fig.n_q, np.nan))
    short = fig.start.copy()
    short[fig.index("head_length")] -= 0.1
    with pytest.raises(BunrakuError, match=r"head by 0\.1 m"):
        Simulation(fig, short)


def test_no_steps_are_no_trouble() -> None:
    fig = library.marionette25()
    steps = Simulation(fig).run(np.zeros((0, 21)))
    assert steps.q.shape == (0, 46)
