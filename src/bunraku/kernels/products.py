"""Products of matrices of a few dozen rows, a block of eight by eight numbers at a time.

A library for large matrices first copies both factors into an order of its own. For ours that takes as long as the product. Here
the sums of a few rows of a block stay in the processor's registers, as many as it has, and the factors are read where they are.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from bunraku.kernels.blocks import WIDE
from bunraku.kernels.compile import INTERPRETED, woven
from bunraku.kernels.processor import sums_at_once
from bunraku.kernels.row_sums import EIGHT, NOTHING, WORD, Vectors, transposed


def _blocks(mirrored: bool) -> Any:
    def plain(H, i, j, A, B, rows, C, D, more):
        for a in range(i, i + 8):
            for b in range(j, j + 8):
                x = 0.0
                for k in range(rows):
                    x += A[k, a] * B[k, b]
                for k in range(more):
                    x += C[k, a] * D[k, b]
                H[a, b] = x
                if mirrored:
                    H[b, a] = x

    def compiled(_context: Any, H: Any, i: Any, j: Any, A: Any, B: Any, rows: Any, C: Any, D: Any, more: Any) -> Any:
        def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            v = Vectors(context, builder)
            tall = sums_at_once(context.codegen().magic_tuple()[1])
            sums = [cgutils.alloca_once(builder, EIGHT) for _ in range(tall)]
            with cgutils.for_range_slice(builder, WORD(0), WORD(WIDE), WORD(tall), WORD) as (first, _):
                i, j = builder.add(values[1], first), values[2]
                for total in sums:
                    builder.store(ir.Constant(EIGHT, [0.0] * WIDE), total)
                for left, right, count in ((A, B, values[3:6]), (C, D, values[6:9])):
                    _add_products(v, sums, v.column(left, count[0], i), v.column(right, count[1], j), count[2])
                rows = [builder.load(total) for total in sums]
                for at, row in zip(v.rows_of_block(H, values[0], i, j), rows, strict=False):
                    v.store(row, at)
                if mirrored:
                    across = transposed(v, rows + [NOTHING] * (WIDE - tall))
                    for at, row in zip(v.rows_of_block(H, values[0], j, i), across, strict=True):
                        v.store_first(tall, row, at)
            return context.get_dummy_value()

        return types.void(H, i, j, A, B, rows, C, D, more), code

    return plain if INTERPRETED else intrinsic(compiled)


def _add_products(v: Vectors, sums: list[Any], left: tuple[Any, Any, Any], right: tuple[Any, Any, Any], rows: Any) -> None:
    """Adds the products of numbers of a left factor with eight of a right one, row by row."""
    build = v.builder
    (a, down_a, across), (b, down_b, _) = left, right
    with cgutils.for_range(build, rows, intp=WORD) as k:
        by, eight = build.add(a, build.mul(k.index, down_a)), v.load(build.add(b, build.mul(k.index, down_b)))
        for r, total in enumerate(sums):
            factor = v.load_everywhere(build.add(by, build.mul(across, WORD(r))), 0)
            build.store(v.add(build.load(total), v.multiply(factor, eight)), total)


put_block, put_mirrored = _blocks(False), _blocks(True)
"""H = AᵀB + CᵀD in the eight by eight from (i, j) on, of the first `rows` rows of A and B and the first `more` of C and D; and
in its mirror, from (j, i) on."""


@woven
def product(A, B, C):
    """C = AᵀB. The last blocks begin where they end with the matrix, and repeat some of the sums."""
    rows, height, width = B.shape[0], C.shape[0], C.shape[1]
    if height < 8 or width < 8:
        for i in range(height):
            for j in range(width):
                C[i, j] = 0.0
            for k in range(rows):
                for j in range(width):
                    C[i, j] += A[k, i] * B[k, j]
        return
    for i in range(0, height, 8):
        for j in range(0, width, 8):
            put_block(C, min(i, height - 8), min(j, width - 8), A, B, rows, A, B, 0)


# -- rows less other rows ------------------------------------------------------------------------------------------


def _substitute_row(B, j, K, lists):
    for c in range(B.shape[1]):
        x = B[j, c]
        for s in range(1, lists[j, 0] + 1):
            x -= K[j, lists[j, s]] * B[lists[j, s], c]
        B[j, c] = K[j, j] * x


def _substitute_row_compiled(_context: Any, B: Any, j: Any, K: Any, lists: Any) -> Any:
    signature = types.void(B, j, K, lists)

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if B.dtype != types.float64:  # as in `add_row`
            return context.compile_internal(builder, _substitute_row, signature, values)
        v, many = Vectors(context, builder), 4
        sums = [cgutils.alloca_once(builder, EIGHT) for _ in range(many)]
        own, rows, down = v.start(B, values[0], values[1]), v.start(B, values[0]), v.stride(B, values[0], 0)
        factors, entries = v.start(K, values[2], values[1]), v.start(lists, values[3], values[1])
        last = builder.add(v.entry(entries, WORD(0)), WORD(1))
        diagonal = v.everywhere(v.number(builder.add(factors, builder.mul(values[1], WORD(8)))))
        width = builder.extract_value(context.make_array(B)(context, builder, values[0]).shape, 1)
        whole = builder.and_(width, WORD(-many * WIDE))

        def columns(first: Any, end: Any, sums: list[Any]) -> None:
            with cgutils.for_range_slice(builder, first, end, WORD(len(sums) * WIDE), WORD) as (c, _):
                offset = builder.mul(c, WORD(8))
                for r, total in enumerate(sums):
                    builder.store(v.load(builder.add(own, offset), 8 * WIDE * r), total)
                with cgutils.for_range_slice(builder, WORD(1), last, WORD(1), WORD) as (s, _):
                    k = v.entry(entries, s)
                    factor = v.everywhere(builder.fneg(v.number(builder.add(factors, builder.mul(k, WORD(8))))))
                    other = builder.add(builder.add(rows, builder.mul(k, down)), offset)
                    for r, total in enumerate(sums):
                        builder.store(v.add(builder.load(total), v.multiply(factor, v.load(other, 8 * WIDE * r))), total)
                for r, total in enumerate(sums):
                    v.store(v.multiply(diagonal, builder.load(total)), builder.add(own, offset), 8 * WIDE * r)

        columns(WORD(0), whole, sums)
        columns(whole, width, sums[:1])
        return context.get_dummy_value()

    return signature, code


substitute_row: Any = _substitute_row if INTERPRETED else intrinsic(_substitute_row_compiled)
"""B[j] = K[j, j] (B[j] − Σ K[j, k] B[k]) over the k in row j of `lists`, which begins with their number. B is padded."""
