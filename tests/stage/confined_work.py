"""What the tests of confined processes let them do."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from bunraku.errors import BunrakuError
from bunraku.progress import Listener, Progress
from bunraku.stage.uploads import own_meshes
from tests.patience import PATIENCE


def attempts(paths: list[Path], folder: Path) -> tuple[dict[str, str], list[str]]:
    """In the confined process: what became of each file, and what was opened outside of the folder."""
    from bunraku.verbs.entries import entries_of

    opened: list[str] = []
    libraries = tuple({sys.prefix, sys.base_prefix, *(path for path in sys.path if path)})

    def watch(event: str, args: tuple[object, ...]) -> None:
        if event == "open" and isinstance(args[0], str | bytes | os.PathLike):
            opened.append(os.path.realpath(os.fsdecode(args[0])))

    sys.addaudithook(watch)
    told = {}
    for path in paths:
        try:
            entries = entries_of(path)
            if "mesh" in path.name:
                own_meshes(entries[0].open(), folder)
            told[path.name] = f"{[str(entry) for entry in entries]}"
        except BunrakuError as error:
            told[path.name] = f"refused: {error}"
    return told, [name for name in opened if not name.startswith((str(folder.resolve()), *libraries, "/proc", "/sys"))]


def fill() -> int:
    return len([bytearray(2**20) for _ in range(100_000)])


def wait(progress: Listener) -> None:
    progress(Progress("waiting", 0.5))
    time.sleep(10 * PATIENCE)


def die() -> None:
    os._exit(3)


def shout() -> str:
    os.write(1, b"a library that prints\n")
    raise ZeroDivisionError("no\nway")
