"""A Dask cluster as an executor."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from bunraku.errors import BunrakuError, MissingExtra
from bunraku.workers.flags import ClusterFlag


@contextmanager
def connected(address: str, workers: int | None) -> Iterator[tuple[Executor, ClusterFlag]]:
    """The executor of a cluster and a flag that its workers see; the flag is raised when the block ends.

    address: of the scheduler, or "local" to start a cluster here with that many `workers` (None: one for each core).
    Raises BunrakuError where no cluster answers, MissingExtra where Dask is not installed.
    """
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("distributed", "cluster", "a cluster") from None
    try:
        client = Client(n_workers=workers, threads_per_worker=1, dashboard_address=None) if address == "local" else Client(address)
    except (OSError, TimeoutError, ValueError) as error:  # no answer, or the address is malformed
        advice = "give the address of its scheduler, such as tcp://10.0.0.5:8786, or `local`"
        raise BunrakuError(f"no cluster answers at {address!r}: {error}\n  advice: {advice}") from None
    with client:
        flag = ClusterFlag(f"bunraku-{os.getpid()}-{id(client)}")
        try:
            yield client.get_executor(pure=False), flag
        finally:
            flag.set()
