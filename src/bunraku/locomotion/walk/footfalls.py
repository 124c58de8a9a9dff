"""Steps along the motion of a base: when and where each foot stands.

The step rate follows from velocity. The ratio of step length to step rate is nearly constant in people, so step length grows with
the square root of speed; sidesteps and turns add steps. Feet alternate, and each bout of walking has a whole number of steps, from
standing to standing. A foot is placed below the position of the base at mid-stance: it is as far ahead at touchdown as it is
behind at lift-off, whichever way the base moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from bunraku.brief import brief
from bunraku.locomotion.walk.base_motion import BaseMotion, integral
from bunraku.locomotion.walk.cycles import Cycles
from bunraku.locomotion.walk.foot_ground import FootGroundOptions, Heights, rest
from bunraku.locomotion.walk.legs import Leg

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class FootfallOptions:
    """How people place their feet. `ease` runs from 0 (a usual walk) to 1 (a gentle one) and beyond; 1 is called full ease."""

    step_ratio: float = 0.39
    """Step length² divided by speed [m s], that is, step length divided by step rate; 6.5 mm per step/min in people."""
    highest_rate: float = 2.6
    """Highest step rate [1/s]."""
    lowest_rate: float = 0.9
    """Step rate at the beginning and end of a walk [1/s]."""
    farthest: tuple[float, float, float] = (0.5, 0.2, 0.5)
    """Largest deviation of the base from its position at mid-stance: ahead, sideways [m], turned [rad]."""
    standing_width: float = 0.09
    """Lateral distance of a foot from the base when standing [m]."""
    walking_width: float = 0.066
    """Lateral distance of a foot from the base when walking at 1 m/s [m]."""
    gap: float = 0.125
    """Smallest distance of the middles of two feet that pass each other [m]."""
    widest: float = 0.2
    """Largest distance of a foot from the base at mid-stance [m]; longer steps sideways would have to pass farther out."""
    toes_out: float = 0.1
    """Angle by which feet are turned outward [rad]."""
    soles: float = 0.1
    """Distance between the middles of two soles side by side [m]."""
    behind: float = 0.02
    """How far ankles are behind the hips at mid-stance [m]."""
    behind_by_speed: float = 0.05
    """Increase of that distance per m/s, because rising heels bring ankles forward [s]."""
    highest_step: float = 0.24
    """Largest difference in height from one foot to the other [m]."""
    tries: int = 12
    """How many times steps are planned again, faster where one was too long."""
    haste: float = 0.3
    """Steps become faster within this time before and after a step that is too long [s]."""
    shorter_double_support: float = 0.6
    """Relative reduction of double support at full ease."""
    shorter_steps: float = 0.3
    """Relative reduction of step length at full ease."""
    more_steps: float = 0.6
    """Relative increase of the step rate per unit of ease above 1.3."""


@dataclass(frozen=True, eq=False)
class Stances:
    """Stances of both feet, in the order in which they begin; the first two are those at the start."""

    foot: Ints
    """0 left, 1 right."""
    touch: Array
    """Time at which each begins [s]."""
    leave: Array
    """Time at which each ends [s]."""
    middle: Array
    """Time at which the base is over the foot [s]."""
    place: Array
    """(n, 3): x, y [m], heading [rad] of the foot."""
    count: Array
    """Number of steps taken at each sample of the base's motion; fractional within a step."""
    parity: Array
    """The foot that took the first of these steps, at each sample."""

    __repr__ = brief

    def of(self, foot: int) -> Ints:
        """Indices of the stances of one `foot` (0 left, 1 right)."""
        return np.flatnonzero(self.foot == foot)


def step_rate(way: BaseMotion, *, options: FootfallOptions = FootfallOptions()) -> Array:
    """Steps per second (n,) at each sample of the base's motion `way`; `options` describe how people step."""
    forward, side, turn = np.abs(way.velocity.T)
    along = np.sqrt(forward / options.step_ratio) * np.where(way.velocity[:, 0] < 0.0, 1.2, 1.0)
    across, about = side / (0.10 + 0.2 * side), turn / (0.32 + 0.15 * turn)
    least = options.lowest_rate * way.pace / (way.pace + 0.08)
    return np.asarray(np.minimum((along**4 + across**4 + about**4 + least**4) ** 0.25, options.highest_rate))


