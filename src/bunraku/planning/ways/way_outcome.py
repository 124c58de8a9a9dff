"""How a search for a way ended, as a value that advises."""

from __future__ import annotations

import enum


class WayOutcome(enum.Enum):
    """How a search for a way ended; the text is the advice."""

    FOUND = "found"
    BUDGET = "no way was found in the time given: give more seconds, or learn a larger roadmap"
    STOPPED = "stopped: what was learnt is kept"
    START_BLOCKED = "the start touches something, or is beyond a limit or a reach: move the start"
    GOAL_BLOCKED = "the goal touches something, or is beyond a limit or a reach: move the goal"
    NO_ROOM = "no sample is free: widen the bounds, or make the margin smaller"
    NO_BUDGET = "the budget is zero: give seconds"

    @property
    def found(self) -> bool:
        return self is WayOutcome.FOUND

    @property
    def impossible(self) -> bool:
        """Known before the search began."""
        return self in (WayOutcome.START_BLOCKED, WayOutcome.GOAL_BLOCKED, WayOutcome.NO_ROOM, WayOutcome.NO_BUDGET)
