"""Shortcuts: shorter plans that the rechecker still accepts."""

from __future__ import annotations

import pytest

from benchmarks.arm_pairs import problems
from bunraku.planning.strings import recheck, search, shortcut


@pytest.mark.slow
def test_plans_get_shorter_and_stay_valid() -> None:
    saved = []
    for k in (0, 8):
        problem = problems()[k]
        found = search(problem, seed=1)
        short = shortcut(found, tries=25)
        assert short.motion is not None
        assert found.motion is not None
        assert short.cost <= found.cost
        assert recheck(short.motion, problem.scene, limits=problem.limits, goal=problem.goal).accepted
        saved.append(1.0 - short.motion.duration / found.motion.duration)
    assert max(saved) > 0.05, saved


def test_no_plan_has_no_shortcut() -> None:
    none = search(problems()[0], seconds=0.0)
    assert shortcut(none) is none
