"""Pool: worker processes on this machine; when one is killed, its job is repeated."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bunraku.errors import BunrakuError


@dataclass(eq=False)
class _Job:
    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any]
    future: Future[Any] = field(default_factory=Future)
    lost: int = 0
    """How often a worker died before it was done."""


class _Processes(ProcessPoolExecutor):
    killed = False
    """Whether unfinished jobs are dropped."""


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that are started in the block do not receive Ctrl-C: the process that started them decides what happens."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Pool(Executor):
    """Worker processes on this machine. When one is killed, new ones repeat all unfinished jobs.

    workers: how many; None: one for each core.
    tries: a job fails if it is still unfinished after so many deaths of a worker, its own or another.
    Raises BunrakuError for fewer than one worker.
    """

    def __init__(self, workers: int | None = None, *, tries: int = 5) -> None:
        if workers is not None and workers < 1:
            raise BunrakuError(f"{workers} workers are not possible\n  advice: give one or more")
        self.workers, self.tries = workers or os.cpu_count() or 1, tries
        self._lock, self._closed = threading.RLock(), False
        self._pool = self._fresh()

    def _fresh(self) -> _Processes:
        return _Processes(self.workers, mp_context=multiprocessing.get_context("spawn"))

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes that run now."""
        return tuple(self._pool._processes or ())

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The future of `fn(*args, **kwargs)`, called by a worker; called again if a worker dies."""
        job = _Job(fn, args, kwargs)
        self._send(job)
        return job.future

    def _send(self, job: _Job) -> None:
        with self._lock:
            if self._closed:
                job.future.cancel()
                return
            pool = self._pool
            with _without_interrupts():
                try:
                    inner = pool.submit(job.function, *job.args, **job.options)
                except BrokenProcessPool:
                    pool = self._pool = self._fresh()
                    inner = pool.submit(job.function, *job.args, **job.options)
        inner.add_done_callback(lambda done: self._done(job, pool, done))

    def _done(self, job: _Job, pool: _Processes, inner: Future[Any]) -> None:
        if inner.cancelled() or pool.killed:
            job.future.cancel()
            return
        error = inner.exception()
        if isinstance(error, BrokenProcessPool):
            with self._lock:
                if self._pool is pool and not self._closed:
                    self._pool = self._fresh()
            job.lost += 1
            if job.lost < self.tries:
                self._send(job)
            else:
                job.future.set_exception(
                    BunrakuError(f"a job failed: {self.tries} workers died\n  advice: is there enough memory?")
                )
        elif error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(inner.result())

    def kill(self) -> None:
        """Ends the processes at once and cancels their jobs; new jobs start new processes."""
        with self._lock:
            old, self._pool = self._pool, self._fresh()
        old.killed = True
        for process in list((old._processes or {}).values()):
            process.kill()
        old.shutdown(wait=True, cancel_futures=True)  # frees its semaphores

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the processes. `wait`: only return when all jobs are done; `cancel_futures`: drop jobs that have not begun."""
        with self._lock:
            self._closed = True
            pool = self._pool
        pool.shutdown(wait=wait, cancel_futures=cancel_futures)
