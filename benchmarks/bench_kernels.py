"""What each operation in LLVM code buys, against the plain loop or numpy's function that it stands for, on the sizes of the
marionette.

One that saves less than a tenth is not worth its code.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from benchmarks.table import Ratio, interleaved
from bunraku.figure import library
from bunraku.kernels.blocks import add_row
from bunraku.kernels.compile import COMPILE_OPTIONS
from bunraku.kernels.products import product, put_block, put_mirrored, substitute_row
from bunraku.kernels.row_sums import fold, put_sum, row_sum

ROUNDS = 100
compiled = numba.njit(**COMPILE_OPTIONS)
RATIOS = {
    f"kernels.{name}_ratio": Ratio(f"kernels.{name}_us", f"kernels.{name}_plain_us", at_most=0.9)
    for name in ("product", "symmetric", "substitution", "add_row", "row_sum", "fold", "put_sum")
}
NOTES = {
    "kernels.product_us": "22 × 28 by 28 × 80",
    "kernels.product_plain_us": "the same by np.dot",
    "kernels.symmetric_us": "AᵀB + BᵀA, 28 × 80",
    "kernels.symmetric_plain_us": "the same by np.dot, then the sum with the transpose",
    "kernels.substitution_us": "back substitution of 80 columns on the marionette's tree",
    "kernels.substitution_plain_us": "the same by `add_row`",
    "kernels.add_row_us": "32 numbers, from row to row of one matrix",
    "kernels.row_sum_us": "12 rows of 16 numbers",
    "kernels.fold_us": "40 × 40 and its transpose",
    "kernels.put_sum_us": "22 numbers",
}


@compiled
def products(A, B, C):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        product(A.T, B, C)


@compiled
def dots(A, B, C):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        np.dot(A, B, C)


@compiled
def symmetric(A, B, H):  # type: ignore[no-untyped-def]
    rows = A.shape[0]
    for _ in range(ROUNDS):
        for i in range(0, H.shape[0], 8):
            for j in range(0, i, 8):
                put_mirrored(H, i, j, A, B, rows, B, A, rows)
            put_block(H, i, i, A, B, rows, B, A, rows)


@compiled
def symmetric_dots(A, B, H):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        np.dot(A.T, B, H)
        fold(H)


@compiled
def substitutions(B, K, lists):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for j in range(lists.shape[0]):
            substitute_row(B, j, K, lists)


@compiled
def substitutions_by_rows(B, K, lists):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for j in range(lists.shape[0]):
            for s in range(1, lists[j, 0] + 1):
                k = lists[j, s]
                add_row(B, j, -K[j, k], B, k, 0, B.shape[1])
            for c in range(B.shape[1]):
                B[j, c] *= K[j, j]


@compiled
def rows_added(A, f, lists):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for j in range(lists.shape[0]):
            for s in range(1, lists[j, 0] + 1):
                add_row(A, lists[j, s], f, A, j, 0, A.shape[1])


@compiled
def rows_added_plainly(A, f, lists):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for j in range(lists.shape[0]):
            for s in range(1, lists[j, 0] + 1):
                i = lists[j, s]
                for c in range(A.shape[1]):
                    A[i, c] += f * A[j, c]


@compiled
def summed(Z, factors, V):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        row_sum(Z, factors, V, 16)


@compiled
def summed_plainly(Z, factors, V):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for c in range(16):
            x = 0.0
            for t in range(12):
                x += factors[t] * V[c >> 3, t, c & 7]
            Z[c] = x


@compiled
def folded(H):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        fold(H)


@compiled
def folded_plainly(H):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for i in range(H.shape[0]):
            for j in range(i + 1):
                H[i, j] = H[j, i] = H[i, j] + H[j, i]


@compiled
def sums_put(A, B, C):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for i in range(A.shape[0]):
            put_sum(A, i, 3, B, i, 0, C, i, 1, 22)


@compiled
def sums_put_plainly(A, B, C):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for i in range(A.shape[0]):
            for x in range(22):
                A[i, 3 + x] = B[i, x] + C[i, 1 + x]


def bench_operations() -> dict[str, float]:
    rng = np.random.default_rng(0)

    def some(*shape: int) -> Any:
        return rng.normal(size=shape)

    tree = library.named("marionette22").compiled.tree
    ny = tree.n_dynamic + tree.n_links
    tame = 1e-3 * some(ny, ny)  # rounds do not grow
    tame[np.diag_indices(ny)] = 1.0
    pairs: dict[str, tuple[Any, Any, tuple[Any, ...], int]] = {
        "product": (products, dots, (some(22, 28), some(28, 80), np.zeros((22, 80))), 1),
        "symmetric": (symmetric, symmetric_dots, (some(28, 80), some(28, 80), np.zeros((80, 80))), 1),
        "substitution": (substitutions, substitutions_by_rows, (some(ny, 80), tame, tree.elimination), 1),
        "add_row": (rows_added, rows_added_plainly, (some(ny, 32), 1e-9, tree.elimination), int(tree.elimination[:, 0].sum())),
        "row_sum": (summed, summed_plainly, (np.zeros(16), tuple(some(12)), some(2, 12, 8)), 1),
        "fold": (folded, folded_plainly, (np.zeros((40, 40)),), 1),
        "put_sum": (sums_put, sums_put_plainly, (np.zeros((22, 40)), some(22, 40), some(22, 40)), 22),
    }
    out: dict[str, float] = {}
    for name, (ours, plain, given, count) in pairs.items():
        took = interleaved({"": lambda: ours(*given), "_plain": lambda: plain(*given)}, repeat=300)  # noqa: B023
        out |= {f"kernels.{name}{kind}_us": us / ROUNDS / count for kind, us in took.items()}
    return out
