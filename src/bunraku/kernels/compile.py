"""The four decorators of compiled code: `kernel`, `inline`, `bare`, `woven`, and loans of arrays to them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import cgutils, event, types
from numba.extending import intrinsic

from bunraku.kernels.cache import Index, Locator
from bunraku.kernels.linking import InlineCache, InlineCompiler, KernelCompiler
from bunraku.kernels.locks import Shared

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.config
INTERPRETED = bool(config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1 runs the same lines in the interpreter

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # No "nnan" or "ninf": a NaN must be seen, never optimised away.
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
}


class _Announce(event.Listener):
    """Says once that kernels are being compiled, so that the first call does not look hung."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        dispatcher = event.data.get("dispatcher")
        if not self.said and getattr(dispatcher, "__module__", "").startswith("bunraku."):
            self.said = True
            print("bunraku: compiling kernels for this machine (once; under a minute) …", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


@functools.cache
def _announce() -> None:
    event.register("numba:compile", _Announce())


def _compile(function: Any, compiler: type, **options: Any) -> Any:
    before = config.CACHE_LOCATOR_CLASSES
    config.CACHE_LOCATOR_CLASSES = f"{Locator.__module__}.{Locator.__name__}"
    try:
        compiled = numba.njit(cache=True, pipeline_class=compiler, **OPTIONS, **options)(function)
    finally:
        config.CACHE_LOCATOR_CLASSES = before
    compiled._cache._cache_file.__class__ = Index
    compiled.__class__ = Shared
    return compiled


def kernel(function: Function) -> Function:
    """A compiled function that Python calls: built on first use, then loaded from disk."""
    if INTERPRETED:
        return function
    _announce()
    return _compile(function, KernelCompiler)  # type: ignore[no-any-return]


def inline(function: Function) -> Function:
    """A compiled function that only kernels call, as a part of them."""
    return function if INTERPRETED else _within(function, allocates=True)


def bare(function: Function) -> Function:
    """An `inline` that neither makes nor returns arrays: it counts no references to those that it is handed, which takes longer
    than a short sum."""
    return function if INTERPRETED else _within(function, allocates=False)


def woven(function: Function) -> Function:
    """A `bare` that becomes part of each caller: to hand over a tuple of forty arrays, member by member, takes longer too."""
    return function if INTERPRETED else _within(function, allocates=False, forceinline=True)


def _within(function: Function, *, allocates: bool, forceinline: bool = False) -> Function:
    # Options that are not named are the caller's, whoever that is: nothing that a cache should keep.
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": allocates, "forceinline": forceinline}
    compiled = _compile(function, InlineCompiler, **options)
    compiled._cache._impl.__class__ = InlineCache
    return compiled  # type: ignore[no-any-return]


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
    """Marks the end of a loan."""
    return len(arrays)