def footfalls(
    way: BaseMotion, cycles: Cycles, legs: tuple[Leg, Leg], heights: Heights | None, *, ease: float = 0.0,
    options: FootfallOptions = FootfallOptions(), ground: FootGroundOptions = FootGroundOptions(),
) -> Stances:  # fmt: skip
    """The smallest number of steps along the base's motion `way` that keeps all feet within reach.

    cycles: they give the share of a stride in which a foot stands
    legs: left and right
    heights: heights of the ground; flat if None
    ease: from 0 up; a larger ease makes steps shorter and swings longer
    options, ground: how people step, and where they may set a foot
    """
    often = 1.0 + options.more_steps * max(ease - 1.3, 0.0)
    rate = np.minimum(step_rate(way, options=options) * often, options.highest_rate)
    for _ in range(options.tries):
        steps, stretch = _steps(way, cycles, legs[0], rate, ease, options)
        if heights is not None:  # on stairs, one foot at a time
            z = np.empty(len(steps.foot))
            for foot in (0, 1):
                z[steps.of(foot)] = rest(steps.place[steps.of(foot)], legs[foot], heights, options=ground).at[:, 2]
            climb = np.abs(np.diff(z)) / options.highest_step
            stretch[1:], stretch[:-1] = np.maximum(stretch[1:], climb), np.maximum(stretch[:-1], climb)
        late = stretch > 1.0
        if not late.any():
            break
        hurried, haste = np.zeros(len(rate)), options.haste
        for begin, end in zip(steps.touch[late], steps.leave[late], strict=True):
            hurried[(way.t >= begin - haste) & (way.t <= end + haste)] = 0.12
        rate = rate * (1.0 + gaussian_filter1d(hurried, 0.5 * haste / way.dt, mode="nearest"))
    return steps


@dataclass(frozen=True, eq=False)
class _Swings:
    """Swings in order: the foot, times of lift-off and touchdown, and the bout of walking; and counts as in `Stances`."""

    foot: list[int]
    start: list[float]
    end: list[float]
    bout: list[int]
    count: Array
    parity: Array


def _swings(way: BaseMotion, cycles: Cycles, rate: Array, share: float) -> _Swings:
    """A whole number of steps in every bout of walking; double support is scaled by `share`."""
    t, done = way.t, 0.0
    out = _Swings([], [], [], [], np.zeros(len(t)), np.zeros(len(t)))
    for k, (a, b) in enumerate(way.bouts):
        times, phase = t[a : b + 1], integral(t[a : b + 1], rate[a : b + 1])
        n = max(round(phase[-1]), 2)
        phase *= n / phase[-1]
        first = _first_foot(way, a, b, out.foot[-1] if out.foot else 1, n)
        out.count[a : b + 1], out.count[b + 1 :] = done + phase, done + n
        out.parity[a:] = (first + done) % 2
        done += n
        middle = np.interp(np.arange(n) + 0.5, phase, times)
        both = share * (2.0 * cycles.stance(cycles.weights(way.velocity_at(middle))) - 1.0)  # double support as a share of a step
        lift, land = np.arange(n) + 0.5 * both, np.arange(n) + 1.0 - 0.5 * both
        lift[0], land[-1] = 0.05, n - 0.05
        out.foot.extend((first + i) % 2 for i in range(n))
        out.start.extend(np.interp(lift, phase, times).tolist())
        out.end.extend(np.interp(land, phase, times).tolist())
        out.bout.extend([k] * n)
    return out


def _steps(
    way: BaseMotion, cycles: Cycles, leg: Leg, rate: Array, ease: float, options: FootfallOptions
) -> tuple[Stances, Array]:  # fmt: skip
    """The steps, and how far the base deviates from each, as a share of the allowed deviation."""
    own = _swings(way, cycles, rate, max(1.0 - options.shorter_double_support * ease, 0.08))
    first = own.foot[0] if own.foot else 0
    foot = np.array([first, 1 - first, *own.foot], np.int64)
    touch = np.array([way.t[0], way.t[0], *own.end])
    leave, bout, next_bout = np.full(len(foot), way.t[-1]), np.array([-1, -1, *own.bout]), np.full(len(foot), -1)
    for i in range(len(foot)):  # a stance ends with the next swing of the same foot
        after = next((j for j in range(max(i - 1, 0), len(own.foot)) if own.foot[j] == foot[i]), None)
        if after is not None:
            leave[i], next_bout[i] = own.start[after], own.bout[after]
    middle = _middles(way, touch, leave, bout, next_bout)
    ends = (bout < 0) | (next_bout < 0)  # whoever stands at the start or the end stands as always, whatever came before or comes
    place = _places(way, foot, middle, ends, options)
    farthest = np.array(options.farthest) * (1.0 - options.shorter_steps * min(ease, 1.5))
    stretch = _stretch(way, touch, leave, middle, farthest)
    aside = np.linalg.norm(place[:, :2] - way.at(middle)[:, :2], axis=1)
    stretch = np.maximum(stretch, np.where(ends, 0.0, aside / options.widest))
    return Stances(foot, touch, leave, middle, _apart(foot, place, leg, ends, options), own.count, own.parity), stretch


