"""How much work a kernel is for the compiler, for the progress bar: the number of functions that are still to be compiled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import CodeType
from typing import Any


def expected(kernel: Any) -> int:
    """How many of the functions that a `kernel` calls, itself included, are not in the cache on disk."""
    names: dict[str, list[str]] = {}
    missing = 0
    for one in _reached(kernel, {}):
        folder = one._cache._cache_path
        if folder not in names:
            names[folder] = os.listdir(folder) if os.path.isdir(folder) else []  # noqa: PTH112, PTH208 (names alone)
        own = one.py_func.__qualname__.replace("<locals>", "locals") + "."
        missing += not any(name.startswith(own) for name in names[folder])
    return missing


def _reached(kernel: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """A compiled function and all that it calls, each once."""
    if id(kernel) in seen or not hasattr(kernel, "py_func") or not hasattr(kernel, "_cache"):
        return
    seen[id(kernel)] = kernel
    yield kernel
    function = kernel.py_func
    held = [function.__globals__.get(name) for name in _names(function.__code__)]
    for other in (*held, *(cell.cell_contents for cell in function.__closure__ or ())):
        yield from _reached(other, seen)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)
