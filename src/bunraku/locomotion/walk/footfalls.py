"""Steps along a way: when each foot stands, and where.

The rate of steps follows from speed (step length grows as its root: the ratio of length to rate is nearly the same in people at
all speeds), sidestep and turn. Steps alternate, and each stretch of walking holds a whole number of them, from standing to
standing. A foot stands where the base is halfway through its stance: that is as much ahead at touchdown as it is behind at
lift-off, whichever way the base goes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from bunraku.brief import brief
from bunraku.locomotion.walk.base_motion import Going, summed
from bunraku.locomotion.walk.cycles import Cycles
from bunraku.locomotion.walk.foot_ground import Heights, rest
from bunraku.locomotion.walk.legs import Leg

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
RATIO = 0.39  # [m s]: step length² over speed, of 6.5 mm for each step a minute
QUICKEST = 2.6  # [1/s] steps
LEAST = 0.9  # [1/s] in which a walk begins and ends
LONGEST = np.array([0.5, 0.2, 0.5])  # [m, m, rad] that a base may be from the middle of a stance
WIDE, NARROW, GAP = 0.09, 0.066, 0.125  # [m] a foot beside the base, standing and walking; least between feet that pass
TOES_OUT = 0.1  # [rad]
SOLES = 0.1  # [m] between the middles of two soles side by side
BEHIND, LATER = 0.02, 0.05  # [m, s] ankles behind the hips, and more so by speed: heels that rise bring them forward
TRIES = 12
HASTE = 0.3  # [s] before and after a step that is too long, steps are quicker
STEP = 0.24  # [m] up or down from one foot to the other
SWIFT, CLOSER = 0.6, 0.3  # with full ease, standing on both feet and steps are shorter by these shares
OFTENER = 0.6  # with more than full ease, steps are smaller and come oftener


@dataclass(frozen=True, eq=False)
class Steps:
    """Stances of both feet, in the order in which they begin; the first two are those of the start."""

    foot: Ints
    """0 left, 1 right."""
    touch: Array
    leave: Array
    middle: Array
    """When the base is over the stance."""
    place: Array
    """(n, 3): x, y, heading of the foot."""
    count: Array
    """Steps taken at each look of the way, and the foot that took the first of them in `parity`."""
    parity: Array

    __repr__ = brief

    def of(self, foot: int) -> Ints:
        return np.flatnonzero(self.foot == foot)


def rate(going: Going) -> Array:
    """Steps a second."""
    forward, side, turn = np.abs(going.velocity.T)
    along = np.sqrt(forward / RATIO) * np.where(going.velocity[:, 0] < 0.0, 1.2, 1.0)
    across, about = side / (0.10 + 0.2 * side), turn / (0.32 + 0.15 * turn)
    least = LEAST * going.pace / (going.pace + 0.08)
    return np.asarray(np.minimum((along**4 + across**4 + about**4 + least**4) ** 0.25, QUICKEST))


def plan(going: Going, cycles: Cycles, legs: tuple[Leg, Leg], heights: Heights | None, *, ease: float = 0.0) -> Steps:
    """As few steps as keep all feet within reach. With `ease`, steps are shorter, and feet longer in the air."""
    pace = np.minimum(rate(going) * (1.0 + OFTENER * max(ease - 1.3, 0.0)), QUICKEST)
    for _ in range(TRIES):
        steps, stretch = _steps(going, cycles, legs[0], pace, ease)
        if heights is not None:  # a foot at a time up or down a step
            z = np.empty(len(steps.foot))
            for foot in (0, 1):
                z[steps.of(foot)] = rest(steps.place[steps.of(foot)], legs[foot], heights).at[:, 2]
            climb = np.abs(np.diff(z)) / STEP
            stretch[1:], stretch[:-1] = np.maximum(stretch[1:], climb), np.maximum(stretch[:-1], climb)
        late = stretch > 1.0
        if not late.any():
            break
        hurried = np.zeros(len(pace))
        for begin, end in zip(steps.touch[late], steps.leave[late], strict=True):
            hurried[(going.t >= begin - HASTE) & (going.t <= end + HASTE)] = 0.12
        pace = pace * (1.0 + gaussian_filter1d(hurried, 0.5 * HASTE / going.dt, mode="nearest"))
    return steps


@dataclass(frozen=True, eq=False)
class _Swings:
    """Swings in their order: the foot, when it leaves and lands, and the stretch of walking; and counts as in `Steps`."""

    foot: list[int]
    start: list[float]
    end: list[float]
    bout: list[int]
    count: Array
    parity: Array


def _swings(going: Going, cycles: Cycles, pace: Array, share: float) -> _Swings:
    """A whole number of steps in every stretch of walking; standing on both feet is scaled by `share`."""
    t, done = going.t, 0.0
    out = _Swings([], [], [], [], np.zeros(len(t)), np.zeros(len(t)))
    for k, (a, b) in enumerate(going.bouts):
        times, phase = t[a : b + 1], summed(t[a : b + 1], pace[a : b + 1])
        n = max(round(phase[-1]), 2)
        phase *= n / phase[-1]
        first = _first_foot(going, a, b, out.foot[-1] if out.foot else 1, n)
        out.count[a : b + 1], out.count[b + 1 :] = done + phase, done + n
        out.parity[a:] = (first + done) % 2
        done += n
        middle = np.interp(np.arange(n) + 0.5, phase, times)
        both = share * (2.0 * cycles.stance(cycles.weights(going.velocity_at(middle))) - 1.0)  # of a step, on both feet
        lift, land = np.arange(n) + 0.5 * both, np.arange(n) + 1.0 - 0.5 * both
        lift[0], land[-1] = 0.05, n - 0.05
        out.foot.extend((first + i) % 2 for i in range(n))
        out.start.extend(np.interp(lift, phase, times).tolist())
        out.end.extend(np.interp(land, phase, times).tolist())
        out.bout.extend([k] * n)
    return out


def _steps(going: Going, cycles: Cycles, leg: Leg, pace: Array, ease: float) -> tuple[Steps, Array]:
    """The steps, and how far the base gets from each, as a share of the most."""
    own = _swings(going, cycles, pace, max(1.0 - SWIFT * ease, 0.08))
    first = own.foot[0] if own.foot else 0
    foot = np.array([first, 1 - first, *own.foot], np.int64)
    touch = np.array([going.t[0], going.t[0], *own.end])
    leave, bout, next_bout = np.full(len(foot), going.t[-1]), np.array([-1, -1, *own.bout]), np.full(len(foot), -1)
    for i in range(len(foot)):  # the next swing of the same foot ends a stance
        after = next((j for j in range(max(i - 1, 0), len(own.foot)) if own.foot[j] == foot[i]), None)
        if after is not None:
            leave[i], next_bout[i] = own.start[after], own.bout[after]
    middle = _middles(going, touch, leave, bout, next_bout)
    place, stretch = _places(going, foot, touch, leave, middle, LONGEST * (1.0 - CLOSER * min(ease, 1.5)))
    return Steps(foot, touch, leave, middle, _apart(foot, place, leg), own.count, own.parity), stretch


def _first_foot(going: Going, a: int, b: int, last: int, n: int) -> int:
    """The foot on the side to which the base goes or turns; else the one that did not step last."""
    until = a + max((b - a) // n, 1)
    c, s = np.cos(going.base[a, 2]), np.sin(going.base[a, 2])
    x, y, turn = going.base[min(until + (b - a) // n, b)] - going.base[a]
    aside = c * y - s * x + 0.15 * turn
    return 1 - last if abs(aside) < 0.02 else int(aside < 0.0)


def _middles(going: Going, touch: Array, leave: Array, own: Ints, after: Ints) -> Array:
    """When a base is halfway through a stance; where it rests there, the rest."""
    t, moved = going.t, going.moved
    half = 0.5 * (np.interp(touch, t, moved) + np.interp(leave, t, moved))
    out = np.interp(half, moved + 1e-9 * t, t)  # strictly increasing
    out[own < 0] = t[0]
    for i in np.flatnonzero((own >= 0) & (own != after)):
        out[i] = t[going.bouts[own[i]][1]]
    return np.asarray(np.clip(out, touch, np.maximum(leave, touch)))


def _places(going: Going, foot: Ints, touch: Array, leave: Array, middle: Array, longest: Array) -> tuple[Array, Array]:
    """Feet beside the base, wide enough apart not to cross."""
    at = going.at(middle)
    c, s = np.cos(at[:, 2]), np.sin(at[:, 2])
    side = np.where(foot == 0, 1.0, -1.0)
    speed = np.abs(going.velocity_at(middle)[:, 0])
    half = WIDE - (WIDE - NARROW) * np.clip(speed / 1.0, 0.0, 1.0)
    d = at[1:, :2] - at[:-1, :2]  # feet take turns: neighbours are of either foot
    need = 0.5 * (GAP - side[1:] * (c[:-1] * d[:, 1] - s[:-1] * d[:, 0]))
    half[1:] = np.maximum(half[1:], need)
    half[:-1] = np.maximum(half[:-1], need)
    x = -BEHIND - LATER * np.clip(going.velocity_at(middle)[:, 0], -0.3, 1.2)
    place = np.stack([at[:, 0] + c * x - s * side * half, at[:, 1] + s * x + c * side * half, at[:, 2] + side * TOES_OUT], 1)
    away = np.zeros(len(foot))
    for when in (touch, leave):
        d = going.at(when) - at
        local = np.stack([c * d[:, 0] + s * d[:, 1], c * d[:, 1] - s * d[:, 0], d[:, 2]], 1) / longest
        away = np.maximum(away, np.maximum(np.hypot(local[:, 0], local[:, 1]), np.abs(local[:, 2])))
    return place, away


def _apart(foot: Ints, place: Array, leg: Leg) -> Array:
    """Feet moved outward where, turned against each other, their heels or toes would meet."""
    out = place.copy()
    for i in range(1, len(foot)):
        a, b = (i - 1, i) if foot[i] else (i, i - 1)  # left and right
        turn, middle = out[a, 2] - out[b, 2], 0.5 * (out[a, 2] + out[b, 2])
        ahead, left = np.array([np.cos(middle), np.sin(middle)]), np.array([-np.sin(middle), np.cos(middle)])
        d = out[a, :2] - out[b, :2]
        end = -leg.heel if turn > 0.0 else leg.toe
        need = max(GAP, SOLES + end * abs(np.sin(turn))) - d @ left
        if need > 0.0 and abs(d @ ahead) < leg.toe - leg.heel:
            out[a, :2] += 0.5 * need * left
            out[b, :2] -= 0.5 * need * left
    return out
