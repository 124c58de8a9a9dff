"""A foot over time: it stands, rolling over heel and toes without sliding, and swings to where it stands next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.walk.base_motion import Going
from bunraku.locomotion.walk.cycles import STANCE, Cycles
from bunraku.locomotion.walk.foot_ground import Ground, Heights, level
from bunraku.locomotion.walk.footfalls import GAP, Steps
from bunraku.locomotion.walk.legs import Leg
from bunraku.spatial import so3

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
LEVEL = 0.02  # [rad] of pitch that counts as flat
LOOKS = np.linspace(0.15, 0.91, 15)  # shares of a swing at which clearance is asked for
JUST = 0.01  # [s]
FLATTER, LOWER = 0.6, 0.5  # with full ease, feet pitch and rise less by these shares
STEEP = 0.15  # [m] of a step up or down
SCUFF = 0.012  # [m] that the sole clears the ground by, halfway of a swing, even in the shortest step
SKIM, NIGH = 2e-3, 4e-3  # [m] that a foot is up as soon as it is farther than this from where it stands: it does not scrape
ROUND = 0.1  # sine of the pitch below which heel and toes count as one
RISING = 0.3  # share of a swing in which it is raised
HURRIED, EVEN = 0.38, 0.2  # shares of a swing in which a foot gets up to speed: at will, and with full ease


@dataclass(frozen=True, eq=False)
class Foot:
    """Stances of one foot and the swings between them."""

    leg: Leg
    touch: Array
    leave: Array
    yaw: Array
    ground: Ground
    pitch: Callable[[Array], Array]
    """Of the foot against the ground, toes down [rad], at times."""
    clear: Callable[[Array], Array]
    """Of the lowest point of the sole over the ground [m], at times."""
    swings: Array
    """(stances − 1, 6, 3): ankle at lift-off and touchdown, its changes of place there by unit of phase, lift and swerve; the
    height of the ankle is that over the lowest point of the sole."""
    ramp: float = HURRIED
    """The share of a swing in which it gets up to speed, and of that in which it slows down."""
    evenly: float = 0.0

    # -- stance ------------------------------------------------------------------------------------------------------

    def stance_at(self, times: Array) -> Ints:
        """The stance that holds, or the last before."""
        return np.clip(np.searchsorted(self.touch, times, side="right") - 1, 0, len(self.touch) - 1)

    def standing(self, times: Array) -> NDArray[np.bool_]:
        return np.asarray(times <= self.leave[self.stance_at(times)] + 1e-12)

    def edge(self, pitch: Array) -> Array:
        """The end of the sole on which the foot rolls, before the ankle [m]."""
        return np.where(pitch > 0.0, self.leg.toe, self.leg.heel)

    def planted(self, k: Ints, pitch: Array) -> tuple[Array, Array]:
        """Ankle and axes of a foot in stances k."""
        R = self.ground.R[k] @ so3.about(1, pitch)
        edge, zero = self.edge(pitch), np.zeros(len(pitch))
        on_ground = np.stack([edge, zero, zero], 1)
        own = np.stack([edge, zero, zero - self.leg.ankle], 1)
        return self.ground.at[k] + _turned(self.ground.R[k], on_ground) - _turned(R, own), R

    # -- swing -------------------------------------------------------------------------------------------------------

    def over(self, pitch: Array) -> Array:
        """Height of the ankle over the lowest point of the sole, without the kink where heel and toes are level."""
        x, mean, half = np.sin(pitch), 0.5 * (self.leg.toe + self.leg.heel), 0.5 * (self.leg.toe - self.leg.heel)
        return np.asarray(self.leg.ankle * np.cos(pitch) + mean * x + half * np.sqrt(x**2 + ROUND**2))

    def swung(self, k: Ints, s: Array, pitch: Array, clear: Array) -> tuple[Array, Array]:
        """Ankle and axes of a foot at shares s of the swings after stances k."""
        a, b, v, w, lift, swerve = np.moveaxis(self.swings[k], 1, 0)
        s1 = s[:, None]
        # Up a step, first up and then ahead; down, first ahead and then down.
        climb = np.clip((self.ground.at[k + 1, 2] - self.ground.at[k, 2]) / STEEP, -1.0, 1.0)[:, None]
        late = np.where(climb > 0.0, s1 ** (1.0 + climb), 1.0 - (1.0 - s1) ** (1.0 - 0.6 * climb))
        early = np.where(climb > 0.0, 1.0 - (1.0 - s1) ** (1.0 + climb), s1 ** (1.0 - 0.8 * climb))
        way = eased(late, self.ramp)
        rise = eased(early, self.ramp)
        start, end = s1 - s1**3 * (6.0 - 8.0 * s1 + 3.0 * s1**2), s1**3 * (-4.0 + 7.0 * s1 - 3.0 * s1**2)
        bump = raised(s1, self.evenly)
        ankle = a + np.concatenate([way, way, rise], 1) * (b - a) + bump * (lift + swerve)
        ankle += (1.0 - np.maximum(climb, 0.0)) * start * v + end * w
        gone = np.minimum(*(((ankle[:, :2] - at[:, :2]) ** 2).sum(1) for at in (a, b)))
        ankle[:, 2] += self.over(pitch) + clear + SKIM * (1.0 - np.exp(-gone / NIGH**2))
        blend = way[:, 0]
        yaw = self.yaw[k] + blend * (self.yaw[k + 1] - self.yaw[k])
        tilts = np.swapaxes(so3.about(2, self.yaw), 1, 2) @ self.ground.R  # the ground's, seen along the foot
        normal = (1.0 - way) * tilts[k, :, 2] + way * tilts[k + 1, :, 2]
        normal /= np.sqrt((normal**2).sum(1))[:, None]
        e_y = np.stack([np.zeros(len(s)), normal[:, 2], -normal[:, 1]], 1)  # normal × x
        e_y /= np.sqrt((e_y**2).sum(1))[:, None]
        tilt = np.stack([np.cross(e_y, normal), e_y, normal], -1)
        return ankle, so3.about(2, yaw) @ tilt @ so3.about(1, pitch)

    def at(self, times: Array) -> tuple[Array, Array]:
        """Ankles (n, 3) and axes (n, 3, 3) at times."""
        pitch, k = self.pitch(times), self.stance_at(times)
        ankle, R = self.planted(k, pitch)
        up = ~self.standing(times)
        if up.any():
            own = k[up]
            s = (times[up] - self.leave[own]) / (self.touch[own + 1] - self.leave[own])
            ankle[up], R[up] = self.swung(own, s, pitch[up], self.clear(times[up]))
        return ankle, R


def feet(
    going: Going, steps: Steps, cycles: Cycles, legs: tuple[Leg, Leg], grounds: tuple[Ground, Ground], heights: Heights | None,
    *, ease: float = 0.0, heels: tuple[Array, Array] | None = None,
) -> tuple[Foot, Foot]:  # fmt: skip
    """Both feet. With `ease` they pitch and rise less. `heels` are raised by so much more at each look of the way [rad]."""
    bare, weights, ramp = [], cycles.weights(going.velocity), max(HURRIED + (EVEN - HURRIED) * ease, 0.07)
    for foot in (0, 1):
        own, phase = steps.of(foot), phase_of(steps, going, foot, going.t)
        channels = tuple(f"{legs[foot].side}_{name}" for name in ("foot", "lift"))
        pitch, lift = cycles.blend(weights, phase, channels).T
        pitch = max(1.0 - FLATTER * ease, 0.1) * pitch
        pitch -= LEVEL * np.tanh(pitch / LEVEL)  # nearly flat is flat
        if heels is not None:
            pitch += heels[foot]
        lift = max(1.0 - LOWER * ease, 0.3) * np.maximum(np.where(phase > STANCE, lift, 0.0), 0.0)
        yaw, none = np.unwrap(steps.place[own, 2]), np.zeros((max(len(own) - 1, 0), 6, 3))
        bare.append(Foot(
            legs[foot], steps.touch[own], steps.leave[own], yaw, grounds[foot], _looked_up(going.t, pitch),
            _looked_up(going.t, lift), none, ramp, min(ease, 1.0),
        ))  # fmt: skip
    left, right = bare
    return _swinging(left, right, heights), _swinging(right, left, heights)


def phase_of(steps: Steps, going: Going, foot: int, times: Array) -> Array:
    """The foot's own phase: 0 to STANCE through a stance, on to 1 through a swing."""
    own = steps.of(foot)
    touch, leave = steps.touch[own], steps.leave[own]
    count = np.interp(times, going.t, steps.count)
    first, last = np.interp(touch, going.t, steps.count), np.interp(leave, going.t, steps.count)
    # The first stance began, and the last one ends, as if there had been walking before and after.
    usual = 1.25
    first[0], last[-1] = min(first[0], last[0] - usual), max(last[-1], first[-1] + usual)
    k = np.clip(np.searchsorted(touch, times, side="right") - 1, 0, len(own) - 1)
    stand = STANCE * np.clip((count - first[k]) / np.maximum(last[k] - first[k], 1e-9), 0.0, 1.0)
    after = np.minimum(k + 1, len(own) - 1)
    swing = STANCE + (1.0 - STANCE) * np.clip((times - leave[k]) / np.maximum(touch[after] - leave[k], 1e-9), 0.0, 1.0)
    return np.asarray(np.where(times <= leave[k], stand, swing))


