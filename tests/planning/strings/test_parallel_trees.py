"""Trees side by side, and one whose worker is killed in the middle."""

from __future__ import annotations

import functools
import math
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from benchmarks.arm_pairs import problems
from bunraku import workers as house
from bunraku.planning.strings import Outcome, Problem, Progress, plan, plan_together, recheck
from bunraku.planning.strings.parallel_trees import Board


@functools.cache
def problem() -> Problem:
    return problems()[8]


def test_one_worker_is_the_plain_search() -> None:
    alone = plan(problem(), seed=5)
    assert plan_together(problem(), seed=5, workers=1).motion == alone.motion


def test_impossible_problems_start_no_worker() -> None:
    before = set(multiprocessing.active_children())
    assert plan_together(problem(), seconds=0.0, workers=8).outcome is Outcome.NO_BUDGET
    assert set(multiprocessing.active_children()) == before


def test_the_plan_arrives_though_a_worker_is_killed() -> None:
    """Both trees want many segments; one is killed half-way, and done again."""
    killed, heard = [], list[Progress]()
    with house.Pool(2) as pool:

        def kill() -> None:
            while len(pool.pids) < 2:
                time.sleep(0.05)
            time.sleep(4.0)
            victim = pool.pids[0]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

        thread = threading.Thread(target=kill)
        thread.start()
        found = plan_together(problem(), "ao-est", pool=pool, seconds=300.0, segments=30_000, progress=heard.append)
        thread.join()
        again = plan_together(problem(), pool=pool, seed=1)  # the pool is kept
    assert again.solved
    assert killed
    assert heard
    assert max(word.segments for word in heard) > 1000
    assert heard[-1].cost >= found.cost
    assert found.solved
    assert found.segments == 60_000  # nothing was lost, nothing counted twice
    assert found.motion is not None
    assert recheck(found.motion, problem().scene, limits=problem().limits, goal=problem().goal).accepted


def test_words_of_several_trees_are_one(tmp_path: Path) -> None:
    board = Board(str(tmp_path))
    assert board.read() is None
    board.writer(0)(Progress(1.0, 10, 20, 0.3, math.inf))
    board.writer(1)(Progress(2.0, 5, 30, 0.1, 4.0))
    assert board.read() == Progress(2.0, 15, 50, 0.1, 4.0)


@pytest.mark.slow
def test_trees_on_a_cluster() -> None:
    pytest.importorskip("distributed")
    found = plan_together(problem(), workers=2, cluster="local", seed=1, seconds=20)
    assert found.solved
