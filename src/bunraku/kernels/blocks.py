"""Operations on rows of matrices, eight numbers at a time, as the processor's vector instructions do them.

Plain loops over our short rows spend more time on the compiler's test whether two rows overlap than on the rows. Rows are
`padded` with zeros to a multiple of eight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj
from numba.np.numpy_support import from_dtype

from bunraku.kernels.compile import INTERPRETED, woven

WIDE = 8


@woven
def padded(width):
    """The next multiple of eight."""
    return (width + 7) // 8 * 8


@woven
def clear(A):
    """A = 0."""
    for i in range(A.shape[0]):
        for c in range(A.shape[1]):
            A[i, c] = 0.0


def _add_rows(A, i, f, B, k, first, last):
    for c in range(first // 8 * 8, (last + 7) // 8 * 8):
        A[i, c] += f * B[k, c]


def _add_rows_compiled(_context: Any, A: Any, i: Any, f: Any, B: Any, k: Any, first: Any, last: Any) -> Any:
    signature = types.void(A, i, f, B, k, first, last)

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if A.dtype != types.float64:  # complex numbers, for complex-step derivatives, take the plain loop
            return context.compile_internal(builder, _add_rows, signature, values)
        word, wide = ir.IntType(64), ir.VectorType(ir.DoubleType(), WIDE)

        def row(kind: Any, value: Any, index: Any) -> Any:
            array = context.make_array(kind)(context, builder, value)
            start = builder.ptrtoint(array.data, word)
            return builder.add(start, builder.mul(index, builder.extract_value(array.strides, 0)))

        into, of = row(A, values[0], values[1]), row(B, values[3], values[4])
        one = builder.insert_element(ir.Constant(wide, ir.Undefined), values[2], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), WIDE), [0] * WIDE)
        factor = builder.shuffle_vector(one, ir.Constant(wide, ir.Undefined), everywhere)
        begin = builder.and_(values[5], ir.Constant(word, -WIDE))
        with cgutils.for_range_slice(builder, begin, values[6], ir.Constant(word, WIDE), word) as (c, _):
            offset = builder.shl(c, ir.Constant(word, 3))
            to = builder.inttoptr(builder.add(into, offset), wide.as_pointer())
            by = builder.inttoptr(builder.add(of, offset), wide.as_pointer())
            product = builder.fmul(factor, builder.load(by, align=8), flags=("contract",))
            builder.store(builder.fadd(builder.load(to, align=8), product, flags=("contract",)), to, align=8)
        return context.get_dummy_value()

    return signature, code


add_row: Any = _add_rows if INTERPRETED else intrinsic(_add_rows_compiled)
"""A[i] += f B[k], from the eight that hold column `first` to those that hold the one before `last`."""


def _lend(flat, at, shape):
    return flat[at : at + math.prod(shape)].reshape(shape)


def _lend_compiled(_context: Any, flat: Any, at: Any, shape: Any) -> Any:
    view = types.Array(flat.dtype, len(shape), "C")

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(flat)(context, builder, values[0])
        out = context.make_array(view)(context, builder)
        sizes = cgutils.unpack_tuple(builder, values[2], len(shape))
        strides = [array.itemsize]
        for size in sizes[:0:-1]:
            strides.insert(0, builder.mul(strides[0], size))
        arrayobj.populate_array(
            out, data=builder.gep(array.data, [values[1]]), shape=sizes, strides=strides, itemsize=array.itemsize,
            meminfo=ir.Constant(array.meminfo.type, None),
        )  # fmt: skip
        return out._getvalue()

    return view(flat, at, shape), code


lend: Any = _lend if INTERPRETED else intrinsic(_lend_compiled)
"""An array of this shape that begins at number `at` of a buffer, uncounted (see `borrow`): a dozen allocations take longer than
an acceleration."""


def in_frame(dtype: Any, size: int) -> Any:
    """A function without arguments that compiled code calls for an array in its own frame, which takes no time; uncounted, and
    gone when the function that the call is compiled into returns.

    dtype: of its numbers
    size: how many
    """

    def here() -> Any:
        return np.empty(size, dtype)

    def compiled(_context: Any) -> Any:
        kind = from_dtype(np.dtype(dtype))
        view = types.Array(kind, 1, "C")

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            out = context.make_array(view)(context, builder)
            number = context.get_data_type(kind)
            with builder.goto_entry_block():
                place = builder.alloca(ir.ArrayType(number, size))
                place.align = 64
            item = context.get_constant(types.intp, np.dtype(dtype).itemsize)
            arrayobj.populate_array(
                out, data=builder.bitcast(place, number.as_pointer()), shape=[context.get_constant(types.intp, size)],
                strides=[item], itemsize=item, meminfo=ir.Constant(out.meminfo.type, None),
            )  # fmt: skip
            return out._getvalue()

        return view(), code

    return here if INTERPRETED else intrinsic(compiled)


@woven
def scale_row(A, i, f):
    for c in range(A.shape[1]):
        A[i, c] *= f


@woven
def copy_row(A, i, B, k):
    """A[i] = B[k]."""
    for c in range(A.shape[1]):
        A[i, c] = B[k, c]
