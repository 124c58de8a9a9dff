"""Drag: inverse kinematics for the mouse. Some points are pinned, others follow the mouse, the rest adapts. Also winds strings.

    drag = Drag(figure, q, "left_palm", pins=["left_sole", "right_sole"])
    q = drag.to(q, place).q   # as often as the mouse moves

All dragging on the stage is done here: of figures that are posed, and of spindles of figures that are simulated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.figure import Figure, Point, String
from bunraku.kinematics.forward import pose
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solution import Solution
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import Closing, FramePose, PointPosition, Posture, Task

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drag:
    """A figure with pinned points and dragged points.

    Pins have priority over dragged points. Loops of the figure stay closed, and joints within their limits.
    """

    figure: Figure
    q: ArrayLike
    """The configuration at which the drag begins: pins, and everything that need not move, stay where they are in it."""
    dragged: str | Point | Sequence[str | Point]
    """Frames, by name, or points of frames that follow the mouse."""
    pins: Sequence[str | Point] = ()
    """What stays: a frame's name holds its pose, a `Point` only its position."""
    moves: Iterable[str] | None = None
    """Names of the variables that may move; None for all that move a frame."""
    reluctance: Mapping[str, float] = field(default_factory=dict)
    """Factors by name, for `step`; a variable with a factor of 3 moves less readily than the others, which have 1."""
    softness: float = 0.05
    """Damping of a `step` [m]: the larger, the more gently limbs move toward a distant place."""

    __repr__ = brief

    @cached_property
    def _titles(self) -> tuple[str, ...]:
        one = isinstance(self.dragged, str | Point)
        return ("dragged",) if one else tuple(f"dragged {k}" for k in range(len(self.dragged)))  # type: ignore[arg-type]

    @cached_property
    def _hands(self) -> list[PointPosition]:
        hands = [self.dragged] if isinstance(self.dragged, str | Point) else self.dragged
        points = [hand if isinstance(hand, Point) else Point(hand) for hand in hands]
        named = zip(points, self._titles, strict=True)
        return [PointPosition(at.frame, position=at.position, name=title, priority=1) for at, title in named]

    @cached_property
    def _held(self) -> list[Task]:
        tasks: list[Task] = [_pin(pin, f"pin {k}") for k, pin in enumerate(self.pins)]
        return [*tasks, Closing()] if self.figure.closures else tasks

    @cached_property
    def _inverse(self) -> Inverse:
        tasks = [*self._held, *self._hands, Posture(priority=2)]
        options = InverseOptions(iterations=30, tolerance=1e-7, still=1e-4)
        return Inverse(self.figure, tasks, start=self.q, moves=self.moves, options=options)

    def to(self, q: ArrayLike, place: ArrayLike, *, iterations: int = 30) -> Solution:
        """The configuration with the dragged points at a place, or as near as pins and limits allow.

        q: where the search starts; pass the last answer, so that the motion is smooth.
        place: where the dragged point should be [m], (3,); one row for each where several are dragged.
        iterations: the most that it may take.

        Returns the solution; raises NotFinite where q or the place is not finite.
        """
        ik = self._inverse
        return ik.solve(q, self._aim(ik, place), options=replace(ik.options, iterations=iterations))

    @cached_property
    def _soft(self) -> Inverse:
        """Without a posture: only damping decides what moves, so that no step is large."""
        moves = [name for name in (self.figure.names if self.moves is None else self.moves) if name not in self.reluctance]
        here, own = pose(self.figure, self.q), self.figure.indices(moves)
        gives = [np.abs(here.point_jacobian(hand.frame, hand.position)[:, own]).max(initial=0.0) > 1e-6 for hand in self._hands]
        reluctance = self.reluctance if all(gives) else {}  # else only these variables can move a dragged point
        tasks, options = [*self._held, *self._hands], InverseOptions(damping=self.softness**2)
        return Inverse(self.figure, tasks, start=self.q, moves=self.moves, reluctance=reluctance, options=options)

    def step(self, q: ArrayLike, place: ArrayLike, *, longest: float) -> Array:
        """One step toward a place, for live figures: if the place is out of reach, the dragged point comes to rest and never jumps.

        q: the last answer.
        place: where the dragged point should be [m], (3,); one row for each where several are dragged.
        longest: how far a dragged point moves at most [m].

        Returns the configuration; raises NotFinite where q or the place is not finite.
        """
        q, wanted = np.array(q, float), np.asarray(place, float).reshape(-1, 3)
        away = wanted - self._places(q)
        share = np.minimum(1.0, longest / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12))
        new = self._soft.step(q, self._aim(self._soft, wanted - (1.0 - share) * away))
        for _ in range(5):  # out of reach, a whole step may overshoot, and the next one would go back
            new = np.clip(new, *self.figure.limits)
            if np.sum((wanted - self._places(new)) ** 2) < np.sum(away**2):
                return new
            new = 0.5 * (q + new)
        return q

    def _places(self, q: Array) -> Array:
        here = pose(self.figure, q)
        return np.array([here.point(hand.frame, hand.position) for hand in self._hands])

    def along(self, places: ArrayLike) -> tuple[Solution, ...]:
        """A solution for each of the `places` (T, 3) of a stroke [m], each from the one before; (T, n, 3) for n dragged points."""
        ik = self._inverse
        aims = np.array([self._aim(ik, place) for place in np.asarray(places, float)])
        return ik.solve_many(aims, self.q)

    def _aim(self, ik: Inverse, place: ArrayLike) -> Array:
        rows = np.asarray(place, float).reshape(len(self._titles), 3)
        return ik.aim(dict(zip(self._titles, rows, strict=True)))


def _pin(pin: str | Point, name: str) -> Task:
    if isinstance(pin, Point):
        return PointPosition(pin.frame, position=pin.position, name=name)
    return FramePose(pin, name=name)


def wound(figure: Figure, string: String, q: ArrayLike, by: float, *, least: float = 0.0) -> float:
    """The value of a string's variable after the user winds the string.

    figure, string: the figure and its string, which has a variable.
    q: the configuration, (n_q,).
    by: how much longer the string becomes [m]; negative where it is wound in.
    least: no string becomes shorter than this [m].

    A string is length + ratio · q[variable] long, so the variable changes by `by` / ratio: a drum of 2 cm radius turns
    by 50 rad to let out a metre. Returns the value, clipped to the variable's limits.
    """
    k = figure.index(string.variable or "")
    value = float(np.asarray(q, float)[k])
    if string.ratio == 0.0:
        return value
    long = max(string.wound(value) + by, least)
    lower, upper = (float(limit[k]) for limit in figure.limits)
    return min(max(float(string.winding(long)), lower), upper)
