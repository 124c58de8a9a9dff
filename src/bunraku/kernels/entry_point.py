"""Calls compiled code directly, without numba's dispatch.

Numba's dispatch examines every array of a tuple in each call. That takes 5 µs for the arrays of a figure, longer than a small
solve. A direct call checks nothing: the caller must pass contiguous arrays of the types that the entry was made for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from bunraku.kernels.apart import compile_ahead


def entry(kernel: Any, *examples: Any) -> Callable[..., Any]:
    """The compiled code of a `kernel` for arguments like `examples`."""
    if not hasattr(kernel, "get_overload"):  # run in the interpreter
        return kernel  # type: ignore[no-any-return]
    signature = tuple(numba.typeof(example) for example in examples)
    kernel.compile(signature)
    return kernel.get_overload(signature)  # type: ignore[no-any-return]


def ahead(kernel: Any, *examples: Any) -> None:
    """Starts to compile a `kernel` for arguments like `examples` in a worker process, unless it is in memory or on disk.

    For a kernel that will be needed soon, while this process waits for another.
    """
    if getattr(kernel, "overloads", True):  # also where the interpreter runs it
        return
    signature = tuple(numba.typeof(example) for example in examples)
    if not kernel._cache.on_disk(signature, kernel.targetctx.codegen()):
        compile_ahead(kernel, signature)
