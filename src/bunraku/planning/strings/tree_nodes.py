"""Nodes of a search tree as arrays, the goal that they are measured against, and the cost of a segment."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from bunraku.kernels.compile import inline

Nodes = namedtuple(
    "Nodes",
    "count segments "  # [0]: number of nodes; [0]: number of segments simulated so far
    "state parent speeds cost far cell X V",  # per node; X and V are positions and velocities of its points
)
Aim = namedtuple(
    "Aim",
    "targets leading within speed toward "  # target positions; number of leading points; tolerance; top speed; hands at the goal
    "scale",  # [m] distance of the start from the goal
)
Taste = namedtuple(
    "Taste",
    "grid bias crowd width cost_width "  # cells or single nodes; weights of distance and density; cell size in metres and cost
    "goal_rate one_group follow "  # probabilities: move toward the goal; move one group only; extend a child that is nearer
    "hurry "  # [s] factor that turns excess speed into distance
    "time effort "  # cost of a second, and of a unit of ∫ speed² dt
    "sparse",  # whether nodes are picked and kept as in SST
)


@inline
def farness(aim, hurry, X, V, worst):
    """(Distance from the goal [m], whether this is the goal).

    The distance is the root mean square over the goal's points, plus `hurry` times the excess speed.
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
    """Cost of a segment over which the speeds change linearly: duration and ∫ speed² dt, weighted."""
    effort = 0.0
    for k in range(nk):
        a, b = v0[at + k], v1[k]
        effort += (a * a + a * b + b * b) * T / 3.0
    return taste.time * T + taste.effort * effort


def empty_nodes(capacity: int, state: int, kinematic: int, points: int) -> Nodes:
    """Arrays for `capacity` nodes; the memory is used only when written.

    `state` is the length of a state, `kinematic` the number of kinematic variables, `points` that of points that locate the figure.
    """
    return Nodes(
        np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty((capacity, state)), np.empty(capacity, np.int64),
        np.zeros((capacity, kinematic)), np.empty(capacity), np.empty(capacity), np.full(capacity, -1, np.int64),
        np.empty((capacity, points, 3)), np.empty((capacity, points, 3)),
    )  # fmt: skip
