"""Bodies that meet: closed forms of falling, rubbing, rolling, bouncing and sticking; nothing is ever in anything else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import bunraku
from bunraku.collision.manifold.touch_rules import Matter, Touch
from bunraku.dynamics import Simulation
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.build import box, capsule, cylinder, figure, free, rx, sphere, string, translate, tx
from bunraku.figure.shape import Box
from bunraku.figure.together import together
from bunraku.scene import Obstacle, Scene

Array = NDArray[np.float64]
g = 9.81
FLOOR = Scene("floor")
MAX_DEPTH = 1e-6


def one(name: str, part: object, start: tuple[float, ...]) -> Figure:
    return figure(name, free(name, part, start=start))  # type: ignore[arg-type]


def brick(at: tuple[float, float, float], size: tuple[float, float, float] = (0.1, 0.1, 0.1)) -> Figure:
    return one("brick", box(size, mass=1.0), (*at, 0.0, 0.0, 0.0))


def roll(
    fig: Figure, steps: int, *, dt: float = 0.01, v: list[float] | None = None, scene: Scene = FLOOR, matter: Matter = Matter()
) -> tuple[Array, TouchSimulation]:
    simulation = TouchSimulation(fig, v=v, scene=scene, touch=Touch(matter=matter), dt=dt)
    out = simulation.run(np.zeros((steps, 0)))
    assert not (out.bits & (STEP_BITS.held | STEP_BITS.frozen)).any()
    assert simulation.log.gap.max(initial=0.0) < MAX_DEPTH
    return out.q, simulation


def test_a_ball_falls_and_lies_still() -> None:
    q, simulation = roll(one("ball", sphere(0.1, mass=2.0), (0, 0, 0.4, 0, 0, 0)), 100)
    fall = int(math.sqrt(2 * 0.3 / g) / 0.01)
    np.testing.assert_allclose(q[: fall - 1, 2], 0.4 - 0.5 * g * (0.01 * np.arange(1, fall)) ** 2, atol=1e-10)
    np.testing.assert_allclose(q[fall + 2 :, 2], 0.1, atol=1e-9)
    assert simulation.log.normal[-1] / 0.01 == pytest.approx(2.0 * g, rel=1e-9)


@pytest.mark.parametrize("steeper", [0.999, 1.001])
def test_a_box_on_a_slope_slides_above_the_angle_of_friction_only(steeper: float) -> None:
    friction = 0.4
    slope = math.atan(friction * steeper)
    fig = brick((0, 0, 0.05), (0.2, 0.16, 0.1)).replace(gravity=(g * math.sin(slope), 0.0, -g * math.cos(slope)))
    q, _ = roll(fig, 100, matter=Matter(friction=friction))
    expected = 0.5 * g * (math.sin(slope) - friction * math.cos(slope)) if steeper > 1 else 0.0
    np.testing.assert_allclose(q[-1], [expected, 0, 0.05, 0, 0, 0], atol=1e-9)


def test_a_ball_that_slides_begins_to_roll_at_five_sevenths_of_its_speed() -> None:
    q, _ = roll(one("ball", sphere(0.1, mass=1.0), (0, 0, 0.1, 0, 0, 0)), 150, v=[1.0, 0, 0, 0, 0, 0], matter=Matter(friction=0.3))
    assert (q[-1, 0] - q[-2, 0]) / 0.01 == pytest.approx(5 / 7, rel=5e-4)


def test_rolling_resistance_stops_a_ball_where_it_should() -> None:
    v, r, arm, dt = 0.5, 0.1, 0.01, 0.002
    start = [v, 0, 0, 0, v / r, 0]
    q, _ = roll(one("ball", sphere(r, mass=1.0), (0, 0, r, 0, 0, 0)), 500, dt=dt, v=start, matter=Matter(friction=0.6, rolling=arm))
    stop = v * v / (2 * (arm * g / r) * 5 / 7)
    assert q[-1, 0] == pytest.approx(stop, rel=1e-2)
    np.testing.assert_allclose(q[-1], q[-50], atol=1e-9)


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_a_ball_bounces_as_high_as_its_restitution_says(restitution: float) -> None:
    q, _ = roll(one("ball", sphere(0.1, mass=1.0), (0, 0, 0.6, 0, 0, 0)), 400, dt=0.002, matter=Matter(restitution=restitution))
    low = int(np.argmin(q[:250, 2]))
    assert q[low:, 2].max() - 0.1 == pytest.approx(0.5 * restitution**2, rel=0.03)


def test_balls_that_meet_keep_their_momentum() -> None:
    pair = together(
        "pair", {k: one(k, sphere(0.1, mass=m), (x, y, 1, 0, 0, 0)) for k, m, x, y in (("a", 1.0, 0.0, 0.0), ("b", 2.0, 0.4, 0.08))}
    )
    pair = pair.replace(gravity=(0.0, 0.0, 0.0))
    simulation = TouchSimulation(pair, v=[2.0, *[0.0] * 11], scene=None, touch=Touch(matter=Matter(restitution=0.7)), dt=0.005)
    out = simulation.run(np.zeros((60, 0)))
    p = out.momentum
    np.testing.assert_allclose(p[-1, [0, 1, 2]] + p[-1, [6, 7, 8]], [2.0, 0, 0], atol=1e-9)
    assert p[-1, 6] > 0.5
    assert simulation.log.gap.max() < MAX_DEPTH


def test_a_short_stack_stands_still() -> None:
    stack = together("stack", {f"b{k}": brick((0.004 * (k % 2), 0.002 * (k % 3), 0.05 + 0.1 * k)) for k in range(4)})
    q, _ = roll(stack, 100)
    np.testing.assert_allclose(q[-1], stack.start, atol=1e-8)


@pytest.mark.parametrize("seed", [11, 12])
def test_balls_that_fall_into_a_box_stay_out_of_each_other(seed: int) -> None:
    """Rings of balls that stick are held more often than they can move. Distances by hand."""
    rng, r, wide = np.random.default_rng(seed), 0.05, 0.36
    starts = [
        (*(0.115 * np.array([k % 3 - 1, k // 3 % 3 - 1]) + rng.uniform(-0.006, 0.006, 2)), 0.055 + 0.105 * (k // 9), 0, 0, 0)
        for k in range(18)
    ]
    balls = together("balls", {f"b{k}": one("b", sphere(r, mass=0.1), start) for k, start in enumerate(starts)})
    walls = tuple(
        Obstacle(
            f"wall{k}",
            Box((0.1, 2, 2) if k < 2 else (2, 0.1, 2)),
            (s * (wide / 2 + 0.05), 0, 0) if k < 2 else (0, s * (wide / 2 + 0.05), 0),
        )
        for k, s in enumerate((-1, 1, -1, 1))
    )
    simulation = TouchSimulation(balls, scene=Scene("box", walls), touch=Touch(matter=Matter(friction=0.4)), dt=0.005)
    out = simulation.run(np.zeros((160, 0)))
    x = out.q.reshape(len(out.q), -1, 6)[:, :, :3]
    assert x[:, :, 2].min() > r - MAX_DEPTH
    assert np.abs(x[:, :, :2]).max() < wide / 2 - r + MAX_DEPTH
    i, j = np.triu_indices(x.shape[1], 1)
    assert np.linalg.norm(x[:, i] - x[:, j], axis=2).min() > 2 * r - MAX_DEPTH
    energy = out.energy.sum(1)
    assert energy.max() < energy[0] * (1 + 1e-9)


@pytest.mark.parametrize(
    "fig",
    [
        one("capsule", capsule(0.03, 0.2, mass=1.0), (0.05, 0.02, 0.3, 0.4, 0.3, 1.3)),
        one("cylinder", cylinder(0.05, 0.12, mass=1.0), (0.0, 0.03, 0.3, 0.2, 0.4, 0.9)),
        one("box", box((0.1, 0.14, 0.08), mass=1.0), (0.08, 0.06, 0.32, 0.4, 0.5, 0.3)),
    ],
    ids=lambda fig: fig.name,
)
def test_what_falls_onto_a_table_comes_to_rest_outside_it(fig: Figure) -> None:
    table = Scene("room", (Obstacle("table", Box((0.3, 0.3, 0.1)), (0, 0, 0.05)),))
    q, _ = roll(fig, 300, scene=table)
    still = [2] if fig.name != "box" else range(6)  # what is round may go on rolling
    np.testing.assert_allclose(q[-1, still], q[-20, still], atol=1e-6)
    assert q[-1, 2] > 0.029


def test_adhesion_holds_up_to_its_force() -> None:
    ceiling = Scene("ceiling", (Obstacle("ceiling", Box((1, 1, 0.1)), (0, 0, 1.05)),), floor=None)
    for force, stays in ((1.01 * g, True), (0.99 * g, False)):
        simulation = TouchSimulation(brick((0, 0, 0.95)), scene=ceiling, touch=Touch(matter=Matter(adhesion=force)), dt=0.01)
        q = simulation.run(np.zeros((50, 0))).q
        assert (abs(q[-1, 2] - 0.95) < 1e-8) == stays


def test_adhesion_is_switched_while_things_move() -> None:
    ceiling = Scene("ceiling", (Obstacle("ceiling", Box((1, 1, 0.1)), (0, 0, 1.05)),), floor=None)
    simulation = TouchSimulation(brick((0, 0, 0.95)), scene=ceiling, touch=Touch(), dt=0.01)
    simulation.stick("brick", "ceiling", 1.01 * g)
    assert abs(simulation.run(np.zeros((20, 0))).q[-1, 2] - 0.95) < 1e-8
    other = simulation.copy()
    simulation.stick("ceiling", "brick", 0.0)
    assert simulation.run(np.zeros((20, 0))).q[-1, 2] < 0.8
    assert abs(other.run(np.zeros((20, 0))).q[-1, 2] - 0.95) < 1e-8  # the copy goes on hanging
    with pytest.raises(BunrakuError, match="may not touch"):
        simulation.stick("brick", "sky", 1.0)
    with pytest.raises(BunrakuError, match="adhesion is -1"):
        simulation.stick("brick", "ceiling", -1.0)


def test_halving_the_step_halves_the_error() -> None:
    """A ball that falls, slides and rolls; an impact is seen at the end of its step, so errors vary by a step's worth."""
    fig = one("ball", sphere(0.05, mass=1.0), (0, 0, 0.2, 0, 0, 0))
    ends = [
        roll(fig, round(0.6 / dt), dt=dt, v=[0.8, 0.2, 0, 0, 0, 0], matter=Matter(friction=0.2))[0][-1, :3]
        for dt in (8e-3, 4e-3, 2e-3, 1e-3, 1.25e-4)
    ]
    errors = [float(np.abs(end - ends[-1]).max()) for end in ends[:-1]]
    assert errors[3] < 0.25 * errors[0]
    assert all(error < 2.0 * dt for error, dt in zip(errors, (8e-3, 4e-3, 2e-3, 1e-3), strict=True))


