"""Plans: ways and motions from a start to a goal among obstacles."""

from bunraku.planning.goal import Goal
from bunraku.planning.limits import Limits
from bunraku.planning.outcome import Outcome
from bunraku.planning.parallel import plan_together
from bunraku.planning.planners import PLANNERS, Planner
from bunraku.planning.problem import Problem
from bunraku.planning.recheck import Report, recheck
from bunraku.planning.search import Plan, Progress, plan
from bunraku.planning.shortcut import shortcut
from bunraku.planning.smoothing import smooth, stabilize
from bunraku.planning.tree import SearchTree

__all__ = [
    "PLANNERS", "Goal", "Limits", "Outcome", "Plan", "Planner", "Problem", "Progress", "Report", "SearchTree", "plan",
    "plan_together", "recheck", "shortcut", "smooth", "stabilize",
]  # fmt: skip
