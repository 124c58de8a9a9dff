from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import Figure, build, library, plain_kinematics
from bunraku.kinematics import frames_along, pose
from bunraku.spatial import se3

NAMES = (*library.names(), "chain12")
MARIONETTE = library.named("marionette22")


def random(figure: Figure, seed: int, samples: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (samples, figure.n_q))


@pytest.mark.parametrize("name", NAMES)
def test_frames_agree_with_the_plain_twin(name: str) -> None:
    figure = library.named(name)
    Q = random(figure, 1)
    along = frames_along(figure, Q)
    for q, X_W in zip(Q, along, strict=True):
        here = pose(figure, q)
        want = plain_kinematics.poses(figure.frames, dict(zip(figure.names, q.tolist(), strict=True)))
        np.testing.assert_array_equal(here.frames, X_W)
        for frame, X in zip(figure.frames, here.frames, strict=True):
            np.testing.assert_allclose(X, want[frame.name], rtol=0, atol=1e-13)
            np.testing.assert_array_equal(here.X(frame.name), X)


@pytest.mark.parametrize("name", NAMES)
def test_centre_of_mass_is_the_mean_of_the_bodies(name: str) -> None:
    figure = library.named(name)
    for q in random(figure, 2):
        here = pose(figure, q)
        # What hangs on the world itself does not move, and is no part of what is balanced.
        moving = [body for body in figure.bodies if here.jacobian(body.frame).any()]
        points = [here.point(body.frame, body.com) for body in moving]
        masses = [body.mass for body in moving]
        np.testing.assert_allclose(here.com, np.average(points, axis=0, weights=masses), rtol=0, atol=1e-13)
        jacobians = [here.point_jacobian(body.frame, body.com) for body in moving]
        np.testing.assert_allclose(here.com_jacobian, np.average(jacobians, axis=0, weights=masses), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["marionette22", "marionette25", "arm2d", "arm3d", "hand"])
def test_gaps_agree_with_the_plain_twin(name: str) -> None:
    figure = library.named(name)
    for q in random(figure, 3):
        here = pose(figure, q)
        X_W = plain_kinematics.poses(figure.frames, dict(zip(figure.names, q.tolist(), strict=True)))
        for gap, string in zip(here.gaps, (*figure.strings, *figure.wires), strict=True):
            length = string.length + (string.ratio * q[figure.index(string.variable)] if string.variable else 0.0)
            assert math.isclose(gap, plain_kinematics.path_length(X_W, string) - length, rel_tol=0, abs_tol=1e-13)


def test_a_pendulum_by_hand() -> None:
    figure = build.figure("p", build.ry("swing", build.body(2.0, (0, 0, -0.5)), build.fixed("bob", at=(0, 0, -1.0)), at=(0, 0, 3)))
    here = pose(figure, [0.3])
    s, c = math.sin(0.3), math.cos(0.3)
    np.testing.assert_allclose(here.point("bob"), [-s, 0, 3 - c], atol=1e-15)
    np.testing.assert_allclose(here.jacobian("bob"), np.array([[-c, 0, s, 0, 1, 0]]).T, atol=1e-15)
    np.testing.assert_allclose(here.point_dqdq("bob").ravel(), [s, 0, c], atol=1e-15)
    np.testing.assert_allclose(here.point_dqdqdq("bob").ravel(), [c, 0, -s], atol=1e-15)
    np.testing.assert_allclose(here.com, [-0.5 * s, 0, 3 - 0.5 * c], atol=1e-15)


def test_a_screw_by_hand() -> None:
    figure = build.figure("s", build.screw("z", 0.1, "bolt", build.sphere(0.1, mass=1.0)))
    here = pose(figure, [2.0])
    np.testing.assert_allclose(here.point("bolt", (1, 0, 0)), [math.cos(2), math.sin(2), 0.2], atol=1e-15)
    np.testing.assert_allclose(here.jacobian("bolt"), np.array([[0, 0, 0.1, 0, 0, 1]]).T, atol=1e-15)


