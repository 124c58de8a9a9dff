"""What listeners hear of a search, what Ctrl-C leaves, and that the cost is the sum of its terms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bunraku import Motion
from bunraku.control import Acceleration, Configuration, Forces, Limits, Momentum, Speed, Tension, optimize
from bunraku.control.control_system import System
from bunraku.dynamics import settle
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.progress import Progress
from bunraku.result import Result

FIGURE = library.cart_pendulum(start=(0.0, 0.0))
COST = [Configuration({"x": 10.0, "theta": 1.0}, {"x": 0.5}), Momentum(0.01), Forces(0.01)]


def test_every_iteration_is_heard_of() -> None:
    heard: list[Progress] = []
    found = optimize(FIGURE, COST, duration=1.0, method="newton", progress=heard.append)
    assert [said.text for said in heard] == [str(i) for i in found.history]
    assert {said.stage for said in heard} == {"optimize"}
    done = [said.done for said in heard]
    assert done == sorted(done)
    assert done[-1] == 1.0
    assert "newton" in heard[-1].text
    assert "cost" in heard[-1].text


def test_both_searches_from_rest_are_heard_of() -> None:
    heard: list[Progress] = []
    found = optimize(FIGURE, COST, duration=1.0, progress=heard.append)
    said, history = "\n".join(one.text for one in heard), "\n".join(str(i) for i in found.history)
    assert history in said
    assert len(heard) > len(found.history)
    done = [one.done for one in heard]
    assert done == sorted(done)


def test_an_optimum_is_a_result() -> None:
    found = optimize(FIGURE, COST, duration=1.0, seed=3)
    assert isinstance(found, Result)
    assert isinstance(found.motion, Motion)
    assert found.outcome.ok
    assert found.scene is None
    assert found.seed is None
    assert set(found.seconds) == {"optimize"}
    lines = dict(found.report())
    assert lines["outcome"].startswith("converged: ")
    assert lines["cost"].startswith(f"{found.cost:.6g} after {len(found.history)} iterations")
    assert lines["input"].endswith(" N")


def impatient(after: int) -> Callable[[Progress], None]:
    """A listener that presses Ctrl-C when it has heard so many words."""
    heard = 0

    def hear(said: Progress) -> None:
        nonlocal heard
        heard += 1
        if heard == after:
            raise KeyboardInterrupt

    return hear


def test_ctrl_c_returns_the_best_so_far() -> None:
    start = optimize(FIGURE, COST, duration=1.0, iterations=1).history[0].cost
    found = optimize(FIGURE, COST, duration=1.0, progress=impatient(2))
    assert found.outcome.kind == "stopped"
    assert not found.outcome.ok
    assert found.cost < start
    assert found.gains.shape == (100, 1, 4)


@pytest.mark.parametrize("options", [{"coarse": 4}, {"limits": Limits(forces={"x_force": (-2.0, 2.0)})}])
def test_ctrl_c_ends_all_that_would_follow(options) -> None:
    found = optimize(FIGURE, COST, duration=1.0, progress=impatient(2), **options)
    assert found.outcome.kind == "stopped"
    assert len(found.history) <= 2
    assert found.gains.shape == (100, 1, 4)


def test_too_few_iterations_are_not_ok() -> None:
    found = optimize(FIGURE, COST, duration=1.0, iterations=1)
    assert found.outcome.kind == "out of iterations"
    assert not found.outcome.ok
    assert "iterations" in found.outcome.advice


def test_cost_is_the_sum_of_its_terms() -> None:
    """Also where two terms pull one variable to different places, and where soft limits are exceeded."""
    cost = [
        Configuration({"x": 10.0, "theta": 1.0}, {"x": 0.5}, at_end=0.3),
        Configuration({"x": 4.0}, {"x": lambda t: -t}, at_end=0.1),
        Momentum(0.01), Momentum(0.02, [0.1, 0.2]), Forces(0.01), Forces(0.03, [5.0]),
    ]  # fmt: skip
    limits = Limits(variables={"x": (None, 0.1)}, soft=True)
    found = optimize(FIGURE, cost, duration=1.0, dt=0.02, limits=limits)
    t, x, u = 0.02 * np.arange(51), found.run.x, found.run.u
    lasts = np.full(51, 0.02), np.full(51, 0.02)
    lasts[0][-1] += 0.3
    lasts[1][-1] += 0.1
    k, other = FIGURE.index("x"), FIGURE.index("theta")
    terms = [
        lasts[0] @ (10.0 * (x[:, k] - 0.5) ** 2 + (x[:, other] - x[0, other]) ** 2),
        lasts[1] @ (4.0 * (x[:, k] + t) ** 2),
        0.02 * (0.01 * x[:, 2:] ** 2 + 0.02 * (x[:, 2:] - [0.1, 0.2]) ** 2).sum(),
        0.02 * (0.01 * u**2 + 0.03 * (u - 5.0) ** 2).sum(),
    ]
    assert found.cost == pytest.approx(0.5 * sum(terms), rel=1e-12)
    assert x[1:, k].max() > 0.1
    assert found.penalty > 0.0
    assert dict(found.report())["limits"].startswith("exceeded")


def test_cost_of_strings_is_the_sum_of_its_terms() -> None:
    figure = library.arm3d()
    q = settle(figure)
    cost = [Configuration(0.3, q + 0.1), Speed(0.02), Acceleration(1e-4), Tension(0.01, {"hand": 3.0}), Tension(0.02)]
    found = optimize(figure, cost, duration=0.1, q=q)
    s, x = System.of(figure, dt=0.01), found.run.x
    rates = x[:, s.n_q + s.n :]
    tension = found.run.impulse[:, : len(figure.strings) + len(figure.wires)] / 0.01
    wished = np.array([3.0 if rope.name == "hand" else 0.0 for rope in (*figure.strings, *figure.wires)])
    terms = [
        0.3 * ((x[:, : s.n_q] - q - 0.1) ** 2).sum(), 0.02 * (rates**2).sum(), 1e-4 * ((np.diff(rates, axis=0) / 0.01) ** 2).sum(),
        0.01 * ((tension - wished) ** 2).sum(), 0.02 * (tension**2).sum(),
    ]  # fmt: skip
    assert found.cost == pytest.approx(0.5 * 0.01 * sum(terms), rel=1e-12)


@pytest.mark.parametrize("method", ["steepest", "gauss-newton", "newton", "auto"])
def test_all_methods_lead_to_the_same_place(method) -> None:
    best = optimize(FIGURE, COST, duration=1.0)
    found = optimize(FIGURE, COST, duration=1.0, method=method, iterations=400, tolerance=1e-10, threads=2)
    assert found.cost == pytest.approx(best.cost, rel=1e-7)
    assert np.isfinite(found.run.x).all()


def test_an_input_without_a_price_is_refused() -> None:
    with pytest.raises(BunrakuError, match=r"does not weigh these inputs: x_force\n  advice: add a term of forces for them"):
        optimize(FIGURE, [Configuration({"x": 0.0})], duration=1.0)
    with pytest.raises(BunrakuError, match=r"these inputs: x_force\n"):  # although the configuration determines the force
        optimize(FIGURE, [Configuration(1.0)], duration=1.0)


def test_a_string_without_a_price_is_refused_by_name() -> None:
    arm = library.arm2d()
    with pytest.raises(BunrakuError, match=r"these inputs: hand_x, hand_length\n  advice: add a term of speed or acceleration"):
        optimize(arm, [Configuration(dict.fromkeys(arm.dynamic, 1.0))], duration=0.5)


def test_a_start_that_is_out_of_joint_is_refused() -> None:
    """Before there was an "optimum" of what the first step tore into place."""
    arm = library.arm2d()
    short = arm.configuration(hand_length=arm.start[-1] - 0.1)
    with pytest.raises(BunrakuError, match=r"strings do not reach: hand by 0\.1 m"):
        optimize(arm, [Configuration(1.0), Speed(0.1)], duration=0.5, q=short)
