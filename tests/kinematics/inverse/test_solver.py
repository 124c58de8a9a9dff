"""Inverse kinematics: steps against plain linear algebra, priorities, limits, solves and how they end."""

# ruff: noqa: RUF005 - arrays are added, not lists

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from bunraku import build
from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import Figure, library
from bunraku.kernels.compile import INTERPRETED
from bunraku.kinematics import pose
from bunraku.kinematics.inverse import damped_step
from bunraku.kinematics.inverse.inverse_kinematics import inverse_kinematics
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import (
    CentreOfMass,
    Clearance,
    Closing,
    Direction,
    FramePose,
    LookAt,
    PointPosition,
    Posture,
)
from bunraku.progress import Progress
from bunraku.spatial import so3

ARM = ("left_shoulder_rz", "left_shoulder_ry", "left_shoulder_rx", "left_elbow",
       "left_wrist_rz", "left_wrist_ry", "left_wrist_rx")  # fmt: skip


@cache
def mannequin() -> Figure:
    return library.mannequin()


@cache
def manipulator() -> Figure:
    return library.mobile_manipulator()


def planar(n: int = 3, **words: object) -> Figure:
    """n links of 1 m in a row, turning about y; `tip` at the end of the last."""
    node = build.fixed("tip", at=(1, 0, 0))
    for k in range(n, 0, -1):
        at = (0, 0, 0) if k == 1 else (1, 0, 0)
        node = build.ry(f"j{k}", build.capsule(0.02, to=(1, 0, 0), mass=1.0), node, at=at, **words)
    return build.figure("planar", node)


def random_q(figure: Figure, seed: int, spread: float = 0.5) -> np.ndarray:
    """Inside the limits, and at none of them."""
    lower, upper = figure.limits
    return np.clip(figure.start + np.random.default_rng(seed).uniform(-spread, spread, figure.n_q), lower + 0.02, upper - 0.02)


# -- one step against plain linear algebra -----------------------------------------------------------------------


@pytest.mark.parametrize("rows", ["few", "many"])  # few: a factor of the size of the rows; many: of the variables
def test_soft_step_is_the_least_squares_solution(rows: str) -> None:
    figure = manipulator()
    q, damping = random_q(figure, 1), 1e-3
    tasks = [FramePose("tool", weight=2.0, lever=0.5), CentreOfMass((0.2, 0.1, 0.5), weight=0.3), Posture(weight=0.1, priority=0)]
    if rows == "many":
        tasks[1:1] = [PointPosition(f, (0.1, 0.2, 0.3), name=f) for f in ("elbow", "shoulder", "wrist_bend")]
    ik = Inverse(figure, tasks, options=InverseOptions(damping=damping), joint_limits=False)
    aims = ik.aim(tool=pose(figure, q + 0.05).X("tool"))
    e, J, away = ik.linear(q, aims)
    w = np.sqrt(np.repeat([t.weight for t in tasks[:-1]], [6, *[3] * (len(tasks) - 2)]))
    w[3:6] *= 0.5
    by_error = 0.1 * np.sum((w * e) ** 2)
    n = figure.n_q
    A = np.concatenate([w[:, None] * J, np.sqrt(0.1) * np.eye(n), np.sqrt(damping + by_error) * np.eye(n)])
    b = -np.concatenate([w * e, np.sqrt(0.1) * away, np.zeros(n)])
    assert np.allclose(ik.step(q, aims) - q, np.linalg.lstsq(A, b)[0], atol=1e-12)
    assert (len(e) <= n) == (rows == "few")


