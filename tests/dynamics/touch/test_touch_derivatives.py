"""Derivatives of steps with touch against difference quotients, for every pair of shapes, that stick, slide and roll."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray
from scipy.linalg import expm

from bunraku.collision.manifold.touch_arrays import BODY
from bunraku.collision.manifold.touch_rules import Matter, Touch
from bunraku.dynamics.quantities import momentum
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.touch.moving_rows import row_value
from bunraku.dynamics.touch.touch_derivatives import TouchStep, touch_step_once
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.build import Attached, body, box, capsule, cylinder, figure, free, mesh, sphere
from bunraku.figure.shape import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from bunraku.figure.together import together
from bunraku.scene import Obstacle, Scene

Array = NDArray[np.float64]
PARTS = ("sphere", "capsule", "box", "cylinder", "rock")
SOLIDS = ("floor", "ball", "rod", "block", "drum", "stone")
DT = 0.005


@pytest.fixture(scope="session")
def rocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two convex meshes: the hulls of random points on ellipsoids."""
    folder = tmp_path_factory.mktemp("rocks")
    for name, size, seed in (("rock", (0.12, 0.1, 0.08), 1), ("stone", (0.3, 0.25, 0.2), 2)):
        points = np.random.default_rng(seed).normal(size=(12, 3))
        points *= np.array(size) / np.linalg.norm(points, axis=1)[:, None]
        trimesh.convex.convex_hull(points).export(folder / f"{name}.stl")
    return folder


def part(name: str, rocks: Path) -> tuple[Attached, ...]:
    match name:
        case "sphere":
            return (sphere(0.1, mass=1.0),)
        case "capsule":
            return (capsule(0.06, 0.3, mass=1.0),)
        case "box":
            return (box((0.2, 0.3, 0.16), mass=1.0),)
        case "cylinder":
            return (cylinder(0.08, 0.3, mass=1.0),)
        case _:
            return (mesh(str(rocks / "rock.stl")), body(1.0, (0, 0, 0), (4e-3, 5e-3, 6e-3)))


def solid(name: str, rocks: Path) -> Geometry | None:
    shapes: dict[str, Geometry | None] = {
        "floor": None, "ball": Sphere(0.1), "rod": Capsule(0.06, 0.5), "block": Box((0.5, 0.6, 0.2)), "drum": Cylinder(0.15, 0.4),
        "stone": Mesh(str(rocks / "stone.stl")),
    }  # fmt: skip
    return shapes[name]


def meeting(shape: str, other: str, rocks: Path, seed: int) -> tuple[Figure, Scene]:
    """A free body above something, both turned at random."""
    rng = np.random.default_rng(seed)
    turn, where, axes = rng.uniform(-1.2, 1.2, 3), rng.uniform(-0.05, 0.05, 2), rng.normal(size=4)
    geometry = solid(other, rocks)
    turned = tuple(float(x) for x in axes / np.linalg.norm(axes))
    obstacles = () if geometry is None else (Obstacle("solid", geometry, (0.02, 0.03, 0.0), turned),)
    scene = Scene("around", obstacles, floor=0.0 if geometry is None else None)
    return figure("body", free("body", *part(shape, rocks), start=(*where, 1.0, *turn))), scene


