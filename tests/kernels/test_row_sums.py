"""Sums by eights against the formulas they stand for."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.kernels.row_sums import GAMMA, NUMBERS, TANGENT, F, G, fold, pair_rows, pair_tangents, put_column, put_sum, row_sum

Array = NDArray[np.float64]
SCALE = (0.3, 2.0, 0.7)


@numba.njit
def summed(Z, factors, V, last):  # type: ignore[no-untyped-def]
    row_sum(Z, factors, V, last)


@numba.njit
def paired(tangent, Y, f, j, scale, V, last):  # type: ignore[no-untyped-def]
    if tangent:
        pair_tangents(Y, f, j, scale, V, last)
    else:
        pair_rows(Y, f, j, scale, V, last)


@numba.njit
def folded(H):  # type: ignore[no-untyped-def]
    fold(H)


@numba.njit
def put(V, q, row, a):  # type: ignore[no-untyped-def]
    put_column(V, q, row, a)


@numba.njit
def put_sums(A, i, a, B, k, b, C, l, c, count):  # type: ignore[no-untyped-def]
    put_sum(A, i, a, B, k, b, C, l, c, count)


def rows(V: Array) -> Array:
    """As a plain matrix."""
    return np.concatenate(list(V), 1)


@pytest.mark.parametrize("last", [1, 8, 11, 24])
def test_a_sum_of_rows(last: int) -> None:
    rng = np.random.default_rng(last)
    V, factors, Z = rng.normal(size=(3, 12, 8)), tuple(rng.normal(size=6)), np.full(24, 7.0)
    summed(Z, factors, V, last)
    np.testing.assert_allclose(Z[:last], (factors @ rows(V)[:6])[:last], atol=1e-14)
    assert (Z[(last + 7) // 8 * 8 :] == 7.0).all()


@pytest.mark.parametrize("count", [0, 3, 8, 21])
def test_a_sum_of_parts_of_two_rows(count: int) -> None:
    A, B, C = np.random.default_rng(count).normal(size=(3, 4, 30))
    wanted = A.copy()
    wanted[1, 5 : 5 + count] = B[2, 1 : 1 + count] + C[3, 7 : 7 + count]
    put_sums(A, 1, 5, B, 2, 1, C, 3, 7, count)
    np.testing.assert_array_equal(A, wanted)


def test_a_column() -> None:
    V = np.zeros((2, 12, 8))
    put(V, 9, 6, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    np.testing.assert_array_equal(np.flatnonzero(V), [96 + 8 * row + 1 for row in range(6, 12)])
    np.testing.assert_array_equal(rows(V)[6:, 9], np.arange(1, 7))


def products(f: Array, V: Array) -> Array:
    """By difference and shift, of a row of numbers and the columns S and T."""
    S, T = V[:6], V[6:12]
    qq = SCALE[0] * (f[G : G + 6] @ T + f[GAMMA : GAMMA + 3] @ S[:3])
    vv, qv, vq = SCALE[1] * f[F : F + 6] @ S, SCALE[2] * f[F : F + 6] @ T, SCALE[2] * f[G : G + 6] @ S
    return np.array([0.25 * qq + vv + 0.5 * (qv + vq), 0.5 * qq + qv, 0.5 * qq + vq, qq])


def test_products_of_pairs() -> None:
    rng = np.random.default_rng(0)
    f, V, Y = rng.normal(size=(3, NUMBERS)), rng.normal(size=(2, 12, 8)), np.empty((2, 4, 8))
    paired(False, Y, f, 1, SCALE, V, 16)
    np.testing.assert_allclose(rows(Y), products(f[1], rows(V)), atol=1e-13)


def test_tangents_of_products_of_pairs() -> None:
    """They are bilinear, so the tangent is each side with the other's."""
    rng = np.random.default_rng(1)
    f, V, Y = rng.normal(size=(3, NUMBERS)), rng.normal(size=(2, 24, 8)), np.empty((2, 4, 8))
    paired(True, Y, f, 2, SCALE, V, 16)
    here, moved = f[2, :TANGENT], f[2, TANGENT:]
    np.testing.assert_allclose(rows(Y), products(here, rows(V)[12:]) + products(moved, rows(V)[:12]), atol=1e-13)


@pytest.mark.parametrize("size", [1, 5, 8, 13, 24, 30])
def test_a_matrix_and_its_transpose(size: int) -> None:
    H = np.random.default_rng(size).normal(size=(size, size))
    wanted = H + H.T
    folded(H)
    np.testing.assert_array_equal(H, wanted)
