"""One errand with many seeds: how many of them arrive, and how long the stages take."""

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
    """What became of one seed."""

    seed: int
    outcome: Outcome
    seconds: Mapping[str, float]
    """Processor time of each stage [s]."""
    rounds: int
    """How many paths were tried."""

    @property
    def total(self) -> float:
        """Processor time of all stages [s]."""
        return sum(self.seconds.values())


def run_one(errand: Errand, seed: int, samples: int | None) -> SeedRun:
    """What becomes of an `errand` with one `seed` and so many `samples` (its own where None)."""
    done = carry(errand, seed=seed, samples=samples)
    return SeedRun(seed, done.outcome, done.seconds, done.rounds)


def run_many(
    errand: Errand, count: int, *, first: int = 0, samples: int | None = None, workers: int | None = None,
    cluster: str | None = None, progress: Listener | None = None,
) -> list[SeedRun]:  # fmt: skip
    """What becomes of an `errand` with `count` seeds from `first` on, in the order of the seeds.

    samples: of each motion; the errand's where None
    workers: local processes; as many as cores where None
    cluster: the address of a Dask scheduler, or "local"
    progress: hears how many seeds are done

    Ctrl-C returns those that are done.
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
    return sorted(out, key=lambda run: run.seed)


def summary(errand: Errand, runs: Sequence[SeedRun]) -> Iterator[tuple[str, str]]:
    """Pairs of a title and a text: how many `runs` of an `errand` arrived within its budget, and what the stages took."""
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
