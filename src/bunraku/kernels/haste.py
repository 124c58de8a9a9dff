"""Speeds numba up, in a process that only compiles (see `compile_worker`)."""

from __future__ import annotations

import gc
from typing import Any

from numba.core.targetconfig import TargetConfig


def hurry() -> None:
    """Makes garbage collection rare, and comparisons of numba's flags fast.

    Numba looks up each call in a table whose keys contain the flags of a function. Its hash covers only the names of all flags,
    and its comparison reads all values one by one through properties: a twelfth of the time of compiling.
    """
    gc.set_threshold(200_000, 20, 50)
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
