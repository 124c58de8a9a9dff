"""Walking: a person whose base follows a given way exactly, on feet that do not slide.

    walked = walk(figure, t, base)           # base (T, 3): x, y, heading of the pelvis over the floor
    walked.motion                            # all variables at all times
    walked.footfalls                         # foot, place, from when, until when

Steps are planned along the way; feet stand on the ground and swing as the blended cycles have it; legs are solved in closed
form between pelvis and feet; trunk, head and arms move as the cycles do, and the head looks where the way leads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from bunraku.brief import brief
from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Figure
from bunraku.kinematics.forward import frames_along
from bunraku.locomotion.walk.base_motion import Going, going
from bunraku.locomotion.walk.cycles import SIDES, Cycles, load_cycles
from bunraku.locomotion.walk.feet import Foot, feet
from bunraku.locomotion.walk.foot_ground import Heights, rest
from bunraku.locomotion.walk.footfalls import plan
from bunraku.locomotion.walk.legs import Leg, legs_of
from bunraku.locomotion.walk.walking_body import SINK, Body
from bunraku.motion import Motion

Array = NDArray[np.float64]
BENT = 0.2  # [rad] that knees are bent more with full ease
TRIES, ENOUGH, MOST = 5, 1.5, 2.4  # of walking with more ease, and how much
RAISES, SUPPLE = 4, 0.08  # of heels where an ankle would be bent to less than this [rad] of its limit


@dataclass(frozen=True, eq=False)
class Footfall:
    """A foot on the ground: `place` is the point of the ground under the ankle."""

    foot: str
    place: Array
    heading: float
    touch: float
    leave: float


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk, sample by sample."""

    figure: Figure
    t: Array
    Q: Array
    footfalls: tuple[Footfall, ...]
    slide: float
    """The farthest that a standing sole is from where it was set down [m]."""
    height: Array
    """Of the ground that carries the person, smoothed, at every sample [m]."""

    __repr__ = brief

    @property
    def motion(self) -> Motion:
        return Motion.of(self.figure, self.t, self.Q)

    @property
    def jump(self) -> float:
        """The largest change of a joint from one sample to the next [rad]."""
        joints = [k for k, own in enumerate(self.figure.variables) if own.motion == "rotate" and own.name != "pelvis_rz"]
        return float(np.abs(np.diff(self.Q[:, joints], axis=0)).max(initial=0.0))


def walk(
    figure: Figure, t: ArrayLike, base: ArrayLike, *, cycles: Cycles | None = None, heights: Heights | None = None,
    sway: float = 1.0, gentle: float | None = None,
) -> Walk:  # fmt: skip
    """The figure walks so that its pelvis is over (x, y, heading) at every time, exactly.

    `heights` maps points (n, 2) to the height of the ground; without it the ground is flat at 0. `sway` scales what trunk and
    arms do beyond standing. `gentle` [rad] bounds what a joint may change from sample to sample: steps become calmer, knees more
    bent and feet lower until it holds, as far as that goes.
    """
    t, base = _checked(t, base)
    cycles = load_cycles() if cycles is None else cycles
    legs, way = legs_of(figure), going(t, base)
    best = _walked(figure, way, t, base, cycles, legs, heights, sway, 0.0)
    ease = 0.0
    for _ in range(TRIES):
        if gentle is None or best.jump <= gentle or ease >= MOST:
            break
        # Full ease about halves what joints do; a little more than needed, so that the next try mostly holds.
        ease = min(ease + max(2.2 * (1.0 - gentle / best.jump), 0.2), MOST)
        made, before = _walked(figure, way, t, base, cycles, legs, heights, sway, ease), best.jump
        best = min(best, made, key=lambda own: own.jump)
        if ease > ENOUGH and made.jump > 0.99 * before:  # more would not help
            break
    return best


def _walked(
    figure: Figure, way: Going, t: Array, base: Array, cycles: Cycles, legs: tuple[Leg, Leg], heights: Heights | None, sway: float,
    ease: float,
) -> Walk:  # fmt: skip
    steps = plan(way, cycles, legs, heights, ease=ease)
    grounds = tuple(rest(steps.place[steps.of(foot)], legs[foot], heights) for foot in (0, 1))
    heels: tuple[Array, Array] | None = None
    for _ in range(1 + RAISES):
        both = feet(way, steps, cycles, legs, (grounds[0], grounds[1]), heights, ease=ease, heels=heels)
        Q, height = Body(figure, way, steps, cycles, both, BENT * ease, sway).at(t, base)
        raised = _strained(figure, way, t, Q, both)
        if raised is None:
            break
        heels = raised if heels is None else (heels[0] + raised[0], heels[1] + raised[1])
    falls = [
        Footfall(SIDES[k], foot.ground.at[i], float(foot.yaw[i]), float(foot.touch[i]), float(foot.leave[i]))
        for k, foot in enumerate(both) for i in range(len(foot.touch))
    ]  # fmt: skip
    falls.sort(key=lambda fall: (fall.touch, fall.foot))
    return Walk(figure, t, Q, tuple(falls), _slide(figure, t, Q, both), height)


def _checked(t: ArrayLike, base: ArrayLike) -> tuple[Array, Array]:
    t, base = np.array(t, float), np.array(base, float)
    if t.ndim != 1 or len(t) < 2 or base.shape != (len(t), 3):
        raise BunrakuError(f"t {t.shape} and base {base.shape}\n  advice: t (T,) and base (T, 3) with x, y, heading, T ≥ 2")
    if not (np.isfinite(t).all() and np.isfinite(base).all()):
        raise NotFinite("times or base are not finite")
    if not (np.diff(t) > 0.0).all():
        raise BunrakuError("times do not increase")
    base[:, 2] = np.unwrap(base[:, 2])
    return t, base


def _slide(figure: Figure, t: Array, Q: Array, both: tuple[Foot, Foot]) -> float:
    """By forward kinematics: how far the end on which a standing sole rolls is from its place."""
    frames, worst = frames_along(figure, Q), 0.0
    for foot in both:
        own = foot.standing(t)
        X, k = frames[own, figure.frame_index[f"{foot.leg.side}_ankle"]], foot.stance_at(t)[own]
        off = []
        for x in (foot.leg.heel, foot.leg.toe):
            corner = X[:, :3, :3] @ np.array([x, 0.0, -foot.leg.ankle]) + X[:, :3, 3]
            off.append(np.linalg.norm(corner - foot.ground.at[k] - foot.ground.R[k] @ np.array([x, 0.0, 0.0]), axis=1))
        worst = max(worst, float(np.minimum(*off).max(initial=0.0)))
    return worst


def _strained(figure: Figure, way: Going, t: Array, Q: Array, both: tuple[Foot, Foot]) -> tuple[Array, Array] | None:
    """How much to raise the heels at each look of the way, so that ankles do not bend too far; None where none does."""
    lower, out = figure.limits[0], []
    for foot in both:
        k = foot.leg.columns[5]
        over = np.maximum(lower[k] + SUPPLE - Q[:, k], 0.0)
        width = 2 * int(SINK / way.dt) + 1
        wide = maximum_filter1d(np.interp(way.t, t, over), width, mode="nearest")
        out.append(1.2 * uniform_filter1d(wide, width, mode="nearest"))
    return (out[0], out[1]) if max(own.max() for own in out) > 1e-3 else None
