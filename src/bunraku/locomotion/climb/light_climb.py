"""A light climb: pauses on all four feet, a narrower stance and a swaying body, so that feet need to stick less.

While a foot swings, three hold. For feet on one face at an angle θ from the floor, with Σ|f_t| ≤ μ Σ(f_n + A), n feet need
A ≥ (sin θ/μ − cos θ)/n, wherever the weight is: a third of it at μ = 1, on a wall and on the ceiling. That is enough only while the
weight is over (on a wall: beside) the middle of their triangle. Two successive triangles share a diagonal or a side. Without a
pause the weight is on that line when they change: on the ceiling, half of it on one foot. In a pause the weight gets across.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from bunraku.locomotion.climb.adhesion import AdhesionAlong, adhesion_along
from bunraku.locomotion.climb.adhesion_kernels import centre_rows
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.gecko import SPINE_POINTS, Gecko, Wish
from bunraku.locomotion.climb.smooth_motion import CostTerms, FurtherTerms

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LightOptions:
    """What tunes the adhesion that a climb needs. Adhesions are in weights. A rate [rad/s] weighs what is beyond an aim by x like
    an acceleration x·rate²."""

    pause: float = 0.25
    """How long all four feet stand after a swing of a light climb [s]."""
    stance: float = 0.75
    """Share of the usual spread of the feet in a light climb: the narrower, the shorter the way from triangle to triangle."""
    side: float = 0.026
    """How far the body sways to each side [m]."""
    fore: float = 0.01
    """How far the body sways ahead and back [m]."""
    back: float = 0.004
    """How far the body stays back [m]."""
    enough: float = 0.3
    """Adhesion below which the body does not lean."""
    hanging: float = 0.1
    """What is aimed at on the ceiling, beyond the least possible."""
    near: float = 0.007
    """Excess up to which a foot on a wall is pulled to the least possible by `firm`."""
    rate: float = 55.0
    """Rate of the adhesion in a light climb."""
    firm: float = 400.0
    """Rate of the bounded excess straight up or down a wall."""
    bearable: float = 0.44
    """Adhesion that feet on a wall may need in a climb that is not light."""
    bearable_rate: float = 80.0
    """Rate of what is beyond `bearable`."""
    alike: float = 0.999
    """Length of the mean of unit vectors above which they count as the same."""


def least_adhesion(feet: FootPaths, friction: float = 1.0) -> Array:
    """The adhesion (T,) that `feet` standing on one face need at least with this `friction`, wherever the weight is.

    Near a corner, where feet stand on two faces, they may need less.
    """
    stands = feet.swings[:, None] != np.arange(4)
    up = feet.R[:, :, 2, 2]
    missing = np.sqrt(np.maximum(1.0 - up**2, 0.0)) / friction - up
    return np.asarray(np.maximum((missing * stands).sum(1), 0.0) / stands.sum(1) ** 2)


def swayed(want: Wish, feet: FootPaths, friction: float = 1.0, options: LightOptions = LightOptions()) -> Wish:
    """What the null space follows, with the body near the middle of the triangle of the standing `feet`, where feet must stick.

    The body sways from `want` as far as `options` say. Front right, rear left, front left and rear right foot swing in turn: the
    body sways left, right, right, left once a cycle, back for a front foot and ahead for a rear one. `friction` tells where feet
    must stick.
    """
    cycle = 4.0 * feet.quarter
    turn = 2.0 * np.pi * (feet.t - feet.quarter + feet.pause / 2.0) / cycle
    count = min(round(cycle / (feet.t[1] - feet.t[0])), len(feet.t))
    share = np.minimum(3.0 * uniform_filter1d(least_adhesion(feet, friction), count, mode="nearest"), 1.0)
    heights, n = want.heights.copy(), len(SPINE_POINTS)
    level = share[:, None] * np.sqrt(1.0 - np.minimum(want.normals[:, n:, 2] ** 2, 1.0))  # up or down a wall nothing is gained
    heights[:, n : 2 * n] += level[:, :n] * (options.fore * np.sin(2.0 * turn) - options.back)[:, None]
    heights[:, 2 * n :] -= level[:, n:] * (options.side * np.sin(turn))[:, None]
    return dataclasses.replace(want, heights=heights)


def upright(feet: FootPaths, friction: float = 1.0, alike: float = 0.999) -> NDArray[np.bool_]:
    """Where (T,) all standing `feet` are on a wall: on one face that does not overhang and on which they must stick.

    friction: tells where feet must stick
    alike: length of the mean of their normals above which they are on one face
    """
    normal = _common(feet, 2)
    return np.asarray((np.linalg.norm(normal, axis=1) > alike) & (normal[:, 2] > -0.1) & (least_adhesion(feet, friction) > 0.0))


def _common(feet: FootPaths, axis: int) -> Array:
    """The mean (T, 3) of an axis of the standing feet: its length is 1 where the axis is the same for all."""
    stands = (feet.swings[:, None] != np.arange(4))[:, :, None]
    return np.asarray((feet.R[:, :, :, axis] * stands).sum(1) / stands.sum(1))


def lighter(
    gecko: Gecko, *, friction: float = 1.0, grip: float = math.inf, options: LightOptions = LightOptions()
) -> FurtherTerms:  # fmt: skip
    """Terms of the cost that lower the adhesion of a `gecko`: what is beyond the least possible counts.

    `friction` and `grip` are as in `hold`. Straight up or down a wall a body can reach the least possible. There a bounded excess
    x/√(1 + (x/near)²) counts besides, with `options.firm`: it is small beside a large x, which a corner causes.
    """

    def terms(Q: Array, feet: FootPaths) -> CostTerms:
        ahead, normal = _common(feet, 0), _common(feet, 2)
        aim = np.maximum(least_adhesion(feet, friction) + options.hanging * np.maximum(-normal[:, 2], 0.0), options.enough)
        plumb = upright(feet, friction, options.alike) & (ahead[:, 2] ** 2 > options.alike * (1.0 - normal[:, 2] ** 2))
        over, rows = _beyond(gecko, Q, adhesion_along(gecko, Q, feet, friction=friction, grip=grip), aim)
        root = np.sqrt(1.0 + (over / options.near) ** 2)
        weights = np.stack([np.full(len(Q), options.rate**4), np.where(plumb, options.firm**4, 0.0)], 1)
        return CostTerms(np.stack([rows, rows / root[:, None] ** 3], 1), np.stack([over, over / root], 1), weights)

    return terms


def bearable(
    gecko: Gecko, *, friction: float = 1.0, grip: float = math.inf, options: LightOptions = LightOptions()
) -> FurtherTerms:  # fmt: skip
    """Terms for a climb that need not be light: on a wall a `gecko` leans where feet would need more than `options.bearable`.

    `friction` and `grip` are as in `hold`.
    """

    def terms(Q: Array, feet: FootPaths) -> CostTerms:
        on = upright(feet, friction, options.alike)
        wall = dataclasses.replace(feet, t=feet.t[on], p=feet.p[on], R=feet.R[on], swings=feet.swings[on])
        aim = np.maximum(least_adhesion(wall, friction), options.bearable)
        over, rows = np.zeros((len(Q), 1)), np.zeros((len(Q), 1, len(gecko.active) + 6))
        over[on, 0], rows[on, 0] = _beyond(gecko, Q[on], adhesion_along(gecko, Q[on], wall, friction=friction, grip=grip), aim)
        return CostTerms(rows, over, np.full(over.shape, options.bearable_rate**4))

    return terms


def _beyond(gecko: Gecko, Q: Array, along: AdhesionAlong, aim: Array) -> tuple[Array, Array]:
    """Adhesion beyond an aim (T,), and its derivatives by the columns (T, columns): the prices of the moments say where to lean."""
    over = np.where(np.isfinite(along.adhesion), np.maximum(along.adhesion - aim, 0.0), 0.0)
    rows = np.empty((len(Q), 1, len(gecko.active) + 6))
    centre_rows(*gecko.masses, Q, np.where(over[:, None] > 0.0, along.slopes, 0.0), gecko.measures["leg"], rows)
    return over, rows[:, 0]
