"""Command: what the operator asks of one guided point. All input devices produce commands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

GuidedPoint = Literal["left_foot", "right_foot", "trunk", "left_hand", "right_hand"]
GUIDED_POINTS: tuple[GuidedPoint, ...] = get_args(GuidedPoint)
"""In the order in which a button cycles through them."""
Triple = tuple[float, float, float]
STICK_DEADBAND = 0.05
"""A stick nearer to its centre than this share of its travel counts as centred."""


@dataclass(frozen=True)
class Command:
    """Which point is guided, and where to, as shares of the largest motion in one segment. Without arguments: stand still."""

    guided: GuidedPoint = "trunk"
    move: Triple = (0.0, 0.0, 0.0)
    """Forward, to the left, up; each in [−1, 1]."""
    turn: Triple = (0.0, 0.0, 0.0)
    """About the forward, left and up axes; each in [−1, 1]."""
    lift: tuple[float, float] = (0.0, 0.0)
    """How high the left and the right foot are held, in [0, 1]; at 0 a foot stands."""

    @property
    def idle(self) -> bool:
        """Whether `move` and `turn` are zero."""
        return not any((*self.move, *self.turn))


def trusted(command: Command) -> tuple[Command, str]:
    """A `command` with every number finite, in range, and 0 if tiny; and what was wrong with it, "" if nothing."""
    wrong = ""
    if command.guided not in GUIDED_POINTS:
        return Command(), f"unknown point {str(command.guided)[:40]!r}; one of {', '.join(GUIDED_POINTS)}"

    def number(value: float, low: float) -> float:
        nonlocal wrong
        if not math.isfinite(value):
            wrong = "the device sent something that is not a number"
            return 0.0
        if not low <= value <= 1.0:
            wrong = wrong or f"the device sent {value:.3g}, outside [{low:g}, 1]"
        value = min(max(float(value), low), 1.0)
        return 0.0 if abs(value) < STICK_DEADBAND else value

    try:
        fx, fy, fz = (number(x, -1.0) for x in command.move)
        tx, ty, tz = (number(x, -1.0) for x in command.turn)
        left, right = (number(x, 0.0) for x in command.lift)
    except (TypeError, ValueError):
        return Command(), "the device sent a command of the wrong size"
    if wrong and "number" in wrong:
        return Command(command.guided), wrong
    return Command(command.guided, (fx, fy, fz), (tx, ty, tz), (left, right)), wrong
