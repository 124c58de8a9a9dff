"""Memory that the processor brings near before it is written.

A processor must first read a piece of memory of which it writes a part. Where results are written far apart, it waits for that;
asked for early enough, the memory arrives while it still computes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from bunraku.kernels.compile import INTERPRETED
from bunraku.kernels.row_sums import WORD, Vectors


def _bring_near(A: Any) -> None:
    pass


def _bring_near_compiled(_context: Any, A: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        line = 64  # bytes that a processor brings at a time
        v, flag, anything = Vectors(context, builder), ir.IntType(32), ir.IntType(8).as_pointer()
        array = context.make_array(A)(context, builder, values[0])
        kind = ir.FunctionType(ir.VoidType(), [anything, flag, flag, flag])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [anything], kind)
        start, size = v.start(A, values[0]), builder.mul(array.nitems, array.itemsize)
        with cgutils.for_range_slice(builder, WORD(0), size, WORD(line), WORD) as (offset, _):
            at = builder.inttoptr(builder.add(start, offset), anything)
            builder.call(prefetch, [at, flag(1), flag(2), flag(1)])  # to be written; the first cache may be too small; data
        return context.get_dummy_value()

    if A.layout != "C":
        raise TypingError("bring_near wants an array without gaps")
    return types.void(A), code


bring_near: Any = _bring_near if INTERPRETED else intrinsic(_bring_near_compiled)
"""Asks for the memory of an array without gaps, which is about to be written. Changes nothing."""
