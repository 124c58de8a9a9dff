"""Compiles kernels in worker processes, as many as there are cores.

Numba compiles one function at a time in a process, and holds Python's global lock for most of that time. Compiling here would
freeze the page of the stage, delay Ctrl-C, and abort this process if it ends while a thread compiles. So a kernel that is not
on disk is compiled by a worker process, which writes it into the cache; then this process loads it from there. A worker ends
when its input is closed, so it never outlives this process, however that ends.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

from bunraku.cleanup import at_end
from bunraku.kernels import announce
from bunraku.kernels.folders import cache_root, complain
from bunraku.kernels.parts import expected


@dataclass(eq=False)
class Job:
    """One kernel that a worker process compiles."""

    module: str
    name: str
    order: bytes
    """Module, name and signature, pickled by the calling thread: another thread might wait for a module that is being imported."""
    over: threading.Event = field(default_factory=threading.Event)
    parts: int = 0
    """Functions that have been compiled for it so far."""
    expected: int = 0
    """Functions that must be compiled for it, about."""
    warnings: list[str] = field(default_factory=list)


def start_worker() -> subprocess.Popen[bytes]:
    """Starts a worker process with the same module search path and the same cache."""
    paths = [os.path.abspath(path) for path in sys.path]  # noqa: PTH100 (zip files and "" too)
    code = f"import sys; sys.path[:] = {paths!r}; from bunraku.kernels.compile_worker import main; main({str(cache_root())!r})"
    apart: dict[str, Any] = {"start_new_session": True}  # Ctrl-C must not reach the worker
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **apart
    )


def send(pipe: IO[bytes], data: bytes) -> None:
    """Writes `data` to a `pipe`, with its length before it."""
    pipe.write(len(data).to_bytes(4, "little") + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes:
    """Reads from a `pipe` what `send` has written; raises EOFError where the other end is closed."""
    size = pipe.read(4)
    if len(size) < 4:
        raise EOFError
    return pipe.read(int.from_bytes(size, "little"))


class Workshop:
    """The worker processes, and the jobs that wait for them."""

    def __init__(self, size: int, *, patience: float = 10.0, start: Callable[[], subprocess.Popen[bytes]] = start_worker) -> None:
        """size: most processes at once; patience: how long an idle one is kept [s]; start: starts one."""
        self._size, self._patience, self._start = size, patience, start
        self._lock = threading.Lock()
        self._jobs: dict[Any, Job] = {}
        self._waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._busy, self._threads, self._closed = 0, 0, False
        self._processes: set[subprocess.Popen[bytes]] = set()

    def submit(self, module: str, name: str, signature: Any) -> Job:
        """The job of compiling the kernel `name` of a `module` for a `signature`: queued now, unless it is under way already."""
        key = (module, name, signature)
        with self._lock:
            if key in self._jobs and not self._jobs[key].over.is_set():
                return self._jobs[key]
            job = self._jobs[key] = Job(module, name, pickle.dumps(key))
            if self._closed:
                job.over.set()
                return job
            self._waiting.put(job)
            self._busy += 1
            if self._busy > self._threads and self._threads < self._size:
                self._threads += 1
                threading.Thread(target=self._serve, name="bunraku-compile", daemon=True).start()
        return job

    def close(self) -> None:
        """Kills all worker processes."""
        with self._lock:
            self._closed = True
            processes = list(self._processes)
        for process in processes:
            process.kill()

    def _serve(self) -> None:
        """Sends jobs to one process, one after another. Every job ends, even if the process cannot be started or dies."""
        process: subprocess.Popen[bytes] | None = None
        try:
            while True:
                try:
                    job = self._waiting.get(timeout=self._patience)
                except queue.Empty:
                    with self._lock:
                        if self._busy >= self._threads:
                            continue  # a job has just been submitted
                        self._threads -= 1
                        return
                try:
                    if process is None or process.poll() is not None:
                        process = self._start()
                        with self._lock:
                            self._processes.add(process)
                            if self._closed:
                                process.kill()
                    self._converse(process, job)
                except (OSError, EOFError, ValueError):  # then the caller compiles the kernel itself
                    pass
                finally:
                    with self._lock:
                        self._busy -= 1
                    job.over.set()
        finally:
            if process is not None:
                process.kill()
                process.communicate()
                with self._lock:
                    self._processes.discard(process)

    def _converse(self, process: subprocess.Popen[bytes], job: Job) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        send(process.stdin, job.order)
        while (said := receive(process.stdout).decode()) != "done":
            if said == "part":
                job.parts += 1
            else:
                job.warnings.append(said)


class _Here:
    workshop: Workshop | None = None
    lock = threading.Lock()
    is_worker = False
    interrupted = False


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def be_worker() -> None:
    """Marks this process as a compile worker: from now on it compiles kernels itself instead of sending them to another process."""
    _Here.is_worker = True


def stop_waiting() -> None:
    """From now on, KeyboardInterrupt is raised where a kernel would have to be compiled: a program that ends does not wait."""
    _Here.interrupted = True


def _after_fork() -> None:
    """A forked process has none of its parent's threads, and cannot wait for locks that they held."""
    _Here.workshop, _Here.lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _workshop() -> Workshop:
    with _Here.lock:
        if _Here.workshop is None:
            _Here.workshop = Workshop(cores())
            at_end(_Here.workshop.close)
        return _Here.workshop


def _within_reach(kernel: Any) -> bool:
    """Whether a worker finds this very kernel by its name. Only in bunraku: importing other modules may have side effects."""
    module, name = kernel.py_func.__module__, kernel.py_func.__qualname__
    found = getattr(sys.modules.get(module), name, None)
    return module.startswith("bunraku.") and getattr(found, "unit", found) is kernel


def compile_ahead(kernel: Any, signature: Any) -> Job | None:
    """Starts to compile a `kernel` for a `signature` in a worker process; None where it must be compiled in this one."""
    if _Here.is_worker or not sys.executable or not _within_reach(kernel):
        return None
    try:
        job = _workshop().submit(kernel.py_func.__module__, kernel.py_func.__qualname__, signature)
    except (pickle.PicklingError, AttributeError, TypeError):  # a type that cannot be pickled
        return None
    job.expected = job.expected or expected(kernel)
    return job


def compile_apart(kernel: Any, signature: Any) -> None:
    """Waits until a worker has compiled a `kernel` for a `signature`, or has failed to; shows the progress.

    Raises KeyboardInterrupt after `stop_waiting`.
    """
    if _Here.interrupted:
        raise KeyboardInterrupt
    job = compile_ahead(kernel, signature)
    if job is None:
        if not _Here.is_worker:
            announce.started(kernel.py_func.__name__)
        return
    with announce.compiling(job):
        while not job.over.wait(0.1):  # short waits, so that Ctrl-C works on Windows, too
            announce.tick(job)
    while job.warnings:
        complain(job.warnings.pop())
