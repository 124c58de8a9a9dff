"""Crews: who does the runs of a sweep. A pool of processes on this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import queue
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from bunraku.sweeps.run_batch import Answer, Batch, Luggage, run_batch
from bunraku.workers import ClusterSecurity, Pool
from bunraku.workers.dask_cluster import connection
from bunraku.workers.flags import ClusterFlag

Delivery = tuple[Batch, Answer | BaseException]
"""What became of a batch: an answer, or the reason why there is none."""


class CrewLost(Exception):
    """The cluster does not answer any more."""


class Crew(ABC):
    """Takes batches, and delivers what became of them, in any order."""

    def __init__(self) -> None:
        self._deliveries: queue.SimpleQueue[Delivery] = queue.SimpleQueue()

    @abstractmethod
    def size(self) -> int:
        """How many batches can run at the same time; it may change."""

    @abstractmethod
    def send(self, batch: Batch, luggage: Luggage | None) -> None:
        """Gives a `batch` to a worker, with the `luggage` if the worker may not have it. Raises CrewLost."""

    def next(self, seconds: float) -> Delivery | None:
        """What became of a batch; None if nothing comes within some `seconds`. Raises CrewLost."""
        try:
            return self._deliveries.get(timeout=seconds)
        except queue.Empty:
            return None

    @abstractmethod
    def stop(self) -> None:
        """Ends the runs that are under way."""


class LocalCrew(Crew):
    """The processes of a `pool` on this machine."""

    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self.pool = pool

    def size(self) -> int:
        """The number of processes."""
        return self.pool.workers

    def send(self, batch: Batch, luggage: Luggage | None) -> None:
        """Gives a `batch` to a process, with the `luggage` if it is given."""
        future = self.pool.submit(run_batch, batch, luggage)
        future.add_done_callback(lambda done: self._deliveries.put((batch, _outcome_of(done))))

    def stop(self) -> None:
        """Kills the processes."""
        self.pool.kill()


class ClusterCrew(Crew):
    """The workers of a Dask cluster: Dask's `client` of it, and a `flag` that stops them."""

    def __init__(self, client: Any, flag: ClusterFlag) -> None:
        super().__init__()
        self.client, self.flag = client, flag
        self._futures: dict[int, Any] = {}
        self._size, self._asked = 0, -1e9

    def size(self) -> int:
        """The number of threads of all workers that are connected now."""
        if time.monotonic() - self._asked > 2.0:
            self._check()
            try:
                self._size = sum(self.client.nthreads().values())
            except Exception as error:  # noqa: BLE001 (many kinds, all of them mean that nobody answers)
                raise CrewLost(str(error)) from None
            self._asked = time.monotonic()
        return self._size

    def send(self, batch: Batch, luggage: Luggage | None) -> None:
        """Gives a `batch` to a worker, with the `luggage` if it is given. Raises CrewLost."""
        self._check()
        try:
            future = self.client.submit(run_batch, batch, luggage, self.flag, pure=False)
        except Exception as error:  # noqa: BLE001 (many kinds, all of them mean that nobody answers)
            raise CrewLost(str(error)) from None
        self._futures[id(batch)] = future
        future.add_done_callback(lambda done: self._deliveries.put((batch, _outcome_of(done))))

    def next(self, seconds: float) -> Delivery | None:
        """What became of a batch; None if nothing comes within some `seconds`. Raises CrewLost if the scheduler is gone."""
        got = super().next(seconds)
        if got is None or isinstance(got[1], CancelledError):
            self._check(lost=got is not None)
        else:
            self._futures.pop(id(got[0]), None)
        return got

    def stop(self) -> None:
        """Drops batches that have not begun, and stops those that have at their next report of progress."""
        with contextlib.suppress(Exception):
            self.flag.set()
            self.client.cancel(list(self._futures.values()))

    def _check(self, *, lost: bool = False) -> None:
        if lost or self.client.status != "running":
            raise CrewLost("the scheduler does not answer")


def _outcome_of(future: Any) -> Answer | BaseException:
    try:
        answer = future.result()
    except (Exception, CancelledError) as error:  # noqa: BLE001 (what a run raised, or what became of its worker)
        return error
    return answer if isinstance(answer, Answer) else TypeError(f"a worker answered {answer!r}")


@contextmanager
def local_crew(workers: int | None) -> Iterator[Crew]:
    """A crew of so many processes on this machine (`workers`); None for one on each core."""
    with Pool(workers) as pool:
        crew = LocalCrew(pool)
        try:
            yield crew
        except BaseException:
            pool.kill()
            raise


@contextmanager
def cluster_crew(address: str, workers: int | None, security: ClusterSecurity | None) -> Iterator[Crew]:
    """The crew of the cluster at an `address`, or of a new one with so many `workers` on this machine if it is "local".

    security: certificates for an address that begins with tls://.
    Raises BunrakuError where no cluster answers, MissingExtra where Dask is not installed.
    """
    with connection(address, workers, security) as (client, flag):
        crew = ClusterCrew(client, flag)
        try:
            yield crew
        except BaseException:
            crew.stop()
            raise
