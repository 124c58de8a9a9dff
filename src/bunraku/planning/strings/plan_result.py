"""Plan: the result of a search, whether or not it reached the goal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.motion import Motion
from bunraku.outcome import Outcome
from bunraku.planning.strings.planners import TreePlanner
from bunraku.planning.strings.planning_problem import PlanningProblem
from bunraku.planning.strings.recheck_plan import PlanVerdict
from bunraku.planning.strings.search_tree import SearchTree
from bunraku.result import Result
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """A motion from the start to the goal, accepted by the rechecker, or the reason why there is none."""

    outcome: Outcome
    problem: PlanningProblem
    planner: TreePlanner
    motion: Motion | None = None
    """The plan, simulated; None if none was found."""
    verdict: PlanVerdict | None = None
    """The rechecker's report."""
    speeds: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """Speeds of the hands at the end of every segment [m/s or rad/s], (segments, kinematic); empty after smoothing."""
    cost: float = math.inf
    """Cost of the plan; by default its duration [s]."""
    seconds: Mapping[str, float] = field(default_factory=lambda: {"search": 0.0})
    """Processor time by stage, summed over all trees [s]."""
    seed: int = 0
    """Seed of the random numbers."""
    segments: int = 0
    """Number of simulated segments."""
    refused: int = 0
    """Number of plans that the rechecker refused and the search dropped."""
    history: tuple[tuple[float, float], ...] = ()
    """Processor time [s] and cost of each better plan that was found."""
    tree: SearchTree | None = None
    """The tree of the search; None if it did not begin."""
    rough: float | None = None
    """∫ acceleration² dt of the hands before smoothing; None if they were not smoothed."""

    @property
    def scene(self) -> Scene:
        """The obstacles."""
        return self.problem.scene

    @property
    def roughness(self) -> float:
        """∫ acceleration² dt, summed over all hands; infinite if there is no motion."""
        if self.motion is None:
            return math.inf
        K, dt = self.motion.q[:, self.motion.figure.n_dynamic :], self.motion.t[1] - self.motion.t[0]
        return float((np.diff(np.vstack([K[:1], K]), 2, axis=0) ** 2).sum() / dt**3)

    def columns(self) -> dict[str, float]:
        """Numbers by name: those of the motion, cost, roughness of the hands, clearance [m], nodes and segments of the search."""
        found: dict[str, float] = {"nodes": 0 if self.tree is None else len(self.tree), "segments": self.segments}
        if self.motion is not None:
            found |= {"cost": self.cost, "roughness": self.roughness}
        if self.verdict is not None:
            found |= {"clearance": self.verdict.clearance}
        return super().columns() | found

    def report(self) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text: outcome, plan, search, recheck, smoothing."""
        yield from super().report()
        if self.motion is not None:
            yield "plan", f"{self.motion.duration:.3g} s, cost {self.cost:.3g}"
        nodes = 0 if self.tree is None else len(self.tree)
        took = f"{nodes:,} nodes, {self.segments:,} segments in {self.seconds['search']:.2f} s of processor time"
        yield "search", f"{self.planner.name}: {took}"
        if self.verdict is not None:
            yield "recheck", str(self.verdict)
        if self.rough is not None:
            yield "smooth", f"∫ acceleration² of the hands is {self.roughness:.3g}, was {self.rough:.3g}"
