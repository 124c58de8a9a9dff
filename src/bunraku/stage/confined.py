"""Runs work on untrusted files in a separate process that can read only their folder, with limits on time and memory.

    with Confined("bunraku.verbs.entries") as confined:
        entries = confined.run(read, path, folder=path.parent, seconds=20.0)

A spare process waits with everything imported, so that work begins at once. Each process does one piece of work and ends.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bunraku.cleanup import at_end
from bunraku.errors import BunrakuError
from bunraku.progress import Listener, Progress
from bunraku.stage import confinement

OUT_OF_MEMORY = 77  # exit status of a process that ran out of memory
WAITING = 10  # limit of wall-clock time, as a multiple of the limit of processor time: the machine may be busy


@dataclass(frozen=True)
class _Work:
    """A piece of work for a process."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    folder: Path
    seconds: float
    megabytes: int


class Cancelled(BunrakuError):
    """The work was cancelled."""


class Confined:
    """Runs functions in confined processes.

    modules: dotted names of modules that a process imports before it gets work.
    """

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._lock = threading.Lock()
        self._spare: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._ended: dict[subprocess.Popen[bytes], Callable[[], None]] = {}

    def prepare(self) -> None:
        """Starts the spare process, so that the first piece of work does not wait for imports."""
        with self._lock:
            if not self._closed and (self._spare is None or self._spare.poll() is not None):
                self._spare = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-c", "from bunraku.stage.confined import main; main()", *self._modules]
        paths = os.pathsep.join(path for path in sys.path if path)
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths},
            start_new_session=os.name == "posix",  # Ctrl-C in the terminal goes to the stage, which ends this process
        )  # fmt: skip
        self._ended[process] = at_end(process.kill)  # its work would go on without us
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        self._ended.pop(process)()

    def _taken(self) -> subprocess.Popen[bytes]:
        with self._lock:
            spare, self._spare = self._spare, None
        taken = spare if spare is not None and spare.poll() is None else self._started()
        threading.Thread(target=self.prepare, daemon=True).start()  # start the next spare now: this work may take long
        return taken

    def run(
        self, function: Callable[..., Any], *args: Any, folder: Path, seconds: float, megabytes: int = 3000,
        progress: Listener | None = None, cancel: threading.Event | None = None,
    ) -> Any:  # fmt: skip
        """The result of `function(*args)` in a confined process.

        function: a module-level function, because it is sent by name; its result must be picklable.
        args: its arguments.
        folder: the only folder whose files it may open, besides bunraku's own.
        seconds: limit of processor time [s].
        megabytes: limit of memory [MB].
        progress: receives the progress of the function, if it takes a `progress` argument.
        cancel: an event that ends the work when it is set.
        Raises BunrakuError with the message of any error in the process, and if the work exceeds a limit or is cancelled.
        """
        process = self._taken()
        answer = _Answer(process, progress)
        try:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                pickle.dump(_Work(function, args, folder, seconds, megabytes), process.stdin)
                process.stdin.close()
            return answer.awaited(seconds, megabytes, cancel)
        finally:
            self._end(process)
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError, ValueError):
                    pipe.close()  # type: ignore[union-attr]

    def close(self) -> None:
        """Ends the spare process."""
        with self._lock:
            self._closed = True
            spare, self._spare = self._spare, None
        if spare is not None:
            self._end(spare)
            spare.communicate()

    def __enter__(self) -> Confined:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Answer:
    """The answer of a process, read by a thread, so that the caller can also watch the clock and the cancel event."""

    def __init__(self, process: subprocess.Popen[bytes], progress: Listener | None) -> None:
        self._process, self._progress = process, progress
        self._done = threading.Event()
        self._begun = False
        self._last: tuple[str, Any] = ("gone", None)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                kind, value = pickle.load(self._process.stdout)  # type: ignore[arg-type]
                self._begun = True
                if kind == "begun":
                    continue
                if kind == "progress":
                    if self._progress is not None:
                        self._progress(value)
                    continue
                self._last = (kind, value)
                return
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            return
        finally:
            self._done.set()

    def awaited(self, seconds: float, megabytes: int, cancel: threading.Event | None) -> Any:
        """The result; raises an error with its message if the work failed."""
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
        kind, value = self._last
        if kind == "result":
            return value
        if kind == "error":
            raise BunrakuError(value)
        status = self._process.wait()
        if os.name == "posix" and status == -signal.SIGXCPU:
            raise late
        if status in (OUT_OF_MEMORY, -signal.SIGSEGV, -signal.SIGABRT):
            limit = f"this needs more than {megabytes} MB, the stage's limit for a dropped file, or it crashed"
            raise BunrakuError(f"{limit}\n  advice: make the file smaller or the motion shorter, or run it with the command line")
        raise BunrakuError(f"the process that worked on this ended with status {status}\n  advice: try it with the command line")


# -- in the process --------------------------------------------------------------------------------------------------


def main() -> None:
    """Does one piece of work: reads it from standard input and writes the answer to standard output."""
    answers: IO[bytes] = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with the answer
    for name in sys.argv[1:]:
        importlib.import_module(name)
    kind, value = "result", None
    try:
        work: _Work = pickle.load(sys.stdin.buffer)
        confinement.confine(work.folder, seconds=work.seconds, megabytes=work.megabytes)
        answers.write(pickle.dumps(("begun", None)))
        answers.flush()
        value = work.function(*work.args, **_listener(work.function, answers))
        data = pickle.dumps((kind, value))
    except EOFError:  # the stage was closed
        return
    except BunrakuError as error:
        data = pickle.dumps(("error", str(error)))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except Exception as error:  # noqa: BLE001 - any error is reported to the visitor, and the stage goes on
        data = pickle.dumps(("error", f"the stage failed while it read this file: {type(error).__name__}: {error}"))
    answers.write(data)
    answers.close()
    os._exit(0)


def _listener(function: Callable[..., Any], answers: IO[bytes]) -> dict[str, Listener]:
    """`progress` for functions that take one."""
    import inspect

    if "progress" not in inspect.signature(function).parameters:
        return {}

    def tell(word: Progress) -> None:
        answers.write(pickle.dumps(("progress", word)))
        answers.flush()

    return {"progress": tell}