def _first_foot(way: BaseMotion, a: int, b: int, last: int, n: int) -> int:
    """The foot on the side to which the base moves or turns; otherwise the one that did not step last."""
    until = a + max((b - a) // n, 1)
    c, s = np.cos(way.base[a, 2]), np.sin(way.base[a, 2])
    x, y, turn = way.base[min(until + (b - a) // n, b)] - way.base[a]
    aside = c * y - s * x + 0.15 * turn
    return 1 - last if abs(aside) < 0.02 else int(aside < 0.0)


def _middles(way: BaseMotion, touch: Array, leave: Array, own: Ints, after: Ints) -> Array:
    """Time at which the base is halfway through each stance; if it stops during one, the time at which it stops."""
    t, moved = way.t, way.moved
    half = 0.5 * (np.interp(touch, t, moved) + np.interp(leave, t, moved))
    out = np.interp(half, moved + 1e-9 * t, t)  # strictly increasing
    out[own < 0] = t[0]
    for i in np.flatnonzero((own >= 0) & (own != after)):
        out[i] = t[way.bouts[own[i]][1]] if after[i] >= 0 else t[-1]
    return np.asarray(np.clip(out, touch, np.maximum(leave, touch)))


def _places(way: BaseMotion, foot: Ints, middle: Array, ends: NDArray[np.bool_], options: FootfallOptions) -> Array:
    """Positions of feet (n, 3) beside the base, wide enough apart not to cross; those at the `ends` do not give way."""
    at = way.at(middle)
    c, s = np.cos(at[:, 2]), np.sin(at[:, 2])
    side = np.where(foot == 0, 1.0, -1.0)
    speed = np.abs(way.velocity_at(middle)[:, 0])
    half = options.standing_width - (options.standing_width - options.walking_width) * np.clip(speed / 1.0, 0.0, 1.0)
    d = at[1:, :2] - at[:-1, :2]  # feet alternate, so consecutive ones are left and right
    need = options.gap - side[1:] * (c[:-1] * d[:, 1] - s[:-1] * d[:, 0])
    before, after = (np.where(other, need - options.standing_width, 0.5 * need) for other in (ends[:-1], ends[1:]))
    half[1:] = np.where(ends[1:], half[1:], np.maximum(half[1:], before))
    half[:-1] = np.where(ends[:-1], half[:-1], np.maximum(half[:-1], after))
    x = -options.behind - options.behind_by_speed * np.clip(way.velocity_at(middle)[:, 0], -0.3, 1.2)
    turn = at[:, 2] + side * options.toes_out
    return np.stack([at[:, 0] + c * x - s * side * half, at[:, 1] + s * x + c * side * half, turn], 1)


def _stretch(way: BaseMotion, touch: Array, leave: Array, middle: Array, farthest: Array) -> Array:
    """How far the base deviates from its position at mid-stance, for each stance, as a share of `farthest` (3,)."""
    at = way.at(middle)
    c, s = np.cos(at[:, 2]), np.sin(at[:, 2])
    out = np.zeros(len(touch))
    for when in (touch, leave):
        d = way.at(when) - at
        local = np.stack([c * d[:, 0] + s * d[:, 1], c * d[:, 1] - s * d[:, 0], d[:, 2]], 1) / farthest
        out = np.maximum(out, np.maximum(np.hypot(local[:, 0], local[:, 1]), np.abs(local[:, 2])))
    return out


def _apart(foot: Ints, place: Array, leg: Leg, ends: NDArray[np.bool_], options: FootfallOptions) -> Array:
    """Feet moved outward if their heels or toes would touch because they are turned; those at the `ends` stay."""
    out = place.copy()
    for i in range(1, len(foot)):
        a, b = (i - 1, i) if foot[i] else (i, i - 1)  # left and right
        turn, middle = out[a, 2] - out[b, 2], 0.5 * (out[a, 2] + out[b, 2])
        ahead, left = np.array([np.cos(middle), np.sin(middle)]), np.array([-np.sin(middle), np.cos(middle)])
        d = out[a, :2] - out[b, :2]
        end = -leg.heel if turn > 0.0 else leg.toe
        need = max(options.gap, options.soles + end * abs(np.sin(turn))) - d @ left
        if need > 0.0 and abs(d @ ahead) < leg.toe - leg.heel:
            for one, other, sign in ((a, b, 1.0), (b, a, -1.0)):
                out[one, :2] += 0.0 if ends[one] else sign * (need if ends[other] else 0.5 * need) * left
    return out
