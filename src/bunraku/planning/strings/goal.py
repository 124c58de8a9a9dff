"""Goals: where some points of a figure should be, how nearly, and how slowly they should arrive."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Figure
from bunraku.figure.frame import Point
from bunraku.kinematics.forward import Pose, configuration

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Goal:
    """A region: every point within `within` [m] of its target, and none faster than `speed` [m/s]."""

    points: tuple[Point, ...]
    targets: Array
    within: float
    speed: float = math.inf
    kinematic: Array | None = None
    """Where the hands are at a goal that is a whole configuration."""

    __repr__ = brief

    def __post_init__(self) -> None:
        if not (self.within > 0.0 and self.speed > 0.0):
            raise BunrakuError(f"a goal within {self.within} m, slower than {self.speed} m/s\n  advice: give positive numbers")
        if len(self.targets) == 0 or not np.isfinite(self.targets).all():
            raise NotFinite("a goal without finite targets\n  advice: name points and where they should be")

    @classmethod
    def at_points(
        cls, figure: Figure, targets: Mapping[str | Point, ArrayLike], *, within: float = 0.03, speed: float = math.inf
    ) -> Goal:
        """Points by frame, or by frame and position in it, and where they should be in the world."""
        points = tuple(Point(at) if isinstance(at, str) else at for at in targets)
        for at in points:
            figure.frame(at.frame)
        places = np.array([np.asarray(x, float) for x in targets.values()])
        if places.shape != (len(points), 3):
            raise BunrakuError(f"targets of shape {places.shape}\n  advice: three numbers for every point")
        return cls(points, places, within, speed)

    @classmethod
    def at_configuration(cls, figure: Figure, q: ArrayLike, *, within: float = 0.03, speed: float = math.inf) -> Goal:
        """All bodies and hooks near where q has them."""
        goal = configuration(figure, q)
        points = marks_of(figure)
        pose = Pose(figure, goal)
        places = np.array([pose.point(at.frame, at.position) for at in points])
        return cls(points, places, within, speed, goal[figure.n_dynamic :].copy())

    def __call__(self, figure: Figure, q: ArrayLike, v: ArrayLike) -> bool:
        """Whether a state is in it."""
        pose, rates = Pose(figure, q), np.asarray(v, float)
        for at, target in zip(self.points, self.targets, strict=True):
            if np.linalg.norm(pose.point(at.frame, at.position) - target) > self.within:
                return False
            if np.linalg.norm(pose.point_jacobian(at.frame, at.position) @ rates) > self.speed:
                return False
        return True


def marks_of(figure: Figure) -> tuple[Point, ...]:
    """Points that tell where a figure is: the hooks of its strings, then the middles of its bodies, if physics moves them."""
    hooks = [string.hook for string in (*figure.strings, *figure.wires)]
    middles = [Point(body.frame, body.com) for body in figure.bodies]
    moved = _moved(figure)
    return tuple(dict.fromkeys(at for at in (*hooks, *middles) if at.frame in moved))


def _moved(figure: Figure) -> set[str]:
    """The frames behind a dynamic variable."""
    out: set[str] = set()
    for frame in figure.frames:
        if frame.parent in out or (frame.variable is not None and not frame.variable.kinematic):
            out.add(frame.name)
    return out
