"""Ends the process at once while threads are still working, without leaving incomplete files.

A normal exit would wait for some threads, and would crash others that are inside compiled code.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading

from bunraku.cleanup import clean_up


def leave(status: int | str | None) -> None:
    """Ends this process and its children now.

    status: as of SystemExit: a number, None for 0, or a message for 1
    """
    if isinstance(status, str):
        print(status, file=sys.stderr)
    for child in multiprocessing.active_children():
        child.kill()
    clean_up()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status if isinstance(status, int) else 0 if status is None else 1)


def leave_soon(signal: int, *, seconds: float = 1.0) -> None:
    """Ends this process with the status of a `signal` after some `seconds`, unless it has ended by itself."""
    timer = threading.Timer(seconds, leave, (128 + signal,))
    timer.daemon = True
    timer.start()