def test_simulate_takes_touch_by_word_and_marks_meetings() -> None:
    ball = bunraku.library.football(at=(0.0, 0.0, 0.3))
    motion = bunraku.simulate(ball, duration=0.5, scene=FLOOR, touch="all")
    assert motion.only.q[-1, 2] == pytest.approx(0.05, abs=1e-9)
    assert [mark.text for mark in motion.marks if mark.kind == "touch"] == ["football meets floor"]
    falls = bunraku.simulate(ball, duration=0.5, scene=FLOOR)
    assert falls.only.q[-1, 2] < -0.5


def test_bodies_in_each_other_at_the_start_are_named() -> None:
    with pytest.raises(BunrakuError, match="football and floor are in each other"):
        bunraku.simulate(bunraku.library.football(at=(0, 0, 0.04)), duration=0.1, scene=FLOOR, touch="all")
    with pytest.raises(BunrakuError, match="nothing_here"):
        bunraku.simulate(bunraku.library.football(), duration=0.1, scene=FLOOR, touch=[["football", "nothing_here"]])
    with pytest.raises(BunrakuError, match="expected `all`"):
        bunraku.simulate(bunraku.library.football(), duration=0.1, scene=FLOOR, touch=3)


def test_a_leg_kicks_against_its_stops_as_without_touch() -> None:
    """Limits move with their joint alone; where it is eliminated, they meet the joints above."""
    at = (0.0, 0.0, -0.3)
    bone = capsule(0.03, start=(0.0, 0.0, 0.0), to=at, mass=1.0)
    shin = rx("knee", bone, at=at, start=0.8, limits=(0.0, 2.0))
    thigh = rx("hip", bone, shin, at=at, start=-0.6, limits=(-0.6, 0.2))
    trunk = rx("trunk", bone, thigh, at=(0.0, 0.0, 1.0), start=0.9)
    ball = free("ball", sphere(0.1, mass=1.0), start=(1.0, 0.0, 0.1, 0.0, 0.0, 0.0))
    alone = Simulation(figure("leg", trunk)).run(np.zeros((200, 0)))
    out = TouchSimulation(figure("leg", trunk, ball), scene=FLOOR, touch=Touch()).run(np.zeros((200, 0)))
    assert (alone.states[:, :4] > 0).any(0).sum() == 2  # its knee and its hip stop
    assert not (out.bits & (STEP_BITS.divided | STEP_BITS.retried)).any()
    np.testing.assert_allclose(out.q[:, :3], alone.q, atol=1e-9)
    np.testing.assert_allclose(out.q[:, 5], 0.1, atol=1e-9)


