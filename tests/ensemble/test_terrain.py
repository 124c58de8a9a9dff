from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.team import Carried, Team
from bunraku.ensemble.terrain import Terrain, TiedOptions
from bunraku.errors import BunrakuError
from bunraku.figure import Box, Shape, Sphere
from bunraku.kinematics import pose
from bunraku.planning.ways.find_way import find
from bunraku.planning.ways.steer import samples
from bunraku.scene import Heightfield, Obstacle, Scene
from bunraku.spatial import so3

AREA = ((-4.0, 6.0), (-3.0, 3.0))
SLOPE = 0.12
TILTED = tuple(float(v) for v in so3.quaternion(so3.about(1, np.array([-np.arctan(SLOPE)]))[0]))


def hill():
    """A field that is level, rises, and is level again."""
    x = np.linspace(-8, 8, 81)
    z = SLOPE * np.clip(x, 0.0, 4.0)
    return Scene("hill", (Obstacle("hill", Heightfield(tuple(tuple(z.tolist()) for _ in range(5)), (16.0, 12.0))),))


@pytest.fixture(scope="module")
def team():
    ground = Terrain.of(hill(), ("hill",), ((-7.0, 7.9), (-5.0, 5.0)))
    ends = (("left", -1), ("right", 1))
    pair = [rover(name, hold("tool", (0.73 * s, 0.0, -0.02), z=(-s, 0, 1), x=(0, 1, 0)), rides=True) for name, s in ends]
    return Team(tuple(pair), Carried((Shape("world", Box((1.5, 0.8, 0.06))),), heights=(0.6, 1.9)), ground)


def standing(team, x, y, z):
    bases = {"left": (x, y - 1.45, np.pi / 2), "right": (x, y + 1.45, -np.pi / 2)}
    return team.configuration(bases, (x, y, z, np.pi / 2, 0, 0))


def test_heights_are_those_of_boxes_and_fields():
    box = Obstacle("block", Box((2.0, 2.0, 0.5)), (1.0, 0.0, 0.25))
    ground = Terrain.of(Scene("block", (box,)), ("block",), AREA)
    assert np.allclose(ground.heights([[1.0, 0.0], [1.9, -0.9], [-1.0, 0.0], [3.0, 0.0]]), [0.5, 0.5, 0.0, 0.0])
    points = np.random.default_rng(0).uniform((-3, -2), (5, 2), (50, 2))
    assert np.allclose(Terrain.of(hill(), ("hill",), AREA).heights(points), SLOPE * np.clip(points[:, 0], 0, 4), atol=1e-3)
    with pytest.raises(BunrakuError, match="cannot be ground"):
        Terrain.of(Scene("ball", (Obstacle("ball", Sphere(1.0)),)), ("ball",), AREA)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-9, 9), min_size=4, max_size=4), st.integers(0, 5))
def test_no_slope_is_steeper_than_the_steepest(places, seed):
    grid = np.random.default_rng(seed).uniform(0, 1, (6, 7))
    ground = Terrain((-3.0, -2.0), 1.0, grid)
    a, b = np.array(places[:2]), np.array(places[2:])
    assert abs(ground.heights(a) - ground.heights(b)) <= ground.steepest * np.linalg.norm(a - b) + 1e-9


def test_wheels_stand_on_the_slope(team):
    assert team.n == 12
    q = standing(team, 2.0, 0.0, 1.2)
    bases, _ = team.in_world(q)
    x, y, turn, lift, pitch, roll = bases["left"]
    assert (x, y, turn) == pytest.approx((2.0, -1.45, np.pi / 2))
    assert lift == pytest.approx(0.24, abs=2e-3)
    assert pitch == pytest.approx(0.0, abs=1e-3)
    assert abs(roll) == pytest.approx(np.arctan(SLOPE), abs=2e-3)
    own = team.agents[0].figure
    frames = pose(own, own.configuration(**dict(zip(team.agents[0].base, bases["left"], strict=True))))
    for a in (-0.24, 0.24):
        for b in (-0.275, 0.275):
            at = frames.point("base_roll", (a, b, 0.0))
            assert at[2] == pytest.approx(SLOPE * at[0], abs=3e-3)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.floats(-1, 6), st.floats(-np.pi, np.pi))
