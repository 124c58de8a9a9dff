"""What became of an errand: how it ended, at which stage, why, and everything that was made on the way."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np

from bunraku.ensemble.errand import Errand
from bunraku.ensemble.recheck_team import Verdict
from bunraku.ensemble.tune import Tuned
from bunraku.motion import Motion
from bunraku.planning.ways.path import Path
from bunraku.planning.ways.path_timing import PathTiming
from bunraku.planning.ways.roadmap import Roadmap

STAGES = ("roadmap", "query", "timing", "locomotion", "manipulation", "tuning", "recheck")


class CarryOutcome(enum.Enum):
    """How it ended; the text is the advice."""

    CARRIED = "carried"
    START_BLOCKED = "the start touches something, or is beyond a limit or a reach: move the start"
    GOAL_BLOCKED = "the goal touches something, or is beyond a limit or a reach: move the goal"
    NO_WAY = "no way was found: widen the way, tilt the object more, or give more time"
    NOT_HELD = "an arm cannot hold on along any way that was found: move the holds, or let the object tilt more"
    TOUCHES = "something touches along every way that was found: make the margin of planning larger, or the way wider"
    REFUSED = "the rechecker refuses every motion that was made: more samples, or slower"
    STOPPED = "stopped: what was learnt is kept"

    @property
    def carried(self) -> bool:
        return self is CarryOutcome.CARRIED


@dataclass(frozen=True)
class Progress:
    """Which stage works, in which round, and how far it is, from 0 to 1."""

    stage: str
    done: float
    text: str = ""
    round: int = 0


@dataclass(frozen=True, eq=False)
class Carry:
    """What became of an errand."""

    errand: Errand
    outcome: CarryOutcome
    stage: str
    """The last that worked."""
    motion: Motion | None
    """Of all agents and the object; where the errand failed, as far as it got."""
    why: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    """Processor time of each stage [s]."""
    roadmap: Roadmap | None = None
    path: Path | None = None
    timing: PathTiming | None = None
    rounds: int = 1
    """How many ways were tried."""
    closure: float = 0.0
    jump: float = 0.0
    tuned: Tuned | None = None
    verdict: Verdict | None = None
    """Of the independent rechecker, on the last motion that there was."""
    failures: tuple[str, ...] = ()
    """Why each of the ways that were given up could not be taken."""

    @property
    def planning(self) -> float:
        """Processor time of what does not depend on the number of samples [s]."""
        return sum(self.seconds.get(stage, 0.0) for stage in STAGES[:3])

    @property
    def share(self) -> float:
        """How much of the way to the goal the motion covers."""
        if self.outcome.carried or self.motion is None:
            return float(self.outcome.carried)
        first, last = (self.errand.team.in_world(q)[1][:2] for q in (self.errand.start, self.errand.goal))
        got = self.motion.tracks[-1].q[-1, :2]
        left, whole = float(np.linalg.norm(last - got)), float(np.linalg.norm(last - first))
        return min(max(1.0 - left / max(whole, 1e-9), 0.0), 1.0)

    def __repr__(self) -> str:
        return f"<Carry: {self.outcome.value}{': ' + self.why if self.why else ''}>"
