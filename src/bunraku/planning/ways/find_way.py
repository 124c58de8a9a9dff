"""find: a way from a start to a goal, through what a roadmap knows or by growing trees, and what was found is kept.

space = FreeSpace(World(figure, scene), bounds={"x": (-5, 5), "y": (-5, 5)})
found = find(space, start, goal, seconds=10)
motion = timed(found.path, speed=1.0, acceleration=2.0)
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.kernels.xorshift import whole
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.path import Path, rounded, shortcut
from bunraku.planning.ways.roadmap import Roadmap
from bunraku.planning.ways.rrt_connect import connect
from bunraku.planning.ways.visibility import learn
from bunraku.planning.ways.way_outcome import WayOutcome


@dataclass(frozen=True, eq=False)
class Found:
    """How the search ended, the path if there is one, and the roadmap, which now knows it."""

    outcome: WayOutcome
    path: Path | None
    roadmap: Roadmap
    seconds: float
    why: str = ""
    """What is wrong with the start or the goal."""

    def __repr__(self) -> str:
        said = self.outcome.value if self.path is None else repr(self.path)
        return f"<Found: {said}{': ' + self.why if self.why else ''}>"


def find(
    space: FreeSpace, start: ArrayLike, goal: ArrayLike, *, roadmap: Roadmap | None = None, seed: int = 0, seconds: float = 10.0,
    smooth: bool = True,
) -> Found:  # fmt: skip
    """A path from start to goal, every curve of which is proven free. With `smooth`, it is made shorter and its corners round.

    What the roadmap knows is tried first. Where it does not connect the two, trees grow from both, and the path they
    find becomes part of the roadmap.
    """
    begun, seed = time.perf_counter(), whole(seed)
    roadmap = Roadmap(space) if roadmap is None else roadmap
    ends = [space.configuration(q, what) for q, what in ((start, "start"), (goal, "goal"))]

    def ended(outcome: WayOutcome, path: Path | None = None, why: str = "") -> Found:
        if path is not None and smooth:
            path = rounded(shortcut(path, seed=seed))
        return Found(outcome, path, roadmap, time.perf_counter() - begun, why)

    for q, blocked in zip(ends, (WayOutcome.START_BLOCKED, WayOutcome.GOAL_BLOCKED), strict=True):
        if why := space.objection(q):
            return ended(blocked, why=why)
    known = roadmap.search(*ends)
    if known is not None:
        return ended(WayOutcome.FOUND, known)
    if not seconds > 0.0:
        return ended(WayOutcome.NO_BUDGET)
    growth = connect(space, *ends, seed=seed, seconds=seconds)
    if growth.path is None:
        return ended(growth.outcome)
    roadmap.add_path(growth.path)
    return ended(WayOutcome.FOUND, growth.path)


def extend(roadmap: Roadmap, *, seed: int = 0, guards: int = 50, seconds: float = np.inf) -> None:
    """Learns `guards` guards more."""
    learn(roadmap, seed=seed, guards=len(roadmap.guards) + guards, seconds=seconds)
