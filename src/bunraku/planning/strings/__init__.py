"""Planning for figures that hang on strings: trees of simulated segments, rechecked, shortened, smoothed."""

from bunraku.planning.strings.goal import Goal
from bunraku.planning.strings.hand_limits import HandLimits
from bunraku.planning.strings.parallel_trees import search_together
from bunraku.planning.strings.plan_result import Plan
from bunraku.planning.strings.planners import PLANNERS, TreePlanner
from bunraku.planning.strings.planning_problem import PlanningProblem
from bunraku.planning.strings.recheck_plan import PlanVerdict, recheck
from bunraku.planning.strings.search import search
from bunraku.planning.strings.search_options import SearchOptions
from bunraku.planning.strings.search_tree import SearchTree
from bunraku.planning.strings.shortcut import shortcut
from bunraku.planning.strings.smoothing import smooth, stabilize

__all__ = [
    "PLANNERS", "Goal", "HandLimits", "Plan", "PlanVerdict", "PlanningProblem", "SearchOptions", "SearchTree", "TreePlanner",
    "recheck", "search", "search_together", "shortcut", "smooth", "stabilize",
]  # fmt: skip
