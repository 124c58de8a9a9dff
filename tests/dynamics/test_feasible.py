"""Whatever is asked: every step ends with lengths ≥ 0, links closed, and nothing open pulls. A judge of its own says so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, Steps, energy, simulate
from bunraku.dynamics.rollout import ROLLOUT, STEP_BITS
from bunraku.dynamics.simulate import motion_of
from bunraku.errors import NotFinite
from bunraku.figure import Figure, library
from bunraku.figure.build import body, closure, figure, fixed, rx, ry, rz, spindle, string, tx, ty, tz
from tests.dynamics import contraptions
from tests.dynamics.absurd_puppeteers import HABITS, absurd
from tests.dynamics.feasibility import Verdict, judge, judge_steps
from tests.dynamics.troupe import TROUPE
from tests.slow_cases import cases

Array = NDArray[np.float64]
FIGURES: dict[str, Callable[[], Figure]] = {
    **{
        name: partial(library.named, name)
        for name in ("arm2d", "arm3d", "marionette22", "marionette25", "actor", "hand", "finger", "crane")
    },
    **{make.__name__: make for make in (contraptions.reeved, contraptions.welded, contraptions.rigged)},
    **{make.__name__: make for make in TROUPE},
}
MOST = 1e-9  # [m or rad] that a sceptic would accept


def run(fig: Figure, K: Array) -> tuple[Simulation, Steps]:
    simulation = Simulation(fig)
    return simulation, simulation.run(K)


def watch(name: str, seed: int, steps: int) -> None:
    """One puppeteer: all conditions at every step's end, and in the motion; what was held is told, all of it."""
    fig = FIGURES[name]()
    habit, K = absurd(fig, seed, steps)
    simulation, made = run(fig, K)
    for part in (made.q, made.momentum, made.impulse, made.passing, made.gap, made.energy):
        assert np.isfinite(part).all(), habit
    verdict, k = judge_steps(fig, made, simulation.dt)
    assert verdict.worst <= MOST, f"{habit}: {verdict} in step {k}, bits {made.bits[k]}"
    off = np.abs(made.q[:, fig.n_dynamic :] - K)
    assert (made.bits[off.max(1) > 0.0] & STEP_BITS.held).all()
    told = {(one.step, one.variable): one.by for one in simulation.held(made)}
    for step in np.flatnonzero(off.max(1) > MOST):
        most = int(off[step].argmax())
        assert told[int(step), fig.kinematic[most]] == off[step, most]
    motion = motion_of(simulation, np.asarray(fig.start), [made])
    ropes = len(fig.strings) + len(fig.wires)
    rest = np.zeros(len(fig.compiled.link_names) - ropes)
    total = Verdict()
    for q, tension in zip(motion.q, motion.tension, strict=True):
        total |= judge(fig, q, np.concatenate([tension, rest]))
    assert total.worst <= MOST, habit


@pytest.mark.parametrize("seed", cases(range(3), slow=("1", "2")))
@pytest.mark.parametrize("name", FIGURES)
def test_absurd_puppeteers(name: str, seed: int) -> None:
    watch(name, 3 * list(FIGURES).index(name) + seed, 25)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 130, 5))
@pytest.mark.parametrize("name", FIGURES)
def test_five_hundred_absurd_puppeteers(name: str, first: int) -> None:
    """All these figures, thirty puppeteers each."""
    for seed in range(first, first + 5):
        watch(name, seed, 60)


def test_no_figure_of_the_library_is_left_out() -> None:
    """Nor is one that is added later."""
    moved = [library.named(name) for name in library.names()]
    assert {fig.name for fig in moved if fig.n_q > fig.n_dynamic and (fig.strings or fig.wires or fig.closures)} <= set(FIGURES)


def test_the_habits_do_what_they_are_called() -> None:
    """The judge has work to do: most puppeteers ask for what cannot be, and leaps go from millimetres to kilometres."""
    fig = library.arm3d()
    leaps = [np.abs(np.diff(absurd(fig, seed)[1], axis=0)).max() for seed in range(90)]
    assert min(leaps) < 0.01
    assert max(leaps) > 500.0
    lengths = [absurd(fig, seed)[1][:, -1].min() for seed in range(HABITS.index("negative"), 90, len(HABITS))]
    assert max(lengths) < 0.0


