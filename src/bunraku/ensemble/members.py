"""Members of a team: agents, their grasps, and the object."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.ensemble.arm_reach import Shell, shell
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.shape import Box, Color, Geometry, Shape
from bunraku.kinematics.inverse.arm import ClosedArm
from bunraku.kinematics.inverse.general_arm import GeneralArm, arm_of
from bunraku.planning.ways.steer import Holonomic, Planar
from bunraku.spatial import se3

Array = NDArray[np.float64]
Vector = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Grasp:
    """Where an agent's tool holds the object."""

    tool: str
    """The tool's frame in the agent's figure."""
    X_OT: Array
    """Pose of the tool in the object's frame (4, 4)."""
    arm: str = ""
    """The first variable of the arm that ends in the tool; not needed if the arm has a closed form."""


@dataclass(frozen=True, eq=False)
class Agent:
    """A member that carries: a figure, the steering of its base, its grasps, and the shape that replaces it in planning."""

    name: str
    figure: Figure
    holds: tuple[Grasp, ...]
    base: tuple[str, ...]
    """Variables of the figure: x, y, heading; for one that follows the ground, also height, pitch and roll."""
    shape: Geometry
    """The shape that replaces the agent in planning."""
    at: Vector
    """Centre of the shape in the base's frame [m]."""
    moves: type[Planar] = Holonomic
    facing: float = math.pi / 3
    """Largest angle between straight ahead and the held points [rad]."""
    approach: float = 1.15
    """For a tool that points sideways: largest angle of the agent from straight behind it, so that the arm is not crossed [rad]."""
    spare: float = 0.04
    """In planning, arms keep this distance from their longest and shortest reach [m]."""
    color: Color = (0.55, 0.6, 0.7)
    """Colour of the shape in plan views."""
    bears: float = math.inf
    """Largest mass that it can carry [kg]."""
    regrasps: tuple[tuple[Grasp, ...], ...] = ()
    """Other sets of holds to which it may change on the way."""
    lets_go: bool = False
    """Whether it may hold nothing on a part of the way, while others hold the object or it rests."""

    __repr__ = brief

    @property
    def has_rollers(self) -> bool:
        """Whether its wheels, if any, have rollers at 45°: those of an agent that moves in any direction."""
        return issubclass(self.moves, Holonomic)

    def arm(self, hold: Grasp) -> ClosedArm | GeneralArm:
        """The arm that is at the object at this `hold`."""
        return arm_of(self.figure, hold.tool, hold.arm)

    @cached_property
    def shells(self) -> tuple[Shell, ...]:
        """The reach of each arm that holds."""
        return tuple(shell(self.arm(hold), base=self.base, spare=self.spare) for hold in self.holds)

    @cached_property
    def spheres(self) -> Array:
        """(centre, least, most) of the shells that must contain each wrist: two rows per arm, its reach and the part ahead."""
        rows = [((own.shoulder, own.least, own.most), own.ahead(self.facing)) for own in self.shells]
        return np.array([[*centre, least, most] for pair in rows for centre, least, most in pair])

    @cached_property
    def half_width(self) -> float:
        """Half the smallest horizontal size of its shape, if that is a box or a round upright one [m]."""
        return min(self.shape.size[:2]) / 2 if isinstance(self.shape, Box) else float(getattr(self.shape, "radius", 0.05))

    @cached_property
    def variables(self) -> tuple[str, str, str]:
        """Names of x, y and heading in the team's figure."""
        return f"{self.name}_x", f"{self.name}_y", f"{self.name}_turn"

    @cached_property
    def tied(self) -> tuple[str, ...]:
        """Names of height, pitch and roll in the team's figure, which follow from the terrain if there is one."""
        return f"{self.name}_lift", f"{self.name}_pitch", f"{self.name}_roll"

    @cached_property
    def outward(self) -> float | None:
        """Direction from which a single hand reaches the object, about the object's z axis [rad]; None from above or below."""
        if len(self.holds) != 1:
            return None
        x, y = -self.holds[0].X_OT[:2, 2]
        return None if math.hypot(x, y) < 0.5 else math.atan2(y, x)

    @cached_property
    def behind(self) -> Array:
        """(centre, radius) of a ball in the object's frame: a single arm is not crossed while its shoulder is in the ball."""
        if self.outward is None:
            return np.array([0.0, 0.0, 0.0, 1e6])
        away, radius = self.shells[0].within(self.approach)
        return np.append(self.wrists()[0] + away * np.array([math.cos(self.outward), math.sin(self.outward), 0.0]), radius)

    def wrists(self) -> Array:
        """Positions of the wrists in the object's frame (n, 3)."""
        return np.array([se3.transform(hold.X_OT, own.wrist) for hold, own in zip(self.holds, self.shells, strict=True)])


@dataclass(frozen=True, eq=False)
class Carried:
    """The object, and the allowed tilts and heights. Raises BunrakuError if these are out of range."""

    shapes: tuple[Shape, ...]
    """Shapes in the object's frame."""
    tilt: float = 0.35
    """Largest pitch and roll [rad]: 0 keeps a tray level, π/2 keeps the top side up."""
    heights: tuple[float, float] = (0.5, 1.4)
    """Lowest and highest position of its origin [m]."""
    mass: float = 0.0
    """Mass [kg]; 0 if loads do not matter."""
    centre: Vector = (0.0, 0.0, 0.0)
    """Centre of mass in the object's frame [m]."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.mass < math.inf:
            raise BunrakuError(f"a mass of {self.mass} kg\n  advice: give 0 or more")
        if not 0.0 <= self.tilt <= math.pi / 2 or not self.heights[0] <= self.heights[1]:
            raise BunrakuError(
                f"tilt {self.tilt}, heights {self.heights}\n  advice: give a tilt from 0 to π/2, and the lower height first"
            )
