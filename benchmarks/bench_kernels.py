"""What each operation in LLVM code buys, against the plain loop or numpy's function that it stands for, and what `borrow` and
`lend` buy, on the sizes of the marionette.

One that saves less than a tenth is not worth its code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from benchmarks.table import Ratio, interleaved
from bunraku.dynamics.variational import workspace
from bunraku.figure import library
from bunraku.kernels.blocks import add_row, lend
from bunraku.kernels.compile import COMPILE_OPTIONS, borrow, keep, unit
from bunraku.kernels.products import product, put_block, put_mirrored, substitute_row
from bunraku.kernels.row_sums import GAMMA, TANGENT, F, G, fold, pair_rows, pair_tangents, put_sum, row_sum

ROUNDS = 100
compiled = numba.njit(**COMPILE_OPTIONS)
RATIOS = {
    f"kernels.{name}_ratio": Ratio(f"kernels.{name}_us", f"kernels.{name}_plain_us", at_most=0.9)
    for name in (
        "product",
        "symmetric",
        "substitution",
        "add_row",
        "row_sum",
        "fold",
        "put_sum",
        "pair_rows",
        "pair_tangents",
        "borrow",
        "lend",
    )
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
    "kernels.pair_rows_us": "a joint with 22",
    "kernels.pair_tangents_us": "the same, tangents",
    "kernels.borrow_us": "a call of a unit with the scratch of a step, by its address",
    "kernels.borrow_plain_us": "the same call with the tuple of arrays itself",
    "kernels.lend_us": "twenty arrays in one new buffer",
    "kernels.lend_plain_us": "twenty new arrays",
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


@compiled
def paired(Y, f, scale, V):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for j in range(22):
            pair_rows(Y, f, j, scale, V, 22)


@compiled
def paired_plainly(Y, f, scale, V):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for j in range(22):
            for b in range(3):
                for c in range(8):
                    qq = vv = qv = vq = 0.0
                    for k in range(6):
                        s, t = V[b, k, c], V[b, 6 + k, c]
                        qq += f[j, G + k] * t
                        vv += f[j, F + k] * s
                        qv += f[j, F + k] * t
                        vq += f[j, G + k] * s
                    for k in range(3):
                        qq += f[j, GAMMA + k] * V[b, k, c]
                    qq, vv, qv, vq = scale[0] * qq, scale[1] * vv, scale[2] * qv, scale[2] * vq
                    sd, ds = 0.5 * qq + qv, 0.5 * qq + vq
                    Y[b, 0, c], Y[b, 1, c], Y[b, 2, c], Y[b, 3, c] = vv + 0.5 * (qv + ds), sd, ds, qq


@compiled
def paired_tangents(Y, f, scale, V):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for j in range(22):
            pair_tangents(Y, f, j, scale, V, 22)


@compiled
def paired_tangents_plainly(Y, f, scale, V):  # type: ignore[no-untyped-def]
    for _ in range(ROUNDS):
        for j in range(22):
            for b in range(3):
                for c in range(8):
                    qq = vv = qv = vq = 0.0
                    for k in range(6):
                        s, t, ds, dt = V[b, k, c], V[b, 6 + k, c], V[b, 12 + k, c], V[b, 18 + k, c]
                        qq += f[j, G + k] * dt + f[j, TANGENT + G + k] * t
                        vv += f[j, F + k] * ds + f[j, TANGENT + F + k] * s
                        qv += f[j, F + k] * dt + f[j, TANGENT + F + k] * t
                        vq += f[j, G + k] * ds + f[j, TANGENT + G + k] * s
                    for k in range(3):
                        qq += f[j, GAMMA + k] * V[b, 12 + k, c] + f[j, TANGENT + GAMMA + k] * V[b, k, c]
                    qq, vv, qv, vq = scale[0] * qq, scale[1] * vv, scale[2] * qv, scale[2] * vq
                    sd, ds = 0.5 * qq + qv, 0.5 * qq + vq
                    Y[b, 0, c], Y[b, 1, c], Y[b, 2, c], Y[b, 3, c] = vv + 0.5 * (qv + ds), sd, ds, qq


@unit("none")
def count_up(w, j):  # type: ignore[no-untyped-def]
    w.v[j] += 1.0


@compiled
def borrowed(tree):  # type: ignore[no-untyped-def]
    owned = workspace(tree)
    w = borrow(owned)
    for _ in range(ROUNDS):
        for j in range(22):
            count_up(w, j)
    keep(owned)


@compiled
def handed_over(tree):  # type: ignore[no-untyped-def]
    w = workspace(tree)
    for _ in range(ROUNDS):
        for j in range(22):
            count_up(w, j)


class Twenty(NamedTuple):
    """As many arrays as an acceleration needs, in four shapes."""

    a: Any
    b: Any
    c: Any
    d: Any


@compiled
def lent(total):  # type: ignore[no-untyped-def]
    for k in range(ROUNDS):
        flat = np.empty(5 * (132 + 66 + 220 + 22))
        for i in range(5):
            at = 440 * i
            own = Twenty(
                lend(flat, at, (22, 6)), lend(flat, at + 132, (22, 3)), lend(flat, at + 198, (22, 10)), lend(flat, at + 418, (22,))
            )
            own.a[k % 22, 0], own.b[k % 22, 0], own.c[k % 22, 0], own.d[k % 22] = k, k, k, k
            total[0] += own.a[k % 22, 0] + own.b[k % 22, 0] + own.c[k % 22, 0] + own.d[k % 22]


@compiled
def allocated(total):  # type: ignore[no-untyped-def]
    for k in range(ROUNDS):
        for _ in range(5):
            own = Twenty(np.empty((22, 6)), np.empty((22, 3)), np.empty((22, 10)), np.empty(22))
            own.a[k % 22, 0], own.b[k % 22, 0], own.c[k % 22, 0], own.d[k % 22] = k, k, k, k
            total[0] += own.a[k % 22, 0] + own.b[k % 22, 0] + own.c[k % 22, 0] + own.d[k % 22]


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
        "pair_rows": (paired, paired_plainly, (np.zeros((3, 4, 8)), some(22, 32), (1.0, 2.0, 3.0), some(3, 12, 8)), 22),
        "pair_tangents": (
            paired_tangents,
            paired_tangents_plainly,
            (np.zeros((3, 4, 8)), some(22, 32), (1.0, 2.0, 3.0), some(3, 24, 8)),
            22,
        ),
        "borrow": (borrowed, handed_over, (tree,), 22),
        "lend": (lent, allocated, (np.zeros(1),), 1),
        "put_sum": (sums_put, sums_put_plainly, (np.zeros((22, 40)), some(22, 40), some(22, 40)), 22),
    }
    out: dict[str, float] = {}
    for name, (ours, plain, given, count) in pairs.items():
        took = interleaved({"": lambda: ours(*given), "_plain": lambda: plain(*given)}, repeat=300)  # noqa: B023
        out |= {f"kernels.{name}{kind}_us": us / ROUNDS / count for kind, us in took.items()}
    return out
