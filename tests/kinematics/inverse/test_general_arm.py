"""Arms without a closed form: they reach what can be reached, within limits, as near as possible to a reference."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import FigureError, UnknownName
from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.kinematics.inverse.arm import closed_form
from bunraku.kinematics.inverse.general_arm import GeneralArm, arm_of, general_arm

TOOL = "left_palm"


@pytest.fixture(scope="module")
def arm() -> GeneralArm:
    """The mannequin's arm, which has a closed form to compare with."""
    figure = library.named("mannequin")
    return general_arm(figure, TOOL, closed_form(figure, TOOL).variables[0])


def tools(arm, Q):
    q = np.repeat(arm.figure.start[None], len(Q), 0)
    q[:, arm.indices] = Q
    return np.array([pose(arm.figure, own).X(TOOL) for own in q])


def test_poses_are_reached_within_limits(arm):
    Q, rng = arm.random(60), np.random.default_rng(1)
    X = tools(arm, Q)
    near = np.clip(Q + rng.normal(size=Q.shape) * 0.3, *arm.limits)
    found, ok = arm.nearest_many(X, near=near)
    assert ok.mean() > 0.9
    assert np.abs(tools(arm, found[ok]) - X[ok]).max() < 1e-9
    assert (found[ok] >= arm.limits[0]).all()
    assert (found[ok] <= arm.limits[1]).all()


def test_of_all_solutions_the_nearest_is_taken(arm):
    """It is no farther from the reference than those of the closed form at all swivels, and stationary."""
    closed, rng = closed_form(arm.figure, TOOL), np.random.default_rng(2)
    Q = 0.5 * (arm.random(10) + 0.5 * (arm.limits[0] + arm.limits[1]))
    X = tools(arm, Q)
    for target, q in zip(X, Q, strict=True):
        near = np.clip(q + rng.normal(size=7) * 0.15, *arm.limits)
        (found,), (ok,) = arm.nearest_many(target[None], near=near[None])
        assert ok
        swivels = np.linspace(-np.pi, np.pi, 400)
        others, fits = closed.nearest_many(np.repeat(target[None], 400, 0), swivel=swivels, near=near)
        assert np.linalg.norm(found - near) <= np.linalg.norm(others[fits] - near, axis=1).min() + 1e-4
        inside = ((found > arm.limits[0] + 1e-9) & (found < arm.limits[1] - 1e-9)).all()
        whole = arm.figure.start.copy()
        whole[arm.indices] = found
        J = pose(arm.figure, whole).jacobian(TOOL)[:, arm.indices]
        _, _, V = np.linalg.svd(J)
        if inside:
            assert abs(V[6] @ (found - near)) < 1e-6


def test_what_is_out_of_reach_is_not_found(arm):
    X = tools(arm, arm.random(1))
    X[0, :3, 3] += 3.0
    found, ok = arm.nearest_many(X)
    assert not ok[0]
    assert np.isnan(found).all()


def test_a_smooth_way_is_followed_smoothly(arm):
    """With twice as many poses on the same way, first differences are half as large, second ones a quarter."""
    first, sizes = 0.5 * (arm.limits[0] + arm.limits[1]), []
    for n in (200, 400):
        X = np.repeat(tools(arm, first[None]), n, 0)
        X[:, 2, 3] += np.linspace(0.0, 0.1, n)
        for found, ok in (arm.followed(X, first), arm.nearest_many(X, near=first)):
            assert ok.all()
            sizes.append([np.abs(np.diff(found, k, axis=0)).max() for k in (1, 2)])
    few, many = np.array(sizes[:2]), np.array(sizes[2:])
    np.testing.assert_allclose(few / many, [[2.0, 4.0]] * 2, rtol=0.1)


def test_a_chain_ends_where_a_pose_is_not_reached(arm):
    first = 0.5 * (arm.limits[0] + arm.limits[1])
    X = np.repeat(tools(arm, first[None]), 3, 0)
    X[1, :3, 3] += 3.0
    assert arm.followed(X, first)[1].tolist() == [True, False, False]


def test_solutions_differ_and_reach(arm):
    X = tools(arm, 0.5 * arm.random(1))[0]
    found = arm.solutions(X)
    assert 1 <= len(found) <= 8
    assert np.abs(tools(arm, found) - X).max() < 1e-9
    np.testing.assert_array_equal(found, arm.solutions(X))


def test_what_is_no_arm_is_refused(arm):
    with pytest.raises(UnknownName):
        general_arm(arm.figure, TOOL, "left_knee_ry")
    with pytest.raises(FigureError, match="cannot hold"):
        general_arm(arm.figure, TOOL, arm.variables[3])


def test_a_closed_form_is_preferred(arm):
    assert not isinstance(arm_of(arm.figure, TOOL), GeneralArm)
    assert isinstance(arm_of(arm.figure, TOOL, arm.variables[0]), GeneralArm)
