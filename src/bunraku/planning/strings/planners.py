"""Planners by name: what each prefers, as numbers for the one loop that grows every tree."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bunraku.errors import UnknownName
from bunraku.planning.strings.tree_nodes import Taste


@dataclass(frozen=True)
class TreePlanner:
    """How a tree is grown. Rates are chances between 0 and 1."""

    name: str
    about: str = ""
    grid: bool = True
    """Whether nodes are drawn by cells of a grid, so that crowded places lose weight; else each by itself."""
    bias: float = 4.0
    """How strongly nodes near the goal are preferred: e^−bias at the distance of the start."""
    crowd: float = 1.0
    """How strongly cells that were drawn often are avoided."""
    width: float = 0.05
    """Of a cell [m]."""
    goal_rate: float = 0.2
    """How often the hands are sent toward where they are at the goal, if that is known."""
    one_group: float = 0.9
    """How often only one string is moved, where there are several."""
    follow: float = 0.5
    """How often a node that came nearer to the goal is extended at once."""
    anytime: bool = False
    """Whether it goes on after the first plan, for cheaper ones."""
    sparse: bool = False
    """SST: nodes are picked by random places, and only the cheapest near each witness is kept."""
    near: float = 0.05
    """SST: the radius in which the cheapest is picked [m]."""
    apart: float = 0.02
    """SST: the least distance of witnesses [m]."""
    to_goal: float = 0.2
    """SST: how often the goal itself is the place near which a node is picked."""
    cost_width: float = math.inf
    """AO-EST: the size of a cell in cost."""
    hurry: float = 0.1
    """What a speed of 1 m/s too much on arrival adds to the distance from the goal [s]."""
    time: float = 1.0
    """What a second costs."""
    effort: float = 0.0
    """What a unit of ∫ speed² dt of the hands costs."""

    def taste(self) -> Taste:
        """The same for kernels."""
        return Taste(
            self.grid, self.bias, self.crowd, self.width, self.cost_width, self.goal_rate, self.one_group, self.follow, self.hurry,
            self.time, self.effort, self.sparse,
        )  # fmt: skip


PLANNERS = {
    planner.name: planner
    for planner in (
        TreePlanner("est", "modern EST: density and a mild pull toward the goal"),
        TreePlanner(
            "est-uniform", "the paper's EST: every node alike", grid=False, bias=0.0, crowd=0.0, goal_rate=0.0, one_group=0.0,
            follow=0.0,
        ),
        TreePlanner(
            "est-goal", "the paper's EST: nodes near the goal preferred", grid=False, bias=12.0, crowd=0.0, goal_rate=0.0,
            one_group=0.0, follow=0.0,
        ),
        TreePlanner("ao-est", "anytime: cheaper plans the longer it runs", anytime=True, cost_width=0.6),
        TreePlanner("sst", "stable sparse tree, anytime", anytime=True, sparse=True),
    )
}  # fmt: skip


def planner_named(name: str) -> TreePlanner:
    """The planner of this `name`; raises UnknownName, which lists all, where there is none."""
    if name not in PLANNERS:
        raise UnknownName("planner", name, tuple(PLANNERS))
    return PLANNERS[name]
