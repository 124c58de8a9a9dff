"""A lock between processes that need the same kernel: one compiles it, the others wait and read its file."""

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

    Waits at most `patience` [s], since the process that compiles may have been suspended, and not at all where the file
    cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError:
        yield
        return
    with file:  # closing it releases the lock, even if this process dies
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
    except (BlockingIOError, PermissionError):  # PermissionError on Windows
        return False
    except OSError:  # some file systems have no locks
        return True
    return True
