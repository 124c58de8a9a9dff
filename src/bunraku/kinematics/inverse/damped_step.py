"""One step of inverse kinematics as a kernel: rows, metric, levels.

A ball or free joint without limits is moved as a rotation: its three screws are replaced by those about its own
axes, R ← R exp(ω), and its angles are computed from R afterwards. So its angles never become singular.
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.inverse.levels import hierarchy, strict_level
from bunraku.kinematics.inverse.options import DESCENT
from bunraku.kinematics.inverse.solution import SolveStatus
from bunraku.kinematics.inverse.task_plan import Column, Freedom, TaskState, new_scratch, new_state
from bunraku.kinematics.inverse.task_rows import AIM_SIZE, TaskKind, rows
from bunraku.kinematics.tree import place
from bunraku.spatial.algebra import cross, put6
from bunraku.spatial.euler import ball_angles, ball_rotation, exp_rotation, log_rotation, times, transposed

# -- one linearisation -------------------------------------------------------------------------------------------


@inline
def evaluate(plan, aims, given, q, state):
    """Writes errors, Jacobian, and the difference of q from the wanted posture into `state`."""
    joints, n = plan.joints, plan.columns.shape[1]
    place(joints, 0, joints.shape[0], q, (0.0, 0.0, 0.0), state.R, state.p, state.S)
    rest = aims[AIM_SIZE * plan.records.shape[0] :]
    for k in range(n):
        state.away[k] = q[k] - rest[k]
    for k in range(plan.balls.shape[0]):
        ball = plan.balls[k]
        j = ball[2]
        for s in range(3):  # joints z, y, x turn about the last one's own axes z, y, x
            axis = 2 - s
            a = (state.R[j, axis, 0], state.R[j, axis, 1], state.R[j, axis, 2])
            v = cross((state.p[j, 0], state.p[j, 1], state.p[j, 2]), a)
            put6(state.S, ball[s], (a[0], a[1], a[2], v[0], v[1], v[2]))
        z, y, x = ball[3], ball[4], ball[5]
        wanted = ball_rotation(rest[z], rest[y], rest[x])
        w = log_rotation(times(transposed(wanted), ball_rotation(q[z], q[y], q[x])))
        state.away[z], state.away[y], state.away[x] = w[2], w[1], w[0]
    for i in range(state.J.shape[0]):
        for k in range(n):
            state.J[i, k] = 0.0
    rows(
        plan.records, joints, plan.chain, plan.points, plan.links, aims, q, state.R, state.p, state.S, state.m, state.h,
        state.e, state.J,
    )  # fmt: skip
    for k in range(plan.records.shape[0]):
        record = plan.records[k]
        if record.kind == TaskKind.GIVEN:
            for r in range(record.axes):
                state.e[record.row + r] = given[record.index + r, n]
                for i in range(n):
                    state.J[record.row + r, i] = given[record.index + r, i]


@inline
def retract(plan, q, dq, out):
    """out = q moved by dq, ball joints as rotations; out may be q itself. Overwrites dq."""
    for k in range(plan.balls.shape[0]):
        ball = plan.balls[k]
        z, y, x = ball[3], ball[4], ball[5]
        turned = times(ball_rotation(q[z], q[y], q[x]), exp_rotation((dq[x], dq[y], dq[z])))
        a = ball_angles(turned, q[z], q[y], q[x])
        dq[z], dq[y], dq[x] = a[0] - q[z], a[1] - q[y], a[2] - q[x]
    for k in range(q.shape[0]):
        out[k] = q[k] + dq[k]


@inline
def direction(plan, state, scratch, damping, gain, dq):
    """The damped step dq that removes the fraction `gain` of the errors, level by level; held variables stay."""
    m, n = state.J.shape
    columns, scale, prior, K = plan.columns, scratch.scale, scratch.prior, scratch.K
    metric, count, last = 0.0, 0, plan.levels.shape[0] - 2
    for k in range(n):
        scale[k] = prior[k] = 0.0
        if columns[Column.RELUCTANCE, k] > 0.0 and scratch.frozen[k] < Freedom.HELD:
            D = columns[Column.POSTURE, k] + damping[last] * columns[Column.RELUCTANCE, k]
            scale[k] = 1.0 / math.sqrt(D)
            prior[k] = -gain * columns[Column.POSTURE, k] * state.away[k] * scale[k]
            metric += D
            count += 1
    for i in range(m):
        w = plan.weights[i]
        scratch.r[i] = -gain * w * state.e[i]
        for k in range(n):
            K[i, k] = w * scale[k] * state.J[i, k]
    for level in range(last):  # in the scale of the metric
        scratch.damping[level] = damping[level] * count / metric if metric > 0.0 else 1.0
    hierarchy(
        K, plan.levels, n, scratch.r, prior, scratch.damping, scratch.y, scratch.Q, scratch.L, scratch.A, scratch.z, scratch.size,
        scratch.least,
    )  # fmt: skip
    for k in range(n):
        dq[k] = scale[k] * scratch.y[k]


@inline
def by_error(plan, e):
    """Damping by the squared error: far from the target, and near singularities, the linearization holds for short steps only
    (Sugihara 2011)."""
    total = 0.0
    for i in range(e.shape[0]):
        total += (plan.weights[i] * e[i]) ** 2
    return DESCENT.error_damping * total


@inline
def by_level(plan, e, least, damping):
    """Damping of each level by its errors and those of the levels above, so that errors of low priority do not slow a higher level.
    (How damping is distributed over the variables is the same for all levels: see `direction`.)"""
    total, i = 0.0, 0
    for level in range(damping.shape[0]):
        while i < plan.levels[level + 1]:
            total += (plan.weights[i] * e[i]) ** 2
            i += 1
        damping[level] = least + DESCENT.error_damping * total


@inline
def box(plan, q, k, dt, largest):
    """How far variable k may move in one step, down and up."""
    c = plan.columns
    far = min(c[Column.SPEED, k] * dt, largest)
    return max(-far, min(far, c[Column.LOWER, k] - q[k])), max(-far, min(far, c[Column.UPPER, k] - q[k]))


@kernel
def step(plan, aims, given, q, damping, gain, dt, largest, out):
    """One step that ignores limits. Returns CONVERGED if it keeps them, else BEYOND_LIMITS (`out` must then not be used)."""
    state, scratch = new_state(plan), new_scratch(plan)
    evaluate(plan, aims, given, q, state)
    dq = np.empty(q.shape[0])
    dampings = np.empty(plan.levels.shape[0] - 1)
    by_level(plan, state.e, damping, dampings)
    if not dampings[-1] < math.inf:
        return SolveStatus.NOT_FINITE.value
    direction(plan, state, scratch, dampings, gain, dq)
    status = SolveStatus.CONVERGED
    for k in range(dq.shape[0]):
        if not abs(dq[k] + q[k]) < math.inf:  # math.isfinite of a sum would be optimised away
            return SolveStatus.NOT_FINITE.value
        if plan.columns[Column.RELUCTANCE, k] > 0.0:
            low, high = box(plan, q, k, dt, largest)
            if not low <= dq[k] <= high:
                status = SolveStatus.BEYOND_LIMITS
    retract(plan, q, dq, out)
    return status.value  # a plain number: converting it to an enum in Python would take a microsecond


@kernel
def linearise(plan, aims, given, q, e, J, away):
    """Errors, Jacobian and posture error at q. Returns the damping by error."""
    own = new_state(plan)
    evaluate(plan, aims, given, q, TaskState(own.R, own.p, own.S, own.m, own.h, e, J, away))
    return by_error(plan, e)


@kernel
def programs(plan, aims, given, q, damping, gain, dt, largest, moves, H, f, low, high, basis, ranks):
    """Each level as a quadratic program ½ dqᵀ H dq + f·dq over the moving variables, and the box that they may move in.

    `basis[:ranks[k]]` are orthonormal directions that levels 0 … k − 1 determine.
    """
    state, scratch = new_state(plan), new_scratch(plan)
    evaluate(plan, aims, given, q, state)
    dampings = np.empty(plan.levels.shape[0] - 1)
    by_level(plan, state.e, damping, dampings)
    n, last = moves.shape[0], plan.levels.shape[0] - 2
    for i in range(state.e.shape[0]):
        for a in range(n):
            scratch.K[i, a] = plan.weights[i] * state.J[i, moves[a]]
        scratch.r[i] = -gain * plan.weights[i] * state.e[i]
    for a in range(n):
        k = moves[a]
        low[a], high[a] = box(plan, q, k, dt, largest)
    ranks[0] = 0
    for level in range(last + 1):
        for a in range(n):
            k = moves[a]
            pull = plan.columns[Column.POSTURE, k] if level == last else 0.0
            f[level, a] = gain * pull * state.away[k]
            for b in range(a + 1):
                H[level, a, b] = 0.0
            H[level, a, a] = dampings[level] * plan.columns[Column.RELUCTANCE, k] + pull
        for i in range(plan.levels[level], plan.levels[level + 1]):
            row = scratch.K[i]
            for a in range(n):
                x = row[a]
                if x != 0.0:
                    f[level, a] -= x * scratch.r[i]
                    for b in range(a + 1):
                        H[level, a, b] += x * row[b]
        for a in range(n):
            for b in range(a):
                H[level, b, a] = H[level, a, b]
        if level < last:
            ranks[level + 1] = strict_level(
                scratch.K, plan.levels[level], plan.levels[level + 1], n, scratch.r, 1.0, basis, ranks[level], scratch.y,
                scratch.L, scratch.A, scratch.z, scratch.size, scratch.least,
            )  # fmt: skip
    return dampings[-1] < math.inf


@kernel
def moved(plan, q, dq, out):
    """q moved by dq, with ball joints moved as rotations."""
    retract(plan, q, dq.copy(), out)
