"""Runs one errand with many seeds: success rate, and times of the stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace

import numpy as np

from bunraku import workers as house
from bunraku.ensemble.carry import carry
from bunraku.ensemble.carry_result import CARRY_STAGES
from bunraku.ensemble.errand import Errand
from bunraku.outcome import Outcome
from bunraku.progress import Listener, Progress


@dataclass(frozen=True)
class SeedRun:
    """The result for one seed."""

    seed: int
    outcome: Outcome
    seconds: Mapping[str, float]
    """Processor time of each stage [s]."""
    rounds: int
    """Number of paths that were tried."""

    @property
    def total(self) -> float:
        """Processor time of all stages [s]."""
        return sum(self.seconds.values())


def run_one(errand: Errand, seed: int, samples: int | None) -> SeedRun:
    """Runs an `errand` with one `seed` and this number of `samples` (by default that of the errand)."""
    done = carry(errand, seed=seed, samples=samples)
    return SeedRun(seed, done.outcome, done.seconds, done.rounds)


def run_many(
    errand: Errand, count: int, *, first: int = 0, samples: int | None = None, workers: int | None = None,
    cluster: str | None = None, progress: Listener | None = None,
) -> list[SeedRun]:  # fmt: skip
    """Runs an `errand` with `count` seeds from `first` on; results are in the order of the seeds.

    samples: number of samples of each motion; by default that of the errand
    workers: number of local processes; by default one per core
    cluster: the address of a Dask scheduler, or "local"
    progress: called with the number of finished seeds

    Ctrl-C returns the finished ones.
    """
    bare, out = replace(errand), []
    with house.executor(workers, cluster=cluster) as (pool, _):
        jobs = [pool.submit(run_one, bare, first + k, samples) for k in range(count)]
        try:
            for job in as_completed(jobs):
                out.append(job.result())
                if progress is not None:
                    progress(Progress("seeds", len(out) / count, f"{len(out)} of {count}"))
        except KeyboardInterrupt:
            for job in jobs:
                job.cancel()
            if isinstance(pool, house.Pool):
                pool.kill()
    return sorted(out, key=lambda run: run.seed)


def summary(errand: Errand, runs: Sequence[SeedRun]) -> Iterator[tuple[str, str]]:
    """Pairs of a title and a text: success rate of the `runs` of an `errand` within its budget, and times of the stages."""
    if not runs:
        yield "runs", "none"
        return
    good = [run for run in runs if run.outcome.ok and run.total <= errand.budget]
    yield "carried", f"{len(good)} of {len(runs)} within {errand.budget:g} s of processor time"
    seconds = np.array([[run.seconds.get(stage, 0.0) for stage in CARRY_STAGES] for run in runs])
    yield "stage", f"{'median':>10}{'worst':>12}"
    for k, stage in enumerate(CARRY_STAGES):
        yield stage, f"{np.median(seconds[:, k]):>8.3f} s{seconds[:, k].max():>10.3f} s"
    yield "recovered", f"{sum(run.rounds > 1 and run.outcome.ok for run in runs)}"
    failed = Counter((run.outcome.kind, run.outcome.why) for run in runs if not run.outcome.ok)
    yield from ((kind, f"{n}× {why}") for (kind, why), n in failed.most_common(5))
