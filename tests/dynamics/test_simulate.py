"""simulate: motions with the tensions, gaps, energies and marks that belong to their samples."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, settle, simulate, simulate_many
from bunraku.dynamics.continuous_events import integrate
from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Figure, library
from bunraku.figure.build import body, contact, figure, spindle, string, tx, ty, tz
from bunraku.kinematics import pose
from bunraku.motion import Mark, Motion
from bunraku.progress import Progress

Array = NDArray[np.float64]
g = 9.81
module = sys.modules[simulate.__module__]


def bob(length: float = 0.8, at: tuple[float, float, float] = (0.0, 0.0, -0.8)) -> Figure:
    return figure(
        "bob", tx("x", ty("y", tz("bob", body(0.5), start=at[2]), start=at[1]), start=at[0]),
        strings=[string("cord", "bob", "world", length)],
    )  # fmt: skip


# -- samples -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 2, 50])
def test_a_hanging_mass_shows_its_weight_in_every_sample(steps: int) -> None:
    motion = simulate(bob(), duration=0.01 * steps)
    assert len(motion) == steps + 1
    np.testing.assert_allclose(motion.tension, 0.5 * g, rtol=1e-9)
    np.testing.assert_allclose(motion.q, motion.q[:1].repeat(len(motion), 0), atol=1e-12)


def test_a_standing_mass_shows_its_weight_in_every_sample() -> None:
    fig = figure("stone", tz("stone", body(2.0)), contacts=[contact("foot", "stone")])
    np.testing.assert_allclose(simulate(fig, duration=0.1).tracks[0].contact, 2.0 * g, rtol=1e-9)


def test_a_hanging_marionette_shows_its_weight_in_every_sample() -> None:
    fig = library.marionette25()
    motion = simulate(fig, duration=0.2, q=settle(fig))
    up = []
    for q, tension in zip(motion.q, motion.tension, strict=True):
        ways = [pose(fig, q).path(s.name) for s in fig.strings]
        up.append(sum(T * (b - a)[2] / np.linalg.norm(b - a) for T, (a, b) in zip(tension, ways, strict=True)))
    np.testing.assert_allclose(up, g * sum(b.mass for b in fig.bodies), rtol=1e-6)


def test_tension_belongs_to_its_sample_to_second_order() -> None:
    """A bob that swings far: against the continuous model, at the same times."""
    fig = bob(at=(0.8 * np.sin(1.2), 0.0, -0.8 * np.cos(1.2)))
    exact = integrate(fig, duration=1.0, samples=50.0)
    assert np.ptp(exact.tension) > 5.0
    off = []
    for dt in (0.02, 0.01, 0.005):
        motion = simulate(fig, duration=1.0, dt=dt)
        off.append(np.abs(motion.tension[:: round(0.02 / dt)] - exact.tension)[:-1].max())
    np.testing.assert_allclose(np.array(off[:-1]) / off[1:], 4.0, rtol=0.1)


def test_what_hangs_through_never_shows_a_pull_and_what_pulls_no_slack() -> None:
    fig = bob(at=(0.1, 0.0, -0.3))
    motion = simulate(fig, duration=1.5, dt=0.005)
    gap, tension = motion.tracks[0].gap, motion.tension
    assert (tension == 0.0).any()
    assert tension.max() > 20.0
    assert np.abs(tension * gap).max() < 1e-9
    # all that was pulled is shown once: it has turned the fall round
    steps = Simulation(fig, dt=0.005).run(np.zeros((300, 0)))
    np.testing.assert_allclose(tension[:-1].sum() * 0.005, steps.impulse.sum(), rtol=1e-9)


def test_the_first_sample_is_the_start() -> None:
    fig = library.marionette25()
    q = settle(fig)
    motion = simulate(fig, {"head_length": lambda t: q[fig.index("head_length")] - 0.05 * t}, duration=0.1, q=q)
    np.testing.assert_array_equal(motion.q[0], q)
    np.testing.assert_allclose(motion.tracks[0].gap[0], pose(fig, q).gaps, atol=1e-14)
    np.testing.assert_allclose(motion.column("head_length"), q[fig.index("head_length")] - 0.05 * motion.t, atol=1e-15)


def test_speed_is_that_of_the_samples() -> None:
    motion = simulate(library.pendulum(), duration=1.0, dt=0.001)
    exact = np.gradient(motion.q[:, 0], motion.t)
    np.testing.assert_allclose(motion.tracks[0].v[1:-1, 0], exact[1:-1], atol=1e-12)
    E = motion.tracks[0].energy.sum(1)
    np.testing.assert_allclose(E, E[0], rtol=1e-5)


# -- marks ---------------------------------------------------------------------------------------------------


def kinds(motion: Motion) -> list[tuple[str, str]]:
    return [(mark.kind, mark.text) for mark in motion.marks]


def test_let_out_fast_it_slackens_and_catches() -> None:
    fig = figure(
        "bob", tz("bob", body(0.5), start=-0.5), spindle("hand", moves=""), strings=[string("cord", "bob", "hand_spindle")]
    )
    motion = simulate(fig, {"cord_length": lambda t: 0.5 if t < 0.1 else 0.7}, duration=0.6, dt=0.002)
    assert kinds(motion) == [("slack", "cord slack"), ("impact", "cord catches")]
    slack, caught = (mark.t for mark in motion.marks)
    assert slack == pytest.approx(0.1, abs=0.003)
    assert caught - slack == pytest.approx(np.sqrt(0.4 / g), abs=0.004)


def test_the_impossible_is_held_and_the_motion_says_so() -> None:
    fig = figure(
        "bob", tx("x", ty("y", tz("bob", body(0.4), start=-0.3))), spindle("hand", at=(0.5, 0, 0)),
        strings=[string("tether", "bob", "world", 0.5), string("pull", "bob", "hand_spindle")],
    )  # fmt: skip
    motion = simulate(fig, {"hand_x": lambda t: 0.5 + t}, duration=1.0)
    held = [mark for mark in motion.marks if mark.kind == "held"]
    assert held
    assert all(mark.text.startswith("pull held back by ") for mark in held)
    assert motion.tracks[0].gap.max() < 1e-5
    assert np.isfinite(motion.q).all()
    assert len(motion) == 101


@pytest.mark.parametrize("name", ["arm2d", "arm3d", "marionette25"])
@pytest.mark.parametrize("length", [0.0, 100.0])
def test_all_strings_to_nothing_or_to_the_moon(name: str, length: float) -> None:
    fig = library.named(name)
    asked = {variable: (lambda t: length) for variable in fig.kinematic if variable.endswith("length")}
    motion = simulate(fig, asked, duration=1.0)
    assert np.isfinite(motion.q).all()
    assert motion.tension.min() >= 0.0
    assert motion.tracks[0].gap.max() < 1e-5
    assert "frozen" not in {mark.kind for mark in motion.marks}
    assert ("held" in {mark.kind for mark in motion.marks}) == (length == 0.0)


def test_nan_is_refused_where_it_appears() -> None:
    fig = library.marionette25()
    with pytest.raises(NotFinite, match=r"head_length to nan at t = 0\.5 s"):
        simulate(fig, {"head_length": lambda t: np.sqrt(0.495 - t) if t < 0.494 else np.nan}, duration=1.0)
    with pytest.raises(NotFinite, match="torso_tx"):
        simulate(fig, duration=1.0, q=np.where(np.arange(fig.n_q) == 0, np.nan, fig.start))


# -- orders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duration", [0.0, -1.0, np.nan, np.inf])
def test_a_duration_is_positive(duration: float) -> None:
    with pytest.raises(BunrakuError, match="duration"):
        simulate(bob(), duration=duration)


@pytest.mark.parametrize("dt", [0.0, -0.01, np.nan, np.inf])
def test_a_step_is_positive(dt: float) -> None:
    with pytest.raises(BunrakuError, match="dt: expected a number above zero"):
        simulate(bob(), duration=1.0, dt=dt)


def test_large_figures_hear_ctrl_c_more_often() -> None:
    heard: list[Progress] = []
    simulate(library.named("chain200"), duration=0.3, dt=0.001, progress=heard.append)
    assert len(heard) >= 2


def test_progress_and_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts it is the same motion, and says how far it is."""
    fig, heard = library.marionette25(), []
    whole = simulate(fig, {"head_x": lambda t: 0.05 * np.sin(5 * t)}, duration=1.0)
    monkeypatch.setattr(module, "REPORT_EVERY", 32)
    parts = simulate(fig, {"head_x": lambda t: 0.05 * np.sin(5 * t)}, duration=1.0, progress=heard.append)
    assert [p.done for p in heard] == pytest.approx([0.32, 0.64, 0.96, 1.0])
    assert (heard[0].stage, heard[0].text) == ("simulate", "0.32 of 1 s")
    np.testing.assert_allclose(parts.q, whole.q, atol=1e-9)
    np.testing.assert_allclose(parts.tension, whole.tension, atol=1e-6)
    assert kinds(parts) == kinds(whole)


