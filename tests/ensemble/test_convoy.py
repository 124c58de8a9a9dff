"""Agents that cannot move sideways do not: on curves of the planner, and in motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.carry import carry
from bunraku.ensemble.convoy import Convoy, aside
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.rolling import heading_along
from bunraku.ensemble.team import Carried, Team
from bunraku.ensemble.terrain import Terrain
from bunraku.errors import BunrakuError
from bunraku.figure import Box, Shape
from bunraku.planning.ways.steer import Differential, samples
from bunraku.scene import Scene
from tests.ensemble.judge import judge

AREA = ((-4.0, 4.0), (-3.0, 3.0))


def pair(terrain=None):
    slab = Carried((Shape("world", Box((1.5, 0.8, 0.06)), name="slab"),), tilt=0.3, heights=(0.6, 1.3))
    ends = (("left", -1), ("right", 1))
    holds = {name: hold("tool", (0.73 * s, 0.0, -0.02), z=(-s, 0, 1), x=(0, 1, 0)) for name, s in ends}
    return Team(tuple(rover(name, own, moves=Differential) for name, own in holds.items()), slab, terrain)


def test_nobody_slips_on_curves():
    team = pair()
    assert [agent.name for agent in team.steered] == ["left", "right"]
    space = team.space(Scene("hall"), AREA, margin=0.02)
    assert isinstance(space.steering, Convoy)
    Q, few = space.sample(np.random.default_rng(5), 40), 0
    for a, b in zip(Q[:20], Q[20:], strict=True):
        curve = space.curve(a, b)
        ends = samples(curve, [0.0, 1.0])
        assert np.allclose(ends[0], a)
        assert np.allclose(space.steering.difference(ends[1], b), 0.0, atol=1e-9)
        bases, _ = team.in_world(samples(curve, np.linspace(0.0, 1.0, 2000)))
        assert aside(bases["left"]) < 1e-4, "but for samples on either side of a corner"
        if not space.steering.holds(curve):
            few += 1  # a way with a cusp
            continue
        assert aside(bases["right"]) < 0.03
        free = space.steering.toward(a, b)
        there, _ = team.in_world(samples(free, 1.0))
        assert there["right"][:2] == pytest.approx(bases["right"][-1, :2]), "only the heading is left open"
    assert few < 5


def test_a_walker_leads_and_others_sidestep_if_need_be():
    two = pair().agents[1]
    palms = (("left_palm", 0.25), ("right_palm", -0.25))
    person = porter("person", *(hold(palm, (-0.72, y, -0.05), z=(-1, 0, 0), x=(0, 0, 1)) for palm, y in palms))
    team = Team((person, two), pair().carried)
    assert team.leader is person
    assert team.apart
    space = team.space(Scene("hall"), AREA, margin=0.02)
    there = {"person": np.array([[-1.0, 0.0, 0.0], [0.5, 1.0, 1.0]]), "right": np.array([[1.4, 0.0, np.pi], [1.8, 3.0, -2.1]])}
    held = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1.04, 1.84, 1.0, 1.0, 0.0, 0.0]])
    a, b = team.configuration(there, held)
    bases, carried = team.in_world(samples(space.curve(a, b), np.linspace(0.0, 1.0, 400)))
    distance = np.linalg.norm(carried[:, :2] - bases["person"][:, :2], axis=1)
    assert np.ptp(distance) < 0.02, "the object moves evenly as seen from who leads"
    straight = space.sidestepping()
    bases, _ = team.in_world(samples(straight.curve(a, b), np.linspace(0.0, 1.0, 400)))
    assert aside(bases["person"]) > 0.1
    assert aside(bases["right"]) < 0.02


def test_headings_along_a_way():
    t = np.linspace(0.0, 6.0, 451)
    turn = 0.5 * (1.0 - np.cos(np.pi * t / 6.0))
    rough = 1e-2 * np.sin(9.0 * t)
    base = np.stack([np.sin(turn), 1.0 - np.cos(turn), turn + rough], 1)
    assert aside(base) > 5e-3
    assert aside(heading_along(base, t[1])) < 1e-4
    back = base + np.array([0.0, 0.0, np.pi])
    assert aside(heading_along(back, t[1])) < 1e-4, "backward, too"


def test_several_who_cannot_move_sideways_are_refused_on_uneven_ground():
    with pytest.raises(BunrakuError, match="left and right cannot move sideways on uneven ground"):
        pair(Terrain((0.0, 0.0), 0.5, np.zeros((3, 3))))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_robot_with_differential_drive_follows_through_the_factory(seed):
    given = load_errand("factory")
    (start, held), (goal, there) = (given.team.in_world(q) for q in (given.start, given.goal))
    person, robot = given.team.agents
    team = Team((person, rover(robot.name, *robot.holds, moves=Differential)), given.team.carried)
    ends = team.configuration(start, held), team.configuration(goal, there)
    errand = replace(Errand(team, given.scene, given.area, *ends), margin=given.margin, speed=0.6, budget=60.0)
    done = carry(errand, seed=seed)
    assert done.outcome.ok, done.outcome.why
    found = judge(errand, done.motion, distances=False)
    assert found.slip["robot"] < 1e-3 * found.way["robot"]
    assert found.worst("speed") <= 1.01 * errand.speed
    assert found.worst("acceleration") <= 1.01 * errand.acceleration
