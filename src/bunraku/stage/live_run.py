"""A live entry that runs: a thread that steps it in real time and never waits for anybody."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bunraku.errors import BunrakuError, NotFinite
from bunraku.stage.hand_commands import Command, Pull, Release, Reset, Sticks
from bunraku.stage.input_log import InputLog
from bunraku.stage.live import Listening, Live, Sample
from bunraku.stage.wire import Packer

LOG = logging.getLogger("bunraku.stage")
LONGEST_TAKE = 300.0
"""Seconds after which a recording stops by itself."""
SLOWEST, FASTEST = 0.1, 4.0
WAITING = 1000
"""Commands that may wait for one tick; older ones of the same kind have long been replaced."""


@dataclass(frozen=True)
class Frame:
    """The newest sample, packed."""

    number: int
    data: bytes


@dataclass(frozen=True)
class State:
    """What the page shows of a run besides its samples."""

    paused: bool
    recording: bool
    replaying: bool
    rate: float
    real_time: float
    """How much of real time the simulation keeps up with, ≤ 1."""


class Run:
    """Steps a Live at its `dt` and publishes `fps` samples a second.

    `on_frame` and `on_event` are called in the thread of the run and must not wait. Events are "state" and
    "notice" (with a text).
    """

    def __init__(
        self, live: Live, *, fps: float = 60.0, on_frame: Callable[[], None] = lambda: None,
        on_event: Callable[[str, str], None] = lambda kind, text: None,
    ) -> None:  # fmt: skip
        self.live, self._fps, self._on_frame, self._on_event = live, fps, on_frame, on_event
        self._packer = Packer(live)
        self._lock = threading.Lock()
        self._queue: deque[Command] = deque(maxlen=WAITING)
        self._held: dict[tuple[int, str, str], None] = {}
        self._wishes: deque[Callable[[], object]] = deque()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.log = InputLog(live)
        self.latest: Frame | None = None
        self._number = self._step = 0
        self._replay: deque[tuple[int, Command]] | None = None
        self._take: list[Sample] | None = None
        self._taken: Callable[[list[Sample]], None] = lambda samples: None
        self._paused, self._rate, self._real_time = False, 1.0, 1.0
        self._reset()

    # -- from any thread -----------------------------------------------------------------------------------------

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="bunraku-stage-run", daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        """Told to stop, or broken."""
        return self._stop.is_set() or (self._thread is not None and not self._thread.is_alive())

    def stop_soon(self) -> None:
        self._stop.set()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)

    def push(self, command: Command) -> None:
        """A command for the next step. Of several drags of one thing, the newest wins."""
        with self._lock:
            if isinstance(command, Reset):
                self._queue.clear()  # what came before no longer matters
                self._wishes.append(self._reset)
                return
            last = self._queue[-1] if self._queue else None
            same_drag = isinstance(last, Pull) and isinstance(command, Pull) and last.what == command.what
            if same_drag or (isinstance(last, Sticks) and isinstance(command, Sticks)):
                self._queue.pop()
            self._queue.append(command)

    def let_go(self) -> None:
        """Whoever was driving is gone: nothing is held, sticks are in the middle."""

        def drop() -> None:
            with self._lock:
                self._queue.extend(Release(*what) for what in self._held)  # type: ignore[arg-type]
                if self.live.sticks:
                    self._queue.append(Sticks((0.0,) * len(self.live.sticks)))

        self._wish(drop)

    def pause(self, on: bool) -> None:
        self._wish(lambda: setattr(self, "_paused", on))

    def speed(self, rate: float) -> None:
        self._wish(lambda: setattr(self, "_rate", min(max(rate, SLOWEST), FASTEST)))

    def single_step(self) -> None:
        """One step while paused."""
        self._wish(lambda: self._advance(1) if self._paused else None)

    def record(self, taken: Callable[[list[Sample]], None]) -> None:
        """Keeps every sample from now on; `taken` gets them when the recording stops."""

        def begin() -> None:
            if self._take is None:
                self._take, self._taken = [], taken

        self._wish(begin)

    def stop_recording(self) -> None:
        self._wish(self._cut)

    def replay(self, log: InputLog) -> None:
        """Back to the start, and the commands of a log at the very steps at which they came."""

        def begin() -> None:
            self._reset()
            self._replay = deque(log.commands)

        self._wish(begin)

    def state(self) -> State:
        return State(self._paused, self._take is not None, self._replay is not None, self._rate, self._real_time)

    # -- in the thread -------------------------------------------------------------------------------------------

    def _wish(self, act: Callable[[], object]) -> None:
        with self._lock:
            self._wishes.append(act)

    def _work(self) -> None:
        try:
            self._loop()
        except Exception as problem:
            LOG.exception("the live figure failed")
            self._on_event("notice", f"stopped: {type(problem).__name__}. Leave and open the entry again.")
        finally:
            self._cut()

    def _loop(self) -> None:
        tick, owed = 1.0 / self._fps, 0.0
        due = time.perf_counter()
        while not self._stop.is_set():
            self._grant_wishes()
            began = time.perf_counter()
            if not self._paused:
                owed += tick * self._rate
                steps = int(owed / self.live.dt + 1e-9)
                owed -= steps * self.live.dt
                self._advance(steps)
            due += tick
            late = time.perf_counter() - due
            # Time that is lost is lost: to catch up would make a slow machine slower.
            if late > 0.0:
                due += late
            self._measure(tick, time.perf_counter() - began)
            self._stop.wait(max(due - time.perf_counter(), 0.0))

    def _measure(self, tick: float, busy: float) -> None:
        before = round(self._real_time, 1)
        self._real_time += 0.05 * (min(tick / max(busy, 1e-9), 1.0) - self._real_time)
        if round(self._real_time, 1) != before:
            self._on_event("state", "")

    def _grant_wishes(self) -> None:
        with self._lock:
            wishes, self._wishes = list(self._wishes), deque()
        for wish in wishes:
            wish()
        if wishes:
            self._on_event("state", "")

    def _advance(self, steps: int) -> None:
        """Steps; the newest sample is published."""
        sample = None
        try:
            for k in range(steps):
                # Commands act before the first step of a tick, so that their effect is in this very frame.
                for command in self._commands(fresh=k == 0):
                    self._obey(command)
                sample = self.live.step()
                _check(sample)
                self._step += 1
                self._keep(sample)
        except BunrakuError as problem:
            self._on_event("notice", f"{problem}\nBack to the start.")
            sample = self._reset()
        if sample is not None:
            self._publish(sample)

    def _commands(self, *, fresh: bool) -> list[Command]:
        if self._replay is None:
            if not fresh:
                return []
            with self._lock:
                commands, self._queue = list(self._queue), deque(maxlen=WAITING)
            return [*commands, *self.live.heard()] if isinstance(self.live, Listening) else commands
        with self._lock:
            self._queue.clear()  # nobody drives during a replay
        out = []
        while self._replay and self._replay[0][0] <= self._step:
            out.append(self._replay.popleft()[1])
        if not self._replay:
            self._replay = None
            self._on_event("state", "")
        return out

    def _obey(self, command: Command) -> None:
        if isinstance(command, Pull):
            self._held[command.what] = None
        elif isinstance(command, Release):
            self._held.pop(command.what, None)
        self.log.add(self._step, command)
        self.live.apply(command)

    def _reset(self) -> Sample:
        """A take does not go on across a reset: its time would jump back."""
        self._cut()
        self._held.clear()
        self._replay, self._step = None, 0
        self.log = InputLog(self.live)
        sample = self.live.reset()
        _check(sample)
        self._publish(sample)
        return sample

    def _keep(self, sample: Sample) -> None:
        for notice in sample.notices:
            self._on_event("notice", notice)
        if self._take is not None:
            self._take.append(sample)
            if sample.t - self._take[0].t >= LONGEST_TAKE:
                self._on_event("notice", f"the recording stopped after {LONGEST_TAKE:g} s")
                self._cut()

    def _cut(self) -> None:
        if self._take is not None:
            samples, self._take = self._take, None
            self._taken(samples)
            self._on_event("state", "")

    def _publish(self, sample: Sample) -> None:
        self._number += 1
        self.latest = Frame(self._number, self._packer.pack(sample, self._number))
        self._on_frame()


def _check(sample: Sample) -> None:
    if not all(np.isfinite(q).all() for q in sample.q):
        raise NotFinite("the live figure is no longer finite")
