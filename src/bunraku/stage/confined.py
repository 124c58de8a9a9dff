"""Runs work on untrusted files in a separate process that can read only their folder, with limits on time and memory.

    with Confined("bunraku.verbs.entries") as confined:
        entries = confined.run(read, path, folder=path.parent, seconds=20.0)

The process is a copy of one that has everything imported, so that work begins at once; it does one piece of work and ends. Its
answer is not unpickled (see `plain_answer`), and it is made into objects after the process has ended.
"""

from __future__ import annotations

import contextlib
import enum
import os
import pickle
import signal
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bunraku.errors import BunrakuError
from bunraku.progress import Listener
from bunraku.stage import confinement
from bunraku.stage.plain_answer import packed, unpacked
from bunraku.stage.template import Copy, Template

OUT_OF_MEMORY = 77  # exit status of a process that ran out of memory
WAITING = 10  # limit of wall-clock time, as a multiple of the limit of processor time: the machine may be busy


class _Kind(enum.IntEnum):
    """What a process says. Each message begins with its kind (u8) and its size [bytes] (u64)."""

    BEGUN = 0
    PROGRESS = 1
    RESULT = 2
    ERROR = 3


@dataclass(frozen=True)
class _Work:
    """A piece of work for a process."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    folder: Path
    cache: Path
    seconds: float
    megabytes: int
    long: bool


class Cancelled(BunrakuError):
    """The work was cancelled."""


class Confined:
    """Runs functions in confined processes.

    modules: dotted names of modules that a process imports before it gets work.
    """

    def __init__(self, *modules: str) -> None:
        self._template = Template("bunraku.stage.confined:work", modules)

    def prepare(self) -> None:
        """Starts what processes are copied from, so that the first piece of work does not wait for imports."""
        self._template.prepare()

    def run(
        self, function: Callable[..., Any], *args: Any, folder: Path, cache: Path | None = None, seconds: float,
        megabytes: int = 3000, largest: int = 200 * 2**20, progress: Listener | None = None,
        cancel: threading.Event | None = None, check: Callable[[Any], object] = lambda thing: None, long: bool = False,
    ) -> Any:  # fmt: skip
        """The result of `function(*args)` in a confined process.

        function: a module-level function, because it is sent by name; its result must be something that `plain_answer` can send.
        args: its arguments.
        folder: the folder whose files it may open, besides bunraku's own.
        cache: an existing folder for compiled kernels and the like, which later processes may use; None for `folder`.
        seconds: limit of processor time [s].
        megabytes: limit of memory [MB].
        largest: limit of the size of the result [bytes].
        progress: receives the progress of the function, if it takes a `progress` argument.
        cancel: an event that ends the work when it is set.
        check: called with each object of the result; an error that it raises goes on to the caller.
        long: whether other work goes first on a busy machine.
        Raises BunrakuError with the message of any error in the process, and if the work exceeds a limit or is cancelled.
        """
        process = self._template.start()
        answer = _Answer(process, progress, largest)
        try:
            with contextlib.suppress(BrokenPipeError):
                pickle.dump(_Work(function, args, folder, cache or folder, seconds, megabytes, long), process.stdin)
                process.stdin.close()
            data = answer.awaited(seconds, megabytes, cancel)
        finally:
            process.close()
        return unpacked(data, check)

    def close(self) -> None:
        """Ends all processes."""
        self._template.close()

    def __enter__(self) -> Confined:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Answer:
    """The answer of a process, read by a thread, so that the caller can also watch the clock and the cancel event."""

    def __init__(self, process: Copy, progress: Listener | None, largest: int) -> None:
        self._process, self._progress, self._largest = process, progress, largest
        self._done = threading.Event()
        self._begun = False
        self._result: bytes | None = None
        self._error: BunrakuError | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while (said := self._next()) is not None:
                self._begun = True
                kind, data = said
                if kind == _Kind.RESULT:
                    self._result = data
                elif kind == _Kind.ERROR:
                    self._error = BunrakuError(data.decode(errors="replace"))
                elif kind == _Kind.PROGRESS and self._progress is not None:
                    self._progress(unpacked(data))
        except BunrakuError as problem:
            self._error = problem
        except (OSError, ValueError):  # closed by the caller
            return
        finally:
            self._done.set()

    def _next(self) -> tuple[int, bytes] | None:
        """The next message; None if there is none any more. Raises BunrakuError if it is too large."""
        pipe: Any = self._process.stdout
        head = pipe.read(9)
        if len(head) < 9:
            return None
        kind, size = struct.unpack("<BQ", head)
        require_size(size, self._largest if kind == _Kind.RESULT else 2**20)
        data = pipe.read(size)
        return (kind, data) if len(data) == size else None

    def awaited(self, seconds: float, megabytes: int, cancel: threading.Event | None) -> bytes:
        """The result, packed; raises an error with its message if the work failed."""
        late = BunrakuError(
            f"this takes longer than {seconds:g} s of processor time\n  advice: make it shorter, or run it with the command line"
        )
        left = WAITING * seconds
        while not self._done.wait(0.1):
            left -= 0.1 if self._begun else 0.0
            if cancel is not None and cancel.is_set():
                raise Cancelled("cancelled")
            if left <= 0.0:
                raise late
        if self._error is not None:
            raise self._error
        if self._result is not None:
            return self._result
        status = self._process.end()
        if os.name == "posix" and status == -signal.SIGXCPU:
            raise late
        if status in (OUT_OF_MEMORY, -signal.SIGSEGV, -signal.SIGABRT):
            limit = f"this needs more than {megabytes} MB, the stage's limit for a dropped file, or it crashed"
            raise BunrakuError(f"{limit}\n  advice: make the file smaller or the motion shorter, or run it with the command line")
        raise BunrakuError(f"the process that worked on this ended with status {status}\n  advice: try it with the command line")


def require_size(size: int, largest: int) -> None:
    """Raises BunrakuError if the `size` of a result exceeds the `largest` that is kept [bytes]."""
    if size > largest:
        what = f"the result has {size / 2**20:.3g} MB, and the stage keeps {max(largest, 0) / 2**20:.3g} MB of it"
        advice = "ask for a shorter motion or longer steps, or run it with the command line"
        raise BunrakuError(f"{what}\n  advice: {advice}")


# -- in the process --------------------------------------------------------------------------------------------------


def work(orders: IO[bytes], answers: IO[bytes]) -> None:
    """Does one piece of work.

    orders: where the work is read.
    answers: where the answer is written.
    """
    kind, data = _Kind.ERROR, b""
    try:
        asked: _Work = pickle.load(orders)
        if asked.long:
            _let_others_first()
        confinement.confine(asked.folder, cache=asked.cache, seconds=asked.seconds, megabytes=asked.megabytes)
        _send(answers, _Kind.BEGUN)
        data = packed(asked.function(*asked.args, **_listener(asked.function, answers)))
        kind = _Kind.RESULT
    except EOFError:  # the stage was closed
        return
    except BunrakuError as error:
        data = str(error).encode(errors="replace")[:10_000]
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except Exception as error:  # noqa: BLE001 - any error is reported to the visitor, and the stage goes on
        data = f"the stage failed while it read this file: {type(error).__name__}: {error}".encode(errors="replace")[:10_000]
    _send(answers, kind, data)
    answers.close()


def _let_others_first() -> None:
    """Lowers the priority of this process."""
    if hasattr(os, "nice"):
        os.nice(10)
    with contextlib.suppress(OSError):  # Linux weighs sessions before it weighs their processes, if it groups them
        Path("/proc/self/autogroup").write_text("10")


def _send(answers: IO[bytes], kind: _Kind, data: bytes = b"") -> None:
    answers.write(struct.pack("<BQ", kind, len(data)))
    answers.write(data)
    answers.flush()


def _listener(function: Callable[..., Any], answers: IO[bytes]) -> dict[str, Listener]:
    """`progress` for functions that take one."""
    import inspect

    if "progress" not in inspect.signature(function).parameters:
        return {}
    return {"progress": lambda word: _send(answers, _Kind.PROGRESS, packed(word))}
