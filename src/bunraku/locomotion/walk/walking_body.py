"""The body over its feet: pelvis as high as legs allow, legs in closed form, trunk and arms as cycles have them, a level head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, minimum_filter1d, uniform_filter1d

from bunraku.figure import Figure
from bunraku.locomotion.walk.base_motion import Going, columns_at
from bunraku.locomotion.walk.cycles import ARM, SIDES, TRUNK, Cycles
from bunraku.locomotion.walk.feet import Foot
from bunraku.locomotion.walk.footfalls import Steps
from bunraku.spatial import so3

Array = NDArray[np.float64]
ARMS = tuple(f"{side}_{name}" for side in SIDES for name in ARM)
UPRIGHT, SOFT, HARD = 0.12, 0.13, 0.06  # [rad] bend of the knee in standing; where the pelvis begins to sink; at least
SINK, SINK_UNEVEN = 0.07, 0.12  # [s] before and after a stretched leg in which the pelvis is low; where the ground rises or falls
AHEAD, STEADY = 0.7, 0.25  # [s] that the head is ahead of the base, and over which its turns are smoothed


@dataclass(frozen=True, eq=False)
class Body:
    """Pelvis, legs, trunk, head and arms over given feet."""

    figure: Figure
    way: Going
    steps: Steps
    cycles: Cycles
    feet: tuple[Foot, Foot]
    bent: float = 0.0
    """How much more than people do the knees bend [rad]."""
    sway: float = 1.0
    """Of what trunk and arms do beyond standing."""

    @cached_property
    def size(self) -> float:
        """Of a leg [m]."""
        return float(np.mean([foot.leg.thigh + foot.leg.shin for foot in self.feet]))

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
        """All variables (T, n) at times at which the base is there, and the height of the ground that carries (T,)."""
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
        lower, upper = self.figure.limits
        for foot, (ankle, R_foot) in zip(self.feet, placed, strict=True):
            hip = np.column_stack([base[:, :2], z]) + R @ foot.leg.hip
            leg = foot.leg.solve(hip, R, ankle, R_foot, _toward(base[:, 2], R_foot))
            up, turns = ~foot.standing(t), foot.leg.columns[4:]
            leg[up, 4:] = np.clip(leg[up, 4:], lower[turns], upper[turns])  # in the air a foot turns with its leg
            Q[:, foot.leg.columns] = leg
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


def _pelvis(heading: Array, own: dict[str, Array]) -> Array:
    return so3.about(2, heading) @ so3.about(1, own["pelvis_ry"]) @ so3.about(0, own["pelvis_rx"])


def _toward(heading: Array, R_foot: Array) -> Array:
    """Where knees point: nearly as the foot, a little as the pelvis."""
    ahead = np.stack([np.cos(heading), np.sin(heading), np.zeros(len(heading))], 1)
    toes = np.stack([R_foot[:, 1, 1], -R_foot[:, 0, 1], np.zeros(len(heading))], 1)  # level, however the foot is pitched
    both = 0.25 * ahead + toes / np.sqrt((toes**2).sum(1))[:, None]
    return np.asarray(both / np.sqrt((both**2).sum(1))[:, None])
