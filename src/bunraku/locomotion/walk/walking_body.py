"""The body over its feet: pelvis as high as the legs allow, legs in closed form, trunk and arms from the cycles, a level head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, minimum_filter1d, uniform_filter1d

from bunraku.figure import Figure
from bunraku.locomotion.walk.base_motion import BaseMotion, columns_at
from bunraku.locomotion.walk.cycles import ARM_CHANNELS, TRUNK_CHANNELS, Cycles
from bunraku.locomotion.walk.feet import Foot
from bunraku.locomotion.walk.footfalls import Stances
from bunraku.locomotion.walk.legs import SIDES
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WalkingBodyOptions:
    """Posture of a walking person."""

    standing_bend: float = 0.12
    """Bend of a knee in upright standing [rad]."""
    sinking_bend: float = 0.13
    """The pelvis begins to sink if a knee would be straighter than this [rad]."""
    least_bend: float = 0.06
    """Smallest bend of a knee [rad]."""
    sinking_time: float = 0.07
    """The pelvis is lowered from this long before a leg is stretched until this long after [s]."""
    uneven_sinking_time: float = 0.12
    """The same on uneven ground [s]."""
    look_ahead: float = 0.7
    """The head turns to the heading of the base after this time [s]."""
    steadiness: float = 0.25
    """Standard deviation of the Gaussian that smooths turns of the head and the spread of arms [s]."""


@dataclass(frozen=True, eq=False)
class WalkingBody:
    """Pelvis, legs, trunk, head and arms over given feet."""

    figure: Figure
    way: BaseMotion
    steps: Stances
    cycles: Cycles
    feet: tuple[Foot, Foot]
    bent: float = 0.0
    """Extra bend of the knees compared with a usual walk [rad]."""
    sway: float = 1.0
    """Factor on the motion of trunk and arms relative to standing."""
    options: WalkingBodyOptions = WalkingBodyOptions()

    @cached_property
    def size(self) -> float:
        """Length of a leg [m]."""
        return float(np.mean([foot.leg.thigh + foot.leg.shin for foot in self.feet]))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the channels of trunk and arms."""
        return (*TRUNK_CHANNELS, *(f"{side}_{name}" for side in SIDES for name in ARM_CHANNELS))

    def phase(self, times: Array) -> Array:
        """Phase of the stride at each of `times` (n,) [s]: 0 at the touchdown of the left foot."""
        count = np.interp(times, self.way.t, self.steps.count)
        k = np.clip(np.searchsorted(self.way.t, times, side="right") - 1, 0, len(self.way.t) - 1)
        return np.asarray(0.5 * (count - 0.88 - self.steps.parity[k]))

    @cached_property
    def _channels(self) -> Array:
        """Channels of trunk and arms at each sample of the base's motion."""
        names, velocity = self.names, self.way.velocity
        own = self.cycles.blend(self.cycles.weights(velocity), self.phase(self.way.t), names)
        still = self.cycles.blend(self.cycles.weights(np.zeros((1, 3))), np.zeros(1), names)
        scale = np.where(np.array(names) == "pelvis_tz", 1.0, self.sway)
        return np.asarray(still + scale * (own - still))

    def channels(self, times: Array | None = None) -> dict[str, Array]:
        """Channels of trunk and arms by name, at `times` (n,) [s] or at each sample of the base's motion."""
        at = self._channels if times is None else columns_at(times, self.way.t, self._channels)
        return dict(zip(self.names, at.T, strict=True))

    def at(self, t: Array, base: Array) -> tuple[Array, Array]:
        """All variables (T, n) at times `t` (T,) [s] at which the base is at `base` (T, 3), and the ground's height (T,) [m]."""
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
            leg[up, 4:] = np.clip(leg[up, 4:], lower[turns], upper[turns])  # in the air, the ankle stays within its limits
            Q[:, foot.leg.columns] = leg
        self._spread(t, Q)
        self._look(t, own, Q)
        return Q, np.interp(t, self.way.t, height)

    # -- height ------------------------------------------------------------------------------------------------------

    def _ground(self) -> Array:
        """Height of the ground under the person, interpolated between stances, at each sample of the base's motion."""
        middle = np.concatenate([self.steps.middle[self.steps.of(k)] for k in (0, 1)])
        z = np.concatenate([foot.ground.at[:, 2] for foot in self.feet])
        if not z.any():
            return np.zeros(len(self.way.t))
        order = np.argsort(middle, kind="stable")
        times, at = np.unique(middle[order], return_inverse=True)
        mean = np.bincount(at, z[order]) / np.bincount(at)
        return np.asarray(gaussian_filter1d(np.interp(self.way.t, times, mean), 0.15 / self.way.dt, mode="nearest"))

    def _height(self, t: Array, base: Array, R: Array, ground: Array, ankles: list[Array]) -> Array:
        """Height of the pelvis: from the cycles, and lower before, during and after the time when a leg would be overstretched."""
        way, leg, options = self.way, self.feet[0].leg, self.options
        own = self.channels()
        upright = leg.distance(options.standing_bend + self.bent) + leg.ankle - leg.hip[2]
        wanted = upright + self.size * own["pelvis_tz"] + ground
        at = [foot.at(way.t)[0] for foot in self.feet]
        high = self._highest(at, way.base, _pelvis(way.base[:, 2], own), options.sinking_bend + self.bent)
        width = 2 * int((options.uneven_sinking_time if ground.any() else options.sinking_time) / way.dt) + 1
        sunk = uniform_filter1d(minimum_filter1d(np.minimum(high - wanted, 0.0), width, mode="nearest"), width, mode="nearest")
        most = self._highest(ankles, base, R, options.least_bend + self.bent)
        return np.asarray(np.minimum(np.interp(t, way.t, wanted + sunk), most))

    def _highest(self, ankles: list[Array], base: Array, R: Array, bend: float) -> Array:
        """The largest height of the pelvis at which no knee is straighter than `bend` [rad]."""
        out = np.full(len(base), np.inf)
        for foot, ankle in zip(self.feet, ankles, strict=True):
            arm = R @ foot.leg.hip
            flat = ((base[:, :2] + arm[:, :2] - ankle[:, :2]) ** 2).sum(1)
            out = np.minimum(out, ankle[:, 2] + np.sqrt(np.maximum(foot.leg.distance(bend) ** 2 - flat, 0.01)) - arm[:, 2])
        return out

    # -- arms and head --------------------------------------------------------------------------------------------------------

    def _spread(self, t: Array, Q: Array) -> None:
        """Moves arms outward over thighs that are lifted outward."""
        for foot, out in zip(self.feet, (1.0, -1.0), strict=True):
            name = f"{foot.leg.side}_shoulder_rx"
            if name in self.figure.names:
                hip = np.interp(self.way.t, t, out * Q[:, foot.leg.columns[2]])
                wide = gaussian_filter1d(np.maximum(hip - 0.06, 0.0), self.options.steadiness / self.way.dt, mode="nearest")
                Q[:, self.figure.index(name)] += out * np.interp(t, self.way.t, 1.2 * wide)

    def _look(self, t: Array, own: dict[str, Array], Q: Array) -> None:
        """Levels the head and turns it to the future heading of the base."""
        names = ("neck_rz", "neck_ry", "neck_rx")
        if not set(names) <= {*self.figure.names}:
            return
        way = self.way
        side = 0.5 * np.arctan2(way.velocity[:, 1], np.abs(way.velocity[:, 0]) + 0.4)
        toward = np.interp(way.t + self.options.look_ahead, way.t, way.base[:, 2]) - way.base[:, 2] + side
        steady = gaussian_filter1d(toward, self.options.steadiness / way.dt, mode="nearest")
        turn = np.interp(t, way.t, 0.6 * np.tanh(steady / 0.6))
        Q[:, self.figure.index("neck_rz")] = turn - own["waist_rz"] - own["chest_rz"]
        Q[:, self.figure.index("neck_ry")] = 0.08 - own["pelvis_ry"] - own["waist_ry"] - own["chest_ry"]
        Q[:, self.figure.index("neck_rx")] = -own["pelvis_rx"] - own["waist_rx"] - own["chest_rx"]


def _pelvis(heading: Array, own: dict[str, Array]) -> Array:
    return so3.about(2, heading) @ so3.about(1, own["pelvis_ry"]) @ so3.about(0, own["pelvis_rx"])


def _toward(heading: Array, R_foot: Array) -> Array:
    """Directions (n, 3) of the knees: mostly that of the foot, a little that of the pelvis."""
    ahead = np.stack([np.cos(heading), np.sin(heading), np.zeros(len(heading))], 1)
    toes = np.stack([R_foot[:, 1, 1], -R_foot[:, 0, 1], np.zeros(len(heading))], 1)  # horizontal, whatever the pitch of the foot
    both = 0.25 * ahead + toes / np.sqrt((toes**2).sum(1))[:, None]
    return np.asarray(both / np.sqrt((both**2).sum(1))[:, None])
