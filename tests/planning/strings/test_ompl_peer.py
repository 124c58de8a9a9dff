"""OMPL's planners on our segments: what they find is held to the same rechecker."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks.arm_pairs import PAIRS, arm, at_rest, problems
from bunraku.planning.strings import Goal, recheck
from tests.patience import PATIENCE

pytest.importorskip("ompl")


# KPIECE needs 10 to 40 s, which is too near to what it is given where kernels are compiled meanwhile.
@pytest.mark.parametrize("name", [pytest.param("ompl-kpiece", marks=pytest.mark.slow), "ompl-rrt"])
def test_they_solve_an_easy_problem(name: str) -> None:
    from benchmarks.peers.ompl_plan import plan_by_ompl

    wide = Goal.at_configuration(arm(), at_rest(PAIRS[0][2]), within=0.15)
    problem = dataclasses.replace(problems()[0], goal=wide)
    found = plan_by_ompl(problem, name, seed=1, seconds=PATIENCE)
    assert found.motion is not None, found
    assert recheck(found.motion, problem.scene, limits=problem.limits, goal=problem.goal).accepted
    assert found.segments > 0
