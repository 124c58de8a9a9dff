"""Closed-form arms: every solution is one, none is missing, random reachable poses never fail."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku import build
from bunraku.errors import BunrakuError, FigureError, NotFinite
from bunraku.figure import Figure, library
from bunraku.kinematics import frames_along, pose
from bunraku.kinematics.inverse.arm import ClosedArm, closed_form
from bunraku.spatial import so3

TOOLS = {
    "mannequin": "left_palm",
    "right": "right_palm",
    "gecko": "front_left_foot",
    "mobile_manipulator": "tool",
    "odd7": "tool",
    "odd6": "tool",
}


def odd7() -> Figure:
    """Turned bases, offsets across the elbow, a slanted elbow axis, other orders of axes, a tool that is turned."""
    tool = build.fixed("tool", at=(0.05, 0.02, -0.1), rpy=(0.3, 0.2, 0.1))
    wrist = build.rz("w1", build.rx("w2", build.ry("w3", tool)), at=(0.02, -0.04, -0.3), rpy=(0.5, 0.6, 0.7))
    elbow = build.rotate((0.6, 0.64, 0.48), "elbow", wrist, at=(0.05, 0.03, -0.4), rpy=(0.2, 0.1, -0.3))
    shoulder = build.rx("s1", build.rz("s2", build.rx("s3", build.sphere(0.1, mass=1.0), elbow)))
    return build.figure("odd7", build.tz("lift", build.fixed("socket", shoulder, at=(0.1, 0.2, 1.0), rpy=(0.3, -0.4, 0.5))))


def odd6() -> Figure:
    """A turret with its shoulder ahead and aside, offsets in both links, hinges that turn opposite ways."""
    tool = build.fixed("tool", at=(0.1, 0.0, 0.02))
    last = build.ry("w2", build.rx("w3", build.sphere(0.05, mass=1.0), tool))
    wrist = build.rx("w1", last, at=(0.35, 0.04, 0.03), rpy=(0.1, 0.2, 0.3))
    elbow = build.rotate((0, -1, 0), "elbow", wrist, at=(0.05, -0.06, 0.4))
    turret = build.rz("turret", build.ry("shoulder", elbow, at=(0.08, 0.1, 0.3)))
    return build.figure("odd6", build.fixed("plinth", turret, at=(0.5, 0.1, 0.2), rpy=(0.2, 0.1, 0.4)))


@cache
def arm_of(name: str) -> ClosedArm:
    made = {"odd7": odd7, "odd6": odd6, "right": library.mannequin}
    figure = made[name]() if name in made else library.named(name)
    return closed_form(figure, TOOLS[name])


def samples(arm: ClosedArm, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random angles within limits (and ±3 where there are none), and whole configurations with them."""
    lower, upper = (np.clip(limit, -3.0, 3.0) for limit in arm.limits)
    random = np.random.default_rng(seed)
    angles = random.uniform(lower, upper, (count, len(lower)))
    Q = np.tile(arm.figure.start, (count, 1))
    Q[:, arm.indices] = angles
    return angles, Q


def poses(arm: ClosedArm, Q: np.ndarray) -> np.ndarray:
    return frames_along(arm.figure, Q)[:, arm.figure.frame_index[arm.tool]]


@pytest.mark.parametrize("name", TOOLS)
def test_ten_thousand_reachable_poses_and_no_failure(name: str) -> None:
    arm = arm_of(name)
    angles, Q = samples(arm, 10_000)
    X = poses(arm, Q)
    swivel = arm.swivels_of(angles) if arm.swivels else 0.0
    solved, found = arm.nearest_many(X, swivel=swivel)
    assert found.all()
    Q[:, arm.indices] = solved
    assert np.abs(poses(arm, Q) - X).max() <= 1e-9
    lower, upper = arm.limits
    assert (solved >= lower).all()
    assert (solved <= upper).all()


