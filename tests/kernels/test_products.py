"""Products by blocks against numpy's."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from bunraku.kernels.processor import X86_LEVELS, sums_at_once
from bunraku.kernels.products import product, put_block, put_mirrored, substitute_row


@numba.njit
def multiplied(A, B, C):  # type: ignore[no-untyped-def]
    product(A, B, C)


@numba.njit
def multiplied_across(A, B, C):  # type: ignore[no-untyped-def]
    product(A.T, B, C)


@numba.njit
def put(mirrored, H, i, j, A, B, rows, C, D, more):  # type: ignore[no-untyped-def]
    if mirrored:
        put_mirrored(H, i, j, A, B, rows, C, D, more)
    else:
        put_block(H, i, j, A, B, rows, C, D, more)


@numba.njit
def substituted(B, K, lists):  # type: ignore[no-untyped-def]
    for j in range(lists.shape[0]):
        substitute_row(B, j, K, lists)


@pytest.mark.parametrize(("rows", "height", "width"), [(28, 22, 80), (5, 8, 8), (3, 7, 20), (4, 20, 5), (1, 9, 17), (0, 8, 9)])
def test_a_product(rows: int, height: int, width: int) -> None:
    """Within a larger matrix, around which nothing changes."""
    rng = np.random.default_rng(rows)
    A, B, whole = rng.normal(size=(rows, height)), rng.normal(size=(rows, width)), np.full((height + 2, width), 7.0)
    multiplied(A, B, whole[1:-1])
    np.testing.assert_allclose(whole[1:-1], A.T @ B, atol=1e-13)
    assert (whole[[0, -1]] == 7.0).all()
    whole[:] = 7.0
    multiplied_across(A.T.copy(), B, whole[1:-1])
    np.testing.assert_allclose(whole[1:-1], A.T @ B, atol=1e-13)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_block_of_two_products(mirrored: bool) -> None:
    rng = np.random.default_rng(0)
    A, B, C, D = rng.normal(size=(4, 6, 30))
    H = np.full((30, 30), 7.0)
    put(mirrored, H, 19, 3, A, B, 6, C, D, 4)
    wanted, block = np.full((30, 30), 7.0), (A.T @ B + C[:4].T @ D[:4])[19:27, 3:11]
    wanted[19:27, 3:11] = block
    if mirrored:
        wanted[3:11, 19:27] = block.T
    np.testing.assert_allclose(H, wanted, atol=1e-13)


@pytest.mark.parametrize("width", [8, 40, 80])
def test_back_substitution(width: int) -> None:
    rng = np.random.default_rng(width)
    K, B, lists = rng.normal(size=(5, 5)), rng.normal(size=(5, width)), np.array([[0, 9, 9, 9], [2, 4, 0, 9], [3, 0, 1, 3]])
    wanted = B.copy()
    wanted[0] *= K[0, 0]
    wanted[1] = K[1, 1] * (B[1] - K[1, [4, 0]] @ wanted[[4, 0]])
    wanted[2] = K[2, 2] * (B[2] - K[2, [0, 1, 3]] @ wanted[[0, 1, 3]])
    z, w = B.astype(complex), K.astype(complex)
    substituted(B, K, lists)
    np.testing.assert_allclose(B, wanted, atol=1e-14)
    substituted(z, w, lists)
    np.testing.assert_allclose(z, wanted, atol=1e-14)


def test_sums_fit_in_the_registers_of_each_processor() -> None:
    """Sums of eight numbers, eight numbers of one factor, and one number of the other everywhere in a register."""
    registers = {"x86-64-v2": (16, 2), "x86-64-v3": (16, 4), "x86-64-v4": (32, 8)}
    assert registers.keys() == X86_LEVELS.keys()
    for level, (count, numbers) in registers.items():
        eight = 8 // numbers
        assert sums_at_once(level) * eight + eight + 1 <= count
    assert 8 % sums_at_once("this one") == 0
