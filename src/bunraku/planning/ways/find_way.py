"""find: a path from a start to a goal, by searching a roadmap or growing trees. Paths that are found extend the roadmap.

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
from bunraku.outcome import Outcome
from bunraku.planning.planning_outcomes import FOUND, GOAL_BLOCKED, NO_BUDGET, START_BLOCKED
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.path import Path, rounded, shortcut
from bunraku.planning.ways.roadmap import Roadmap
from bunraku.planning.ways.rrt_connect import connect
from bunraku.planning.ways.visibility import learn


@dataclass(frozen=True, eq=False)
class FoundWay:
    """The outcome of the search, the path if there is one, and the roadmap, which now contains the path."""

    outcome: Outcome
    path: Path | None
    roadmap: Roadmap
    seconds: float
    """Wall-clock time of the search [s]."""

    def __repr__(self) -> str:
        return f"<FoundWay: {self.outcome if self.path is None else repr(self.path)}>"


def find(
    space: FreeSpace, start: ArrayLike, goal: ArrayLike, *, roadmap: Roadmap | None = None, seed: int = 0, seconds: float = 10.0,
    smooth: bool = True,
) -> FoundWay:  # fmt: skip
    """A path from start to goal, every curve of which is proven free.

    The roadmap is searched first. If it does not connect the two, trees grow from both, and the path that they find is
    added to the roadmap.

    space: the free configurations.
    start, goal: configurations (n_q,) [rad or m].
    roadmap: a roadmap from earlier searches; None begins with an empty one.
    seed: seed of the random numbers.
    seconds: budget of processor time of the trees [s].
    smooth: whether the path is shortened and its corners rounded.
    Returns the path, or None and the outcome that says why. Raises BunrakuError for configurations of another figure.
    """
    begun, seed = time.perf_counter(), whole(seed)
    roadmap = Roadmap(space) if roadmap is None else roadmap
    ends = [space.configuration(q, what) for q, what in ((start, "start"), (goal, "goal"))]

    def ended(outcome: Outcome, path: Path | None = None) -> FoundWay:
        if path is not None and smooth:
            path = rounded(shortcut(path, seed=seed))
        return FoundWay(outcome, path, roadmap, time.perf_counter() - begun)

    for q, blocked in zip(ends, (START_BLOCKED, GOAL_BLOCKED), strict=True):
        if why := space.objection(q):
            return ended(blocked.because(why))
    known = roadmap.search(*ends)
    if known is not None:
        return ended(FOUND, known)
    if not seconds > 0.0:
        return ended(NO_BUDGET)
    growth = connect(space, *ends, seed=seed, seconds=seconds)
    if growth.path is None:
        return ended(growth.outcome)
    roadmap.add_path(growth.path)
    return ended(FOUND, growth.path)


def extend(roadmap: Roadmap, *, seed: int = 0, guards: int = 50, seconds: float = np.inf) -> None:
    """Adds up to `guards` guards to a `roadmap` within `seconds` of processor time; `seed` is that of the random samples.

    A guard is a node that no earlier guard sees (bunraku.planning.ways.visibility).
    """
    learn(roadmap, seed=seed, guards=len(roadmap.guards) + guards, seconds=seconds)
