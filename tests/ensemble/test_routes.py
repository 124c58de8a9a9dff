"""Routes through the middle of passages, and samples that stay near them."""

from __future__ import annotations

import functools

import numpy as np

from bunraku.collision import World
from bunraku.collision.pair_rows import rows, settled
from bunraku.collision.planes import over_planes
from bunraku.collision.world_arrays import MODE, STATUS
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.routes import RouteOptions, routes
from bunraku.figure import Box
from bunraku.figure.library.manipulators import mobile_manipulator
from bunraku.scene import Obstacle, Scene
from tests.ensemble.trials import errands

AREA = ((-3.0, 3.0), (-3.0, 3.0))
START, GOAL = np.array([-2.0, 0.0]), np.array([2.0, 0.0])
TALL = (0.3, 1.3)


def wall(name, y_low, y_high):
    return Obstacle(name, Box((0.2, y_high - y_low, 2.0)), (0.0, 0.5 * (y_low + y_high), 1.0))


DOORS = Scene("two doors", (wall("south", -4.0, -1.8), wall("between", -1.0, 0.6), wall("north", 1.6, 4.0)))


@functools.cache
def sofa():
    return load_errand(errands()["sofa"])


def test_a_second_route_goes_through_another_door():
    first, second = routes(DOORS, AREA, START, GOAL, TALL)
    for own in (first, second):
        assert np.allclose(own[[0, -1], :2], [START, GOAL], atol=0.1)
        assert np.linalg.norm(np.diff(own[:, :2], axis=0), axis=1).max() < 0.1
    through = sorted(float(own[np.argmin(np.abs(own[:, 0])), 1]) for own in (first, second))
    assert np.allclose(through, [-1.4, 1.1], atol=0.15), "through the middle of each"


def test_no_route_where_it_is_too_narrow():
    assert len(routes(DOORS, AREA, START, GOAL, TALL, options=RouteOptions(narrow=0.45))) == 2, "twice through the wide one"
    assert not routes(DOORS, AREA, START, GOAL, TALL, options=RouteOptions(narrow=0.55))


def test_low_things_do_not_matter_above():
    bench = Scene("bench", (Obstacle("bench", Box((0.4, 8.0, 0.5)), (0.0, 0.0, 0.25)),))
    assert not routes(bench, AREA, START, GOAL, TALL)
    assert routes(bench, AREA, START, GOAL, (0.8, 1.3))


def test_a_variation_changes_one_thing():
    errand = sofa()
    team, rng = errand.team, np.random.default_rng(3)
    Q = np.repeat(errand.start[None], 200, 0)
    bases, held = team.in_world(errand.space.vary(rng, Q))
    _, before = team.in_world(Q)
    place = np.abs(held[:, :2] - before[:, :2]).max(1) > 1e-9
    tilt, yaw = np.abs(held[:, 4:]).max(1) > 1e-9, np.abs(np.sin(0.5 * (held[:, 3] - before[:, 3]))) > 1e-9
    away = [np.linalg.norm(own[:, :2] - held[:, :2], axis=1) for own in bases.values()]
    stance = np.max([np.abs(own - 1.65) > 1e-6 for own in away], axis=0)
    assert not (place & tilt).any()
    assert not (stance & (place | tilt)).any()
    assert min(place.sum(), tilt.sum(), yaw.sum(), stance.sum()) > 5


def test_guided_samples_find_the_door_that_random_ones_do_not():
    space, rng = sofa().space, np.random.default_rng(0)
    counts = []
    for own in (space, space.sampled_by(space.sampler.plain(), None)):
        Q = own.sample(rng, 20_000)
        held = sofa().team.in_world(Q[own.free(Q)])[1]
        counts.append(int((np.abs(held[:, 0]) < 0.7).sum()))
    assert counts[0] >= 10
    assert counts[0] > 5 * counts[1]


def test_what_stands_clear_of_the_floor_needs_no_coal():
    robot = mobile_manipulator()
    world = World(robot, Scene("floor"))
    rng = np.random.default_rng(1)
    Q = robot.start + 0.3 * rng.normal(size=(40, robot.n_q))
    found = rows(world.flat, Q, within=0.02, mode=MODE.all)
    unsure = found.where(found.ints[:, 3] != STATUS.exact)
    over = np.zeros(len(unsure), np.bool_)
    over_planes(world.flat, Q, unsure.ints, np.ascontiguousarray(unsure.floats[:, 10]), over)
    assert over.any()
    for row in np.flatnonzero(over).tolist():
        t, i, j, _ = unsure.ints[row].tolist()
        assert world.narrow.at(Q[t]).distance(i, j, bound=unsure.floats[row, 10]) is None, "coal says the same"
    assert len(settled(world.narrow, Q, found)) <= len(found)
