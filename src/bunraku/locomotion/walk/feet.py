"""Feet over time: a foot stands, rolling over heel and toes without sliding, and swings to its next stance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.walk.base_motion import BaseMotion
from bunraku.locomotion.walk.cycles import STANCE_PHASE, Cycles
from bunraku.locomotion.walk.foot_ground import FootGround, Heights, level
from bunraku.locomotion.walk.footfalls import Stances
from bunraku.locomotion.walk.legs import Leg
from bunraku.spatial import so3

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class FootOptions:
    """How feet roll and swing. `ease` runs from 0 (a usual walk) to 1 (a gentle one) and beyond; 1 is called full ease."""

    flat: float = 0.02
    """A pitch smaller than this counts as flat [rad]."""
    checked_shares: tuple[float, ...] = tuple(np.linspace(0.15, 0.91, 15).tolist())
    """Fractions of a swing's duration at which the clearance is checked."""
    difference: float = 0.01
    """Time step of the differences that give velocities at lift-off and touchdown [s]."""
    flatter: float = 0.6
    """Relative reduction of the pitch of feet at full ease."""
    lower: float = 0.5
    """Relative reduction of the height of swings at full ease."""
    high_step: float = 0.15
    """A step up of this height is taken up first and then forward; a step down, forward first [m]."""
    clearance: float = 0.012
    """Clearance of the sole halfway through a swing, in the shortest step [m]."""
    liftoff_height: float = 2e-3
    """Height that a foot gains immediately after lift-off, so that it does not scrape [m]."""
    liftoff_distance: float = 4e-3
    """Horizontal distance within which it gains that height [m]."""
    heel_to_toe: float = 0.1
    """Sine of the pitch below which the change of support from heel to toes is smoothed."""
    rising: float = 0.3
    """Share of a swing in which a foot rises, and share in which it descends."""
    ramps: tuple[float, float] = (0.38, 0.38)
    """Share of a swing in which a foot accelerates, and share in which it decelerates, in slow walking."""
    fast_ramps: tuple[float, float] = (0.22, 0.34)
    """The same in fast walking, where people push off more."""
    slow_fast: tuple[float, float] = (1.3, 3.0)
    """Speeds of a swing, length over duration, that count as slow and as fast [m/s]."""
    shorter_ramps: float = 0.47
    """Relative reduction of both at full ease."""