def test_strict_step_is_the_null_space_cascade() -> None:
    figure = mannequin()
    q = random_q(figure, 2, 0.3)
    tasks = [
        FramePose("left_sole", priority=0), FramePose("right_sole", priority=0), CentreOfMass(priority=1),
        PointPosition("left_palm", priority=2), PointPosition("neck", axes="x", priority=2), Posture(weight=2.0, priority=5),
    ]  # fmt: skip
    ik = Inverse(figure, tasks, start=q, options=InverseOptions(damping=1e-12))
    aims = ik.aim(left_palm=pose(figure, q).point("left_palm") + [1e-5, 1e-5, 2e-5], posture=q + 1e-5)
    aims = ik.aim(neck=pose(figure, q).point("neck") + [1e-5, 0, 0], base=aims)
    e, J, away = ik.linear(q, aims)
    dq, N = np.zeros(figure.n_q), np.eye(figure.n_q)
    for rows in (slice(0, 12), slice(12, 15), slice(15, 19)):
        pinv = np.linalg.pinv(J[rows] @ N, rcond=1e-7)
        dq += N @ pinv @ (-e[rows] - J[rows] @ dq)
        N = N - pinv @ J[rows] @ N
    dq += N @ (-away - dq)
    step = ik.step(q, aims) - q
    angles = [k for k, name in enumerate(figure.names) if not name.startswith("pelvis_r")]  # that one turns as a rotation
    assert np.allclose(step[angles], dq[angles], atol=1e-5 * np.abs(dq).max())


def test_levels_in_conflict_yield_to_the_higher_one() -> None:
    """Three links reach 3 m: the tip cannot be at 2.5 m in front and 2.5 m behind."""
    figure = planar()
    tasks = [PointPosition("tip", (2.0, 0, 1.0), priority=0), PointPosition("j3", (-2.5, 0, 0), priority=1), Posture()]
    solution = Inverse(figure, tasks).solve(random_q(figure, 3))
    assert solution.outcome.kind == "stalled"
    assert solution.errors["tip"] < 1e-9 < 1.0 < solution.errors["j3"]
    swapped = [PointPosition("tip", (2.0, 0, 1.0), priority=1), PointPosition("j3", (-1.5, 0, 0.5), priority=0), Posture()]
    solution = Inverse(figure, swapped).solve(random_q(figure, 3))
    assert solution.errors["j3"] < 1e-9 < 1.0 < solution.errors["tip"]
    # The lower one is as near as the higher lets it: the last link points at it.
    here = pose(figure, solution.q)
    toward = np.array([2.0, 0, 1.0]) - here.point("j3")
    assert np.allclose(here.point("tip") - here.point("j3"), toward / np.linalg.norm(toward), atol=1e-4)


def test_posture_moves_only_in_the_null_space() -> None:
    figure = mannequin()
    feet = [FramePose("left_sole"), FramePose("right_sole")]
    free = Inverse(figure, [*feet, Posture({"pelvis_tz": 0.85, "left_elbow": -1.0})])
    solution = free.solve()
    assert solution.outcome.ok
    assert max(solution.errors.values()) < 1e-8
    assert solution.q[figure.index("left_elbow")] == pytest.approx(-1.0, abs=1e-5)
    assert solution.q[figure.index("pelvis_tz")] == pytest.approx(0.85, abs=1e-4)


# -- limits ------------------------------------------------------------------------------------------------------


def test_step_at_limits_is_the_best_within_them() -> None:
    figure = manipulator()
    q, damping = random_q(figure, 4), 1e-4
    ik = Inverse(figure, [FramePose("tool"), Posture(weight=0.01, priority=0)], options=InverseOptions(damping=damping))
    aims = ik.aim(tool=pose(figure, q + 0.3).X("tool"))
    e, J, away = ik.linear(q, aims)
    D = 0.01 + damping + 0.1 * float(e @ e)
    n, largest = figure.n_q, 0.05
    A = np.concatenate([J, np.sqrt(D) * np.eye(n)])
    b = -np.concatenate([e, 0.01 / np.sqrt(D) * away])
    best = lsq_linear(A, b, (-largest, largest), method="bvls", tol=1e-14).x
    step = ik.step(q, aims, largest=largest) - q
    assert np.abs(ik.step(q, aims) - q).max() > 2 * largest  # they do bind
    assert (np.abs(step) <= largest + 1e-12).all()
    assert np.allclose(step, best, atol=1e-7)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_no_step_leaves_joint_speed_or_step_limits(seed: int) -> None:
    figure = manipulator()
    random = np.random.default_rng(seed)
    q = random_q(figure, seed, 2.0)
    ik = Inverse(figure, [FramePose("tool", priority=seed % 2), CentreOfMass(priority=1), Posture(priority=seed % 3)])
    aims = ik.aim(tool=pose(figure, random_q(figure, seed + 1, 2.0)).X("tool"))
    dt, largest = random.uniform(0.005, 0.1), random.uniform(0.02, 0.3)
    new = ik.step(q, aims, dt=dt, largest=largest)
    speed = np.array([v.speed for v in figure.variables])
    lower, upper = figure.limits
    assert (np.abs(new - q) <= np.minimum(speed * dt, largest) + 1e-9).all()
    assert (new >= lower - 1e-9).all()
    assert (new <= upper + 1e-9).all()


