"""Performance: a move with the joints that perform it; and Fault: what may be wrong with one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.locomotion.guide.move import Move
from bunraku.locomotion.guide.navigation_points import Points

Array = NDArray[np.float64]
ARM, WRIST, ZMP = "the arm does not reach that far", "the wrist does not turn that far", "the ZMP would leave the feet"
NEARLY = 0.1
"""Too fast or too weak by so little may be mended by more time, though a little more did not."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with a performance, how much longer it should last (0: time does not mend it), and by what part it is wrong."""

    why: str = ""
    longer: float = 0.0
    excess: float = 0.0
    about: str = ""
    """Which joint, and by how much."""

    @property
    def said(self) -> str:
        return f"{self.why} ({self.about})" if self.about else self.why

    def hopeless(self, before: Fault, tries: float) -> bool:
        """Whether what became of the same fault when there was more time says that so many tries more will not mend it. Of the ZMP
        it says nothing: with more time there may be a plan that allows for its error; nor of what is nearly right."""
        return self.why == before.why != ZMP and self.excess > max(tries * (before.excess - self.excess), NEARLY)


@dataclass(frozen=True, eq=False)
class Performance:
    """A move with the joints that perform it."""

    move: Move
    q: Array
    zmp: Array
    margin: float
    """How far inside the polygon of support the ZMP of all bodies stays [m]."""
    passes: int
    """Times that inverse kinematics went through a segment to find it."""
    end: Points
    """Where everything is when it is over."""
    left: int | None = None
    """The tick at which another took over; None: it was played to its end."""
    quiet: bool = False
    """Whether arms go their way joint by joint: a stop."""
    notice: str = ""

    __repr__ = brief

    @property
    def n(self) -> int:
        """Ticks that it was played for."""
        return self.move.n if self.left is None else self.left

    @cached_property
    def shares(self) -> Array:
        """How the floor's push is shared by the feet, (n + 1, 2)."""
        return self.move.shares(self.zmp)

    def stands_at(self, k: int, zmp: Array) -> bool:
        """Whether a ZMP (2,) is inside what supports it at a tick: where another takes over, both must be kept."""
        return bool(self.move.segment.margin_of(np.concatenate([self.zmp[:k], zmp[None]]))[k] > 0.0)

    @property
    def realised(self) -> bool:
        return "cannot be done" not in self.notice
