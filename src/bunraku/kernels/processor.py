"""The processor that machine code is made for: its level, and what its registers hold."""

from __future__ import annotations

import functools
import platform

import llvmlite.binding as llvm

# The features, by LLVM's names, that each level of x86-64 processors has in addition to the level before.
X86_LEVELS = {
    "x86-64-v2": ("cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"),
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}


@functools.cache
def levels() -> tuple[str, ...]:
    """The levels whose machine code this processor runs, best first."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ("generic",)
    can = llvm.get_host_cpu_features()
    out: list[str] = []
    for level, features in X86_LEVELS.items():
        if not all(can.get(feature, False) for feature in features):
            break
        out.insert(0, level)
    return tuple(out)


def sums_at_once(name: str) -> int:
    """How many sums of eight numbers each the registers of a processor hold, beside the factors: a power of two.

    name: of a level, or of this processor
    """
    level = name if name in X86_LEVELS else levels()[0]
    return {"x86-64-v4": 8, "x86-64-v2": 2}.get(level, 4)
