"""Errands of *carrying*: how many seeds arrive within their budgets, what each stage takes, and OMPL's RRTConnect beside ours.

`python -m benchmarks.bench_carrying 100` prints the whole table with so many seeds, on all cores; `--cluster ADDRESS` elsewhere.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.bench_roadmap import ompl_times
from benchmarks.table import Ratio
from bunraku.ensemble.carry import CARRY_STAGES, carry
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.errand_file import load_errand
from bunraku.planning.ways.rrt_connect import connect
from bunraku.workers import executor

SEEDS = 4
STAGE_LIMITS = {"roadmap": 5.0, "query": 0.5, "timing": 0.1, "locomotion": 0.1, "manipulation": 0.05, "tuning": 2.0}
"""Of the factory with 268 samples [s]."""
PAPER = {"roadmap": 31.4, "query": 6.5, "timing": 2.1, "locomotion": 0.8, "manipulation": 0.4, "tuning": 5.7}


@dataclass(frozen=True)
class Row:
    """A line of the table: an errand, its samples, the processor time it may take [s], how many seeds must arrive."""

    errand: str
    samples: int
    seconds: float
    share: float
    clearance: float


ROWS = (
    Row("factory", 268, 10.0, 0.98, 0.01), Row("factory", 530, 10.0, 0.98, 0.01), Row("factory_door", 268, 30.0, 0.95, 0.005),
    Row("living_room", 78, 5.0, 0.98, 0.01), Row("living_room", 151, 5.0, 0.98, 0.01), Row("ramp", 400, 60.0, 0.9, 0.01),
    Row("ramp_people", 400, 60.0, 0.9, 0.01),
)  # fmt: skip

RATIOS = {
    "carrying.failed_ratio": Ratio("carrying.failed_count", "carrying.runs_count", at_most=0.05),
    "carrying.samples_planning_ratio": Ratio("carrying.planning_530_us", "carrying.planning_268_us", at_most=1.5),
    "carrying.first_path_ratio": Ratio("carrying.first_path_us", "ompl.carrying_us", at_most=1.0),
    **{
        f"carrying.{stage}_ratio": Ratio(f"carrying.{stage}_us", f"carrying.{stage}_limit_us", at_most=1.0)
        for stage in STAGE_LIMITS
    },
}
NOTES = {
    "carrying.failed_count": f"of {SEEDS} seeds of each errand: not there within its budget, or refused by the rechecker",
    "carrying.planning_268_us": "roadmap, query and timing of the factory, median",
    "carrying.planning_530_us": "the same with twice the samples",
    "carrying.first_path_us": "the trees of the factory's errand, median",
    "ompl.carrying_us": "RRTConnect on the same space with our proof of edges, median; a run that found nothing counts as 10 s",
    **{f"carrying.{stage}_us": f"factory, 268 samples, median; the paper's took {theirs} s" for stage, theirs in PAPER.items()},
}


@dataclass(frozen=True)
class Result:
    """What became of one seed."""

    seed: int
    fine: bool
    seconds: dict[str, float]
    clearance: float
    text: str

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


@functools.cache
def _ready(name: str) -> Errand:
    """An errand whose space is built and whose kernels are loaded, as they are once in a process."""
    errand = load_errand(name)
    carry(errand, seed=12_345)
    return errand


def run(row: Row, seed: int) -> Result:
    errand = replace(_ready(row.errand), budget=row.seconds)
    errand.__dict__["space"] = _ready(row.errand).space
    begun = time.process_time()
    done = carry(errand, seed=seed, samples=row.samples)
    spent, verdict = time.process_time() - begun, done.verdict
    clear = 0.0 if verdict is None else verdict.clearance
    fine = done.outcome.ok and spent <= row.seconds and clear >= row.clearance - 1e-6
    return Result(seed, fine, dict(done.seconds), clear, str(done.outcome))


def results(row: Row, seeds: int, *, cluster: str | None = None) -> list[Result]:
    with executor(cluster=cluster) as (pool, _):
        return list(pool.map(run, [row] * seeds, range(seeds)))


def bench_table() -> dict[str, float]:
    failed = count = 0
    out: dict[str, float] = {}
    for row in ROWS:
        done = results(row, SEEDS)
        count += len(done)
        failed += sum(not one.fine for one in done)
        planning = float(np.median([sum(one.seconds[stage] for stage in CARRY_STAGES[:3]) for one in done]))
        if row.errand == "factory":
            out[f"carrying.planning_{row.samples}_us"] = 1e6 * planning
        if row is ROWS[0]:
            for stage, limit in STAGE_LIMITS.items():
                out[f"carrying.{stage}_us"] = 1e6 * float(np.median([one.seconds[stage] for one in done]))
                out[f"carrying.{stage}_limit_us"] = 1e6 * limit
    return out | {"carrying.failed_count": float(failed), "carrying.runs_count": float(count)}


def bench_ompl() -> dict[str, float]:
    errand = load_errand("factory")
    space = errand.space
    ends = [space.configuration(q, "an end") for q in (errand.start, errand.goal)]
    connect(space, *ends, seed=0)  # compiles
    times = [connect(space, *ends, seed=seed).seconds for seed in range(5)]
    theirs = ompl_times(of=(space, errand.start, errand.goal), seeds=5)
    return {"carrying.first_path_us": 1e6 * float(np.median(times)), "ompl.carrying_us": 1e6 * float(np.median(theirs))}


def table(seeds: int, cluster: str | None) -> Iterator[str]:
    """Line by line, as they are done."""
    yield f"{'errand':<14}{'samples':>8}{'budget':>9}{'arrived':>12}{'median':>9}{'worst':>9}{'least clearance':>17}"
    for row in ROWS:
        done = results(row, seeds, cluster=cluster)
        total = np.array([one.total for one in done])
        fine = [one for one in done if one.fine]
        clear = f"{1e3 * min(one.clearance for one in fine):.1f} mm" if fine else "–"
        arrived = f"{len(fine)}/{len(done)}"
        ours = f"{np.median(total):>7.2f} s{total.max():>7.2f} s{clear:>17}"
        yield f"{row.errand:<14}{row.samples:>8}{row.seconds:>7.0f} s{arrived:>12}{ours}"
        yield from (f"    seed {one.seed}: {one.text}" for one in done if not one.fine)


if __name__ == "__main__":
    for line in table(int(sys.argv[1]), sys.argv[3] if len(sys.argv) > 3 else None):
        print(line, flush=True)
