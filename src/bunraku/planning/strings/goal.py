"""Goal: target positions for some points of a figure, with a tolerance and a maximum speed."""

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
    """A region of states: every point is near its target, and none is too fast."""

    points: tuple[Point, ...]
    targets: Array
    """Target positions of the points in the world [m], (points, 3)."""
    within: float
    """Largest allowed distance of every point from its target [m]."""
    speed: float = math.inf
    """Largest allowed speed of a point on arrival [m/s]."""
    kinematic: Array | None = None
    """Values of the kinematic variables [m or rad] at a goal that is a whole configuration; None if only points are given."""

    __repr__ = brief

    def __post_init__(self) -> None:
        if not (self.within > 0.0 and self.speed > 0.0):
            raise BunrakuError(f"a goal within {self.within} m, slower than {self.speed} m/s\n  advice: give positive numbers")
        if len(self.targets) == 0 or not np.isfinite(self.targets).all():
            raise NotFinite("a goal without finite targets\n  advice: give each point a target position")

    @classmethod
    def at_points(
        cls, figure: Figure, targets: Mapping[str | Point, ArrayLike], *, within: float = 0.03, speed: float = math.inf
    ) -> Goal:
        """A goal for some points of a figure.

        figure: the figure that has the points.
        targets: positions in the world [m], by names of frames or by points of frames.
        within: largest allowed distance of every point from its target [m].
        speed: largest allowed speed of a point on arrival [m/s]; infinite for any speed.
        Raises UnknownName for a frame that does not exist, BunrakuError for targets that are not three numbers each.
        """
        points = tuple(Point(at) if isinstance(at, str) else at for at in targets)
        for at in points:
            figure.frame(at.frame)
        places = np.array([np.asarray(x, float) for x in targets.values()])
        if places.shape != (len(points), 3):
            raise BunrakuError(f"targets of shape {places.shape}\n  advice: give three numbers for every point")
        return cls(points, places, within, speed)

    @classmethod
    def at_configuration(cls, figure: Figure, q: ArrayLike, *, within: float = 0.03, speed: float = math.inf) -> Goal:
        """A goal for a whole configuration: all bodies and hooks have targets.

        figure: the figure.
        q: the configuration [rad or m].
        within: largest allowed distance of every body and hook from its target [m].
        speed: largest allowed speed on arrival [m/s]; infinite for any speed.
        Raises BunrakuError for a configuration of another figure, or one that is not finite.
        """
        goal = configuration(figure, q)
        points = marks_of(figure)
        pose = Pose(figure, goal)
        places = np.array([pose.point(at.frame, at.position) for at in points])
        return cls(points, places, within, speed, goal[figure.n_dynamic :].copy())

    def __call__(self, figure: Figure, q: ArrayLike, v: ArrayLike) -> bool:
        """Whether the `figure` is in the goal at configuration `q` with rates `v`."""
        pose, rates = Pose(figure, q), np.asarray(v, float)
        for at, target in zip(self.points, self.targets, strict=True):
            if np.linalg.norm(pose.point(at.frame, at.position) - target) > self.within:
                return False
            if np.linalg.norm(pose.point_jacobian(at.frame, at.position) @ rates) > self.speed:
                return False
        return True


def marks_of(figure: Figure) -> tuple[Point, ...]:
    """Points that show where a `figure` is: hooks of its strings, then centres of its bodies, if a dynamic variable moves them."""
    hooks = [string.hook for string in (*figure.strings, *figure.wires)]
    middles = [Point(body.frame, body.com) for body in figure.bodies]
    moved = _moved(figure)
    return tuple(dict.fromkeys(at for at in (*hooks, *middles) if at.frame in moved))


def _moved(figure: Figure) -> set[str]:
    """The frames that a dynamic variable moves."""
    out: set[str] = set()
    for frame in figure.frames:
        if frame.parent in out or (frame.variable is not None and not frame.variable.kinematic):
            out.add(frame.name)
    return out
