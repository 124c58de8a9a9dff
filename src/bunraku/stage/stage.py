"""The stage: its entries, what they open, the rooms where live ones run, and what visitors ask for."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bunraku.errors import BunrakuError, UnknownName
from bunraku.progress import Progress
from bunraku.stage import describe, takes
from bunraku.stage.entry import Entry, Recorded
from bunraku.stage.hand_commands import BadCommand, from_plain
from bunraku.stage.input_log import read_log
from bunraku.stage.live import Live, Sample
from bunraku.stage.mesh_store import Meshes
from bunraku.stage.room import Room, Visitor
from bunraku.stage.takes import Take
from bunraku.stage.uploads import Opener, Uploads
from bunraku.stage.wire import FULL, MALFORMED, OUT_OF_ORDER, VERSION, Refusal

Plain = dict[str, Any]
Exporter = Callable[[Recorded, Path], None]
MOST_VISITORS, MOST_ENTRIES = 32, 200


class Stage:
    """What is on, shared by all visitors. Recorded pieces play in each page by itself; live ones are shared.

    `opener` turns a dropped file into entries; `exporters` write a piece to a path, by suffix ("glb", "mp4").
    """

    def __init__(
        self, entries: Sequence[Entry], *, opener: Opener | None = None, exporters: Mapping[str, Exporter] | None = None,
        fps: float = 60.0,
    ) -> None:  # fmt: skip
        self.exporters, self._fps = dict(exporters or {}), fps
        self.uploads = Uploads(opener)
        self.entries: dict[str, Entry] = {f"e{k}": entry for k, entry in enumerate(entries)}
        self.takes: dict[str, Take] = {}
        self.meshes = Meshes()
        self.visitors: set[Visitor] = set()
        self._things: dict[str, Recorded | Live] = {}
        self._described: dict[str, tuple[Recorded, Plain, bytes]] = {}
        self._rooms: dict[str, Room] = {}
        self._opening = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._numbers = itertools.count(1)
        self._loop: asyncio.AbstractEventLoop | None = None

    # -- entries -------------------------------------------------------------------------------------------------

    def listed(self) -> list[Plain]:
        return [
            {
                "id": key, "title": entry.title, "about": entry.about, "group": entry.group,
                "take": None if key not in self.takes else _history(self.takes[key]),
            }
            for key, entry in list(self.entries.items())
        ]  # fmt: skip

    def opened(self, key: str) -> Recorded | Live:
        """What an entry shows. The first time may take a while: not for the event loop."""
        if key in self.takes:
            return self.takes[key].piece
        if key not in self.entries:
            raise UnknownName("entry", key, tuple(self.entries))
        with self._opening:
            own = self._locks.setdefault(key, threading.Lock())
        with own:  # one that takes long keeps nobody from another
            if key not in self._things:
                self._things[key] = self.entries[key].open(progress=lambda word: self._tell_progress(key, word))
            return self._things[key]

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Says which `loop` serves the visitors, and gets ready for their files."""
        self._loop = loop
        threading.Thread(target=self.uploads.prepare, daemon=True).start()

    def _tell_progress(self, key: str, word: Progress) -> None:
        """Called by the thread that opens an entry."""
        told = {"type": "progress", "entry": key, "stage": word.stage, "done": word.done, "text": word.text}
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.tell_all, told)

    def cancel(self, key: str) -> None:
        """Ends the work on an entry that is being made; nothing happens if there is none. Raises UnknownName."""
        if key not in self.entries:
            raise UnknownName("entry", key, tuple(self.entries))
        cancel = getattr(self.entries[key].shows, "cancel", None)
        if cancel is not None:
            cancel()

    def described(self, key: str) -> tuple[Plain, bytes]:
        """An entry for the page: its description and its samples. Not for the event loop."""
        thing, entry = self.opened(key), self.entries[key]
        head = {"id": key, "title": entry.title, "about": entry.about, "front": entry.front}
        if not isinstance(thing, Recorded):
            return {**head, **describe.live(thing, self.meshes)}, b""
        if key not in self._described or self._described[key][0] is not thing:
            plain, samples = describe.recorded(thing, self.meshes)
            self._described[key] = (thing, {**head, **plain}, samples)
        return self._described[key][1:]

    def add(self, entries: Sequence[Entry]) -> list[str]:
        """More lines for the list."""
        if len(self.entries) + len(entries) > MOST_ENTRIES:
            raise BunrakuError(f"the list is full: {MOST_ENTRIES} entries\n  advice: start the stage again")
        keys = [f"n{next(self._numbers)}" for _ in entries]
        self.entries.update(zip(keys, entries, strict=True))
        self.tell_all({"type": "entries"})
        return keys

    def keep_take(self, live: Live, samples: list[Sample]) -> None:
        try:
            piece = takes.recorded(live, samples)
        except BunrakuError as problem:
            self.notice_all(str(problem))
            return
        number = len(self.takes) + 1
        try:
            about = f"{piece.motion.duration:.1f} s, {len(piece.motion)} samples"
            (key,) = self.add([Entry(f"Take {number}", piece, about, "Takes")])
        except BunrakuError as problem:
            self.notice_all(str(problem))
            return
        self.takes[key] = Take(piece)
        self.tell_all({"type": "taken", "entry": key})

    def edit_take(self, key: str, wish: Plain) -> Plain:
        """Trims a take, or goes back or forth in its history."""
        if key not in self.takes:
            raise UnknownName("take", key, tuple(self.takes))
        take = self.takes[key]
        match wish:
            case {"edit": "trim", "start": int(start) | float(start), "stop": int(stop) | float(stop), **rest} if not rest:
                take.trim(float(start), float(stop))
            case {"edit": "undo", **rest} if not rest:
                take.undo()
            case {"edit": "redo", **rest} if not rest:
                take.redo()
            case _:
                raise Refusal(MALFORMED, "an edit is trim (start, stop), undo or redo")
        self.tell_all({"type": "entries"})
        return _history(take)

    # -- visitors ------------------------------------------------------------------------------------------------

    def tell_all(self, message: Plain) -> None:
        for visitor in self.visitors:
            visitor.tell(message)

    def notice_all(self, text: str) -> None:
        for visitor in self.visitors:
            visitor.notice(text, level="warning")

    def welcome(self, visitor: Visitor) -> None:
        if len(self.visitors) >= MOST_VISITORS:
            raise Refusal(FULL, f"the house is full: {MOST_VISITORS} visitors")
        self.visitors.add(visitor)
        visitor.tell({"type": "welcome", "version": VERSION, "you": visitor.name})

    def goodbye(self, visitor: Visitor) -> None:
        self.visitors.discard(visitor)
        self._leave(visitor)

    def _leave(self, visitor: Visitor) -> None:
        room = visitor.room
        if room is None:
            return
        room.leave(visitor)
        if not room.visitors:
            room.run.stop_soon()

    async def _join(self, visitor: Visitor, key: str) -> None:
        self._leave(visitor)
        try:
            thing = await asyncio.to_thread(self.opened, key)
        except BunrakuError as problem:
            visitor.notice(str(problem), level="error")
            return
        if isinstance(thing, Recorded):
            visitor.notice("This entry is recorded: it needs no driver.")
            return
        room = self._rooms.get(key)
        if room is not None and room.run.over:
            await asyncio.to_thread(room.run.stop)  # two threads must not step one figure
            if self._rooms.get(key) is room:
                del self._rooms[key]
        if key not in self._rooms:
            try:
                self._rooms[key] = Room(key, thing, on_take=self.keep_take, fps=self._fps)
            except BunrakuError as problem:
                visitor.notice(str(problem), level="error")
                return
        if visitor in self.visitors:  # it may have gone while we waited
            self._rooms[key].enter(visitor)
        elif not self._rooms[key].visitors:
            self._rooms[key].run.stop_soon()

    # -- input logs ----------------------------------------------------------------------------------------------

    def input_log(self, key: str) -> str:
        """The commands since the last reset of a live entry, as JSON."""
        if key not in self._rooms:
            raise BunrakuError("nothing has been driven here yet")
        return self._rooms[key].run.log.to_json()

    def replay_log(self, key: str, text: str) -> None:
        """A saved log, replayed for everybody in the room."""
        room = self._rooms.get(key)
        if room is None or not room.visitors:
            raise BunrakuError("open the live entry first")
        room.run.replay(read_log(text, room.live))

    async def close(self) -> None:
        self.uploads.close()
        for room in self._rooms.values():
            await asyncio.to_thread(room.run.stop)

    async def handle(self, visitor: Visitor, message: Plain) -> None:
        """What a visitor asks for. A Refusal for what is malformed; a notice for what cannot be."""
        match message:
            case {"type": "hello"}:
                self.welcome(visitor)
            case {"type": "join", "entry": str(key), **rest} if not rest:
                await self._join(visitor, key)
            case {"type": "leave", **rest} if not rest:
                self._leave(visitor)
            case {"type": "ask", **rest} if not rest:
                _room(visitor).ask(visitor)
            case {"type": "give", "to": str(name), **rest} if not rest:
                _room(visitor).give(visitor, name)
            case _:
                self._drive(visitor, message)

    def _drive(self, visitor: Visitor, message: Plain) -> None:
        """Only whoever has control is obeyed; the others' messages are well-formed or refused all the same."""
        act = _deed(message)
        room = _room(visitor)
        if room.driver is not visitor:
            visitor.notice("Somebody else is driving: ask for control.")
            return
        try:
            act(room)
        except BunrakuError as problem:
            visitor.notice(str(problem), level="error")


def _deed(message: Plain) -> Callable[[Room], None]:
    match message:
        case {"type": "record", "on": bool(on), **rest} if not rest:
            return lambda room: room.record(on)
        case {"type": "pause", "on": bool(on), **rest} if not rest:
            return lambda room: room.run.pause(on)
        case {"type": "speed", "rate": int(rate) | float(rate), **rest} if not rest and 0.0 < rate < 100.0:
            return lambda room: room.run.speed(float(rate))
        case {"type": "step", **rest} if not rest:
            return lambda room: room.run.single_step()
        case {"type": "replay", **rest} if not rest:
            return lambda room: room.run.replay(room.run.log)
    try:
        command = from_plain(message)
    except BadCommand as problem:
        raise Refusal(MALFORMED, str(problem)) from None
    return lambda room: room.run.push(command)


def _room(visitor: Visitor) -> Room:
    if visitor.room is None:
        raise Refusal(OUT_OF_ORDER, "join a live entry first")
    return visitor.room


def _history(take: Take) -> Plain:
    return {"undo": take.can_undo, "redo": take.can_redo}