class Meeting:
    """A figure one step before an impact: the variable `falls` is lowered until a step touches, and need not be divided.

    Contacts act in the same way a little beside it: quotients across two modes say nothing.
    """

    def __init__(
        self, made: Figure, scene: Scene | None, v: Array, friction: float, falls: int, *,
        between: tuple[float, float] = (0.0, 1.0), rolling: float = 0.0,
    ) -> None:  # fmt: skip
        self.figure, self.scene, self.touch = made, scene, Touch(matter=Matter(friction=friction, rolling=rolling))
        self.q = np.array(made.start)
        (low, high), k = between, falls
        for _ in range(30 if high > low else 1):
            self.q[k] = 0.5 * (low + high)
            self.p = momentum(made, self.q, v)
            try:
                x = np.concatenate([self.q, self.p])
                hit = bool(self.after(x).pairs) and bool(self.after(x, derivatives=True).pairs)
            except BunrakuError:  # in each other, or met too early in the step: too low
                low = self.q[k]
                continue
            try:
                if hit and self.stays(x):
                    break
            except BunrakuError:  # the same a little beside it
                low = self.q[k]
                continue
            high = self.q[k]

    def stays(self, x: Array) -> bool:
        """Whether the step stays in its mode at all places that quotients are taken from."""
        here = self.after(x, derivatives=True)
        places = [x + k * d for d in self.directions(2) for k in (-2, -1, 1, 2)]
        return all(self.after(place, derivatives=True).modes == here.modes for place in places)

    def directions(self, count: int) -> list[Array]:
        """Small changes of (q0, p0)."""
        rng = np.random.default_rng(5)
        return [1e-6 * rng.normal(size=len(self.q) + len(self.p)) for _ in range(count)]

    def after(self, x: Array, *, derivatives: bool = False) -> TouchStep:
        n = self.figure.n_q
        return touch_step_once(self.figure, x[:n], x[n:], scene=self.scene, touch=self.touch, dt=DT, derivatives=derivatives)

    def corners(self) -> int:
        """How many corners of the overlap of two faces act."""
        simulation = TouchSimulation(self.figure, self.q, scene=self.scene, touch=self.touch, dt=DT)
        simulation._p[:] = self.p
        simulation.step()
        memory = simulation._memory
        keys = memory.key[: int(memory.number[0])][memory.acts[: int(memory.number[0])] > 0]
        return int(np.sum((keys[:, 2] >= BODY.corner) & (keys[:, 2] < BODY.face) & (keys[:, 3] < BODY.rim)))

    def error(self, *, directions: int = 1) -> float:
        """The largest difference between derivatives and difference quotients, relative to the largest derivative."""
        x, e = np.concatenate([self.q, self.p]), 1e-6
        step = self.after(x, derivatives=True)
        assert step.pairs
        assert step.q_dx is not None
        assert step.momentum_dx is not None
        D = np.concatenate([step.q_dx, step.momentum_dx])

        def ahead(x: Array) -> Array:
            out = self.after(x)
            assert set(out.pairs) == set(step.pairs)
            return np.concatenate([out.q, out.momentum])

        worst = 0.0
        for d in self.directions(directions):
            quotient = (8 * (ahead(x + d) - ahead(x - d)) - (ahead(x + 2 * d) - ahead(x - 2 * d))) / 12
            worst = max(worst, float(np.abs(D @ d - quotient).max()) / e)
        return worst / max(1.0, float(np.abs(D).max()))


FLOOR = Scene("floor")
V = np.array([0.3, -0.2, -1.0, 0.5, -0.4, 0.3])
FRICTION = pytest.mark.parametrize("friction", [0.0, 0.1, 5.0], ids=["smooth", "slides", "sticks"])


@pytest.mark.parametrize("other", SOLIDS)
@pytest.mark.parametrize("shape", PARTS)
def test_derivatives_are_difference_quotients(shape: str, other: str, rocks: Path) -> None:
    """Every pair: half of them slide, the others stick, of each shape and of each solid some."""
    made, scene = meeting(shape, other, rocks, 0)
    slides = (PARTS.index(shape) + SOLIDS.index(other)) % 2 == 0
    assert Meeting(made, scene, V, 0.1 if slides else 5.0, 2).error() < 1e-7


@pytest.mark.parametrize(("shape", "other", "seed"), [("capsule", "block", 0), ("box", "drum", 6)])
def test_derivatives_of_steps_in_parts_in_which_a_body_turns(shape: str, other: str, seed: int, rocks: Path) -> None:
    """All parts stay in the coordinates in which the derivative is taken."""
    made, scene = meeting(shape, other, rocks, seed)
    met = Meeting(made, scene, V, 0.0, 2)
    assert len(met.after(np.concatenate([met.q, met.p]), derivatives=True).modes) > 1
    assert met.error(directions=2) < 1e-7


@pytest.mark.slow
@FRICTION
@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("other", SOLIDS)
@pytest.mark.parametrize("shape", PARTS)
def test_derivatives_of_other_poses(shape: str, other: str, seed: int, friction: float, rocks: Path) -> None:
    made, scene = meeting(shape, other, rocks, seed)
    assert Meeting(made, scene, V, friction, 2).error(directions=2) < 1e-7


def two(one: str, other: str, rocks: Path, seed: int) -> Figure:
    """Two free bodies, turned at random, without weight."""
    rng = np.random.default_rng(seed)
    starts = ((0.0, 0.0, 0.0, *rng.uniform(-1, 1, 3)), (0.03, 0.02, 1.0, *rng.uniform(-1, 1, 3)))
    parts = {
        k: figure(k, free(k, *part(name, rocks), start=start)) for k, name, start in zip("ab", (one, other), starts, strict=True)
    }
    return together("pair", parts).replace(gravity=(0.0, 0.0, 0.0))


TOWARD = np.array([0.1, 0.0, 0.5, 0.2, -0.3, 0.1, -0.1, 0.1, -0.5, 0.3, 0.2, -0.2])
PAIRS = [(one, other) for k, one in enumerate(PARTS) for other in PARTS[k:]]