def test_strict_level_is_kept_under_limits() -> None:
    """Where limits bind, the higher level still comes first."""
    figure = planar(4, limits=(-1.0, 1.0))
    q = np.array([-0.2, 0.4, 0.5, 0.3])
    tasks = [PointPosition("tip", priority=0, axes="xz"), PointPosition("j3", priority=1, axes="z"), Posture()]
    ik = Inverse(figure, tasks, start=q)
    aims = ik.aim(j3=pose(figure, q).point("j3") + [0, 0, 0.3])
    free, held = ik.step(q, aims), ik.step(q, aims, largest=0.03)
    assert np.abs(free - q).max() > 0.06
    J = ik.linear(q, aims)[1]
    assert np.abs(J[:2] @ (held - q)).max() < 1e-6
    assert J[2] @ (held - q) > 0.005


def test_a_start_outside_the_limits_comes_back_as_fast_as_allowed() -> None:
    figure = planar(3, limits=(-1.0, 1.0), speed=2.0)
    q = np.array([0.3, 1.5, 0.2])
    new = Inverse(figure, [PointPosition("tip")], start=q).step(q, dt=0.1)
    assert new[1] == pytest.approx(1.3, abs=1e-9)


# -- solves ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_arm_reaches_random_poses_with_a_few_tries(seed: int) -> None:
    figure = mannequin()
    lower, upper = figure.limits
    q = figure.start.copy()
    k = figure.indices(ARM)
    q[k] = np.random.default_rng(seed).uniform(lower[k], upper[k])
    ik = Inverse(figure, [FramePose("left_palm"), Posture()], moves=ARM)
    solution = ik.solve(figure.start, ik.aim(left_palm=pose(figure, q).X("left_palm")), options=InverseOptions(tries=30))
    assert solution.outcome.ok
    assert np.allclose(pose(figure, solution.q).X("left_palm"), pose(figure, q).X("left_palm"), atol=1e-7)
    others = np.setdiff1d(np.arange(figure.n_q), k)
    assert np.array_equal(solution.q[others], figure.start[others])
    assert (solution.q[k] >= lower[k]).all()
    assert (solution.q[k] <= upper[k]).all()


def test_whole_body_solve_does_every_task() -> None:
    figure = mannequin()
    here = pose(figure)
    tasks = [
        FramePose("left_sole"), FramePose("right_sole"), CentreOfMass(axes="xy", priority=1),
        PointPosition("left_palm", here.point("left_palm") + [0.25, 0.1, 0.4], priority=1),
        LookAt("neck", (1.0, 0.6, 1.0), priority=2), Direction("right_palm", (0, 0, -1), axis=(0, 0, -1), priority=2), Posture(),
    ]  # fmt: skip
    solution = Inverse(figure, tasks).solve()
    assert solution.outcome.ok, solution.outcome
    assert max(solution.errors.values()) < 1e-8
    assert solution.iterations < 40


def test_out_of_reach_ends_at_the_nearest_point_and_says_so() -> None:
    figure = planar()
    solution = Inverse(figure, [PointPosition("tip", (3.0, 0, 4.0), name="hand")]).solve(
        [0.2, 0.3, 0.4], options=InverseOptions(iterations=500)
    )
    assert solution.outcome.kind == "stalled"
    assert solution.errors["hand"] == pytest.approx(2.0, abs=1e-6)  # 5 m away, 3 m of arm
    assert "hand is off by 2" in solution.outcome.why
    assert "out of reach" in solution.outcome.advice


