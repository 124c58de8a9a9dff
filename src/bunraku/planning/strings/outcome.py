"""Outcome: how a search ended, as a value that advises."""

from __future__ import annotations

import enum


class Outcome(enum.Enum):
    """How a search ended; the text is the advice."""

    SOLVED = "solved"
    BUDGET = "the budget ran out: give more seconds, a wider goal, or more reach to the hands"
    STOPPED = "stopped: the best so far is kept"
    START_COLLIDES = "the start is in collision: move the start or the obstacle"
    START_BEYOND = "a hand starts outside of its limits: move the start, or widen the limits"
    STRINGS_TOO_SHORT = "strings do not reach at the start: lengthen them, or start at rest"
    OUT_OF_REACH = "the goal is out of reach of every string: move it nearer, or give the hands a larger box"
    GOAL_BLOCKED = "the goal lies inside an obstacle: move the goal or the obstacle"
    NO_INPUT = "the box of inputs is empty: let some variable move, with a speed and an acceleration above zero"
    NO_BUDGET = "the budget is zero: give seconds or segments"
    NO_ROOM = "no more room for nodes: nothing else can be kept"

    @property
    def solved(self) -> bool:
        return self is Outcome.SOLVED

    @property
    def impossible(self) -> bool:
        """Known before the search began."""
        return self not in (Outcome.SOLVED, Outcome.BUDGET, Outcome.STOPPED, Outcome.NO_ROOM)
