"""A worker process: receives jobs through a pipe and sends results back; it ends with the process that started it."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

Job = tuple[Any, tuple[Any, ...], dict[str, Any]]
"""A function, its arguments, and its arguments by name."""


def pack(thing: Any) -> bytes:
    """A `thing` as bytes that another process can read; raises what pickle raises if it cannot be packed."""
    return bytes(ForkingPickler.dumps(thing))


def serve(pipe: Connection) -> None:
    """Does the jobs that come through a `pipe`, one after the other, until its other end is closed."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the process that started this one decides what Ctrl-C does
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            packed = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            pipe.send_bytes(_answer(packed))
        except OSError:
            return


def _answer(packed: bytes) -> bytes:
    """(True, result) or (False, exception), packed."""
    try:
        function, args, options = pickle.loads(packed)
        return pack((True, function(*args, **options)))
    except BaseException as error:  # noqa: BLE001 (whatever it is, the one who asked must know)
        error.add_note(f"in a worker process:\n{traceback.format_exc()}")
        try:
            return pack((False, error))
        except Exception:  # noqa: BLE001 (an exception that cannot be packed)
            return pack((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _end_with_parent() -> None:
    """Ends this process at once, in the middle of a job too, when the process that started it is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