@dataclass(frozen=True, eq=False)
class Foot:
    """The stances of one foot and the swings between them."""

    leg: Leg
    touch: Array
    """When each stance begins [s]."""
    leave: Array
    """When each stance ends [s]."""
    yaw: Array
    """The heading in each stance [rad]."""
    ground: FootGround
    pitch: Callable[[Array], Array]
    """Pitch of the foot against the ground, toes down [rad], as a function of time."""
    clear: Callable[[Array], Array]
    """Height of the lowest point of the sole over the ground [m], as a function of time."""
    swings: Array
    """(stances − 1, 6, 3): ankle at lift-off and touchdown, its velocities there per unit of phase, lift and sideways swerve; the
    ankle's height is that over the lowest point of the sole."""
    shorter: float
    """Factor on the shares of a swing in which it accelerates and decelerates."""
    evenly: float = 0.0
    """From 0 (rises smoothly at both ends of a swing) to 1 (rises at constant speed)."""
    options: FootOptions = FootOptions()

    # -- stance ------------------------------------------------------------------------------------------------------

    def stance_at(self, times: Array) -> Ints:
        """Index of the stance at each of `times` (n,) [s]; in a swing, of the stance before."""
        return np.clip(np.searchsorted(self.touch, times, side="right") - 1, 0, len(self.touch) - 1)

    def standing(self, times: Array) -> NDArray[np.bool_]:
        """Whether the foot stands at each of `times` (n,) [s]."""
        return np.asarray(times <= self.leave[self.stance_at(times)] + 1e-12)

    def planted(self, k: Ints, pitch: Array) -> tuple[Array, Array]:
        """Ankle (n, 3) and axes (n, 3, 3) of the foot in stances `k` (n,), pitched by `pitch` (n,) [rad]."""
        R = self.ground.R[k] @ so3.about(1, pitch)
        edge, zero = np.where(pitch > 0.0, self.leg.toe, self.leg.heel), np.zeros(len(pitch))  # the end of the sole it rolls on
        on_ground = np.stack([edge, zero, zero], 1)
        own = np.stack([edge, zero, zero - self.leg.ankle], 1)
        return self.ground.at[k] + _turned(self.ground.R[k], on_ground) - _turned(R, own), R

    # -- swing -------------------------------------------------------------------------------------------------------

    def over(self, pitch: Array) -> Array:
        """Height of the ankle over the lowest point of the sole [m] at `pitch` (n,) [rad], smooth where heel and toes are level."""
        x, mean, half = np.sin(pitch), 0.5 * (self.leg.toe + self.leg.heel), 0.5 * (self.leg.toe - self.leg.heel)
        return np.asarray(self.leg.ankle * np.cos(pitch) + mean * x + half * np.sqrt(x**2 + self.options.heel_to_toe**2))

    def swung(self, k: Ints, s: Array, pitch: Array, clear: Array) -> tuple[Array, Array]:
        """Ankle (n, 3) and axes (n, 3, 3) of the foot at shares `s` (n,) of the swings after stances `k` (n,).

        It is pitched by `pitch` (n,) [rad], and the lowest point of its sole is `clear` (n,) [m] over the ground.
        """
        a, b, v, w, lift, swerve = np.moveaxis(self.swings[k], 1, 0)
        s1 = s[:, None]
        # A step up: first up and then forward. A step down: first forward and then down.
        climb = np.clip((self.ground.at[k + 1, 2] - self.ground.at[k, 2]) / self.options.high_step, -1.0, 1.0)[:, None]
        late = np.where(climb > 0.0, s1 ** (1.0 + climb), 1.0 - (1.0 - s1) ** (1.0 - 0.6 * climb))
        early = np.where(climb > 0.0, 1.0 - (1.0 - s1) ** (1.0 + climb), s1 ** (1.0 - 0.8 * climb))
        ramps = self.ramps(k)
        way = _eased(late, *ramps)
        rise = _eased(early, *ramps)
        start, end = s1 - s1**3 * (6.0 - 8.0 * s1 + 3.0 * s1**2), s1**3 * (-4.0 + 7.0 * s1 - 3.0 * s1**2)
        bump = self.raised(s1)
        ankle = a + np.concatenate([way, way, rise], 1) * (b - a) + bump * (lift + swerve)
        ankle += (1.0 - np.maximum(climb, 0.0)) * start * v + end * w
        gone = np.minimum(*(((ankle[:, :2] - at[:, :2]) ** 2).sum(1) for at in (a, b)))
        own = self.options
        ankle[:, 2] += self.over(pitch) + clear + own.liftoff_height * (1.0 - np.exp(-gone / own.liftoff_distance**2))
        blend = way[:, 0]
        yaw = self.yaw[k] + blend * (self.yaw[k + 1] - self.yaw[k])
        tilts = np.swapaxes(so3.about(2, self.yaw), 1, 2) @ self.ground.R  # tilt of the ground relative to the foot's heading
        normal = (1.0 - way) * tilts[k, :, 2] + way * tilts[k + 1, :, 2]
        normal /= np.sqrt((normal**2).sum(1))[:, None]
        e_y = np.stack([np.zeros(len(s)), normal[:, 2], -normal[:, 1]], 1)  # normal × x
        e_y /= np.sqrt((e_y**2).sum(1))[:, None]
        tilt = np.stack([np.cross(e_y, normal), e_y, normal], -1)
        return ankle, so3.about(2, yaw) @ tilt @ so3.about(1, pitch)

    def ramps(self, k: Ints) -> tuple[Array, Array]:
        """Shares (n, 1) of the swings after stances `k` (n,) in which it accelerates and decelerates."""
        own = self.options
        length = np.linalg.norm(self.swings[k, 1, :2] - self.swings[k, 0, :2], axis=1)
        slow, fast = own.slow_fast
        brisk = np.clip((length / (self.touch[k + 1] - self.leave[k]) - slow) / (fast - slow), 0.0, 1.0)[:, None]
        begin, end = (a + brisk * (b - a) for a, b in zip(own.ramps, own.fast_ramps, strict=True))
        return self.shorter * begin, self.shorter * end

    def raised(self, s: Array) -> Array:
        """Relative height at shares `s` of a swing: from 0 up to 1 and down to 0."""
        x = np.minimum(np.minimum(s, 1.0 - s) / self.options.rising, 1.0)
        up = 4.0 * s * (1.0 - s)
        return np.asarray((1.0 - self.evenly) * x**2 * (3.0 - 2.0 * x) + self.evenly * up * (2.0 - up))

    def at(self, times: Array) -> tuple[Array, Array]:
        """Ankles (n, 3) and axes (n, 3, 3) at `times` (n,) [s]."""
        pitch, k = self.pitch(times), self.stance_at(times)
        ankle, R = self.planted(k, pitch)
        up = ~self.standing(times)
        if up.any():
            own = k[up]
            s = (times[up] - self.leave[own]) / (self.touch[own + 1] - self.leave[own])
            ankle[up], R[up] = self.swung(own, s, pitch[up], self.clear(times[up]))
        return ankle, R


