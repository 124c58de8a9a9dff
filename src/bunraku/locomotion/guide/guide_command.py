"""Command: what the operator wants, of one guided point. Any device is turned into these."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

Guided = Literal["left_foot", "right_foot", "trunk", "left_hand", "right_hand"]
GUIDED: tuple[Guided, ...] = get_args(Guided)
Triple = tuple[float, float, float]
IDLE = 0.05
"""Sticks nearer to their middle than this are at rest."""


@dataclass(frozen=True)
class Command:
    """Which point is guided, and where to: each number in [−1, 1], of what the point may be asked for in one segment.

    `move` is forward, to the left, up; `turn` about the forward, left and up axes. `lift` are the throttles of the left and
    the right foot in [0, 1]: how high that foot is held; at 0 it stands.
    """

    guided: Guided = "trunk"
    move: Triple = (0.0, 0.0, 0.0)
    turn: Triple = (0.0, 0.0, 0.0)
    lift: tuple[float, float] = (0.0, 0.0)

    @property
    def idle(self) -> bool:
        """Nothing is asked for beyond what is."""
        return not any((*self.move, *self.turn))


STAND = Command()


def trusted(command: Command) -> tuple[Command, str]:
    """The command with every number finite and within its range, near the middle as 0; and what was wrong with it, if anything."""
    wrong = ""
    if command.guided not in GUIDED:
        return STAND, f"nothing is called {str(command.guided)[:40]!r}; guided are {', '.join(GUIDED)}"

    def number(value: float, low: float) -> float:
        nonlocal wrong
        if not math.isfinite(value):
            wrong = "the device sent something that is not a number"
            return 0.0
        if not low <= value <= 1.0:
            wrong = wrong or f"the device sent {value:.3g}, outside [{low:g}, 1]"
        value = min(max(float(value), low), 1.0)
        return 0.0 if abs(value) < IDLE else value

    try:
        fx, fy, fz = (number(x, -1.0) for x in command.move)
        tx, ty, tz = (number(x, -1.0) for x in command.turn)
        left, right = (number(x, 0.0) for x in command.lift)
    except (TypeError, ValueError):
        return STAND, "the device sent a command of the wrong size"
    if wrong and "number" in wrong:
        return replace(STAND, guided=command.guided), wrong
    return Command(command.guided, (fx, fy, fz), (tx, ty, tz), (left, right)), wrong
