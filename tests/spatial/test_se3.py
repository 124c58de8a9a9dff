from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bunraku.spatial import se3, so3

VECTOR = st.tuples(*[st.floats(-5, 5)] * 3).map(np.array)
POSE = st.builds(lambda p, w: se3.pose(p, so3.exp(w / 2)), VECTOR, VECTOR)


@given(VECTOR, VECTOR)
def test_pose_takes_a_quaternion_or_a_matrix(p: np.ndarray, w: np.ndarray) -> None:
    R = so3.exp(w)
    np.testing.assert_allclose(se3.pose(p, so3.quaternion(R)), se3.pose(p, R), atol=1e-12)
    np.testing.assert_array_equal(se3.pose(p)[:3, 3], p)
    np.testing.assert_array_equal(se3.pose()[3], [0, 0, 0, 1])


@given(POSE)
def test_inverse(X: np.ndarray) -> None:
    np.testing.assert_allclose(se3.inverse(X) @ X, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(se3.inverse(X), np.linalg.inv(X), atol=1e-10)


def test_inverse_of_stacks() -> None:
    rng = np.random.default_rng(0)
    X = np.array([[se3.pose(rng.normal(size=3), so3.exp(rng.normal(size=3))) for _ in range(3)] for _ in range(2)])
    np.testing.assert_allclose(se3.inverse(X) @ X, np.broadcast_to(np.eye(4), X.shape), atol=1e-12)


@given(POSE, POSE, VECTOR)
def test_transform_composes(X_AB: np.ndarray, X_BC: np.ndarray, p_C: np.ndarray) -> None:
    np.testing.assert_allclose(se3.transform(X_AB, se3.transform(X_BC, p_C)), se3.transform(X_AB @ X_BC, p_C), atol=1e-10)


@given(POSE, VECTOR, VECTOR)
def test_transform_keeps_distances_and_takes_many_points(X: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    moved = se3.transform(X, [[a, b]])
    assert moved.shape == (1, 2, 3)
    np.testing.assert_allclose(moved[0, 0], (X @ [*a, 1.0])[:3], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(moved[0, 1] - moved[0, 0]), np.linalg.norm(b - a), atol=1e-9)


def test_a_stack_carries_each_point_by_its_own_transform() -> None:
    rng = np.random.default_rng(0)
    X = np.array([se3.pose(rng.normal(size=3), so3.exp(rng.normal(size=3))) for _ in range(3)])
    points = rng.normal(size=(3, 3))  # as many as transforms: nothing but the numbers tells a wrong pairing
    np.testing.assert_allclose(se3.transform(X, points), [(x @ [*p, 1.0])[:3] for x, p in zip(X, points, strict=True)], atol=1e-12)
    np.testing.assert_allclose(se3.transform(X, points[0]), [(x @ [*points[0], 1.0])[:3] for x in X], atol=1e-12)
    each = se3.transform(X[:, None], points)  # every point by every transform
    np.testing.assert_allclose(each, [se3.transform(x, points) for x in X], atol=1e-12)
