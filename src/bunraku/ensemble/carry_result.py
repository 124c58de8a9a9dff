"""Carry: the result of an errand (a carrying task), and its outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bunraku.ensemble.errand import Errand
from bunraku.ensemble.hold_parts import HoldPart
from bunraku.ensemble.recheck_team import TeamVerdict
from bunraku.ensemble.tune import TunedMotion
from bunraku.motion import Motion, Track
from bunraku.outcome import Outcome
from bunraku.planning.ways.path import Path
from bunraku.planning.ways.path_timing import PathTiming
from bunraku.planning.ways.roadmap import Roadmap
from bunraku.result import Result
from bunraku.scene import Scene

CARRY_STAGES = ("roadmap", "query", "timing", "locomotion", "manipulation", "tuning", "recheck")

CARRIED = Outcome(True, "carried")
NO_WAY = Outcome(False, "no way", "no path was found", advice="widen the passage, allow more tilt, or give a larger budget")
NOT_HELD = Outcome(
    False, "not held", "an arm loses the object along every path tried", advice="move the holds, or let the object tilt more"
)
TOUCHES = Outcome(
    False, "touches", "something collides along every path tried", advice="give a larger margin or budget, or widen the passage"
)
REFUSED = Outcome(
    False, "refused", "the rechecker refuses the motion along every path tried", advice="give more samples, or a lower speed"
)


@dataclass(frozen=True, eq=False, repr=False)
class Carry(Result):
    """The result of an errand: outcome, motion, and the intermediate results."""

    errand: Errand
    outcome: Outcome
    stage: str
    """The last stage that was reached: one of CARRY_STAGES."""
    motion: Motion | None
    """Motion of all agents and the object, with all its samples; after a failure, up to the failure."""
    seconds: Mapping[str, float]
    """Processor time of each stage [s]."""
    seed: int
    roadmap: Roadmap | None = None
    path: Path | None = None
    """The last path of the reduced team that was tried."""
    timing: PathTiming | None = None
    """Timing of that path."""
    rounds: int = 1
    """Number of paths that were tried."""
    closure: float = 0.0
    """Largest error of a tool relative to its grasp, before tuning [m or rad]."""
    jump: float = 0.0
    """The largest change of a joint from one sample to the next, before tuning [rad]."""
    tuned: TunedMotion | None = None
    verdict: TeamVerdict | None = None
    """Verdict of the independent rechecker on the last motion that it checked."""
    failures: tuple[str, ...] = ()
    """Why each of the abandoned paths failed."""
    samples: int | None = None
    """Number of samples that are kept in files and on the stage; None keeps all."""
    parts: tuple[HoldPart, ...] = ()
    """Parts of the motion, if holds change on the way: who holds in each, and what happens."""

    @property
    def scene(self) -> Scene:
        """The scene of the errand."""
        return self.errand.scene

    @property
    def kept(self) -> Motion | None:
        """The motion with as many of its samples as are kept; with few, feet slide between them."""
        if self.motion is None or self.samples is None or self.samples >= len(self.motion):
            return self.motion
        every = np.unique(np.rint(np.linspace(0.0, len(self.motion) - 1, self.samples)).astype(int))
        tracks = tuple(Track(track.figure, track.q[every], name=track.name) for track in self.motion.tracks)
        return Motion(self.motion.t[every], tracks, self.motion.marks)

    @property
    def planning(self) -> float:
        """Processor time of the stages that do not depend on the number of samples [s]."""
        return sum(self.seconds.get(stage, 0.0) for stage in CARRY_STAGES[:3])

    @property
    def share(self) -> float:
        """Share of the distance to the goal that the motion covers, from 0 to 1."""
        if self.outcome.ok or self.motion is None:
            return float(self.outcome.ok)
        first, last = (self.errand.team.in_world(q)[1][:2] for q in (self.errand.start, self.errand.goal))
        got = self.motion.tracks[-1].q[-1, :2]
        left, whole = float(np.linalg.norm(last - got)), float(np.linalg.norm(last - first))
        return min(max(1.0 - left / max(whole, 1e-9), 0.0), 1.0)

    def columns(self) -> dict[str, float]:
        """Numbers by name: those of the motion, paths tried, share of the way, the rechecker's clearance, closure and slide [m]."""
        found: dict[str, float] = {"rounds": self.rounds, "share": self.share}
        if self.verdict is not None:
            found |= {name: getattr(self.verdict, name) for name in ("clearance", "closure", "slide")}
        return super().columns() | found

    def report(self) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text: outcome, errand, stages, motion, verdict, and the abandoned paths."""
        yield from super().report()
        if not self.outcome.ok:
            yield "ended in", self.stage
        team = self.errand.team
        yield "errand", f"{self.errand.name}: {len(team.agents)} agents, {team.n} variables"
        yield "seconds", ", ".join(f"{stage} {self.seconds.get(stage, 0.0):.3f}" for stage in CARRY_STAGES)
        if self.motion is not None:
            got = "" if self.outcome.ok else f", {100 * self.share:.0f} % of the distance"
            names = ", ".join(self.motion.names)
            yield "motion", f"{self.motion.duration:.1f} s of {names} in {len(self.motion)} samples{got}"
        if self.parts:
            yield "holds", "; ".join(part.what for part in self.parts)
        if self.verdict is not None:
            yield "recheck", str(self.verdict)
        yield from ((f"path {k}", f"abandoned: {why}") for k, why in enumerate(self.failures, 1))
        if self.failures and self.outcome.ok:
            yield "recovered", f"with path {self.rounds}"
