"""Planners by name: each is a set of parameters for the same tree-growing loop."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bunraku.errors import UnknownName
from bunraku.planning.strings.tree_nodes import Taste


@dataclass(frozen=True)
class TreePlanner:
    """Parameters of a tree. Rates are probabilities."""

    name: str
    about: str = ""
    grid: bool = True
    """Whether nodes are drawn by cells of a grid, so that crowded places lose weight; otherwise one by one."""
    bias: float = 4.0
    """Preference for nodes near the goal: a node as far from the goal as the start has weight e^−bias."""
    crowd: float = 1.0
    """Exponent that lowers the weight of cells that were drawn often."""
    width: float = 0.05
    """Width of a cell [m]."""
    goal_rate: float = 0.2
    """Probability that the hands move toward their values at the goal, if these are known."""
    one_group: float = 0.9
    """Probability that only one string is moved, if there are several."""
    follow: float = 0.5
    """Probability that a node that came nearer to the goal is extended at once."""
    anytime: bool = False
    """Whether the search continues after the first plan, for cheaper ones."""
    sparse: bool = False
    """SST: nodes are picked near random positions, and only the cheapest near each witness is kept."""
    near: float = 0.05
    """SST: radius in which the cheapest node is picked [m]."""
    apart: float = 0.02
    """SST: smallest distance between witnesses [m]."""
    to_goal: float = 0.2
    """SST: probability that a node is picked near the goal."""
    cost_width: float = math.inf
    """AO-EST: size of a cell in the coordinate of cost."""
    hurry: float = 0.1
    """Weight of excess speed on arrival [s]: 1 m/s too fast counts as `hurry` metres of distance."""
    time: float = 1.0
    """Cost of one second."""
    effort: float = 0.0
    """Cost per unit of ∫ speed² dt of the hands."""

    def taste(self) -> Taste:
        """The parameters as a record for kernels."""
        return Taste(
            self.grid, self.bias, self.crowd, self.width, self.cost_width, self.goal_rate, self.one_group, self.follow, self.hurry,
            self.time, self.effort, self.sparse,
        )  # fmt: skip


PLANNERS = {
    planner.name: planner
    for planner in (
        TreePlanner("est", "modern EST: prefers sparse cells, with a mild pull toward the goal"),
        TreePlanner(
            "est-uniform", "the paper's EST: nodes drawn uniformly", grid=False, bias=0.0, crowd=0.0, goal_rate=0.0, one_group=0.0,
            follow=0.0,
        ),
        TreePlanner(
            "est-goal", "the paper's EST: prefers nodes near the goal", grid=False, bias=12.0, crowd=0.0, goal_rate=0.0,
            one_group=0.0, follow=0.0,
        ),
        TreePlanner("ao-est", "anytime EST: finds cheaper plans the longer it runs", anytime=True, cost_width=0.6),
        TreePlanner("sst", "stable sparse tree, anytime", anytime=True, sparse=True),
    )
}  # fmt: skip


def planner_named(name: str) -> TreePlanner:
    """The planner called `name`; raises UnknownName, which lists all names, if there is none."""
    if name not in PLANNERS:
        raise UnknownName("planner", name, tuple(PLANNERS))
    return PLANNERS[name]
