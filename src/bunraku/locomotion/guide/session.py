"""Session: a humanoid that is guided in real time, tick by tick.

Commands may come at any time. Each takes effect at the end of the current move, or (with `prompt`) within a tenth of a second if
that move can be interrupted.

    session = Session(Performer(Guide(small_humanoid())))
    session.command = Command("trunk", move=(1, 0, 0))
    for _ in range(400):
        tick = session.tick()
    motion = session.motion()

With `PlanBeside` no tick waits for a plan. The next move is asked for as soon as the current one begins, and an interruption for a
few ticks ahead; meanwhile the current move is played on. A move ends at rest, or in a step that goes on and brings the stop that
could follow it. So if its successor is late, the stop is played, and then the last sample is held: that is the safe stop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.locomotion.guide.guide_command import Command, trusted
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.loop_times import LoopTimes
from bunraku.locomotion.guide.navigation_points import NO_FOOT, Points, heading, moved
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.plan_requests import PlanAtOnce, PlanRequest
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.motion import Motion
from bunraku.motion.track import Mark

Array = NDArray[np.float64]
Slip = Callable[[GuidedMove, int], tuple[Array, float]]
"""How far the robot has moved from the plan at a tick of a move: (x, y) [m] and yaw [rad]."""


@dataclass(frozen=True)
class SessionOptions:
    """When a move is interrupted by another command."""

    soon: int = 20
    """A move with fewer ticks left than this is played to its end."""
    again: int = 10
    """Ticks between two attempts to interrupt a move."""
    again_beside: int = 3
    """The same if planning runs beside, where attempts cost the loop nothing."""
    other: float = 0.4
    """A stick that changes by more than this share of its travel is a new command."""
    lead: tuple[int, int] = (3, 20)
    """An interruption is planned at least and at most so many ticks ahead, if planning runs beside; between them, as far ahead as
    recent plans took."""


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


@dataclass(frozen=True, eq=False)
class _Asked:
    """A request, and when it was made."""

    request: PlanRequest
    count: int
    """The tick of the session."""
    number: int
    """How many commands had come; −1 if it obeys none of them."""


class Session:
    """Plays move after move and records them.

    performer: plans the moves
    start: initial points; by default the home configuration at the origin
    keep: whether `performances` keeps all moves
    prompt: whether a command may interrupt a move
    planning: at once (default), or beside the loop
    options: when a move may be interrupted
    """

    def __init__(
        self, performer: Performer, start: Points | None = None, *, keep: bool = True, prompt: bool = False,
        planning: PlanAtOnce | None = None, options: SessionOptions = SessionOptions(),
    ) -> None:  # fmt: skip
        self.performer, self.options = performer, options
        self.planning = PlanAtOnce(performer) if planning is None else planning
        self.points = performer.guide.start() if start is None else start
        self.command: Command = Command()
        self.performances: list[GuidedMove] = []
        self.times = LoopTimes(GUIDE_TICK)
        self.slip: Slip = lambda done, k: (np.zeros(2), 0.0)
        """Where the robot is; the next move begins there."""
        self.unsteady = False
        """Whether the robot is away from the plan. Until it is not, a step that has begun is finished, and no other begins."""
        self._keep, self._prompt = keep, prompt
        self._brisk = prompt and performer.guide.options.brisk
        self._heard, self._obeyed, self._wait, self._notice = Command(), Command(), 0, ""
        self._asked: _Asked | None = None
        self._next: tuple[_Asked, GuidedMove] | None = None
        self._turn: tuple[_Asked, GuidedMove] | None = None
        self._took: deque[int] = deque([options.lead[0]], maxlen=4)
        self.before = np.tile(performer.body.posed(self.points), (performer.options.look_back, 1))
        self.look_back = self.before
        """The samples before the current move."""
        self._start = self.before[-1]
        self._now: GuidedMove | None = None
        self._k = self._count = 0

    def tick(self) -> Tick:
        """Advances by one tick. At the end of a move the next one begins, if it is planned; otherwise it comes to rest there."""
        self._listen()
        if self._now is None:
            request = PlanRequest(self.command, self.points, self.before, onward=self._brisk)
            first = _Asked(request, self._count, self.times.commands)
            done = first.request.answered(self.performer)
            assert done is not None, "a first move can always be planned"
            self._begin(first, done)
        else:
            self._ask()
            self._take()
            if self._turn is not None and self._turn[0].request.at == self._k:
                if self._keep:
                    self.performances[-1] = replace(self._now, left=self._k)
                self._begin(*self._turn)
            elif self._k >= self._now.move.n and self._next is not None:
                self._begin(*self._next)
            elif self._k >= self._now.move.n and self._now.stop is not None:
                self._come_to_rest(self._now.stop)
        assert self._now is not None
        self._count += 1
        self._k += 1
        if self._k > self._now.move.n:
            self._k = self._now.move.n
            self.times.held += 1
            if self._keep:
                self.performances[-1] = replace(self.performances[-1], held=self.performances[-1].held + 1)
        notice, self._notice = self._notice, ""
        return Tick(self.t, self._now.q[self._k], self._now, self._k, notice)

    def play_on(self, ticks: int) -> None:
        """Advances by so many `ticks` of what a robot was sent ahead: the current move and its stop, up to its end."""
        for _ in range(ticks):
            assert self._now is not None
            if self._k >= self._now.move.n:
                if self._now.stop is None:
                    return
                self._come_to_rest(self._now.stop)
            self.tick()

    def _listen(self) -> None:
        new = trusted(self.command)[0]
        if _differs(new, self._heard, self.options.other):
            self._heard = new
            self.times.heard(self._count)

    def _ask(self) -> None:
        """Asks for the move that is wanted next, unless an answer is awaited."""
        assert self._now is not None
        self._wait = max(self._wait - 1, 0)
        if self._asked is not None or self._turn is not None:
            return
        done, k, left, look_back = self._now, self._k, self._now.move.n - self._k, self.performer.options.look_back
        if self._prompt and self.waiting and not self._wait and (at := self._interruption()) is not None:
            self._wait = self.options.again_beside if self.planning.ahead else self.options.again
            request = PlanRequest(self._wanted, done.end, done.q[at + 1 - look_back : at + 1], done, at, self._brisk)
        elif left == 0 if self._next is None and not self.planning.ahead else self._stale(left):
            request = PlanRequest(self._wanted, *self._start_of_next(done, k), done, onward=self._brisk)
            self._next = None
        else:
            return
        self._asked = _Asked(request, self._count, -1 if self.unsteady else self.times.commands)
        self.planning.ask(request)

    def _stale(self, left: int) -> bool:
        """Whether the move after this one must be planned (again), because the command has changed since."""
        if self._next is None:
            return True
        then, now = trusted(self._next[0].request.command)[0], trusted(self._wanted)[0]
        soon = self._lead < left <= self._lead + self.options.soon
        return _differs(now, then, self.options.other) or (soon and now != then)

    @property
    def _wanted(self) -> Command:
        """The command, or none while the robot is unsteady."""
        return Command() if self.unsteady else self.command

    @property
    def _lead(self) -> int:
        """How many ticks ahead a move must be asked for."""
        low, high = self.options.lead
        return min(max(max(self._took) + 1, low), high) if self.planning.ahead else 0

    def _interruption(self) -> int | None:
        """The next tick at which another move can take over; None if the current one is played to its end."""
        assert self._now is not None
        n, first = self._now.move.n, self._k + self._lead
        if n - self._k <= self.options.soon:
            return None
        if self.unsteady and self._now.move.goals.swings != NO_FOOT and first + self.options.again >= self._now.move.air[0]:
            return None
        ticks = range(first, n - self.performer.options.look_back) if self.planning.ahead else (first,)
        return next((at for at in ticks if self.performer.interruptible(self._now, at)), None)

    def _take(self) -> None:
        """Takes the answer to the last request, if it is ready."""
        if self._asked is None or not self.planning.ready:
            return
        asked, self._asked = self._asked, None
        try:
            done = self.planning.take()
        except BunrakuError as problem:
            self._notice = f"{problem}; it stands still"
            return
        if asked.request.after is not self._now:  # it was too late
            self.times.late += 1
            return
        took = self._count - asked.count
        self.times.planned.append(took)
        if asked.request.at is None:
            assert done is not None
            self._next = asked, done
            return
        self._took.append(took)
        if done is not None and self._k <= asked.request.at:
            self._turn = asked, done
        elif done is not None:
            self.times.late += 1

    def _begin(self, asked: _Asked, new: GuidedMove) -> None:
        self._play(new, trusted(asked.request.command)[0], asked.request.before)
        if asked.number >= 0:
            self.times.acted(self._count, asked.number)

    def _come_to_rest(self, stop: GuidedMove) -> None:
        """Begins the `stop` after a move in motion whose successor is not planned yet."""
        self._play(stop, Command(), self.before)

    def _play(self, new: GuidedMove, obeyed: Command, before: Array) -> None:
        self._now, self._k, self._obeyed = new, 0, obeyed
        self._next = self._turn = None
        self.look_back = before
        self.before, self.points = new.q[-self.performer.options.look_back :], new.end
        if self._keep:
            self.performances.append(new)
        self._notice = new.notice

    def _start_of_next(self, done: GuidedMove, k: int) -> tuple[Points, Array]:
        """Points and last samples at the end of this move, where a robot that has slipped until its tick `k` will be."""
        by, turn = self.slip(done, k)
        if not (by.any() or turn):
            return self.points, self.before
        about, out = self.points.feet[:, :2].mean(0), self.before.copy()
        x, y, _, yaw = self.performer.guide.humanoid.figure.indices(self.performer.body.base[:4])
        out[:, [x, y]] = (out[:, [x, y]] - about) @ heading(turn)[:2, :2].T + about + by
        out[:, yaw] += turn
        return moved(self.points, by, turn), out

    @property
    def t(self) -> float:
        """The time that was played [s]."""
        return self._count * GUIDE_TICK

    @property
    def now(self) -> tuple[GuidedMove, int]:
        """The current move, and its tick."""
        assert self._now is not None, "nothing was played yet"
        return self._now, self._k

    @property
    def waiting(self) -> bool:
        """Whether the command is not obeyed yet."""
        return _differs(trusted(self._wanted)[0], self._obeyed, self.options.other)

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
        Q = np.concatenate([self._start[None], *(done.played for done in self.performances)])
        marks, t = [], 0.0
        for done in self.performances:
            marks.append(Mark(t, done.move.goals.guided))
            t += len(done.played) * GUIDE_TICK
        figure = self.performer.guide.humanoid.figure
        return Motion.of(figure, GUIDE_TICK * np.arange(len(Q)), Q, marks=tuple(marks))