@pytest.mark.parametrize(
    ("one", "other", "seed"),
    [("capsule", "box", 0), ("cylinder", "cylinder", 0), ("cylinder", "rock", 0), ("sphere", "rock", 0), ("rock", "rock", 2),
     ("box", "cylinder", 2)],
)  # fmt: skip
def test_derivatives_of_two_free_bodies(one: str, other: str, seed: int, rocks: Path) -> None:
    assert Meeting(two(one, other, rocks, seed), None, TOWARD, 0.1, 8).error() < 1e-7


def stacked(below: str, seed: int) -> tuple[Figure, Array]:
    """A box above a box or the end of a cylinder, beyond which it reaches, nearly parallel to it; and rates at which they meet."""
    rng, tilt = np.random.default_rng(seed), 1e-4
    off, turn = rng.uniform(-0.06, 0.06, 2), rng.uniform(-1, 1)
    lean = tilt * rng.normal(size=2)
    start = (*off, 0.1001 + 0.12 * tilt, turn, *lean)
    own = box((0.2, 0.3, 0.1), mass=1.0) if below == "box" else cylinder(0.12, 0.1, mass=1.0)
    parts = {"below": (own, (0.0,) * 6), "above": (box((0.25, 0.12, 0.1), mass=0.7), start)}
    made = together("pair", {k: figure(k, free(k, one, start=at)) for k, (one, at) in parts.items()})
    aside, along, spin = rng.uniform(-0.3, 0.3, 2), rng.uniform(-0.1, 0.1, 2), 0.2 * rng.normal(size=3)
    v = np.array([*along, 0.3, 0, 0, 0, *aside, -0.3, *spin])
    return made.replace(gravity=(0.0, 0.0, 0.0)), v


@pytest.mark.parametrize(
    ("below", "seed"),
    [("box", 0), ("box", 1), ("box", 4), ("cylinder", 0), ("cylinder", 1), ("cylinder", 2)],
)
def test_derivatives_where_faces_meet(below: str, seed: int) -> None:
    """Corners of the overlap of two faces are no fixed points of a body."""
    made, v = stacked(below, seed)
    met = Meeting(made, None, v, 0.0, 8, between=(made.start[8], made.start[8]))
    assert met.corners() > 0
    assert met.error(directions=2) < 1e-7


STICKING = (*[("box", seed) for seed in (0, 1, 2, 4)], *[("cylinder", seed) for seed in (0, 1, 2)])


@pytest.mark.parametrize(("below", "seed"), [STICKING[0], STICKING[5]])
def test_derivatives_where_faces_stick(below: str, seed: int) -> None:
    """Contacts of a face share what they carry in many ways, but hold it in one: their slips must not contradict each other."""
    made, v = stacked(below, seed)
    met = Meeting(made, None, v, 5.0, 8, between=(made.start[8], made.start[8]))
    step = met.after(np.concatenate([met.q, met.p]), derivatives=True)
    assert len(step.pairs) > 3
    assert step.modes == tuple((share, tuple((*key[:4], 1, 1, 1) for key in mode)) for share, mode in step.modes)
    assert met.error(directions=2) < 1e-7


def lying(shape: str, seed: int, tilt: float) -> tuple[Figure, Array]:
    """A body that falls onto the floor with a face or a line, tilted a little against it."""
    rng = np.random.default_rng(seed)
    bodies = {
        "ball": sphere(0.05, mass=0.7),
        "box": box((0.25, 0.12, 0.1), mass=0.7),
        "cylinder": cylinder(0.08, 0.1, mass=0.7),
        "capsule": capsule(0.05, start=(-0.1, 0, 0), to=(0.1, 0, 0), mass=0.7),
    }
    where, turn, lean = rng.uniform(-0.05, 0.05, 2), rng.uniform(-1, 1), tilt * rng.normal(size=2)
    start = (*where, 0.0501 + 0.2 * tilt, turn, *lean)
    v = np.array([*rng.uniform(-0.3, 0.3, 2), -0.3, *(0.2 * rng.normal(size=3))])
    return figure("body", free("body", bodies[shape], start=start)), v


def on_the_floor(shape: str, seed: int, tilt: float, rolling: float) -> Meeting:
    made, v = lying(shape, seed, tilt)
    return Meeting(made, FLOOR, v, 5.0, 2, between=(made.start[2], made.start[2]), rolling=rolling)