def test_the_judge_finds_what_is_wrong() -> None:
    fig = library.marionette25()
    nothing = np.zeros(len(fig.compiled.link_names))
    assert judge(fig, fig.start, nothing).worst <= MOST
    short = fig.configuration(head_length=-0.1)
    assert judge(fig, short, nothing).short == pytest.approx(0.1)
    assert judge(fig, short, nothing).long > 0.1
    slack = fig.configuration(head_length=fig.start[fig.index("head_length")] + 0.2)
    pull = nothing.copy()
    pull[[s.name for s in fig.strings].index("head")] = 3.0
    assert judge(fig, slack, nothing).worst <= MOST
    assert judge(fig, slack, pull).untrue == pytest.approx(0.2)
    assert judge(fig, fig.start, -pull).pushes == 3.0
    loop = contraptions.welded()
    assert judge(loop, loop.configuration(rail=0.3), np.zeros(len(loop.compiled.link_names))).opened == pytest.approx(0.3)


# -- what is not a number --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(wrong: float) -> None:
    fig = library.arm2d()
    name = fig.kinematic[0]
    with pytest.raises(NotFinite, match=rf"sets {name} to {wrong} at t = 0\.05 s"):
        simulate(fig, {name: lambda t: wrong if t > 0.045 else 0.0}, duration=0.1)
    with pytest.raises(NotFinite):
        Simulation(fig).step(np.full(2, wrong))


def test_finite_and_beyond_all_bounds() -> None:
    """1e300 m: the hand goes as far as a step lets it, and nothing overflows."""
    for make in (library.arm2d, library.marionette25, contraptions.carried):
        fig = make()
        K = np.repeat(fig.start[fig.n_dynamic :][None], 6, 0)
        K[2:, 0], K[4:, -1] = 1e300, -1e300
        simulation, steps = run(fig, K)
        assert judge_steps(fig, steps, simulation.dt)[0].worst <= MOST
        assert np.abs(np.diff(steps.q[:, fig.n_dynamic :], axis=0)).max() <= ROLLOUT.max_leap
        assert {one.step for one in simulation.held(steps)} == {2, 3, 4, 5}
        motion_of(simulation, np.asarray(fig.start), [steps])  # would refuse what is not finite


# -- divided steps ---------------------------------------------------------------------------------------------


def thrown(speed: float) -> tuple[Figure, Steps]:
    """A bob thrown upward on a tether to the floor, beside a wheel that turns so fast that every step is divided."""
    fig = figure(
        "thrown", tz("bob", body(0.5), start=-0.3), rz("wheel", body(0.1, inertia=(1e-3, 1e-3, 1e-3)), at=(1, 0, 0)),
        strings=[string("tether", "bob", ("world", (0, 0, -1.0)), 0.72)],
    )  # fmt: skip
    return fig, Simulation(fig, v=[speed, 100.0], dt=0.02).run(np.zeros((4, 0)))


def test_a_string_that_catches_and_slackens_within_a_step() -> None:
    """It hangs at the end, so it has no tension there; its impulse is told apart, and stops what the bob had."""
    fig, steps = thrown(4.0)
    assert (steps.bits & STEP_BITS.divided).all()
    assert steps.gap[0, 0] < -1e-4
    assert not steps.impulse.any()
    np.testing.assert_allclose(
        steps.passing[:, 0], [0.5 * 4.0 + steps.momentum[0, 0] * -1.0 - 0.5 * 9.81 * 0.02, 0, 0, 0], atol=1e-12
    )
    motion = simulate(fig, v=[4.0, 100.0], dt=0.02, duration=0.08)
    assert not motion.tension.any()
    assert [(mark.t, mark.text) for mark in motion.marks] == [(0.02, "tether catches for an instant, 1.95 N s")]


