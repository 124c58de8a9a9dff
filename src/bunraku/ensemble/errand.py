"""Errand: who carries what, from where to where, in which scene; what a carrying file says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import OBJECT, Area, Team
from bunraku.errors import BunrakuError
from bunraku.planning.freespace import FreeSpace
from bunraku.planning.path import Path as Way
from bunraku.planning.timing import Timing, timed
from bunraku.scene import Scene

Array = NDArray[np.float64]
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
    """Of bases and object [m/s, rad/s]."""
    acceleration: float = 0.8
    seconds: float = 10.0
    """Processor time that it may take."""
    seed: int = 0
    name: str = "errand"
    output: tuple[Path, ...] = field(default=())

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
        """Of the reduced team; built once."""
        return self.team.space(self.scene, self.area, margin=self.margin)

    def timed(self, path: Way) -> Timing:
        """The path as fast as the limits allow."""
        return timed(path, speed=self.speed, acceleration=self.acceleration)

    def at(self, q: Array) -> str:
        """Where the object is, in words."""
        _, held = self.team.in_world(q)
        return f"{OBJECT} at ({held[0]:.2f}, {held[1]:.2f}, {held[2]:.2f}) m"
