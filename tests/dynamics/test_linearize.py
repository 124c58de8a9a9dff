"""A and B at rest and along a motion; what inputs reach."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import (
    controllability,
    linearize,
    linearize_at_rest,
    mass_matrix,
    observability,
    settle,
    simulate,
    step_derivatives,
)  # fmt: skip
from bunraku.dynamics.step_derivatives import force_matrix, step_once
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.figure.build import body, effort, figure, push, rx, spindle, spring, string, tx, ty, tz
from bunraku.kinematics import pose
from tests.dynamics import contraptions

Array = NDArray[np.float64]


def test_a_pendulum_swings_as_its_eigenvalues_say() -> None:
    fig, dt = library.pendulum(start=0.0), 0.01
    A = linearize_at_rest(fig, settle(fig), dt=dt).A
    values = np.linalg.eigvals(A)
    np.testing.assert_allclose(np.abs(values), 1.0, atol=1e-12)  # symplectic
    # the midpoint rule turns ω into 2 atan(ω dt/2)/dt
    np.testing.assert_allclose(np.abs(np.angle(values)) / dt, 2 / dt * np.arctan(np.sqrt(9.81) * dt / 2), rtol=1e-10)


def test_a_is_symplectic_without_damping() -> None:
    fig = library.chain(5)
    rng = np.random.default_rng(1)
    q0, p0 = rng.normal(size=5), rng.normal(size=5)
    step = step_once(fig, q0, p0, np.zeros(0), dt=0.01)
    A = step_derivatives(fig, q0, step.q, step.impulse, step.states, dt=0.01).A
    J = np.block([[np.zeros((5, 5)), np.eye(5)], [-np.eye(5), np.zeros((5, 5))]])
    np.testing.assert_allclose(A.T @ J @ A, J, atol=1e-9)


def test_a_string_is_a_pendulum_too() -> None:
    """√(g/l) to and fro and side to side, as nodes that are held at their ends have it: 2 asin(ω dt/2)/dt."""
    fig, dt = figure("bob", tx("x", ty("y", tz("bob", body(0.5), start=-0.8))), strings=[string("s", "bob", "world", 0.8)]), 0.01
    values = np.linalg.eigvals(linearize_at_rest(fig, settle(fig), dt=dt).A)
    swings = np.abs(np.angle(values[np.abs(values) > 1e-6])) / dt
    assert len(swings) == 4
    np.testing.assert_allclose(swings, 2 / dt * np.arcsin(np.sqrt(9.81 / 0.8) * dt / 2), rtol=1e-8)


def disturbed(e: float) -> tuple[Array, Array]:
    """Twenty steps of the marionette, and again disturbed by e: difference over e, and the product of the linear steps."""
    fig = library.marionette25()
    n, nq = fig.n_dynamic, fig.n_q
    rng = np.random.default_rng(2)
    K = np.repeat(fig.start[n:][None], 20, 0)
    K[:, -5:] -= 0.002 * np.arange(1, 21)[:, None]
    dK, dp = rng.normal(size=K.shape), 1e-2 * rng.normal(size=n)
    q, p, dx = fig.start, np.zeros(n), np.concatenate([np.zeros(nq), dp])
    q_, p_ = q.copy(), e * dp
    for k, dk in zip(K, dK, strict=True):
        step, other = step_once(fig, q, p, k, dt=0.01), step_once(fig, q_, p_, k + e * dk, dt=0.01)
        np.testing.assert_array_equal(step.states, other.states)
        linear = step_derivatives(fig, q, step.q, step.impulse, step.states, dt=0.01)
        dx = linear.A @ dx + linear.B @ dk
        q, p, q_, p_ = step.q, step.momentum, other.q, other.momentum
    return np.concatenate([q_ - q, p_ - p]) / e, dx


def test_a_and_b_predict_a_disturbed_run() -> None:
    """What they leave is of second order: a tenth of the disturbance, a tenth of the error."""
    off = []
    for e in (1e-6, 1e-7, 1e-8):
        true, linear = disturbed(e)
        off.append(np.abs(true - linear).max() / np.abs(linear).max())
    np.testing.assert_allclose(off[0] / off[1], 10.0, rtol=0.01)
    assert off[2] < 2e-5


def test_forces_push_as_they_are_told() -> None:
    fig = contraptions.springy()
    rng = np.random.default_rng(3)
    q = fig.start + 0.1 * rng.normal(size=fig.n_q)
    B = force_matrix(fig, q)
    here = pose(fig, q)
    x = here.point_jacobian("left_hand", (0.01, 0, 0))[:, : fig.n_dynamic]
    np.testing.assert_allclose(B[:, 1], x.T @ [1.0, 2.0, 0.5], atol=1e-14)
    assert B[fig.index("left_elbow"), 0] == 1.5
    turned = here.X("left_hand")[:3, :3] @ [0.3, 0.1, 1.0]
    x = here.point_jacobian("left_hand", (0, 0.02, 0))[:, : fig.n_dynamic]
    np.testing.assert_allclose(B[:, 2], x.T @ turned, atol=1e-14)


# -- controllability -----------------------------------------------------------------------------------------


def test_a_cart_controls_its_pendulum() -> None:
    fig = library.cart_pendulum()
    for theta in (0.0, np.pi):
        step = linearize_at_rest(fig, [0.0, theta])
        report = controllability(step.A, step.B)
        assert report.controllable
        assert (report.reachable, report.needed) == (4, 4)
        assert "locally controllable" in str(report)


def test_two_equal_pendulums_on_one_cart_are_not_controllable() -> None:
    """What is equal cannot be told apart by one force; of different lengths, they are."""

    def pair(other: float):  # type: ignore[no-untyped-def]
        return figure(
            "pair", tx("x", body(1.0), rx("skip", body(1e-6, inertia=(1e-6,) * 3), stiffness=1e4),
                       contraptions.rotate((0, -1, 0), "a", body(0.3, (0, 0, -0.5), (1e-3,) * 3)),
                       contraptions.rotate((0, -1, 0), "b", body(0.3, (0, 0, -other), (1e-3,) * 3))),
            forces=[effort("x")],
        )  # fmt: skip

    for other, wanted in ((0.5, 2), (0.8, 0)):
        fig = pair(other)
        step = linearize_at_rest(fig, np.zeros(fig.n_q))
        keep = [k for k in range(2 * fig.n_q) if k % fig.n_q != fig.index("skip")]
        report = controllability(step.A[np.ix_(keep, keep)], step.B[keep])
        assert report.needed - report.reachable == wanted
        assert report.controllable == (wanted == 0)


def test_nobody_controls_what_nobody_touches() -> None:
    fig = figure("two", tx("a", body(1.0), stiffness=3.0), tx("b", body(1.0), stiffness=5.0), forces=[push("p", "a", (1.0, 0, 0))])
    step = linearize_at_rest(fig, np.zeros(2))
    report = controllability(step.A, step.B)
    assert not report.controllable
    assert (report.reachable, report.needed) == (2, 4)
    assert report.weakest < 1e-6
    np.testing.assert_allclose(report.beyond[[0, 2]], 0.0, atol=1e-9)  # nothing of a
    text = report.report(step.names)
    assert text.startswith("not locally controllable: 2 of 4 dimensions in which a disturbance persists are out of reach\n")
    assert {" b", "momentum of b"} <= {word for word in (" b", "momentum of b", " a", "momentum of a") if word in text}
    assert " a" not in text.splitlines()[1]


def test_what_dies_by_itself_needs_no_control() -> None:
    """Hands forget at once where they were, and a bob that hangs straight down has nowhere to go: nothing persists."""
    report = controllability(np.zeros((3, 3)), np.zeros((3, 1)))
    assert report.controllable
    assert (report.reachable, report.needed) == (0, 0)
    assert report.report(["a", "b", "c"]) == str(report)


def test_watching_one_of_two_tells_of_both_only_if_they_are_joined() -> None:
    for springs, wanted in (([], False), ([spring("s", "a", ("b", (1.0, 0, 0)), 2.0, 0.1)], True)):
        fig = figure("two", tx("a", body(1.0), stiffness=3.0), tx("b", body(2.0), stiffness=5.0), springs=springs)
        q = settle(fig)
        step = linearize_at_rest(fig, q)
        C = np.zeros((1, 4))
        C[0, 0] = 1.0
        assert observability(step.A, C).controllable == wanted


def test_the_tendon_driven_hand_at_its_grasp() -> None:
    """*trep*, Fig. 5: five tendons and what persists of a disturbance of hand and object."""
    fig = library.hand()
    q = settle(fig)
    step = linearize_at_rest(fig, q)
    report = controllability(step.A, step.B)
    assert report.needed <= 2 * fig.n_dynamic
    assert report.reachable > 0
    # with all tendons cut off the inputs, nothing is left to reach
    none = controllability(step.A, 0.0 * step.B[:, :1])
    assert not none.controllable


def test_at_rest_nothing_moves() -> None:
    fig = library.marionette25()
    q = settle(fig)
    step = linearize_at_rest(fig, q)
    n, nq = fig.n_dynamic, fig.n_q
    assert step.A.shape == (nq + n, nq + n)
    assert step.B.shape == (nq + n, nq - n)
    # moving everything sideways together is moving everything sideways
    dk = np.array([1.0 if name.endswith("_x") else 0.0 for name in fig.kinematic])
    dx = np.zeros(nq + n)
    dx[fig.index("torso_tx")], dx[n:nq] = 1.0, dk
    out = step.A @ dx + step.B @ dk
    np.testing.assert_allclose(out[:nq], dx[:nq], atol=1e-6)
    np.testing.assert_allclose(out[nq:], 0.0, atol=1e-5 * np.abs(mass_matrix(fig, q)).max() / 0.01)


def test_no_derivative_is_an_error() -> None:
    fig = library.pendulum()
    with pytest.raises(BunrakuError):
        step_derivatives(fig, [np.nan], [0.0], np.zeros(0), np.zeros(0), dt=0.01)


# -- along a motion ------------------------------------------------------------------------------------------


def test_along_a_motion_a_and_b_tell_where_a_nudge_leads() -> None:
    """The product of all A and B, against the same simulation with another pull of the string."""
    fig = library.arm3d()
    e = 1e-6

    def hands(e: float) -> dict[str, Callable[[float], float]]:
        return {"hand_x": lambda t: fig.start[4] + (0.2 + e) * np.sin(3 * t)}

    along = linearize(fig, hands(0.0), duration=0.5)
    assert len(along.steps) == 50
    assert (along.A.shape, along.B.shape) == ((50, 11, 11), (50, 11, 3))
    assert not along.broken
    assert not along.switches
    dx = np.zeros(11)
    for k, (A, B) in enumerate(zip(along.A, along.B, strict=True)):
        dx = A @ dx + B @ [np.sin(3 * 0.01 * (k + 1)), 0.0, 0.0]
    other = simulate(fig, hands(e), duration=0.5)
    np.testing.assert_array_equal(along.motion.q, simulate(fig, hands(0.0), duration=0.5).q)
    np.testing.assert_allclose((other.q[-1] - along.motion.q[-1]) / e, dx[:7], rtol=1e-4, atol=1e-6)


def test_a_string_between_taut_and_slack_is_named() -> None:
    """A puck at rest on a smooth table, on a string that is just long enough; then drawn along by it; then on a longer one."""
    fig = figure("puck", tx("x", body(0.5), start=0.8), spindle("hand", moves=""), strings=[string("s", "x", "hand_spindle")])
    assert linearize(fig, duration=0.03).switches == dict.fromkeys(range(3), ("s",))
    drawn = linearize(fig, {"s_length": lambda t: 0.8 - t * t}, duration=0.03)
    assert not drawn.switches
    assert drawn.steps[0].A[0, 0] == pytest.approx(0.0, abs=1e-12)  # the string says where it is, wherever it was
    slack = linearize(fig, duration=0.03, q=[0.8, 0.9])
    assert not slack.switches
    assert slack.steps[0].A[0, 0] == pytest.approx(1.0)


def test_steps_that_held_a_puppeteer_are_told() -> None:
    fig = figure(
        "bob", tz("bob", body(0.4), start=-0.5), spindle("hand", moves=""),
        strings=[string("leash", "bob", ("world", (0, 0, -0.5)), 0.3), string("cord", "bob", "hand_spindle")],
    )  # fmt: skip
    along = linearize(fig, {"cord_length": lambda t: 0.5 - 0.4 * t}, duration=1.0)
    assert along.broken
    assert 0.5 - 0.4 * 0.01 * along.broken[0] == pytest.approx(0.2, abs=0.02)
