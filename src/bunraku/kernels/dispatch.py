"""A compiled function: takes its code for a signature from memory, from disk, from a worker process, or compiles it here."""

from __future__ import annotations

import atexit
from pathlib import Path
from typing import Any

from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from bunraku.kernels.apart import compile_apart
from bunraku.kernels.clock import aside
from bunraku.kernels.locks import turn


class Shared(CPUDispatcher):
    """A compiled function that many threads and processes may need at once.

    If it is not on disk, a worker process compiles it (see `apart`), so that this process is never inside the compiler for long:
    Ctrl-C works, the page of the stage keeps moving, and several kernels compile at once.
    """

    _cache: Any
    targetctx: Any

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What a caller with arguments of types `args` and `kws` calls: a constant is an argument like any other, or else each
        would be compiled on its own."""
        plain = tuple(types.unliteral(kind) if isinstance(kind, types.Literal) else kind for kind in args)
        return super().get_call_template(plain, kws)

    def compile(self, signature: Any) -> Any:
        """The compiled code for a `signature`: a tuple of numba's types."""
        if isinstance(signature, tuple) and signature in self.overloads:
            return super().compile(signature)
        codegen = self.targetctx.codegen()
        if not self._cache.on_disk(signature, codegen):
            compile_apart(self, signature)
        # The lock between threads comes before that between processes: a thread that waited for the file lock while another held
        # the compiler would block both. Calls are acyclic, so no deadlock.
        with global_compiler_lock, aside():
            if self._cache.on_disk(signature, codegen):
                return super().compile(signature)
            path = Path(self._cache.path(signature, codegen))
            with turn(path.with_suffix(".turn")):
                return super().compile(signature)


@atexit.register
def _keep_threads_out() -> None:
    """Keeps threads that still run when the interpreter exits out of LLVM, whose globals are destroyed then."""
    global_compiler_lock._lock.acquire(timeout=60.0)
