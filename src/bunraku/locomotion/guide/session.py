"""Session: a humanoid that is guided tick by tick. Commands may come at any time; each acts at the end of the segment under way, or
(with `prompt`) within a tenth of a second wherever the segment can be left at once.

    session = Session(Performer(Guide(small_humanoid())))
    session.command = Command("trunk", move=(1, 0, 0))
    for _ in range(400):
        tick = session.tick()
    motion = session.motion()
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.guide_command import STAND, Command, trusted
from bunraku.locomotion.guide.navigation_points import Points, heading, moved
from bunraku.locomotion.guide.performance import Performance
from bunraku.locomotion.guide.performer import BEFORE, Performer
from bunraku.locomotion.guide.segment import DT
from bunraku.motion import Motion
from bunraku.motion.track import Mark

Array = NDArray[np.float64]
SOON, AGAIN = 20, 10
"""Ticks: a segment that ends so soon is played to its end; and how long after a try to leave one, another is made."""


@dataclass(frozen=True, eq=False)
class Tick:
    """One moment of a session."""

    t: float
    q: Array
    performance: Performance
    k: int
    """Which tick of the performance it is."""
    notice: str = ""
    """What the operator should hear, at the first tick of a move."""

    @property
    def com(self) -> Array:
        """Where the plan has the centre of mass."""
        return np.asarray(self.performance.move.segment.samples[self.k, :3])

    @property
    def zmp(self) -> Array:
        """Of all bodies, on the floor."""
        return np.asarray(self.performance.zmp[self.k])

    @property
    def corners(self) -> Array:
        """Of the polygon of support, (m, 3)."""
        segment = self.performance.move.segment
        own = segment.phases[int(segment.phase_of(np.array([self.k]))[0])].region
        return np.column_stack([own.corners, np.full(len(own.corners), own.floor)])


def _differs(new: Command, old: Command) -> bool:
    """Whether the operator wants something else, and not only a little more or less of it."""
    if new.guided != old.guided or new.idle != old.idle or [x > 0.0 for x in new.lift] != [x > 0.0 for x in old.lift]:
        return True
    return any(abs(a - b) > 0.4 for a, b in zip((*new.move, *new.turn), (*old.move, *old.turn), strict=True))


class Session:
    """Plays performance after performance; holds all that was played."""

    def __init__(self, performer: Performer, start: Points | None = None, *, keep: bool = True, prompt: bool = False) -> None:
        self.performer = performer
        self.points = performer.guide.start() if start is None else start
        self.command: Command = STAND
        self.performances: list[Performance] = []
        self._keep, self._prompt = keep, prompt
        self._obeyed, self._wait = STAND, 0
        self.before = np.tile(performer.body.posed(self.points), (BEFORE, 1))
        self.look_back = self.before
        """The samples before the performance under way."""
        self._start = self.before[-1]
        self._now: Performance | None = None
        self._k = self._count = 0

    def tick(self) -> Tick:
        """One step of dt on. At the end of a segment the command of that moment is planned for."""
        notice = ""
        if self._now is None or self._k >= self._now.move.n:
            self.look_back = self.before
            notice = self._begin(self.performer.next(self.points, self.command, self.before))
        elif self._prompt and (new := self._redirected()) is not None:
            self.look_back = self._now.q[self._k + 1 - BEFORE : self._k + 1]
            if self._keep:
                self.performances[-1] = replace(self._now, left=self._k)
            notice = self._begin(new)
        self._k += 1
        self._count += 1
        assert self._now is not None
        return Tick(self._count * DT, self._now.q[self._k], self._now, self._k, notice)

    def _begin(self, new: Performance) -> str:
        self._now, self._k, self._obeyed = new, 0, trusted(self.command)[0]
        self.before, self.points = new.q[-BEFORE:], new.end
        if self._keep:
            self.performances.append(new)
        return new.notice

    def _redirected(self) -> Performance | None:
        """What is played from here on instead, where the command has changed and there is still time that is worth it."""
        assert self._now is not None
        self._wait = max(self._wait - 1, 0)
        if self._wait or self._now.move.n - self._k <= SOON or not self.waiting:
            return None
        self._wait = AGAIN
        return self.performer.redirect(self._now, self._k, self.command)

    def relocate(self, by: Array, turn: float = 0.0) -> None:
        """The robot has slipped by (x, y) [m] and turned: between two moves, what comes next is planned from where it is."""
        about = self.points.feet[:, :2].mean(0)
        self.points = moved(self.points, by, turn)
        x, y, _, yaw = self.performer.guide.humanoid.figure.indices(self.performer.body.base[:4])
        self.before = self.before.copy()
        self.before[:, [x, y]] = (self.before[:, [x, y]] - about) @ heading(turn)[:2, :2].T + about + by
        self.before[:, yaw] += turn

    @property
    def now(self) -> tuple[Performance, int]:
        """The performance under way, and its tick."""
        assert self._now is not None, "nothing was played yet"
        return self._now, self._k

    @property
    def waiting(self) -> bool:
        """Whether what is commanded is not yet what is done."""
        return _differs(trusted(self.command)[0], self._obeyed)

    @property
    def idle(self) -> bool:
        """Between two moves."""
        return self._now is None or self._k >= self._now.move.n

    def obey(self, command: Command) -> Performance:
        """A whole move at once."""
        self.command = command
        self.tick()
        while not self.idle:
            self.tick()
        assert self._now is not None
        return self._now

    def run(self, commands: Iterable[Command]) -> Motion:
        """Move after move; the motion so far."""
        for command in commands:
            self.obey(command)
        return self.motion()

    def motion(self) -> Motion:
        """What was played, with a mark where each move begins."""
        Q = np.concatenate([self._start[None], *(done.q[1 : done.n + 1] for done in self.performances)])
        marks, t = [], 0.0
        for done in self.performances:
            marks.append(Mark(t, done.move.goals.guided))
            t += done.n * DT
        figure = self.performer.guide.humanoid.figure
        return Motion.of(figure, DT * np.arange(len(Q)), Q, marks=tuple(marks))