@pytest.mark.parametrize("name", TOOLS)
def test_every_solution_is_one_and_the_original_is_among_them(name: str) -> None:
    arm = arm_of(name)
    angles, Q = samples(arm, 200, seed=1)
    for row, q, X in zip(angles, Q, poses(arm, Q), strict=True):
        swivel = arm.swivel(q) if arm.swivels else 0.0
        rows = arm.solutions(X, q, swivel=swivel)
        assert len(rows) == 8 or (name == "odd6" and len(rows) == 4)  # its shoulder is ahead: some it reaches from one side
        turned = np.abs(np.angle(np.exp(1j * (rows - row))))
        assert turned.max(axis=1).min() < 1e-6  # the one that it was made from
        apart = np.abs(np.angle(np.exp(1j * (rows[:, None] - rows[None])))).max(-1)
        assert (apart[~np.eye(len(rows), dtype=bool)] > 1e-9).all()  # all are different
        many = np.tile(q, (len(rows), 1))
        many[:, arm.indices] = rows
        assert np.abs(poses(arm, many) - X).max() < 1e-9
        if arm.swivels:
            off = np.angle(np.exp(1j * (arm.swivels_of(rows) - swivel)))
            assert np.abs(off).max() < 1e-6


def test_swivel_turns_the_elbow_about_the_line_to_the_wrist() -> None:
    arm = arm_of("mannequin")
    figure, q = arm.figure, arm.figure.configuration(left_elbow=-1.2, left_shoulder_ry=-0.6)
    X = pose(figure, q).X("left_palm")
    shoulder, wrist = pose(figure, q).point("left_shoulder"), pose(figure, q).point("left_wrist")
    axis = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
    elbows = []
    for swivel in (0.2, 0.9):
        moved = q.copy()
        moved[arm.indices] = arm.solutions(X, q, swivel=swivel)[0]
        there = pose(figure, moved)
        assert np.allclose(there.point("left_wrist"), wrist, atol=1e-12)
        elbows.append(there.point("left_elbow") - shoulder)
    assert np.allclose(so3.exp(0.7 * axis) @ elbows[0], elbows[1], atol=1e-12)
    down = q.copy()
    down[arm.indices] = arm.solutions(X, q, swivel=0.0)[0]
    elbow = pose(figure, down).point("left_elbow") - shoulder
    level = elbow - (elbow @ axis) * axis
    assert level @ [0, 0, -1] == pytest.approx(np.linalg.norm(level) * np.sqrt(1 - axis[2] ** 2), rel=1e-9)


@pytest.mark.parametrize("name", ["mannequin", "mobile_manipulator"])
def test_reach_ends_where_the_arm_is_straight(name: str) -> None:
    arm = arm_of(name)
    joints = ("left_shoulder", "left_elbow", "left_wrist") if name == "mannequin" else ("shoulder", "elbow", "wrist_roll")
    here = pose(arm.figure)
    upper, lower = (np.linalg.norm(here.point(a) - here.point(b)) for a, b in itertools.pairwise(joints))
    shoulder = here.point(joints[0])
    R = so3.rpy(0.3, 0.4, 0.5)
    offset = np.linalg.inv(here.X(joints[2])) @ here.X(arm.tool)

    def target(distance: float) -> np.ndarray:
        X = np.eye(4)
        X[:3, :3] = R
        direction = np.array([0.6, 0.5, -0.4])
        X[:3, 3] = shoulder + distance * direction / np.linalg.norm(direction) + R @ offset[:3, 3]
        return X

    if name == "mobile_manipulator":
        R = here.X("tool")[:3, :3]
        offset = np.eye(4)
        offset[:3, 3] = (0, 0, 0.15)
    full, least = upper + lower, abs(upper - lower)
    for inside in (full * (1 - 1e-12), full - 1e-6, 0.5 * (full + least), least + 1e-3):
        assert arm.reaches(target(inside)), inside
    for outside in (full + 1e-6, 2 * full, max(least - 1e-3, 0.0)):
        assert not arm.reaches(target(outside)), outside
    q = arm.figure.start.copy()
    q[arm.indices] = arm.solutions(target(full))[0]
    assert np.allclose(pose(arm.figure, q).X(arm.tool), target(full), atol=1e-7)


