"""A real Dask cluster of separate processes on loopback, for tests: a scheduler and workers, started, killed and restarted."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tests.patience import until

ROOT = Path(__file__).parents[1]
QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",  # its profiler would look at every run a hundred times a second
    "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "warning",
    "PYTHONUNBUFFERED": "1",
}


class Cluster:
    """A scheduler and workers; `log` collects what they print."""

    def __init__(self, folder: Path, *, protocol: str = "tcp", options: tuple[str, ...] = ()) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.protocol, self.options = folder, protocol, options
        self.log = folder / "dask.log"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler: subprocess.Popen[bytes] | None = None
        self._open: list[IO[bytes]] = []

    @property
    def address(self) -> str:
        return f"{self.protocol}://127.0.0.1:{self.port}"

    def _started(self, *words: str) -> subprocess.Popen[bytes]:
        out = self.log.open("ab")
        self._open.append(out)
        command = [str(Path(sys.executable).parent / "dask"), *words]
        return subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            env=os.environ | QUIET | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            cwd=self.folder,
        )

    def start_scheduler(self) -> None:
        where = ("--host", "127.0.0.1", "--port", str(self.port), "--protocol", self.protocol, "--no-dashboard")
        self.scheduler = self._started("scheduler", *where, *self.options)
        until(lambda: _answers(self.port))

    def start_worker(self, *options: str) -> subprocess.Popen[bytes]:
        quiet = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60", "--local-directory", str(self.folder))
        worker = self._started("worker", self.address, *quiet, *(options or self.options))
        self.workers.append(worker)
        return worker

    def kill(self, process: subprocess.Popen[bytes] | None) -> None:
        assert process is not None
        process.send_signal(signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process is not None and process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    self.kill(process)
        for file in self._open:
            file.close()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def cluster(folder: Path, workers: int = 3, *, protocol: str = "tcp", options: tuple[str, ...] = ()) -> Iterator[Cluster]:
    """A running cluster with so many workers, whose files are in `folder`."""
    own = Cluster(folder, protocol=protocol, options=options)
    try:
        own.start_scheduler()
        for _ in range(workers):
            own.start_worker()
        yield own
    finally:
        own.close()
