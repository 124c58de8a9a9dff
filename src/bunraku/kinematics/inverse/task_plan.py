"""Arguments of the kernels of inverse kinematics: the compiled tasks, their state at one q, and work arrays for a step."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np

from bunraku.kernels.compile import inline


class Column(enum.IntEnum):
    """Rows of `TaskPlan.columns`, which has a column for each variable."""

    RELUCTANCE = 0
    """Squared reluctance; 0: the variable does not move."""
    POSTURE = 1
    """Weight of the variable's wanted value in a soft posture."""
    LOWER = 2
    """Lower joint limit [rad or m]."""
    UPPER = 3
    SPEED = 4
    """Speed limit [rad/s or m/s]."""


class Freedom(enum.IntEnum):
    """What a variable at a limit may do in a step."""

    FREE = 0
    RELEASED = 1
    """It was held, and would now move away from its limit."""
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
    """Numbers of each variable, one row for each `Column`, (5, n)."""


class TaskState(NamedTuple):
    """The tasks at one q."""

    R: Any
    """R, p, S: axes, positions and screws of the joints, as `tree.place` writes them."""
    p: Any
    S: Any
    m: Any
    """Mass of each joint's subtree, (joints,): scratch."""
    h: Any
    """First moment of each joint's subtree, (joints, 3): scratch."""
    e: Any
    """Errors, (m,)."""
    J: Any
    """Their derivatives, (m, n)."""
    away: Any
    """q minus the wanted posture, (n,)."""


class StepScratch(NamedTuple):
    """Work arrays for one step; see `levels`."""

    K: Any
    """J, weighted and scaled, (m, n)."""
    r: Any
    """How much the step should change each row, weighted, (m,)."""
    scale: Any
    """D^−½, (n,); 0: the variable does not move."""
    prior: Any
    """The scaled step that posture alone would take, (n,)."""
    y: Any
    """The scaled step, (n,)."""
    Q: Any
    """Orthonormal directions that strict levels determine, one a row."""
    L: Any
    """Rows of a strict level in those directions."""
    A: Any
    """The matrix of a level, to be factored."""
    z: Any
    size: Any
    least: Any
    damping: Any
    """Damping of each strict level, in the scale of the metric."""
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
