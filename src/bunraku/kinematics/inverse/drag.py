"""Pin and drag: some points stay where they are, one follows the mouse, everything else gives way.

drag = Drag(figure, q, "left_palm", pins=["left_sole", "right_sole"])
q = drag.to(q, place).q   # as often as the mouse moves
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.figure import Figure, Point
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solution import Solution
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import Closing, FramePose, PointPosition, Posture, Task

Array = NDArray[np.float64]
HAND = "dragged"


@dataclass(frozen=True, eq=False)
class Drag:
    """What is pinned and what is dragged, from the configuration q on.

    A pin that is a frame's name holds the frame's pose; one that is a `Point` holds only its place. Pins come first,
    then the dragged point, then the posture of q. Loops of the figure stay closed.
    """

    figure: Figure
    q: ArrayLike
    dragged: str | Point
    pins: Sequence[str | Point] = ()
    moves: Iterable[str] | None = None

    __repr__ = brief

    @cached_property
    def _inverse(self) -> Inverse:
        tasks: list[Task] = [_pin(pin, f"pin {k}") for k, pin in enumerate(self.pins)]
        if self.figure.closures:
            tasks.append(Closing())
        at = self.dragged if isinstance(self.dragged, Point) else Point(self.dragged)
        hand = PointPosition(at.frame, position=at.position, name=HAND, priority=1)
        options = InverseOptions(iterations=30, tolerance=1e-7, still=1e-4)
        return Inverse(self.figure, [*tasks, hand, Posture(priority=2)], start=self.q, moves=self.moves, options=options)

    def to(self, q: ArrayLike, place: ArrayLike, *, iterations: int = 30) -> Solution:
        """From `q` (the last answer, for smooth hands), with the dragged point at a `place` (3,) [m], or as near as pins allow.

        Takes at most so many `iterations`. Raises `NotFinite` where q or the place is not finite.
        """
        ik = self._inverse
        return ik.solve(q, ik.aim({HAND: place}), options=replace(ik.options, iterations=iterations))

    def along(self, places: ArrayLike) -> tuple[Solution, ...]:
        """A solution for each of the `places` (T, 3) of a stroke [m], each from the one before."""
        ik = self._inverse
        aims = np.array([ik.aim({HAND: place}) for place in np.asarray(places, float)])
        return ik.solve_many(aims, self.q)


def _pin(pin: str | Point, name: str) -> Task:
    if isinstance(pin, Point):
        return PointPosition(pin.frame, position=pin.position, name=name)
    return FramePose(pin, name=name)
