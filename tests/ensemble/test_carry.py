from __future__ import annotations

import dataclasses
import functools
import re
import signal

import numpy as np
import pytest

from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.barriers import Barriers
from bunraku.ensemble.carry import CarryOptions, carry
from bunraku.ensemble.carry_on_stage import drawn_ways, scene_with_ways, with_shells
from bunraku.ensemble.carry_result import CARRY_STAGES, NO_WAY, REFUSED
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.recheck_team import TeamRecheckOptions
from bunraku.ensemble.team import Carried, Team
from bunraku.errors import BunrakuError
from bunraku.figure import Box, Shape
from bunraku.outcome import STOPPED
from bunraku.planning.planning_outcomes import GOAL_BLOCKED, START_BLOCKED
from bunraku.planning.ways.path import through
from bunraku.scene import Obstacle, Scene
from bunraku.verbs.carry.plot import save_plan_view, save_stills

AREA = ((-4.0, 4.0), (-3.0, 3.0))
PILLAR = Obstacle("pillar", Box((0.4, 0.4, 2.0)), (0.0, 0.4, 1.0))


@functools.cache
def pair():
    slab = Carried((Shape("world", Box((1.5, 0.8, 0.06)), name="slab"),), tilt=0.3, heights=(0.6, 1.3))
    ends = (("left", -1), ("right", 1))
    robots = [rover(name, hold("tool", (0.73 * s, 0.0, -0.02), z=(-s, 0, 1), x=(0, 1, 0))) for name, s in ends]
    return Team(tuple(robots), slab)


def standing(x, y):
    bases = {"left": (x, y - 1.45, np.pi / 2), "right": (x, y + 1.45, -np.pi / 2)}
    return pair().configuration(bases, (x, y, 1.0, np.pi / 2, 0, 0))


def errand(*obstacles, goal=(2.0, 0.0), start=(-2.0, 0.0), **words):
    scene = Scene("hall", obstacles or (PILLAR,))
    words = {"samples": 60, "budget": 60.0, "margin": 0.02} | words
    return Errand(pair(), scene, AREA, standing(*start), standing(*goal), **words)


def test_from_start_to_goal():
    heard = []
    done = carry(errand(), seed=1, progress=lambda word: heard.append(word.stage))
    assert done.outcome.ok
    assert done.share == 1.0
    assert set(done.seconds) == set(CARRY_STAGES)
    assert {"roadmap", "query", "timing", "manipulation"} <= set(heard)
    assert done.closure < 1e-6
    assert done.jump < 0.2
    own = done.motion.track("object").q
    assert np.allclose(own[0, :3], [-2, 0, 1.0])
    assert np.allclose(own[-1, :3], [2, 0, 1.0])
    Q = done.path.dense(0.005)
    assert done.errand.space.world.check(Q).clearance.min() > 0.02 - 2e-4
    assert pair().reaches(Q).all()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result():
    a, b, c = (carry(errand(), seed=seed) for seed in (3, 3, 4))
    for mine, other in zip(a.motion.tracks, b.motion.tracks, strict=True):
        assert np.array_equal(mine.q, other.q)
    assert not np.array_equal(a.motion.tracks[0].q, c.motion.tracks[0].q)


@pytest.mark.parametrize("stage", CARRY_STAGES)
def test_ctrl_c_in_any_stage_keeps_what_there_is(stage):
    def press(word):
        if word.stage == stage:
            signal.raise_signal(signal.SIGINT)

    done = carry(errand(), seed=1, progress=press)
    assert done.outcome.kind == STOPPED.kind
    assert done.stage == stage
    assert (done.motion is not None) == (stage in ("tuning", "recheck"))


@pytest.mark.slow
def test_other_options():
    strict = CarryOptions(recheck=TeamRecheckOptions(closure_between=1e-12), rounds=1)
    done = carry(errand(), seed=0, options=strict)
    assert done.outcome.kind == REFUSED.kind
    assert "closure" in done.outcome.why


@pytest.mark.slow
def test_a_roadmap_serves_again():
    first = carry(errand(), seed=1)
    again = carry(errand(goal=(1.5, -0.5)), seed=1, roadmap=first.roadmap)
    assert again.outcome.ok
    assert again.roadmap is first.roadmap


EDGE = Obstacle("edge", Box((0.2, 7.5, 4.0)), (0.0, 0.0, 2.0))  # agents alone get round it
WALL = Obstacle("wall", Box((0.2, 16.0, 4.0)), (0.0, 0.0, 2.0))
GAP = (Obstacle("west", Box((0.2, 4.0, 3.0)), (0.0, -2.35, 1.5)), Obstacle("east", Box((0.2, 4.0, 3.0)), (0.0, 2.35, 1.5)))