@given(st.lists(st.floats(-1e3, 1e3), min_size=MARIONETTE.n_q, max_size=MARIONETTE.n_q))
def test_frames_are_rigid_wherever_they_are(values: list[float]) -> None:
    X = pose(MARIONETTE, values).frames
    np.testing.assert_allclose(X[:, :3, :3] @ X[:, :3, :3].transpose(0, 2, 1), np.tile(np.eye(3), (len(X), 1, 1)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(X[:, :3, :3]), 1.0, atol=1e-12)
    np.testing.assert_array_equal(X[:, 3], np.tile([0.0, 0.0, 0.0, 1.0], (len(X), 1)))


def test_the_world_stands_still() -> None:
    figure = library.named("arm2d")
    here = pose(figure)
    np.testing.assert_array_equal(here.X("world"), np.eye(4))
    np.testing.assert_array_equal(here.point("world", (1, 2, 3)), [1, 2, 3])
    assert not here.jacobian("world").any()
    assert not here.point_dqdq("world").any()


def test_points_of_one_frame_move_together() -> None:
    """A Jacobian at a point is the twist of the frame, shifted."""
    figure = library.named("mannequin")
    here = pose(figure, random(figure, 4, 1)[0])
    for frame in figure.frames[::7]:
        J = here.jacobian(frame.name)
        arm = here.X(frame.name)[:3, :3] @ [0.1, 0.2, -0.3]
        moved = J[:3] + np.cross(J[3:].T, arm).T
        np.testing.assert_allclose(here.point_jacobian(frame.name, (0.1, 0.2, -0.3)), moved, atol=1e-13)


def test_a_pose_is_of_its_own_q() -> None:
    figure = library.named("pendulum")
    q = np.array([0.4])
    here = pose(figure, q)
    before = here.frames.copy()
    q[0] = 2.0
    assert here.q[0] == 0.4
    np.testing.assert_array_equal(here.frames, before)
    assert pose(figure).q == figure.start
    assert figure.start.flags.writeable is False


def test_far_from_home() -> None:
    """A kilometre away, a hand is where it is to a tenth of a nanometre."""
    q = MARIONETTE.start.copy()
    near = pose(MARIONETTE, q)
    q[:3] += (1000.0, -2000.0, 500.0)
    far = pose(MARIONETTE, q)
    shift = se3.pose((1000.0, -2000.0, 500.0))
    np.testing.assert_allclose(far.X("lelbow_rx"), shift @ near.X("lelbow_rx"), rtol=0, atol=1e-10)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_does_not_travel(bad: float) -> None:
    figure = library.named("double_pendulum")
    name = figure.names[1]
    q = figure.start.copy()
    q[1] = bad
    with pytest.raises(NotFinite, match=name):
        pose(figure, q)
    Q = np.zeros((4, 2))
    Q[2, 0] = bad
    with pytest.raises(NotFinite, match="sample 2"):
        frames_along(figure, Q)


def test_wrong_sizes_and_names_are_said() -> None:
    figure = library.named("double_pendulum")
    with pytest.raises(BunrakuError, match="has 2 variables"):
        pose(figure, [0.0])
    with pytest.raises(BunrakuError, match="has 2 variables"):
        frames_along(figure, np.zeros(2))
    with pytest.raises(UnknownName, match="no frame is called 'elbw'"):
        pose(library.named("arm2d")).X("elbw")
    with pytest.raises(UnknownName, match="string"):
        pose(figure).path("rope")
    with pytest.raises(BunrakuError, match="no moving mass"):
        pose(build.figure("f", build.fixed("a", build.sphere(1.0, mass=1.0)))).com  # noqa: B018


def test_nothing_moves() -> None:
    """A figure without variables is a figure."""
    figure = build.figure("f", build.fixed("a", at=(1, 2, 3)))
    here = pose(figure)
    np.testing.assert_array_equal(here.point("a"), [1, 2, 3])
    assert here.jacobian("a").shape == (6, 0)
    assert frames_along(figure, np.zeros((3, 0))).shape == (3, 1, 4, 4)
