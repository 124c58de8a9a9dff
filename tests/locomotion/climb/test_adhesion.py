"""Adhesion by hand, and against an independent solver."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from bunraku.locomotion.climb.adhesion import hold
from bunraku.locomotion.climb.adhesion_kernels import PYRAMID

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


def test_a_posture_on_whose_equations_small_pivots_once_broke():
    p = np.array([[-0.14717848, 0.10614071, 0.3831362], [-0.17717848, -0.10614071, 0.3831362], [0.06217848, -0.1061407, 0.3831362]])
    centres = np.array([-0.05076538, -0.00651441, 0.3404078]) + 1e-8 * np.random.default_rng(1).standard_normal((2000, 3))
    normals = np.tile([-1.2246468e-16, 0.0, -1.0], (3, 1))
    assert {round(hold(p, normals, centre).adhesion, 4) for centre in centres} == {0.4693}


def test_two_feet_cannot_hold_a_weight_beside_their_line():
    assert hold(SQUARE[:2], UP[:2], [-0.3, 0, 0.05]).adhesion == math.inf


def pyramid(normal, friction):
    a = np.cross(normal, [1.0, 0, 0] if abs(normal[0]) < 0.9 else [0, 1.0, 0])
    a /= np.linalg.norm(a)
    turn = 2.0 * np.pi * np.arange(len(PYRAMID))[:, None] / len(PYRAMID)
    return normal + friction * (np.cos(turn) * a + np.sin(turn) * np.cross(normal, a))


def their_least(p, normals, centre, friction, grip, toes):
    """The same program by HiGHS."""
    count = len(p)
    edges = np.array([pyramid(n, friction) for n in normals])
    stuck = -normals if grip == math.inf else toes - grip * normals
    columns = [np.concatenate([f, np.cross(r, f)]) for r, foot in zip(p - centre, edges, strict=True) for f in foot]
    own = [np.concatenate([f, np.cross(r, f)]) for r, f in zip(p - centre, stuck, strict=True)]
    M = np.column_stack([*columns, *own, np.zeros(6)])
    level = np.zeros((count, M.shape[1]))
    level[:, count * len(PYRAMID) : -1], level[:, -1] = np.eye(count), -1.0  # what a foot bears is at most A, or exactly
    alike = {"A_ub": level, "b_ub": np.zeros(count)} if grip < math.inf else {}
    equal, b = (M, [0, 0, 1, 0, 0, 0]) if alike else (np.vstack([M, level]), [0, 0, 1, 0, 0, 0, *[0] * count])
    return linprog(np.eye(M.shape[1])[-1], A_eq=equal, b_eq=b, **alike)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([math.inf, 0.577]), st.sampled_from(["any", "wall", "ceiling"]))
def test_against_highs(seed, grip, where):
    rng = np.random.default_rng(seed)
    count = rng.integers(3, 5)
    normals, p = rng.standard_normal((count, 3)), 0.1 * rng.standard_normal((count, 3))
    if where != "any":
        normals[:] = [-1.0, 0, 0] if where == "wall" else [0, 0, -1.0]
        p -= np.sum(p * normals, 1, keepdims=True) * normals
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    toes = np.cross(normals, rng.standard_normal(3))
    toes /= np.linalg.norm(toes, axis=1, keepdims=True)
    centre, friction = 0.05 * rng.standard_normal(3), rng.uniform(0.3, 1.5)
    theirs = their_least(p, normals, centre, friction, grip, toes)
    ours = hold(p, normals, centre, friction=friction, grip=grip, toes=toes)
    assert math.isinf(ours.adhesion) == (theirs.status != 0)
    if theirs.status == 0:
        assert ours.adhesion == pytest.approx(theirs.fun, rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(ours.forces.sum(0), [0, 0, 1], atol=1e-7)
        np.testing.assert_allclose(np.cross(p - centre, ours.forces).sum(0), 0.0, atol=1e-7)


def test_the_slope_is_that_of_difference_quotients():
    centre = np.array([-0.04, 0.013, 0.007])
    held = hold(WALL[:3], BACK[:3], centre)
    sides = [[hold(WALL[:3], BACK[:3], centre + s * e).adhesion for s in (1e-6, -1e-6)] for e in np.eye(3)]
    np.testing.assert_allclose(held.slope, [(a - b) / 2e-6 for a, b in sides], atol=1e-6)
    assert np.abs(held.slope).max() > 0.1


def test_directional_feet_hold_by_pulling_against_each_other():
    toes = np.array([[0.0, 1, 0], [0, -1, 0], [0, 1, 0], [0, -1, 0]])
    held = hold(WALL, BACK, [-0.04, 0, 0], grip=math.tan(math.radians(30)), toes=toes)
    assert math.isfinite(held.adhesion)
    assert held.adhesion > hold(WALL, BACK, [-0.04, 0, 0]).adhesion
    # Turned inward they would have to be pushed apart, which is as good; all to one side there is nothing to pull against.
    assert hold(WALL, BACK, [-0.04, 0, 0], grip=0.577, toes=np.abs(toes)).adhesion == math.inf
