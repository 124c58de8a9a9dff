"""Where and when the gecko puts down its four feet (*gecko*, IV-A).

In a crawl one foot swings in each quarter of a cycle and moves forward by a whole stride. With the order front right, rear left,
front left, rear right, the feet form an isosceles trapezoid whose bases differ by a stride, and every half cycle mirrors the one
before. In a trot, the gait of geckos that run, the first half of these feet swing together, then the others: with four feet, those
on a diagonal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.locomotion.climb.any_course import AnyCourse

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Footstep:
    """One foot moves from one foothold to the next in a part of a cycle. Poses X have columns ahead, left, normal."""

    foot: int
    part: int
    """Number of the part, from 0 on; in a crawl, four feet have four parts in a cycle, in a trot two."""
    X_from: Array
    X_to: Array
    faces: range


@dataclass(frozen=True, eq=False)
class Footsteps:
    """Initial footholds, footsteps in order of time, and where the feet stand relative to the body at mid-stance.

    `x` is the stance of front and rear feet [m], `shoulders` (feet,) the points of the body that feet swing around [m]; a cycle has
    a number of `parts`.
    """

    course: AnyCourse
    start: tuple[Array, ...]
    steps: tuple[Footstep, ...]
    x: tuple[float, float]
    shoulders: tuple[float, ...]
    parts: int

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


Gait = Literal["crawl", "trot"]
"""Which feet swing together: one at a time, or half of them."""


def swing_groups(feet: int, gait: Gait) -> tuple[tuple[int, ...], ...]:
    """Which of the `feet` swing together in each part of a cycle of a `gait`."""
    order = swing_order(feet)
    return tuple((foot,) for foot in order) if gait == "crawl" else (order[: feet // 2], order[feet // 2 :])


def footsteps(
    course: AnyCourse, *, front: float, rear: float, cycles: int | None = None, feet: int = 4, gait: Gait = "crawl"
) -> Footsteps:  # fmt: skip
    """The footsteps that take the body from one end of a course to the other.

    course: the course
    front, rear: position of the feet at mid-stance, ahead of the body's reference point [m]; pairs between them are evenly spaced
    cycles: number of cycles, in each of which every foot steps once; None goes to the end of the course
    feet: number of feet
    gait: which feet swing together
    """
    pace, spread, groups = course.pace, course.spread, swing_groups(feet, gait)
    parts = len(groups)
    count = parts * (cycles if cycles is not None else max(math.ceil(float(pace.cycles_to(course.length)) - 1e-9), 1))
    phase = {foot: part for part, group in enumerate(groups) for foot in group}
    x = np.repeat(np.linspace(front, rear, feet // 2), 2).tolist()

    def landing(foot: int, cycle: int) -> tuple[Array, int]:
        u = x[foot] + float(pace.at(cycle + (phase[foot] + 1) / parts + (parts - 1) / (2.0 * parts)))
        return course.foot(u, spread if foot % 2 == 0 else -spread)

    places = [landing(foot, -1) for foot in range(feet)]
    start = tuple(X for X, _ in places)
    steps = []
    for part in range(count):
        for foot in groups[part % parts]:
            there = landing(foot, part // parts)
            here = places[foot]
            steps.append(Footstep(foot, part, here[0], there[0], range(here[1], there[1] + 1)))
            places[foot] = there
    return Footsteps(course, start, tuple(steps), (front, rear), tuple(0.8 * a for a in x), parts)
