"""Processes that want the same kernel at the same time: one compiles it, the others wait, and read what it has written."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from bunraku.kernels.clock import aside

if sys.platform != "win32":
    import fcntl

PATIENCE = 120.0  # [s]: who compiles may have been stopped


@contextlib.contextmanager
def turn(path: Path, *, patience: float = PATIENCE) -> Iterator[None]:
    """Only one process at a time is here, per path; none waits for ever, and none that cannot write there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError:
        yield
        return
    with file:  # closing it ends the turn, however that comes about
        end = time.monotonic() + patience
        while not _taken(file) and time.monotonic() < end:
            time.sleep(0.02)
        yield


def _taken(file: Any) -> bool:
    if sys.platform == "win32":  # each compiles for itself
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some file systems know no locks
        return True
    return True


class Shared(CPUDispatcher):
    """A compiled function whose turn it has to be. Calls make no circle, so nobody waits for who waits for him."""

    _cache: Any

    def compile(self, signature: Any) -> Any:
        if isinstance(signature, tuple) and signature in self.overloads:
            return super().compile(signature)
        # Threads first: one that waited for a file while another held the compiler would hold up both.
        with global_compiler_lock, aside(), turn(Path(f"{self._cache._cache_file._index_path}.turn")):
            return super().compile(signature)
