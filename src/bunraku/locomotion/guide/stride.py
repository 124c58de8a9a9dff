"""Stride: how far a foot may be put from the other, by what the joints of the legs allow and not only by their length."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bunraku.kinematics import pose
from bunraku.locomotion.guide.ground import Ground
from bunraku.locomotion.guide.humanoid import Humanoid, Limits
from bunraku.locomotion.guide.navigation_points import heading, standing_at
from bunraku.locomotion.guide.synergy import Rules
from bunraku.locomotion.guide.whole_body import WholeBody
from bunraku.scene import Scene

OFF = 0.001
"""What a foot or the centre of mass may be off [m]."""
STEPS = 12
"""Of shortening, down to a fifth."""


def shortened(humanoid: Humanoid) -> Limits:
    """Its limits with `turn`, `forward` and `apart` as large as both feet still lie flat, each with the other's stance under the
    centre of mass."""
    body, rules, limits = WholeBody(humanoid), Rules(humanoid, Ground(Scene("floor")), 0.0), humanoid.limits
    home = humanoid.home_apart

    def stands(along: float, across: float, turned: float) -> bool:
        return all(_stands(body, rules, foot, along, across, turned) for foot in (0, 1))

    outward = _largest(limits.turn[1], 0.0, lambda x: stands(0.0, home, x))
    inward = _largest(limits.turn[0], 0.0, lambda x: stands(0.0, home, -x))
    forward = _largest(limits.forward, 0.0, lambda x: stands(x, home, 0.0) and stands(-x, home, 0.0))
    apart = _largest(limits.apart[1], home, lambda x: stands(0.5 * forward, x, 0.0) and stands(-0.5 * forward, x, 0.0))
    return replace(limits, turn=(inward, outward), forward=forward, apart=(limits.apart[0], apart))


def _largest(most: float, least: float, fits: Callable[[float], bool]) -> float:
    """The largest of some lengths that fits; a fifth of the way where none does, and the planner says what is wrong."""
    lengths = [least + share * (most - least) for share in np.linspace(1.0, 0.2, STEPS)]
    return float(next((length for length in lengths if fits(length)), lengths[-1]))


def _stands(body: WholeBody, rules: Rules, foot: int, along: float, across: float, turned: float) -> bool:
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
    return max(*off, float(np.linalg.norm(found.com - com))) <= OFF and math.acos(min(*flat, 1.0)) < 0.01
