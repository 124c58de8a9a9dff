"""Trials of errands: how many seeds arrive within the processor time that they may take, and whether their motions are right.

    python -m tests.ensemble.trials 20 --first 1000 --only spiral,sofa

runs twenty seeds of each errand, the shipped ones and those of tests/ensemble/errands, and prints a line for each: 10 s for one or
two agents, 30 s for more. Every motion is checked again by the rechecker; `--keep FOLDER` stores the motions.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from bunraku.ensemble.carry import CARRY_STAGES, Carry, carry
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.recheck_holds import recheck_holds
from bunraku.ensemble.recheck_team import recheck

FOLDER = Path(__file__).parent / "errands"
SHIPPED = ("factory", "factory_door", "living_room", "ramp", "ramp_people", "two_doors")
BUDGETS = {True: 10.0, False: 30.0}
"""Processor time [s] for one or two agents, and for more."""


def errands() -> dict[str, Path | str]:
    """All errands of the trials by name, and where they are."""
    return {name: name for name in SHIPPED} | {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}


@dataclass(frozen=True)
class Trial:
    """What became of one seed."""

    seed: int
    fine: bool
    spent: float
    seconds: dict[str, float]
    rounds: int
    text: str
    ways: dict[str, float] = field(default_factory=dict)
    """Length of everybody's way on the floor [m]."""


def ready(name: str) -> Errand:
    """An errand whose space is built and whose kernels are loaded, with the budget of the trials."""
    own = load_errand(errands()[name])
    own = replace(own, budget=BUDGETS[len(own.team.agents) <= 2])
    carry(own, seed=12_345)
    return own


def judged(errand: Errand, done: Carry) -> str:
    """What the rechecker, asked again, has against a motion; empty if nothing."""
    assert done.motion is not None
    if done.parts:
        verdict = recheck_holds(errand, done.motion, done.parts)
        return "" if verdict.accepted else str(verdict)
    verdict = recheck(
        errand.team, done.motion, errand.scene, margin=errand.margin, heights=errand.heights, ground=errand.ground,
        allowed=errand.allowed, ends=(errand.start, errand.goal), area=errand.area,
    )  # fmt: skip
    return "" if verdict.accepted else str(verdict)


def ways(errand: Errand, done: Carry) -> dict[str, float]:
    """Length of everybody's way on the floor [m]."""
    out = {}
    for agent in errand.team.agents:
        q = done.motion.track(agent.name).q[:, agent.figure.indices(agent.base[:2])]
        out[agent.name] = float(np.linalg.norm(np.diff(q, axis=0), axis=1).sum())
    return out


def tried(errand: Errand, seed: int, keep: Path | None = None) -> Trial:
    """One run."""
    begun = time.process_time()
    done = carry(errand, seed=seed)
    spent = time.process_time() - begun
    why = judged(errand, done) if done.outcome.ok else str(done.outcome)
    late = "" if spent <= errand.budget else f"{spent:.1f} s"
    text = "; ".join(part for part in (why, late) if part)
    if keep is not None and done.outcome.ok:
        (keep / f"{errand.name}_{seed}.pickle").write_bytes(pickle.dumps(done.motion))
    own = ways(errand, done) if done.outcome.ok else {}
    return Trial(seed, not text, spent, dict(done.seconds), done.rounds, "; ".join([text, *done.failures]), own)


def line(name: str, errand: Errand, trials: list[Trial]) -> str:
    """A row of the table."""
    spent = np.array([one.spent for one in trials])
    stages = {stage: float(np.median([one.seconds[stage] for one in trials])) for stage in CARRY_STAGES}
    arrived = f"{sum(one.fine for one in trials)}/{len(trials)}"
    again = float(np.mean([one.rounds for one in trials]))
    longest = max(
        (max(one.ways[who] for one in trials if one.ways) / min(one.ways[who] for one in trials if one.ways)
         for who in next((one.ways for one in trials if one.ways), {})), default=np.nan,
    )  # fmt: skip
    parts = " ".join(f"{stage[:4]} {seconds:.2f}" for stage, seconds in stages.items())
    return (
        f"{name:<20}{len(errand.team.agents):>3}{arrived:>8}{np.median(spent):>7.1f} s{spent.max():>7.1f} s"
        f"{again:>5.1f}{longest:>6.2f}   {parts}"
    )


def table(seeds: int, first: int, only: list[str], keep: Path | None, most: float = np.inf) -> Iterator[str]:
    """Line by line, as they are done; of one errand, no seed is begun after `most` seconds of processor time."""
    yield f"{'errand':<20}{'who':>3}{'arrived':>8}{'median':>9}{'worst':>9}{'paths':>6}{'way':>5}   median of each stage [s]"
    for name in only or errands():
        errand = ready(name)
        begun = time.process_time()
        trials = [tried(errand, seed, keep) for seed in range(first, first + seeds) if time.process_time() - begun < most]
        yield line(name, errand, trials)
        told = [one for one in trials if one.text.strip("; ")]
        yield from (f"    seed {one.seed}: {one.spent:.1f} s, {one.rounds} paths: {one.text}" for one in told)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", type=int, nargs="?", default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=lambda s: s.split(","), default=[])
    parser.add_argument("--keep", type=Path, default=None)
    parser.add_argument("--most", type=float, default=np.inf, help="processor time for one errand [s]")
    given = parser.parse_args()
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    for row in table(given.seeds, given.first, given.only, given.keep, given.most):
        print(row, flush=True)
