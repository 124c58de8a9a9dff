"""Errand: a carrying task: the team, the object, start, goal and scene, as in a carrying file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.ensemble.team import OBJECT, Area, Team
from bunraku.errors import BunrakuError
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.path import Path as Way
from bunraku.planning.ways.path_timing import PathTiming, timed
from bunraku.scene import Scene

Array = NDArray[np.float64]


def require_area(area: Area, *, largest: float = 200.0) -> None:
    """Raises BunrakuError if an `area` ((x_low, x_high), (y_low, y_high)) [m] is empty, or longer than `largest` [m].

    The ground is stored as heights every 5 cm, and random trees cannot explore a larger area.
    """
    for low, high in area:
        if not 0.0 < high - low <= largest:
            raise BunrakuError(
                f"the area goes from {low:g} to {high:g} m\n  advice: give [lower, upper], at most {largest:g} m apart"
            )


@dataclass(frozen=True, eq=False)
class Errand:
    """A team, a scene, a start and a goal. Raises BunrakuError if a number is out of its range."""

    team: Team
    scene: Scene
    area: Area
    """((x_low, x_high), (y_low, y_high)) that bounds the leader, or the object if no agent leads [m]."""
    start: Array
    """A configuration of the team, from `Team.configuration`."""
    goal: Array
    """A configuration of the team."""
    margin: float = 0.01
    """Smallest allowed distance of any pair that may collide [m]."""
    samples: int = 268
    """Number of samples of the motion."""
    speed: float = 0.8
    """Maximum speed of bases and object [m/s]; for turning speeds, see `turning`."""
    acceleration: float = 0.8
    """Maximum acceleration of bases and object [m/s² and rad/s²]."""
    budget: float = 10.0
    """Budget of processor time [s]."""
    seed: int = 0
    name: str = "errand"
    turning: float = 0.6
    """Maximum turning speed divided by `speed` [rad/m]. It is low because turns of the object and of agents about it add up."""
    planning_margin: float = 2.0
    """Paths keep this many margins, because motions are straight between samples."""

    __repr__ = brief

    def __post_init__(self) -> None:
        for word in ("speed", "acceleration", "budget", "turning", "planning_margin"):
            if not 0.0 < getattr(self, word) < math.inf:
                raise BunrakuError(f"{self.name}: {word} is {getattr(self, word)}\n  advice: give a positive number")
        require_area(self.area)
        if not 0.0 <= self.margin < 1.0:
            raise BunrakuError(f"{self.name}: the margin is {self.margin} m\n  advice: give 0 or more, and less than 1 m")
        if self.samples < 2:
            raise BunrakuError(f"{self.name}: {self.samples} samples\n  advice: give 2 samples or more")

    def __getstate__(self) -> dict[str, Any]:
        """The state without the space, which each worker rebuilds."""
        return {key: value for key, value in self.__dict__.items() if key != "space"}

    @cached_property
    def space(self) -> FreeSpace:
        """The free space of the reduced team; built once."""
        return self.team.space(self.scene, self.area, margin=self.planning_margin * self.margin)

    def timed(self, path: Way) -> PathTiming:
        """The `path` of the reduced team, timed as fast as the limits allow."""
        tied = self.team.tied
        v, a = (np.full(self.team.figure.n_q, limit) for limit in (self.speed, self.acceleration))
        turns = [k for k, variable in enumerate(self.team.figure.variables) if variable.motion == "rotate"]
        v[turns] *= self.turning
        v[tied], a[tied] = 50.0, 50.0  # these follow from the other variables, so their limits must not matter
        return timed(path, speed=v, acceleration=a)

    @property
    def heights(self) -> Callable[[Array], Array] | None:
        """A function from points (n, 2) to heights of the ground [m]; None if it is flat."""
        return None if self.team.terrain is None else self.team.terrain.heights

    @property
    def ground(self) -> tuple[str, ...]:
        """Names of the obstacles that agents stand on."""
        terrain = self.team.terrain
        return ("floor",) if terrain is None else ("floor", *terrain.ground)

    def at(self, q: Array) -> str:
        """The position of the object in a configuration `q` of the team, in words."""
        _, held = self.team.in_world(q)
        return f"{OBJECT} at ({held[0]:.2f}, {held[1]:.2f}, {held[2]:.2f}) m"
