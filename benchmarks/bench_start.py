"""How long a fresh install takes until its first simulation is done, how long the next process takes, and what the opening show
compiles."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time

FIRST, NEXT = 60.0, 2.0  # [s] that are wanted
NOTES = {
    "start.first_s": f"empty cache: import, compile, simulate marionette25 for a second; wanted < {FIRST:g}",
    "start.first_cpu_s": "the same in processor time, of all processes; wanted < 20",
    "start.next_s": f"the same again in a new process, kernels from disk; wanted < {NEXT:g}",
    "start.next_cpu_s": "the same in processor time",
    "start.show_compile_cpu_s": "processor time of opening every entry of the show, empty cache less full one; wanted < 60",
}
PROGRAM = "from bunraku import library, simulate; simulate(library.marionette25(), duration=1.0)"

SHOW = """
from bunraku.stage.stage import Stage
from bunraku.teleop import opening_show
stage = Stage(opening_show())
for key in stage.entries:
    stage.described(key)
    getattr(stage.opened(key), "step", lambda: None)()
"""


def bench_show() -> dict[str, float]:
    """Twice, with a cache folder of its own: what takes longer the first time is compiling."""
    with tempfile.TemporaryDirectory() as folder:
        first, again = _run(folder, SHOW), _run(folder, SHOW)
    return {"start.show_compile_cpu_s": first[1] - again[1]}


def bench_start() -> dict[str, float]:
    """With a cache folder of its own; the message that compiling takes a while must be seen, once."""
    with tempfile.TemporaryDirectory() as folder:
        first, first_cpu, said = _run(folder)
        again = [_run(folder) for _ in range(3)]
    if "compiling kernels" not in said or any("compiling" in text for _, _, text in again):
        raise RuntimeError(f"compiling is announced once, by the first process: {said!r}")
    return {
        "start.first_s": first, "start.first_cpu_s": first_cpu,
        "start.next_s": min(wall for wall, _, _ in again), "start.next_cpu_s": min(cpu for _, cpu, _ in again),
    }  # fmt: skip


def _run(cache: str, program: str = PROGRAM) -> tuple[float, float, str]:
    """Seconds by the clock, of processor time, and what was said."""
    if sys.platform == "linux":  # processes that outlive their parent become ours, so that their processor time counts
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"XDG_CACHE_HOME": cache, "HOME": cache, "LOCALAPPDATA": cache}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    wall = time.perf_counter() - start
    with contextlib.suppress(ChildProcessError):
        for _ in range(100):  # until the processes that have compiled are gone, too
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.05)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr
