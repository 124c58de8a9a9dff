"""The process apart that compiles kernels (see `apart`): reads which, compiles, leaves them in the cache, says so."""

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


def main(root: str) -> None:
    """Compiles what comes through the input until that ends, which ends this process at once.

    root: folder of the cache
    """
    be_worker()
    use_root(Path(root))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what modules print is no part of the conversation
    warnings.showwarning = lambda message, *_, **__: send(out, str(message).encode())
    event.register("numba:compile", _Parts(out))
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        job = jobs.get()
        try:
            module, name, signature = pickle.loads(job)
            getattr(importlib.import_module(module), name).compile(signature)
        except Exception:  # noqa: BLE001 (who wants it compiles it again, and sees what is wrong)
            pass
        send(out, b"done")


def _listen(pipe: IO[bytes], jobs: queue.SimpleQueue[bytes]) -> None:
    while True:
        try:
            jobs.put(receive(pipe))
        except EOFError:
            os._exit(0)


class _Parts(event.Listener):
    """Says of each function that it has been compiled."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out

    def on_start(self, event: Any) -> None:
        pass

    def on_end(self, event: Any) -> None:
        send(self._out, b"part")
