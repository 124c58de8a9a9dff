"""search: grows a tree until it reaches the goal, and returns only a plan that the rechecker accepts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.kernels.clock import worked
from bunraku.kernels.xorshift import dice
from bunraku.motion import Motion
from bunraku.outcome import STOPPED, Outcome
from bunraku.planning.planning_outcomes import BUDGET_SPENT, FOUND, NO_BUDGET, TREE_FULL
from bunraku.planning.strings.est import prune
from bunraku.planning.strings.plan_result import Plan
from bunraku.planning.strings.planners import TreePlanner, planner_named
from bunraku.planning.strings.planning_problem import PlanningProblem
from bunraku.planning.strings.recheck_plan import PlanVerdict, recheck
from bunraku.planning.strings.search_options import SearchOptions
from bunraku.planning.strings.search_space import SearchSpace
from bunraku.planning.strings.search_tree import SearchTree
from bunraku.planning.strings.sst import GIVEN_UP
from bunraku.planning.strings.tree_growth import grow, plant
from bunraku.planning.strings.tree_nodes import empty_nodes
from bunraku.planning.strings.weighted_cells import cells
from bunraku.progress import Listener, Progress

Array = NDArray[np.float64]


def search(
    problem: PlanningProblem, planner: str | TreePlanner = "est", *, seed: int = 0, seconds: float = 10.0,
    segments: int | None = None, options: SearchOptions = SearchOptions(), progress: Listener | None = None,
) -> Plan:  # fmt: skip
    """Plans with one tree. Anytime planners use the whole budget, the others stop at the first plan.

    problem: figure, start, goal, scene and limits.
    planner: one of the names in `PLANNERS`, or a `TreePlanner`.
    seed: seed of the random numbers; the same seed and number of segments give the same plan.
    seconds: budget of processor time [s].
    segments: maximum number of simulated segments; None for no limit but time.
    options: numbers that tune the search.
    progress: called with the state of the search.
    Returns the best plan; if there is none, its outcome says why. Ctrl-C stops the search and keeps the best so far.
    Raises UnknownName for a planner that does not exist.
    """
    chosen = planner_named(planner) if isinstance(planner, str) else planner
    task = SearchTask(problem, chosen, seed, seconds, segments, options)
    return task.grow(hear=None if progress is None else lambda state: progress(task.word(state)))


@dataclass(frozen=True)
class TreeState:
    """Progress of a tree."""

    seconds: float
    """Processor time so far [s]."""
    nodes: int
    segments: int
    distance: float
    """Distance of the nearest node from the goal [m]."""
    cost: float
    """Cost of the best plan; infinite before the first."""


@dataclass(frozen=True, eq=False)
class SearchTask:
    """Everything that a tree needs to grow; the same for all workers."""

    problem: PlanningProblem
    planner: TreePlanner
    seed: int
    seconds: float
    """Budget of processor time of each tree [s]."""
    segments: int | None
    """Maximum number of segments that each tree simulates; None for no limit."""
    options: SearchOptions

    def refusal(self) -> Plan | None:
        """An empty plan that says why, if the task cannot succeed; None if a tree may grow."""
        if not self.seconds > 0.0 or self.segments == 0:
            return Plan(NO_BUDGET, self.problem, self.planner, seed=self.seed)
        outcome = self.problem.refusal()
        return None if outcome is None else Plan(outcome, self.problem, self.planner, seed=self.seed)

    def stopped(self) -> Plan:
        """The empty plan of a task that was stopped before a tree grew."""
        return Plan(STOPPED.because("stopped before the search began"), self.problem, self.planner, seed=self.seed)

    def word(self, state: TreeState, trees: int = 1) -> Progress:
        """The `state` of a tree, or of several `trees` together, as a progress report."""
        share = 0.0 if self.segments is None else state.segments / (trees * self.segments)
        cost = f", cost {state.cost:.3g}" if state.cost < math.inf else ""
        text = f"{state.nodes:,} nodes, {1e3 * state.distance:.0f} mm from the goal{cost}"
        return Progress("search", min(max(state.seconds / self.seconds, share), 1.0), text)

    def grow(
        self, *, stream: int = 0, stop: Callable[[], bool] | None = None, hear: Callable[[TreeState], None] | None = None
    ) -> Plan:
        """The plan of one tree.

        stream: number of the random stream; trees of one seed with different streams are independent.
        stop: called regularly; the search stops when it returns True.
        hear: called with the state of the tree after every batch of segments.
        """
        tree, most, clock = None, self.segments, 0.0
        try:
            refused = self.refusal()
            if refused is not None:
                return refused
            tree = TreeSearch(self, stream)
            tree.warm()
            clock = worked()
            while not tree.ended:
                left = self.options.batch if most is None else min(self.options.batch, most - tree.segments)
                tree.step(left, worked() - clock)
                if hear is not None:
                    hear(tree.state(worked() - clock))
                if worked() - clock >= self.seconds or (most is not None and tree.segments >= most):
                    tree.end(BUDGET_SPENT)
                elif stop is not None and stop():
                    tree.end(STOPPED)
        except KeyboardInterrupt:
            if tree is None:
                return self.stopped()
            tree.end(STOPPED)
            clock = clock or worked()
        return tree.plan(worked() - clock)


class TreeSearch:
    """A growing tree, and the best plan in it.

    task: what to search for and how. stream: number of the random stream; trees with different streams are independent.
    """

    def __init__(self, task: SearchTask, stream: int) -> None:
        self.task, self.planner, self.options = task, task.planner, task.options
        self.space = space = SearchSpace(task.problem, task.options)
        self.dice = dice(task.seed, stream=stream)
        capacity, sparse = self.options.capacity, self.planner.sparse
        points, kinematic = len(space.points), task.problem.figure.n_q - task.problem.figure.n_dynamic
        self.nodes = empty_nodes(capacity, len(space.root), kinematic, points)
        self.cells = cells(1 if sparse else capacity)
        self.sparse = space.sparse(self.planner, capacity if sparse else 1)
        self.taste = self.planner.taste()
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
        """Number of simulated segments."""
        return int(self.nodes.segments[0])

    @property
    def ended(self) -> bool:
        """Whether the search is over."""
        return self.outcome is not None

    def end(self, outcome: Outcome) -> None:
        """Ends the search with an `outcome`, unless it has one already."""
        self.outcome = outcome if self.outcome is None else self.outcome

    def warm(self) -> None:
        """Compiles or loads the kernels, so that no budget pays for it."""
        self._grow(0, math.inf)
        recheck(self.space.motion(np.zeros((1, self.speeds.shape[1]))), self.space.problem.scene)

    def _grow(self, segments: int, bound: float) -> int:
        space = self.space
        node = grow(
            space.tree, space.flat, space.threads, space.course, space.aim, self.taste, self.nodes, self.cells, self.sparse,
            self.dice, segments, bound, self.options.goal_share,
        )  # fmt: skip
        return int(node)

    def step(self, segments: int, clock: float) -> None:
        """Grows by `segments` segments and examines a node that reached the goal; `clock` is the processor time so far [s]."""
        bound = self.options.cheaper * self.cost if self.best is not None else math.inf
        node = self._grow(segments, bound)
        if node == -2:
            self.outcome = FOUND if self.best is not None else TREE_FULL
        elif node >= 0:
            self._take(node, clock)

    def _take(self, node: int, clock: float) -> None:
        """Simulates a plan at full precision and rechecks it; if it is refused, the search continues."""
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
            self.outcome = FOUND
        else:
            self._forget_dear()

    def _forget_dear(self) -> None:
        """Restricts the search to nodes from which a cheaper plan is possible."""
        bound, n = self.options.cheaper * self.cost, int(self.nodes.count[0])
        if self.planner.sparse:
            self.sparse.F[0, :n][self.nodes.cost[:n] >= bound - self.planner.time * self.space.problem.segment] = GIVEN_UP
        else:
            prune(self.nodes, self.cells, self.space.aim, self.taste, bound)

    def _cut(self, node: int, segment: int, length: int) -> None:
        """Removes everything that grew from one segment of a path: it would be refused again."""
        for _ in range(length - 1 - segment):
            node = int(self.nodes.parent[node])
        n = int(self.nodes.count[0])
        dead = np.zeros(n, np.bool_)
        dead[node] = True
        for k in range(node + 1, n):  # parents come before their children
            dead[k] = dead[self.nodes.parent[k]]
        self.nodes.far[:n][dead] = math.inf
        self.nodes.cell[:n][dead] = -1
        self.sparse.F[0, : min(n, self.sparse.F.shape[1])][dead[: self.sparse.F.shape[1]]] = GIVEN_UP
        self._forget_dear()

    def path(self, node: int) -> Array:
        """The hand speeds of the segments from the root to a `node`, (segments, kinematic)."""
        out = []
        while node > 0:
            out.append(self.nodes.speeds[node])
            node = int(self.nodes.parent[node])
        return np.array(out[::-1]).reshape(len(out), -1)

    def state(self, clock: float) -> TreeState:
        """Progress of the tree after `clock` seconds of processor time."""
        n = int(self.nodes.count[0])
        return TreeState(clock, n, self.segments, float(self.nodes.far[:n].min()), self.cost)

    def plan(self, clock: float) -> Plan:
        """The best plan, or why there is none, after `clock` seconds of processor time."""
        outcome = BUDGET_SPENT if self.outcome is None else self.outcome
        if self.best is not None and outcome is not STOPPED:
            outcome = FOUND
        elif self.best is None:
            nearest = 1e3 * self.state(clock).distance
            outcome = outcome.because(f"the nearest of {int(self.nodes.count[0]):,} nodes is {nearest:.3g} mm from the goal")
        return Plan(
            outcome, self.space.problem, self.planner, self.best, self.verdict, self.speeds, self.cost, {"search": clock},
            self.task.seed, self.segments, self.refused, tuple(self.history), SearchTree.of(self.nodes, self.space),
        )  # fmt: skip
