from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision import World
from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Box, library
from bunraku.planning.planning_outcomes import BUDGET_SPENT, FOUND, GOAL_BLOCKED, NO_BUDGET, START_BLOCKED
from bunraku.planning.ways.find_way import find
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.path import rounded, shortcut
from bunraku.planning.ways.rrt_connect import ConnectOptions, connect
from bunraku.planning.ways.steer import Bezier, Differential
from bunraku.scene import Obstacle, Scene
from tests.planning.rooms import space, wall

START, GOAL = np.array([-1.2, -1.0, 0.3]), np.array([1.2, -1.0, 2.0])
PARTS = {"straight": (), "walks": (Bezier("x", "y", "turn"),), "drives": (Differential("x", "y", "turn"),)}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("seed", range(3))
def test_found_paths_are_free(parts, seed):
    room = space(parts=parts, margin=0.01)
    found = find(room, START, GOAL, seed=seed)
    assert found.outcome == FOUND
    assert found.path is not None
    assert found.path.free
    assert room.world.check(found.path.dense(0.005)).clearance.min() > 0.01 - 1e-6
    steps = np.abs(np.diff(found.path.waypoints, axis=0)).max(0)
    assert np.isfinite(steps).all()


def test_what_was_found_is_found_again_at_once():
    room = space()
    found = find(room, START, GOAL)
    assert found.roadmap.search(START, GOAL) is not None


def test_the_same_seed_finds_the_same_path():
    room = space()
    one, two = (find(room, START, GOAL, seed=5).path for _ in range(2))
    assert np.array_equal(one.waypoints, two.waypoints)


def test_shortcuts_are_shorter_and_corners_round():
    room = space()
    raw = connect(room, START, GOAL, seed=3, options=ConnectOptions(stride=0.7)).path
    short = shortcut(raw, seed=0)
    assert short.length < raw.length
    soft = rounded(short)
    assert soft.free
    assert len(soft.curves) > len(short.curves)
    Q = soft.sample(np.linspace(0.0, soft.length, 2000))
    way = np.diff(Q, axis=0)
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    sharpest = np.arccos(np.clip(np.sum(way[1:] * way[:-1], 1), -1, 1)).max()
    Q = short.sample(np.linspace(0.0, short.length, 2000))
    way = np.diff(Q, axis=0)
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    assert sharpest < 0.6 * np.arccos(np.clip(np.sum(way[1:] * way[:-1], 1), -1, 1)).max()


def test_impossible_problems_say_why():
    room = space()
    blocked = find(room, [0.0, 0.0, 0.0], GOAL)
    assert blocked.outcome.kind == START_BLOCKED.kind
    assert "300 mm deep in wall" in blocked.outcome.why
    near = find(space(margin=0.5), [-0.7, 0.0, 0.0], GOAL)
    assert near.outcome.kind == START_BLOCKED.kind
    assert "apart, the margin is 500 mm" in near.outcome.why
    outside = find(room, START, [3.0, 0.0, 0.0])
    assert outside.outcome.kind == GOAL_BLOCKED.kind
    assert "x = 3" in outside.outcome.why
    assert find(room, START, GOAL, seconds=0.0).outcome == NO_BUDGET
    narrow = find(space(wall(door=0.1)), START, GOAL, seconds=0.3)
    assert narrow.outcome == BUDGET_SPENT
    assert narrow.path is None


def test_bad_input_is_refused():
    with pytest.raises(NotFinite, match="turn is not finite"):
        find(space(), [0.0, 0.0, np.nan], GOAL)
    with pytest.raises(BunrakuError, match="3 variables"):
        find(space(), [0.0], GOAL)
    with pytest.raises(BunrakuError, match="no bounds to search within"):
        FreeSpace(space().world)
    with pytest.raises(BunrakuError, match="a whole number, zero or more"):
        find(space(), START, GOAL, seed=-1)


def test_a_figure_of_many_shapes_is_proven_free():
    """A person has more pairs of shapes than the queue of a proof once had room for."""
    person = library.named("mannequin")
    world = World(person, Scene("room", (Obstacle("wall", Box((0.1, 2.0, 2.0)), (1.0, 0.0, 1.0)),), floor=None))
    assert len(world.pairs) > 1024
    space = FreeSpace(world, bounds=dict.fromkeys(person.names, (-7.0, 7.0)))
    hand = person.start.copy()
    hand[person.index("left_elbow")] -= 0.4
    aside = hand.copy()
    aside[person.index("pelvis_tx")] += 0.9
    assert all(space.sees(person.start, hand) for _ in range(20))
    assert not space.sees(hand, aside)
