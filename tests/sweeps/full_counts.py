"""1,000 runs of simulate and 100 each of optimize, plan, carry and climb, here and on a Dask cluster, while processes are killed.

    python -m tests.sweeps.full_counts [--simulate 1000] [--others 100] [--only carry] [--undisturbed]

Prints for each verb whether both tables are the same, how many runs were done more than once, and the overhead of a run, twice:

- in processor time, which does not depend on how busy the machine is: that of the process that sweeps, of the scheduler and of the
  workers, minus that of the runs. It is told by process, with two parts of it that are not work for a run: loading kernels, which
  each worker does once, and what the scheduler and the process that sweeps do when there is nothing to do, measured before.
- in time that passes, which means something only where nothing else runs: what the cores could have done during the sweep, minus
  the runs. It holds the processor time, and all waiting: for batches, for the disk, at the end for the last worker.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import psutil

import bunraku
from bunraku.kernels import clock
from bunraku.sweeps import Sweep, SweepOptions
from bunraku.sweeps.dispatcher import DispatchOptions
from bunraku.workers.dask_cluster import connection
from tests.dask_processes import Cluster, cluster
from tests.patience import until

ROOT = Path(__file__).parents[2]
TRAY = {
    "carry": "tray",
    "scene": {"scene": "hall", "obstacles": []},
    "object": {"shapes": [{"box": [1.5, 0.8, 0.06], "name": "slab"}], "tilt": 0.3, "heights": [0.6, 1.3]},
    "agents": {
        "left": {"kind": "rover", "holds": {"tool": {"at": [-0.62, 0, 0.05], "x": [0, 1, 0]}}},
        "right": {"kind": "rover", "holds": {"tool": {"at": [0.62, 0, 0.05], "x": [0, 1, 0]}}},
    },
    "area": [[-4, 4], [-3, 3]],
    "start": {"object": [-2, 0, 0.8], "yaw": "90 deg", "left": [-2, -1.2, "90 deg"], "right": [-2, 1.2, "-90 deg"]},
    "goal": {"object": [-1.2, 0, 0.8], "yaw": "90 deg", "left": [-1.2, -1.2, "90 deg"], "right": [-1.2, 1.2, "-90 deg"]},
    "samples": 24,
    "budget": "60 s",
}
SWING = {
    "optimize": "cart_pendulum", "duration": "0.4 s", "dt": "20 ms", "iterations": 5,
    "cost": [{"configuration": {"theta": 100, "x": 1}}, {"forces": 0.001}],
}  # fmt: skip
PENDULUM = {"simulate": "pendulum", "duration": "0.2 s", "start": {"angle": 1}}
ONE_BY_ONE = SweepOptions(dispatch=DispatchOptions(largest_batch=1, ahead=1))
SWEEPS: dict[str, tuple[Any, dict[str, Any]]] = {
    "simulate": (PENDULUM, {"over": {"start.angle": "-2:2", "figure.mass": "0.1:10:log"}}),
    "optimize": (SWING, {"over": {"cost.1.forces": "1e-4:1e-1:log", "figure.mass": "2:20"}}),
    "plan": ({"plan": "arm3d", "goal": {"points": {"tip": [0.05, 0.05, 0]}, "within": "30 cm"}, "budget": "20 s"}, {}),
    "carry": (TRAY, {}),
    "climb": ({"climb": "gecko", "path": [{"straight": "2 cm"}], "optimized": "false"}, {"over": {"stride": "4cm:8cm"}}),
}


def logged(result: Any) -> Mapping[str, Any]:
    """A measure that leaves a line for every run that is done, however often."""
    motion = getattr(result, "motion", result)
    line = f"{getattr(result, 'seed', None)} {motion.only.q[0].tolist() if len(motion.tracks) == 1 else ''} {motion.duration!r}"
    line += f" {motion.only.energy[0].tolist() if len(motion.tracks) == 1 and motion.only.energy is not None else result.columns()}"
    with Path(os.environ["RUN_LOG"]).open("a") as file:
        file.write(line + "\n")
    return {}


def swept(verb: str, count: int, store: Path, **options: Any) -> Sweep:
    order, more = SWEEPS[verb]
    how = {"seeds": count} if not more else {"samples": count}
    return bunraku.sweep(order, **more, **how, measure=logged, store=store, **options)


def without_times(found: Sweep) -> dict[str, list[Any]]:
    return {name: column for name, column in found.table.items() if not name.startswith("seconds")}


def compared(one: Sweep, other: Sweep) -> str:
    """Whether two tables are the same, but for times; or which columns and rows are not."""
    a, b = without_times(one), without_times(other)
    if a == b:
        return "identical"
    pairs = [(name, k, x, y) for name in a for k, (x, y) in enumerate(zip(a[name], b.get(name, a[name]), strict=False)) if x != y]
    return (
        f"DIFFERENT: columns {sorted(set(a) ^ set(b))}, {len(one)} and {len(other)} rows, {len(pairs)} cells, such as {pairs[:3]}"
    )


@dataclass(frozen=True)
class Spent:
    """Time that a sweep has taken [s]: of the process that sweeps with its ended children, of the scheduler, of the workers, on the
    wall, and of that of the workers to load kernels."""

    own: float
    scheduler: float
    workers: float
    wall: float
    loading: float

    @classmethod
    def now(cls, dask: Cluster | None, client: Any = None) -> Spent:
        scheduler = [dask.scheduler] if dask is not None else []
        loading = sum(client.run(loaded).values()) if client is not None else 0.0
        own = sum(os.times()[:4])
        return cls(own, cpu(scheduler), cpu(dask.workers if dask is not None else []), time.monotonic(), loading)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def total(self) -> float:
        return self.own + self.scheduler + self.workers


def cpu(processes: Iterable[subprocess.Popen[bytes] | None]) -> float:
    return sum(sum(psutil.Process(one.pid).cpu_times()[:2]) for one in processes if one is not None and one.poll() is None)


def loaded() -> float:
    """Processor time that this process has spent to load or compile kernels [s]."""
    return clock._Aside.seconds


def timed(work: Callable[[], Sweep], dask: Cluster | None = None, client: Any = None) -> tuple[Sweep, Spent]:
    """A sweep, and what it took."""
    before = Spent.now(dask, client)
    found = work()
    spent = Spent.now(dask, client) - before
    if bad := [row["why"] for row in found.rows.values() if row["outcome"] == "crashed"]:
        print(f"{len(bad)} runs crashed: {bad[0]}")
    return found, spent


def of_runs(found: Sweep) -> float:
    """Processor time of all runs of a sweep [s]."""
    return sum(row["seconds"].get("run", 0.0) for row in found.rows.values())


def idle(dask: Cluster, *, seconds: float = 10.0) -> float:
    """Processor time that the scheduler and a process connected to it take in a second in which they have nothing to do [s]."""
    with connection(dask.address):
        before = Spent.now(dask)
        time.sleep(seconds)
        spent = Spent.now(dask) - before
    return (spent.own + spent.scheduler) / spent.wall


def doubled() -> str:
    """How many runs the log has, and how many of them were done again."""
    lines = Counter(Path(os.environ["RUN_LOG"]).read_text().splitlines())
    Path(os.environ["RUN_LOG"]).write_text("")
    return f"{sum(lines.values())} runs done, {sum(lines.values()) - len(lines)} of them again"


def verbs(counts: Mapping[str, int], folder: Path, dask: Cluster) -> Iterator[str]:
    """Every verb here and on the cluster, undisturbed."""
    from distributed import Client

    with Client(dask.address) as client:  # connected all the time: it is part of what is measured as idle
        rest = idle(dask)
        for verb, count in counts.items():
            swept(verb, 24, folder / "warm", cluster=dask.address, options=ONE_BY_ONE)  # every worker loads its kernels
            first, start = timed(lambda: swept(verb, 2, folder / "start", workers=2))  # noqa: B023
            begin = start.total - of_runs(first)  # processor time to start the workers
            Path(os.environ["RUN_LOG"]).write_text("")
            here, local = timed(lambda: swept(verb, count, folder / "here", workers=2))  # noqa: B023
            told = doubled()
            there, spent = timed(lambda: swept(verb, count, folder / "there", cluster=dask.address), dask, client)  # noqa: B023
            ms, runs, work, good = 1e3 / count, of_runs(there), of_runs(here), sum(here.table["ok"])
            cores = min(len(dask.workers), os.cpu_count() or 1)
            yield f"{verb:<10}{count:>5} runs of {ms * work:.1f} ms, {good} ok; tables {compared(here, there)}"
            yield f"          here: {told}, overhead {ms * (local.total - begin - work):.1f} ms a run"
            yield f"          cluster: {doubled()}, overhead {ms * (spent.total - runs):.1f} ms of processor time a run:"
            yield f"            sweeping process {ms * spent.own:.1f}, scheduler {ms * spent.scheduler:.1f},"
            yield f"            workers beside their runs {ms * (spent.workers - runs):.1f};"
            yield f"            of all that, loading kernels {ms * spent.loading:.1f}, idle {ms * rest * spent.wall:.1f}"
            yield f"            ({1e3 * rest:.0f} ms a second); on the wall {spent.wall:.1f} s, in which {cores} cores had"
            yield f"            {ms * (cores * spent.wall - runs):.1f} ms a run besides the runs"


def killed_here(count: int, folder: Path) -> str:
    """The sweeping process is killed twice, and one of its workers once."""
    store, script = (
        folder / "killed",
        f"from tests.sweeps.full_counts import *; swept('simulate', {count}, Path('{folder / 'killed'}'), workers=2)",
    )
    for part in (0.3, 0.6):
        process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
        until(lambda: len(list(store.glob("*/*.json"))) > part * count)  # noqa: B023
        process.send_signal(signal.SIGKILL)
        process.wait()
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    until(lambda: len(list(store.glob("*/*.json"))) > 0.75 * count)
    workers = [child for child in psutil.Process(process.pid).children() if "spawn_main" in " ".join(child.cmdline())]
    workers[0].kill()
    assert process.wait() == 0
    same = compared(swept("simulate", count, store), swept("simulate", count, folder / "here"))
    return f"killed here: sweeping process twice, a worker once; {doubled()}; table {same}"


def killed_there(count: int, folder: Path, dask: Cluster) -> str:
    """A worker and then the scheduler are killed; both are started again."""
    store, out = folder / "lost", []
    thread = threading.Thread(target=lambda: out.append(swept("simulate", count, store, cluster=dask.address)))
    thread.start()
    until(lambda: len(list(store.glob("*/*.json"))) > 0.3 * count)
    dask.kill(dask.workers[0])
    until(lambda: len(list(store.glob("*/*.json"))) > 0.6 * count)
    dask.kill(dask.scheduler)
    for worker in dask.workers:
        if worker.poll() is None:
            dask.kill(worker)
    dask.start_scheduler()
    dask.start_worker()
    thread.join()
    same = compared(out[0], swept("simulate", count, folder / "here"))
    return f"killed there: a worker and the scheduler; {doubled()}; table {same}"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--simulate", type=int, default=1000)
    words.add_argument("--others", type=int, default=100)
    words.add_argument("--only", choices=SWEEPS, help="one verb, undisturbed")
    words.add_argument("--undisturbed", action="store_true", help="kill nothing")
    given = words.parse_args()
    counts = {verb: given.simulate if verb == "simulate" else given.others for verb in ([given.only] if given.only else SWEEPS)}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["RUN_LOG"] = str(folder / "runs.log")
        with cluster(folder, 3) as dask:
            for line in verbs(counts, folder, dask):
                print(line, flush=True)
            if given.only or given.undisturbed:
                return
            print(killed_here(given.simulate, folder), flush=True)
            print(killed_there(given.simulate, folder, dask), flush=True)
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    from tests.sweeps import full_counts  # under this name the workers find `logged`

    full_counts.main()