def _looked_up(t: Array, values: Array) -> Callable[[Array], Array]:
    return lambda times: np.interp(times, t, values)


def _swinging(own: Foot, other: Foot, heights: Heights | None) -> Foot:
    """The foot with its swings: as it leaves and arrives, no lower than clearance wants, around the other foot."""
    n = len(own.touch) - 1
    if n < 1:
        return own
    k, span = np.arange(n), own.touch[1:] - own.leave[:-1]

    def planted(stance: Ints, times: Array) -> Array:
        return own.planted(stance, own.pitch(times))[0]

    a, b = planted(k, own.leave[:-1]), planted(k + 1, own.touch[1:])
    v = (a - planted(k, own.leave[:-1] - JUST)) * (span / JUST)[:, None]
    w = (planted(k + 1, own.touch[1:] + JUST) - b) * (span / JUST)[:, None]
    own.swings[:, 0], own.swings[:, 1], own.swings[:, 2, :2], own.swings[:, 3, :2] = a, b, v[:, :2], w[:, :2]
    own.swings[:, 0, 2] -= own.over(own.pitch(own.leave[:-1]))
    own.swings[:, 1, 2] -= own.over(own.pitch(own.touch[1:]))
    _lift(own, heights)
    _swerve(own, other)
    return own


def _looked_at(own: Foot) -> tuple[Ints, Array, Array]:
    """Swings, shares and times at which they are looked at, all in rows."""
    n = len(own.swings)
    k, s = np.repeat(np.arange(n), len(LOOKS)), np.tile(LOOKS, n)
    return k, s, own.leave[k] + s * (own.touch[k + 1] - own.leave[k])


