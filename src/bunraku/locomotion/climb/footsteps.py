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
from bunraku.locomotion.climb.any_course import AnyCourse

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
    """Initial footholds, one footstep per part of a cycle, and where the feet stand relative to the body at mid-stance.

    `x` is the stance of front and rear feet [m], `shoulders` (feet,) the points of the body that feet swing around [m].
    """

    course: AnyCourse
    start: tuple[Array, ...]
    steps: tuple[Footstep, ...]
    x: tuple[float, float]
    shoulders: tuple[float, ...]

    __repr__ = brief

    @property
    def cycles(self) -> float:
        """Number of cycles."""
        return len(self.steps) / len(self.start)


def swing_order(feet: int) -> tuple[int, ...]:
    """Which of the `feet`, which are pairs of left and right, swings in each part of a cycle.

    Front right, then left of the pair behind, and so on to the rear; then the mirror image.
    """
    half = [2 * pair + (1 if pair % 2 == 0 else 0) for pair in range(feet // 2)]
    return (*half, *(foot ^ 1 for foot in half))


def footsteps(course: AnyCourse, *, front: float, rear: float, cycles: int | None = None, feet: int = 4) -> Footsteps:
    """The footsteps that take the body from one end of a course to the other.

    course: the course
    front, rear: position of the feet at mid-stance, ahead of the body's reference point [m]; pairs between them are evenly spaced
    cycles: number of cycles, in each of which every foot steps once; None goes to the end of the course
    feet: number of feet
    """
    pace, spread, order = course.pace, course.spread, swing_order(feet)
    count = feet * (cycles if cycles is not None else max(math.ceil(float(pace.cycles_to(course.length)) - 1e-9), 1))
    phase = {foot: quarter for quarter, foot in enumerate(order)}
    x = np.repeat(np.linspace(front, rear, feet // 2), 2).tolist()

    def landing(foot: int, cycle: int) -> tuple[Array, int]:
        u = x[foot] + float(pace.at(cycle + (phase[foot] + 1) / feet + (feet - 1) / (2.0 * feet)))
        return course.foot(u, spread if foot % 2 == 0 else -spread)

    places = [landing(foot, -1) for foot in range(feet)]
    start = tuple(X for X, _ in places)
    steps = []
    for quarter in range(count):
        foot = order[quarter % feet]
        there = landing(foot, quarter // feet)
        here = places[foot]
        steps.append(Footstep(foot, quarter, here[0], there[0], range(here[1], there[1] + 1)))
        places[foot] = there
    return Footsteps(course, start, tuple(steps), (front, rear), tuple(0.8 * a for a in x))
