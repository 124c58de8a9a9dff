"""Cleans up when the program ends: half-written files, temporary folders of the stage, processes that were started.

A command that ends while threads are inside compiled code exits at once, without Python's `atexit`; it calls `clean_up` itself.
"""

from __future__ import annotations

import atexit
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress

_tasks: dict[object, Callable[[], object]] = {}
_ending = threading.Event()


def at_end(task: Callable[[], object]) -> Callable[[], None]:
    """Registers a `task` to be called when the program ends, the latest first. Returns a function that removes it again.

    While the program ends, a thread that calls this waits until it has ended: nobody would clean up after it any more.
    """
    if _ending.is_set() and threading.current_thread().daemon:
        threading.Event().wait()
    key = object()
    _tasks[key] = task

    def withdraw() -> None:
        _tasks.pop(key, None)

    return withdraw


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """A temporary folder, removed when its block ends, on `cleanup`, or when the program ends."""

    def __init__(self) -> None:
        super().__init__(prefix="bunraku-")
        self._gone = at_end(super().cleanup)

    def cleanup(self) -> None:
        """Removes the folder with its content."""
        super().cleanup()
        self._gone()


@atexit.register
def clean_up() -> None:
    """Calls every registered task once; if one fails, the others are still called."""
    _ending.set()
    while True:
        try:
            _, task = _tasks.popitem()
        except KeyError:
            return
        with suppress(Exception):
            task()