def feet(
    way: BaseMotion, steps: Stances, cycles: Cycles, legs: tuple[Leg, Leg], grounds: tuple[FootGround, FootGround],
    heights: Heights | None, *, gap: float, ease: float = 0.0, heels: tuple[Array, Array] | None = None,
    options: FootOptions = FootOptions(),
) -> tuple[Foot, Foot]:  # fmt: skip
    """The left and the right foot of a walk along the base's motion `way`.

    steps: times and positions of the stances
    cycles: blended by velocity, they give pitch and height of the feet
    legs, grounds: left and right: the legs, and the ground under each stance
    heights: heights of the ground in between; flat if None
    gap: smallest distance of a swinging foot from the standing one [m]
    ease: from 0 up; a larger ease makes feet pitch and rise less
    heels: extra pitch that raises the left and the right heel, at each sample of the motion [rad]
    options: how feet roll and swing
    """
    bare, weights = [], cycles.weights(way.velocity)
    shorter = max(1.0 - options.shorter_ramps * ease, 0.2)
    for foot in (0, 1):
        own, phase = steps.of(foot), _phase(steps, way, foot, way.t)
        channels = tuple(f"{legs[foot].side}_{name}" for name in ("foot", "lift"))
        pitch, lift = cycles.blend(weights, phase, channels).T
        pitch = max(1.0 - options.flatter * ease, 0.1) * pitch
        pitch -= options.flat * np.tanh(pitch / options.flat)  # small pitches become zero
        if heels is not None:
            pitch += heels[foot]
        lift = max(1.0 - options.lower * ease, 0.3) * np.maximum(np.where(phase > STANCE_PHASE, lift, 0.0), 0.0)
        yaw, none = np.unwrap(steps.place[own, 2]), np.zeros((max(len(own) - 1, 0), 6, 3))
        bare.append(Foot(
            legs[foot], steps.touch[own], steps.leave[own], yaw, grounds[foot], _looked_up(way.t, pitch),
            _looked_up(way.t, lift), none, shorter, min(ease, 1.0), options,
        ))  # fmt: skip
    left, right = bare
    return _swinging(left, right, heights, gap), _swinging(right, left, heights, gap)


def _phase(steps: Stances, way: BaseMotion, foot: int, times: Array) -> Array:
    """The foot's own phase: 0 to STANCE_PHASE through a stance, then to 1 through a swing."""
    own = steps.of(foot)
    touch, leave = steps.touch[own], steps.leave[own]
    count = np.interp(times, way.t, steps.count)
    first, last = np.interp(touch, way.t, steps.count), np.interp(leave, way.t, steps.count)
    # The first stance is extended backward, and the last one forward, as if walking had gone on.
    usual = 1.25
    first[0], last[-1] = min(first[0], last[0] - usual), max(last[-1], first[-1] + usual)
    k = np.clip(np.searchsorted(touch, times, side="right") - 1, 0, len(own) - 1)
    stand = STANCE_PHASE * np.clip((count - first[k]) / np.maximum(last[k] - first[k], 1e-9), 0.0, 1.0)
    after = np.minimum(k + 1, len(own) - 1)
    swung = np.clip((times - leave[k]) / np.maximum(touch[after] - leave[k], 1e-9), 0.0, 1.0)
    return np.asarray(np.where(times <= leave[k], stand, STANCE_PHASE + (1.0 - STANCE_PHASE) * swung))


def _looked_up(t: Array, values: Array) -> Callable[[Array], Array]:
    return lambda times: np.interp(times, t, values)


