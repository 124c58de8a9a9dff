"""Solves of inverse kinematics as a kernel: Levenberg–Marquardt in levels, within limits; one call for many targets.

A step is judged by the first level that was to gain by it. Variables at a limit that want beyond it are held, and the
step is found anew without them.
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.inverse.damped_step import (
    CONVERGED,
    EXHAUSTED,
    FIXED,
    HELD,
    LIMITS,
    LOWER,
    NOT_FINITE,
    POSTURE,
    RELEASED,
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
from bunraku.kinematics.inverse.levels import dot

NARROW = 0.05  # [m or rad] how far off a strict level may be for a while that was not so at first
CONTENT = 1e-10  # of its squared error: a level that would gain less does not judge,
ROUGHLY = 1e-4  # nor this little where several levels disturb each other
PATIENCE = 8  # steps that change nothing
MENDING = 12
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
def judge(old, predicted, new, funnel):
    """How much of its predicted gain the level that counts has made, and which that is; negative: do not take the step.

    A step that serves a low level leaves the strict ones off by second order, which the next step mends. So each strict
    level has a funnel: while its error is inside, the next level may judge. Where that one gains nothing, the strict
    level judges, and a gain of its own narrows the funnel (Gould and Toint 2010).
    """
    level = 0
    while level < old.shape[0] - 1 and math.sqrt(new[level]) <= funnel[level]:
        level += 1
    last = old.shape[0] - 1
    content = CONTENT if last == 0 else ROUGHLY
    for k in range(level, -1, -1):
        gain = old[k] - predicted[k]
        if gain > content * old[k]:
            ratio = (old[k] - new[k]) / gain
            if ratio > 0.01:
                if k < level:
                    after = math.sqrt(new[k])
                    funnel[k] = max(0.5 * funnel[k], after + 0.5 * (math.sqrt(old[k]) - after))
                return ratio, k
            if k < level:
                return -1.0, k
    return (1.0 if level == last and new[last] <= (1.0 + content) * old[last] else -1.0), level


@inline
def no_hope(old, predicted):
    """Not even the prediction gains anything that rounding would not hide."""
    gain = 0.0
    for level in range(old.shape[0]):
        gain = max(gain, old[level] - predicted[level] - 1e-9 * old[level])
    return gain == 0.0


@inline
def same(old, new, tolerance):
    change = 0.0
    for level in range(old.shape[0]):
        change = max(change, abs(new[level] - old[level]) - 1e-6 * old[level] - tolerance**2)
    return change == 0.0


@inline
def slope(plan, state, k, dq):
    """Which way variable k wants, given the step of the others: −1, 1, or 0, by the first level that cares."""
    n, last = dq.shape[0], plan.levels.shape[0] - 2
    for level in range(last + 1):
        wish = size = 0.0
        for i in range(plan.levels[level], plan.levels[level + 1]):
            f = plan.weights[i] ** 2 * state.J[i, k]
            if f != 0.0:
                left = state.e[i] + dot(state.J[i], dq, n)
                wish -= f * left
                size += abs(f * state.e[i])
        if level == last:
            wish -= plan.columns[POSTURE, k] * state.away[k]
            size += plan.columns[POSTURE, k] * abs(state.away[k])
        if abs(wish) > 1e-6 * size:
            return 1 if wish > 0.0 else -1
    return 0


@inline
def held_direction(plan, state, scratch, damping, q, release, dq):
    """The step with those variables held that are at a limit and want beyond it. Returns how many are.

    With `release`, what is held is let go again, once, when it no longer wants beyond: others may have changed its mind.
    """
    n, held = q.shape[0], 0
    for k in range(n):
        scratch.frozen[k] = 0
    while True:
        direction(plan, state, scratch, damping, 1.0, dq)
        changed = False
        for k in range(n):
            out = q[k] <= plan.columns[LOWER, k] if dq[k] < 0.0 else q[k] >= plan.columns[UPPER, k] and dq[k] > 0.0
            if out and (scratch.frozen[k] == 0 or scratch.frozen[k] == RELEASED):
                scratch.frozen[k] = HELD if scratch.frozen[k] == 0 else FIXED
                held += 1
                changed = True
        if changed:
            continue
        for k in range(n):
            if release and scratch.frozen[k] == HELD:
                wish = slope(plan, state, k, dq)
                if (wish > 0 and q[k] < plan.columns[UPPER, k]) or (wish < 0 and q[k] > plan.columns[LOWER, k]):
                    scratch.frozen[k] = RELEASED
                    held -= 1
                    changed = True
        if not changed:
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
        x = abs(dq[plan.joints[j].variable])
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
    dq, trial, E, P = np.empty(n), np.empty(n), np.empty(n_levels), np.empty(n_levels)
    F, funnel, damping = np.empty(n_levels), np.empty(n_levels), np.empty(n_levels)
    keep_limits(plan, q)
    evaluate(plan, aims, given, q, state)
    for k in range(n):
        dq[k] = 0.0
    sizes(plan, state, dq, E)
    for level in range(n_levels):
        damping[level] = least + by_error(plan, state.e)
        funnel[level] = max(1.5 * math.sqrt(E[level]), NARROW)
    worst, harder, held, iteration, idle = 0.0, 4.0, 0, 0, 0
    for iteration in range(int(numbers[3]) + 1):
        worst = largest(state.e)
        held = held_direction(plan, state, scratch, damping, q, True, dq)
        most = shorten(plan, dq)
        if not worst + most < math.inf:
            return NOT_FINITE, iteration
        if most <= STOPPED or (most <= still and worst <= tolerance) or (most <= tolerance and damping.max() <= 2.0 * least):
            break
        if iteration == int(numbers[3]):
            return (CONVERGED if worst <= tolerance else EXHAUSTED), iteration
        sizes(plan, state, dq, P)
        retract(plan, q, dq, trial)
        keep_limits(plan, trial)
        evaluate(plan, aims, given, trial, other)
        for k in range(n):
            dq[k] = 0.0
        sizes(plan, other, dq, F)
        ratio, judged = judge(E, P, F, funnel)
        if ratio < 0.0:
            if no_hope(E, P):
                break
            for level in range(n_levels):
                damping[level] *= harder
            harder *= 2.0
            continue
        idle = idle + 1 if same(E, F, tolerance) else 0
        if idle == PATIENCE:
            break
        for k in range(n):
            q[k] = trial[k]
        state, other = other, state
        E, F = F, E
        less = max(0.1, 1.0 - (2.0 * min(ratio, 1.0) - 1.0) ** 3)
        for level in range(judged + 1):  # who is not asked stays careful
            damping[level] = max(less * damping[level], least)
        harder = 4.0
    return (CONVERGED if worst <= tolerance else LIMITS if held else STALLED), iteration


@inline
def mend(plan, aims, given, least, tolerance, q, state, scratch):
    """A search that ends in the middle may leave the highest level off by a little: a few steps for it alone."""
    n, first = q.shape[0], plan.levels[1]
    dq, damping = np.empty(n), np.full(plan.levels.shape[0] - 1, 1e9)
    damping[0] = least
    for _ in range(MENDING):
        evaluate(plan, aims, given, q, state)
        worst = largest(state.e[:first])
        if not tolerance < worst <= NARROW:
            return
        held_direction(plan, state, scratch, damping, q, False, dq)
        shorten(plan, dq)
        retract(plan, q, dq, q)
        keep_limits(plan, q)


@kernel
def solve(plan, aims, given, numbers, warm, Q, status, iterations):
    """A solve for every row of aims, from the row of Q, in place, or (warm) from the solution before it."""
    state, other, scratch = new_state(plan), new_state(plan), new_scratch(plan)
    for t in range(Q.shape[0]):
        if warm and t > 0:
            for k in range(Q.shape[1]):
                Q[t, k] = Q[t - 1, k]
        status[t], iterations[t] = descend(plan, aims[t], given, numbers, Q[t], state, other, scratch)
        if status[t] != CONVERGED and status[t] != NOT_FINITE and plan.levels.shape[0] > 2:
            mend(plan, aims[t], given, numbers[0], numbers[1], Q[t], state, scratch)