def test_the_momentum_of_a_divided_step_is_all_impulses() -> None:
    """One dimension: p1 − p0 is the weight less impulses that act at the end, less those that passed."""
    for speed in np.linspace(0.2, 8.0, 14):
        _, steps = thrown(float(speed))
        p = np.concatenate([[0.5 * speed], steps.momentum[:, 0]])
        np.testing.assert_allclose(np.diff(p), -0.5 * 9.81 * 0.02 - (steps.impulse + steps.passing)[:, 0], atol=1e-12)


# -- held ------------------------------------------------------------------------------------------------------


def test_a_closure_never_turns_round() -> None:
    """A holder that leaps by half a turn: axes that point the other way would satisfy the same equations."""
    fig = figure(
        "turned", ry("arm", body(0.5, (0.1, 0, 0), (0.01, 0.01, 0.01)), rx("roll", body(0.2, (0, 0, 0.05), (1e-3,) * 3))),
        ry("holder", rx("twist", fixed("cup"), kinematic=True), kinematic=True),
        closures=[closure("grip", "roll", "cup", "hinge")],
    )  # fmt: skip
    K = np.zeros((12, 2))
    K[2:, 0], K[5:, 1], K[8:] = np.pi, -np.pi, 7.0
    simulation, steps = run(fig, K)
    assert judge_steps(fig, steps, simulation.dt)[0].worst <= MOST
    for q in steps.q:
        assert np.cos(q[0] - q[2]) > 0.999 or np.cos(q[1] - q[3]) < 0.0
    np.testing.assert_array_equal(steps.q[-1, 2:], K[-1])


def test_a_hand_that_is_held_gives_no_more_than_it_has() -> None:
    """The kinetic energy after a step that gave way is that of a figure as fast as hand and figure together were."""
    for name in ("marionette22", "two_on_a_bar", "tug_of_war", "light_and_heavy", "eyelets"):
        fig = FIGURES[name]()
        n, mass = fig.n_dynamic, sum(part.mass for part in fig.bodies)
        for seed in range(6):
            _, K = absurd(fig, seed, 30)
            simulation, steps = run(fig, K)
            q = np.concatenate([fig.start[None], steps.q])
            v = np.diff(q, axis=0) / simulation.dt
            kinetic = np.array([energy(fig, at, rate)[0] for at, rate in zip(steps.q, v, strict=True)])
            hand = np.abs(v[:, n:]).max(1)
            for k in np.flatnonzero(steps.bits & STEP_BITS.held):
                before = kinetic[k - 1] if k else 0.0
                assert np.sqrt(2 * kinetic[k]) <= 2 * np.sqrt(2 * before) + 10.0 * np.sqrt(mass) * (
                    hand[k] + 9.81 * simulation.dt
                ), (name, seed, k)


def test_held_at_the_nearest() -> None:
    """A bob on a tether of 0.5 m, pulled by a string that is wound to nothing from a metre away: it ends on the line between."""
    fig = figure(
        "bob", tx("x", ty("y", tz("bob", body(0.4), start=-0.3))), spindle("hand", at=(0.5, 0, 0)),
        strings=[string("tether", "bob", "world", 0.5), string("pull", "bob", "hand_spindle")],
    )  # fmt: skip
    K = np.repeat([[1.0, 0.0, 0.0]], 60, 0)
    simulation, steps = run(fig, K)
    assert (steps.bits & STEP_BITS.held).all()
    hand, bob = steps.q[-1, 3:5], steps.q[-1, :3]
    np.testing.assert_allclose(np.linalg.norm(bob), 0.5, atol=MOST)
    assert bob[0] > 0.499
    # x of the hand and the length are equally dear: each gives way by half of what is too much
    np.testing.assert_allclose(hand, [0.75, 0.0], atol=2e-3)
    np.testing.assert_allclose(steps.q[-1, 5], 0.25, atol=2e-3)
    last = [one for one in simulation.held(steps) if one.step == 59]
    assert {one.link for one in last} == {"pull"}
    assert last[0].by == pytest.approx(0.25, abs=2e-3)