def _swinging(own: Foot, other: Foot, heights: Heights | None, gap: float) -> Foot:
    """The foot with its swings: smooth at both ends, high enough for the clearance, around the other foot."""
    n = len(own.touch) - 1
    if n < 1:
        return own
    k, span, dt = np.arange(n), own.touch[1:] - own.leave[:-1], own.options.difference

    def planted(stance: Ints, times: Array) -> Array:
        return own.planted(stance, own.pitch(times))[0]

    a, b = planted(k, own.leave[:-1]), planted(k + 1, own.touch[1:])
    v = (a - planted(k, own.leave[:-1] - dt)) * (span / dt)[:, None]
    w = (planted(k + 1, own.touch[1:] + dt) - b) * (span / dt)[:, None]
    own.swings[:, 0], own.swings[:, 1], own.swings[:, 2, :2], own.swings[:, 3, :2] = a, b, v[:, :2], w[:, :2]
    own.swings[:, 0, 2] -= own.over(own.pitch(own.leave[:-1]))
    own.swings[:, 1, 2] -= own.over(own.pitch(own.touch[1:]))
    _lift(own, heights)
    _swerve(own, other, gap)
    return own


def _checked(own: Foot) -> tuple[Ints, Array, Array]:
    """Swings, and the shares and times at which their clearance is checked, flattened."""
    n, shares = len(own.swings), np.array(own.options.checked_shares)
    k, s = np.repeat(np.arange(n), len(shares)), np.tile(shares, n)
    return k, s, own.leave[k] + s * (own.touch[k + 1] - own.leave[k])


def _lift(own: Foot, heights: Heights | None) -> None:
    """Raises each swing until its sole clears the ground."""
    k, s, times = _checked(own)
    raised = own.raised(s)
    clear = own.clear(times)
    ankle, R = own.swung(k, s, own.pitch(times), clear)
    need = np.full(len(k), -np.inf)
    for x in (own.leg.heel, 0.5 * (own.leg.heel + own.leg.toe), own.leg.toe):
        corner = ankle + R @ np.array([x, 0.0, -own.leg.ankle])
        under = level(heights, corner[:, :2])
        if heights is not None:  # include edges just before or behind the sole
            ahead = 0.01 * R[:, :2, 0]
            under = np.maximum(under, np.maximum(level(heights, corner[:, :2] + ahead), level(heights, corner[:, :2] - ahead)))
        need = np.maximum(need, under + np.maximum(0.5 * clear, own.options.clearance * raised) - corner[:, 2])
    lift = (need / raised).reshape(len(own.swings), -1).max(1)
    own.swings[:, 4, 2] = np.maximum(lift, 0.0)


def _swerve(own: Foot, other: Foot, gap: float) -> None:
    """Bends each swing outward, around the standing foot."""
    k, s, times = _checked(own)
    ankle, _ = own.swung(k, s, np.zeros(len(k)), np.zeros(len(k)))
    beside = other.stance_at(times)
    out = other.ground.R[beside][:, :, 1] * (1.0 if own.leg.hip[1] > 0.0 else -1.0)
    d = ankle - other.ground.at[beside]
    near = np.abs((d * other.ground.R[beside][:, :, 0]).sum(1)) < 0.3
    need = np.where(near, gap - (d * out).sum(1), 0.0) / own.raised(s)
    worst = np.maximum(need, 0.0).reshape(len(own.swings), -1)
    rows = np.arange(len(worst)) * worst.shape[1] + worst.argmax(1)
    own.swings[:, 5] = np.minimum(worst.max(1), 0.25)[:, None] * out[rows] * np.array([1.0, 1.0, 0.0])


def _eased(s: Array, begin: Array, end: Array) -> Array:
    """From 0 to 1: the speed rises linearly within `begin`, falls linearly within the last `end`, and is constant in between."""
    early, late = np.minimum(s, begin), np.minimum(1.0 - s, end)
    even = np.clip(s - begin, 0.0, 1.0 - begin - end)
    return np.asarray((early**2 / (2.0 * begin) + even + (end**2 - late**2) / (2.0 * end)) / (1.0 - 0.5 * (begin + end)))


def _turned(R: Array, x: Array) -> Array:
    return np.asarray((R @ x[..., None])[..., 0])
