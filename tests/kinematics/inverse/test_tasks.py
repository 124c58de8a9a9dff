"""Tasks: errors are zero where they should be, and Jacobians agree with difference quotients on real figures."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku import build
from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import Figure, library
from bunraku.kinematics import pose
from bunraku.kinematics.inverse import damped_step
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import (
    CentreOfMass,
    Clearance,
    Closing,
    Direction,
    FramePose,
    FrameRotation,
    LookAt,
    PointPosition,
    Posture,
    Task,
)
from bunraku.spatial import so3
from tests.differences import difference_quotient, relative_error

P = (0.02, -0.03, 0.05)
TURNED = so3.rpy(0.4, -0.7, 1.9)


@cache
def figure(name: str) -> Figure:
    if name == "fourbar":
        return fourbar()
    return library.named(name)


def fourbar() -> Figure:
    """A loop of four bars and a spatial hinge closure, turned axes included."""
    return build.figure(
        "fourbar",
        build.ry("crank", build.capsule(0.01, to=(0, 0, 0.2), mass=0.2),
            build.ball("coupler", build.capsule(0.01, to=(0.4, 0, 0), mass=0.4), build.fixed("end", at=(0.4, 0, 0)),
                at=(0, 0, 0.2))),
        build.rotate((0.1, 1, 0.2), "rocker", build.capsule(0.01, to=(0, 0, 0.3), mass=0.3), build.fixed("top", at=(0, 0, 0.3)),
            at=(0.4, 0, 0), rpy=(0.1, 0.2, 0.3)),
        closures=[build.closure("pin", "end", "top"), build.closure("axle", "coupler", "rocker", kind="hinge")],
    )  # fmt: skip


FIGURES = {  # a hand, a head, and something else that moves
    "mannequin": ("left_palm", "neck", "right_sole"),
    "mobile_manipulator": ("tool", "elbow", "base_turn"),
    "marionette22": ("lhand", "head", "torso"),
    "fourbar": ("end", "top", "crank"),
}


def tasks_of(name: str) -> dict[str, Task]:
    hand, head, other = FIGURES[name]
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = TURNED, (0.3, 0.2, 0.9)
    near, turned = (0.3, 0.2, 0.4), TURNED
    tasks: dict[str, Task] = {
        "pose": FramePose(hand, X, lever=0.3),
        "pose seen from a moving frame": FramePose(hand, X, seen_from=other),
        "rotation": FrameRotation(head, turned),
        "point": PointPosition(hand, near, position=P),
        "two coordinates": PointPosition(hand, near, position=P, axes="zx"),
        "point seen from a moving frame": PointPosition(hand, near, position=P, seen_from=head),
        "direction": Direction(hand, (0.3, -0.5, 0.8), axis=(0, 0, -1)),
        "direction seen from a moving frame": Direction(hand, (0.3, -0.5, 0.8), axis=(0, 1, 0), seen_from=other),
        "look-at": LookAt(head, (2.0, 0.5, 1.0), position=P),
        "look at a point of oneself": LookAt(head, P, seen_from=hand),
        "centre of mass": CentreOfMass((0.1, 0.2, 0.3)),
        "centre of mass seen from a moving frame": CentreOfMass((0.1, 0.2, 0.3), axes="xy", seen_from=other),
        "posture": Posture(np.linspace(-1, 1, figure(name).n_q), priority=0),
    }
    if figure(name).closures or figure(name).strings:
        links = [s.name for s in figure(name).strings] or None
        tasks["closing"] = Closing(links)
    return tasks


CASES = [(name, kind) for name in FIGURES for kind in tasks_of(name)]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_jacobian_is_the_derivative_of_the_error(name: str, kind: str) -> None:
    body = figure(name)
    task = tasks_of(name)[kind]
    # A second task below it: the first one's posture is then made of rows, not of a metric.
    ik = Inverse(body, [task, Posture(priority=9)])
    q = body.start + np.random.default_rng(len(kind)).uniform(-0.6, 0.6, body.n_q)
    e, J, _ = ik.linear(q)
    plan = ik._compiled.plan

    def error(dq: np.ndarray) -> np.ndarray:
        out = np.empty_like(q)
        damped_step.moved(plan, q, dq, out)
        return ik.linear(out)[0]

    quotient = difference_quotient(error, np.zeros(body.n_q), step=3e-4)
    assert np.abs(e).max() > 1e-3  # a task that is fulfilled by chance would test little
    assert relative_error(J, quotient) < 1e-8


@pytest.mark.parametrize("name", FIGURES)
def test_without_a_target_everything_is_held_where_it_is(name: str) -> None:
    body = figure(name)
    hand, head, other = FIGURES[name]
    q = body.start + np.random.default_rng(3).uniform(-0.6, 0.6, body.n_q)
    held = [
        FramePose(hand, seen_from=other), FramePose(head, name="head"), PointPosition(hand, position=P, name="p", axes="y"),
        Direction(head, axis=(0, 1, 0), seen_from=hand, name="d"), CentreOfMass(seen_from=other, axes="xz"),
        Posture(priority=0),
    ]  # fmt: skip
    assert np.abs(Inverse(body, [*held, Posture(priority=9)], start=q).linear(q)[0]).max() < 1e-12


def test_errors_say_what_they_mean() -> None:
    body = figure("mannequin")
    q = body.start + np.random.default_rng(5).uniform(-0.4, 0.4, body.n_q)
    here = pose(body, q)
    X, Y = here.X("left_palm"), here.X("neck")
    target = np.array([0.5, 0.1, 1.2])
    ik = Inverse(body, [PointPosition("left_palm", target), CentreOfMass((0, 0, 1.0))])
    assert np.allclose(ik.linear(q)[0], [*(X[:3, 3] - target), *(here.com - [0, 0, 1.0])], atol=1e-14)
    relative = Inverse(body, [FramePose("left_palm", np.eye(4), seen_from="neck")])
    between = np.linalg.inv(Y) @ X
    assert np.allclose(relative.linear(q)[0], [*between[:3, 3], *so3.log(between[:3, :3])], atol=1e-12)
    gaze = target - Y[:3, 3]
    look = Inverse(body, [LookAt("neck", target)]).linear(q)[0]
    angle = np.arccos(Y[:3, 0] @ gaze / np.linalg.norm(gaze))
    assert np.linalg.norm(look) == pytest.approx(angle, abs=1e-12)
    assert np.allclose(so3.exp(-look) @ Y[:3, 0], gaze / np.linalg.norm(gaze), atol=1e-12)  # turning back by it looks there


@settings(max_examples=60)
@given(
    st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1),
    st.one_of(st.floats(0, np.pi), st.floats(3.14159, np.pi), st.floats(0, 1e-7)),
)
def test_rotation_error_is_exact_up_to_half_a_turn(axis: tuple[float, float, float], angle: float) -> None:
    w = np.array(axis) / np.linalg.norm(axis) * angle
    body = figure("mannequin")
    X = pose(body).X("neck")
    ik = Inverse(body, [FrameRotation("neck", so3.exp(-w) @ X[:3, :3])])
    e = ik.linear(body.start)[0]
    assert np.allclose(so3.exp(e), so3.exp(w), atol=1e-9)
    assert np.linalg.norm(e) == pytest.approx(angle, abs=1e-7)


def test_looking_the_wrong_way_round_has_a_way_out() -> None:
    body = build.figure("eye", build.ball("eye", build.sphere(0.1, mass=1.0)))
    ik = Inverse(body, [Direction("eye", (-1, 0, 0))])
    e, J, _ = ik.linear(body.start)
    assert np.linalg.norm(e) == pytest.approx(np.pi, abs=1e-9)
    assert np.abs(J.T @ e).max() > 1.0
    q = ik.solve().q
    assert np.allclose(pose(body, q).X("eye")[:3, 0], (-1, 0, 0), atol=1e-8)


def test_clearance_pushes_only_where_it_is_too_close() -> None:
    body = figure("mannequin")

    def height(q: np.ndarray) -> tuple[list[float], np.ndarray]:
        here = pose(body, q)
        names = ("left_palm", "right_palm", "neck")
        return [here.point(n)[2] for n in names], np.array([here.point_jacobian(n)[2] for n in names])

    heights = height(body.start)[0]
    margin = (heights[0] + heights[2]) / 2  # both hands are below it, the neck is above
    e, J, _ = Inverse(body, [Clearance(height, margin, count=2)]).linear(body.start)
    assert np.allclose(np.sort(e), np.sort(np.array(heights[:2]) - margin), atol=1e-14)
    assert np.allclose(J, height(body.start)[1][:2], atol=1e-14)
    free, _, _ = Inverse(body, [Clearance(height, min(heights) - 0.1)]).linear(body.start)
    assert not free.any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Inverse(figure("mannequin"), [FramePose("left_pam")]), "left_palm"),
        (lambda: Inverse(figure("mannequin"), [PointPosition("neck", axes="xw")]), "some of the axes x, y, z"),
        (lambda: Inverse(figure("mannequin"), [FramePose("neck", np.ones((4, 4)))]), "not a rotation"),
        (lambda: Inverse(figure("mannequin"), [PointPosition("neck", (0, np.nan, 0))]), "got nan"),
        (lambda: Inverse(figure("mannequin"), [PointPosition("neck", (0, 0))]), "expected 3 numbers"),
        (lambda: Inverse(figure("mannequin"), [Direction("neck", (0, 0, 0))]), "no direction"),
        (lambda: Inverse(figure("fourbar"), [Closing(["pi"])]), "pin"),
        (lambda: PointPosition("neck", weight=-1.0), "weight must be positive"),
        (lambda: Inverse(build.figure("empty", build.rx("a")), [CentreOfMass()]), "no moving mass"),
    ],
)  # fmt: skip
def test_bad_tasks_are_refused_with_advice(make: object, message: str) -> None:
    with pytest.raises(BunrakuError, match=message):
        make()  # type: ignore[operator]


def test_unknown_link_lists_those_that_exist() -> None:
    with pytest.raises(UnknownName, match="left_arm"):
        Inverse(figure("marionette22"), [Closing(["left_amr"])])
