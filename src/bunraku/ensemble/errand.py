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
from bunraku.ensemble.animate import AnimateOptions
from bunraku.ensemble.recheck_speeds import WorldSpeeds
from bunraku.ensemble.routes import RouteOptions, routes
from bunraku.ensemble.team import OBJECT, Area, Team
from bunraku.ensemble.world_limits import world_limits
from bunraku.errors import BunrakuError
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.path import Path as Way
from bunraku.planning.ways.path_timing import PathLimits, PathTiming, PathTimingOptions, timed
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
    samples: int | None = None
    """Number of samples that are kept of the motion, which has 75 a second; None keeps all."""
    speed: float = 0.8
    """Maximum speed of bases, object and hands in the world [m/s]; for turning speeds, see `turning`."""
    acceleration: float = 0.8
    """Maximum acceleration of bases, object and hands in the world [m/s²], and of turns [rad/s²]."""
    budget: float = 10.0
    """Budget of processor time [s]."""
    seed: int = 0
    name: str = "errand"
    turning: float = 0.9
    """Maximum turning speed of bases and object divided by `speed` [rad/m]."""
    planning_margin: float = 2.0
    """Paths keep this many margins, because bodies sway about their paths."""
    rests: tuple[Array, ...] = ()
    """Poses (x, y, z [m], yaw, pitch, roll [rad]) at which the object can be put down, to change holds."""

    __repr__ = brief

    def __post_init__(self) -> None:
        for word in ("speed", "acceleration", "budget", "turning", "planning_margin"):
            if not 0.0 < getattr(self, word) < math.inf:
                raise BunrakuError(f"{self.name}: {word} is {getattr(self, word)}\n  advice: give a positive number")
        require_area(self.area)
        if not 0.0 <= self.margin < 1.0:
            raise BunrakuError(f"{self.name}: the margin is {self.margin} m\n  advice: give 0 or more, and less than 1 m")
        if self.samples is not None and self.samples < 2:
            raise BunrakuError(f"{self.name}: {self.samples} samples\n  advice: give 2 samples or more")
        if self.may_change and self.team.terrain is not None:
            raise BunrakuError(
                f"{self.name}: holds can change on level floors only\n  advice: remove `ground`, or give one set of holds"
            )

    def __getstate__(self) -> dict[str, Any]:
        """The state without space and limits, which each worker rebuilds."""
        return {key: value for key, value in self.__dict__.items() if key not in ("space", "limits")}

    @property
    def may_change(self) -> bool:
        """Whether somebody may change holds on the way, or hold nothing for a part of it."""
        return any(agent.lets_go or agent.regrasps for agent in self.team.agents)

    @cached_property
    def space(self) -> FreeSpace:
        """The free space of the reduced team; built once."""
        known = np.stack([self.start, self.goal]) if self.team.terrain is None else None
        return self.team.space(self.scene, self.area, margin=self.planning_margin * self.margin, known=known, routes=self._routes())

    def _routes(self, *, body: tuple[float, float] = (0.3, 1.3)) -> tuple[Array, ...]:
        """Routes of the object: where an upright `body` [m] as thin as the thinnest agent passes, and at heights of the object."""
        if self.team.terrain is not None:
            return ()
        a, b = (self.team.in_world(q)[1] for q in (self.start, self.goal))
        (x0, x1), (y0, y1) = ((min(low, *e), max(high, *e))
                              for (low, high), e in zip(self.area, zip(a[:2], b[:2], strict=True), strict=True))  # fmt: skip
        area = (x0, x1), (y0, y1)
        thin = RouteOptions(narrow=min(agent.half_width for agent in self.team.agents))
        above = routes(self.scene, area, a, b, self.team.heights, options=RouteOptions(count=1))
        return (*routes(self.scene, area, a, b, body, options=thin), *above)

    @cached_property
    def limits(self) -> PathLimits:
        """Limits of speed and acceleration in the world, for configurations of the team."""
        return world_limits(self.team, speed=self.speed, acceleration=self.acceleration, turning=self.turning * self.speed)

    @property
    def allowed(self) -> WorldSpeeds:
        """The limits that the rechecker tests."""
        return WorldSpeeds(self.speed, self.acceleration, self.turning * self.speed)

    def timed(self, path: Way, *, slower: Array | None = None) -> PathTiming:
        """The `path` of the reduced team, timed as fast as the limits allow; `slower` as in `timed` of paths."""
        return timed(path, limits=self.limits, slower=slower, options=PathTimingOptions(smoothing=AnimateOptions().steadiness))

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
