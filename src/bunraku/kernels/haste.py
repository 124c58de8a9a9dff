"""Speeds numba up, in a process that only compiles (see `compile_worker`)."""

from __future__ import annotations

import gc
from typing import Any

import llvmlite.binding as llvm
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types.functions import BaseFunction


def hurry() -> None:
    """Makes garbage collection rare, and remembers what numba would find out again and again."""
    gc.set_threshold(200_000, 20, 50)
    _compare_flags_by_value()
    _remember_signatures()
    _lock_without_events()


def _compare_flags_by_value() -> None:
    """Numba looks up each call in a table whose keys contain the flags of a function. Its hash covers only the names of all flags,
    and its comparison reads all values one by one through properties."""
    hashing, comparing = TargetConfig.__hash__, TargetConfig.__eq__
    hashes: dict[type, int] = {}

    def quick_hash(self: Any) -> int:
        if type(self) not in hashes:
            hashes[type(self)] = hashing(self)
        return hashes[type(self)]

    def quick_equal(self: Any, other: Any) -> Any:
        return self is other or (type(self) is type(other) and self._values == other._values) or comparing(self, other)

    config: Any = TargetConfig
    config.__hash__, config.__eq__ = quick_hash, quick_equal


def _remember_signatures() -> None:
    """Numba tries all implementations of an operator at each place where it stands: forty for a sum, one after the other."""
    kept: dict[Any, Any] = {}
    resolve = BaseFunction.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        flags = ConfigStack.top_or_none()
        set_flags = () if flags is None else tuple(sorted((name, str(value)) for name, value in flags._values.items()))
        key = (self, tuple(args), tuple(kws.items()), set_flags)
        try:
            found = kept.get(key)
        except TypeError:  # a type that has no hash
            return resolve(self, context, args, kws)
        if found is None:
            found = kept[key] = resolve(self, context, args, kws)
        return found

    base: Any = BaseFunction
    base.get_call_type = get_call_type


def _lock_without_events() -> None:
    """Numba announces each of a hundred thousand calls of LLVM to a timer of every function that is being compiled."""
    lock = llvm.ffi.lib._lock
    for entering, leaving in list(lock._cblist):
        lock.unregister(entering, leaving)
