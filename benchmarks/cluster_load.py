"""What a large sweep on a large cluster would take, and what breaks first.

    python -m benchmarks.cluster_load --measure     # costs of a batch, on a real scheduler with workers that only sleep
    python -m benchmarks.cluster_load               # a simulation of 1,000 cores with the costs that were measured

Two processes serve all cores one batch at a time: the scheduler, and the process that sweeps. Each is a queue with one server.
"""

from __future__ import annotations

import argparse
import heapq
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Costs:
    """Processor time, measured on one core of a small virtual machine [s]."""

    scheduler: float = 5.0e-3
    """Of the scheduler, for a batch."""
    sweep: float = 3.5e-3
    """Of the process that sweeps, for a batch: sending, receiving."""
    row: float = 0.6e-3
    """Of the process that sweeps, for a run: storing it, if the workers do not see the store."""


@dataclass(frozen=True)
class Load:
    """A sweep."""

    runs: int
    seconds: float
    """Processor time of a run [s]."""
    cores: int
    batch: int
    """Runs in a batch."""
    shared: bool = True
    """Whether the workers store the results."""
    ahead: int = 2
    """Batches that every worker has, the one it works on included."""


@dataclass(frozen=True)
class Took:
    """What a simulated sweep took."""

    seconds: float
    """From the first batch to the last result [s]."""
    busy: float
    """Share of the time in which the cores worked."""
    scheduler: float
    """Share of the time in which the scheduler worked."""
    sweep: float
    """Share of the time in which the process that sweeps worked."""


def simulated(load: Load, costs: Costs) -> Took:
    """A sweep, batch by batch: the sweeping process sends, the scheduler passes on, a core works, and all the way back."""
    batches, each = -(-load.runs // load.batch), load.batch * load.seconds
    kept = 0.0 if load.shared else costs.row * load.batch
    free = {"sweep": 0.0, "scheduler": 0.0}
    spent = {"sweep": 0.0, "scheduler": 0.0}

    def served(who: str, at: float, cost: float) -> float:
        free[who] = max(free[who], at) + cost
        spent[who] += cost
        return free[who]

    cores = [0.0] * load.cores  # when each is free
    heapq.heapify(cores)
    events: list[tuple[float, int, str]] = []
    count = 0

    def later(at: float, what: str) -> None:
        nonlocal count
        count += 1
        heapq.heappush(events, (at, count, what))

    sent = min(batches, load.ahead * load.cores)
    for _ in range(sent):
        later(0.0, "send")
    end = 0.0
    while events:
        at, _, what = heapq.heappop(events)
        if what == "send":
            later(served("sweep", at, 0.5 * costs.sweep), "assign")
        elif what == "assign":
            later(served("scheduler", at, 0.5 * costs.scheduler), "work")
        elif what == "work":
            done = max(heapq.heappop(cores), at) + each
            heapq.heappush(cores, done)
            later(done, "report")
        elif what == "report":
            later(served("scheduler", at, 0.5 * costs.scheduler), "receive")
        else:
            end = served("sweep", at, 0.5 * costs.sweep + kept)
            if sent < batches:
                sent += 1
                later(end, "send")
    work = load.runs * load.seconds
    return Took(end, work / (end * load.cores), spent["scheduler"] / end, spent["sweep"] / end)


# -- measured on a real scheduler ------------------------------------------------------------------------------------


def _sleep(seconds: float, payload: bytes) -> bytes:
    time.sleep(seconds)
    return payload


def measured(cores: int, batches: int, seconds: float) -> tuple[float, float]:
    """Processor time of a real scheduler and of a client for a batch [s]; the workers' threads only sleep."""
    import psutil
    from distributed import Client, as_completed

    with tempfile.TemporaryDirectory() as folder:
        dask = str(Path(sys.executable).parent / "dask")
        file = Path(folder) / "scheduler.json"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        where = ["--scheduler-file", str(file), "--no-dashboard"]
        scheduler = subprocess.Popen([dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *where], env=environment, **quiet)  # type: ignore[call-overload]
        threads = ["--nthreads", str(cores // 4), "--no-nanny"]
        workers = [subprocess.Popen([dask, "worker", *where, *threads], env=environment, **quiet) for _ in range(4)]  # type: ignore[call-overload]
        try:
            with Client(scheduler_file=str(file), timeout=120) as client:
                client.wait_for_workers(4, timeout=300)
                for future in client.map(_sleep, [0.01] * cores, [b"x"] * cores, pure=False):
                    future.result()
                before = sum(psutil.Process(scheduler.pid).cpu_times()[:2]), time.process_time()
                waiting = as_completed([client.submit(_sleep, seconds, os.urandom(2000), pure=False) for _ in range(2 * cores)])
                left = batches - 2 * cores
                for future in waiting:
                    future.result()
                    if left > 0:
                        left -= 1
                        waiting.add(client.submit(_sleep, seconds, os.urandom(2000), pure=False))
                after = sum(psutil.Process(scheduler.pid).cpu_times()[:2]), time.process_time()
        finally:
            for process in (*workers, scheduler):
                process.kill()
                process.wait()
    return (after[0] - before[0]) / batches, (after[1] - before[1]) / batches


def told(costs: Costs) -> Iterator[str]:
    """A table of simulated sweeps."""
    yield f"{'runs':>9}{'a run':>9}{'cores':>7}{'batch':>7}{'takes':>11}{'cores':>8}{'scheduler':>11}{'sweep':>8}"
    primitives = Load(100_000, 0.3, 1000, 1)
    trees = Load(10_000, 10.0, 1000, 1)
    for load in (
        primitives, replace(primitives, batch=8), replace(primitives, batch=33), replace(primitives, batch=33, shared=False),
        replace(primitives, runs=1_000_000, batch=33), trees, replace(trees, cores=10_000), replace(primitives, cores=100),
    ):  # fmt: skip
        took = simulated(load, costs)
        shares = f"{took.busy:>8.0%}{took.scheduler:>11.0%}{took.sweep:>8.0%}"
        yield f"{load.runs:>9,}{load.seconds:>7g} s{load.cores:>7,}{load.batch:>7}{took.seconds:>9.0f} s{shares}"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--measure", action="store_true")
    if words.parse_args().measure:
        for cores in (16, 64, 256):
            scheduler, client = measured(cores, max(600, 6 * cores), 0.5)
            print(f"{cores:>4} cores: scheduler {1e3 * scheduler:.2f} ms, client {1e3 * client:.2f} ms a batch", flush=True)
    else:
        print(*told(Costs()), sep="\n")


if __name__ == "__main__":
    main()
