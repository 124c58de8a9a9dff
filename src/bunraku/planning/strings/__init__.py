"""Plans of figures that hang on strings: trees of simulated segments, rechecked, shortened, smoothed."""

from bunraku.planning.strings.goal import Goal
from bunraku.planning.strings.hand_limits import Limits
from bunraku.planning.strings.outcome import Outcome
from bunraku.planning.strings.parallel_trees import plan_together
from bunraku.planning.strings.planners import PLANNERS, Planner
from bunraku.planning.strings.planning_problem import Problem
from bunraku.planning.strings.recheck_plan import PlanVerdict, recheck
from bunraku.planning.strings.search import Plan, Progress, plan
from bunraku.planning.strings.search_tree import SearchTree
from bunraku.planning.strings.shortcut import shortcut
from bunraku.planning.strings.smoothing import smooth, stabilize

__all__ = [
    "PLANNERS", "Goal", "Limits", "Outcome", "Plan", "PlanVerdict", "Planner", "Problem", "Progress", "SearchTree", "plan",
    "plan_together", "recheck", "shortcut", "smooth", "stabilize",
]  # fmt: skip
