"""What the kernels of inverse kinematics take: the compiled tasks, their state at one q, and room for a step."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np

from bunraku.kernels.compile import inline


class Column(enum.IntEnum):
    """Rows of `Plan.columns`, which has a column for each variable."""

    RELUCTANCE = 0
    """Squared; 0: the variable does not move."""
    POSTURE = 1
    """Weight of its wanted value."""
    LOWER = 2
    """Joint limits [rad or m]."""
    UPPER = 3
    SPEED = 4
    """Speed limit [rad/s or m/s]."""


class Freedom(enum.IntEnum):
    """What a variable at a limit may do in a step."""

    FREE = 0
    RELEASED = 1
    """It was held, and wants away from the limit again."""
    HELD = 2
    FIXED = 3
    """Held for the second time, and so for good."""


class TaskPlan(NamedTuple):
    """Compiled tasks, for n variables, as kernels take them."""

    joints: Any
    """Joints, their chains to the root, points and links, as in `figure.records.FigureTree`."""
    chain: Any
    points: Any
    links: Any
    records: Any
    """TASK_RECORDs, level by level."""
    balls: Any
    """Ball joints that turn as rotations: joints and variables about z, y, x, (k, 6)."""
    weights: Any
    """The square root of the weight of each of m rows, (m,)."""
    levels: Any
    """The first row of every level, and the end, (levels + 1,)."""
    columns: Any
    """Of each variable, what `Column` says, (5, n)."""


class TaskState(NamedTuple):
    """The tasks at one q."""

    R: Any
    """Axes, places and screws of the joints, as `tree.place` leaves them."""
    p: Any
    S: Any
    m: Any
    """Masses of subtrees, (joints,),"""
    h: Any
    """and their first moments, (joints, 3): scratch."""
    e: Any
    """Errors, (m,)."""
    J: Any
    """Their derivatives, (m, n)."""
    away: Any
    """q minus the wanted posture, (n,)."""


class StepScratch(NamedTuple):
    """Room for one step; see `levels`."""

    K: Any
    """J, weighted and scaled, (m, n)."""
    r: Any
    """What is to be removed of each row, weighted, (m,)."""
    scale: Any
    """D^−½, (n,); 0: the variable does not move."""
    prior: Any
    """The scaled step that posture alone would take, (n,)."""
    y: Any
    """The scaled step, (n,)."""
    Q: Any
    """Orthonormal directions that strict levels settle, by rows."""
    L: Any
    """Rows of a strict level in those directions."""
    A: Any
    """The matrix of a level, to be factored."""
    z: Any
    size: Any
    least: Any
    damping: Any
    """Of each strict level, in the scale of the metric."""
    frozen: Any
    """The `Freedom` of each variable, (n,)."""


@inline
def new_state(plan):
    n, m, nq = plan.joints.shape[0], plan.weights.shape[0], plan.columns.shape[1]
    return TaskState(
        np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6)), np.empty(n), np.empty((n, 3)), np.empty(m),
        np.empty((m, nq)), np.empty(nq),
    )  # fmt: skip


@inline
def new_scratch(plan):
    m, n = plan.weights.shape[0], plan.columns.shape[1]
    strict = plan.levels[plan.levels.shape[0] - 2]
    small, large = max(min(m, n), 1), max(m, n)
    return StepScratch(
        np.empty((m, n)), np.empty(m), np.empty(n), np.empty(n), np.empty(n), np.empty((min(strict, n), n)),
        np.empty((strict, min(strict, n))), np.empty((small, small)), np.empty(large), np.empty(large),
        np.empty(m), np.empty(plan.levels.shape[0] - 1), np.zeros(n, np.int64),
    )  # fmt: skip
