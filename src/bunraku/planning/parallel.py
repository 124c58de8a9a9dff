"""Independent trees of one problem side by side: the first plan wins, or the cheapest of all."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, as_completed

from bunraku import workers as house
from bunraku.planning.outcome import Outcome
from bunraku.planning.planners import Planner, planner_named
from bunraku.planning.problem import Problem
from bunraku.planning.search import Plan, Progress, plan

KEPT = 20_000  # nodes of a tree that travel back with a plan


def plan_together(
    problem: Problem, planner: str | Planner = "est", *, workers: int | None = None, cluster: str | None = None, seed: int = 0,
    seconds: float = 10.0, segments: int | None = None, progress: Callable[[Progress], None] | None = None,
) -> Plan:  # fmt: skip
    """`plan` with one tree for each worker; `seconds` and `segments` are what each tree may spend.

    One worker, on this machine, gives the same plan for the same seed. With several, anytime planners give the cheapest plan
    of all trees, the others the first; Ctrl-C keeps what there is.
    """
    chosen = planner_named(planner) if isinstance(planner, str) else planner
    count = workers or os.cpu_count() or 1
    if not seconds > 0.0 or segments == 0 or problem.refusal() is not None or (count == 1 and cluster is None):
        return plan(problem, chosen, seed=seed, seconds=seconds, segments=segments, progress=progress)
    with house.executor(count, cluster=cluster) as (pool, flag):
        return _race(pool, flag, count, problem, chosen, seed, seconds, segments)


def _race(
    pool: Executor, flag: house.Flag, count: int, problem: Problem, planner: Planner, seed: int, seconds: float,
    segments: int | None,
) -> Plan:  # fmt: skip
    jobs: list[Future[Plan]] = [
        pool.submit(_tree, problem, planner, seed, stream, seconds, segments, flag) for stream in range(count)
    ]
    found: list[Plan] = []
    stopped = False
    while len(found) < count:
        try:
            for job in as_completed(jobs):
                found.append(job.result())
                if found[-1].solved and not planner.anytime:
                    flag.set()
        except KeyboardInterrupt:  # the workers hear the flag, and hand over what they have
            stopped, found = True, []
            flag.set()
    return _best(found, stopped)


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


def _tree(
    problem: Problem, planner: Planner, seed: int, stream: int, seconds: float, segments: int | None, flag: house.Flag
) -> Plan:
    """What a worker does."""
    found = plan(problem, planner, seed=seed, stream=stream, seconds=seconds, segments=segments, stop=flag.is_set)
    return found if found.tree is None else dataclasses.replace(found, tree=found.tree.first(KEPT))
