"""A compiled function, as it is asked for a signature: from memory, from disk, from a process apart, or compiled here."""

from __future__ import annotations

import atexit
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from bunraku.kernels.apart import compile_apart
from bunraku.kernels.clock import aside
from bunraku.kernels.locks import turn


class Shared(CPUDispatcher):
    """A compiled function that many threads and processes may want at once.

    One that is not on disk is compiled in a process apart, so that this process is never inside the compiler for long: Ctrl-C
    works, the page moves, and several kernels compile at once.
    """

    _cache: Any
    targetctx: Any

    def compile(self, signature: Any) -> Any:
        """The compiled code for a `signature`: a tuple of numba's types."""
        if isinstance(signature, tuple) and signature in self.overloads:
            return super().compile(signature)
        codegen = self.targetctx.codegen()
        if not self._cache.on_disk(signature, codegen):
            compile_apart(self, signature)
        # Threads first: one that waited for a file while another held the compiler would hold up both. Calls are acyclic, so
        # no two wait for each other.
        with global_compiler_lock, aside():
            if self._cache.on_disk(signature, codegen):
                return super().compile(signature)
            path = Path(self._cache.path(signature, codegen))
            with turn(path.with_suffix(".turn")):
                return super().compile(signature)


@atexit.register
def _keep_threads_out() -> None:
    """Threads that go on while the interpreter ends must not be inside LLVM, whose globals are destroyed then."""
    global_compiler_lock._lock.acquire(timeout=60.0)
