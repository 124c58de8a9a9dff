"""Session: a humanoid that is guided in real time, tick by tick.

Commands may come at any time. Each takes effect at the end of the current move, or (with `prompt`) within a tenth of a second if
that move can be interrupted.

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

from bunraku.locomotion.guide.guide_command import Command, trusted
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.navigation_points import Points, heading, moved
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.motion import Motion
from bunraku.motion.track import Mark

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SessionOptions:
    """When a move is interrupted by another command."""

    soon: int = 20
    """A move with fewer ticks left than this is played to its end."""
    again: int = 10
    """Ticks between two attempts to interrupt a move."""
    other: float = 0.4
    """A stick that changes by more than this share of its travel is a new command."""


@dataclass(frozen=True, eq=False)
class Tick:
    """One sample of a session."""

    t: float
    q: Array
    performance: GuidedMove
    k: int
    """The tick within the move."""
    notice: str = ""
    """Message to the operator, at the first tick of a move."""

    @property
    def com(self) -> Array:
        """The planned centre of mass (3,) [m]."""
        return np.asarray(self.performance.move.segment.samples[self.k, :3])

    @property
    def zmp(self) -> Array:
        """ZMP of all bodies, on the floor (2,) [m]."""
        return np.asarray(self.performance.zmp[self.k])

    @property
    def corners(self) -> Array:
        """Corners of the support polygon, (m, 3) [m]."""
        segment = self.performance.move.segment
        own = segment.phases[int(segment.phase_of(np.array([self.k]))[0])].region
        return np.column_stack([own.corners, np.full(len(own.corners), own.floor)])


def _differs(new: Command, old: Command, other: float) -> bool:
    """Whether the command is a new one, not only a little more or less of the same."""
    if new.guided != old.guided or new.idle != old.idle or [x > 0.0 for x in new.lift] != [x > 0.0 for x in old.lift]:
        return True
    return any(abs(a - b) > other for a, b in zip((*new.move, *new.turn), (*old.move, *old.turn), strict=True))


class Session:
    """Plays move after move and records them.

    performer: plans the moves
    start: initial points; by default the home configuration at the origin
    keep: whether `performances` keeps all moves
    prompt: whether a command may interrupt a move
    options: when it may
    """

    def __init__(
        self, performer: Performer, start: Points | None = None, *, keep: bool = True, prompt: bool = False,
        options: SessionOptions = SessionOptions(),
    ) -> None:  # fmt: skip
        self.performer, self.options = performer, options
        self.points = performer.guide.start() if start is None else start
        self.command: Command = Command()
        self.performances: list[GuidedMove] = []
        self._keep, self._prompt = keep, prompt
        self._obeyed, self._wait = Command(), 0
        self.before = np.tile(performer.body.posed(self.points), (performer.options.look_back, 1))
        self.look_back = self.before
        """The samples before the current move."""
        self._start = self.before[-1]
        self._now: GuidedMove | None = None
        self._k = self._count = 0

    def tick(self) -> Tick:
        """Advances by one tick. At the end of a move, plans the next one for the current command."""
        notice = ""
        if self._now is None or self._k >= self._now.move.n:
            self.look_back = self.before
            notice = self._begin(self.performer.next(self.points, self.command, self.before))
        elif self._prompt and (new := self._redirected()) is not None:
            self.look_back = self._now.q[self._k + 1 - self.performer.options.look_back : self._k + 1]
            if self._keep:
                self.performances[-1] = replace(self._now, left=self._k)
            notice = self._begin(new)
        self._k += 1
        self._count += 1
        assert self._now is not None
        return Tick(self._count * GUIDE_TICK, self._now.q[self._k], self._now, self._k, notice)

    def _begin(self, new: GuidedMove) -> str:
        self._now, self._k, self._obeyed = new, 0, trusted(self.command)[0]
        self.before, self.points = new.q[-self.performer.options.look_back :], new.end
        if self._keep:
            self.performances.append(new)
        return new.notice

    def _redirected(self) -> GuidedMove | None:
        """The move that takes over here, if the command has changed and enough of the current move is left; otherwise None."""
        assert self._now is not None
        self._wait = max(self._wait - 1, 0)
        if self._wait or self._now.move.n - self._k <= self.options.soon or not self.waiting:
            return None
        self._wait = self.options.again
        return self.performer.redirect(self._now, self._k, self.command)

    def relocate(self, by: Array, turn: float = 0.0) -> None:
        """Shifts the session to where the robot is: it slipped `by` (x, y) [m] and turned by `turn` [rad]; only between moves."""
        about = self.points.feet[:, :2].mean(0)
        self.points = moved(self.points, by, turn)
        x, y, _, yaw = self.performer.guide.humanoid.figure.indices(self.performer.body.base[:4])
        self.before = self.before.copy()
        self.before[:, [x, y]] = (self.before[:, [x, y]] - about) @ heading(turn)[:2, :2].T + about + by
        self.before[:, yaw] += turn

    @property
    def now(self) -> tuple[GuidedMove, int]:
        """The current move, and its tick."""
        assert self._now is not None, "nothing was played yet"
        return self._now, self._k

    @property
    def waiting(self) -> bool:
        """Whether the command is not obeyed yet."""
        return _differs(trusted(self.command)[0], self._obeyed, self.options.other)

    @property
    def idle(self) -> bool:
        """Whether no move is in progress."""
        return self._now is None or self._k >= self._now.move.n

    def obey(self, command: Command) -> GuidedMove:
        """Plays the whole move that obeys a `command`, and returns it."""
        self.command = command
        self.tick()
        while not self.idle:
            self.tick()
        assert self._now is not None
        return self._now

    def run(self, commands: Iterable[Command]) -> Motion:
        """Plays a move for each of the `commands`, and returns the motion so far."""
        for command in commands:
            self.obey(command)
        return self.motion()

    def motion(self) -> Motion:
        """The motion so far, with a mark where each move begins."""
        Q = np.concatenate([self._start[None], *(done.q[1 : done.n + 1] for done in self.performances)])
        marks, t = [], 0.0
        for done in self.performances:
            marks.append(Mark(t, done.move.goals.guided))
            t += done.n * GUIDE_TICK
        figure = self.performer.guide.humanoid.figure
        return Motion.of(figure, GUIDE_TICK * np.arange(len(Q)), Q, marks=tuple(marks))