def test_limits_are_named_where_they_hold_it_back() -> None:
    figure = planar(3, limits=(-0.5, 0.5))
    solution = Inverse(figure, [PointPosition("tip", (0, 0, 2.0))]).solve([0.1, 0.1, 0.1])
    assert solution.outcome.kind == "at limits"
    assert solution.at_limits == ("j1", "j2", "j3")
    assert "j1, j2, j3" in solution.outcome.why
    assert np.allclose(solution.q, -0.5)


def test_too_few_iterations_say_so() -> None:
    figure = mannequin()
    ik = Inverse(figure, [PointPosition("left_palm", (0.5, 0.3, 1.2)), Posture()])
    assert ik.solve(options=InverseOptions(iterations=1)).outcome.kind == "out of iterations"
    assert ik.solve(options=InverseOptions(iterations=100)).outcome.kind == "converged"


def test_straight_arm_gets_out_of_its_singularity() -> None:
    figure = planar()
    solution = Inverse(figure, [PointPosition("tip", (1.5, 0, 0))]).solve([0.0, 1e-6, 0.0])
    assert solution.outcome.ok
    step = Inverse(figure, [PointPosition("tip", (2.9, 0, 0))]).step([0.0, 1e-9, 0.0])
    assert np.abs(step).max() < 1.0  # no leap although the derivative along the arm is gone


@pytest.mark.parametrize("turn", [np.pi / 2, np.pi / 2 - 1e-9, -np.pi / 2])
def test_free_joint_has_no_gimbal_lock(turn: float) -> None:
    figure = build.figure("kite", build.free("kite", build.box((1, 0.5, 0.1), mass=1.0)))
    q = np.array([0, 0, 0, 0.3, turn, 0.2])
    R = pose(figure, q).X("kite")[:3, :3]
    target = np.eye(4)
    target[:3, :3] = R @ so3.rpy(0.4, 0.2, -0.6)
    solution = Inverse(figure, [FramePose("kite", target)]).solve(q)
    assert solution.outcome.ok
    assert solution.iterations <= 6
    assert np.allclose(pose(figure, solution.q).X("kite"), target, atol=1e-8)
    assert np.abs(solution.q - q).max() < 4.0  # angles stay near


def test_loops_close_and_stay_closed_while_something_moves() -> None:
    figure = build.figure(
        "fourbar",
        build.ry("crank", build.capsule(0.01, to=(0, 0, 0.2), mass=0.2),
            build.ry("coupler", build.capsule(0.01, to=(0.4, 0, 0), mass=0.4), build.fixed("end", at=(0.4, 0, 0)), at=(0, 0, 0.2))),
        build.ry("rocker", build.capsule(0.01, to=(0, 0, 0.3), mass=0.3), build.fixed("top", at=(0, 0, 0.3)), at=(0.4, 0, 0)),
        closures=[build.closure("pin", "end", "top")],
    )  # fmt: skip
    ik = Inverse(figure, [Closing(), Posture(variables=["crank"])])
    rows = np.array([ik.aim(posture={"crank": angle}) for angle in np.linspace(0, 2 * np.pi, 60)])
    solutions = ik.solve_many(rows, figure.start)
    assert all(s.errors["closing"] < 1e-9 for s in solutions)
    turned = [s.q[figure.index("crank")] for s in solutions]
    assert np.allclose(turned, np.linspace(0, 2 * np.pi, 60), atol=1e-4)  # a full turn of the crank (Grashof)


