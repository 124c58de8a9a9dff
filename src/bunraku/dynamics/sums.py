"""Sums of several rows of a matrix at once (see `blocks`)."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from bunraku.dynamics.blocks import WIDE
from bunraku.spatial.kernel import INTERPRETED

WORD, EIGHT = ir.IntType(64), ir.VectorType(ir.DoubleType(), WIDE)


def _everywhere(builder: Any, number: Any) -> Any:
    """Eight times the same number."""
    nothing, index = ir.Constant(EIGHT, ir.Undefined), ir.IntType(32)
    one = builder.insert_element(nothing, number, ir.Constant(index, 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(index, WIDE), [0] * WIDE))


def _add_rows(A, i, factors, B, width):
    for t in range(len(factors)):
        for c in range(width):
            A[i, c] += factors[t] * B[t, c]


def _add_rows_compiled(_context: Any, A: Any, i: Any, factors: Any, B: Any, width: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        into, of = (context.make_array(kind)(context, builder, value) for kind, value in ((A, values[0]), (B, values[3])))
        stride = builder.extract_value(of.strides, 0)
        start = builder.mul(values[1], builder.extract_value(into.strides, 0))
        target, row = builder.add(builder.ptrtoint(into.data, WORD), start), builder.ptrtoint(of.data, WORD)
        terms = []
        for factor in cgutils.unpack_tuple(builder, values[2], len(factors)):
            terms.append((_everywhere(builder, factor), row))
            row = builder.add(row, stride)
        with cgutils.for_range_slice(builder, ir.Constant(WORD, 0), values[4], ir.Constant(WORD, WIDE), WORD) as (c, _):
            offset = builder.shl(c, ir.Constant(WORD, 3))
            to = builder.inttoptr(builder.add(target, offset), EIGHT.as_pointer())
            total = builder.load(to, align=8)
            for factor, row in terms:
                part = builder.load(builder.inttoptr(builder.add(row, offset), EIGHT.as_pointer()), align=8)
                total = builder.fadd(total, builder.fmul(factor, part, flags=("contract",)), flags=("contract",))
            builder.store(total, to, align=8)
        return context.get_dummy_value()

    return types.void(A, i, factors, B, width), code


add_rows: Any = _add_rows if INTERPRETED else intrinsic(_add_rows_compiled)
"""A[i] += Σ factors[t] B[t], in the first `width` columns (eights of them)."""
