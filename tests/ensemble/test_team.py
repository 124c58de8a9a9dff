from __future__ import annotations

import numpy as np
import pytest

from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.team import Carried, Team
from bunraku.errors import BunrakuError
from bunraku.figure import Box, Shape
from bunraku.kinematics import pose
from bunraku.kinematics.inverse.arm import closed_form
from bunraku.planning.ways.find_way import find
from bunraku.planning.ways.steer import Differential
from bunraku.scene import Obstacle, Scene
from bunraku.spatial import se3, so3

AREA = ((-4.0, 4.0), (-3.0, 3.0))
SLAB = Shape("world", Box((1.5, 0.8, 0.06)), name="slab")


def person(name="person"):
    places = {"left_palm": (-0.72, 0.25, -0.05), "right_palm": (-0.72, -0.25, -0.05)}
    return porter(name, *(hold(palm, at, z=(-1, 0, 0), x=(0, 0, 1)) for palm, at in places.items()))


def robot(name="robot", at=(0.7, 0.0, 0.04), **words):
    return rover(name, hold("tool", at, z=(-1, 0, 0), x=(0, 0, 1)), **words)


@pytest.fixture(scope="module")
def pair():
    return Team((person(), robot()), Carried((SLAB,), tilt=0.3, heights=(0.6, 1.3)))


def test_variables(pair):
    assert pair.n == 12
    assert Team((person(), robot(), robot("other", (0.0, 0.3, 0.04))), Carried((SLAB,))).n == 15


def test_world_and_team_coordinates_agree(pair):
    rng = np.random.default_rng(0)
    bases = {name: rng.uniform(-3, 3, (20, 3)) for name in ("person", "robot")}
    held = rng.uniform(-1, 1, (20, 6))
    Q = pair.configuration(bases, held)
    back, again = pair.in_world(Q)
    for name, base in bases.items():
        assert np.allclose(back[name][:, :2], base[:, :2])
        assert np.allclose(np.cos(back[name][:, 2] - base[:, 2]), 1.0)
    assert np.allclose(again[:, [0, 1, 2, 4, 5]], held[:, [0, 1, 2, 4, 5]])
    X = pose(pair.figure, Q[0]).X("object")
    assert np.allclose(X, se3.pose(held[0, :3], so3.rpy(*held[0, :2:-1])))


def test_relative_samples_reach_and_naive_ones_do_not(pair):
    rng = np.random.default_rng(1)
    space = pair.space(Scene("hall"), AREA)
    ours = space.sample(rng, 4000)
    naive = rng.uniform(space.lower, space.upper, (40_000, pair.n))
    assert pair.reaches(ours).mean() > 0.4
    assert space.free(ours).mean() > 0.37
    assert space.free(naive).mean() < 0.0005


def test_arms_reach_what_the_shells_promise(pair):
    """The shell is exact but for the limits of joints."""
    rng = np.random.default_rng(2)
    space = pair.space(Scene("hall"), AREA)
    Q = space.sample(rng, 2000)
    Q = Q[space.free(Q)][:200]
    bases, held = pair.in_world(Q)
    for agent in pair.agents:
        for each in agent.holds:
            arm = closed_form(agent.figure, each.tool)
            found = []
            for base, x in zip(bases[agent.name], held, strict=True):
                q = agent.figure.configuration(**dict(zip(agent.base, base, strict=True)))
                found.append(arm.reaches(se3.pose(x[:3], so3.rpy(*x[:2:-1])) @ each.X_OT, q))
            assert np.mean(found) == 1.0


def test_what_is_out_of_reach_is_said(pair):
    space = pair.space(Scene("hall"), AREA)
    q = space.free_sample(np.random.default_rng(0))
    bases, held = pair.in_world(q)
    bases["robot"] = bases["robot"] + [1.0, 0.0, 0.0]
    found = find(space, pair.configuration(bases, held), q)
    assert found.outcome.kind == "start blocked"
    assert "robot's tool" in found.outcome.why
    assert "out of reach" in found.outcome.why


def test_a_tray_stays_level():
    team = Team((person(), robot()), Carried((SLAB,), tilt=0.0))
    space = team.space(Scene("hall"), AREA)
    rng = np.random.default_rng(3)
    start, goal = space.free_sample(rng), space.free_sample(rng)
    path = find(space, start, goal, seed=0).path
    _, held = team.in_world(path.dense(0.05))
    assert np.abs(held[:, 4:]).max() == 0.0


@pytest.mark.parametrize("moves", [None, Differential])
def test_a_team_goes_round_a_wall(pair, moves):
    team = pair if moves is None else Team((robot(moves=moves), robot("other", (-0.7, 0, 0.04))), pair.carried)
    if moves is not None:
        holds = (hold("tool", (-0.7, 0.0, 0.04), z=(1, 0, 0), x=(0, 0, 1)),)
        team = Team((robot(moves=moves), rover("other", *holds)), pair.carried)
    scene = Scene("hall", (Obstacle("wall", Box((0.2, 4.0, 2.0)), (0.0, 1.2, 1.0)),))
    space = team.space(scene, AREA, margin=0.01)
    rng = np.random.default_rng(4)
    ends = {}
    while len(ends) < 2:
        q = space.free_sample(rng)
        x = team.in_world(q)[1][0]
        if abs(x) > 1.5:
            ends.setdefault(x > 0, q)
    found = find(space, ends[False], ends[True], seed=0)
    assert found.outcome.ok
    Q = found.path.dense(0.005)
    assert space.world.check(Q).clearance.min() > 0.01 - 1e-6
    assert team.reaches(Q).all()


def test_who_leads_walks_along_its_heading(pair):
    space = pair.space(Scene("hall"), AREA)
    rng = np.random.default_rng(5)
    a, b = space.free_sample(rng), space.free_sample(rng)
    curve = space.curve(a, b)
    assert curve.bends[:, :3].tolist() == [pair.figure.indices(pair.agents[0].variables).tolist()]


def test_bad_teams_are_refused():
    with pytest.raises(BunrakuError, match="names of their own"):
        Team((robot(), robot()), Carried((SLAB,)))
    with pytest.raises(BunrakuError, match="has no hold"):
        Team((rover("robot"),), Carried((SLAB,)))
    with pytest.raises(BunrakuError, match="no height"):
        _ = Team((person(), robot()), Carried((SLAB,), heights=(0.1, 0.2))).heights
