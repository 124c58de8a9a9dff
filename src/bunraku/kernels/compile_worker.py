"""The worker process that compiles kernels (see `apart`): reads which, compiles them into the cache, and reports each."""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import sys
import threading
import warnings
from pathlib import Path
from typing import IO, Any

from numba.core import event

from bunraku.kernels.apart import be_worker, receive, send
from bunraku.kernels.folders import use_root
from bunraku.kernels.haste import hurry


def main(root: str) -> None:
    """Compiles the kernels that it reads from its input; exits at once when the input is closed.

    root: folder of the cache
    """
    be_worker()
    hurry()
    use_root(Path(root))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what modules print must not mix with the replies
    warnings.showwarning = lambda message, *_, **__: send(out, str(message).encode())
    event.register("numba:compile", _Parts(out))
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        job = jobs.get()
        try:
            module, name, signature = pickle.loads(job)
            found = getattr(importlib.import_module(module), name)
            getattr(found, "unit", found).compile(signature)
        except Exception:  # noqa: BLE001 (the caller compiles it again, and gets the error)
            pass
        send(out, b"done")


def _listen(pipe: IO[bytes], jobs: queue.SimpleQueue[bytes]) -> None:
    while True:
        try:
            jobs.put(receive(pipe))
        except EOFError:
            os._exit(0)


class _Parts(event.Listener):
    """Reports each function that has been compiled."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out

    def on_start(self, event: Any) -> None:
        pass

    def on_end(self, event: Any) -> None:
        send(self._out, b"part")