def test_talos_does_four_tasks_at_once(pinocchio: ModuleType) -> None:
    """A real humanoid of 50 variables; Pinocchio says where its frames are."""
    from tests.peers.robots import Twin, path_of

    twin = Twin.of(path_of("talos"), floating=True)
    figure = twin.figure
    bent = {f"leg_{side}_{k}_joint": a for side in ("left", "right") for k, a in ((3, -0.5), (4, 1.0), (5, -0.5))}
    q = np.clip(figure.configuration(**bent, arm_left_4_joint=-1.2, arm_left_2_joint=0.4), *figure.limits)
    feet, hand = ("left_sole_link", "right_sole_link"), "gripper_left_base_link"
    tasks = [*map(FramePose, feet), CentreOfMass(priority=1), FramePose(hand, name="hand", priority=1), Posture()]
    ik = Inverse(figure, tasks, start=q)
    target = pose(figure, q).X(hand)
    target[:3, 3] += (0.15, 0.1, 0.2)
    solution = ik.solve(q, ik.aim(hand=target))
    assert solution.outcome.ok, solution.outcome
    model, data, there = twin.model, twin.data, twin.q(solution.q)
    pinocchio.framesForwardKinematics(model, data, there)
    assert np.allclose(data.oMf[model.getFrameId(hand)].homogeneous, target, atol=1e-8)
    for foot in feet:
        assert np.allclose(data.oMf[model.getFrameId(foot)].homogeneous, pose(figure, q).X(foot), atol=1e-8)
    assert np.allclose(pinocchio.centerOfMass(model, data, there), pose(figure, q).com, atol=1e-6)


# -- many targets ------------------------------------------------------------------------------------------------


def circle(ik: Inverse, figure: Figure, n: int = 40) -> np.ndarray:
    centre = pose(figure).point("left_palm") + [0.2, 0.0, 0.3]
    angles = np.linspace(0, 2 * np.pi, n)
    return np.array([ik.aim(left_palm=centre + 0.1 * np.array([0, np.cos(a), np.sin(a)])) for a in angles])


def test_many_targets_are_the_single_ones() -> None:
    figure = mannequin()
    ik = Inverse(figure, [FramePose("left_sole"), FramePose("right_sole"), PointPosition("left_palm"), Posture()])
    rows = circle(ik, figure)
    apart = ik.solve_many(rows, figure.start, warm=False)
    assert all(np.array_equal(a.q, ik.solve(figure.start, row).q) for a, row in zip(apart, rows, strict=True))
    warm = ik.solve_many(rows, figure.start)
    assert all(s.outcome.ok for s in (*apart, *warm))
    assert np.mean([s.iterations for s in warm[1:]]) < np.mean([s.iterations for s in apart[1:]])


def test_threads_run_side_by_side_and_agree() -> None:
    figure = mannequin()
    ik = Inverse(figure, [FramePose("left_sole"), PointPosition("left_palm"), Posture()])
    rows = circle(ik, figure)
    alone = [s.q for s in ik.solve_many(rows, figure.start)]
    with ThreadPoolExecutor(3) as pool:
        for result in pool.map(lambda _: ik.solve_many(rows, figure.start), range(6)):
            assert all(np.array_equal(s.q, q) for s, q in zip(result, alone, strict=True))


def test_what_is_wanted_less_does_not_slow_what_is_wanted_more() -> None:
    """A small part of a step does the same for the first level, whatever is asked for below it, and however far away that is."""
    figure = mannequin()
    first = [FramePose("left_sole"), FramePose("right_sole"), CentreOfMass(axes="xy")]
    hand = PointPosition("left_palm", (30.0, 0.0, 5.0), priority=1)
    alone, both = Inverse(figure, [*first, Posture(priority=2)]), Inverse(figure, [*first, hand, Posture(priority=2)])
    q = figure.start + 0.02 * np.random.default_rng(0).normal(size=figure.n_q)

    def served(ik: Inverse) -> np.ndarray:
        new = ik.step(q, gain=1e-5)
        return np.array([alone.errors(q)[task.title] - alone.errors(new)[task.title] for task in first])

    assert served(alone).min() > 0.0
    assert np.allclose(served(both), served(alone), rtol=1e-3, atol=0.0)


# -- bounds ------------------------------------------------------------------------------------------------------