@pytest.mark.parametrize(("shape", "tilt", "rolling"), [("ball", 0.0, 0.01), ("box", 3e-3, 0.0), ("capsule", 3e-3, 0.01)])
def test_derivatives_of_what_lies_and_rolls_on_the_floor(shape: str, tilt: float, rolling: float) -> None:
    assert on_the_floor(shape, 0, tilt, rolling).error(directions=2) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("tilt", [1e-4, 3e-3])
@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize(
    ("shape", "rolling"),
    [("ball", 0.0), ("box", 0.0), ("cylinder", 0.0), ("capsule", 0.0), ("ball", 0.01), ("box", 0.01), ("capsule", 0.01)],
)
def test_derivatives_of_more_that_lies_on_the_floor(shape: str, seed: int, tilt: float, rolling: float) -> None:
    """Where it leaves its mode at the places of the quotients, or has no derivative, the case says nothing.

    A cylinder that stands has up to 65 rows with rolling resistance: too many to be solved to the last digit.
    """
    met = on_the_floor(shape, seed, tilt, rolling)
    try:
        within = met.stays(np.concatenate([met.q, met.p]))
    except BunrakuError:
        within = False
    if not within:
        pytest.skip("the step changes its mode here")
    assert met.error(directions=2) < 1e-7


def test_slips_in_a_shared_plane_do_not_contradict_each_other() -> None:
    """Of a body that comes down by any turn about directions along the surface, none of its points slips, wherever these are."""
    rng = np.random.default_rng(3)
    points, turn, height = rng.normal(size=(6, 3)), np.array([0.2, -0.1, 0.0]), 0.3
    X = expm(np.cross(np.eye(3), -turn))
    end = points @ X.T
    slips = []
    for x0, x1 in zip(points, end, strict=True):
        x = np.array([x1, np.zeros(3), [1.0, 0, 0], [0, 0, 1.0], X[:, 2]])
        slips.append(row_value(x, x0[2] - 2.0 * height) - x0[0])
    np.testing.assert_allclose(slips, slips[0], atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize(("below", "seed"), [*STICKING, *[("cylinder", seed) for seed in range(3, 10)], ("box", 6), ("box", 8)])
def test_derivatives_where_more_faces_stick(below: str, seed: int) -> None:
    test_derivatives_where_faces_stick(below, seed)


def test_faces_that_slide_have_no_derivative_where_loads_are_shared_in_many_ways() -> None:
    """How much each of four or more contacts carries is not determined, nor how friction turns the bodies."""
    made, v = stacked("box", 0)
    q = np.array(made.start)
    with pytest.raises(BunrakuError, match="share their load in many ways"):
        touch_step_once(made, q, momentum(made, q, v), touch={"friction": 0.1}, dt=DT, derivatives=True)


def test_a_cylinder_slides_on_the_end_of_another() -> None:
    """The lowest point of a rim that lies flat is anywhere, and leaps: it held such cylinders back."""
    drums = {
        k: figure(k, free(k, cylinder(r, 0.1, mass=1.0), start=(0, 0, z, 0, 0, 0)))
        for k, r, z in (("a", 0.2, 0.05), ("b", 0.07, 0.15))
    }
    made = together("drums", drums)
    simulation = TouchSimulation(
        made, v=[0, 0, 0, 0, 0, 0, 0.3, 0, 0, 0, 0, 0], scene=FLOOR, touch=Touch(matter=Matter(friction=0.0)), dt=DT
    )
    steps = simulation.run(np.zeros((40, 0)))
    assert not np.any(steps.bits & STEP_BITS.held)
    np.testing.assert_allclose(steps.q[-1, 6], 0.3 * 40 * DT, atol=1e-9)


@pytest.mark.slow
@FRICTION
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_derivatives_of_all_pairs_of_free_bodies(one: str, other: str, seed: int, friction: float, rocks: Path) -> None:
    assert Meeting(two(one, other, rocks, seed), None, TOWARD, friction, 8).error(directions=2) < 1e-7


def test_two_free_bodies_may_be_moved_together(rocks: Path) -> None:
    """Nothing changes but by that."""
    meeting = Meeting(two("capsule", "box", rocks, 0), None, TOWARD, 0.5, 8)
    step = meeting.after(np.concatenate([meeting.q, meeting.p]), derivatives=True)
    assert step.pairs
    assert step.q_dx is not None
    shift = np.zeros(24)
    shift[[0, 6]] = 1.0
    np.testing.assert_allclose((step.q_dx @ shift)[[0, 6]], 1.0, atol=1e-9)
    np.testing.assert_allclose(np.delete(step.q_dx @ shift, [0, 6]), 0.0, atol=1e-9)
