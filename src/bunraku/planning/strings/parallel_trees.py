"""Independent trees of one problem side by side: the first plan wins, or the cheapest of all."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path

from bunraku import workers as house
from bunraku.planning.strings.outcome import Outcome
from bunraku.planning.strings.planners import Planner, planner_named
from bunraku.planning.strings.planning_problem import Problem
from bunraku.planning.strings.search import Plan, Progress, plan

KEPT = 20_000  # nodes of a tree that travel back with a plan
OFTEN = 0.2  # [s] between two words from a tree


@dataclass(frozen=True)
class Board:
    """A folder of this machine in which every tree writes how far it is."""

    folder: str

    def writer(self, stream: int) -> Callable[[Progress], None]:
        """What a tree should be told to call."""
        last = -math.inf

        def write(word: Progress) -> None:
            nonlocal last
            if time.monotonic() - last >= OFTEN:
                last = time.monotonic()
                ready = Path(self.folder) / f"{stream}.part"
                ready.write_text(json.dumps(dataclasses.astuple(word)), encoding="utf-8")
                ready.replace(ready.with_suffix(".json"))

        return write

    def read(self) -> Progress | None:
        """All trees as one: the work of all of them, and the best of any."""
        words = [Progress(*json.loads(file.read_text(encoding="utf-8"))) for file in sorted(Path(self.folder).glob("*.json"))]
        if not words:
            return None
        return Progress(
            max(word.seconds for word in words), sum(word.nodes for word in words), sum(word.segments for word in words),
            min(word.distance for word in words), min(word.cost for word in words),
        )  # fmt: skip


def plan_together(
    problem: Problem, planner: str | Planner = "est", *, workers: int | None = None, cluster: str | None = None,
    pool: house.Pool | None = None, seed: int = 0, seconds: float = 10.0, segments: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Plan:  # fmt: skip
    """`plan` with one tree for each worker; `seconds` and `segments` are what each tree may spend.

    One worker, on this machine, gives the same plan for the same seed. With several, anytime planners give the cheapest plan
    of all trees, the others the first; Ctrl-C keeps what there is. A `pool` that is kept from plan to plan saves the start of its
    workers. Trees on a cluster tell no progress.
    """
    chosen = planner_named(planner) if isinstance(planner, str) else planner
    count = pool.workers if pool is not None else workers or os.cpu_count() or 1
    if not seconds > 0.0 or segments == 0 or problem.refusal() is not None or (count == 1 and cluster is None):
        return plan(problem, chosen, seed=seed, seconds=seconds, segments=segments, progress=progress)
    task = _Task(problem, chosen, seed, seconds, segments)
    if cluster is not None:
        with house.executor(count, cluster=cluster) as (executor, flag):
            return race(executor, flag, count, task)
    with tempfile.TemporaryDirectory(prefix="bunraku-") as folder:
        flag, board = house.FileFlag(str(Path(folder) / "stop")), Board(folder)
        if pool is not None:
            return race(pool, flag, count, task, board=board, progress=progress)
        with house.Pool(count) as own:
            return race(own, flag, count, task, board=board, progress=progress)


@dataclass(frozen=True, eq=False)
class _Task:
    """What every tree is told."""

    problem: Problem
    planner: Planner
    seed: int
    seconds: float
    segments: int | None

    def grow(self, stream: int, flag: house.Flag, board: Board | None) -> Plan:
        """What a worker does."""
        found = plan(
            self.problem, self.planner, seed=self.seed, stream=stream, seconds=self.seconds, segments=self.segments,
            stop=flag.is_set, progress=None if board is None else board.writer(stream),
        )  # fmt: skip
        return found if found.tree is None else dataclasses.replace(found, tree=found.tree.first(KEPT))


def race(
    pool: Executor, flag: house.Flag, count: int, task: _Task, *, board: Board | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Plan:  # fmt: skip
    """`count` trees in the workers of a pool; the flag ends them."""
    jobs: list[Future[Plan]] = [pool.submit(task.grow, stream, flag, board) for stream in range(count)]
    open_, stopped = set(jobs), False
    while open_:
        try:
            done, open_ = wait(open_, timeout=None if progress is None else OFTEN, return_when=FIRST_COMPLETED)
            if not task.planner.anytime and any(job.result().solved for job in done):
                flag.set()
            word = board.read() if board is not None and progress is not None else None
            if progress is not None and word is not None:
                progress(word)
        except KeyboardInterrupt:  # the workers hear the flag, and hand over what they have
            stopped = True
            flag.set()
    return _best([job.result() for job in jobs], stopped)


def _best(found: list[Plan], stopped: bool) -> Plan:
    """The cheapest plan, or else the tree that came nearest, with what all of them did."""
    best = min(found, key=lambda one: (one.cost, _distance(one)))
    outcome = Outcome.STOPPED if stopped else Outcome.SOLVED if best.solved else best.outcome
    return dataclasses.replace(
        best, outcome=outcome, seconds=sum(one.seconds for one in found), segments=sum(one.segments for one in found),
        refused=sum(one.refused for one in found),
    )  # fmt: skip


def _distance(one: Plan) -> float:
    return float(one.tree.distance.min()) if one.tree is not None and len(one.tree) else float("inf")
