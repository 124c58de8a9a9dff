"""The one Cholesky and the one pivoted solve, against numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.kernels.compile import kernel
from bunraku.spatial.linalg import cholesky, cholesky_solve, cholesky_solve_rows, pivoted_solve


@kernel
def _definite(A, b, Y):
    n = A.shape[0]
    definite = cholesky(A, n)
    cholesky_solve(A, n, b)
    cholesky_solve_rows(A, n, Y)
    return definite


@kernel
def _pivoted(B):
    return pivoted_solve(B, B.shape[0])


@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_positive_definite(n: int) -> None:
    random = np.random.default_rng(n)
    root, b, Y = random.normal(size=(n, n + 2)), random.normal(size=n), random.normal(size=(n, 3))
    A = root @ root.T
    factor, x, X = A.copy(), b.copy(), Y.copy()
    assert _definite(factor, x, X)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-9)
    np.testing.assert_allclose(X, np.linalg.solve(A, Y), rtol=1e-9)
    L = np.tril(factor, -1) + np.diag(1.0 / np.diag(factor))
    np.testing.assert_allclose(L, np.linalg.cholesky(A), rtol=1e-9)


@pytest.mark.parametrize(
    "A", [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]]
)
def test_what_is_not_definite_is_said_and_stays_finite(A: list[list[float]]) -> None:
    factor, b, Y = np.array(A), np.array([1.0, 0.5]), np.ones((2, 1))
    assert not _definite(factor, b, Y)
    assert np.isfinite(factor).all()


def test_definite_at_any_scale() -> None:
    """A variable in small units is not taken for a singular one."""
    assert _definite(np.diag([1.0, 1e-20]), np.ones(2), np.ones((2, 1)))


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_pivoted(n: int) -> None:
    random = np.random.default_rng(n)
    B = random.normal(size=(n, n + 1))
    B[0, 0] = 0.0 if n > 1 else 2.0
    expected = np.linalg.solve(B[:, :n], B[:, n])
    assert _pivoted(B)
    np.testing.assert_allclose(B[:, n], expected, rtol=1e-9)


def test_pivoted_singular() -> None:
    assert not _pivoted(np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 1.0]]))
