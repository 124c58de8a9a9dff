"""A process that has imported everything, and copies itself for each piece of work: a copy is ready in milliseconds.

On Linux the copies are forks: the template has one thread and holds nothing that two processes must not share. On other systems
libraries do not stand being forked, and each piece of work waits for a process of its own to import everything.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO

from bunraku.cleanup import at_end
from bunraku.errors import BunrakuError

FORKS = sys.platform == "linux"
REQUEST = struct.Struct("<i")
"""To the template: 0 with two pipes asks for a copy; a process number asks to end that copy. The answer is the number of the copy,
or the exit status of the one that ended, as `subprocess` has it: −n if signal n ended it."""


class Copy:
    """A copy of a template.

    stdin: where its work is written.
    stdout: where its answers are read.
    end: ends it and returns its exit status.
    """

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes], end: Callable[[], int]) -> None:
        self.stdin, self.stdout = stdin, stdout
        self._end = end
        self._status: int | None = None

    def end(self) -> int:
        """Ends the process if it has not ended, and returns its exit status."""
        if self._status is None:
            self._status = self._end()
        return self._status

    def close(self) -> None:
        """Ends the process, and closes its pipes."""
        self.end()
        for pipe in (self.stdin, self.stdout):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()


class Template:
    """Starts copies of a process that has imported everything.

    main: name of the function that a copy calls with its standard input and output, "module:function".
    modules: dotted names of modules that the template imports.
    """

    def __init__(self, main: str, modules: Sequence[str]) -> None:
        self._names = (main, *modules)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._forget: Callable[[], None] = lambda: None

    def prepare(self) -> None:
        """Starts the template, so that the first copy does not wait for imports."""
        if FORKS:
            with self._lock:
                self._require_running()

    def _require_running(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._stop()
        self._control, other = socket.socketpair()
        with other:
            self._process = _started("serve", str(other.fileno()), *self._names, pass_fds=(other.fileno(),))
        self._forget = at_end(self._process.kill)  # a template that ends takes its copies with it

    def start(self) -> Copy:
        """A new copy. Raises BunrakuError if the template cannot be started."""
        if not FORKS:
            process = _started("once", *self._names, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert process.stdin is not None
            assert process.stdout is not None
            return Copy(process.stdin, process.stdout, _ender(process))
        with self._lock:
            self._require_running()
            assert self._control is not None
            assert self._process is not None
            (its_input, stdin), (stdout, its_output) = os.pipe(), os.pipe()
            try:
                socket.send_fds(self._control, [REQUEST.pack(0)], [its_input, its_output])
                number = self._answer()
            except OSError:
                os.close(stdin)
                os.close(stdout)
                status = self._process.wait()
                raise BunrakuError(f"the process that reads dropped files ended with status {status}") from None
            finally:
                os.close(its_input)
                os.close(its_output)
        return Copy(os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), lambda: self._ended(number))

    def _answer(self) -> int:
        assert self._control is not None
        data = self._control.recv(REQUEST.size, socket.MSG_WAITALL)
        if len(data) < REQUEST.size:
            raise ConnectionResetError
        (number,) = REQUEST.unpack(data)
        return int(number)

    def _ended(self, number: int) -> int:
        with self._lock:
            try:
                assert self._control is not None
                self._control.sendall(REQUEST.pack(number))
                return self._answer()
            except (OSError, AssertionError):  # the template has ended, and its copies with it
                return -int(signal.SIGKILL)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget()
        if self._control is not None:
            self._control.close()
        self._process = self._control = None

    def close(self) -> None:
        """Ends the template and its copies."""
        with self._lock:
            self._stop()


def _started(*words: str, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-c", "from bunraku.stage.template import main; main()", *words]
    own = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    own |= {"MUJOCO_GL": "disable"}  # else importing mujoco looks for libraries of OpenGL, and starts a program
    own |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")  # threads do not survive a fork
    session = os.name == "posix"  # Ctrl-C in the terminal goes to the stage, which ends this process
    return subprocess.Popen(command, env=os.environ | own, start_new_session=session, **options)  # type: ignore[call-overload, no-any-return]


def _ender(process: subprocess.Popen[bytes]) -> Callable[[], int]:
    forget = at_end(process.kill)

    def end() -> int:
        process.kill()
        forget()
        return process.wait()

    return end


# -- in the template -------------------------------------------------------------------------------------------------


def main() -> None:
    """Imports everything, then serves: `serve CONTROL MAIN MODULE …`, or does one piece of work: `once MAIN MODULE …`."""
    how, *words = sys.argv[1:]
    control = socket.socket(fileno=int(words.pop(0))) if how == "serve" else None
    name, *modules = words
    for module in modules:
        importlib.import_module(module)
    home, _, function = name.partition(":")
    work = getattr(importlib.import_module(home), function)
    if control is None:
        answers = os.dup(1)
        os.dup2(2, 1)  # what libraries print must not mix with the answers
        work(sys.stdin.buffer, os.fdopen(answers, "wb", closefd=False))
        os._exit(0)
    gc.collect()
    gc.freeze()  # pages of what was imported stay shared
    _serve(control, work)


def _serve(control: socket.socket, work: Callable[[IO[bytes], IO[bytes]], None]) -> None:
    while True:
        data, pipes, *_ = socket.recv_fds(control, REQUEST.size, 2)
        if len(data) < REQUEST.size:  # the stage has ended
            return
        (number,) = REQUEST.unpack(data)
        if number:
            control.sendall(REQUEST.pack(_status(number)))
            continue
        number = os.fork()
        if not number:
            control.close()
            _work(work, *pipes)
        for pipe in pipes:
            os.close(pipe)
        control.sendall(REQUEST.pack(number))


def _status(number: int) -> int:
    """Ends a copy and returns its exit status."""
    os.kill(number, signal.SIGKILL)  # nothing happens if it has ended: its number is its own until it is waited for
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def _work(work: Callable[[IO[bytes], IO[bytes]], None], stdin: int, stdout: int) -> None:
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG: it ends when the template ends, however that was
        work(os.fdopen(stdin, "rb"), os.fdopen(stdout, "wb", closefd=False))  # the pipe ends when the process has its status
    except BaseException:  # noqa: BLE001 - a copy must never come back to the loop of the template
        os._exit(1)
    os._exit(0)
