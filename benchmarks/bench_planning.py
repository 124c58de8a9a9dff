"""Plans for figures on strings: the ten pairs of the puppet arm with OMPL beside, segments a second, a raised hand, two workers.

`make bench` takes a few seeds. All 20 of them: python -m benchmarks.bench_planning 20
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from benchmarks import arm_pairs, raised_hand
from benchmarks.peers.ompl_plan import NAMES, plan_by_ompl
from benchmarks.table import Ratio
from bunraku.errors import MissingExtra
from bunraku.planning.strings import Plan, PlanningProblem, recheck, search, search_together
from bunraku.workers import Pool

SEEDS, BUDGET = 2, 10.0
OMPL_PAIRS = ("lift", "over a block", "over a wall")
RATIOS = {
    "planning.wanted_segments_ratio": Ratio("planning.wanted_segments_per_s", "planning.segments_per_s", at_most=1.0),
    "planning.wanted_share_ratio": Ratio("planning.wanted_share", "planning.arm3d_share", at_most=1.0),
    "planning.wanted_hand_ratio": Ratio("planning.wanted_hand_share", "planning.marionette22_share", at_most=1.0),
}
NOTES = {
    "planning.segments_per_s": "arm3d, 0.15 s each, simulated, checked and kept, a second of the processor; best of five",
    "planning.arm3d_share": f"of ten pairs solved within {BUDGET:g} s of the processor and accepted by the rechecker",
    "planning.arm3d_median_s": "of the processor",
    "planning.arm3d_worst_s": "of the processor",
    "planning.arm3d_string_error_mm": "the worst of all plans, with the finer step as well",
    "planning.ompl_est_share": f"OMPL's EST on the same segments, {', '.join(OMPL_PAIRS)}",
    "planning.ompl_kpiece_share": "OMPL's KPIECE",
    "planning.ompl_rrt_share": "OMPL's RRT",
    "planning.marionette22_share": "raise a hand above the head round a beam, 60 s of the processor",
    "planning.two_workers_speedup": "segments a second of the clock, two trees in workers that planned before against one here",
    "planning.two_workers_cold_speedup": "the same with the start of two processes, imports and loading of kernels",
    "planning.two_workers_start_s": "how long that start takes",
}


def good(found: Plan) -> bool:
    """Accepted by the rechecker, from the motion alone."""
    problem = found.problem
    if found.motion is None:
        return False
    report = recheck(found.motion, problem.scene, limits=problem.limits, goal=problem.goal, allowed=problem.allowed)
    return report.accepted and report.gap <= 1e-3


def bench_segments() -> dict[str, float]:
    """The paper's uniform tree, which rarely gets to the goal."""
    problem = arm_pairs.problems()[5]
    out = 0.0
    for seed in range(5):
        found = search(problem, "est-uniform", seed=seed, seconds=60.0, segments=6000)
        out = max(out, found.segments / found.seconds["search"])
    return {"planning.segments_per_s": out, "planning.wanted_segments_per_s": 10_000.0}


def solved(problems: tuple[PlanningProblem, ...], seeds: int, seconds: float, *, tell: bool = False) -> list[tuple[Plan, bool]]:
    out = []
    for problem in problems:
        for seed in range(seeds):
            found = search(problem, seed=seed, seconds=seconds)
            out.append((found, good(found)))
        if tell:
            own = out[-seeds:]
            times = [one.seconds["search"] for one, ok in own if ok]
            print(
                f"{problem.name:20} {sum(ok for _, ok in own)}/{seeds} solved, median {np.median(times or [np.nan]):.2f} s, "
                f"worst {max(times, default=np.nan):.2f} s, {sum(one.refused for one, _ in own)} refused", flush=True,
            )  # fmt: skip
    return out


def numbers(runs: list[tuple[Plan, bool]]) -> dict[str, float]:
    times = [found.seconds["search"] for found, ok in runs if ok]
    gaps = [found.verdict.gap for found, ok in runs if ok and found.verdict is not None]
    return {
        "planning.arm3d_share": sum(ok for _, ok in runs) / len(runs),
        "planning.arm3d_median_s": float(np.median(times)),
        "planning.arm3d_worst_s": max(times),
        "planning.arm3d_string_error_mm": 1e3 * max(gaps),
        "planning.wanted_share": 0.9,
    }


def bench_arm3d() -> dict[str, float]:
    return numbers(solved(arm_pairs.problems(), SEEDS, BUDGET))


def bench_ompl() -> dict[str, float]:
    chosen = [problem for problem in arm_pairs.problems() if problem.name in OMPL_PAIRS]
    out = {}
    try:
        for name in NAMES:
            runs = [good(plan_by_ompl(problem, name, seed=0, seconds=BUDGET)) for problem in chosen]
            out[f"planning.{name.replace('-', '_')}_share"] = sum(runs) / len(runs)
    except MissingExtra:
        return {}
    return out


def bench_raised_hand() -> dict[str, float]:
    runs = solved((raised_hand.problem(),), SEEDS, 60.0)
    return {"planning.marionette22_share": sum(ok for _, ok in runs) / len(runs), "planning.wanted_hand_share": 0.8}


def bench_workers() -> dict[str, float]:
    """The same number of segments for every tree, here and in two processes; plans and the tops of their trees travel back."""
    problem = arm_pairs.problems()[8]

    def seconds(**options: Any) -> float:
        start = time.perf_counter()
        search_together(problem, "est-uniform", seconds=600.0, **{"segments": 60_000, **options})
        return time.perf_counter() - start

    search(problem, "est-uniform", segments=250)  # loads kernels here
    alone = min(seconds(workers=1) for _ in range(2))
    with Pool(2) as pool:
        cold = seconds(pool=pool, segments=250)
        warm = min(seconds(pool=pool) for _ in range(2))
    return {
        "planning.two_workers_speedup": 2.0 * alone / warm,
        "planning.two_workers_cold_speedup": 2.0 * alone / (warm + cold),
        "planning.two_workers_start_s": cold,
    }


if __name__ == "__main__":
    for name, value in numbers(solved(arm_pairs.problems(), int(sys.argv[1]), BUDGET, tell=True)).items():
        print(f"{name:40} {value:.4g}")