def test_steps_one_by_one_meet_what_a_run_meets() -> None:
    """What is known of distant pairs is kept from call to call, and by copies."""
    parts = {f"ball{k}": one("ball", sphere(0.05, mass=1.0), (2.0 * k, 0.0, 0.05, 0.0, 0.0, 0.0)) for k in range(2)}
    fig = together("balls", parts)
    v = [0.0] * fig.n_q
    v[fig.index("ball0.ball_tx")] = 4.0
    matter = Matter(friction=0.0, restitution=0.5)
    stepwise, whole = (TouchSimulation(fig, v=v, scene=FLOOR, touch=Touch(matter=matter), dt=0.01) for _ in range(2))
    q = whole.run(np.zeros((100, 0))).q
    for k in range(100):
        stepwise.step([])
        if k == 30:
            stepwise = stepwise.copy()
        np.testing.assert_allclose(stepwise.q, q[k], atol=1e-9)
    assert q[-1, fig.index("ball1.ball_tx")] > 2.5


def test_tensions_of_steps_in_parts_add_up_to_the_impulse_that_holds_a_weight() -> None:
    """A weight hangs beside a plate at which a ball is thrown so fast that the step in which it arrives is divided."""
    thrown = free("ball", sphere(0.02, mass=0.1), start=(0.5, 0, 0.37, 0, 0, 0))
    weight, hand = translate("z", "bob_z", sphere(0.02, mass=0.2), start=0.0), tx("hand", at=(0, 0, 1.0), kinematic=True)
    made, v = figure("beside", thrown, weight, hand, strings=[string("rope", "bob_z", "hand", 1.0)]), np.zeros(8)
    v[2] = -20.0
    plate = Scene("plate", (Obstacle("plate", Box((0.2, 0.2, 0.02)), (0.5, 0, 0)),), floor=None)
    simulation = TouchSimulation(made, v=v, scene=plate, touch=Touch(), dt=0.01)
    bits, tension = [], []
    for _ in range(8):
        bits.append(int(simulation.step().bits[0]))
        tension.append(float(simulation.tension[0]))
    assert any(b & STEP_BITS.divided for b in bits)
    assert not bits[-1] & STEP_BITS.divided
    held = 0.01 * (0.5 * tension[0] + sum(tension[1:]))  # the first impulse is for half a step
    assert held == pytest.approx(0.2 * g * 0.01 * (len(tension) - 0.5), rel=1e-9)
