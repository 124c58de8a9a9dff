"""Ball joints that turn fast. Nothing acts along the angles of a *loose* ball, such as that of a prop, so that they may be any.

A step in the middle of whose way all angles are zero is the same whatever the orientation, and the same forward and backward:
errors of energy and momentum swing to and fro, by about the square of the angle by which it turns, instead of adding up as they
do where charts change only beside their poles. So charts of loose balls that turn fast are centred ahead of each step, where the
middle of its way is expected; and a step in which one would turn far is taken in parts. A free body, whose angles nothing else
knows, turns fast where it hardly turns; a joint in a figure does where other charts would err much.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bunraku.kernels.compile import bare, inline


class FastTurns(NamedTuple):
    """What counts as fast, and how far balls may turn."""

    free: float = 1e-3
    """How far a free body may turn in a step before its chart leaves home; it comes back where it turns half as far [rad]."""
    in_figure: float = 0.1
    """The same of other loose balls."""
    part: float = 0.25
    """How far a loose ball may turn in a step, or in a part of it [rad]."""
    max_parts: int = 64
    """Parts of such a step, at most."""


FAST_TURNS = FastTurns()


@inline
def fast_turns(tree):
    """How far each ball may turn in a step before it counts as fast [rad]; infinite where something acts along its angles."""
    joints, out = tree.joints, np.empty(tree.balls.shape[0])
    children = np.zeros(joints.shape[0], np.int64)
    for j in range(joints.shape[0]):
        if joints[j].parent >= 0:
            children[joints[j].parent] += 1
    for k in range(tree.balls.shape[0]):
        first, last, loose = joints[tree.balls[k]].variable, tree.balls[k], True
        for j in range(tree.balls[k], joints.shape[0]):
            if first <= joints[j].variable < first + 3:
                loose &= joints[j].damping == 0.0 and joints[j].stiffness == 0.0 and joints[j].armature == 0.0
                last = j
            if joints[j].variable == first + 2:
                break
        for f in range(tree.forces.shape[0]):
            j = tree.forces[f].joint
            loose &= j < 0 or not first <= joints[j].variable < first + 3
        for c in range(tree.links.shape[0]):
            loose &= not first <= tree.links[c].variable < first + 3
        free = _moves(tree.support, last) or _moves(tree.spring_support, last) or children[last] > 0
        free, j = not free, joints[tree.balls[k]].parent
        while j >= 0:
            free &= joints[j].kind >= 3 and children[j] == 1
            j = joints[j].parent
        out[k] = np.inf if not loose else FAST_TURNS.free if free else FAST_TURNS.in_figure
    return out


@bare
def _moves(support, joint):
    """Whether a row of `support` has this joint."""
    for c in range(support.shape[0]):
        for s in range(1, support[c, 0] + 1):
            if support[c, s] == joint:
                return True
    return False


@bare
def turn(q1, q0, i):
    """About how far the ball of the variables from i on has turned."""
    a, b, c = q1[i] - q0[i], q1[i + 1] - q0[i + 1], q1[i + 2] - q0[i + 2]
    return math.sqrt(a * a + b * b + c * c)


@bare
def is_off_centre(tree, q, before, fast):
    """Whether a ball that turns fast, from `before` to q, is in a chart that is centred elsewhere than in the next step."""
    for k in range(tree.balls.shape[0]):
        i = tree.joints[tree.balls[k]].variable
        turned, off = turn(q, before, i), 0.0
        for m in range(i, i + 3):
            off = max(off, abs(1.5 * q[m] - 0.5 * before[m]))
        if turned > fast[k] and off > 0.25 * turned:
            return True
    return False


@bare
def furthest_turn(tree, q1, q0):
    """About how far the ball that turns most has turned [rad]."""
    most = 0.0
    for k in range(tree.balls.shape[0]):
        most = max(most, turn(q1, q0, tree.joints[tree.balls[k]].variable))
    return most


@bare
def too_fast(tree, q1, q0, scale, fast, max_turn):
    """How far the ball turns that turns most of those that turn too far [rad], where q0 to q1 is 1/`scale` of the time; 0: none.

    Those that are not loose may turn by `max_turn`.
    """
    most = 0.0
    for k in range(tree.balls.shape[0]):
        far = scale * turn(q1, q0, tree.joints[tree.balls[k]].variable)
        if far > max(most, FAST_TURNS.part if fast[k] < np.inf else max_turn):
            most = far
    return most


@bare
def turning_parts(tree, q1, q0, fast, max_turn):
    """The number of parts in which a step from q0 to q1 is taken, because ball joints turn fast."""
    return int(min(max(np.ceil(too_fast(tree, q1, q0, 1.0, fast, max_turn) / FAST_TURNS.part), 1.0), FAST_TURNS.max_parts))