def test_nearest_keeps_the_swivel_and_the_branch() -> None:
    """A hand that moves a little must not flip."""
    arm = arm_of("mannequin")
    figure = arm.figure
    q = figure.configuration(left_elbow=-1.2, left_shoulder_ry=-0.6, left_shoulder_rx=0.3)
    centre = pose(figure, q).X("left_palm")
    for angle in np.linspace(0, 2 * np.pi, 200):
        X = centre.copy()
        X[:3, 3] += 0.08 * np.array([np.cos(angle) - 1, np.sin(angle), 0.5 * np.sin(2 * angle)])
        new = arm.nearest(X, q)
        assert new is not None
        assert np.allclose(pose(figure, new).X("left_palm"), X, atol=1e-9)
        assert np.abs(new - q).max() < 0.1
        q = new


def test_nearest_finds_another_swivel_where_limits_forbid_this_one() -> None:
    arm = arm_of("mannequin")
    figure = arm.figure
    random = np.random.default_rng(2)
    lower, upper = arm.limits
    solved = 0
    for _ in range(50):
        q = figure.start.copy()
        q[arm.indices] = random.uniform(lower, upper)
        found = arm.nearest(pose(figure, q).X("left_palm"), figure.start)
        if found is not None:
            assert np.allclose(pose(figure, found).X("left_palm"), pose(figure, q).X("left_palm"), atol=1e-9)
            assert (found[arm.indices] >= lower).all()
            assert (found[arm.indices] <= upper).all()
            solved += 1
    assert solved >= 45
    far = np.eye(4)
    far[:3, 3] = (5, 5, 5)
    assert arm.nearest(far) is None


def test_the_body_may_stand_anywhere() -> None:
    arm = arm_of("mobile_manipulator")
    q = arm.figure.configuration(base_x=3.0, base_y=-1.0, base_turn=2.0, elbow=1.0, wrist_bend=0.7)
    X = pose(arm.figure, q).X("tool")
    assert np.allclose(arm.nearest(X, q), q, atol=1e-9)
    assert arm.nearest(X) is None  # from the origin it is out of reach


def test_limits_of_more_than_a_turn_are_used() -> None:
    arm = arm_of("mobile_manipulator")
    q = arm.figure.configuration(wrist_turn=5.5, elbow=1.0, wrist_bend=0.7)
    X = pose(arm.figure, q).X("tool")
    assert np.allclose(arm.nearest(X, q), q, atol=1e-9)
    within = arm.solutions(X, q, within_limits=True)
    lower, upper = arm.limits
    assert len(within) >= 1
    assert ((within >= lower) & (within <= upper)).all()


@settings(max_examples=200)
@given(
    st.permutations([0, 1, 2]), st.booleans(),
    st.tuples(*[st.one_of(st.floats(-3.1, 3.1), st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi]))] * 3),
)  # fmt: skip
def test_any_order_of_axes_gives_its_angles_back(order: list[int], proper: bool, angles: tuple[float, float, float]) -> None:
    """Singular middles included: the rotation must come back, whatever the angles."""
    from bunraku.kernels.compile import kernel
    from bunraku.kinematics.inverse.arm_kernels import ball_solution

    i, j, k = order[0], order[1], order[0] if proper else order[2]
    R = so3.about(i, angles[0]) @ so3.about(j, angles[1]) @ so3.about(k, angles[2])
    solve = _solver(kernel, ball_solution)
    a, b, c = solve(tuple(R.ravel().tolist()), i, j, k)
    assert np.allclose(so3.about(i, a) @ so3.about(j, b) @ so3.about(k, c), R, atol=1e-9)


@cache
def _solver(kernel, ball_solution):  # type: ignore[no-untyped-def]
    def solve(R, i, j, k):  # type: ignore[no-untyped-def]
        return ball_solution(R, i, j, k)

    import numba

    return solve if numba.config.DISABLE_JIT else numba.njit(solve)


def test_other_arms_are_refused_with_advice() -> None:
    with pytest.raises(FigureError, match="Inverse"):
        closed_form(library.mannequin(), "neck")
    with pytest.raises(FigureError, match="ball – hinge – ball"):
        closed_form(library.chain(9), library.chain(9).frames[-1].name)
    with pytest.raises(BunrakuError, match="no swivel"):
        arm_of("mobile_manipulator").swivel()
    with pytest.raises(NotFinite):
        arm_of("mannequin").nearest_many(np.full((2, 4, 4), np.nan))
    with pytest.raises(BunrakuError, match=r"\(4, 4\)"):
        arm_of("mannequin").nearest_many(np.zeros((2, 3)))
