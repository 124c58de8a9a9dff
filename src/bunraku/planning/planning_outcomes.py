"""All outcomes of planning, each with its advice."""

from __future__ import annotations

from bunraku.outcome import Outcome

FOUND = Outcome(True, "found")
BUDGET_SPENT = Outcome(
    False, "budget spent", "nothing was found in the time given", advice="give more seconds, a wider goal or more room to move"
)
NO_BUDGET = Outcome(False, "no budget", "the budget is zero", advice="give a budget above zero")
TREE_FULL = Outcome(False, "tree full", "the tree has no room for more nodes", advice="prune less: a wider goal, or larger cells")
NO_FREE_SAMPLE = Outcome(False, "no free sample", "no sample is free", advice="widen the bounds, or make the margin smaller")
START_BLOCKED = Outcome(False, "start blocked", "the start touches something", advice="move the start or the obstacle")
START_OUTSIDE_LIMITS = Outcome(
    False, "start outside limits", "a variable starts outside of its limits", advice="move the start, or widen the limits"
)
STRINGS_TOO_SHORT = Outcome(
    False, "strings too short", "strings do not reach at the start", advice="lengthen them, or start at rest"
)
GOAL_BLOCKED = Outcome(False, "goal blocked", "the goal lies inside an obstacle", advice="move the goal or the obstacle")
GOAL_OUT_OF_REACH = Outcome(
    False, "goal out of reach", "no string reaches the goal", advice="move it nearer, or give the hands a larger box"
)
NO_INPUT = Outcome(
    False, "no input", "no variable may move", advice="let some variable move, with a speed and an acceleration above zero"
)
