"""Forced recovery: tuning is made to fail on one edge of the factory's roadmap, and another way must be found in 20 s.

`python -m benchmarks.bench_recovery 100` runs so many seeds, on all cores.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import Ratio
from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.tune import TunedMotion, tune
from bunraku.motion import Motion
from bunraku.workers import executor

Array = NDArray[np.float64]
SEEDS = 10
SECONDS = 20.0
NEAR, SHARE = 0.4, 0.6  # [m] about the object at this share of the way: whoever passes there is made to fail

RATIOS = {"recovery.failed_ratio": Ratio("recovery.failed_count", "recovery.seeds_count", at_most=0.05)}
NOTES = {
    "recovery.failed_count": f"without another way after {SECONDS:g} s of the processor, or refused by the rechecker",
    "recovery.median_us": "processor time from the first roadmap to the motion along the other way, median",
    "recovery.worst_us": "the slowest",
}


def rerouted(seed: int) -> tuple[bool, float, str]:
    """Whether another way was found, the processor time that it took [s], and what went wrong."""
    errand = replace(load_errand("factory"), budget=SECONDS)
    where: list[Array] = []  # where the first way was made to fail

    def failing(*args: Any, **words: Any) -> TunedMotion:
        done = tune(*args, **words)
        places = _places(done.motion)
        where.append(places[int(SHARE * len(places))])
        fails = np.linalg.norm(places - where[0], axis=1) < NEAR
        return replace(done, trouble="made to fail", sample=int(np.argmax(fails))) if fails.any() else done

    with patch("bunraku.ensemble.carry.tune", failing):
        begun = time.process_time()
        done = carry(errand, seed=seed)
        seconds = time.process_time() - begun
    if not done.outcome.ok or done.motion is None or done.verdict is None or seconds > SECONDS:
        return False, seconds, f"{done.outcome.kind}: {done.outcome.why}"
    aside = bool(np.linalg.norm(_places(done.motion) - where[0], axis=1).min() >= NEAR)
    return done.verdict.accepted and aside and done.rounds > 1, seconds, str(done.verdict)


def _places(motion: Motion) -> Array:
    return np.asarray(motion.track("object").q[:, :2])


def bench_forced(seeds: int = SEEDS) -> dict[str, float]:
    with executor() as (pool, _):
        done = list(pool.map(rerouted, range(seeds)))
    times = [seconds for _, seconds, _ in done]
    for seed, (fine, _, text) in enumerate(done):
        if not fine:
            print(f"seed {seed}: {text}")
    return {
        "recovery.failed_count": float(sum(not fine for fine, _, _ in done)),
        "recovery.seeds_count": float(seeds),
        "recovery.median_us": 1e6 * float(np.median(times)),
        "recovery.worst_us": 1e6 * max(times),
    }


if __name__ == "__main__":
    for name, value in bench_forced(int(sys.argv[1])).items():
        print(f"{name}: {value:g}")
