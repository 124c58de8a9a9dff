"""A light climb: pauses on all four feet, a narrower stance and a swaying body, so that feet need to stick less.

While a foot swings, three hold. Of feet on one face at an angle θ from the floor, with Σ|f_t| ≤ μ Σ(f_n + A), n of them need
A ≥ (sin θ/μ − cos θ)/n, wherever the weight is: a third of it on a wall at μ = 1 and on the ceiling. To need no more, the weight
must be over (on the wall, beside) the middle of their triangle. Two triangles that follow each other share a diagonal or a
side, so that with no pause the weight is on it when they change: half of it on one foot, on the ceiling. In a pause it gets
across.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from bunraku.locomotion.climb.adhesion import AdhesionAlong, adhesion_along
from bunraku.locomotion.climb.adhesion_kernels import centre_rows
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.gecko import BODY, Gecko, Wish
from bunraku.locomotion.climb.smooth_motion import Further, Terms

Array = NDArray[np.float64]
PAUSE = 0.25  # on all four feet after a swing [s]
STANCE = 0.75  # of the usual spread: the narrower, the shorter the way from triangle to triangle
SIDE, FORE, BACK = 0.026, 0.01, 0.004  # how far the body sways to the sides and ahead, and how far back it stays [m]
ENOUGH = 0.3  # in weights: for less the body does not lean
HANGING = 0.1  # beyond the least possible that is aimed at on the ceiling, in weights
NEAR = 0.007  # in weights: a foot on the wall that needs so much more than the least possible is pulled there by `firm`
BEARABLE = 0.44  # in weights: what feet on a wall may need in a climb that is not light
ALIKE = 0.999  # how long the mean of unit vectors is that are the same


def least(feet: FootPaths, friction: float = 1.0) -> Array:
    """The adhesion (T,) that the feet standing on one face need at least, wherever the weight is; less near a corner."""
    stands = feet.swings[:, None] != np.arange(4)
    up = feet.R[:, :, 2, 2]
    missing = np.sqrt(np.maximum(1.0 - up**2, 0.0)) / friction - up
    return np.asarray(np.maximum((missing * stands).sum(1), 0.0) / stands.sum(1) ** 2)


def swayed(want: Wish, feet: FootPaths, friction: float = 1.0) -> Wish:
    """The body over the middle of the standing feet's triangle, more or less, where feet must stick.

    Front right, rear left, front left and rear right swing in turns: left, right, right, left once a cycle; and back for a
    front foot, ahead for a rear one.
    """
    cycle = 4.0 * feet.quarter
    turn = 2.0 * np.pi * (feet.t - feet.quarter + feet.pause / 2.0) / cycle
    count = min(round(cycle / (feet.t[1] - feet.t[0])), len(feet.t))
    share = np.minimum(3.0 * uniform_filter1d(least(feet, friction), count, mode="nearest"), 1.0)
    heights, n = want.heights.copy(), len(BODY)
    level = share[:, None] * np.sqrt(1.0 - np.minimum(want.normals[:, n:, 2] ** 2, 1.0))  # up or down a wall nothing is gained
    heights[:, n : 2 * n] += level[:, :n] * (FORE * np.sin(2.0 * turn) - BACK)[:, None]
    heights[:, 2 * n :] -= level[:, n:] * (SIDE * np.sin(turn))[:, None]
    return dataclasses.replace(want, heights=heights)


def upright(feet: FootPaths, friction: float = 1.0) -> NDArray[np.bool_]:
    """Where (T,) all standing feet are on one face, on which they must stick and which does not hang over: on a wall."""
    normal = _common(feet, 2)
    return np.asarray((np.linalg.norm(normal, axis=1) > ALIKE) & (normal[:, 2] > -0.1) & (least(feet, friction) > 0.0))


def _common(feet: FootPaths, axis: int) -> Array:
    """The mean (T, 3) of an axis of the standing feet: of length 1 where it is the same for all."""
    stands = (feet.swings[:, None] != np.arange(4))[:, :, None]
    return np.asarray((feet.R[:, :, :, axis] * stands).sum(1) / stands.sum(1))


def lighter(
    gecko: Gecko, *, rate: float = 55.0, firm: float = 400.0, enough: float = ENOUGH, friction: float = 1.0, grip: float = math.inf
) -> Further:
    """Terms that lower the adhesion in the whole-motion optimisation: what is beyond the least possible counts.

    A share x costs as much as an acceleration x·rate² [rad/s²]. Straight up or down a wall a body can reach the least possible:
    there x/√(1 + (x/NEAR)²) costs firm² times itself besides, so that a large x, which a corner causes, is left in peace.
    """

    def terms(Q: Array, feet: FootPaths) -> Terms:
        ahead, normal = _common(feet, 0), _common(feet, 2)
        aim = np.maximum(least(feet, friction) + HANGING * np.maximum(-normal[:, 2], 0.0), enough)
        plumb = upright(feet, friction) & (ahead[:, 2] ** 2 > ALIKE * (1.0 - normal[:, 2] ** 2))
        over, rows = _beyond(gecko, Q, adhesion_along(gecko, Q, feet, friction=friction, grip=grip), aim)
        root = np.sqrt(1.0 + (over / NEAR) ** 2)
        weights = np.stack([np.full(len(Q), rate**4), np.where(plumb, firm**4, 0.0)], 1)
        return Terms(np.stack([rows, rows / root[:, None] ** 3], 1), np.stack([over, over / root], 1), weights)

    return terms


def bearable(gecko: Gecko, *, rate: float = 80.0, friction: float = 1.0, grip: float = math.inf) -> Further:
    """The same for a climb that need not be light: on a wall, the body leans where feet would need more than BEARABLE."""

    def terms(Q: Array, feet: FootPaths) -> Terms:
        on = upright(feet, friction)
        wall = dataclasses.replace(feet, t=feet.t[on], p=feet.p[on], R=feet.R[on], swings=feet.swings[on])
        aim = np.maximum(least(wall, friction), BEARABLE)
        over, rows = np.zeros((len(Q), 1)), np.zeros((len(Q), 1, len(gecko.active) + 6))
        over[on, 0], rows[on, 0] = _beyond(gecko, Q[on], adhesion_along(gecko, Q[on], wall, friction=friction, grip=grip), aim)
        return Terms(rows, over, np.full(over.shape, rate**4))

    return terms


def _beyond(gecko: Gecko, Q: Array, along: AdhesionAlong, aim: Array) -> tuple[Array, Array]:
    """What is beyond an aim (T,), and its rows (T, columns): the prices of the moments tell which way to lean."""
    over = np.where(np.isfinite(along.adhesion), np.maximum(along.adhesion - aim, 0.0), 0.0)
    rows = np.empty((len(Q), 1, len(gecko.active) + 6))
    centre_rows(*gecko.masses, Q, np.where(over[:, None] > 0.0, along.slopes, 0.0), gecko.measures["leg"], rows)
    return over, rows[:, 0]
