"""Processes that want the same kernel at the same time: one compiles it, the others wait, and read what it has written."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextlib.contextmanager
def turn(path: Path, *, patience: float = 120.0) -> Iterator[None]:
    """Takes the lock file at `path` before the block, so that one process at a time is in it.

    Nobody waits longer than `patience` [s], since who compiles may have been stopped, and nobody waits where the file cannot
    be written.
    """
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
    try:
        if sys.platform == "win32":
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # Windows says the latter
        return False
    except OSError:  # some file systems know no locks
        return True
    return True
