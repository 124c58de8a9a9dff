"""plan: grows a tree until it reaches the goal, and hands over only what the rechecker accepts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.kernels.clock import worked
from bunraku.kernels.xorshift import dice
from bunraku.motion import Motion
from bunraku.planning.strings.est import prune
from bunraku.planning.strings.outcome import Outcome
from bunraku.planning.strings.planners import Planner, planner_named
from bunraku.planning.strings.planning_problem import Problem
from bunraku.planning.strings.recheck_plan import PlanVerdict, recheck
from bunraku.planning.strings.search_space import STRICTER, Space
from bunraku.planning.strings.search_tree import SearchTree
from bunraku.planning.strings.sst import AWAY
from bunraku.planning.strings.tree_growth import grow, plant
from bunraku.planning.strings.tree_nodes import empty_nodes
from bunraku.planning.strings.weighted_cells import cells

Array = NDArray[np.float64]
BATCH = 250  # segments between two looks at the clock
CAPACITY = 400_000  # nodes
CHEAPER = 0.995  # of the best plan: what the next one may cost at most


@dataclass(frozen=True)
class Progress:
    """A word from a search that is under way."""

    seconds: float
    nodes: int
    segments: int
    distance: float
    """Of the nearest node from the goal [m]."""
    cost: float
    """Of the best plan; infinite before the first."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What a search brought."""

    outcome: Outcome
    detail: str
    problem: Problem
    planner: Planner
    motion: Motion | None = None
    verdict: PlanVerdict | None = None
    speeds: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """Of the hands at the end of every segment of the plan."""
    cost: float = math.inf
    seconds: float = 0.0
    """Of the processor."""
    segments: int = 0
    refused: int = 0
    """Plans that the rechecker did not accept, and that were dropped."""
    history: tuple[tuple[float, float], ...] = ()
    """When a better plan was found [s], and its cost."""
    tree: SearchTree | None = None

    __repr__ = brief

    @property
    def solved(self) -> bool:
        return self.motion is not None

    def __str__(self) -> str:
        found = f"{self.motion.duration:.3g} s, cost {self.cost:.3g}" if self.motion is not None else self.outcome.value
        nodes = 0 if self.tree is None else len(self.tree)
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.planner.name}: {found}{detail}; {nodes} nodes, {self.segments} segments in {self.seconds:.2f} s"


def plan(
    problem: Problem, planner: str | Planner = "est", *, seed: int = 0, stream: int = 0, seconds: float = 10.0,
    segments: int | None = None, progress: Callable[[Progress], None] | None = None, stop: Callable[[], bool] | None = None,
) -> Plan:  # fmt: skip
    """Searches for `seconds` of processor time, or for a number of segments; Ctrl-C keeps the best so far.

    Anytime planners use all of it, the others stop at the first plan. Of one seed, `stream`s are independent trees; a seed
    with a number of segments gives the same plan again. `stop()` is asked now and then.
    """
    chosen = planner_named(planner) if isinstance(planner, str) else planner
    if not seconds > 0.0 or segments == 0:
        return Plan(Outcome.NO_BUDGET, "", problem, chosen)
    refusal = problem.refusal()
    if refusal is not None:
        return Plan(*refusal, problem, chosen)
    search = Search(Space(problem), chosen, seed, stream)
    search.warm()
    clock = worked()
    try:
        while not search.ended:
            left = BATCH if segments is None else min(BATCH, segments - search.segments)
            search.step(left, worked() - clock)
            if progress is not None:
                progress(search.word(worked() - clock))
            if worked() - clock >= seconds or (segments is not None and search.segments >= segments):
                search.end(Outcome.BUDGET)
            elif stop is not None and stop():
                search.end(Outcome.STOPPED)
    except KeyboardInterrupt:
        search.end(Outcome.STOPPED)
    return search.result(worked() - clock)


