"""SearchOptions: numbers that tune a search, the same for every planner."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchOptions:
    """Numbers that tune the growth and the memory of a tree. The preferences of a planner are in `TreePlanner`."""

    batch: int = 250
    """Segments simulated between two checks of the clock."""
    capacity: int = 400_000
    """Maximum number of nodes of a tree."""
    cheaper: float = 0.995
    """Anytime planners: the next plan must cost at most this share of the best so far."""
    goal_share: float = 0.85
    """The search aims for this share of the goal's distance and speed, so that a finer simulation still ends in the goal."""
    string_radius: float = 0.001
    """Radius of a string in collision checks [m]."""
    tolerance: float = 1e-8
    """Tolerance of Newton's method in a step [rad or m]. A found plan is simulated again at full precision."""
    kept_nodes: int = 20_000
    """Maximum number of nodes that a worker sends back with its plan."""
    report_every: float = 0.2
    """Time between two progress reports of a worker [s]."""
    hand_over: float = 1.2
    """Time that workers have to return their best plans after Ctrl-C [s]."""
