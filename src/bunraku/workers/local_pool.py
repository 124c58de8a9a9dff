"""Pool: worker processes on this machine; when one is killed, its job is repeated."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
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

    def _fresh(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, mp_context=multiprocessing.get_context("spawn"))

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
            try:
                inner = pool.submit(job.function, *job.args, **job.options)
            except BrokenProcessPool:
                pool = self._pool = self._fresh()
                inner = pool.submit(job.function, *job.args, **job.options)
        inner.add_done_callback(lambda done: self._done(job, pool, done))

    def _done(self, job: _Job, pool: ProcessPoolExecutor, inner: Future[Any]) -> None:
        if inner.cancelled():
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

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the processes. `wait`: only return when all jobs are done; `cancel_futures`: drop jobs that have not begun."""
        with self._lock:
            self._closed = True
            pool = self._pool
        pool.shutdown(wait=wait, cancel_futures=cancel_futures)
