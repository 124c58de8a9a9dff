"""Executors for many jobs: processes on this machine that survive a killed worker, or a Dask cluster.

Library code knows only `concurrent.futures.Executor`. Jobs must be functions that can be pickled, and that may be done again:
the work of a worker that dies is given to another.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bunraku.errors import BunrakuError, MissingExtra

TRIES = 5  # that a job may be lost with its worker before it is given up


class Flag(Protocol):
    """Raised once, seen by all workers."""

    def set(self) -> None: ...
    def is_set(self) -> bool: ...


@dataclass(frozen=True)
class FileFlag:
    """A flag on this machine: raised when the file exists."""

    path: str

    def set(self) -> None:
        Path(self.path).touch()

    def is_set(self) -> bool:
        return os.path.exists(self.path)  # noqa: PTH110 (asked thousands of times)


@dataclass(frozen=True)
class ClusterFlag:
    """A flag that lives on the scheduler of a cluster."""

    name: str

    def _event(self) -> Any:
        from distributed import Event

        return Event(self.name)

    def set(self) -> None:
        self._event().set()

    def is_set(self) -> bool:
        return bool(self._event().is_set())


@dataclass(eq=False)
class _Job:
    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any]
    future: Future[Any] = field(default_factory=Future)
    tries: int = TRIES


class Pool(Executor):
    """Processes on this machine. When one is killed, all unfinished jobs are done again by new ones."""

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise BunrakuError(f"{workers} workers\n  advice: give one or more")
        self.workers = workers or os.cpu_count() or 1
        self._lock, self._closed = threading.RLock(), False
        self._pool = self._fresh()

    def _fresh(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, mp_context=multiprocessing.get_context("spawn"))

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the processes that run now."""
        return tuple(self._pool._processes or ())

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A call that some worker will make, again where a worker is lost."""
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
            job.tries -= 1
            if job.tries > 0:
                self._send(job)
            else:
                job.future.set_exception(BunrakuError(f"a job lost {TRIES} workers\n  advice: is there enough memory?"))
        elif error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(inner.result())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._closed = True
            pool = self._pool
        pool.shutdown(wait=wait, cancel_futures=cancel_futures)


@contextmanager
def executor(workers: int | None = None, *, cluster: str | None = None) -> Iterator[tuple[Executor, Flag]]:
    """An executor, and a flag that its workers see: processes here, or the Dask cluster at an address (`"local"` starts one)."""
    if cluster is None:
        with tempfile.TemporaryDirectory(prefix="bunraku-") as folder, Pool(workers) as pool:
            flag = FileFlag(str(Path(folder) / "stop"))
            try:
                yield pool, flag
            finally:
                flag.set()
        return
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("distributed", "cluster", "a cluster") from None
    try:
        client = Client(n_workers=workers, threads_per_worker=1, dashboard_address=None) if cluster == "local" else Client(cluster)
    except (OSError, TimeoutError) as error:
        raise BunrakuError(f"no cluster answers at {cluster}: {error}\n  advice: give the address of its scheduler") from None
    with client:
        shared = ClusterFlag(f"bunraku-{os.getpid()}-{id(client)}")
        try:
            yield client.get_executor(pure=False), shared
        finally:
            shared.set()
