"""The five decorators of compiled code: `kernel`, `unit`, `inline`, `bare`, `woven`; `borrow` saves reference counting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import types
from numba.extending import intrinsic

from bunraku.kernels.by_address import ByAddress, laundered, loaded, stored
from bunraku.kernels.cache import KernelCache
from bunraku.kernels.dispatch import Shared
from bunraku.kernels.linking import HotKernelCompiler, InlineCache, InlineCompiler, KernelCompiler
from bunraku.kernels.units import entry_of, stub_of

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.config
INTERPRETED = bool(config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1 runs the same functions in the interpreter

COMPILE_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # No "nnan" or "ninf": they would let the compiler remove tests for NaN.
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
}


def _compile(function: Any, compiler: type, cache: type, **options: Any) -> Any:
    compiled = numba.njit(pipeline_class=compiler, **COMPILE_OPTIONS, **options)(function)
    compiled._cache = cache(function)
    compiled.__class__ = Shared
    return compiled


def kernel(function: Function) -> Function:
    """Compiles a `function` that Python calls: compiled on first use, later loaded from disk."""
    return function if INTERPRETED else _compile(function, KernelCompiler, KernelCache, no_cfunc_wrapper=True)


def unit(returns: str, *, allocates: bool = False, hot: bool = False) -> Callable[[Function], Function]:
    """Compiles a function that kernels call, on its own and when it is first called: for large parts that several kernels have in
    common, or that few figures need. It must not return arrays.

    returns: the type of its result: "none", "boolean", "int64", "float64", several with commas between them, or the name of
        the parameter whose numbers it is like
    allocates: whether it makes arrays, as an `inline` may, or not, as a `bare`
    hot: whether long computations spend most of their time in it: then LLVM optimises it as far as it can
    """

    def made(function: Function) -> Function:
        if INTERPRETED:
            return function
        called: Any = _within(stub_of(function, returns), allocates=False, forceinline=True)
        body = _within(function, allocates=allocates, forceinline=True)
        compiler = HotKernelCompiler if hot else KernelCompiler
        called.unit = _compile(entry_of(function, body), compiler, KernelCache, no_cpython_wrapper=True)
        return called  # type: ignore[no-any-return]

    return made


def inline(function: Function) -> Function:
    """Compiles a `function` that only kernels call, as a part of them."""
    return function if INTERPRETED else _within(function, allocates=True)


def bare(function: Function) -> Function:
    """An `inline` for a `function` that neither makes nor returns arrays. It does not count references to its arguments, which
    would take longer than a short sum."""
    return function if INTERPRETED else _within(function, allocates=False)


def woven(function: Function) -> Function:
    """A `bare` for a `function` whose code is copied into each caller, because passing a tuple of forty arrays, member by member,
    would also take longer than a short sum."""
    return function if INTERPRETED else _within(function, allocates=False, forceinline=True)


def _within(function: Function, *, allocates: bool, forceinline: bool = False) -> Function:
    # All options are named: an `inline` inherits the others from its first caller, and they would end up in the cache.
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": allocates, "forceinline": forceinline}
    return _compile(function, InlineCompiler, InlineCache, **options)  # type: ignore[no-any-return]


def _borrow(arrays: Any) -> Any:
    return arrays


def _borrow_compiled(_context: Any, arrays: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = stored(context, builder, arrays, values[0])
        if named:
            return laundered(builder, address)
        return loaded(context, builder, arrays, builder.bitcast(address, context.get_value_type(arrays).as_pointer()))

    named = isinstance(arrays, types.BaseNamedTuple)
    return (ByAddress(arrays) if named else arrays)(arrays), code


# "Uncounted" arrays have no reference count: nothing keeps their memory alive.
borrow: Any = _borrow if INTERPRETED else intrinsic(_borrow_compiled)
"""The same tuple of arrays, uncounted, and by its address if it is a named one (see `by_address`). Counting references, atomically,
each time that forty arrays are handed to a function cost a small figure's step most of its time. The owner must be used again
(`keep`) after the last use of what was borrowed."""


@inline
def keep(arrays):  # type: ignore[no-untyped-def]
    """Keeps `arrays` alive up to this call, after the last use of what was borrowed from them; returns how many there are."""
    return len(arrays)