def test_no_wheel_sinks_where_slopes_meet(x, turn):
    ground = Terrain.of(hill(), ("hill",), ((-7.0, 7.9), (-5.0, 5.0)))
    lift, pitch, roll = ground.stand((x, 0.0, turn))
    R = so3.about(2, np.array([turn]))[0] @ so3.about(1, np.array([pitch]))[0] @ so3.about(0, np.array([roll]))[0]
    wheels = np.array([(a, b, 0.0) for a in (-0.24, 0.24) for b in (-0.275, 0.275)]) @ R.T + (x, 0.0, lift)
    up = wheels[:, 2] - ground.heights(wheels[:, :2])
    assert up.min() > -3e-3
    assert up.min() < 3e-3


def test_people_stay_upright_on_the_slope(team):
    places = {"left_palm": (-0.72, 0.25, -0.05), "right_palm": (-0.72, -0.25, -0.05)}
    person = porter("person", *(hold(palm, at, z=(-1, 0, 0), x=(0, 0, 1)) for palm, at in places.items()))
    both = Team((person, team.agents[1]), team.carried, team.terrain)
    q = both.configuration({"person": (2.0, 0.0, 0.3), "right": (3.2, 0.0, np.pi)}, (2.6, 0, 1.2, 0, 0, 0))
    assert q[both.figure.indices(("person_lift", "person_pitch", "person_roll"))] == pytest.approx([0.24, 0, 0], abs=2e-3)
    assert both.in_world(q)[0]["person"].shape == (3,)


def test_curves_are_tied_to_the_ground(team):
    space = team.space(hill(), AREA, margin=0.01)
    a, b = standing(team, -1.5, 0.0, 1.0), standing(team, 5.0, 0.5, 1.48)
    curve = space.curve(a, b)
    Q = samples(curve, np.linspace(0.0, 1.0, 501))
    assert np.abs(Q - team.on_ground(Q)).max() < TiedOptions().tolerance
    assert np.allclose(Q[0], a)
    level = space.curve(standing(team, -3.0, 0.0, 1.0), standing(team, -1.5, 0.0, 1.0))
    assert len(level.knots) == 2


def test_a_team_goes_up(team):
    space = team.space(hill(), AREA, margin=0.01)
    found = find(space, standing(team, -2.0, 0.0, 1.0), standing(team, 5.0, 0.0, 1.48), seed=0)
    assert found.outcome.ok
    Q = found.path.dense(0.005)
    assert np.abs(Q - team.on_ground(Q)).max() < TiedOptions().tolerance, "round corners too"
    assert space.world.check(Q).clearance.min() > 0.01 - 2e-4
    assert team.reaches(Q).all()


def test_what_is_carried_follows_the_ground(team):
    space = team.space(hill(), AREA, margin=0.01)
    a, b = standing(team, -1.5, 0.0, 1.0), standing(team, 5.0, 0.0, 1.48)
    Q = samples(space.curve(a, b), np.linspace(0.0, 1.0, 301))
    bases, held = team.in_world(Q)
    ground = np.mean([own[:, 3] for own in bases.values()], axis=0)
    assert np.ptp(held[:, 2] - ground) < 0.03, "at the same height over the feet of those who carry it"
    assert team.reaches(Q).all()


def test_hips_rise_evenly_over_stairs():
    grid = np.repeat(0.16 * np.floor(np.clip(np.arange(0.0, 3.0, 0.05) - 1.0, 0.0, 1.2) / 0.3)[None], 20, 0)
    stairs = Terrain((0.0, 0.0), 0.05, grid)
    x = np.stack([np.linspace(0.0, 2.9, 200), np.full(200, 0.5)], 1)
    assert np.diff(stairs.heights(x)).max() > 2.5 * np.diff(stairs.smooth.heights(x)).max()
    assert np.abs(stairs.smooth.heights(x) - stairs.heights(x)).max() < 0.12
