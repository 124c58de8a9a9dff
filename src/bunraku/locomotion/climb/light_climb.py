"""A light climb: pauses on all four feet, a narrower stance and a swaying body lower the adhesion that feet need.

While one foot swings, n = 3 feet hold. If they stand on one face at an angle θ from the floor, Σ|f_t| ≤ μ Σ(f_n + A) gives the
bound A ≥ (sin θ/μ − cos θ)/n in body weights, wherever the centre of mass is: a third at μ = 1, on a wall and on the ceiling. The
bound is reached only while the centre of mass is over (on a wall: beside) the middle of the triangle of the three feet. Two
successive triangles share a diagonal or a side. Without a pause the centre of mass is on that line when they change, which on the
ceiling puts half of the weight on one foot. A pause gives it time to cross.
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
from bunraku.locomotion.climb.gecko import Gecko, Wish
from bunraku.locomotion.climb.smooth_motion import CostTerms, FurtherTerms

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LightOptions:
    """Numbers that tune the adhesion that a climb needs. Adhesions are in body weights. A rate [rad/s] is a weight: an excess x
    costs as much as an acceleration x·rate²."""

    pause: float = 0.25 / math.sqrt(0.12 / 9.81)
    """How long all feet stand after a swing of a light climb, as long as it [√(leg length / g)]."""
    stance: float = 0.75
    """Spread of the feet in a light climb, as a share of the usual one. A narrow stance shortens the way between triangles."""
    side: float = 0.217
    """Amplitude of the body's sway to each side [leg lengths]."""
    fore: float = 0.083
    """Amplitude of the body's sway forward and backward [leg lengths]."""
    back: float = 0.033
    """Constant backward offset of the body [leg lengths]."""
    enough: float = 0.3
    """Adhesion that is always acceptable: below it the body does not lean."""
    hanging: float = 0.1
    """Added to the bound to give the target on the ceiling."""
    near: float = 0.007
    """Scale of the excess on a wall beyond which the cost with rate `firm` saturates."""
    rate: float = 55.0
    """Rate of the excess adhesion in a light climb."""
    firm: float = 480.0
    """Rate of the saturating excess, straight up or down a wall."""
    bearable: float = 0.44
    """Target adhesion on a wall in a climb that is not light."""
    bearable_rate: float = 80.0
    """Rate of the excess over `bearable`."""
    alike: float = 0.999
    """Unit vectors count as equal if their mean is longer than this."""


def least_adhesion(feet: FootPaths, friction: float = 1.0) -> Array:
    """A lower bound on the adhesion (T,) of `feet` that stand on one face, with this `friction`, wherever the centre of mass is.

    Near a corner, where feet stand on two faces, less may be enough.
    """
    stands = ~feet.aloft
    up = feet.R[:, :, 2, 2]
    missing = np.sqrt(np.maximum(1.0 - up**2, 0.0)) / friction - up
    return np.asarray(np.maximum((missing * stands).sum(1), 0.0) / stands.sum(1) ** 2)


def swayed(
    want: Wish, feet: FootPaths, friction: float = 1.0, options: LightOptions = LightOptions(), leg: float = 0.12
) -> Wish:  # fmt: skip
    """The aims `want`, with the body shifted toward the middle of the triangle of standing `feet`, wherever feet must stick.

    Amplitudes are in `options`. Front right, rear left, front left and rear right foot swing in turn, so per cycle the body sways
    left, right, right, left, backward for a front foot and forward for a rear one. `friction`
    determines where feet must stick; `leg` is the length of a leg [m].
    """
    cycle = feet.cycle
    turn = 2.0 * np.pi * (feet.t - feet.quarter + feet.pause / 2.0) / cycle
    count = min(round(cycle / (feet.t[1] - feet.t[0])), len(feet.t))
    share = np.minimum(3.0 * uniform_filter1d(least_adhesion(feet, friction), count, mode="nearest"), 1.0)
    heights, n = want.heights.copy(), want.heights.shape[1] // 3
    level = share[:, None] * np.sqrt(1.0 - np.minimum(want.normals[:, n:, 2] ** 2, 1.0))  # up or down a wall, sway gains nothing
    heights[:, n : 2 * n] += leg * level[:, :n] * (options.fore * np.sin(2.0 * turn) - options.back)[:, None]
    heights[:, 2 * n :] -= leg * level[:, n:] * (options.side * np.sin(turn))[:, None]
    return dataclasses.replace(want, heights=heights)


def upright(feet: FootPaths, friction: float = 1.0, alike: float = 0.999) -> NDArray[np.bool_]:
    """Whether, at each sample (T,), all standing `feet` are on one wall: a face that does not overhang and on which they must
    stick.

    friction: determines where feet must stick
    alike: the feet are on one face if the mean of their normals is longer than this
    """
    normal = _common(feet, 2)
    return np.asarray((np.linalg.norm(normal, axis=1) > alike) & (normal[:, 2] > -0.1) & (least_adhesion(feet, friction) > 0.0))


def _common(feet: FootPaths, axis: int) -> Array:
    """The mean (T, 3) of an axis of the standing feet: its length is 1 if the axis is the same for all."""
    stands = ~feet.aloft[:, :, None]
    return np.asarray((feet.R[:, :, :, axis] * stands).sum(1) / stands.sum(1))


def lighter(
    gecko: Gecko, *, friction: float = 1.0, grip: float = math.inf, options: LightOptions = LightOptions()
) -> FurtherTerms:  # fmt: skip
    """Terms of the cost that lower the adhesion of a `gecko`: the square of its excess over the lower bound.

    `friction` and `grip` are as in `hold`. Straight up or down a wall the body can reach the bound. There the saturating excess
    x/√(1 + (x/near)²) is added with rate `options.firm`; it hardly grows for the large x that a corner causes.
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
    """Terms for a climb that is not light: on a wall a `gecko` leans if feet would need more than `options.bearable`.

    `friction` and `grip` are as in `hold`.
    """

    def terms(Q: Array, feet: FootPaths) -> CostTerms:
        on = upright(feet, friction, options.alike)
        wall = dataclasses.replace(feet, t=feet.t[on], p=feet.p[on], R=feet.R[on], aloft=feet.aloft[on])
        aim = np.maximum(least_adhesion(wall, friction), options.bearable)
        over, rows = np.zeros((len(Q), 1)), np.zeros((len(Q), 1, len(gecko.active) + 6))
        over[on, 0], rows[on, 0] = _beyond(gecko, Q[on], adhesion_along(gecko, Q[on], wall, friction=friction, grip=grip), aim)
        return CostTerms(rows, over, np.full(over.shape, options.bearable_rate**4))

    return terms


def _beyond(gecko: Gecko, Q: Array, along: AdhesionAlong, aim: Array) -> tuple[Array, Array]:
    """Excess of the adhesion over a target (T,), and its derivatives with respect to the columns (T, columns)."""
    over = np.where(np.isfinite(along.adhesion), np.maximum(along.adhesion - aim, 0.0), 0.0)
    rows = np.empty((len(Q), 1, len(gecko.active) + 6))
    centre_rows(*gecko.masses, Q, np.where(over[:, None] > 0.0, along.slopes, 0.0), gecko.measures["leg"], rows)
    return over, rows[:, 0]
