"""Solves of inverse kinematics as a kernel: Levenberg–Marquardt in levels, within limits; one call for many targets.

A step is judged by the first level that was to gain by it. Variables at a limit that want beyond it are held, and the
step is found anew without them.
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.kinematics.descent import (
    CONVERGED,
    EXHAUSTED,
    LIMITS,
    LOWER,
    NOT_FINITE,
    POSTURE,
    RELUCTANCE,
    STALLED,
    UPPER,
    by_error,
    direction,
    evaluate,
    new_scratch,
    new_state,
    retract,
)
from bunraku.kinematics.levels import dot
from bunraku.spatial.kernel import inline, kernel

BEND = 1.0  # [m/rad²] a step of x may leave a strict level off by BEND x²
STOPPED = 1e-10  # [rad or m] nothing moves any more
LARGEST = 1.0  # [rad] of one iteration: beyond it, a first derivative says nothing


@inline
def sizes(plan, state, dq, E):
    """Σ (weight · error)² of every level as the first derivative predicts it after dq; posture counts in the last."""
    n, last = dq.shape[0], plan.levels.shape[0] - 2
    for level in range(last + 1):
        E[level] = 0.0
        for i in range(plan.levels[level], plan.levels[level + 1]):
            E[level] += (plan.weights[i] * (state.e[i] + dot(state.J[i], dq, n))) ** 2
    for k in range(n):
        if plan.columns[RELUCTANCE, k] > 0.0:
            E[last] += plan.columns[POSTURE, k] * (state.away[k] + dq[k]) ** 2


@inline
def trust(plan, old, predicted, new, moved):
    """How much of the predicted gain was made by the first level that was to gain; negative: do not take the step.

    Levels above it were content. A step along the tangent of what they want leaves them off by second order, which
    the next step mends, and which is what they are content with.
    """
    last = old.shape[0] - 1
    for level in range(last + 1):
        gain = old[level] - predicted[level]
        slip = BEND * moved * moved * plan.weights[plan.levels[level]] if level < last else 0.0
        if gain > 1e-4 * old[level] and (math.sqrt(old[level]) > slip):
            ratio = (old[level] - new[level]) / gain
            return ratio if ratio > 0.01 else -1.0
        if level < last and not math.sqrt(new[level]) <= math.sqrt(old[level]) + slip:
            return -1.0
    return 1.0


@inline
def held_direction(plan, state, scratch, damping, q, dq):
    """The step with those variables held that are at a limit and want beyond it. Returns how many are."""
    held = 0
    for k in range(q.shape[0]):
        scratch.frozen[k] = False
    while True:
        direction(plan, state, scratch, damping, 1.0, dq)
        more = 0
        for k in range(q.shape[0]):
            out = q[k] <= plan.columns[LOWER, k] if dq[k] < 0.0 else q[k] >= plan.columns[UPPER, k] and dq[k] > 0.0
            if out and not scratch.frozen[k]:
                scratch.frozen[k] = True
                more += 1
        held += more
        if more == 0:
            return held


@inline
def keep_limits(plan, q):
    for k in range(q.shape[0]):
        if plan.columns[RELUCTANCE, k] > 0.0:
            q[k] = min(max(q[k], plan.columns[LOWER, k]), plan.columns[UPPER, k])


@inline
def shorten(plan, dq):
    """No turn of more than LARGEST. Returns the largest change that is left."""
    turn = most = 0.0
    for j in range(plan.joints.shape[0]):
        x = abs(dq[plan.joints[j].q])
        most = max(most, x)
        if plan.joints[j].kind < 3:
            turn = max(turn, x)
    if turn > LARGEST:
        for k in range(dq.shape[0]):
            dq[k] *= LARGEST / turn
        most *= LARGEST / turn
    return most


@inline
def largest(values):
    most = 0.0
    for x in values:
        if not abs(x) <= most:  # a NaN too
            most = abs(x)
    return most


@inline
def descend(plan, aims, given, numbers, q, state, other, scratch):
    """Levenberg–Marquardt from q, in place, within limits. Returns how it ended and after how many iterations.

    numbers: damping, tolerance, still, iterations.
    """
    least, tolerance, still = numbers[0], numbers[1], numbers[2]
    n, n_levels = q.shape[0], plan.levels.shape[0] - 1
    dq, trial, E, P, F = np.empty(n), np.empty(n), np.empty(n_levels), np.empty(n_levels), np.empty(n_levels)
    keep_limits(plan, q)
    evaluate(plan, aims, given, q, state)
    for k in range(n):
        dq[k] = 0.0
    sizes(plan, state, dq, E)
    extra = by_error(plan, state.e)
    worst, harder = 0.0, 4.0
    for iteration in range(int(numbers[3]) + 1):
        worst = largest(state.e)
        held = held_direction(plan, state, scratch, least + extra, q, dq)
        most = shorten(plan, dq)
        if not (math.isfinite(worst) and math.isfinite(most)):
            return NOT_FINITE, iteration
        if most <= STOPPED or (most <= still and (worst <= tolerance or extra <= least)):
            return (CONVERGED if worst <= tolerance else LIMITS if held else STALLED), iteration
        if iteration == int(numbers[3]):
            break
        sizes(plan, state, dq, P)
        retract(plan, q, dq, trial)
        keep_limits(plan, trial)
        evaluate(plan, aims, given, trial, other)
        for k in range(n):
            dq[k] = 0.0
        sizes(plan, other, dq, F)
        ratio = trust(plan, E, P, F, most)
        if ratio < 0.0:
            extra = max(harder * extra, least)
            harder *= 2.0
            continue
        for k in range(n):
            q[k] = trial[k]
        state, other = other, state
        E, F = F, E
        extra *= max(0.1, 1.0 - (2.0 * min(ratio, 1.0) - 1.0) ** 3)
        harder = 4.0
    return (CONVERGED if worst <= tolerance else EXHAUSTED), int(numbers[3])


@kernel
def solve(plan, aims, given, numbers, warm, Q, status, iterations):
    """A solve for every row of aims, from the row of Q, in place, or (warm) from the solution before it."""
    state, other, scratch = new_state(plan), new_state(plan), new_scratch(plan)
    for t in range(Q.shape[0]):
        if warm and t > 0:
            for k in range(Q.shape[1]):
                Q[t, k] = Q[t - 1, k]
        status[t], iterations[t] = descend(plan, aims[t], given, numbers, Q[t], state, other, scratch)
