"""Pool: worker processes on this machine; when one is killed, its job is repeated by another."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from bunraku.cleanup import at_end
from bunraku.errors import BunrakuError
from bunraku.workers.worker_process import pack, serve


@dataclass(eq=False)
class _Job:
    packed: bytes
    future: Future[Any] = field(default_factory=Future)
    lost: int = 0
    """How many workers died with it."""

    @property
    def needs_main(self) -> bool:
        """Whether it uses something that is defined in the script that runs."""
        return b"__main__" in self.packed


@dataclass(eq=False)
class _Worker:
    process: Any
    pipe: Connection
    has_main: bool
    """Whether it has imported the script that runs."""
    job: _Job | None = None


class Pool(Executor):
    """Worker processes on this machine. When one is killed, another repeats its job; the others are not disturbed.

    workers: how many; None: one for each core. They are started when there are jobs for them.
    tries: a job fails if so many workers die with it.
    lasting: whether it is never shut down; its processes, which cannot start others, then end with the program.
    Raises BunrakuError for fewer than one worker.
    """

    def __init__(self, workers: int | None = None, *, tries: int = 3, lasting: bool = False) -> None:
        if workers is not None and workers < 1:
            raise BunrakuError(f"{workers} workers are not possible\n  advice: give one or more")
        self.workers, self.tries, self._lasting = workers or os.cpu_count() or 1, tries, lasting
        self._lock, self._closed = threading.RLock(), False
        self._waiting: deque[_Job] = deque()
        self._working: list[_Worker] = []
        self._ear, self._mouth = multiprocessing.get_context("spawn").Pipe(duplex=False)
        """The two ends of a pipe that wakes the thread below."""
        self._idle = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._supervise, name="bunraku-pool", daemon=True)
        self._thread.start()
        self._ended = at_end(self.kill)

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes that run now."""
        with self._lock:
            return tuple(worker.process.pid for worker in self._working)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The future of `fn(*args, **kwargs)`, called by a worker; called again by another if that worker dies."""
        try:
            job = _Job(pack((fn, args, kwargs)))
        except Exception as error:  # noqa: BLE001 (whatever pickle says, the future says it)
            job = _Job(b"")
            job.future.set_exception(error)
            return job.future
        with self._lock:
            if self._closed:
                job.future.cancel()
                return job.future
            self._waiting.append(job)
            self._wake()
        return job.future

    def kill(self) -> None:
        """Ends the processes at once and cancels all jobs; new jobs start new processes."""
        with self._lock:
            dropped = [*self._waiting, *(worker.job for worker in self._working if worker.job is not None)]
            old = list(self._working)
            self._waiting.clear()
            self._working.clear()
            self._idle.notify_all()
        for worker in old:
            worker.process.kill()
            worker.pipe.close()
        for worker in old:
            worker.process.join()
        for job in dropped:
            _cancel(job.future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the processes. `wait`: only return when all jobs are done; `cancel_futures`: drop jobs that have not begun."""
        with self._lock:
            self._closed = True
            dropped = list(self._waiting) if cancel_futures else []
            if cancel_futures:
                self._waiting.clear()
        for job in dropped:
            _cancel(job.future)
        with self._idle:
            while wait and (self._waiting or any(worker.job is not None for worker in self._working)):
                self._idle.wait()
            self._wake()
        if wait:
            self._thread.join()
            self._ended()

    # -- the thread that hands out jobs and takes in results ------------------------------------------------------

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._mouth.send_bytes(b"")

    def _supervise(self) -> None:
        while True:
            with self._lock:
                self._hand_out()
                pipes = {worker.pipe: worker for worker in self._working if not worker.pipe.closed}
                if self._closed and not self._waiting and all(worker.job is None for worker in self._working):
                    break
            with contextlib.suppress(OSError):  # a pipe that `kill` closed meanwhile
                for ready in wait([self._ear, *pipes], timeout=None):
                    if ready is self._ear:
                        self._ear.recv_bytes()
                    elif isinstance(ready, Connection):
                        self._take_in(pipes[ready])
        for worker in self._working:
            worker.pipe.close()  # which ends its process
        for worker in self._working:
            worker.process.join()
        self._ear.close()
        self._mouth.close()

    def _hand_out(self) -> None:
        """Gives every idle worker a job; starts more workers while jobs wait."""
        while self._waiting:
            main = self._waiting[0].needs_main
            idle = [own for own in self._working if own.job is None]
            worker = next((own for own in idle if own.has_main or not main), None)
            if worker is None and idle and len(self._working) == self.workers:
                self._bury(idle[0])  # makes room for one that has imported the script
            if worker is None and len(self._working) < self.workers:
                worker = self._started(main)
            if worker is None:
                return
            job = self._waiting.popleft()
            if job.future.cancelled():
                _cancel(job.future)
                continue
            worker.job = job
            try:
                worker.pipe.send_bytes(job.packed)
            except OSError:  # it has died
                self._bury(worker)

    def _started(self, main: bool) -> _Worker:
        """A new worker. It imports the script that runs only if a job needs it: scripts need no `if __name__ == "__main__"`."""
        spawn = multiprocessing.get_context("spawn")
        here, there = spawn.Pipe()
        process = spawn.Process(target=serve, args=(there,), name="bunraku-worker", daemon=self._lasting)
        _block_interrupts()
        with contextlib.nullcontext() if main else _no_main():
            process.start()
        there.close()
        worker = _Worker(process, here, main)
        self._working.append(worker)
        return worker

    def _take_in(self, worker: _Worker) -> None:
        """Reads what a worker sends: a result, an exception, or its end."""
        try:
            answer = worker.pipe.recv_bytes()
        except (EOFError, OSError):
            with self._lock:
                if worker in self._working:
                    self._bury(worker)
            return
        job, worker.job = worker.job, None
        assert job is not None
        try:
            good, value = pickle.loads(answer)
        except Exception as error:  # noqa: BLE001 (a class that can be packed and not unpacked)
            good, value = False, error
        _settle(job.future, good, value)
        with self._lock:
            self._idle.notify_all()

    def _bury(self, worker: _Worker) -> None:
        """Removes a dead worker; its job is repeated, unless it took too many workers with it."""
        self._working.remove(worker)
        worker.pipe.close()
        worker.process.kill()
        worker.process.join()
        job, worker.job = worker.job, None
        if job is None:
            return
        job.lost += 1
        if job.lost < self.tries:
            self._waiting.appendleft(job)
            return
        died = BunrakuError(f"a job failed: {self.tries} workers died\n  advice: is there enough memory?")
        _settle(job.future, False, died)
        self._idle.notify_all()


def _block_interrupts() -> None:
    """Processes that this thread starts do not hear Ctrl-C, from their first instruction on: they inherit what it blocks."""
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # before: where Python starts this process of its own, it unblocks the signal
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@contextlib.contextmanager
def _no_main() -> Iterator[None]:
    """Processes that are started in the block do not import the script that runs, which might start processes itself."""
    real = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = real


def _settle(future: Future[Any], good: bool, value: Any) -> None:
    """Gives a `future` its result or its exception; whoever waits for a cancelled one is told."""
    try:
        future.set_result(value) if good else future.set_exception(value)
    except InvalidStateError:
        _cancel(future)


def _cancel(future: Future[Any]) -> None:
    """Cancels a `future` that is not done, whether its job has begun or not, and tells whoever waits for it."""
    with contextlib.suppress(InvalidStateError):
        if future.cancel() and future._state == "CANCELLED":  # and nobody was told yet
            future.set_running_or_notify_cancel()
