"""Walking: a person whose base follows a given way exactly, on feet that do not slide.

    walked = walk(figure, t, base)           # base (T, 3): x, y, heading of the pelvis over the floor
    walked.motion                            # all variables at all times
    walked.footfalls                         # foot, place, from when, until when

Steps are planned along the way; feet stand on the ground and swing as the blended cycles have it; legs are solved in closed
form between pelvis and feet; trunk, head and arms move as the cycles do, and the head looks where the way leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter1d, maximum_filter1d, minimum_filter1d, uniform_filter1d

from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Figure
from bunraku.kinematics.forward import frames_along
from bunraku.locomotion.walk.cycles import ARM, SIDES, TRUNK, Cycles, load_cycles
from bunraku.locomotion.walk.feet import Foot, feet
from bunraku.locomotion.walk.going import Going, columns_at, going
from bunraku.locomotion.walk.ground import Heights, rest
from bunraku.locomotion.walk.legs import Leg, legs_of
from bunraku.locomotion.walk.steps import Steps, plan
from bunraku.motion import Motion
from bunraku.spatial import so3

Array = NDArray[np.float64]
UPRIGHT, SOFT, HARD = 0.12, 0.13, 0.06  # [rad] bend of the knee in standing; where the pelvis begins to sink; at least
BENT = 0.2  # [rad] more of all three with full ease
SINK, SINK_UNEVEN = 0.07, 0.12  # [s] before and after a stretched leg in which the pelvis is low; where the ground rises or falls
ARMS = tuple(f"{side}_{name}" for side in SIDES for name in ARM)
TRIES, MOST = 5, 2.4  # of walking with more ease, and how much
RAISES, SUPPLE = 4, 0.08  # of heels where an ankle would be bent to less than this [rad] of its limit
AHEAD, STEADY = 0.7, 0.25  # [s] that the head is ahead of the base, and over which its turns are smoothed


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

    @property
    def motion(self) -> Motion:
        return Motion.of(self.figure, self.t, self.Q)

    @property
    def jump(self) -> float:
        """The largest change of a joint from one sample to the next [rad]."""
        return float(np.abs(np.diff(self.Q[:, 6:], axis=0)).max(initial=0.0))


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
        made = _walked(figure, way, t, base, cycles, legs, heights, sway, ease)
        best = min(best, made, key=lambda own: own.jump)
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
        body = _Body(figure, way, steps, cycles, both, BENT * ease, sway)
        Q, height = body.at(t, base)
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


class _Body:
    """Pelvis, legs, trunk, head and arms over given feet."""

    def __init__(
        self, figure: Figure, way: Going, steps: Steps, cycles: Cycles, both: tuple[Foot, Foot], bent: float,
        sway: float,
    ) -> None:  # fmt: skip
        self.figure, self.way, self.steps, self.cycles, self.feet, self.bent = figure, way, steps, cycles, both, bent
        self.sway = sway
        self.size = float(np.mean([foot.leg.thigh + foot.leg.shin for foot in both]))

    def phase(self, times: Array) -> Array:
        """Of the stride: 0 where the left foot touches down."""
        count = np.interp(times, self.way.t, self.steps.count)
        k = np.clip(np.searchsorted(self.way.t, times, side="right") - 1, 0, len(self.way.t) - 1)
        return np.asarray(0.5 * (count - 0.88 - self.steps.parity[k]))

    @cached_property
    def _channels(self) -> Array:
        """Of TRUNK and ARMS at each look of the way."""
        names, velocity = (*TRUNK, *ARMS), self.way.velocity
        own = self.cycles.blend(self.cycles.weights(velocity), self.phase(self.way.t), names)
        still = self.cycles.blend(self.cycles.weights(np.zeros((1, 3))), np.zeros(1), names)
        scale = np.where(np.array(names) == "pelvis_tz", 1.0, self.sway)
        return np.asarray(still + scale * (own - still))

    def channels(self, times: Array | None = None) -> dict[str, Array]:
        at = self._channels if times is None else columns_at(times, self.way.t, self._channels)
        return dict(zip((*TRUNK, *ARMS), at.T, strict=True))

    def at(self, t: Array, base: Array) -> tuple[Array, Array]:
        names = {*self.figure.names}
        own = self.channels(t)
        Q = np.repeat(self.figure.start[None], len(t), 0)
        for name, values in own.items():
            if name in names:
                Q[:, self.figure.index(name)] = values
        Q[:, self.figure.indices(("pelvis_tx", "pelvis_ty", "pelvis_rz"))] = base
        R = _pelvis(base[:, 2], own)
        height, placed = self._ground(), [foot.at(t) for foot in self.feet]
        z = self._height(t, base, R, height, [ankle for ankle, _ in placed])
        Q[:, self.figure.index("pelvis_tz")] = z
        for foot, (ankle, R_foot) in zip(self.feet, placed, strict=True):
            at = np.column_stack([base[:, :2], z]) + R @ foot.leg.hip
            toward = _toward(base[:, 2], R_foot)
            own_leg = foot.leg.solve(at, R, ankle, R_foot, toward)
            up, (lower, upper) = ~foot.standing(t), (limit[foot.leg.columns[4:]] for limit in self.figure.limits)
            own_leg[up, 4:] = np.clip(own_leg[up, 4:], lower, upper)  # in the air a foot turns with its leg
            Q[:, foot.leg.columns] = own_leg
        self._spread(t, Q)
        self._look(t, own, Q)
        return Q, np.interp(t, self.way.t, height)

    # -- height ------------------------------------------------------------------------------------------------------

    def _ground(self) -> Array:
        """The height of the ground that carries, at each look of the way: from stance to stance."""
        middle = np.concatenate([self.steps.middle[self.steps.of(k)] for k in (0, 1)])
        z = np.concatenate([foot.ground.at[:, 2] for foot in self.feet])
        if not z.any():
            return np.zeros(len(self.way.t))
        order = np.argsort(middle, kind="stable")
        times, at = np.unique(middle[order], return_inverse=True)
        mean = np.bincount(at, z[order]) / np.bincount(at)
        return np.asarray(gaussian_filter1d(np.interp(self.way.t, times, mean), 0.15 / self.way.dt, mode="nearest"))

    def _height(self, t: Array, base: Array, R: Array, ground: Array, ankles: list[Array]) -> Array:
        """Of the pelvis: as the cycles have it over the ground, lower before, while and after a leg would be overstretched."""
        way, leg = self.way, self.feet[0].leg
        looks = self.channels()
        upright = leg.distance(UPRIGHT + self.bent) + leg.ankle - leg.hip[2]
        wanted = upright + self.size * looks["pelvis_tz"] + ground
        at = [foot.at(way.t)[0] for foot in self.feet]
        high = self._highest(at, way.base, _pelvis(way.base[:, 2], looks), SOFT + self.bent)
        width = 2 * int((SINK_UNEVEN if ground.any() else SINK) / way.dt) + 1
        sunk = uniform_filter1d(minimum_filter1d(np.minimum(high - wanted, 0.0), width, mode="nearest"), width, mode="nearest")
        return np.asarray(np.minimum(np.interp(t, way.t, wanted + sunk), self._highest(ankles, base, R, HARD + self.bent)))

    def _highest(self, ankles: list[Array], base: Array, R: Array, bend: float) -> Array:
        """Where the pelvis may be so that no knee is straighter than this."""
        out = np.full(len(base), np.inf)
        for foot, ankle in zip(self.feet, ankles, strict=True):
            arm = R @ foot.leg.hip
            flat = ((base[:, :2] + arm[:, :2] - ankle[:, :2]) ** 2).sum(1)
            out = np.minimum(out, ankle[:, 2] + np.sqrt(np.maximum(foot.leg.distance(bend) ** 2 - flat, 0.01)) - arm[:, 2])
        return out

    # -- arms and head --------------------------------------------------------------------------------------------------------

    def _spread(self, t: Array, Q: Array) -> None:
        """Arms keep off thighs that are lifted outward."""
        for foot, out in zip(self.feet, (1.0, -1.0), strict=True):
            name = f"{foot.leg.side}_shoulder_rx"
            if name in self.figure.names:
                hip = np.interp(self.way.t, t, out * Q[:, foot.leg.columns[2]])
                wide = gaussian_filter1d(np.maximum(hip - 0.06, 0.0), STEADY / self.way.dt, mode="nearest")
                Q[:, self.figure.index(name)] += out * np.interp(t, self.way.t, 1.2 * wide)

    def _look(self, t: Array, own: dict[str, Array], Q: Array) -> None:
        """The head is level, and turned to where the base will be heading."""
        names = ("neck_rz", "neck_ry", "neck_rx")
        if not set(names) <= {*self.figure.names}:
            return
        way = self.way
        side = 0.5 * np.arctan2(way.velocity[:, 1], np.abs(way.velocity[:, 0]) + 0.4)
        looks = np.interp(way.t + AHEAD, way.t, way.base[:, 2]) - way.base[:, 2] + side
        turn = np.interp(t, way.t, 0.6 * np.tanh(gaussian_filter1d(looks, STEADY / way.dt, mode="nearest") / 0.6))
        Q[:, self.figure.index("neck_rz")] = turn - own["waist_rz"] - own["chest_rz"]
        Q[:, self.figure.index("neck_ry")] = 0.08 - own["pelvis_ry"] - own["waist_ry"] - own["chest_ry"]
        Q[:, self.figure.index("neck_rx")] = -own["pelvis_rx"] - own["waist_rx"] - own["chest_rx"]


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


def _pelvis(heading: Array, own: dict[str, Array]) -> Array:
    return so3.about(2, heading) @ so3.about(1, own["pelvis_ry"]) @ so3.about(0, own["pelvis_rx"])


def _toward(heading: Array, R_foot: Array) -> Array:
    """Where knees point: nearly as the foot, a little as the pelvis."""
    ahead = np.stack([np.cos(heading), np.sin(heading), np.zeros(len(heading))], 1)
    toes = np.stack([R_foot[:, 1, 1], -R_foot[:, 0, 1], np.zeros(len(heading))], 1)  # level, however the foot is pitched
    both = 0.25 * ahead + toes / np.sqrt((toes**2).sum(1))[:, None]
    return np.asarray(both / np.sqrt((both**2).sum(1))[:, None])


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
