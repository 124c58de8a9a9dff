"""1,000 runs of simulate and 100 each of optimize, plan, carry and climb, here and on a Dask cluster, while processes are killed.

    python -m tests.sweeps.full_counts [--simulate 1000] [--others 100]

Prints for each verb whether both tables are the same, how many runs were done more than once, and the overhead of a run: the
processor time of all processes that take part, minus that of the runs, and minus that of starting the workers. Dask's processes
also work a little when they have nothing to do; on a busy machine, where a sweep takes longer, this share is larger. It is measured
before, and told as `idle`.
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
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

import bunraku
from bunraku.sweeps import Sweep, SweepOptions
from bunraku.sweeps.dispatcher import DispatchOptions
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


def worked(pids: list[int]) -> float:
    """Processor time of some processes and of this one with its ended children [s]."""
    own = sum(os.times()[:4])
    return own + sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)


def overhead(work: Callable[[], Sweep], pids: list[int], start: float) -> tuple[Sweep, float]:
    """A sweep, and the overhead of each of its runs in milliseconds, without `start` seconds for the workers."""
    before = worked(pids)
    found = work()
    spent = worked(pids) - before - start
    if bad := [row["why"] for row in found.rows.values() if row["outcome"] == "crashed"]:
        print(f"{len(bad)} runs crashed: {bad[0]}")
    runs = sum(row["seconds"].get("run", 0.0) for row in found.rows.values())
    return found, 1e3 * (spent - runs) / len(found)


def idle(pids: list[int], *, seconds: float = 20.0) -> float:
    """Processor time that some processes take in a second in which they have nothing to do [s]."""
    before, begun = worked(pids), time.monotonic()
    time.sleep(seconds)
    return (worked(pids) - before) / (time.monotonic() - begun)


def doubled() -> str:
    """How many runs the log has, and how many of them were done again."""
    lines = Counter(Path(os.environ["RUN_LOG"]).read_text().splitlines())
    Path(os.environ["RUN_LOG"]).write_text("")
    return f"{sum(lines.values())} runs done, {sum(lines.values()) - len(lines)} of them again"


def verbs(counts: Mapping[str, int], folder: Path, dask: Cluster) -> Iterator[str]:
    """Every verb here and on the cluster, undisturbed."""
    pids = [process.pid for process in (*dask.workers, dask.scheduler) if process is not None]
    for verb, count in counts.items():
        swept(verb, 24, folder / "warm", cluster=dask.address, options=ONE_BY_ONE)  # so that every worker has loaded its kernels
        rest = idle(pids)
        first, start = overhead(lambda: swept(verb, 2, folder / "start", workers=2), [], 0.0)  # noqa: B023
        start = 1e-3 * start * len(first)
        Path(os.environ["RUN_LOG"]).write_text("")
        here, local = overhead(lambda: swept(verb, count, folder / "here", workers=2), [], start)  # noqa: B023
        told = doubled()
        begun = time.monotonic()
        there, remote = overhead(lambda: swept(verb, count, folder / "there", cluster=dask.address), pids, 0.0)  # noqa: B023
        waited = 1e3 * rest * (time.monotonic() - begun) / count
        same = compared(here, there)
        good = sum(here.table["ok"])
        mean = sum(row["seconds"].get("run", 0.0) for row in here.rows.values()) / count
        yield f"{verb:<10}{count:>5} runs of {1e3 * mean:.1f} ms, {good} ok; tables {same}"
        yield f"          here: {told}, overhead {local:.1f} ms a run"
        yield f"          cluster: {doubled()}, overhead {remote:.1f} ms a run, of which {waited:.1f} idle"


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
    given = words.parse_args()
    counts = {verb: given.simulate if verb == "simulate" else given.others for verb in ([given.only] if given.only else SWEEPS)}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["RUN_LOG"] = str(folder / "runs.log")
        with cluster(folder, 3) as dask:
            for line in verbs(counts, folder, dask):
                print(line, flush=True)
            if given.only:
                return
            print(killed_here(given.simulate, folder), flush=True)
            print(killed_there(given.simulate, folder, dask), flush=True)
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    from tests.sweeps import full_counts  # under this name the workers find `logged`

    full_counts.main()
