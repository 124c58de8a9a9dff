"""Sums over two parts of a row and of a few rows, eight numbers at a time (see `row_sums`).

Row k of these has two halves of eight numbers, A[2k] and A[2k + 1], each for a place of its own in a table Q of eights. The sums of
several rows are built side by side, so that they do not wait for each other.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from bunraku.kernels.blocks import WIDE
from bunraku.kernels.compile import INTERPRETED
from bunraku.kernels.row_sums import NOTHING, WORD, Vectors


def _total(v: Vectors, vector: Any) -> Any:
    """The sum of the eight numbers of a vector."""
    index, width = ir.IntType(32), WIDE
    while width > 1:
        width //= 2
        high = ir.Constant(ir.VectorType(index, WIDE), [(width + k) % WIDE for k in range(WIDE)])
        vector = v.add(vector, v.builder.shuffle_vector(vector, NOTHING, high))
    return v.builder.extract_element(vector, ir.Constant(index, 0))


def _sums(count: int) -> Any:
    def plain(A, k, Q, a, b):
        return tuple(float(A[2 * (k + r)] @ Q[a] + A[2 * (k + r) + 1] @ Q[b]) for r in range(count))

    def compiled(_context: Any, A: Any, k: Any, Q: Any, a: Any, b: Any) -> Any:
        out = types.UniTuple(types.float64, count)

        def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            v = Vectors(context, builder)
            row = v.start(A, values[0], builder.shl(values[1], ir.Constant(WORD, 1)))
            one, other = v.load(v.start(Q, values[2], values[3])), v.load(v.start(Q, values[2], values[4]))
            size = 8 * WIDE
            products = [
                v.add(v.multiply(v.load(row, 2 * size * r), one), v.multiply(v.load(row, 2 * size * r + size), other))
                for r in range(count)
            ]
            return context.make_tuple(builder, out, [_total(v, product) for product in products])

        return out(A, k, Q, a, b), code

    return plain if INTERPRETED else intrinsic(compiled)


def _adds(count: int) -> Any:
    def plain(Q, a, b, U, k, factors):
        for r in range(count):
            Q[a] += factors[r] * U[2 * (k + r)]
            Q[b] += factors[r] * U[2 * (k + r) + 1]

    def compiled(_context: Any, Q: Any, a: Any, b: Any, U: Any, k: Any, factors: Any) -> Any:
        def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            v = Vectors(context, builder)
            row = v.start(U, values[3], builder.shl(values[4], ir.Constant(WORD, 1)))
            at = [v.start(Q, values[0], values[1]), v.start(Q, values[0], values[2])]
            by = [v.everywhere(builder.extract_value(values[5], r)) for r in range(count)]
            size, new = 8 * WIDE, []
            for side in range(2):
                total = v.load(at[side])
                for r in range(count):
                    total = v.add(total, v.multiply(by[r], v.load(row, 2 * size * r + size * side)))
                new.append(total)
            for side in range(2):
                v.store(new[side], at[side])
            return context.get_dummy_value()

        return types.void(Q, a, b, U, k, factors), code

    return plain if INTERPRETED else intrinsic(compiled)


pair_sums_1, pair_sums_2, pair_sums_3 = _sums(1), _sums(2), _sums(3)
"""The sums A[2l] · Q[a] + A[2l + 1] · Q[b] of one, two or three rows l = k, k + 1, …"""
add_pairs_1, add_pairs_2, add_pairs_3 = _adds(1), _adds(2), _adds(3)
"""Q[a] += Σ factors[r] U[2l] and Q[b] += Σ factors[r] U[2l + 1] with l = k + r; a and b are different."""