def _lift(own: Foot, heights: Heights | None) -> None:
    """Raises each swing as far as its sole must clear the ground."""
    k, s, times = _looked_at(own)
    clear = own.clear(times)
    ankle, R = own.swung(k, s, own.pitch(times), clear)
    need = np.full(len(k), -np.inf)
    for x in (own.leg.heel, 0.5 * (own.leg.heel + own.leg.toe), own.leg.toe):
        corner = ankle + R @ np.array([x, 0.0, -own.leg.ankle])
        under = level(heights, corner[:, :2])
        if heights is not None:  # an edge just before or behind counts as well
            ahead = 0.01 * R[:, :2, 0]
            under = np.maximum(under, np.maximum(level(heights, corner[:, :2] + ahead), level(heights, corner[:, :2] - ahead)))
        need = np.maximum(need, under + np.maximum(0.5 * clear, SCUFF * raised(s, own.evenly)) - corner[:, 2])
    lift = (need / raised(s, own.evenly)).reshape(-1, len(LOOKS)).max(1)
    own.swings[:, 4, 2] = np.maximum(lift, 0.0)


def _swerve(own: Foot, other: Foot) -> None:
    """Leads each swing outward around the foot that stands."""
    k, s, times = _looked_at(own)
    ankle, _ = own.swung(k, s, np.zeros(len(k)), np.zeros(len(k)))
    beside = other.stance_at(times)
    out = other.ground.R[beside][:, :, 1] * (1.0 if own.leg.hip[1] > 0.0 else -1.0)
    d = ankle - other.ground.at[beside]
    near = np.abs((d * other.ground.R[beside][:, :, 0]).sum(1)) < 0.3
    need = np.where(near, GAP - (d * out).sum(1), 0.0) / raised(s, own.evenly)
    worst = np.maximum(need, 0.0).reshape(-1, len(LOOKS))
    pick = worst.argmax(1)
    rows = np.arange(len(worst)) * len(LOOKS) + pick
    own.swings[:, 5] = np.minimum(worst.max(1), 0.25)[:, None] * out[rows] * np.array([1.0, 1.0, 0.0])


def eased(s: Array, ramp: float) -> Array:
    """From 0 to 1: the speed rises and falls straight within `ramp`, and is even in between."""
    early, late = np.minimum(s, ramp), np.minimum(1.0 - s, ramp)
    even = np.clip(s - ramp, 0.0, 1.0 - 2.0 * ramp)
    return np.asarray((even + 0.5 * ramp + (early**2 - late**2) / (2.0 * ramp)) / (1.0 - ramp))


def raised(s: Array, evenly: float) -> Array:
    """From 0 up to 1 and down to 0: softly at both ends, or `evenly` throughout."""
    x = np.minimum(np.minimum(s, 1.0 - s) / RISING, 1.0)
    up = 4.0 * s * (1.0 - s)
    return np.asarray((1.0 - evenly) * x**2 * (3.0 - 2.0 * x) + evenly * up * (2.0 - up))


def _turned(R: Array, x: Array) -> Array:
    return np.asarray((R @ x[..., None])[..., 0])
