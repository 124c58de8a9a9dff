"""Paths of all errands by our own planner and by OMPL's, with the same steering and the same proof of every edge.

    python -m benchmarks.carrying_peers --seeds 3 --seconds 10 --only spiral,tray

prints for each errand and planner how many seeds found a path, and the median processor time; only the search for the first path,
without shortening, animating and tuning.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.peers.ompl_ways import PLANNERS, ways_by_ompl
from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.errand_file import load_errand
from bunraku.outcome import STOPPED
from bunraku.progress import Progress


def errands() -> dict[str, str | Path]:
    """All errands by name: those that come with bunraku, and those of the tests."""
    shipped = ("factory", "factory_door", "living_room", "ramp", "ramp_people", "two_doors")
    folder = Path(__file__).parents[1] / "tests" / "ensemble" / "errands"
    return {name: name for name in shipped} | {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def ours(errand: Errand, seed: int, seconds: float) -> float:
    """Processor time of our trees until the first path [s]; infinite without one."""

    def heard(word: Progress) -> None:
        if word.stage == "query":  # the next stage: a path was found
            raise KeyboardInterrupt

    done = carry(replace(errand, budget=seconds), seed=seed, progress=heard)
    return done.seconds["roadmap"] if done.outcome.kind == STOPPED.kind else math.inf


def row(name: str, seeds: int, seconds: float) -> str:
    """A line of the table."""
    errand = load_errand(errands()[name])
    space = errand.space
    start, goal = (space.configuration(q, "an end") for q in (errand.start, errand.goal))
    ours(errand, 999, 1.0)  # loads kernels
    space.sees(start, goal)
    tried = {"ours": [ours(errand, seed, seconds) for seed in range(seeds)]}
    for planner in PLANNERS:
        tried[planner] = [ways_by_ompl(space, start, goal, planner, seed=seed, seconds=seconds) for seed in range(seeds)]
    return f"{name:<20}" + "".join(f"{told(times):>16}" for times in tried.values())


def told(times: list[float]) -> str:
    """How many found a path, and their median time."""
    found = [own for own in times if math.isfinite(own)]
    return f"{len(found)}/{len(times)}" + (f" {np.median(found):.2f} s" if found else " –")


def table(seeds: int, seconds: float, only: list[str]) -> Iterator[str]:
    """Line by line, as they are done."""
    yield f"{'errand':<20}" + "".join(f"{name:>16}" for name in ("ours", *PLANNERS))
    for name in only or errands():
        yield row(name, seeds, seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", type=lambda s: s.split(","), default=[])
    given = parser.parse_args()
    for line in table(given.seeds, given.seconds, given.only):
        print(line, flush=True)