@pytest.mark.parametrize(
    ("words", "outcome", "why"),
    [
        ({"start": (0.0, 0.4)}, START_BLOCKED.kind, "pillar"),
        ({"goal": (0.0, 0.4)}, GOAL_BLOCKED.kind, "pillar"),
        ({"goal": (3.9, 8.0)}, GOAL_BLOCKED.kind, "outside"),
    ],
)
def test_ends_that_cannot_be(words, outcome, why):
    done = carry(errand(**words))
    assert done.outcome.kind == outcome
    assert why in done.outcome.why
    assert done.motion is None
    assert done.stage == "roadmap"


def test_a_goal_that_arms_do_not_reach():
    bases, held = pair().in_world(standing(2.0, 0.0))
    far = pair().configuration(bases | {"right": bases["right"] + [0.0, 0.25, 0.0]}, held)
    done = carry(dataclasses.replace(errand(), goal=far))
    assert done.outcome.kind == GOAL_BLOCKED.kind
    assert "right's tool is" in done.outcome.why
    assert "out of reach" in done.outcome.why
    place = re.search(r"right would reach it from \((.+), (.+)\)", done.outcome.why)
    assert place, done.outcome.why
    there = pair().configuration(bases | {"right": [float(place[1]), float(place[2]), bases["right"][2]]}, held)
    assert pair().reaches(there).all(), "whoever follows the advice reaches it"
    assert np.linalg.norm(there - far) < 0.3


def test_an_object_that_arms_reach_from_nowhere():
    palms = [hold(f"{side}_palm", (-0.4, y, 0.0), z=(-1, 0, 0), x=(0, 0, 1)) for side, y in (("left", 0.2), ("right", -0.2))]
    alone = Team((porter("ann", *palms),), Carried((Shape("world", Box((0.8, 0.6, 0.05)), name="tray"),), heights=(0.5, 1.5)))
    low, high = (alone.configuration({"ann": (-0.8, 0.0, 0.0)}, (0.0, 0.0, z, 0.0, 0.0, 0.0)) for z in (0.85, 1.1))
    done = carry(Errand(alone, Scene("hall"), AREA, low, high))
    assert done.outcome.kind == START_BLOCKED.kind
    assert "with this heading, ann cannot reach it from anywhere" in done.outcome.why


@pytest.mark.parametrize(
    ("obstacles", "why"),
    [
        ((WALL,), "left alone finds no path"),
        (GAP, "object alone finds no path in the area: it is wider"),
        ((EDGE,), "object alone .* in the area"),
    ],
    ids=["islands", "too wide", "a way only outside of the area"],
)
def test_no_way_says_who_and_how_far(obstacles, why):
    done = carry(errand(*obstacles, budget=1.5), seed=0)
    assert done.outcome.kind == NO_WAY.kind
    assert done.stage == "roadmap"
    assert re.search(why, done.outcome.why), done.outcome.why
    assert "got as far as" in done.outcome.why
    assert done.motion is not None
    assert 0.0 < done.share < 1.0


def test_what_is_barred_is_passed_by():
    barriers = Barriers(errand().space.weights)
    space = errand().space.restricted(barriers.passed_by)
    way = through(space, [standing(-2.0, -2.0), standing(2.0, -2.0)]).curves[0]
    assert space.free_along(way) == errand().space.free_along(way)
    barriers.add(lambda Q: space.distances(standing(0.0, -2.0), Q), 0.3)
    assert not space.free_along(way)
    assert not barriers.passed_by(way)


@pytest.mark.slow
def test_pictures(tmp_path):
    done = carry(errand(), seed=1)
    save_stills(done, tmp_path / "stills.png", count=2, size=(120, 90))
    save_plan_view(done, tmp_path / "view.png", moments=2, width=200)
    assert (tmp_path / "stills.png").stat().st_size > 1000
    assert (tmp_path / "view.png").stat().st_size > 1000
    assert [o.name for o in scene_with_ways(done.scene, drawn_ways(done), tmp_path).obstacles][-2:] == ["roadmap", "way"]
    shown = with_shells(done.errand.team, done.motion, tmp_path)
    rings = shown.track("reach of left's tool")
    base = shown.track("left").q[0, :3]
    shoulder = pair().agents[0].shells[0].shoulder
    c, s = np.cos(base[2]), np.sin(base[2])
    at = base[:2] + np.array([c * shoulder[0] - s * shoulder[1], s * shoulder[0] + c * shoulder[1]])
    assert np.allclose(rings.q[0, rings.figure.indices(("shoulder_x", "shoulder_y"))], at)


def test_bad_orders_are_refused():
    with pytest.raises(BunrakuError, match="speed"):
        errand(speed=-1.0)
    with pytest.raises(BunrakuError, match="samples"):
        errand(samples=1)
