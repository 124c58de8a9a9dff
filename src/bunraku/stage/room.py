"""A live entry and its visitors: one drives, the others watch, and control can be handed over."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from bunraku.stage.live import Live
from bunraku.stage.live_run import LiveRun
from bunraku.stage.messages import ControlJson, NoticeJson, RunStateJson
from bunraku.stage.stage_limits import StageLimits
from bunraku.stage.wire import addressed

Plain = Mapping[str, Any]


class Visitor:
    """One connected page. It belongs to the event loop; of each kind of message, only the newest is queued for it.

    `limits` bound the number of samples in flight.
    """

    _numbers = itertools.count(1)

    def __init__(self, limits: StageLimits = StageLimits()) -> None:
        self._limits = limits
        self.name = f"visitor {next(self._numbers)}"
        self.room: Room | None = None
        self.wake = asyncio.Event()
        self._outbox: dict[str, Plain] = {}
        self._sent = self._acked = self._visit = 0
        self._flights: list[int] = []

    def tell(self, message: Plain, *, key: str = "") -> None:
        """Sends a `message` to the page; it replaces a queued one with the same `key`."""
        key = key or message["type"]
        self._outbox.pop(key, None)
        self._outbox[key] = message
        if len(self._outbox) > 64:
            self._outbox.pop(next(iter(self._outbox)))
        self.wake.set()

    def notice(self, text: str, *, level: str = "info") -> None:
        """Shows a `text` to the visitor; the `level` is info, warning or error."""
        message: NoticeJson = {"type": "notice", "level": level, "text": text[:2000]}
        self.tell(message, key=f"notice {text}")

    def acknowledge(self, number: int) -> None:
        """Records that the page has drawn the sample `number`."""
        # Acknowledgements of samples that were never sent are ignored.
        if self._acked < number <= self._sent:
            self._acked = number
            self.wake.set()

    def join(self) -> None:
        """Counts a join of the page: samples from now on belong to this visit."""
        self._visit += 1

    def enter(self, room: Room | None) -> None:
        """Enters a `room`, or none; samples are numbered from the start again."""
        self.room, self._sent, self._acked, self._flights = room, 0, 0, []
        self.wake.set()

    def messages(self) -> list[Plain]:
        """Takes all queued messages."""
        out, self._outbox = list(self._outbox.values()), {}
        return out

    def sample(self) -> bytes | None:
        """The newest sample that was not sent yet; None if there is none, or if too many are in flight."""
        frame = self.room.run.latest if self.room is not None else None
        if frame is None or frame.number <= self._sent or self._in_flight() >= self._limits.samples_in_flight:
            return None
        self._sent = frame.number
        self._flights.append(frame.number)
        return addressed(frame.data, self._visit)

    def _in_flight(self) -> int:
        self._flights = [n for n in self._flights if n > self._acked]
        return len(self._flights)


class Room:
    """A live entry and its visitors. It belongs to the event loop; the run's own thread calls in through `_from_run`.

    entry: the key of the entry
    live: the live entry
    on_take: called with the live entry and the samples of a recording
    fps: samples per second
    limits: limits of the stage
    """

    def __init__(
        self, entry: str, live: Live, *, on_take: Callable[[Live, list[Any]], None], fps: float,
        limits: StageLimits = StageLimits(),
    ) -> None:  # fmt: skip
        self.entry, self.live = entry, live
        self._loop = asyncio.get_running_loop()
        self._on_take = on_take
        self.visitors: list[Visitor] = []
        self.driver: Visitor | None = None
        self.asking: list[Visitor] = []
        self._silent_seconds, self._last_command = limits.silent_seconds, self._loop.time()
        self.run = LiveRun(
            live, fps=fps, limits=limits, on_sample=lambda: self._from_run(self._wake),
            on_event=lambda kind, text: self._from_run(lambda: self._event(kind, text)),
        )  # fmt: skip
        self.run.start()

    def _from_run(self, act: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(act)

    def _wake(self) -> None:
        for visitor in self.visitors:
            visitor.wake.set()

    def _event(self, kind: str, text: str) -> None:
        for visitor in self.visitors:
            if kind == "notice":
                visitor.notice(text, level="warning")
            else:
                visitor.tell(self.state())

    def state(self) -> RunStateJson:
        """The state of its run, for the page."""
        now = self.run.state()
        return {
            "type": "state", "entry": self.entry, "paused": now.paused, "recording": now.recording, "replaying": now.replaying,
            "rate": now.rate, "real_time": now.real_time,
        }  # fmt: skip

    # -- who is in it --------------------------------------------------------------------------------------------

    def enter(self, visitor: Visitor) -> None:
        """Adds a `visitor`; the first one drives."""
        self.visitors.append(visitor)
        visitor.enter(self)
        if self.driver is None:
            self.driver = visitor
        visitor.tell(self.state())
        self.tell_control()

    def leave(self, visitor: Visitor) -> None:
        """Removes a `visitor`. If it was the driver, a recording ends, and who asked first drives, or else who came first."""
        self.visitors.remove(visitor)
        visitor.enter(None)
        if visitor in self.asking:
            self.asking.remove(visitor)
        if self.driver is visitor:
            self.run.stop_recording()
            self._hand_over(self.asking[0] if self.asking else self.visitors[0] if self.visitors else None)
        self.tell_control()

    def ask(self, visitor: Visitor) -> None:
        """A `visitor` asks for control, and gets it as soon as nobody has it, or the driver has done nothing for some seconds."""
        if self.driver is None:
            self._hand_over(visitor)
        elif self.driver is not visitor and visitor not in self.asking:
            self.asking.append(visitor)
        self.tell_control()
        self._pass_on()

    def drove(self) -> None:
        """Records that the driver has done something."""
        self._last_command = self._loop.time()

    def _pass_on(self) -> None:
        """Gives control to who asked first if the driver is silent; otherwise looks again when that could be."""
        if not self.asking or self.driver is None:
            return
        if self.run.holding:
            self.drove()
        left = self._last_command + self._silent_seconds - self._loop.time()
        if left > 0.0:
            self._loop.call_later(left, self._pass_on)
            return
        self.driver.notice(f"You did nothing for {self._silent_seconds:g} s: {self.asking[0].name} is driving now.")
        self._hand_over(self.asking[0])
        self.tell_control()

    def _hand_over(self, to: Visitor | None) -> None:
        if self.driver is not None:
            self.run.let_go()
        self.driver = to
        if to in self.asking:
            self.asking.remove(to)
        self.drove()

    def give(self, visitor: Visitor, to: str) -> None:
        """The driving `visitor` gives control `to` another one by name, or to nobody; then the next one who asks gets it."""
        if self.driver is not visitor:
            visitor.notice("You are not driving.")
            return
        self._hand_over(next((v for v in self.visitors if v.name == to), None))
        self.tell_control()

    def tell_control(self) -> None:
        """Tells all visitors who drives and who asks for control."""
        for visitor in self.visitors:
            message: ControlJson = {
                "type": "control", "entry": self.entry, "you": visitor.name,
                "driver": None if self.driver is None else self.driver.name,
                "asking": [v.name for v in self.asking], "watching": len(self.visitors),
            }  # fmt: skip
            visitor.tell(message)

    # -- recording -----------------------------------------------------------------------------------------------

    def record(self, on: bool) -> None:
        """Starts (`on`) or stops a recording."""
        if on:
            self.run.record(lambda samples: self._from_run(lambda: self._on_take(self.live, samples)))
        else:
            self.run.stop_recording()
