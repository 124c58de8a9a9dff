"""SearchOptions: the numbers that tune a search and are the same for every planner."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchOptions:
    """How a tree is grown and what it costs in memory. What a planner prefers is in `TreePlanner`."""

    batch: int = 250
    """Segments that are simulated between two looks at the clock."""
    capacity: int = 400_000
    """The most nodes of a tree."""
    cheaper: float = 0.995
    """The most that the next plan of an anytime planner may cost, as a share of the best so far."""
    goal_share: float = 0.85
    """The search asks for this share of the goal's distance and speed, so that a finer step still ends in the goal."""
    string_radius: float = 0.001
    """Of a string, where it must not touch obstacles [m]."""
    tolerance: float = 1e-8
    """Of Newton's method in a step [rad or m]: a plan is simulated again to the last digit before it is handed over."""
    kept_nodes: int = 20_000
    """The most nodes of a tree that travel from a worker to the caller with a plan."""
    report_every: float = 0.2
    """Between two reports of a worker [s]."""