def wall(figure: Figure, x: float):  # type: ignore[no-untyped-def]
    """Distances of the elbow, wrist and palm to a wall in front."""

    def distances(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        here = pose(figure, q)
        names = ("left_elbow", "left_wrist", "left_palm")
        return np.array([x - here.point(n)[0] for n in names]), np.array([-here.point_jacobian(n)[0] for n in names])

    return distances


def test_clearance_as_a_limit_is_never_broken() -> None:
    figure = mannequin()
    reach = PointPosition("left_palm", pose(figure).point("left_palm") + [0.5, 0, 0.3])
    feet = [FramePose("left_sole"), FramePose("right_sole")]
    x = float(pose(figure).point("left_palm")[0]) + 0.25
    through = Inverse(figure, [*feet, reach]).solve()
    assert wall(figure, x)(through.q)[0].min() < -0.2
    ik = Inverse(figure, [*feet, reach], limits=[Clearance(wall(figure, x), 0.02)])
    q = figure.start
    for _ in range(40):
        q = ik.step(q, largest=0.05)
        assert wall(figure, x)(q)[0].min() > 0.02 - 1e-3  # to first order in a step of 0.05
    assert wall(figure, x)(q)[0].min() == pytest.approx(0.02, abs=1e-4)
    assert max(ik.errors(q)[foot] for foot in ("left_sole", "right_sole")) < 0.05


def test_a_limit_that_bends_is_kept_by_long_steps() -> None:
    """The hand stays in a ball whose rim it slides along: with long steps, first order alone leaves it by centimetres."""
    figure = mannequin()
    middle = pose(figure).point("left_palm")

    def inside(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        here = pose(figure, q)
        away = here.point("left_palm") - middle
        size = max(float(np.linalg.norm(away)), 1e-9)
        return np.array([0.2 - size]), -(away / size @ here.point_jacobian("left_palm"))[None]

    ik = Inverse(figure, [PointPosition("left_palm")], limits=[Clearance(inside)], moves=ARM)
    q, least = figure.start, np.inf
    for angle in np.linspace(0.0, 12.0, 40):
        aims = ik.aim(left_palm=middle + [0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.1])
        q = ik.step(q, aims, largest=0.5)
        least = min(
            least,
            float(inside(q)[0].min()),
            float(inside(ik.solve(figure.start, aims, options=InverseOptions(iterations=30)).q)[0].min()),
        )
    assert least > -1.001e-3


def test_clearance_as_a_task_of_high_priority_wins() -> None:
    figure = mannequin()
    reach = PointPosition("left_palm", pose(figure).point("left_palm") + [0.5, 0, 0.3], priority=1)
    x = float(pose(figure).point("left_palm")[0]) + 0.25
    clear = Clearance(wall(figure, x), 0.02, priority=0)
    solution = Inverse(figure, [clear, reach, Posture()], moves=ARM).solve(options=InverseOptions(iterations=300))
    assert wall(figure, x)(solution.q)[0].min() > 0.02 - 1e-5
    assert solution.errors["left_palm"] > 0.2


# -- asking and being refused ------------------------------------------------------------------------------------


def test_reluctance_moves_the_others() -> None:
    figure = manipulator()
    target = PointPosition("tool", pose(figure).point("tool") + [0.05, 0.05, 0.0])
    base = [figure.index(name) for name in ("base_x", "base_y", "base_turn")]
    willing = Inverse(figure, [target]).step(figure.start) - figure.start
    heavy = dict.fromkeys(("base_x", "base_y", "base_turn"), 100.0)
    reluctant = Inverse(figure, [target], reluctance=heavy).step(figure.start) - figure.start
    assert np.abs(reluctant[base]).max() < 1e-2 * np.abs(willing[base]).max()


def test_aims_change_by_title_and_only_there() -> None:
    figure = mannequin()
    ik = Inverse(figure, [FramePose("left_sole"), PointPosition("left_palm", name="hand"), Posture()])
    aims = ik.aim(hand=(1, 2, 3), posture={"left_elbow": -0.7})
    assert np.count_nonzero(aims != ik.aims) <= 4
    assert np.array_equal(ik.aim({"hand": (1, 2, 3)}, posture={"left_elbow": -0.7}), aims)
    with pytest.raises(UnknownName, match="hand"):
        ik.aim(hnd=(1, 2, 3))
    twice = Inverse(figure, [PointPosition("left_palm"), PointPosition("left_palm", position=(0, 0, 0.1))])
    with pytest.raises(BunrakuError, match="name="):
        twice.aim(left_palm=(0, 0, 0))


def test_what_is_not_finite_is_refused() -> None:
    figure = manipulator()
    ik = Inverse(figure, [FramePose("tool"), Posture()])
    bad = figure.start.copy()
    bad[0] = np.nan
    broken = ik.aims.copy()
    broken[0] = np.inf
    for call in (ik.step, ik.solve):
        with pytest.raises(NotFinite):
            call(bad)
        with pytest.raises(NotFinite):
            call(figure.start, broken)
    with pytest.raises(NotFinite, match="target 1"):
        ik.solve_many([ik.aims, broken])
    with pytest.raises(BunrakuError, match="9 variables"):
        ik.step(np.zeros(3))
    with pytest.raises(BunrakuError, match="aims have shape"):
        ik.solve(figure.start, np.zeros(5))


def test_any_layout_of_arrays_is_understood() -> None:
    """The kernels are entered without numba's checks, so the wrapper must make arrays plain."""
    figure = manipulator()
    ik = Inverse(figure, [FramePose("tool"), Posture()])
    strided = np.stack([figure.start, figure.start], 1)[:, 0]
    want = ik.step(figure.start, ik.aims + 0.01)
    assert np.array_equal(ik.step(strided, np.stack([ik.aims + 0.01] * 2, 1)[:, 1]), want)
    assert np.array_equal(ik.step(list(figure.start), list(ik.aims + 0.01)), want)
    rows = np.asfortranarray([ik.aims, ik.aims + 0.01])
    many = ik.solve_many(rows, np.asfortranarray([figure.start] * 2), warm=False)
    assert np.array_equal(many[1].q, ik.solve(figure.start, ik.aims + 0.01).q)


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_arrays_that_may_not_be_written_compile_nothing_anew() -> None:
    f = library.named("arm3d")
    ik = Inverse(f, [PointPosition("tip")])
    frozen = ik.aim()
    frozen.setflags(write=False)
    for q in (f.start, f.start.copy(), f.start.tolist()):
        for aims in (None, ik.aim(), frozen):
            ik.linear(q, aims)
    assert len(damped_step.linearise.signatures) == 1


# -- in one call -------------------------------------------------------------------------------------------------


def test_one_call_finds_what_the_compiled_tasks_find() -> None:
    figure = mannequin()
    tasks = [FramePose("left_sole"), PointPosition("left_palm", (0.4, 0.2, 1.2), priority=1), Posture()]
    heard: list[Progress] = []
    found = inverse_kinematics(figure, tasks, progress=heard.append)
    assert found.outcome.ok
    assert np.array_equal(found.q, Inverse(figure, tasks).solve().q)
    assert [(word.stage, word.done, word.text) for word in heard] == [("solve", 1.0, "converged")]
    assert "converged" in repr(found)


def test_the_same_seed_gives_the_same_tries() -> None:
    figure = mannequin()
    tasks, options = [PointPosition("left_palm", (3.0, 0.2, 1.2))], InverseOptions(tries=4, iterations=20)
    heard: list[Progress] = []
    first = inverse_kinematics(figure, tasks, moves=ARM, options=options, seed=3, progress=heard.append)
    again = inverse_kinematics(figure, tasks, moves=ARM, options=options, seed=3)
    assert np.array_equal(first.q, again.q)
    assert [word.done for word in heard] == [0.25, 0.5, 0.75, 1.0]


def test_interrupted_it_returns_the_best_so_far() -> None:
    figure = mannequin()

    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    tasks = [PointPosition("left_palm", (3.0, 0.2, 1.2), name="hand")]
    found = inverse_kinematics(figure, tasks, options=InverseOptions(tries=5), progress=interrupt)
    assert found.outcome.kind == "stopped"
    assert np.array_equal(found.q, Inverse(figure, tasks).solve().q)
    assert "hand is off by" in found.outcome.why
