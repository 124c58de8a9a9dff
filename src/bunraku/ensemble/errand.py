"""Errand: who carries what, from where to where, in which scene; what a carrying file says."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
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
PLANNED = 2.0  # of the margin
TURNING = 0.6  # [rad/m] how fast is turned for a speed: turns of the object and of agents about it add up
QUICK = 50.0  # [rad/s and rad/s²] what is tied to other variables has limits that are never met


@dataclass(frozen=True, eq=False)
class Errand:
    """A team, a scene, and the two configurations of the team."""

    team: Team
    scene: Scene
    area: Area
    start: Array
    goal: Array
    margin: float = 0.01
    """The least distance of anything from anything [m]."""
    samples: int = 268
    speed: float = 0.8
    """Of bases and object [m/s]; of turns, a part of it [rad/s]."""
    acceleration: float = 0.8
    seconds: float = 10.0
    """Processor time that it may take."""
    seed: int = 0
    name: str = "errand"
    output: tuple[Path, ...] = field(default=())

    __repr__ = brief

    def __post_init__(self) -> None:
        for word in ("speed", "acceleration", "seconds"):
            if not 0.0 < getattr(self, word) < math.inf:
                raise BunrakuError(f"{self.name}: {word} is {getattr(self, word)}\n  advice: give a positive number")
        if not 0.0 <= self.margin < 1.0 or self.samples < 2:
            raise BunrakuError(f"{self.name}: a margin of {self.margin} m, {self.samples} samples\n  advice: metres; 2 or more")

    def __getstate__(self) -> dict[str, Any]:
        """Without the space, which a worker builds for itself."""
        return {key: value for key, value in self.__dict__.items() if key != "space"}

    @cached_property
    def space(self) -> FreeSpace:
        """Of the reduced team; built once. Ways keep more than the margin, as motions are straight between samples."""
        return self.team.space(self.scene, self.area, margin=PLANNED * self.margin)

    def timed(self, path: Way) -> PathTiming:
        """The path as fast as the limits allow."""
        tied = self.team.tied
        v, a = (np.full(self.team.figure.n_q, limit) for limit in (self.speed, self.acceleration))
        turns = [k for k, variable in enumerate(self.team.figure.variables) if variable.motion == "rotate"]
        v[turns] *= TURNING
        v[tied], a[tied] = QUICK, QUICK
        return timed(path, speed=v, acceleration=a)

    @property
    def heights(self) -> Callable[[Array], Array] | None:
        """Of the ground, where it is not level."""
        return None if self.team.terrain is None else self.team.terrain.heights

    @property
    def ground(self) -> dict[str, Any]:
        """What tuning and the rechecker need to know of it."""
        terrain = self.team.terrain
        return {} if terrain is None else {"ground": ("floor", *terrain.ground)}

    def at(self, q: Array) -> str:
        """Where the object is, in words."""
        _, held = self.team.in_world(q)
        return f"{OBJECT} at ({held[0]:.2f}, {held[1]:.2f}, {held[2]:.2f}) m"
