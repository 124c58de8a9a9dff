from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bunraku.spatial import so3

ANGLE = st.floats(-math.pi, math.pi)
VECTOR = st.tuples(*[st.floats(-1, 1)] * 3).map(np.array)
QUATERNION = st.tuples(*[st.floats(-1, 1)] * 4).map(np.array).filter(lambda q: np.linalg.norm(q) > 1e-3)


@given(QUATERNION)
def test_matrix_is_a_rotation(q: np.ndarray) -> None:
    R = so3.matrix(q)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)


@given(QUATERNION)
def test_quaternion_and_back(q: np.ndarray) -> None:
    back = so3.quaternion(so3.matrix(q))
    assert back[0] >= 0
    assert abs(back @ q) / np.linalg.norm(q) == pytest.approx(1.0, abs=1e-12)  # q and −q are the same rotation


@given(QUATERNION, QUATERNION, VECTOR)
def test_product_of_matrices_is_that_of_quaternions(p: np.ndarray, q: np.ndarray, x: np.ndarray) -> None:
    w = p[0] * q[0] - p[1:] @ q[1:]
    v = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    assume(np.hypot(w, np.linalg.norm(v)) > 1e-6)
    np.testing.assert_allclose(so3.matrix([w, *v]) @ x, so3.matrix(p) @ so3.matrix(q) @ x, atol=1e-9)


@pytest.mark.parametrize("axis", range(3))
def test_half_turns_have_a_quaternion(axis: int) -> None:
    R = so3.about(axis, math.pi)
    np.testing.assert_allclose(so3.matrix(so3.quaternion(R)), R, atol=1e-12)


def test_stacks() -> None:
    q = np.random.default_rng(0).normal(size=(4, 5, 4))
    R = so3.matrix(q)
    assert R.shape == (4, 5, 3, 3)
    np.testing.assert_allclose(so3.matrix(so3.quaternion(R)), R, atol=1e-12)
    np.testing.assert_allclose(so3.about(1, np.array([0.1, 0.2]))[1], so3.about(1, 0.2))


@given(VECTOR)
def test_exp_turns_about_its_vector_by_its_length(w: np.ndarray) -> None:
    R = so3.exp(w)
    np.testing.assert_allclose(R @ w, w, atol=1e-12)
    assert np.trace(R) == pytest.approx(1 + 2 * math.cos(np.linalg.norm(w)), abs=1e-12)


@given(VECTOR)
def test_log_undoes_exp(w: np.ndarray) -> None:
    w = 1.8 * w  # nearly half a turn
    np.testing.assert_allclose(so3.log(so3.exp(w)), w, atol=1e-9)


@given(VECTOR, st.floats(1e-12, 1e-6))
def test_exp_of_small_vectors(w: np.ndarray, size: float) -> None:
    x, y, z = size * w
    first = np.eye(3) + np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    np.testing.assert_allclose(so3.exp(size * w), first, atol=4 * size**2 + 1e-16)


@pytest.mark.parametrize("axis", range(3))
@given(angle=ANGLE)
def test_about_is_exp(axis: int, angle: float) -> None:
    np.testing.assert_allclose(so3.about(axis, angle), so3.exp(angle * np.eye(3)[axis]), atol=1e-12)


def test_signs_are_right_handed() -> None:
    np.testing.assert_allclose(so3.about(2, math.pi / 2) @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(so3.about(0, math.pi / 2) @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(so3.about(1, math.pi / 2) @ [0, 0, 1], [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(so3.matrix([math.sqrt(0.5), 0, 0, math.sqrt(0.5)]) @ [1, 0, 0], [0, 1, 0], atol=1e-15)


@given(ANGLE, st.floats(-math.pi / 2, math.pi / 2), ANGLE)
def test_angles_of_a_ball_joint(z: float, y: float, x: float) -> None:
    R = so3.about(2, z) @ so3.about(1, y) @ so3.about(0, x)
    np.testing.assert_allclose(so3.rpy(x, y, z), R, atol=1e-12)
    a, b, c = so3.angles_zyx(R)
    np.testing.assert_allclose(so3.about(2, a) @ so3.about(1, b) @ so3.about(0, c), R, atol=1e-7)
    assert abs(b) <= math.pi / 2
    if abs(abs(y) - math.pi / 2) > 1e-3:  # elsewhere they are unique
        np.testing.assert_allclose(np.cos(np.array([a, b, c]) - (z, y, x)), 1.0, atol=1e-9)


@pytest.mark.parametrize("y", [math.pi / 2, -math.pi / 2])
@given(ANGLE, ANGLE)
def test_angles_where_they_are_not_unique(y: float, z: float, x: float) -> None:
    R = so3.rpy(x, y, z)
    a, b, c = so3.angles_zyx(R)
    np.testing.assert_allclose(so3.rpy(c, b, a), R, atol=1e-12)


@given(VECTOR.filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_onto_z(v: np.ndarray) -> None:
    axis = v / np.linalg.norm(v)
    C = so3.onto_z(axis)
    np.testing.assert_allclose(C @ [0, 0, 1], axis, atol=1e-12)
    np.testing.assert_allclose(C @ C.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(C) > 0


@given(QUATERNION, QUATERNION, st.floats(0, 1))
def test_slerp_turns_evenly_the_short_way(a: np.ndarray, b: np.ndarray, s: float) -> None:
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    assume(abs(a @ b) > 1e-3)  # at a half turn both ways are short
    mid = so3.slerp(a, b, s)
    assert np.linalg.norm(mid) == pytest.approx(1.0)

    def angle(p: np.ndarray, q: np.ndarray) -> float:
        return float(np.linalg.norm(so3.log(so3.matrix(p).T @ so3.matrix(q))))

    assert angle(a, mid) == pytest.approx(s * angle(a, b), abs=1e-6)


def test_slerp_ends_and_equal_ends() -> None:
    a, b = so3.quaternion(so3.about(0, 0.3)), -so3.quaternion(so3.about(0, 1.5))
    np.testing.assert_allclose(so3.slerp(a, b, [0.0, 1.0]), [a, -b], atol=1e-15)
    np.testing.assert_allclose(so3.slerp(a, a, 0.5), a)
