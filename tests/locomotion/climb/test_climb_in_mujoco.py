"""Climbs performed in MuJoCo with little more adhesion than they need."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bunraku.figure import library
from bunraku.locomotion.climb.climb import climb
from bunraku.locomotion.climb.climb_dynamics import loads, needed_forces
from bunraku.locomotion.climb.climb_in_mujoco import perform_in_mujoco
from bunraku.locomotion.climb.foot_forces import foot_forces, shares
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.path_segments import Slope, Straight
from bunraku.spatial import so3

pytest.importorskip("mujoco")
UP = (Straight(0.12), Slope(math.pi / 2), Straight(0.3), Slope(math.pi / 2), Straight(0.3))
"""From the floor up a wall and along the ceiling."""


def test_forces_on_the_feet_balance_the_load_inside_the_cones():
    """A gait on the floor, turned onto a wall and held at rest there."""
    done = climb([Straight(0.06)], pause=0.1, optimized=False)
    gecko, turn = Gecko(library.named("gecko")), so3.about(1, -math.pi / 2)
    feet = replace(done.feet, p=done.feet.p @ turn.T, R=turn @ done.feet.R)
    needed = needed_forces(gecko, done.motion.q, 1.0)
    weights = np.zeros(needed.force.shape)
    weights[..., 2] = 9.81 * needed.mass
    needed = needed._replace(place=needed.place @ turn.T, force=weights, moment=np.zeros(weights.shape))
    f = foot_forces(needed, feet, adhesion=np.full(len(feet.t), 0.45))
    arm = feet.p - np.einsum("b,tbi->ti", needed.mass, needed.place)[:, None] / needed.mass.sum()
    np.testing.assert_allclose(np.concatenate([f.sum(1), np.cross(arm, f).sum(1)], 1), loads(needed), atol=1e-6)
    normal = np.einsum("tfi,tfi->tf", f, feet.R[..., 2])
    along = np.linalg.norm(f - normal[..., None] * feet.R[..., 2], axis=2)
    assert 0.3 < (along - normal).max() <= 0.45 + 1e-6
    assert np.abs(f[feet.aloft]).max() == 0.0


def test_a_foot_gives_up_its_load_before_it_lifts_off():
    done = climb([Straight(0.04)], pause=0.1, optimized=False)
    share = shares(done.feet, 0.05)
    for foot in range(4):
        swings = done.feet.aloft[:, foot]
        assert share[swings, foot].max() == 0.0
        for lift in np.flatnonzero(np.diff(swings.astype(int)) == 1):
            if lift > 20:
                assert 0.0 < share[lift, foot] < 0.1 < share[lift - 10, foot] < 1.0 == share[lift - 20, foot]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_from_the_floor_to_the_ceiling_with_noise(up, seed):
    done = perform_in_mujoco(up, seed=seed)
    assert done.adhesion == pytest.approx(1.3 * up.moving.adhesion.max())
    assert not done.fell, str(done)
    assert done.end_error < 0.005  # m


@pytest.mark.slow
def test_with_too_little_adhesion_it_falls(up):
    assert perform_in_mujoco(up, adhesion=0.5 * up.adhesion.adhesion.max()).fell


@pytest.fixture(scope="module")
def up():
    done = climb(UP, pause=0.1)
    assert done.outcome.ok, str(done)
    return done