def test_ctrl_c_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPORT_EVERY", 10)

    def interrupted(progress: Progress) -> None:
        if progress.done > 0.25:
            raise KeyboardInterrupt

    motion = simulate(bob(), duration=1.0, progress=interrupted)
    assert len(motion) == 31
    assert motion.t[-1] == pytest.approx(0.3)
    assert motion.marks[-1] == Mark(motion.t[-1], "stopped by hand", "stopped")


def test_ctrl_c_before_the_first_step_gives_the_start() -> None:
    def interrupted(t: float) -> float:
        raise KeyboardInterrupt

    fig = library.marionette25()
    motion = simulate(fig, {"head_x": interrupted}, duration=1.0)
    np.testing.assert_array_equal(motion.q, fig.start[None])
    assert [mark.kind for mark in motion.marks] == ["stopped"]


def test_nothing_is_random() -> None:
    assert simulate(bob(), duration=0.1, seed=1) == simulate(bob(), duration=0.1, seed=2)


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    fig = library.marionette25()

    def job(seed: int) -> Motion:
        rng = np.random.default_rng(seed)
        rate = rng.uniform(2, 9, len(fig.kinematic))
        return simulate(fig, lambda t: fig.start[fig.n_dynamic :] + 0.04 * np.sin(rate * t), duration=1.0)

    single = [job(seed) for seed in range(6)]
    many = simulate_many([lambda seed=seed: job(seed) for seed in range(6)], threads=4)
    assert many == single
    assert simulate_many([]) == []


def test_an_error_in_one_of_many_is_an_error() -> None:
    with pytest.raises(BunrakuError, match="duration"):
        simulate_many([lambda: simulate(bob(), duration=0.1), lambda: simulate(bob(), duration=-1.0)])


def test_more_steps_than_memory_holds_are_refused() -> None:
    with pytest.raises(BunrakuError, match=r"1e\+12 steps of pendulum are too many to keep"):
        simulate(library.pendulum(), duration=1.0, dt=1e-12)
