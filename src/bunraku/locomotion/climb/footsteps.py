"""Where and when the four feet of the gecko are put down (*gecko*, IV-A).

One foot swings in each quarter of a cycle and gets a whole stride ahead. With the order front right, rear left, front
left, rear right, the feet form an isosceles trapezoid whose bases differ by a whole stride, and every half cycle mirrors
the one before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.locomotion.climb.course import Course

Array = NDArray[np.float64]
FEET = ("front_left", "front_right", "rear_left", "rear_right")
ORDER = (1, 2, 0, 3)
SIDE = (1.0, -1.0, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Footstep:
    """A foot goes from one place to the next in a quarter of a cycle. X has columns ahead, left, normal; on the surface."""

    foot: int
    quarter: int
    X_from: Array
    X_to: Array
    faces: range


@dataclass(frozen=True, eq=False)
class Footsteps:
    """Four places to start from, and a footstep for every quarter of a cycle."""

    course: Course
    start: tuple[Array, ...]
    steps: tuple[Footstep, ...]
    x: tuple[float, float]

    __repr__ = brief

    @property
    def cycles(self) -> float:
        return len(self.steps) / 4.0


def footsteps(course: Course, *, front: float, rear: float, cycles: int | None = None) -> Footsteps:
    """The footsteps that take the body from one end of a course to the other.

    `front` and `rear` [m] are where the feet stand, from the body's reference, halfway through their stance.
    """
    stride, spread = course.stride, course.spread
    count = 4 * (cycles if cycles is not None else max(math.ceil(course.length / stride - 1e-9), 1))
    phase = {foot: quarter for quarter, foot in enumerate(ORDER)}
    x = [front if foot < 2 else rear for foot in range(4)]

    def landing(foot: int, cycle: int) -> tuple[Array, int]:
        u = x[foot] + stride * (cycle + (phase[foot] + 1) / 4.0 + 3.0 / 8.0)
        return course.foot(u, SIDE[foot] * spread)

    places = [landing(foot, -1) for foot in range(4)]
    start = tuple(X for X, _ in places)
    steps = []
    for quarter in range(count):
        foot = ORDER[quarter % 4]
        there = landing(foot, quarter // 4)
        here = places[foot]
        steps.append(Footstep(foot, quarter, here[0], there[0], range(here[1], there[1] + 1)))
        places[foot] = there
    return Footsteps(course, start, tuple(steps), (front, rear))
