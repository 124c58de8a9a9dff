"""GuidedMove: a move with its joint angles; and Fault: which limit a move violates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.locomotion.guide.move import Move
from bunraku.locomotion.guide.navigation_points import Points

Array = NDArray[np.float64]


class Reason(StrEnum):
    """The limits that a move can violate; the values are shown to the operator."""

    NONE = ""
    LEG = "a leg does not reach that far"
    ARM = "the arm does not reach that far"
    WRIST = "the wrist does not turn that far"
    SPEED = "a joint would have to move too fast"
    JERK = "a joint would jerk"
    ZMP = "the ZMP would leave the feet"
    SLIP = "the standing foot would slip"
    EFFORT = "a motor is not strong enough"
    TOUCH = "the body would collide"
    STOP = "it could not stop after that step"


@dataclass(frozen=True)
class Fault:
    """Which limit a move violates, if any."""

    why: Reason = Reason.NONE
    longer: float = 0.0
    """How much longer the move should last [s]; 0 if more time does not help."""
    excess: float = 0.0
    """By how much the limit is exceeded, as a share of it."""
    about: str = ""
    """Which joint, and by how much."""

    @property
    def said(self) -> str:
        """The text for the operator."""
        return f"{self.why} ({self.about})" if self.about else self.why

    def hopeless(self, before: Fault, tries: float, nearly: float = 0.1) -> bool:
        """Whether more time will not help, because it helped too little compared with the fault `before` of a shorter move.

        tries: how many longer moves can still be tried
        nearly: an excess below this is never hopeless

        A ZMP fault is never hopeless: with more time there may be a plan that allows for the model's error.
        """
        return self.why == before.why != Reason.ZMP and self.excess > max(tries * (before.excess - self.excess), nearly)


@dataclass(frozen=True, eq=False)
class GuidedMove:
    """A move with its joint angles."""

    move: Move
    q: Array
    """Configurations at every tick (n + 1, n_q)."""
    zmp: Array
    """ZMP of all bodies on the floor (n + 1, 2) [m]."""
    margin: float
    """Smallest distance of the ZMP of all bodies from the edge of the support polygon [m]; negative outside."""
    passes: int
    """How many times a segment was planned and followed by inverse kinematics."""
    end: Points
    """Positions of all points at its end."""
    left: int | None = None
    """The tick at which another move replaced it; None if it was played to its end."""
    quiet: bool = False
    """Whether arms move joint by joint, as in a stop, instead of following hand positions."""
    notice: str = ""
    """Why it differs from the command; "" if it does not."""
    refused: bool = False
    """Whether the command could not be obeyed at all; the move then only comes to rest."""

    efforts: Array | None = None
    """Efforts of the motors at every tick (n + 1, motors) [N m, N], for a robot that plays it."""
    held: int = 0
    """Ticks for which its last sample was held, because the next move was not planned yet."""
    grip: tuple[float, float] = (0.0, 0.0)
    """Largest horizontal force and largest moment about the vertical axis on one foot, divided by the vertical force [1, m]."""
    stop: GuidedMove | None = None
    """The move that comes to rest after it; None if it ends at rest itself."""

    __repr__ = brief

    @property
    def played(self) -> Array:
        """The samples that were played after its first (k, n_q)."""
        return np.concatenate([self.q[1 : self.n + 1], np.tile(self.q[self.n], (self.held, 1))])

    @property
    def to_rest(self) -> Array:
        """Configurations from its first tick until it stands (k, n_q)."""
        return self.q if self.stop is None else np.concatenate([self.q, self.stop.q[1:]])

    @property
    def n(self) -> int:
        """Number of ticks that were played."""
        return self.move.n if self.left is None else self.left

    @cached_property
    def shares(self) -> Array:
        """Share of the contact force that each foot bears, (n + 1, 2)."""
        return self.move.shares(self.zmp)

    def stands_at(self, k: int, zmp: Array) -> bool:
        """Whether a `zmp` (2,) [m] is inside the support polygon at tick `k`, where another move takes over."""
        return bool(self.move.segment.margin_of(np.concatenate([self.zmp[:k], zmp[None]]))[k] > 0.0)
