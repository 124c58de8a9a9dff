"""Whether rechecker and judge agree on many motions, right ones and spoilt ones, of all errands.

    python -m tests.ensemble.agreement 7 --first 7000 --varied 60 --keep /tmp/motions

carries out every errand of the trials with seven seeds, and a short errand in 60 variations, with other goals and a pillar that
stands elsewhere. Both are asked about every motion that was made, and about the same motion spoilt in one of the WAYS (another one
for each seed), which both must refuse for the reason that belongs to it. `--again FOLDER` asks about motions that were kept.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.recheck_team import TeamVerdict, recheck
from bunraku.ensemble.team import OBJECT
from bunraku.io import save
from bunraku.motion import Motion
from tests.ensemble.judge import Findings, WrittenMotion, faults, judge
from tests.ensemble.spoiling import WAYS
from tests.ensemble.trials import BUDGETS, errands


def varied(seed: int) -> Errand:
    """The short errand with a random goal and a pillar at a random place."""
    rng, errand = np.random.default_rng(seed), load_errand(errands()["short"])
    bases, held = errand.team.in_world(errand.goal)
    x, y, turn = rng.uniform((-0.6, -0.3, -0.2), (0.3, 0.3, 0.2))
    c, s = np.cos(turn), np.sin(turn)
    goal = held + np.array([x, y, 0.0, turn, 0.0, 0.0])
    there = {
        name: np.array([*(goal[:2] + np.array([[c, -s], [s, c]]) @ (own[:2] - held[:2])), own[2] + turn])
        for name, own in bases.items()
    }
    (pillar,) = errand.scene.obstacles
    pillar = replace(pillar, position=(float(rng.uniform(-1.0, 2.0)), float(rng.choice([-1, 1]) * rng.uniform(0.75, 1.3)), 1.0))
    return replace(errand, goal=errand.team.configuration(there, goal), scene=replace(errand.scene, obstacles=(pillar,)))


@dataclass(frozen=True, eq=False)
class Opinions:
    """What both say of one motion."""

    verdict: TeamVerdict
    found: Findings
    mine: frozenset[str]
    other: frozenset[str]
    why: str = ""
    """For which reason both must refuse it; empty if they need not."""

    @property
    def agree(self) -> bool:
        """Whether both accept it, or both refuse it; a spoilt one, for its reason."""
        return self.why in self.mine & self.other if self.why else bool(self.mine) == bool(self.other)

    @property
    def apart(self) -> float:
        """How much they differ in the clearance, up to 2 cm [m]."""
        return abs(min(self.verdict.clearance, 0.02) - min(self.found.clearance, 0.02))


def opinions(errand: Errand, motion: Motion, *, why: str = "", rate: float = 15.0) -> Opinions:
    """Of rechecker and judge; the judge reads a file."""
    verdict = recheck(
        errand.team, motion, errand.scene, margin=errand.margin, heights=errand.heights, ground=errand.ground,
        allowed=errand.allowed, ends=(errand.start, errand.goal), area=errand.area,
    )  # fmt: skip
    figures = {agent.name: agent.figure for agent in errand.team.agents} | {OBJECT: errand.team.object_figure}
    with tempfile.TemporaryDirectory() as folder:
        save(motion, Path(folder) / "motion.csv")
        found = judge(errand, WrittenMotion(Path(folder) / "motion.csv", figures), rate=rate)
    return Opinions(verdict, found, frozenset(o.what for o in verdict.objections), frozenset(faults(errand, found)), why)


def made(count: int, first: int, variations: int, only: list[str]) -> Iterator[tuple[str, int, Motion]]:
    """Motions of so many seeds of each errand, and of so many variations; seeds without a motion are left out."""
    for name in only or errands():
        errand = load_errand(errands()[name])
        if errand.may_change:  # the judge knows one set of holds
            continue
        errand = replace(errand, budget=BUDGETS[len(errand.team.agents) <= 2])
        for seed in range(first, first + count):
            done = carry(errand, seed=seed)
            if done.outcome.ok:
                yield name, seed, done.motion
    for seed in range(first, first + variations):
        done = carry(varied(seed), seed=seed)
        if done.outcome.ok:
            yield "varied", seed, done.motion


def kept(folder: Path) -> Iterator[tuple[str, int, Motion]]:
    """Motions that were kept."""
    for path in sorted(folder.glob("*.pickle")):
        name, _, seed = path.stem.rpartition("_")
        if name != "varied" and load_errand(errands()[name]).may_change:
            continue
        yield name, int(seed), pickle.loads(path.read_bytes())


def asked(
    motions: Iterator[tuple[str, int, Motion]], *, first: int = 0, keep: Path | None = None, rate: float = 15.0
) -> Iterator[tuple[str, Opinions]]:
    """Opinions on every motion, and on each after spoiling; each time in the next way that applies to it, from the `first` on."""
    ways, number, known = list(WAYS), first, {}
    for name, seed, motion in motions:
        if keep is not None:
            (keep / f"{name}_{seed}.pickle").write_bytes(pickle.dumps(motion))
        errand = varied(seed) if name == "varied" else known.setdefault(name, load_errand(errands()[name]))
        yield f"{name} {seed}", opinions(errand, motion, rate=rate)
        for _ in ways:
            way, number = ways[number % len(ways)], number + 1
            if (spoilt := WAYS[way].of(errand, motion)) is not None:
                yield f"{name} {seed}, {way}", opinions(*spoilt, why=WAYS[way].why, rate=rate)
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--varied", type=int, default=0)
    parser.add_argument("--only", type=lambda s: s.split(","), default=[])
    parser.add_argument("--keep", type=Path, default=None)
    parser.add_argument("--rate", type=float, default=15.0, help="of distances that the judge measures [1/s]")
    parser.add_argument("--again", type=Path, default=None)
    given = parser.parse_args()
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    motions = made(given.count, given.first, given.varied, given.only) if given.again is None else kept(given.again)
    total, agreed = {False: 0, True: 0}, {False: 0, True: 0}
    for name, own in asked(motions, first=given.first, keep=given.keep, rate=given.rate):
        spoilt = bool(own.why)
        total[spoilt], agreed[spoilt] = total[spoilt] + 1, agreed[spoilt] + own.agree
        told = "" if own.agree else f": {sorted(own.mine)} but {sorted(own.other)}" + (f", not {own.why}" if own.why else "")
        counts = f"right {agreed[False]}/{total[False]}, spoilt {agreed[True]}/{total[True]}"
        print(f"{time.process_time():6.0f} s  {counts}, {1e3 * own.apart:.2f} mm apart  {name}{told}", flush=True)
