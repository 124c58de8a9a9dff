"""Adhesion by hand, and against an independent solver."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from bunraku.locomotion.adhesion import _edges, hold
from bunraku.locomotion.simplex import least

SQUARE = np.array([[0.1, 0.1, 0.0], [0.1, -0.1, 0.0], [-0.1, 0.1, 0.0], [-0.1, -0.1, 0.0]])
UP, DOWN, BACK = (np.tile(n, (4, 1)) for n in ([0.0, 0, 1], [0.0, 0, -1], [-1.0, 0, 0]))
WALL = np.array([[0.0, 0.1, 0.1], [0.0, -0.1, 0.1], [0.0, 0.1, -0.1], [0.0, -0.1, -0.1]])


def test_nothing_sticks_on_the_floor():
    assert hold(SQUARE, UP, [0, 0, 0.05]).adhesion == pytest.approx(0.0, abs=1e-9)


def test_on_the_ceiling_four_feet_carry_a_quarter_each():
    assert hold(SQUARE, DOWN, [0, 0, -0.05]).adhesion == pytest.approx(0.25, abs=1e-9)


def test_on_the_wall_friction_carries_and_the_upper_feet_are_pulled():
    d, a, mu = 0.04, 0.1, 1.0
    held = hold(WALL, BACK, [-d, 0, 0], friction=mu)
    f = held.forces
    np.testing.assert_allclose(f.sum(0), [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(np.cross(WALL - [-d, 0, 0], f).sum(0), 0.0, atol=1e-9)
    # The upper pair pulls with d/2a of the weight; all four share the friction: Σ(f_n + A) = 4A ≥ 1/μ.
    assert held.adhesion == pytest.approx(max(d / (2 * a) / 2, 1 / (4 * mu)), rel=0.1)
    assert held.critical(BACK) in (0, 1)


def test_two_feet_cannot_hold_a_weight_beside_their_line():
    assert hold(SQUARE[:2], UP[:2], [-0.3, 0, 0.05]).adhesion == math.inf


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_against_highs(seed):
    rng = np.random.default_rng(seed)
    normals = rng.standard_normal((3, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    edges, arms = _edges(normals, rng.uniform(0.3, 1.5)), rng.standard_normal((3, 3))
    columns = [np.concatenate([f, np.cross(r, f)]) for r, foot in zip(arms, edges, strict=True) for f in foot]
    M = np.column_stack([*columns, -np.concatenate([normals.sum(0), np.cross(arms, normals).sum(0)])])
    cost, b = np.eye(M.shape[1])[-1], np.array([0, 0, 1.0, 0, 0, 0])
    theirs, ours = linprog(cost, A_eq=M, b_eq=b), least(cost, M, b)
    assert (ours is None) == (theirs.status != 0)
    if ours is not None:
        np.testing.assert_allclose(M @ ours, b, atol=1e-7)
        assert ours.min() >= -1e-9
        assert ours[-1] == pytest.approx(theirs.fun, abs=1e-6)


def test_a_posture_takes_less_than_a_millisecond():
    hold(WALL, BACK, [-0.04, 0, 0])
    start = time.process_time()
    for _ in range(100):
        hold(WALL, BACK, [-0.04, 0, 0])
    assert (time.process_time() - start) / 100 < 1e-3
