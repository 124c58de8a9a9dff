"""Climbs over meshes: distances, planned ways, footholds that are searched, and what cannot be climbed."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import FileError
from bunraku.figure import library
from bunraku.figure.shape import Mesh
from bunraku.kinematics import pose
from bunraku.locomotion.climb.climb import ClimbOptions, climb
from bunraku.locomotion.climb.climb_outcomes import SurfaceOutcome
from bunraku.locomotion.climb.footholds import foothold
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.smooth_kernels import clearance_along
from bunraku.locomotion.climb.surface_field import SurfaceField
from bunraku.locomotion.climb.surface_way import WayOptions, way_over
from tests.locomotion.climb.judge import JudgedMesh, judge
from tests.locomotion.climb.meshes import CLIMBED, at, slab, surface_path
from tests.locomotion.climb.paths import paper_of

trimesh = pytest.importorskip("trimesh")
LEG = 0.12


@pytest.fixture(scope="module")
def ball(tmp_path_factory):
    """A ball of 30 cm that sticks in a floor."""
    file = tmp_path_factory.mktemp("meshes") / "ball.obj"
    ball = trimesh.creation.icosphere(3, 0.15)
    ball.apply_translation((0.0, 0.0, 0.05))
    trimesh.util.concatenate([slab(0.8, 0.6), ball]).export(file)
    return file


@pytest.fixture(scope="module")
def field(ball):
    return SurfaceField(Mesh(str(ball)), LEG)


def test_distances_are_those_of_coal_and_the_grid_is_near_them(field, ball):
    """Outside they agree with coal's; the grid errs by less than a quarter of a cell, and not at all over the flat floor."""
    from bunraku.scene import Obstacle

    rng = np.random.default_rng(5)
    x = rng.uniform((-0.4, -0.3, -0.15), (0.4, 0.3, 0.3), (400, 3))
    exact, places, normals = field.nearest(x)
    judged = JudgedMesh(Obstacle("ball", Mesh(str(ball))))
    inside = np.array([judged.windings(point) > 0.5 for point in x])
    np.testing.assert_array_equal(exact < 0.0, inside)
    out = np.flatnonzero(exact > 0.002)
    theirs = np.concatenate([judged.above(x[k : k + 1], x[k : k + 1], 1e-3, within=1.0) for k in out]) + 1e-3
    np.testing.assert_allclose(exact[out], theirs, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(x - places, axis=1), np.abs(exact), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-9)
    near = (exact > 0.0) & (exact < 0.1)
    grid, slope = field.field(x[near])
    assert np.abs(grid - exact[near]).max() < 0.3 * field.spacing
    floor = (x[near][:, 0] > 0.3) & (x[near][:, 2] > 0.0) & (x[near][:, 2] < 0.05) & (np.abs(x[near]) < (0.36, 0.22, 1)).all(1)
    assert floor.any()
    np.testing.assert_allclose(grid[floor], exact[near][floor], atol=1e-9)
    np.testing.assert_allclose(slope[floor], np.tile([0, 0, 1.0], (floor.sum(), 1)), atol=1e-6)


def test_the_way_around_a_ball_is_nearly_the_shortest(field):
    """Over a ball, from one side to the opposite one: half a great circle at the height of the body, within 3 %."""
    ball = np.array([0.0, 0.0, 0.05])
    a, b = (ball + 0.15 * np.array([s * math.cos(0.6), 0.0, math.sin(0.6)]) for s in (-1, 1))
    way = way_over(field, a, b, height=0.045, spread=0.08, leg=LEG)
    assert way.failure is None
    long = np.linalg.norm(np.diff(way.points, axis=0), axis=1).sum()
    assert long == pytest.approx((math.pi - 1.2) * 0.195, rel=0.03)
    np.testing.assert_allclose(np.linalg.norm(way.points - ball, axis=1), 0.195, atol=2e-3)


def test_a_way_stays_away_from_places_that_it_avoids(field):
    """Over the same ball, past its top; its ends do not move, and nothing of it is nearer to the top than asked."""
    ball, limits = np.array([0.0, 0.0, 0.05]), WayOptions()
    a, b = (ball + 0.15 * np.array([s * math.cos(0.6), 0.0, math.sin(0.6)]) for s in (-1, 1))
    top = (0.0, 0.0, 0.245)
    straight, around = (way_over(field, a, b, height=0.045, spread=0.08, leg=LEG, avoid=bad) for bad in ((), (top,)))
    assert np.linalg.norm(straight.points - top, axis=1).min() < 0.01
    assert around.failure is None
    assert np.linalg.norm(around.points - top, axis=1).min() > 0.97 * limits.around * LEG
    np.testing.assert_allclose(around.points[[0, -1]], straight.points[[0, -1]], atol=1e-9)


