"""Trees side by side, and one whose worker is killed in the middle."""

from __future__ import annotations

import functools
import math
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from benchmarks.arm_pairs import problems
from bunraku import workers as house
from bunraku.planning.planning_outcomes import NO_BUDGET
from bunraku.planning.strings import PlanningProblem, recheck, search, search_together
from bunraku.planning.strings.parallel_trees import Board
from bunraku.planning.strings.search import TreeState
from bunraku.progress import Progress
from tests.patience import PATIENCE


@functools.cache
def problem() -> PlanningProblem:
    return problems()[8]


def test_one_worker_is_the_plain_search() -> None:
    alone = search(problem(), seed=5)
    assert search_together(problem(), seed=5, workers=1).motion == alone.motion


def test_impossible_problems_start_no_worker() -> None:
    before = set(multiprocessing.active_children())
    assert search_together(problem(), seconds=0.0, workers=8).outcome == NO_BUDGET
    assert set(multiprocessing.active_children()) == before


@pytest.mark.slow
def test_the_plan_arrives_though_a_worker_is_killed() -> None:
    """Both trees want many segments; one is killed half-way, and done again."""
    killed, heard = [], list[Progress]()
    with house.Pool(2) as pool:

        def hear(word: Progress) -> None:
            heard.append(word)
            if word.done > 0.1 and not killed:
                killed.append(pool.pids[0])
                os.kill(killed[0], signal.SIGKILL)

        found = search_together(problem(), "ao-est", pool=pool, seconds=PATIENCE, segments=8_000, progress=hear)
        again = search_together(problem(), pool=pool, seed=1)  # the pool is kept
    assert again.motion is not None
    assert killed
    assert heard
    assert {word.stage for word in heard} == {"search"}
    assert 0.0 < max(word.done for word in heard) <= 1.0
    assert "mm from the goal" in heard[-1].text
    assert found.motion is not None
    assert found.segments == 16_000  # nothing was lost, nothing counted twice
    assert found.motion is not None
    assert recheck(found.motion, problem().scene, limits=problem().limits, goal=problem().goal).accepted


def test_words_of_several_trees_are_one(tmp_path: Path) -> None:
    board = Board(str(tmp_path), 0.2)
    assert board.read() is None
    board.writer(0)(TreeState(1.0, 10, 20, 0.3, math.inf))
    board.writer(1)(TreeState(2.0, 5, 30, 0.1, 4.0))
    assert board.read() == TreeState(2.0, 15, 50, 0.1, 4.0)


@pytest.mark.slow
def test_trees_on_a_cluster() -> None:
    pytest.importorskip("distributed")
    found = search_together(problem(), workers=2, cluster="local", seed=1, seconds=PATIENCE)
    assert found.motion is not None
