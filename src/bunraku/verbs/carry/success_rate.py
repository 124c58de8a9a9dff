"""The success rate of an errand that was run with many seeds, and the times of its stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bunraku.ensemble.carry_result import CARRY_STAGES
from bunraku.ensemble.errand import Errand


def summary(errand: Errand, runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Pairs of a title and a text: success rate of the `runs` of an `errand` within its budget, and times of the stages.

    runs: the rows of a sweep: each with ok, outcome, why, `seconds` by stage [s], and `numbers` with the rounds.
    """
    if not runs:
        yield "runs", "none"
        return
    seconds = np.array([[run["seconds"].get(stage, 0.0) for stage in CARRY_STAGES] for run in runs])
    good = sum(run["ok"] and total <= errand.budget for run, total in zip(runs, seconds.sum(1), strict=True))
    yield "carried", f"{good} of {len(runs)} within {errand.budget:g} s of processor time"
    yield "stage", f"{'median':>10}{'worst':>12}"
    for k, stage in enumerate(CARRY_STAGES):
        yield stage, f"{np.median(seconds[:, k]):>8.3f} s{seconds[:, k].max():>10.3f} s"
    yield "recovered", f"{sum(run['numbers'].get('rounds', 1) > 1 and run['ok'] for run in runs)}"
    failed = Counter((run["outcome"], run["why"]) for run in runs if not run["ok"])
    yield from ((kind, f"{n}× {why}") for (kind, why), n in failed.most_common(5))
