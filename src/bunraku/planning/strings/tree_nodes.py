"""Nodes of a search tree as flat arrays, the goal that they are measured against, and what a segment costs."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from bunraku.kernels.compile import inline

Nodes = namedtuple(
    "Nodes",
    "count segments "  # [0]: nodes; [0]: segments simulated so far
    "state parent speeds cost far cell X V",  # of each node; X and V are places and velocities of its points
)
Aim = namedtuple(
    "Aim",
    "targets leading within speed toward "  # the goal: places of the first points, how near, how fast; a kinematic configuration
    "scale",  # [m]: the distance of the start from the goal
)
Taste = namedtuple(
    "Taste",
    "grid bias crowd width cost_width "  # cells or single nodes; pulls; the size of cells in metres and in cost
    "goal_rate one_group follow "  # chances: input toward the goal, of one group only, to go on from a child that is nearer
    "hurry "  # [s]: what a metre a second too fast is worth in metres
    "time effort "  # what a second, and what a unit of ∫ speed² dt, costs
    "sparse",  # whether nodes are picked and kept as SST does
)


@inline
def farness(aim, hurry, X, V, worst):
    """(Distance from the goal [m], whether this is the goal).

    The root mean square distance of the goal's points from their targets, and how much too fast they are.
    """
    total, most, fastest = 0.0, 0.0, 0.0
    for k in range(aim.targets.shape[0]):
        d = v = 0.0
        for i in range(3):
            d += (X[k, i] - aim.targets[k, i]) ** 2
            v += V[k, i] ** 2
        total += d
        most = max(most, d)
        fastest = max(fastest, v)
    most, fastest = math.sqrt(most), math.sqrt(fastest)
    far = math.sqrt(total / aim.targets.shape[0])
    if aim.speed < math.inf:
        far += hurry * max(fastest - aim.speed, 0.0)
    return far, most <= worst * aim.within and fastest <= worst * aim.speed


@inline
def step_cost(taste, v0, v1, nk, at, T):
    """Time and ∫ speed² dt of a segment over which the speeds change evenly."""
    effort = 0.0
    for k in range(nk):
        a, b = v0[at + k], v1[k]
        effort += (a * a + a * b + b * b) * T / 3.0
    return taste.time * T + taste.effort * effort


def empty_nodes(capacity: int, state: int, kinematic: int, points: int) -> Nodes:
    """Room for `capacity` nodes; memory is taken when it is written.

    `state` and `kinematic` are the numbers of a state and of kinematic variables, `points` those that show where the figure is.
    """
    return Nodes(
        np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty((capacity, state)), np.empty(capacity, np.int64),
        np.zeros((capacity, kinematic)), np.empty(capacity), np.empty(capacity), np.full(capacity, -1, np.int64),
        np.empty((capacity, points, 3)), np.empty((capacity, points, 3)),
    )  # fmt: skip
