"""Executors for many jobs: processes on this machine that survive a killed worker, or a Dask cluster.

Code that runs jobs uses only `concurrent.futures.Executor` and a `Flag`. Jobs are functions that can be pickled and that may
run twice: when a worker dies, another repeats its job.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

from bunraku.cleanup import TemporaryFolder
from bunraku.workers.dask_cluster import ClusterSecurity
from bunraku.workers.flags import ClusterFlag, FileFlag, Flag
from bunraku.workers.local_pool import Pool

__all__ = ["ClusterFlag", "ClusterSecurity", "FileFlag", "Flag", "Pool", "executor"]


@contextmanager
def executor(workers: int | None = None, *, cluster: str | None = None) -> Iterator[tuple[Executor, Flag]]:
    """An executor, and a flag that all its workers see; the flag is raised when the block ends.

    workers: how many processes; None: one for each core. Ignored for a cluster that is already running.
    cluster: address of a Dask scheduler ("tcp://10.0.0.5:8786"), or "local" to start one here; None uses processes here.
    Raises BunrakuError for fewer than one worker, or where no cluster answers; MissingExtra where Dask is not installed.
    """
    if cluster is not None:
        from bunraku.workers.dask_cluster import connected

        with connected(cluster, workers) as both:
            yield both
        return
    with TemporaryFolder() as folder, Pool(workers) as pool:
        flag = FileFlag(str(Path(folder) / "stop"))
        try:
            yield pool, flag
        finally:
            flag.set()
