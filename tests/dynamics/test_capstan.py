"""Strings that rub: closed forms, tensions on both sides, what sticks, order in dt, energy, derivatives, files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import bunraku
from bunraku.dynamics import Simulation, simulate
from bunraku.dynamics.simulation import Steps
from bunraku.dynamics.step_derivatives import step_once
from bunraku.errors import BunrakuError
from bunraku.figure import Figure, Point, Pulley
from bunraku.figure.build import body, contact, drum, eyelet, figure, pulley, rx, ry, string, tx, tz
from bunraku.figure.frame import WORLD
from bunraku.kinematics import pose

Array = NDArray[np.float64]
g = 9.81
LEFT, RIGHT, SHEAVE = 1.5, 1.0, 0.1
TOP = ("world", (0.0, 0.0, 1.0))


def atwood(friction: float, turns: int = 0) -> Figure:
    return figure(
        "atwood",
        tz("left", body(LEFT), at=(-SHEAVE, 0, 0)),
        tz("right", body(RIGHT), at=(SHEAVE, 0, 0)),
        strings=[string("rope", "left", "right", through=[pulley(TOP, SHEAVE, "y", turn=1, turns=turns, friction=friction)])],
    )


def swinging(friction: float) -> Figure:
    """Two pendulums on one string over a bollard."""
    return figure(
        "swinging",
        ry("left_swing", tz("left", body(LEFT, inertia=(1e-3, 1e-3, 1e-3)), start=-0.8), at=(-0.3, 0, 0.9)),
        ry("right_swing", tz("right", body(RIGHT, inertia=(1e-3, 1e-3, 1e-3)), start=-0.7), at=(0.25, 0, 0.95)),
        strings=[string("rope", "left", "right", through=[pulley(TOP, SHEAVE, "y", turn=1, friction=friction)])],
    )


def tilted(friction: float) -> Figure:
    """Eyelets and sheaves that rub, in a row, on a cradle that swings; one of them turns."""
    through = [
        eyelet(("cradle", (-0.25, 0, 0.02)), 0.1),
        pulley("sheave", SHEAVE, "y", turn=1, friction=friction),
        pulley(("cradle", (0.3, 0, 0.05)), 0.05, "y", turn=1, friction=0.05),
        eyelet(("world", (0.5, 0, 0.8)), 0.07),
    ]
    return figure(
        "tilted",
        rx("cradle", ry("sheave", body(0.2, inertia=(2e-3,) * 3)), body(0.5, (0, 0, -0.1), (1e-2,) * 3), at=(0, 0, 1)),
        ry("swing", rx("lean", tz("left", body(LEFT, inertia=(1e-3,) * 3), start=-0.8)), at=(-0.2, 0, 0.9)),
        tz("right", body(RIGHT), at=(0.5, 0.02, 0)),
        strings=[string("rope", "left", "right", through=through)],
    )


def run(fig: Figure, steps: int, dt: float = 0.005, v: list[float] | None = None) -> Steps:
    simulation, n = Simulation(fig, v=v, dt=dt), fig.n_dynamic
    return simulation.run(np.tile(simulation.q[n:], (steps, 1)))


def sides(fig: Figure, impulse: Array) -> dict[int, tuple[Array, Array]]:
    """Impulses before and behind every place where the only string of `fig` rubs, on the sides of hook and spindle."""
    out, T = {}, impulse[:, 0]
    for k, name in enumerate(fig.compiled.link_names):
        if name.startswith("rope.friction"):
            out[int(name.removeprefix("rope.friction"))] = (T + impulse[:, k], T)
            T = T + impulse[:, k]
    return out


def bends(fig: Figure, q: Array, place: int) -> float:
    """By how much the only string of `fig` bends at a place of its way, by tangents in complex numbers or plain vectors."""
    at, here = fig.strings[0].way[place], pose(fig, q)

    def where(p: object) -> Array:
        assert isinstance(p, Point)
        return np.asarray(p.position if p.frame == WORLD else here.X(p.frame)[:3] @ [*p.position, 1.0], float)

    way = fig.strings[0].way
    if not isinstance(at, Pulley):
        axis = None
    else:
        axis = np.array(at.axis) if at.frame == WORLD else here.X(at.frame)[:3, :3] @ np.array(at.axis)

    def direction(i: int) -> Array:
        """Of the piece from place i to the next, between circles of these signed radii."""
        a, b = way[i], way[i + 1]
        d = where(b) - where(a)
        own = axis
        if own is None:
            for p in (a, b):
                if isinstance(p, Pulley):
                    own = np.array(p.axis) if p.frame == WORLD else here.X(p.frame)[:3, :3] @ np.array(p.axis)
        if own is None:
            return np.asarray(d / np.linalg.norm(d))
        w = sum(s * p.turn * p.radius for p, s in ((a, -1.0), (b, 1.0)) if isinstance(p, Pulley))
        flat = d - (own @ d) * own
        t = np.sqrt(flat @ flat - w * w)
        return np.asarray((t * flat - w * np.cross(own, flat)) / (flat @ flat))

    u, v = direction(place - 1), direction(place)
    angle = np.arccos(np.clip(u @ v, -1.0, 1.0))
    if axis is not None and isinstance(at, Pulley):
        turned = np.arctan2(at.turn * axis @ np.cross(u, v), u @ v)
        angle = turned + (2.0 * np.pi if turned < -0.5 * np.pi else 0.0) + 2.0 * np.pi * at.turns
    return float(angle)


@pytest.mark.parametrize("friction", [0.02, 0.1, 0.129])
def test_atwood_slips_as_in_the_book(friction: float) -> None:
    """m₁ g − T₁ = m₁ a, T₂ − m₂ g = m₂ a, T₁ = e^{μπ} T₂."""
    fig, k = atwood(friction), np.exp(np.pi * friction)
    motion = simulate(fig, duration=0.5, dt=0.01)
    a = g * (LEFT - RIGHT * k) / (LEFT + RIGHT * k)
    np.testing.assert_allclose(motion.q[:, 0], -0.5 * a * motion.t**2, atol=1e-9)
    hook, spindle = sides(fig, run(fig, 40).impulse)[1]
    np.testing.assert_allclose(hook / spindle, k, rtol=1e-9)
    np.testing.assert_allclose(motion.tension[1:-1, 0], RIGHT * (g + a), rtol=1e-9)


@pytest.mark.parametrize(("friction", "turns"), [(0.2, 0), (0.06, 1), (0.3, 3)])
def test_what_holds_does_not_creep(friction: float, turns: int) -> None:
    fig = atwood(friction, turns)
    steps = run(fig, 2000, dt=0.01)
    np.testing.assert_allclose(steps.q[:, :2], 0.0, atol=1e-10)
    np.testing.assert_allclose(steps.impulse[1:].sum(1), LEFT * g * 0.01, rtol=1e-9)
    np.testing.assert_allclose(steps.impulse[1:, 0], RIGHT * g * 0.01, rtol=1e-9)


def test_a_bollard_holds_a_ship() -> None:
    """Three turns and a half at μ = 0.25: the sailor eases the rope out, and feels e^{−μφ} of the load."""
    fig = figure(
        "bollard",
        tx("ship", body(1000.0), at=(-5.0, -SHEAVE, 0)),
        tx("hand", kinematic=True, at=(-1.0, SHEAVE, 0)),
        strings=[string("rope", "ship", "hand", 6.0 + 7 * np.pi * SHEAVE, through=[pulley(
            ("world", (0, 0, 0)), SHEAVE, "z", turn=1, turns=3, friction=0.25
        )])],
        gravity=(-3.0, 0.0, 0.0),
    )  # fmt: skip
    simulation = Simulation(fig, dt=0.01)
    hook, spindle = sides(fig, simulation.run(0.002 * np.arange(1, 101)[:, None]).impulse)[1]
    np.testing.assert_allclose(hook[20:], 1000.0 * 3.0 * 0.01, rtol=1e-9)  # at a steady speed
    np.testing.assert_allclose(hook[20:] / spindle[20:], np.exp(0.25 * 7 * np.pi), rtol=1e-9)
    held = simulation.run(np.tile(simulation.q[1:], (200, 1)))
    np.testing.assert_allclose(held.q[-1, 0], held.q[5, 0], atol=1e-9)  # he stops: it holds


@pytest.mark.parametrize("make", [swinging, tilted])
def test_ratio_of_tensions_wherever_it_slips(make: object) -> None:
    """No place exceeds e^{μφ} of the angle at the start of its step, and those that slip have just that."""
    fig = make(0.1)  # type: ignore[operator]
    v = [1.0, 0.2, -1.5, -0.2, 0.0] if fig.name == "swinging" else None
    steps, slipped = run(fig, 120, v=v), 0
    assert not steps.bits.any()
    names = fig.compiled.link_names
    for place, (hook, spindle) in sides(fig, steps.impulse).items():
        c = names.index(f"rope.friction{place}")
        mu = fig.strings[0].way[place].friction  # type: ignore[union-attr]
        for k in range(1, len(hook)):
            most = np.exp(mu * bends(fig, steps.q[k - 1], place))
            ratio = hook[k] / spindle[k]
            assert 1.0 / most - 1e-9 <= ratio <= most + 1e-9
            if steps.states[k, c] == 2:
                assert min(abs(ratio - most), abs(ratio - 1.0 / most)) < 1e-7
                slipped += 1
    assert slipped > 50


@pytest.mark.parametrize("inertia", [1e-3, 2e-2])
def test_a_sheave_turns_with_its_string(inertia: float) -> None:
    """The string grips the sheave, whose inertia it turns: many times round, at the acceleration of the book."""
    rope = string("rope", "left", "right", through=[pulley("sheave", SHEAVE, "y", turn=1, friction=1.0)])
    fig = figure(
        "sheave",
        tz("left", body(LEFT), at=(-SHEAVE, 0, 0)),
        tz("right", body(RIGHT), at=(SHEAVE, 0, -10.0)),
        ry("sheave", body(0.0, inertia=(inertia, inertia, inertia)), at=(0, 0, 1)),
        strings=[rope],
    )
    motion = simulate(fig, duration=2.0, dt=0.005)
    fall = 0.5 * g * (LEFT - RIGHT) / (LEFT + RIGHT + inertia / SHEAVE**2) * motion.t**2
    assert fall[-1] > 3 * 2 * np.pi * SHEAVE
    np.testing.assert_allclose(motion.q[:, 0], -fall, atol=1e-8)
    np.testing.assert_allclose(np.abs(motion.q[:, 2]) * SHEAVE, fall, atol=1e-8)


def test_a_sheave_that_is_too_heavy_slips() -> None:
    """Its string can turn it with no more than (e^{μπ} − 1) of the smaller tension."""
    k, inertia = np.exp(0.05 * np.pi), 1.0
    fig = figure(
        "sheave",
        tz("left", body(LEFT), at=(-SHEAVE, 0, 0)),
        tz("right", body(RIGHT), at=(SHEAVE, 0, -1.0)),
        ry("sheave", body(0.0, inertia=(inertia, inertia, inertia)), at=(0, 0, 1)),
        strings=[string("rope", "left", "right", through=[pulley("sheave", SHEAVE, "y", turn=1, friction=0.05)])],
    )
    motion = simulate(fig, duration=0.3, dt=0.005)
    a = g * (LEFT - RIGHT * k) / (LEFT + RIGHT * k)
    spin = (k - 1.0) * RIGHT * (g + a) * SHEAVE / inertia
    np.testing.assert_allclose(motion.q[:, 0], -0.5 * a * motion.t**2, atol=1e-9)
    np.testing.assert_allclose(np.abs(motion.q[:, 2]), 0.5 * spin * motion.t**2, atol=1e-9)


def test_friction_of_a_string_beside_friction_of_the_floor() -> None:
    mu, floor, drag, weight = 0.2, 0.3, 2.0, 1.6
    fig = figure(
        "sledge",
        tx("x", tz("z", ry("tilt", body(drag, inertia=(0.05, 0.05, 0.05)))), at=(-1, 0, 0.1)),
        tz("weight", body(weight), at=(0.1, 0, -0.5)),
        strings=[
            string("rope", ("tilt", (0.1, 0, 0)), "weight", through=[pulley(("world", (0, 0, 0)), 0.1, "y", turn=1, friction=mu)])
        ],
        contacts=[contact(f"runner{s}", ("tilt", (0.1 * s, 0, -0.1)), friction=floor) for s in (-1, 1)],
    )
    steps, k = run(fig, 50, dt=0.01), np.exp(0.5 * np.pi * mu)
    a = g * (weight - floor * drag * k) / (weight + drag * k)
    np.testing.assert_allclose(steps.q[-1, 0], 0.5 * a * 0.25, atol=1e-8)


def test_order_two_while_it_slips() -> None:
    ends = []
    for halvings in range(4):
        dt = 0.02 / 2**halvings
        steps = run(tilted(0.0), round(0.3 / dt), dt)
        assert (steps.states == steps.states[0]).all()
        assert (steps.states == 2).any()
        ends.append(steps.q[-1])
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    assert all(3.6 < a / b < 4.4 for a, b in pairwise(errors)), errors


def test_friction_takes_energy() -> None:
    steps = run(swinging(0.1), 400, dt=0.002, v=[1.0, 0.2, -1.5, -0.2, 0.0])
    total = steps.energy.sum(1)
    assert np.diff(total[2:]).max() < 1e-5 * steps.energy[:, 0].max()  # no more than the ripple of the method
    assert total[-1] < total[2] - 0.05


def test_without_friction_nothing_changes() -> None:
    """To the last bit, and with no row more."""
    free, none = (
        figure(
            "two", ry("swing", tz("left", body(LEFT, inertia=(1e-3,) * 3), start=-0.8), at=(-0.3, 0, 0.9)),
            tz("right", body(1.0), at=(0.3, 0, 0)),
            strings=[string("rope", "left", "right", through=[at])],
        )
        for at in (Point("world", (0, 0, 1.2)), eyelet(("world", (0, 0, 1.2)), 0.0))
    )  # fmt: skip
    assert free.compiled.link_names == none.compiled.link_names
    assert np.array_equal(run(free, 50).q, run(none, 50).q)


# -- derivatives ---------------------------------------------------------------------------------------------------------


def quotient(function: object, x: Array, e: float) -> Array:
    def at(k: int, s: float) -> Array:
        return np.asarray(function(x + s * e * np.eye(len(x))[k]))  # type: ignore[operator]

    return np.stack([(8 * (at(k, 1) - at(k, -1)) - at(k, 2) + at(k, -2)) / (12 * e) for k in range(len(x))], -1)


@pytest.mark.parametrize(
    ("fig", "v", "at", "states"),
    [
        (swinging(0.15), [1.0, 0.2, -1.5, -0.2, 0.0], 3, [1, 2]),
        (swinging(0.9), [1.0, 0.0, -1.5, 0.0, 0.0], 8, [1, 1]),
        (tilted(0.15), None, 15, [1, 2, 2, 1, 2]),
    ],
)
def test_first_and_second_derivatives(fig: Figure, v: list[float] | None, at: int, states: list[int]) -> None:
    dt, n, nq = 0.005, fig.n_dynamic, fig.n_q
    steps = run(fig, at + 2, dt, v)
    x = np.concatenate([steps.q[at], steps.momentum[at], steps.q[at][n:]])

    def outcome(x: Array, order: int) -> tuple[Array, Array, Array | None]:
        one = step_once(fig, x[:nq], x[nq : nq + n], x[nq + n :], dt=dt, tolerance=1e-15)
        assert one.states.tolist() == states
        d = bunraku.step_derivatives(fig, x[:nq], one.q, one.impulse, one.states, dt=dt, order=order)
        return np.concatenate([one.q[:n], one.impulse, one.momentum]), d.D, d.H

    _, D, H = outcome(x, 2)
    assert H is not None
    first = quotient(lambda y: outcome(y, 1)[0], x, 2e-6)
    assert (np.abs(first - D).max(1) < 3e-7 * np.abs(D).max(1)).all()
    second = quotient(lambda y: outcome(y, 1)[1], x, 3e-6)
    size = np.abs(H).max((1, 2))
    assert (np.abs(second - H).max((1, 2)) < 3e-7 * size + 1e-9).all()


# -- files and errors ------------------------------------------------------------------------------------------------------


def test_files_keep_friction(tmp_path: Path) -> None:
    bunraku.save(tilted(0.2), tmp_path / "tilted.yaml")
    again = bunraku.load(tmp_path / "tilted.yaml")
    assert isinstance(again, Figure)
    assert again.strings == tilted(0.2).strings
    bunraku.save(atwood(0.2, 3), tmp_path / "atwood.yaml")
    assert bunraku.load(tmp_path / "atwood.yaml").strings == atwood(0.2, 3).strings  # type: ignore[union-attr]


def test_what_cannot_rub_is_refused() -> None:
    def one(**words: object) -> Figure:
        return figure("one", tz("weight", body(1.0)), strings=[string("rope", "weight", ("world", (1, 0, 1)), **words)])  # type: ignore[arg-type]

    with pytest.raises(BunrakuError, match="stretches"):
        one(through=[eyelet(("world", (0, 0, 1)), 0.1)], stiffness=100.0)
    with pytest.raises(BunrakuError, match="need a turn"):
        pulley(("world", (0, 0, 1)), 0.1, "y", friction=0.1)
    with pytest.raises(BunrakuError, match="friction"):
        eyelet(("world", (0, 0, 1)), -0.1)
    with pytest.raises(BunrakuError, match="need a turn"):
        pulley(("world", (0, 0, 1)), 0.1, turns=2)
    with pytest.raises(BunrakuError, match=r"2\.5 turns"):
        pulley(("world", (0, 0, 1)), 0.1, "y", turn=1, turns=2.5)  # type: ignore[arg-type]


def test_a_string_that_rubs_may_end_on_a_drum() -> None:
    """A winch hoists a load over a sheave that sticks: the rope passes it with e^{μπ/2} of the load."""
    fig = figure(
        "crane",
        tz("load", body(2.0), at=(1.1, 0, 0)),
        ry("winch", kinematic=True, at=(0, 0, 1)),
        strings=[
            string(
                "rope", "load", drum(("world", (0, 0, 1)), 0.08, "y", turn=-1, towards=(1, 0, 0)), 2.13, variable="winch",
                through=[pulley(("world", (1.05, 0, 1)), 0.05, "y", turn=-1, friction=0.2)],
            )
        ],
    )  # fmt: skip
    simulation = Simulation(fig, dt=0.01)
    hook, spindle = sides(fig, simulation.run(simulation.q[1] - 0.01 * np.arange(1, 301)[:, None]).impulse)[1]
    phi = 0.5 * np.pi - np.arcsin((0.08 - 0.05) / 1.05)  # from straight up to the tangent onto the drum
    np.testing.assert_allclose(spindle[20:] / hook[20:], np.exp(0.2 * phi), rtol=1e-9)
    np.testing.assert_allclose(hook[20:], 2.0 * g * 0.01, rtol=1e-9)
