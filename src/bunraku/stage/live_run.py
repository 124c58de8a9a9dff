"""A running live entry: a thread steps it in real time and never waits for a page."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bunraku.errors import BunrakuError, NotFinite
from bunraku.stage.hand_commands import Command, Pull, Release, Reset, Sticks, Untangle
from bunraku.stage.input_log import InputLog
from bunraku.stage.live import Listening, Live, Sample
from bunraku.stage.stage_limits import StageLimits
from bunraku.stage.wire import Packer

LOG = logging.getLogger("bunraku.stage")


@dataclass(frozen=True)
class PackedSample:
    """The newest sample, as bytes."""

    number: int
    data: bytes


@dataclass(frozen=True)
class RunState:
    """The state of a run, for the page."""

    paused: bool
    recording: bool
    replaying: bool
    rate: float
    real_time: float
    """Simulated time per wall-clock time, relative to the chosen speed; at most 1."""


class LiveRun:
    """Steps a `live` entry at its `dt` and publishes `fps` samples per second.

    `on_sample` and `on_event` are called in the thread of the run and must not block. Events are "state" and "notice" (with a
    text). `limits` bound speeds, commands and recordings.
    """

    def __init__(
        self, live: Live, *, fps: float = 60.0, on_sample: Callable[[], None] = lambda: None,
        on_event: Callable[[str, str], None] = lambda kind, text: None, limits: StageLimits = StageLimits(),
    ) -> None:  # fmt: skip
        self._limits = limits
        self.live, self._fps, self._on_sample, self._on_event = live, fps, on_sample, on_event
        self._packer = Packer(live)
        self._lock = threading.Lock()
        self._queue: deque[Command] = deque(maxlen=limits.waiting_commands)
        self._held: dict[tuple[int, str, str], None] = {}
        self._wishes: deque[Callable[[], object]] = deque()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.log = InputLog(live, limits=limits)
        self.latest: PackedSample | None = None
        self._number = self._step = 0
        self._replay: deque[tuple[int, Command]] | None = None
        self._take: list[Sample] | None = None
        self._taken: Callable[[list[Sample]], None] = lambda samples: None
        self._paused, self._rate, self._real_time = False, 1.0, 1.0
        self._reset()

    # -- from any thread -----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the thread."""
        self._thread = threading.Thread(target=self._work, name="bunraku-stage-run", daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        """Whether it was stopped, or has failed."""
        return self._stop.is_set() or (self._thread is not None and not self._thread.is_alive())

    def stop_soon(self) -> None:
        """Tells the thread to stop, without waiting for it."""
        self._stop.set()

    def stop(self) -> None:
        """Tells the thread to stop, and waits until it has."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)

    def push(self, command: Command) -> None:
        """Queues a `command` for the next step. Of several drags of the same part, only the newest counts."""
        with self._lock:
            if isinstance(command, Reset):
                self._queue.clear()  # a reset makes earlier commands irrelevant
                self._wishes.append(self._reset)
                return
            last = self._queue[-1] if self._queue else None
            same_drag = isinstance(last, Pull) and isinstance(command, Pull) and last.what == command.what
            if same_drag or (isinstance(last, Sticks) and isinstance(command, Sticks)):
                self._queue.pop()
            self._queue.append(command)

    @property
    def holding(self) -> bool:
        """Whether a hand holds a part; a pin needs none."""
        return any(part != "pin" for _, part, _ in list(self._held))

    def let_go(self) -> None:
        """Releases all held parts and centres the sticks, because the driver has left."""

        def drop() -> None:
            with self._lock:
                self._queue.extend(Release(*what) for what in self._held)  # type: ignore[arg-type]
                if self.live.sticks:
                    self._queue.append(Sticks((0.0,) * len(self.live.sticks)))

        self._wish(drop)

    def pause(self, on: bool) -> None:
        """Pauses if `on`, otherwise resumes."""
        self._wish(lambda: setattr(self, "_paused", on))

    def speed(self, rate: float) -> None:
        """Runs at `rate` times real time, within the limits."""
        self._wish(lambda: setattr(self, "_rate", min(max(rate, self._limits.slowest), self._limits.fastest)))

    def single_step(self) -> None:
        """One step while paused."""
        self._wish(lambda: self._advance(1) if self._paused else None)

    def record(self, taken: Callable[[list[Sample]], None]) -> None:
        """Records every sample from now on; `taken` receives them when the recording stops."""

        def begin() -> None:
            if self._take is None:
                self._take, self._taken = [], taken

        self._wish(begin)

    def stop_recording(self) -> None:
        """Ends the recording."""
        self._wish(self._cut)

    def replay(self, log: InputLog) -> None:
        """Resets, and applies the commands of a `log` at the steps at which they came."""

        def begin() -> None:
            self._reset()
            self._replay = deque(log.commands)

        self._wish(begin)

    def state(self) -> RunState:
        """The current state."""
        return RunState(self._paused, self._take is not None, self._replay is not None, self._rate, self._real_time)

    # -- in the thread -------------------------------------------------------------------------------------------

    def _wish(self, act: Callable[[], object]) -> None:
        with self._lock:
            self._wishes.append(act)

    def _work(self) -> None:
        try:
            self._loop()
        except Exception as problem:
            LOG.exception("the live figure failed")
            self._on_event("notice", f"Stopped: {type(problem).__name__}. Leave and open the entry again.")
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
            # Lost time is dropped: catching up would overload a slow machine further.
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
        """Advances by `steps` steps and publishes the newest sample."""
        sample = None
        try:
            for k in range(steps):
                # Commands are applied before the first step of a tick, so that this sample already shows their effect.
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
                commands, self._queue = list(self._queue), deque(maxlen=self._limits.waiting_commands)
            return [*commands, *self.live.heard()] if isinstance(self.live, Listening) else commands
        with self._lock:
            self._queue.clear()  # during a replay, commands of visitors are ignored
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
        elif isinstance(command, Untangle):
            self._held.clear()
        self.log.add(self._step, command)
        self.live.apply(command)

    def _reset(self) -> Sample:
        """Resets. A recording ends here, because its time would jump back."""
        self._cut()
        self._held.clear()
        self._replay, self._step = None, 0
        self.log = InputLog(self.live, limits=self._limits)
        sample = self.live.reset()
        _check(sample)
        self._publish(sample)
        return sample

    def _keep(self, sample: Sample) -> None:
        for notice in sample.notices:
            self._on_event("notice", notice)
        if self._take is not None:
            self._take.append(sample)
            if sample.t - self._take[0].t >= self._limits.take_seconds:
                self._on_event("notice", f"The recording stopped after {self._limits.take_seconds:g} s")
                self._cut()

    def _cut(self) -> None:
        if self._take is not None:
            samples, self._take = self._take, None
            self._taken(samples)
            self._on_event("state", "")

    def _publish(self, sample: Sample) -> None:
        self._number += 1
        self.latest = PackedSample(self._number, self._packer.pack(sample, self._number))
        self._on_sample()


def _check(sample: Sample) -> None:
    if not all(np.isfinite(q).all() for q in sample.q):
        raise NotFinite("the live figure is no longer finite")
