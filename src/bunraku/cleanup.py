"""What is put away when the program ends: files that are half written, folders of the stage, processes that it has started.

A command that ends while threads are inside compiled code leaves at once, past Python's own `atexit`; it calls `clean_up` itself.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable
from contextlib import suppress

_tasks: dict[object, Callable[[], object]] = {}


def at_end(task: Callable[[], object]) -> Callable[[], None]:
    """Calls a `task` when the program ends; those that were registered last come first. Returns a function that withdraws it."""
    key = object()
    _tasks[key] = task

    def withdraw() -> None:
        _tasks.pop(key, None)

    return withdraw


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """A folder for files that nobody keeps; it goes when the block ends, on `cleanup`, or with the program."""

    def __init__(self) -> None:
        super().__init__(prefix="bunraku-")
        self._gone = at_end(super().cleanup)

    def cleanup(self) -> None:
        """Removes the folder, with all that is in it."""
        super().cleanup()
        self._gone()


@atexit.register
def clean_up() -> None:
    """Does what was registered, once; one task that fails does not keep the others from being done."""
    while True:
        try:
            _, task = _tasks.popitem()
        except KeyError:
            return
        with suppress(Exception):
            task()