def test_a_foothold_avoids_an_edge(tmp_path):
    """On a step of 3 cm whose edge is under the place that is wanted, all of the sole finds room beside it."""
    step = trimesh.creation.box((0.4, 0.6, 0.1), transform=at(0.2, 0.0, -0.02))
    file = tmp_path / "step.obj"
    trimesh.util.concatenate([slab(0.8, 0.6), step]).export(file)
    gecko = Gecko(library.named("gecko"))
    soles, sole = (gecko.soles[0][0], gecko.soles[1][0]), gecko.measures["sole"]
    field = SurfaceField(Mesh(str(file)), LEG)
    found = foothold(field, np.array([0.0, 0.0, 0.03]), np.eye(3), soles=soles, sole=sole, leg=LEG)
    assert found.gap < 1e-4
    assert abs(found.X[0, 3]) > 0.015
    balls = found.X[:3, 3] + sole * found.X[:3, 2] + soles[0] @ found.X[:3, :3].T
    assert 0.0 < (field.over(balls) - soles[1]).min() < 2e-5


def test_no_foothold_is_in_a_crack_or_inside_the_blocks_beside_it(tmp_path):
    """Two blocks stand 4.5 cm apart, and the foot should stand between them: it fits there, but it could not get out."""
    blocks = [trimesh.creation.box((0.3, 0.2, 0.16), transform=at(0.0, y, -0.02)) for y in (-0.1225, 0.1225)]
    file = tmp_path / "crack.obj"
    trimesh.util.concatenate([slab(0.8, 0.6), *blocks]).export(file)
    gecko = Gecko(library.named("gecko"))
    soles, sole = (gecko.soles[0][0], gecko.soles[1][0]), gecko.measures["sole"]
    found = foothold(SurfaceField(Mesh(str(file)), LEG), np.zeros(3), np.eye(3), soles=soles, sole=sole, leg=LEG)
    assert found.gap < 1e-3
    assert found.X[2, 3] == pytest.approx(0.06, abs=1e-3)  # on one of the blocks
    assert found.X[2, 2] == pytest.approx(1.0, abs=1e-6)


def test_a_foothold_is_within_reach_of_the_shoulder(field):
    """On a flat floor, where all places are equally good for the foot, and where the shoulder is too far from the one that is
    wanted."""
    gecko, wanted = Gecko(library.named("gecko")), np.array([0.3, 0.2, 0.0])
    legs = {"soles": (gecko.soles[0][0], gecko.soles[1][0]), "sole": gecko.measures["sole"], "leg": LEG, "shape": gecko.leg_shape}
    for far in (0.09, 0.13):
        shoulder = wanted + np.array([0.0, -far, 0.045])
        found = foothold(field, wanted, np.eye(3), **legs, shoulders=shoulder[None])
        place = found.X[:3, 3] + gecko.measures["sole"] * found.X[:3, 2]
        assert np.linalg.norm(place - shoulder) < 0.95 * LEG
        assert (np.linalg.norm(place[:2] - wanted[:2]) < 1e-6) == (far == 0.09)


def test_kernels_measure_exactly_what_may_be_too_near(tmp_path):
    """Beside the edges of a block, where what is interpolated errs by millimetres."""
    file = tmp_path / "block.obj"
    block = trimesh.creation.box((0.08, 0.06, 0.1), transform=at(0.013, 0.004, -0.021, (0.3, (1, 2, 3))))
    trimesh.util.concatenate([slab(0.4, 0.4), block]).export(file)
    field, rng = SurfaceField(Mesh(str(file)), LEG), np.random.default_rng(4)
    gecko = Gecko(library.named("gecko"))
    skin, radius, _ = gecko.skin
    Q = np.tile(gecko.start, (20, 1))
    Q[:, :3] += rng.uniform((-0.1, -0.05, -0.03), (0.2, 0.05, 0.05), (20, 3))
    got, inexact = np.empty((20, len(radius))), np.empty((20, len(radius)))
    clearance_along(skin, radius, Q, field.ground, got)
    for q, row, grid in zip(Q, got, inexact, strict=True):
        frames = pose(gecko.figure, q)
        X = np.array([frames.X(gecko.figure.compiled.joint_frame[j]) for j in skin.carrier])
        centres = np.einsum("nij,nj->ni", X[:, :3, :3], skin.local) + X[:, :3, 3]
        near = field.over(centres)
        seen = near < 0.9 * field.band
        np.testing.assert_allclose(row[seen], (near - radius)[seen], atol=1e-12)
        grid[:] = field.field(centres)[0] - radius
    assert np.abs(inexact - got).max() > 1e-3


