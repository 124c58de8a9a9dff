"""Session: a humanoid that is guided tick by tick. Commands may come at any time; each acts at the end of the segment under way.

    session = Session(Performer(Guide(small_humanoid())))
    session.command = Command("trunk", move=(1, 0, 0))
    for _ in range(400):
        tick = session.tick()
    motion = session.motion()
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.command import STAND, Command
from bunraku.locomotion.guide.performer import BEFORE, Performance, Performer
from bunraku.locomotion.guide.points import Points, heading, moved
from bunraku.locomotion.guide.segment import DT
from bunraku.motion import Motion
from bunraku.motion.track import Mark

Array = NDArray[np.float64]


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


class Session:
    """Plays performance after performance; holds all that was played."""

    def __init__(self, performer: Performer, start: Points | None = None, *, keep: bool = True) -> None:
        self.performer = performer
        self.points = performer.guide.start() if start is None else start
        self.command: Command = STAND
        self.performances: list[Performance] = []
        self._keep = keep
        self.before = np.tile(performer.body.posed(self.points), (BEFORE, 1))
        self._start = self.before[-1]
        self._now: Performance | None = None
        self._k = self._count = 0

    def tick(self) -> Tick:
        """One step of dt on. At the end of a segment the command of that moment is planned for."""
        notice = ""
        if self._now is None or self._k >= self._now.move.n:
            self._now = self.performer.next(self.points, self.command, self.before)
            self._k, notice = 0, self._now.notice
            self.before, self.points = self._now.q[-BEFORE:], self._now.end
            if self._keep:
                self.performances.append(self._now)
        self._k += 1
        self._count += 1
        return Tick(self._count * DT, self._now.q[self._k], self._now, self._k, notice)

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
        Q = np.concatenate([self._start[None], *(done.q[1:] for done in self.performances)])
        marks, t = [], 0.0
        for done in self.performances:
            marks.append(Mark(t, done.move.goals.guided))
            t += done.move.segment.duration
        figure = self.performer.guide.humanoid.figure
        return Motion.of(figure, DT * np.arange(len(Q)), Q, marks=tuple(marks))
