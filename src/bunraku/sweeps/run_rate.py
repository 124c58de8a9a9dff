"""Pace: how fast a sweep goes, and how long it will still take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable


class Pace:
    """Rate and remaining time of many runs.

    window: the rate is that of the last so many seconds, or of so many finished runs if these took longer [s].
    clock: gives the time [s].
    """

    def __init__(self, *, window: float = 30.0, runs: int = 20, clock: Callable[[], float] = time.monotonic) -> None:
        self.window, self.runs, self.clock = window, runs, clock
        self._marks: deque[tuple[float, int]] = deque([(clock(), 0)])
        self._started = False

    def note(self, done: int) -> None:
        """Notes that so many runs are `done` since the beginning."""
        now = self.clock()
        self._marks.append((now, done))
        if not self._started and len(self._marks) == 3:  # from now on, without the time that workers took to start
            self._started = True
            self._marks.popleft()
        while len(self._marks) > 2 and now - self._marks[1][0] > self.window and done - self._marks[1][1] >= self.runs:
            self._marks.popleft()

    @property
    def rate(self) -> float:
        """Runs per second; zero before the first is done."""
        (first, before), (_, done) = self._marks[0], self._marks[-1]
        return (done - before) / max(self.clock() - first, 1e-9)

    def left(self, runs: int) -> str:
        """The time that so many `runs` will still take, in words."""
        return duration(runs / self.rate) if self.rate > 0.0 else "unknown"


def duration(seconds: float) -> str:
    """A number of `seconds` in words: "45 s", "12 min 5 s", "3 h 20 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, hours = whole // 60, whole // 3600
    if hours == 0:
        return f"{minutes} min {whole % 60} s"
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours / 24:.1f} days"
