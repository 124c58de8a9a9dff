"""The four decorators of compiled code: `kernel`, `inline`, `bare`, `woven`, and loans of arrays to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import cgutils, types
from numba.extending import intrinsic

from bunraku.kernels.cache import KernelCache
from bunraku.kernels.dispatch import Shared
from bunraku.kernels.linking import InlineCache, InlineCompiler, KernelCompiler

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.config
INTERPRETED = bool(config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1 runs the same lines in the interpreter

COMPILE_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # No "nnan" or "ninf": a NaN must be seen, never optimised away.
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
}


def _compile(function: Any, compiler: type, cache: type, **options: Any) -> Any:
    compiled = numba.njit(pipeline_class=compiler, **COMPILE_OPTIONS, **options)(function)
    compiled._cache = cache(function)
    compiled.__class__ = Shared
    return compiled


def kernel(function: Function) -> Function:
    """Makes of a `function` a compiled one that Python calls: built on first use, then loaded from disk."""
    return function if INTERPRETED else _compile(function, KernelCompiler, KernelCache)


def inline(function: Function) -> Function:
    """Makes of a `function` a compiled one that only kernels call, as a part of them."""
    return function if INTERPRETED else _within(function, allocates=True)


def bare(function: Function) -> Function:
    """Makes of a `function` an `inline` that neither makes nor returns arrays: it counts no references to those that it is
    handed, which takes longer than a short sum."""
    return function if INTERPRETED else _within(function, allocates=False)


def woven(function: Function) -> Function:
    """Makes of a `function` a `bare` that becomes part of each caller: to hand over a tuple of forty arrays, member by member,
    takes longer too."""
    return function if INTERPRETED else _within(function, allocates=False, forceinline=True)


def _within(function: Function, *, allocates: bool, forceinline: bool = False) -> Function:
    # Options that are not named are the caller's, whoever that is: nothing that a cache should keep.
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": allocates, "forceinline": forceinline}
    return _compile(function, InlineCompiler, InlineCache, **options)  # type: ignore[no-any-return]


def _borrow(arrays: Any) -> Any:
    return arrays


def _borrow_compiled(_context: Any, arrays: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        members = cgutils.unpack_tuple(builder, values[0], len(arrays.types))
        out = []
        for kind, member in zip(arrays.types, members, strict=True):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, member)
                array.meminfo = array.meminfo.type(None)
                array.parent = array.parent.type(None)
                member = array._getvalue()
            out.append(member)
        return context.make_tuple(builder, signature.return_type, out)

    return arrays(arrays), code


borrow: Any = _borrow if INTERPRETED else intrinsic(_borrow_compiled)
"""The same tuple of arrays, uncounted. Counting references, atomically, each time that forty arrays are handed to a function
cost a small figure's step most of its time. The owner must be used again (`keep`) after the last use of what was borrowed."""


@inline
def keep(arrays):  # type: ignore[no-untyped-def]
    """Marks the end of a loan of `arrays`; returns how many there are."""
    return len(arrays)
