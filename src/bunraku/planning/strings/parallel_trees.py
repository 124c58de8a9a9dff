"""search_together: grows independent trees for one problem in parallel; the first plan wins, or the cheapest of all."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path

from bunraku import workers as house
from bunraku.cleanup import TemporaryFolder
from bunraku.outcome import STOPPED
from bunraku.planning.planning_outcomes import FOUND
from bunraku.planning.strings.plan_result import Plan
from bunraku.planning.strings.planners import TreePlanner, planner_named
from bunraku.planning.strings.planning_problem import PlanningProblem
from bunraku.planning.strings.search import SearchTask, TreeState
from bunraku.planning.strings.search_options import SearchOptions
from bunraku.progress import Listener


def search_together(
    problem: PlanningProblem, planner: str | TreePlanner = "est", *, workers: int | None = None, cluster: str | None = None,
    pool: house.Pool | None = None, seed: int = 0, seconds: float = 10.0, segments: int | None = None,
    options: SearchOptions = SearchOptions(), progress: Listener | None = None,
) -> Plan:  # fmt: skip
    """`search` with one tree per worker. Anytime planners return the cheapest plan of all trees, the others the first.

    problem: figure, start, goal, scene and limits.
    planner: one of the names in `PLANNERS`, or a `TreePlanner`.
    workers: number of trees that grow in parallel; None for one per core. One worker on this machine is the same as `search`, and
        gives the same plan for the same seed.
    cluster: address of a Dask scheduler whose workers are used, or "local" to start one; None uses local processes.
    pool: processes that are reused from plan to plan, which saves starting them; None starts new ones.
    seed: seed of the random numbers; every tree has its own random stream.
    seconds: budget of processor time of each tree [s].
    segments: maximum number of segments that each tree simulates; None for no limit but time.
    options: numbers that tune the search.
    progress: called with the state of all trees together; trees on other machines of a cluster report nothing.
    Returns the best plan, with the work of all trees. Ctrl-C stops all of them and keeps the best so far. Raises BunrakuError
    if no cluster answers, UnknownName for a planner that does not exist.
    """
    chosen = planner_named(planner) if isinstance(planner, str) else planner
    count = pool.workers if pool is not None else workers or os.cpu_count() or 1
    task = SearchTask(problem, chosen, seed, seconds, segments, options)
    hear = None if progress is None else lambda state: progress(task.word(state, count))
    try:
        return task.refusal() or _searched(task, count, cluster, pool, hear)
    except KeyboardInterrupt:
        return task.stopped()


def _searched(
    task: SearchTask, count: int, cluster: str | None, pool: house.Pool | None, hear: Callable[[TreeState], None] | None
) -> Plan:
    """The best plan of so many trees."""
    if count == 1 and cluster is None:
        return task.grow(hear=hear)
    with TemporaryFolder() as folder:
        board = Board(folder, task.options.report_every)
        if cluster is not None:
            with house.executor(count, cluster=cluster) as (executor, shared):
                return _race(executor, shared, count, task, board if cluster == "local" else None, hear)
        flag = house.FileFlag(str(Path(folder) / "stop"))
        if pool is not None:
            return _race(pool, flag, count, task, board, hear)
        with house.Pool(count) as own:
            return _race(own, flag, count, task, board, hear)


@dataclass(frozen=True)
class Board:
    """A folder on this machine in which every tree writes its progress."""

    folder: str
    every: float
    """Smallest time between two writes of one tree [s]."""

    def writer(self, stream: int) -> Callable[[TreeState], None]:
        """The function that tree `stream` calls with its state."""
        last = -math.inf

        def write(state: TreeState) -> None:
            nonlocal last
            if time.monotonic() - last >= self.every:
                last = time.monotonic()
                ready = Path(self.folder) / f"{stream}.part"
                with contextlib.suppress(OSError):  # on a full disk only the progress report is lost
                    ready.write_text(json.dumps(dataclasses.astuple(state)), encoding="utf-8")
                    ready.replace(ready.with_suffix(".json"))

        return write

    def read(self) -> TreeState | None:
        """The combined progress of all trees: total work, best distance and cost; None before the first tree has written."""
        states = [TreeState(*json.loads(file.read_text(encoding="utf-8"))) for file in sorted(Path(self.folder).glob("*.json"))]
        if not states:
            return None
        return TreeState(
            max(state.seconds for state in states), sum(state.nodes for state in states), sum(state.segments for state in states),
            min(state.distance for state in states), min(state.cost for state in states),
        )  # fmt: skip


def _grown(task: SearchTask, stream: int, flag: house.Flag, board: Board | None) -> Plan:
    """Grows one tree, in a worker."""
    found = task.grow(stream=stream, stop=flag.is_set, hear=None if board is None else board.writer(stream))
    return found if found.tree is None else dataclasses.replace(found, tree=found.tree.first(task.options.kept_nodes))


def _race(
    pool: Executor, flag: house.Flag, count: int, task: SearchTask, board: Board | None, hear: Callable[[TreeState], None] | None
) -> Plan:
    """Grows `count` trees in the workers of a pool; the flag stops all of them."""
    jobs: list[Future[Plan]] = [pool.submit(_grown, task, stream, flag, board) for stream in range(count)]
    open_ = set(jobs)
    while open_:
        try:
            done, open_ = wait(open_, timeout=None if hear is None else task.options.report_every, return_when=FIRST_COMPLETED)
            if not task.planner.anytime and any(job.result().motion is not None for job in done):
                flag.set()
            state = board.read() if board is not None and hear is not None else None
            if hear is not None and state is not None:
                hear(state)
        except KeyboardInterrupt:
            flag.set()
            return _handed_over(pool, jobs, task)
    return _best([job.result() for job in jobs])


def _handed_over(pool: Executor, jobs: list[Future[Plan]], task: SearchTask) -> Plan:
    """The best plan of the workers that see the flag soon; one that compiles kernels does not, and is killed."""
    late = wait(jobs, timeout=task.options.hand_over).not_done
    if late and isinstance(pool, house.Pool):
        pool.kill()
    found = [job.result() for job in jobs if job not in late]
    return _best(found, stopped=True) if found else task.stopped()


def _best(found: list[Plan], *, stopped: bool = False) -> Plan:
    """The cheapest plan, or else the tree that came nearest, with the total work of all trees."""
    best = min(found, key=lambda one: (one.cost, _distance(one)))
    outcome = STOPPED if stopped else FOUND if best.motion is not None else best.outcome
    return dataclasses.replace(
        best, outcome=outcome, seconds={"search": sum(one.seconds["search"] for one in found)},
        segments=sum(one.segments for one in found), refused=sum(one.refused for one in found),
    )  # fmt: skip


def _distance(one: Plan) -> float:
    return float(one.tree.distance.min()) if one.tree is not None and len(one.tree) else math.inf
