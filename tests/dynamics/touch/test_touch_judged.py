"""Touch before an independent judge (tests.dynamics.touch.judge): piles of all shapes, puppets with props, plates, odd masses."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray

import bunraku
from bunraku.collision.coal_extra import coal
from bunraku.collision.coal_shapes import solid
from bunraku.collision.manifold.touch_rules import Matter, Touch, TouchPair
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.simulation import Steps
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.figure import Figure
from bunraku.figure.build import Attached, body, box, capsule, cylinder, figure, free, mesh, sphere
from bunraku.figure.shape import Box, Capsule, Cylinder, Geometry, Sphere
from bunraku.figure.together import started, together
from bunraku.scene import Obstacle, Scene
from bunraku.spatial import so3
from tests.dynamics.touch.judge import Judge, signed_distance, solid_of

Array = NDArray[np.float64]
g = 9.81
FLOOR = Scene("floor")
MAX_DEPTH = 1e-6


def judged(
    fig: Figure, steps: int, *, dt: float = 0.01, v: Array | None = None, scene: Scene | None = FLOOR, touch: Touch = Touch(),
    kinematic: Array | None = None, every: int = 1,
) -> tuple[Steps, TouchSimulation]:  # fmt: skip
    """A run whose every configuration was judged."""
    simulation = TouchSimulation(fig, v=v, scene=scene, touch=touch, dt=dt)
    judge = Judge(simulation)
    asked = np.repeat(np.array(fig.start)[None, fig.n_dynamic :], steps, 0) if kinematic is None else kinematic
    out = simulation.run(asked)
    for q in [*out.q[::every], out.q[-1]]:
        depth, who = judge.deepest(q)
        assert depth < MAX_DEPTH, f"{who} are in each other by {depth:g} m"
    return out, simulation


def one(part: Attached | tuple[Attached, ...], start: tuple[float, ...]) -> Figure:
    return figure("b", free("b", *(part if isinstance(part, tuple) else (part,)), start=start))


def rock(folder: Path, seed: int) -> str:
    """A convex mesh of random points."""
    path = folder / f"rock{seed}.stl"
    points = np.random.default_rng(seed).normal(size=(12, 3))
    points *= np.array([0.06, 0.05, 0.04]) / np.linalg.norm(points, axis=1)[:, None]
    trimesh.convex.convex_hull(points).export(path)
    return str(path)


def random_part(rng: np.random.Generator, folder: Path) -> tuple[Attached, ...]:
    s, mass = rng.uniform(0.6, 1.4), float(10 ** rng.uniform(-1, 1))
    match rng.integers(5):
        case 0:
            return (sphere(0.05 * s, mass=mass),)
        case 1:
            return (capsule(0.03 * s, 0.1 * s, mass=mass),)
        case 2:
            return (box(tuple(0.08 * s * rng.uniform(0.5, 1.3, 3)), mass=mass),)
        case 3:
            return (cylinder(0.04 * s, 0.09 * s, mass=mass),)
        case _:
            return (mesh(rock(folder, int(rng.integers(5)))), body(mass, (0, 0, 0), (1e-3 * mass,) * 3))


def pile(seed: int, folder: Path, steps: int) -> None:
    rng = np.random.default_rng(seed)
    parts = {
        f"p{k}": one(random_part(rng, folder), (*rng.uniform(-0.08, 0.08, 2), 0.15 + 0.22 * k, *rng.uniform(-2, 2, 3)))
        for k in range(int(rng.integers(2, 8)))
    }
    walls = tuple(
        Obstacle(f"wall{k}", Box((0.1, 0.6, 3.0) if k < 2 else (0.6, 0.1, 3.0)), (s * 0.25, 0, 1) if k < 2 else (0, s * 0.25, 1))
        for k, s in enumerate((-1, 1, -1, 1))
    )
    touch = Touch(matter=Matter(friction=float(rng.choice([0.0, 0.3, 0.8]))))
    out, _ = judged(
        together("pile", parts), steps, dt=float(rng.choice([0.002, 0.005, 0.01])), scene=Scene("box", walls), touch=touch
    )
    assert np.isfinite(out.q).all()
    energy = out.energy.sum(1)
    assert energy.max() < (1.0 + 1e-9) * energy[0], "energy grew"
    assert np.mean(out.bits & (STEP_BITS.held | STEP_BITS.frozen) > 0) < 0.05


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, 2, 3])
def test_piles_of_all_shapes(seed: int, tmp_path: Path) -> None:
    pile(seed, tmp_path, 120)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_many_piles_of_all_shapes(seed: int, tmp_path: Path) -> None:
    pile(1000 + seed, tmp_path, 200)


def test_a_corner_that_comes_over_the_rim_of_a_cylinder_is_seen(tmp_path: Path) -> None:
    """It is beside neither mantle nor end. In this pile a box sank 1.9 mm into a cylinder below it."""
    pile(991048, tmp_path, 120)


@pytest.mark.parametrize("turned", [0.0, 1e-9, 1e-4, 0.01, 0.2])
def test_a_cylinder_slides_against_the_end_of_another(turned: float) -> None:
    """Both lie on the floor. Exactly across, the lowest point of the rim says nothing about where the mantle crosses it."""
    lies, across = (0.5 * math.pi, 0.0, 0.5 * math.pi), (turned, 0.0, 0.5 * math.pi)
    parts = {"stands": one(cylinder(0.0544, 0.1224, mass=1.0), (0.139, 0.0, 0.0544, *lies)),
             "slides": one(cylinder(0.0513, 0.1154, mass=0.1), (0.0, 0.003, 0.0513, *across))}  # fmt: skip
    both = together("both", parts)
    v = np.zeros(both.n_q)
    v[both.index("slides.b_tx")] = 0.6
    out, _ = judged(both, 30, v=v, touch=Touch(matter=Matter(friction=0.0)))
    at, other = both.index("slides.b_tx"), both.index("stands.b_tx")
    rates = np.diff(out.q[-2:, [at, other]], axis=0)[0] / 0.01
    assert 0.1 * rates[0] + rates[1] == pytest.approx(0.06, rel=1e-3)  # nothing else pushes along x
    assert rates[1] > 0.04


def test_the_judge_agrees_with_coal() -> None:
    shapes: list[Geometry] = [Sphere(0.1), Capsule(0.06, 0.3), Box((0.2, 0.3, 0.16)), Cylinder(0.08, 0.3)]
    rng = np.random.default_rng(1)
    asked = coal.DistanceRequest()
    asked.gjk_tolerance = asked.epa_tolerance = 1e-9
    asked.enable_signed_distance = True
    shallow = 0
    for _ in range(60):
        a, b = shapes[rng.integers(4)], shapes[rng.integers(4)]
        X = [(so3.exp(2 * rng.normal(size=3)), 0.16 * rng.normal(size=3)) for _ in range(2)]
        first, second = coal.Transform3s(*X[0]), coal.Transform3s(*X[1])
        theirs = coal.distance(solid(a).coal, first, solid(b).coal, second, asked, coal.DistanceResult())
        ours = signed_distance(solid_of(a).moved(*X[0]), solid_of(b).moved(*X[1]))
        assert (ours > 0) == (theirs > 0)
        if -0.03 < theirs < 0:  # coal gives up on deeper cylinders
            shallow += 1
            assert ours == pytest.approx(theirs, abs=1e-5)
    assert shallow > 3


@pytest.mark.parametrize("angle", [0.3, 1.1, 2.5, 4.0])
def test_friction_is_a_cone(angle: float) -> None:
    """A box that slides in any direction goes straight, and stops where Coulomb says."""
    along = np.array([math.cos(angle), math.sin(angle)])
    out, _ = judged(
        one(box((0.1, 0.1, 0.04), mass=1.0), (0, 0, 0.02, 0, 0, 0)), 120, dt=0.005, v=np.array([*along, 0, 0, 0, 0]),
        touch=Touch(matter=Matter(friction=0.4)), every=20,
    )  # fmt: skip
    end = out.q[-1]
    assert end[:2] @ along == pytest.approx(1.0 / (2 * 0.4 * g), rel=0.02)
    assert abs(end[:2] @ [-along[1], along[0]]) < 1e-9
    np.testing.assert_allclose(end[3:], 0.0, atol=1e-9)
    np.testing.assert_allclose(out.q[-1], out.q[-40], atol=1e-12)


@pytest.mark.parametrize("restitution", [0.3, 0.6, 0.9])
def test_three_bounces_lose_height_by_the_square_of_restitution(restitution: float) -> None:
    out, _ = judged(
        one(sphere(0.05, mass=0.3), (0, 0, 0.55, 0, 0, 0)), 900, dt=0.001, touch=Touch(matter=Matter(restitution=restitution)),
        every=50,
    )  # fmt: skip
    z = out.q[:, 2] - 0.05
    tops = [float(z[k]) for k in range(1, len(z) - 1) if z[k - 1] < z[k] >= z[k + 1] and z[k] > 0.02]
    for k, top in enumerate(tops[:3]):
        assert top == pytest.approx(0.5 * restitution ** (2 * (k + 1)), rel=0.05)
    assert tops


@pytest.mark.parametrize("ratio", [1e-4, 1e-2, 1e3])
def test_masses_may_differ_much(ratio: float) -> None:
    """A crate on a crate of another mass stays where it is."""
    parts = {"below": one(box((0.1, 0.1, 0.1), mass=1.0), (0, 0, 0.05, 0, 0, 0)),
             "above": one(box((0.1, 0.1, 0.1), mass=ratio), (0.02, 0.01, 0.15, 0.4, 0, 0))}  # fmt: skip
    pair = together("pair", parts)
    out, simulation = judged(pair, 100, every=20)
    np.testing.assert_allclose(out.q[-1], pair.start, atol=1e-7)
    last = simulation.log.step == 99
    weight = simulation.log.normal[last & (simulation.log.bodies[:, 1] == 2)].sum() / 0.01
    assert weight == pytest.approx((1.0 + ratio) * g, rel=1e-6)


@pytest.mark.parametrize("speed", [20.0, 100.0])
@pytest.mark.parametrize("part", [sphere(0.02, mass=0.1), box((0.05, 0.04, 0.03), mass=0.1)], ids=["sphere", "box"])
def test_nothing_flies_through_a_thin_plate(part: Attached, speed: float) -> None:
    """In a step of 10 ms what is fast goes many times its size."""
    scene = Scene("plate", (Obstacle("plate", Box((0.6, 0.6, 0.001)), (0, 0, 0)),), floor=None)
    for slant in (0.0, 0.7):
        fig = one(part, (-0.3 * slant, 0.02, 0.37, 0.3, 0.2, 0.1)).replace(gravity=(0.0, 0.0, 0.0))
        v = np.array([slant * speed, 0.0, -speed, 3.0, 0.0, 0.0])
        out, simulation = judged(fig, 12, v=v, scene=scene)
        assert len(simulation.log.gap), "it hit the plate"
        assert out.q[:, 2].min() > 0.0


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(8))
def test_cylinders_thrown_at_a_plate_gain_no_energy(seed: int, restitution: float) -> None:
    """At 20 m/s a rim that hits whirls its cylinder round at 1,000 rad/s: many times its size and its turn in a step."""
    rng = np.random.default_rng(8100 + seed)
    way = rng.normal(size=3) * [1, 1, 0] - [0, 0, 1.5]
    way /= np.linalg.norm(way)
    parts = {"prop": one(cylinder(0.02, 0.03, mass=0.1), (*(-0.5 * way), *rng.uniform(-1, 1, 3))),
             "plate": one(box((0.6, 0.6, 0.002), mass=0.5), (0,) * 6)}  # fmt: skip
    pair = together("pair", parts).replace(gravity=(0.0, 0.0, 0.0))
    v = np.concatenate([20.0 * way, 20.0 * rng.normal(size=3), np.zeros(6)])
    out, simulation = judged(
        pair, 12, dt=(0.005, 0.01, 0.02)[seed % 3], v=v, scene=None, touch=Touch(matter=Matter(0.3, restitution))
    )
    assert len(simulation.log.gap), "it hit the plate"
    assert out.energy.sum(1).max() < 1.01 * out.energy[0].sum()
    rates = np.diff(out.q[-2:], axis=0)[0] / simulation.dt
    np.testing.assert_allclose(0.1 * rates[:3] + 0.5 * rates[6:9], 2.0 * way, atol=1e-9)


def test_two_small_things_meet_in_flight() -> None:
    """Balls of 4 cm at 60 m/s, which pass each other within a step of 10 ms."""
    parts = {k: one(sphere(0.02, mass=0.1), (x, y, 0, 0, 0, 0)) for k, x, y in (("a", -0.33, 0.0), ("b", 0.33, 0.012))}
    pair = together("pair", parts).replace(gravity=(0.0, 0.0, 0.0))
    v = np.zeros(12)
    v[0], v[6] = 60.0, -60.0
    _, simulation = judged(pair, 4, v=v, scene=None)
    assert len(simulation.log.gap)


@pytest.mark.slow
def test_a_wall_of_bricks_with_hundreds_of_contacts_stands() -> None:
    bricks = {}
    for row in range(5):
        for k in range(5):
            x = 0.12 * k + 0.03 * (row % 2)
            bricks[f"b{row}_{k}"] = one(box((0.12, 0.06, 0.05), mass=0.7), (x, 0, 0.025 + 0.05 * row, 0, 0, 0))
    wall = together("wall", bricks)
    out, simulation = judged(wall, 30, every=15)
    assert (simulation.log.step == 29).sum() > 100
    np.testing.assert_allclose(out.q[-1], wall.start, atol=1e-6)


@pytest.mark.slow
def test_a_stack_of_ten_stands_for_a_minute() -> None:
    bricks = {
        f"b{k}": one(box((0.1, 0.1, 0.1), mass=1.0), (0.004 * (k % 2), 0.002 * (k % 3), 0.05 + 0.1 * k, 0, 0, 0)) for k in range(10)
    }
    stack = together("stack", bricks)
    out, _ = judged(stack, 6000, every=100)
    assert not (out.bits & (STEP_BITS.held | STEP_BITS.frozen)).any()
    np.testing.assert_allclose(out.q, np.broadcast_to(stack.start, out.q.shape), atol=1e-6)


def eased(n: int) -> Array:
    s = np.clip(np.linspace(0.0, 1.0, n), 0, 1)
    return np.asarray(s * s * (3 - 2 * s))


def asked_of(puppet: Figure, steps: int, changes: dict[str, Array]) -> Array:
    """Kinematic variables over time: those at the start, and changes of some."""
    out = np.repeat(np.array(puppet.start)[None, puppet.n_dynamic :], steps, 0)
    for name, change in changes.items():
        out[:, puppet.index(name) - puppet.n_dynamic] += change
    return out


@pytest.mark.parametrize("adhesion", [0.0, 4.0])
def test_two_hold_hands(adhesion: float) -> None:
    """Hands that meet hold each other by adhesion when the two are moved apart; without it they part."""
    one_puppet = bunraku.library.marionette25()
    apart, sideways = 0.262, [name for name in one_puppet.kinematic if name.endswith("_x")]
    moved = {name: one_puppet.start[one_puppet.index(name)] + apart for name in ("torso_tx", *sideways)}
    pair = together("pair", {"left": one_puppet, "right": started(one_puppet, moved)})
    hands = TouchPair("left.relbow_rx.left.hand", "right.lelbow_rx.right.hand", Matter(adhesion=adhesion))
    way = np.concatenate([-0.06 * eased(60), np.full(20, -0.06), -0.06 + 0.05 * eased(60), np.full(20, -0.01)])
    asked = asked_of(pair, len(way), {f"right.{name}": way for name in sideways})
    _, simulation = judged(pair, len(way), scene=None, touch=Touch((hands,)), kinematic=asked, every=5)
    assert len(simulation.log.gap), "they met"
    assert (simulation.log.step.max() > 150) == (adhesion > 0)


def held_joints(robot: Figure, stiffness: float, damping: float) -> Figure:
    """A robot whose motors hold its joints where they start."""
    from dataclasses import replace

    driven = {force.variable for force in robot.forces}  # type: ignore[union-attr]

    def servo(frame):  # type: ignore[no-untyped-def]
        v = frame.variable
        if v is None or v.name not in driven:
            return frame
        return replace(frame, variable=replace(v, stiffness=stiffness, damping=damping, rest=v.start))

    return robot.replace(frames=tuple(servo(frame) for frame in robot.frames), contacts=())


def test_a_humanoid_stands_on_its_soles() -> None:
    robot = held_joints(bunraku.library.humanoid(), 300.0, 3.0)
    mass = sum(b.mass for b in robot.bodies)
    out, simulation = judged(robot, 400, dt=0.005, every=40)
    np.testing.assert_allclose(out.q[-1], out.q[-100], atol=1e-5)
    assert out.q[-1, 2] > 0.3
    last = simulation.log.step == 399
    assert simulation.log.normal[last].sum() / 0.005 == pytest.approx(mass * g, rel=1e-3)
    feet = {simulation.bodies.names[a] for a in simulation.log.bodies[last, 0]}
    assert all("sole" in name for name in feet)


@pytest.mark.parametrize("down", [(0.0, 0.0, 9.81), (-9.81, 0.0, 0.0)], ids=["ceiling", "wall"])
def test_a_gecko_hangs_by_adhesion(down: tuple[float, float, float]) -> None:
    """It first settles on a floor, which then becomes a wall or a ceiling: weight pulls along it or away from it."""
    robot = held_joints(bunraku.library.gecko(), 4.0, 0.05)
    legs = tuple((f"{leg}_elbow", "floor") for leg in ("front_left", "front_right", "rear_left", "rear_right"))
    sticky = Touch(matter=Matter(friction=0.8, adhesion=1.0), except_for=legs)
    out, _ = judged(robot, 200, dt=0.005, touch=sticky, every=50)
    assert np.abs(out.q[-1] - out.q[-2]).max() / 0.005 < 1e-2
    hanging = robot.replace(gravity=down)
    simulation = TouchSimulation(hanging, out.q[-1], scene=FLOOR, touch=sticky, dt=0.005)
    judge = Judge(simulation)
    end = simulation.run(np.zeros((300, 0)))
    assert max(judge.deepest(q)[0] for q in end.q[::30]) < MAX_DEPTH
    assert end.q[-1, 2] < out.q[-1, 2] + 0.02, "it did not fall"
    np.testing.assert_allclose(end.q[-1], end.q[-60], atol=1e-4)
    loose = TouchSimulation(hanging, out.q[-1], scene=FLOOR, touch=Touch(matter=Matter(friction=0.8), except_for=legs), dt=0.005)
    gone = loose.run(np.zeros((100, 0))).q[-1, :3] - out.q[-1, :3]
    assert np.linalg.norm(gone) > 0.1, "without adhesion it falls"
