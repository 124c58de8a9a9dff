"""Times of a control loop: how long its ticks take, and how soon commands act."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class LoopTimes:
    """Counts of a loop with a `period` [s] between two ticks."""

    period: float
    ticks: int = 0
    """Ticks that were timed."""
    over: int = 0
    """Those that took longer than the period."""
    worst: float = 0.0
    """The longest of them [s]."""
    held: int = 0
    """Ticks for which the last sample was held because the next move was not planned yet."""
    late: int = 0
    """Plans that came too late to be used."""
    commands: int = 0
    """Commands that were given."""
    planned: list[int] = field(default_factory=list)
    """Ticks that each plan took."""
    acts: list[int] = field(default_factory=list)
    """Ticks from each command to the first move that obeys it, or a later one."""
    _waiting: list[int] = field(default_factory=list)

    def timed(self, seconds: float) -> None:
        """A tick took so many `seconds` [s]."""
        self.ticks += 1
        self.over += seconds > self.period
        self.worst = max(self.worst, seconds)

    def heard(self, tick: int) -> None:
        """A new command came at a `tick`."""
        self.commands += 1
        self._waiting.append(tick)

    def acted(self, tick: int, number: int) -> None:
        """A move begins at a `tick` that obeys the command with this `number`, and replaces all before it."""
        done = number - (self.commands - len(self._waiting))
        self.acts += [tick - then for then in self._waiting[:done]]
        del self._waiting[:done]

    def columns(self) -> dict[str, float]:
        """Numbers by name that do not depend on how fast the machine is; times in seconds."""
        out: dict[str, float] = {"held": self.held, "late_plans": self.late}
        return out | ({"acts_within": self.period * float(np.quantile(self.acts, 0.9))} if self.acts else {})

    def __str__(self) -> str:
        text = f"{self.over} of {self.ticks} ticks over {1e3 * self.period:g} ms, the longest {1e3 * self.worst:.1f} ms"
        if self.acts:
            text += f"; nine of ten commands act within {self.period * float(np.quantile(self.acts, 0.9)):.2f} s"
        return text + (f"; held for {self.held} ticks" if self.held else "")
