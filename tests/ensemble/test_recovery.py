"""*carrying*, Section IV-D: where tuning fails on an edge, the roadmap does without it, and another way is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.ensemble import carry as carrying
from bunraku.ensemble.agents import hold, rover
from bunraku.ensemble.carry import carry
from bunraku.ensemble.carry_result import TOUCHES
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.recheck_team import recheck
from bunraku.ensemble.team import Carried, Team
from bunraku.ensemble.tune import tune
from bunraku.figure import Box, Shape
from bunraku.scene import Obstacle, Scene
from tests.ensemble.trials import errands, ways

NEAR = 0.4  # [m]


@pytest.fixture(scope="module")
def errand():
    """Two robots and a board; a wall with two doors is between them and the goal."""
    board = Carried((Shape("world", Box((1.2, 0.5, 0.05)), name="board"),), tilt=0.2, heights=(0.7, 1.1))
    team = Team(
        (
            rover("left", hold("tool", (-0.58, 0.0, 0.02), z=(1, 0, -1), x=(0, 1, 0))),
            rover("right", hold("tool", (0.58, 0.0, 0.02), z=(-1, 0, -1), x=(0, 1, 0))),
        ),
        board,
    )
    parts = {"south": (-2.65, 1.1), "between": (0.0, 1.6), "north": (2.65, 1.1)}
    wall = tuple(Obstacle(name, Box((0.2, size, 2.0)), (0.0, y, 1.0)) for name, (y, size) in parts.items())

    def standing(x):
        return team.configuration({"left": (x - 1.3, 0, 0), "right": (x + 1.3, 0, np.pi)}, (x, 0, 0.9, 0, 0, 0))

    scene, area = Scene("doors", wall), ((-5.0, 5.0), (-3.0, 3.0))
    return Errand(team, scene, area, standing(-2.8), standing(2.8), samples=120, budget=20.0)


@pytest.fixture
def made_to_fail(monkeypatch):
    """A predicate over places of the object: tuning fails at the first sample for which it holds."""

    def use(predicate):
        def failing(team, animation, scene, **words):
            done = tune(team, animation, scene, **words)
            fails = predicate(done.motion.track("object").q[:, :2])
            return replace(done, trouble="made to fail", sample=int(np.argmax(fails))) if fails.any() else done

        monkeypatch.setattr(carrying, "tune", failing)

    return use


def path_of(done):
    return done.motion.track("object").q[:, :2]


def rerouted(errand, made_to_fail, seed):
    """The way that is found first, the one that is found when that fails halfway, and where that was."""
    first = carry(errand, seed=seed)
    assert first.outcome.ok, first.outcome.why
    assert first.rounds == 1
    where = path_of(first)[np.argmin(np.abs(path_of(first)[:, 0] - 0.5))]
    made_to_fail(lambda places: np.linalg.norm(places - where, axis=1) < NEAR)
    done = carry(errand, seed=seed)
    assert done.outcome.ok, done.outcome.why
    assert done.rounds > 1
    assert np.linalg.norm(path_of(done) - where, axis=1).min() >= NEAR, "it goes another way"
    assert np.allclose(path_of(done)[[0, -1]], path_of(first)[[0, -1]]), "to the same goal"
    verdict = recheck(errand.team, done.motion, errand.scene, margin=errand.margin)
    assert verdict.accepted, str(verdict)
    return first, done


def test_another_way_is_found_and_edges_that_failed_are_gone(errand, made_to_fail):
    first, done = rerouted(errand, made_to_fail, 0)
    space = done.roadmap.space
    assert not all(space.free_along(curve) for curve in first.path.curves), "the first way is barred now"
    assert all(space.free_along(done.roadmap.edge_curve(i, j)) for i, j in done.roadmap.edges)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_in_the_factory(made_to_fail, seed):
    rerouted(replace(load_errand("factory"), budget=20.0), made_to_fail, seed)


@pytest.mark.slow
def test_wet_cement_in_the_nearer_door():
    """Boxes pass over it, feet do not: an errand that comes with bunraku."""
    done = carry(load_errand("two_doors"), seed=0)
    assert done.outcome.ok, done.outcome.why
    assert done.rounds == len(done.failures) + 1 > 1
    assert all("wet_cement, and no change of posture" in why for why in done.failures)
    door = path_of(done)[np.argmin(np.abs(path_of(done)[:, 0])), 1]
    assert door > 1.0, "through the farther one"
    assert done.verdict.accepted
    assert ("recovered", f"with path {done.rounds}") in list(done.report())


def test_where_every_way_fails_it_says_so(errand, made_to_fail):
    made_to_fail(lambda places: np.abs(places[:, 0]) < 0.2)
    done = carry(replace(errand, budget=3.0), seed=0)
    assert done.outcome.kind == TOUCHES.kind
    assert done.outcome.why == "made to fail"
    assert 1 < done.rounds <= carrying.CarryOptions().rounds + 1
    assert done.motion is not None, "how far it got"


def test_how_long_ways_are_hardly_depends_on_the_seed():
    """Without other paths to choose from, the longest way is half as long again as the shortest."""
    errand = load_errand(errands()["plate"])
    every = [ways(errand, carry(errand, seed=seed)) for seed in (501, 502, 504)]
    for name in every[0]:
        assert max(own[name] for own in every) < 1.3 * min(own[name] for own in every)