class Search:
    """A tree that grows, and the best plan in it."""

    def __init__(self, space: Space, planner: Planner, seed: int, stream: int) -> None:
        self.space, self.planner, self.dice = space, planner, dice(seed, stream=stream)
        points, kinematic = len(space.points), space.problem.figure.n_q - space.problem.figure.n_dynamic
        self.nodes = empty_nodes(CAPACITY, len(space.root), kinematic, points)
        self.cells = cells(1 if planner.sparse else CAPACITY)
        self.sparse = space.sparse(planner, CAPACITY if planner.sparse else 1)
        self.taste = planner.taste()
        self.best: Motion | None = None
        self.verdict: PlanVerdict | None = None
        self.speeds = np.zeros((0, kinematic))
        self.cost, self.refused, self.history = math.inf, 0, list[tuple[float, float]]()
        self.outcome: Outcome | None = None
        plant(
            space.tree, space.flat, space.course, space.aim, self.taste, space.root, self.nodes, self.cells, self.sparse, self.dice
        )

    @property
    def segments(self) -> int:
        return int(self.nodes.segments[0])

    @property
    def ended(self) -> bool:
        return self.outcome is not None

    def end(self, outcome: Outcome) -> None:
        """The first outcome counts."""
        self.outcome = self.outcome or outcome

    def warm(self) -> None:
        """Compiles, or loads, what the search calls, so that no clock counts it."""
        self._grow(0, math.inf)
        recheck(self.space.motion(np.zeros((1, self.speeds.shape[1]))), self.space.problem.scene)

    def _grow(self, segments: int, bound: float) -> int:
        space = self.space
        node = grow(
            space.tree, space.flat, space.threads, space.course, space.aim, self.taste, self.nodes, self.cells, self.sparse,
            self.dice, segments, bound, STRICTER,
        )  # fmt: skip
        return int(node)

    def step(self, segments: int, clock: float) -> None:
        """Grows by some segments, and looks at what reached the goal."""
        bound = CHEAPER * self.cost if self.best is not None else math.inf
        node = self._grow(segments, bound)
        if node == -2:
            self.outcome = Outcome.SOLVED if self.best is not None else Outcome.NO_ROOM
        elif node >= 0:
            self._take(node, clock)

    def _take(self, node: int, clock: float) -> None:
        """Repeats a plan to the last digit and has it checked; the search goes on where it is refused."""
        problem, speeds = self.space.problem, self.path(node)
        motion = self.space.motion(speeds)
        verdict = recheck(motion, problem.scene, limits=problem.limits, goal=problem.goal, allowed=problem.allowed)
        if not verdict.accepted:
            self.refused += 1
            self._cut(node, min(int(verdict.since / problem.segment), len(speeds) - 1), len(speeds))
            return
        self.best, self.verdict, self.speeds, self.cost = motion, verdict, speeds, float(self.nodes.cost[node])
        self.history.append((clock, self.cost))
        if not self.planner.anytime:
            self.outcome = Outcome.SOLVED
        else:
            self._forget_dear()

    def _forget_dear(self) -> None:
        """From now on only nodes are extended from which a cheaper plan can come."""
        bound, n = CHEAPER * self.cost, int(self.nodes.count[0])
        if self.planner.sparse:
            self.sparse.F[0, :n][self.nodes.cost[:n] >= bound - self.planner.time * self.space.problem.segment] = AWAY
        else:
            prune(self.nodes, self.cells, self.space.aim, self.taste, bound)

    def _cut(self, node: int, segment: int, length: int) -> None:
        """Gives up everything that grew from one segment of a path on: it would be refused again."""
        for _ in range(length - 1 - segment):
            node = int(self.nodes.parent[node])
        n = int(self.nodes.count[0])
        dead = np.zeros(n, np.bool_)
        dead[node] = True
        for k in range(node + 1, n):  # parents come before their children
            dead[k] = dead[self.nodes.parent[k]]
        self.nodes.far[:n][dead] = math.inf
        self.nodes.cell[:n][dead] = -1
        self.sparse.F[0, : min(n, self.sparse.F.shape[1])][dead[: self.sparse.F.shape[1]]] = AWAY
        self._forget_dear()

    def path(self, node: int) -> Array:
        """The speeds that lead to a node, from the root."""
        out = []
        while node > 0:
            out.append(self.nodes.speeds[node])
            node = int(self.nodes.parent[node])
        return np.array(out[::-1]).reshape(len(out), -1)

    def word(self, clock: float) -> Progress:
        n = int(self.nodes.count[0])
        return Progress(clock, n, self.segments, float(self.nodes.far[:n].min()), self.cost)

    def result(self, clock: float) -> Plan:
        ended = self.outcome or Outcome.BUDGET
        outcome = Outcome.SOLVED if self.best is not None and ended is not Outcome.STOPPED else ended
        detail = ""
        if self.best is None:
            detail = f"the nearest of {int(self.nodes.count[0])} nodes is {1e3 * self.word(clock).distance:.3g} mm from the goal"
        return Plan(
            outcome, detail, self.space.problem, self.planner, self.best, self.verdict, self.speeds, self.cost, clock,
            self.segments, self.refused, tuple(self.history), SearchTree.of(self.nodes, self.space),
        )  # fmt: skip