def test_an_open_surface_is_refused(tmp_path):
    file = tmp_path / "open.obj"
    mesh = trimesh.creation.box((1, 1, 1))
    trimesh.Trimesh(mesh.vertices, mesh.faces[:-1], process=False).export(file)
    with pytest.raises(FileError, match="not closed"):
        SurfaceField(Mesh(str(file)), LEG)


@pytest.mark.parametrize(("name", "kind", "where"), [
    ("slot", SurfaceOutcome.narrow, lambda p: 0.12 < p[0] < 0.3 and abs(p[1]) < 0.05),
    ("islands", SurfaceOutcome.gap, lambda p: abs(p[0]) < 0.2),
])  # fmt: skip
def test_what_has_no_way_is_told_with_its_place(tmp_path, name, kind, where):
    m, path = Gecko(library.named("gecko")).measures, surface_path(name, tmp_path)
    field = SurfaceField(path.mesh, LEG)
    start, goal = np.array(path.start), np.array(path.goal)
    way = way_over(field, start, goal, height=m["height"], spread=m["spread"], leg=LEG)
    assert way.failure is not None
    assert way.failure.kind == kind.kind
    assert where(way.place)
    assert np.linalg.norm(way.points[-1] - way.place) < 0.25  # the way leads there


def test_a_goal_inside_the_surface_is_told(tmp_path):
    done = climb(surface_path("buried", tmp_path), optimized=False)
    assert done.outcome.kind == SurfaceOutcome.buried.kind
    assert "goal" in str(done.outcome)
    assert "(0.400, 0.000, 0.000)" in str(done.outcome)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [("slot", SurfaceOutcome.narrow), ("islands", SurfaceOutcome.gap)])
def test_a_climb_without_a_way_says_so(tmp_path, name, kind):
    """Whatever else goes wrong near the place to which the way leads; and if nothing leads away from the start."""
    path = surface_path(name, tmp_path)
    for given in (path, replace(path, avoid=(path.start,))):
        done = climb(given, optimized=False)
        assert done.outcome.kind == kind.kind, str(done)
        assert done.has_no_way


@pytest.mark.slow
def test_a_rod_has_no_footholds(tmp_path):
    """Toes that reach 20 mm to the side, with pads of 4.8 mm, are √(20² + (5 + 4.8)²) − 5 − 4.8 = 12.5 mm above a rod of radius
    5 mm: more than the 9.6 mm that a foothold may have."""
    done = climb(surface_path("rod", tmp_path))
    assert done.outcome.kind == SurfaceOutcome.foothold.kind, str(done)
    gap = int(re.search(r"gap of (\d+) mm", str(done.outcome))[1])
    assert 10 <= gap <= 13
    assert "at (0.3" in str(done.outcome) or "at (0.4" in str(done.outcome)


@pytest.mark.slow
def test_a_thin_pole_is_not_climbed_from_the_floor(tmp_path):
    """A pole of 4 cm has footholds (6 mm under the toes), between which feet clamp it; but in the step in which the first hind foot
    leaves the floor, a leg leans too far over its foot, and none of the other ways around the pole is better."""
    done = climb(surface_path("pole", tmp_path))
    assert not done.outcome.ok
    assert "leans farther" in str(done.outcome), str(done)
    assert "at (0.3" in str(done.outcome)
    assert "other ways" in str(done.outcome)


@pytest.mark.slow
def test_another_way_is_taken_around_the_place_of_a_failure(tmp_path):
    """This boulder overhangs where the straight way would begin to climb it: head and elbow would touch there."""
    path = surface_path("boulder", tmp_path, seed=11)
    assert not climb(path, options=ClimbOptions(other_ways=0)).outcome.ok
    done = climb(path)
    assert done.outcome.ok, str(done)
    assert len(done.course.segments[0].avoid) == 1
    assert judge(done, paper=paper_of(done), parts=1).inside == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CLIMBED))
def test_meshes_are_climbed_and_judged(name, tmp_path):
    done = climb(surface_path(name, tmp_path, seed=3))
    assert done.outcome.ok, str(done)
    verdict = judge(done, paper=paper_of(done), parts=1)
    assert verdict.landing <= 1.0  # mm/s
    assert verdict.slip <= 0.01  # mm
    assert verdict.inside == 0
    assert 0.0 <= verdict.hover[0] <= verdict.hover[1] <= 0.02  # mm: of every foot, what touches is on the surface
    assert verdict.selves > 0.0
    assert verdict.angles == 0.0
    others = [v for k, v in verdict.clearance.items() if k not in ("feet", "lower_leg", "ankle", "elbow")]
    assert 1e3 * done.clearance.min() == pytest.approx(min(12.0, *others), abs=0.1)
