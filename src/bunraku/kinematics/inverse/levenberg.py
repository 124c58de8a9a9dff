"""Solves inverse kinematics in a kernel: Levenberg–Marquardt in levels, within limits; one call for many targets.

Whether a step is accepted depends on the first level that it should improve. Variables at a limit that would go beyond it are
held, and the step is computed again without them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.inverse.damped_step import by_error, direction, evaluate, retract
from bunraku.kinematics.inverse.levels import dot
from bunraku.kinematics.inverse.options import DESCENT, InverseOptions
from bunraku.kinematics.inverse.solution import SolveStatus
from bunraku.kinematics.inverse.task_plan import Column, Freedom, new_scratch, new_state


class Ends(NamedTuple):
    """The fields of `InverseOptions` that kernels need; their meanings are given there."""

    damping: float
    tolerance: float
    still: float
    iterations: int


def ends(options: InverseOptions) -> Ends:
    """The part of `options` that kernels use."""
    return Ends(float(options.damping), float(options.tolerance), float(options.still), int(options.iterations))


@inline
def sizes(plan, state, dq, E):
    """Σ (weight · error)² of every level as the first derivative predicts it after dq; posture counts in the last."""
    n, last = dq.shape[0], plan.levels.shape[0] - 2
    for level in range(last + 1):
        E[level] = 0.0
        for i in range(plan.levels[level], plan.levels[level + 1]):
            E[level] += (plan.weights[i] * (state.e[i] + dot(state.J[i], dq, n))) ** 2
    for k in range(n):
        if plan.columns[Column.RELUCTANCE, k] > 0.0:
            E[last] += plan.columns[Column.POSTURE, k] * (state.away[k] + dq[k]) ** 2


@inline
def judge(old, predicted, new, funnel):
    """(actual gain over predicted gain of the level that decides, that level); a negative ratio rejects the step.

    A step for a lower level disturbs the strict ones to second order, which the next step corrects. So each strict level has a
    funnel, a bound on its error: while the error is inside, the next level decides. Where that one gains nothing, the strict
    level decides, and a gain of its own narrows the funnel (Gould and Toint 2010).
    """
    level = 0
    while level < old.shape[0] - 1 and math.sqrt(new[level]) <= funnel[level]:
        level += 1
    last = old.shape[0] - 1
    content = DESCENT.min_gain if last == 0 else DESCENT.min_gain_of_many
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
    """Whether even the predicted gain is below rounding error."""
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
    """The direction in which variable k should move, given the step of the others: −1, 1, or 0, by the first level that has one."""
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
            wish -= plan.columns[Column.POSTURE, k] * state.away[k]
            size += plan.columns[Column.POSTURE, k] * abs(state.away[k])
        if abs(wish) > 1e-6 * size:
            return 1 if wish > 0.0 else -1
    return 0


@inline
def held_direction(plan, state, scratch, damping, q, release, dq):
    """The step with those variables held that are at a limit and would go beyond it. Returns how many are held.

    With `release`, a held variable is released again, once, if it would now move away from its limit, since others were held.
    """
    n, held = q.shape[0], 0
    for k in range(n):
        scratch.frozen[k] = Freedom.FREE
    while True:
        direction(plan, state, scratch, damping, 1.0, dq)
        changed = False
        for k in range(n):
            out = q[k] <= plan.columns[Column.LOWER, k] if dq[k] < 0.0 else q[k] >= plan.columns[Column.UPPER, k] and dq[k] > 0.0
            if out and (scratch.frozen[k] == Freedom.FREE or scratch.frozen[k] == Freedom.RELEASED):
                scratch.frozen[k] = Freedom.HELD if scratch.frozen[k] == Freedom.FREE else Freedom.FIXED
                held += 1
                changed = True
        if changed:
            continue
        for k in range(n):
            if release and scratch.frozen[k] == Freedom.HELD:
                wish = slope(plan, state, k, dq)
                if (wish > 0 and q[k] < plan.columns[Column.UPPER, k]) or (wish < 0 and q[k] > plan.columns[Column.LOWER, k]):
                    scratch.frozen[k] = Freedom.RELEASED
                    held -= 1
                    changed = True
        if not changed:
            return held


@inline
def keep_limits(plan, q):
    for k in range(q.shape[0]):
        if plan.columns[Column.RELUCTANCE, k] > 0.0:
            q[k] = min(max(q[k], plan.columns[Column.LOWER, k]), plan.columns[Column.UPPER, k])


@inline
def shorten(plan, dq):
    """Scales dq so that no joint turns by more than `largest_turn`. Returns the largest change that is left."""
    turn = most = 0.0
    for j in range(plan.joints.shape[0]):
        x = abs(dq[plan.joints[j].variable])
        most = max(most, x)
        if plan.joints[j].kind < 3:
            turn = max(turn, x)
    if turn > DESCENT.largest_turn:
        for k in range(dq.shape[0]):
            dq[k] *= DESCENT.largest_turn / turn
        most *= DESCENT.largest_turn / turn
    return most


@inline
def largest(values):
    most = 0.0
    for x in values:
        if not abs(x) <= most:  # true for NaN, too
            most = abs(x)
    return most


@inline
def descend(plan, aims, given, ends, q, state, other, scratch):
    """Levenberg–Marquardt from q, in place, within limits. Returns how it ended and after how many iterations."""
    least, tolerance, still = ends.damping, ends.tolerance, ends.still
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
        funnel[level] = max(1.5 * math.sqrt(E[level]), DESCENT.funnel)
    worst, harder, held, iteration, idle = 0.0, 4.0, 0, 0, 0
    for iteration in range(ends.iterations + 1):
        worst = largest(state.e)
        held = held_direction(plan, state, scratch, damping, q, True, dq)
        most = shorten(plan, dq)
        if not worst + most < math.inf:
            return SolveStatus.NOT_FINITE, iteration
        if (
            most <= DESCENT.stopped
            or (most <= still and worst <= tolerance)
            or (most <= tolerance and damping.max() <= 2.0 * least)
        ):
            break
        if iteration == ends.iterations:
            return (SolveStatus.CONVERGED if worst <= tolerance else SolveStatus.OUT_OF_ITERATIONS), iteration
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
        if idle == DESCENT.idle_steps:
            break
        for k in range(n):
            q[k] = trial[k]
        state, other = other, state
        E, F = F, E
        less = max(0.1, 1.0 - (2.0 * min(ratio, 1.0) - 1.0) ** 3)
        for level in range(judged + 1):  # levels below the one that decided keep their damping
            damping[level] = max(less * damping[level], least)
        harder = 4.0
    if worst <= tolerance:
        return SolveStatus.CONVERGED, iteration
    return (SolveStatus.AT_LIMITS if held else SolveStatus.STALLED), iteration


@inline
def mend(plan, aims, given, least, tolerance, q, state, scratch):
    """A few steps for the highest level alone: a descent that ends early may leave it with a small error."""
    n, first = q.shape[0], plan.levels[1]
    dq, damping = np.empty(n), np.full(plan.levels.shape[0] - 1, 1e9)
    damping[0] = least
    for _ in range(DESCENT.mending_steps):
        evaluate(plan, aims, given, q, state)
        worst = largest(state.e[:first])
        if not tolerance < worst <= DESCENT.funnel:
            return
        held_direction(plan, state, scratch, damping, q, False, dq)
        shorten(plan, dq)
        retract(plan, q, dq, q)
        keep_limits(plan, q)


@kernel
def solve(plan, aims, given, ends, warm, Q, status, iterations):
    """Solves for every row of aims, starting from the row of Q or (warm) from the previous solution; Q becomes the solutions."""
    state, other, scratch = new_state(plan), new_state(plan), new_scratch(plan)
    for t in range(Q.shape[0]):
        if warm and t > 0:
            for k in range(Q.shape[1]):
                Q[t, k] = Q[t - 1, k]
        status[t], iterations[t] = descend(plan, aims[t], given, ends, Q[t], state, other, scratch)
        if status[t] != SolveStatus.CONVERGED and status[t] != SolveStatus.NOT_FINITE and plan.levels.shape[0] > 2:
            mend(plan, aims[t], given, ends.damping, ends.tolerance, Q[t], state, scratch)
