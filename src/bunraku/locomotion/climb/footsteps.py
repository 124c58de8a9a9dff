"""Where and when the gecko puts down its four feet (*gecko*, IV-A).

One foot swings in each quarter of a cycle and moves forward by a whole stride. With the order front right, rear left, front left,
rear right, the feet form an isosceles trapezoid whose bases differ by a stride, and every half cycle mirrors the one before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.locomotion.climb.course import Course

Array = NDArray[np.float64]


class GeckoFeet(NamedTuple):
    """The four feet of a gecko; a foot's index is its position in `names`."""

    names: tuple[str, ...] = ("front_left", "front_right", "rear_left", "rear_right")
    sides: tuple[float, ...] = (1.0, -1.0, 1.0, -1.0)
    """1 for a foot on the left, −1 for one on the right."""
    swing_order: tuple[int, ...] = (1, 2, 0, 3)
    """Which foot swings in each quarter of a cycle."""


GECKO_FEET = GeckoFeet()


@dataclass(frozen=True, eq=False)
class Footstep:
    """One foot moves from one foothold to the next in a quarter of a cycle. Poses X have columns ahead, left, normal."""

    foot: int
    quarter: int
    X_from: Array
    X_to: Array
    faces: range


@dataclass(frozen=True, eq=False)
class Footsteps:
    """Four initial footholds, one footstep per quarter of a cycle, and `x`: the stance of front and rear feet [m]."""

    course: Course
    start: tuple[Array, ...]
    steps: tuple[Footstep, ...]
    x: tuple[float, float]

    __repr__ = brief

    @property
    def cycles(self) -> float:
        """Number of cycles of four steps."""
        return len(self.steps) / 4.0


def footsteps(course: Course, *, front: float, rear: float, cycles: int | None = None) -> Footsteps:
    """The footsteps that take the body from one end of a course to the other.

    course: the course
    front, rear: position of the feet at mid-stance, ahead of the body's reference point [m]
    cycles: number of cycles of four steps; None goes to the end of the course
    """
    stride, spread = course.stride, course.spread
    count = 4 * (cycles if cycles is not None else max(math.ceil(course.length / stride - 1e-9), 1))
    phase = {foot: quarter for quarter, foot in enumerate(GECKO_FEET.swing_order)}
    x = [front if foot < 2 else rear for foot in range(4)]

    def landing(foot: int, cycle: int) -> tuple[Array, int]:
        u = x[foot] + stride * (cycle + (phase[foot] + 1) / 4.0 + 3.0 / 8.0)
        return course.foot(u, GECKO_FEET.sides[foot] * spread)

    places = [landing(foot, -1) for foot in range(4)]
    start = tuple(X for X, _ in places)
    steps = []
    for quarter in range(count):
        foot = GECKO_FEET.swing_order[quarter % 4]
        there = landing(foot, quarter // 4)
        here = places[foot]
        steps.append(Footstep(foot, quarter, here[0], there[0], range(here[1], there[1] + 1)))
        places[foot] = there
    return Footsteps(course, start, tuple(steps), (front, rear))
