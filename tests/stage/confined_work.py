"""What the tests of confined processes let them do."""

from __future__ import annotations

import ctypes
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bunraku.errors import BunrakuError
from bunraku.kernels.folders import cache_root, user_cache
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


def answer_with(data: bytes) -> None:
    """Answers as a process would that a file has taken over: with these bytes."""
    for handle in range(3, 20):  # the answers' pipe is one of them
        try:
            if stat.S_ISFIFO(os.fstat(handle).st_mode):
                os.write(handle, data)
        except OSError:
            continue
    os._exit(0)


def reach_out(cache: Path, folder: Path) -> dict[str, int]:
    """What the system says to calls that Python's hook does not see: error numbers by attempt."""
    libc = ctypes.CDLL(None, use_errno=True)

    def tried(call: Callable[..., int], *args: object) -> int:
        ctypes.set_errno(0)
        return 0 if call(*args) >= 0 else ctypes.get_errno()

    create = os.O_WRONLY | os.O_CREAT
    return {
        "write to the cache": tried(libc.open, os.fsencode(cache / "bad.nbc"), create, 0o600),
        "make a folder in the cache": tried(libc.mkdir, os.fsencode(cache / "bad"), 0o700),
        "write beside the folder": tried(libc.open, os.fsencode(folder.parent / "bad"), create, 0o600),
        "link to the outside": tried(libc.symlink, b"/etc/hostname", os.fsencode(folder / "link")),
        "empty a file of the machine": tried(libc.truncate, os.fsencode(folder.parent / "other"), 0),
        "read a file of the machine": tried(libc.open, b"/etc/hostname", os.O_RDONLY),
        "read the cache": tried(libc.open, os.fsencode(cache), os.O_RDONLY),
        "write to its folder": tried(libc.open, os.fsencode(folder / "good"), create, 0o600),
    }


def caches() -> list[str]:
    """Where this process keeps kernels and rehearsals."""
    return [str(cache_root()), str(user_cache())]
