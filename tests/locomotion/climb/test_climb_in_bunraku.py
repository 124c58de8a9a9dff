"""Climbs performed in bunraku's own simulation, with touch and with little more adhesion than they need."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.locomotion.climb.climb import climb
from bunraku.locomotion.climb.climb_in_bunraku import perform_in_bunraku
from bunraku.locomotion.climb.path_segments import Slope, Straight
from tests.locomotion.climb.judge import above, boxes_of, ends_of, frames_of

UP = (Straight(0.12), Slope(math.pi / 2), Straight(0.3), Slope(math.pi / 2), Straight(0.3))
"""From the floor up a wall and along the ceiling."""


def test_a_few_steps_on_the_floor_follow_the_plan():
    plan = climb([Straight(0.02)], pause=0.1, dt=0.01, optimized=False)
    done = perform_in_bunraku(plan, adhesion=0.5, seed=1)
    assert not done.fell, str(done)
    assert done.end_error < 0.002  # m
    assert done.pulls.max() <= 0.5 + 1e-9  # weights


def test_a_climb_that_never_began_is_refused():
    stuck = climb([Straight(0.1)], stride=0.5, optimized=False)
    assert len(stuck.motion) == 1
    with pytest.raises(BunrakuError, match="without a motion"):
        perform_in_bunraku(stuck)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_from_the_floor_to_the_ceiling_with_noise(up, seed):
    """Judged by the kinematics and the distances of the judge: the trunk where the plan has it, and no body in the surface."""
    done = perform_in_bunraku(up, seed=seed)
    assert done.adhesion == pytest.approx(1.3 * up.moving.adhesion.max())
    assert done.pulls.max() <= done.adhesion + 1e-9
    assert not done.fell, str(done)
    assert done.end_error < 0.005  # m
    planned, found = frames_of(up.motion.figure, up.motion.q[-1:]), frames_of(done.motion.figure, done.motion.q[-1:])
    for name in up.roles.trunk:
        assert np.linalg.norm(found[name][1] - planned[name][1]) < 0.005
    some = frames_of(done.motion.figure, done.motion.q[::20])
    boxes = boxes_of(up.scene)
    assert min(above(*ends_of(shape, some), boxes).min() for shape in done.motion.figure.shapes) > -1e-6


@pytest.mark.slow
def test_with_too_little_adhesion_it_falls(up):
    assert perform_in_bunraku(up, adhesion=0.5 * up.adhesion.adhesion.max()).fell


@pytest.fixture(scope="module")
def up():
    done = climb(UP, pause=0.1)
    assert done.outcome.ok, str(done)
    return done
