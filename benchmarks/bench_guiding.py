"""Guiding a humanoid: planning a segment (the paper: 0.3 ms), inverse kinematics a tick, a whole move; placo beside it."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.environment import Unavailable, python_of, result_of
from benchmarks.table import Ratio, best_of
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.wander import commands, moves, wander

RATIOS = {
    "guiding.plan_placo_ratio": Ratio("guiding.plan_us", "placo.walk_plan_us", at_most=1.0),
}
NOTES = {
    "guiding.plan_us": "median over random commands: one quadratic program and its samples; wanted ≤ 100",
    "guiding.plan_p99_us": "the slowest hundredth, lengthened segments among them; wanted ≤ 2000",
    "guiding.next_us": "median from a command to a move, rules included",
    "guiding.ik_us": "a tick of two Newton steps: two feet, centre of mass, trunk, two hands; wanted ≤ 50",
    "guiding.move_ms": "median of a whole performed move: inverse kinematics of every tick, filter, motors, contacts",
    "guiding.hour_s": "an hour of random input, planned",
    "placo.walk_plan_us": "placo's walk pattern generator: eight steps planned at once, over eight",
}


def _least(function: Callable[[], object]) -> float:
    """Seconds of one call: the least of a few, since noise only ever adds."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def bench_plan() -> dict[str, float]:
    guide = Guide(small_humanoid())
    planning, whole = [], []
    points = guide.start()
    for command in itertools.islice(commands(1), 600):
        goals = guide.rules.subgoals(points, command)
        phases, _, needed = guide.prepared(points, goals)
        planning.append(_least(partial(guide.planner.plan, points.com, phases, goals.com, duration=needed)))
        whole.append(_least(partial(guide.next, points, command)))
        move = guide.next(points, command)
        points = move.end
    return {
        "guiding.plan_us": 1e6 * float(np.median(planning)), "guiding.plan_p99_us": 1e6 * float(np.percentile(planning, 99)),
        "guiding.next_us": 1e6 * float(np.median(whole)),
    }  # fmt: skip


def bench_ik() -> dict[str, float]:
    guide = Guide(small_humanoid())
    performer = Performer(guide)
    body = performer.body
    move = next(itertools.islice(moves(guide, seconds=60.0, seed=1), 9, 10))
    q = body.posed(move.start)
    taken = best_of(lambda: body.follow(move, q), repeat=9, number=1)
    return {"guiding.ik_us": taken / (move.n + 1)}


def bench_move() -> dict[str, float]:
    session = Session(Performer(Guide(small_humanoid())), keep=False)
    taken = []
    for k in range(40):
        start = time.perf_counter()
        session.obey(Command("trunk", (1.0, 0.0, 0.0) if k % 8 < 6 else (0.0, 1.0, 0.0)))
        taken.append(time.perf_counter() - start)
    return {"guiding.move_ms": 1e3 * float(np.median(taken[5:]))}


def bench_hour() -> dict[str, float]:
    start = time.process_time()
    tally = wander(Guide(small_humanoid()), seconds=3600.0, seed=0)
    if tally.violations or tally.fallbacks:
        raise AssertionError(f"the plan broke: {tally}")
    return {"guiding.hour_s": time.process_time() - start, "guiding.hour_zmp_jump_mm": 1e3 * tally.zmp_jump}


def bench_placo() -> dict[str, float]:
    """placo's walk planner, in an environment of its own."""
    try:
        found = result_of(python_of("placo", ("placo==0.10.2",)), "placo_walk.py")
    except Unavailable as reason:
        warnings.warn(f"placo is left out: {reason}", stacklevel=1)
        return {}
    return {"placo.walk_plan_us": found["us"]}
