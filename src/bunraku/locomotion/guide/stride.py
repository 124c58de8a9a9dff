"""Stride: how far apart the feet can be, from the limits of the joints as well as the length of the legs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bunraku.kinematics import pose
from bunraku.locomotion.guide.ground import SceneGround
from bunraku.locomotion.guide.humanoid import Humanoid, HumanoidLimits
from bunraku.locomotion.guide.navigation_points import heading, standing_at
from bunraku.locomotion.guide.synergy import SynergyRules
from bunraku.locomotion.guide.whole_body import WholeBody
from bunraku.scene import Scene


def shortened(humanoid: Humanoid, *, tolerance: float = 0.001, steps: int = 12) -> HumanoidLimits:
    """The limits of a `humanoid` with `turn`, `forward` and `apart` reduced until both feet can lie flat at them.

    tolerance: largest error of a foot or the centre of mass [m]
    steps: number of lengths tried, from the full one down to a fifth

    Tested with one foot at the limit and the other under the centre of mass.
    """
    body, rules, limits = WholeBody(humanoid), SynergyRules(humanoid, SceneGround(Scene("floor")), 0.0), humanoid.limits
    home = humanoid.home_apart

    def stands(along: float, across: float, turned: float) -> bool:
        return all(_error(body, rules, foot, along, across, turned) <= tolerance for foot in (0, 1))

    outward = _largest(limits.turn[1], 0.0, lambda x: stands(0.0, home, x), steps)
    inward = _largest(limits.turn[0], 0.0, lambda x: stands(0.0, home, -x), steps)
    forward = _largest(limits.forward, 0.0, lambda x: stands(x, home, 0.0) and stands(-x, home, 0.0), steps)
    apart = _largest(limits.apart[1], home, lambda x: stands(0.5 * forward, x, 0.0) and stands(-0.5 * forward, x, 0.0), steps)
    return replace(limits, turn=(inward, outward), forward=forward, apart=(limits.apart[0], apart))


def _largest(most: float, least: float, fits: Callable[[float], bool], steps: int) -> float:
    """The largest length that fits; if none does, a fifth of the full one (the planner then reports the problem)."""
    lengths = [least + share * (most - least) for share in np.linspace(1.0, 0.2, steps)]
    return float(next((length for length in lengths if fits(length)), lengths[-1]))


def _error(body: WholeBody, rules: SynergyRules, foot: int, along: float, across: float, turned: float) -> float:
    """Largest error of a foot or the centre of mass with a foot there [m]; infinite if a foot is not flat."""
    own, side = body.humanoid, 1.0 if foot == 0 else -1.0
    here = standing_at(own)
    feet = here.feet.copy()
    stance = feet[1 - foot]
    feet[foot] = [stance[0] + along, stance[1] + side * across, stance[2], side * turned]
    yaw = 0.5 * float(feet[:, 3].sum())
    com = np.array([stance[0], stance[1], here.com.p[2]])
    com[2] = rules.low_enough(com, feet, yaw, replace(here, feet=feet), foot)
    hands = com + own.home_hands @ heading(yaw).T
    points = replace(here, com=replace(here.com, p=com), feet=feet, trunk=np.array([0.0, 0.0, yaw]), hands=hands)
    found = pose(own.figure, body.posed(points))
    off = [float(np.linalg.norm(found.point(frame) - feet[k, :3])) for k, frame in enumerate(own.feet)]
    flat = [float(found.X(frame)[2, 2]) for frame in own.feet]
    return max(*off, float(np.linalg.norm(found.com - com))) if math.acos(min(*flat, 1.0)) < 0.01 else math.inf
