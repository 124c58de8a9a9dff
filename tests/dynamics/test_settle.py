"""settle: a minimum of potential energy, from any start."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from bunraku.dynamics import Simulation, energy, settle, simulate
from bunraku.dynamics.quantities import gap_derivatives
from bunraku.errors import BunrakuError
from bunraku.figure import Figure, library
from bunraku.figure.build import ball, body, figure, free, rx, spindle, string, tx, ty, tz
from bunraku.kinematics import pose

Array = NDArray[np.float64]
HANGING = ("pendulum", "double_pendulum", "chain", "arm2d", "arm3d", "marionette22", "marionette25", "hand")


def potential(fig: Figure, q: Array) -> float:
    return energy(fig, q, np.zeros(fig.n_q))[1]


def still(fig: Figure, q: Array, tolerance: float = 1e-6) -> None:
    """Nothing moves from there in a second."""
    steps = Simulation(fig, q, dt=0.01).run(np.repeat(q[fig.n_dynamic :][None], 100, 0))
    assert not (steps.bits & ~1).any()
    assert np.abs(steps.q - q).max() < tolerance


@pytest.mark.parametrize("name", HANGING)
def test_what_hangs_comes_to_rest(name: str) -> None:
    fig = library.named(name)
    q = settle(fig)
    np.testing.assert_array_equal(q[fig.n_dynamic :], fig.start[fig.n_dynamic :])
    if len(fig.strings):
        assert pose(fig, q).gaps[: len(fig.strings)].max() < 1e-10
    assert potential(fig, q) <= potential(fig, fig.start) + 1e-9
    still(fig, q)


@pytest.mark.parametrize("name", ["arm3d", "marionette22", "marionette25"])
def test_from_any_start(name: str) -> None:
    """Thrown about at random with long strings, then hung up: the same pose, or another minimum that is one."""
    fig = library.named(name)
    best = potential(fig, settle(fig))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        q = fig.start.copy()
        q[: fig.n_dynamic] += rng.uniform(-0.4, 0.4, fig.n_dynamic)
        lift = pose(fig, q).gaps[: len(fig.strings)].max()
        if "torso_tz" in fig.names:
            q[fig.index("torso_tz")] += max(lift, 0.0) + 0.3  # up, until no string is too short
        if pose(fig, q).gaps[: len(fig.strings)].max() > 0.0:
            continue
        end = settle(fig, q)
        assert potential(fig, end) < potential(fig, q)
        assert potential(fig, end) > best - 1e-8
        still(fig, end)


def test_it_is_the_minimum_that_others_find() -> None:
    """SciPy, minimising the potential energy of the arm with its string as an inequality."""
    fig = library.arm3d()
    n = fig.n_dynamic
    start = fig.start[n:]

    def whole(x: Array) -> Array:
        return np.concatenate([x, start])

    found = minimize(
        lambda x: potential(fig, whole(x)), fig.start[:n], method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
        constraints={"type": "ineq", "fun": lambda x: -gap_derivatives(fig, whole(x))[0]},
    )  # fmt: skip
    q = settle(fig)
    np.testing.assert_allclose(potential(fig, q), found.fun, atol=1e-7)


def test_strings_may_end_slack() -> None:
    fig = figure(
        "bob", tx("x", ty("y", tz("bob", body(0.5), start=-0.2))),
        strings=[string("short", "bob", "world", 0.6), string("long", "bob", ("world", (0.1, 0, 0.2)), 2.0)],
    )  # fmt: skip
    q = settle(fig)
    np.testing.assert_allclose(q, [0, 0, -0.6], atol=1e-8)
    assert pose(fig, q).gaps[1] < -1.0


def test_a_balance_is_left() -> None:
    """A pendulum on its head does not stay there."""
    q = settle(library.pendulum(), [np.pi])
    np.testing.assert_allclose(np.cos(q[0]), 1.0, atol=1e-10)


def test_forces_are_part_of_it() -> None:
    fig = library.cart_pendulum()
    held = fig.replace(frames=tuple(
        f if f.variable is None or f.variable.name != "x" else f.__class__(
            f.name, f.parent, f.position, f.rotation, f.variable.__class__("x", "translate", f.variable.axis, stiffness=20.0))
        for f in fig.frames
    ))  # fmt: skip
    q = settle(held, forces=[5.0])
    np.testing.assert_allclose(q[0], 0.25, atol=1e-9)


def test_what_falls_for_ever_is_refused() -> None:
    fig = figure("stone", tx("x", tz("z", body(1.0))))
    with pytest.raises(BunrakuError, match="has not come to rest"):
        settle(fig)


@pytest.mark.parametrize(("size", "mass"), [(1e-3, 1e-6), (10.0, 1e3), (100.0, 5e4), (1e3, 1e6)])
def test_cranes_come_to_rest_as_puppets_do(size: float, mass: float) -> None:
    """Forces of a thousand tonnes beside gaps of a billionth of a metre; and a weight that may swing round at no cost."""
    whole = mass * size**2
    crane = figure(
        "crane", rx("jib", body(mass, (0, size / 2, 0), (0.1 * whole,) * 3), limits=(-1.0, 1.0)), spindle("top", at=(0, 0, size)),
        free("load", body(mass / 5, inertia=(1e-3 * whole,) * 3), start=(0, size, -size / 2, 0, 0, 0)),
        strings=[string("stay", ("jib", (0, size, 0)), "top_spindle"), string("hoist", "load", ("jib", (0, size, 0)))],
    )  # fmt: skip
    rest = settle(crane)
    moved = simulate(crane, q=rest, duration=0.5)
    assert np.abs(moved.q - rest).max() < 1e-9 * max(size, 1.0)
    np.testing.assert_allclose(moved.tension[-1, 1], 9.81 * mass / 5, rtol=1e-6)
    held = figure(
        "held", ball("arm", body(mass, (0, 0, -size), (0.01 * whole,) * 3), start=(0, 0, 0.5)),
        spindle("top", at=(0, 0, 2 * size)), strings=[string("cord", ("arm", (0, 0, -size)), "top_spindle")],
    )  # fmt: skip
    assert np.abs(settle(held) - held.start).max() < 1e-3


@pytest.mark.parametrize("name", ["arm3d", "marionette22", "marionette25", "hand"])
def test_spindles_and_lengths_stay_where_they_are(name: str) -> None:
    """Thrown about, so that strings are far too short: the figure comes to them, and they give nothing in the end."""
    fig = library.named(name)
    rng = np.random.default_rng(7)
    heights = []
    for _ in range(4):
        q = fig.start.copy()
        q[: fig.n_dynamic] += rng.normal(size=fig.n_dynamic)
        rest = settle(fig, q)
        np.testing.assert_array_equal(rest[fig.n_dynamic :], fig.start[fig.n_dynamic :])
        still(fig, rest)
        heights.append(potential(fig, rest))
    if name in ("marionette25", "hand"):  # there is one way to hang
        np.testing.assert_allclose(heights, potential(fig, settle(fig)), rtol=1e-9)


def test_strings_that_no_pose_satisfies_are_told() -> None:
    fig = library.arm2d()
    far = fig.configuration(hand_x=3.0, hand_length=0.1)
    with pytest.raises(BunrakuError, match=r"too short for any pose; hand_length gives way by 1\..*\n  advice: lengthen"):
        settle(fig, far)


def test_a_straight_arm_at_its_stop_may_turn_about_itself() -> None:
    """That costs nothing, so Newton's method has no one place to go to."""
    fig = library.arm3d()
    q = fig.configuration(shoulder_rz=-3.12, shoulder_ry=-0.16, shoulder_rx=-1.0, elbow=0.0)
    still(fig, settle(fig, q))
