"""Whether rechecker and judge agree on many motions: short errands with other seeds, ways, teams and obstacles.

    python -m tests.ensemble.agreement 200 --first 0

carries a slab in so many ways, past a pillar that stands elsewhere each time, and asks both about every motion that was made; and
about the same motion with a random fault.
"""

from __future__ import annotations

import argparse
import tempfile
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
from tests.ensemble.trials import errands


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


def spoilt(motion: Motion, seed: int) -> Motion:
    """The motion with a joint that is a little off for a while."""
    rng = np.random.default_rng(seed)
    which = int(rng.integers(len(motion.tracks)))
    track = motion.tracks[which]
    q = track.q.copy()
    k, size = int(rng.integers(q.shape[1])), 10.0 ** rng.uniform(-5.0, -0.5)
    q[:, k] += size * np.sin(np.pi * np.linspace(0.0, 1.0, len(q))) ** 2
    return motion.replace(tracks=tuple(replace(own, q=q) if own is track else own for own in motion.tracks))


@dataclass(frozen=True, eq=False)
class Opinions:
    """What both say of one motion."""

    verdict: TeamVerdict
    found: Findings
    mine: frozenset[str]
    other: frozenset[str]

    @property
    def agree(self) -> bool:
        """Whether both accept it, or both refuse it."""
        return bool(self.mine) == bool(self.other)


def opinions(errand: Errand, motion: Motion, *, rate: float = 15.0) -> Opinions:
    """Of rechecker and judge; the judge reads a file."""
    verdict = recheck(
        errand.team, motion, errand.scene, margin=errand.margin, heights=errand.heights, ground=errand.ground,
        allowed=errand.allowed, ends=(errand.start, errand.goal), area=errand.area,
    )  # fmt: skip
    figures = {agent.name: agent.figure for agent in errand.team.agents} | {OBJECT: errand.team.object_figure}
    with tempfile.TemporaryDirectory() as folder:
        save(motion, Path(folder) / "motion.csv")
        found = judge(errand, WrittenMotion(Path(folder) / "motion.csv", figures), rate=rate)
    return Opinions(verdict, found, frozenset(o.what for o in verdict.objections), frozenset(faults(errand, found)))


def asked(count: int, first: int = 0) -> Iterator[tuple[str, Opinions]]:
    """Opinions on motions of so many errands, and on each with a fault; errands without a motion are left out."""
    for seed in range(first, first + count):
        errand = varied(seed)
        done = carry(errand, seed=seed)
        if done.outcome.ok:
            yield f"{seed}", opinions(errand, done.motion)
            yield f"{seed}, spoilt", opinions(errand, spoilt(done.motion, seed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    total = agreed = accepted = 0
    for name, own in asked(given.count, given.first):
        total, agreed, accepted = total + 1, agreed + own.agree, accepted + (not own.mine)
        apart = abs(min(own.verdict.clearance, 0.02) - min(own.found.clearance, 0.02))
        told = "" if own.agree else f": {sorted(own.mine)} but {sorted(own.other)}"
        print(f"{name:<14} {agreed}/{total} agree, {accepted} accepted, clearances {1e3 * apart:.3f} mm apart{told}", flush=True)
