"""The stage: its entries, the rooms in which live ones run, and the requests of visitors."""

from __future__ import annotations

import asyncio
import functools
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bunraku.errors import BunrakuError, UnknownName
from bunraku.kernels.announce import hear_compiling
from bunraku.progress import Progress
from bunraku.stage import book_edits, describe, take_edits, takes
from bunraku.stage.book_edits import EditedBook
from bunraku.stage.entry import Entry, Recorded
from bunraku.stage.hand_commands import BadCommand, from_plain
from bunraku.stage.input_log import read_log
from bunraku.stage.live import Live, Sample
from bunraku.stage.mesh_store import Meshes
from bunraku.stage.messages import (
    BookAnswerJson,
    EntryJson,
    PieceJson,
    PoseAnswerJson,
    ProgressJson,
    StageMessageJson,
    TakeHistoryJson,
)
from bunraku.stage.room import Room, Visitor
from bunraku.stage.stage_limits import StageLimits
from bunraku.stage.take_posing import TakePosing
from bunraku.stage.takes import Shelf, Take
from bunraku.stage.uploads import Opener, Uploads
from bunraku.stage.wire import PROTOCOL_VERSION, CloseCode, Refusal

Plain = dict[str, Any]
Exporter = Callable[..., None]
"""Writes a Recorded to a path; a slow one may take a `progress` argument, one that films it a `camera`."""


class Stage:
    """The entries, shared by all visitors. Each page plays recorded entries by itself; live ones are shared.

    entries: the list
    opener: turns a dropped file into entries
    exporters: functions that write an entry to a path, by suffix ("glb", "mp4")
    fps: samples per second of live entries
    limits: limits on what visitors may send, and on what is kept
    shelf: where takes are kept; None forgets them with the stage
    """

    def __init__(
        self, entries: Sequence[Entry], *, opener: Opener | None = None, exporters: Mapping[str, Exporter] | None = None,
        fps: float = 60.0, limits: StageLimits = StageLimits(), shelf: Shelf | None = None,
    ) -> None:  # fmt: skip
        self.exporters, self._fps, self.limits = dict(exporters or {}), fps, limits
        self.uploads = Uploads(opener)
        self.entries: dict[str, Entry] = {f"e{k}": entry for k, entry in enumerate(entries)}
        self.takes: dict[str, Take] = {}
        self._take_posing = TakePosing()
        self._books: dict[str, EditedBook] = {}
        self._rehearsing = threading.Lock()
        self.meshes = Meshes(limits)
        self.visitors: set[Visitor] = set()
        self._things: dict[str, Recorded | Live] = {}
        self._described: dict[str, tuple[Recorded, PieceJson, bytes]] = {}
        self._rooms: dict[str, Room] = {}
        self._opening = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._numbers = itertools.count(1)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shelf = shelf
        if shelf is not None:
            for title in shelf.titles()[-limits.entries // 2 :]:
                take = Take(functools.partial(shelf.load, title))
                (key,) = self.add([Entry(title, functools.partial(getattr, take, "piece"), "", "Takes")])
                self.takes[key] = take

    # -- entries -------------------------------------------------------------------------------------------------

    def listed(self) -> list[EntryJson]:
        """The list, for the page: takes first, the newest before the others."""
        lines: list[EntryJson] = [
            {
                "id": key, "title": entry.title, "about": entry.about, "group": entry.group,
                "take": None if key not in self.takes else _history(self.takes[key]),
            }
            for key, entry in list(self.entries.items())
        ]  # fmt: skip
        return [line for line in reversed(lines) if line["take"]] + [line for line in lines if not line["take"]]

    def opened(self, key: str) -> Recorded | Live:
        """What the entry `key` shows. The first time may take long: do not call it in the event loop.

        Raises UnknownName if there is no such entry.
        """
        if key in self.takes:
            return self.takes[key].piece
        if key not in self.entries:
            raise UnknownName("entry", key, tuple(self.entries))
        with self._opening:
            own = self._locks.setdefault(key, threading.Lock())
        with own:  # a slow entry does not block others
            if key not in self._things:
                stop = hear_compiling(lambda word: self.tell_progress(key, word))
                try:
                    self._things[key] = self.entries[key].open(progress=lambda word: self.tell_progress(key, word))
                finally:
                    stop()
            return self._things[key]

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Sets the event `loop` that serves the visitors, and prepares for their files."""
        self._loop = loop
        threading.Thread(target=self.uploads.prepare, daemon=True).start()

    def tell_progress(self, key: str, word: Progress) -> None:
        """Tells all pages how far the work on the entry `key` is; called by the thread that does it, with its `word`."""
        told: ProgressJson = {"type": "progress", "entry": key, "stage": word.stage, "done": word.done, "text": word.text}
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.tell_all, told)

    def cancel(self, key: str) -> None:
        """Cancels the work on the entry `key` if it is in progress. Raises UnknownName if there is no such entry."""
        if key not in self.entries:
            raise UnknownName("entry", key, tuple(self.entries))
        cancel = getattr(self.entries[key].shows, "cancel", None)
        if cancel is not None:
            cancel()

    def described(self, key: str) -> tuple[PieceJson, bytes]:
        """The entry `key` for the page: its description and its samples. Blocks: do not call it in the event loop."""
        thing, entry = self.opened(key), self.entries[key]
        if not isinstance(thing, Recorded):
            return describe.piece(key, entry, describe.live(thing, self.meshes)), b""
        if key not in self._described or self._described[key][0] is not thing:
            content, samples = describe.recorded(thing, self.meshes)
            self._described[key] = (thing, describe.piece(key, entry, content), samples)
        _, piece, samples = self._described[key]
        if key in self.takes:
            piece = piece.copy()
            piece["take"] = take_edits.described(self.takes[key].version)
        if thing.book is not None:
            piece = piece.copy()
            piece["book"] = self._book(key, thing).described()
        return piece, samples

    def sound(self, key: str) -> bytes:
        """The sound of the entry `key` as a WAV file, written anew from its samples. Blocks: do not call it in the event loop.

        Raises UnknownName if there is no such entry, BunrakuError if it is silent.
        """
        thing = self.opened(key)
        if not isinstance(thing, Recorded) or thing.sound is None:
            raise BunrakuError(f"{self.entries[key].title} has no sound")
        return thing.sound.wav()

    def add(self, entries: Sequence[Entry]) -> list[str]:
        """Adds `entries` to the list and returns their keys; raises BunrakuError if the list is full."""
        if len(self.entries) + len(entries) > self.limits.entries:
            raise BunrakuError(f"the list is full: {self.limits.entries} entries\n  advice: start the stage again")
        keys = [f"n{next(self._numbers)}" for _ in entries]
        self.entries.update(zip(keys, entries, strict=True))
        self.tell_all({"type": "entries"})
        return keys

    def keep_take(self, live: Live, samples: list[Sample]) -> None:
        """Adds the recorded `samples` of a `live` entry to the list as a take; notifies the visitors if that fails."""
        try:
            piece = takes.recorded(live, samples)
        except BunrakuError as problem:
            self.notice_all(str(problem))
            return
        titles = {self.entries[key].title for key in self.takes}
        title = next(name for k in itertools.count(1) if (name := f"Take {k}") not in titles)
        try:
            about = f"{piece.motion.duration:.1f} s, {len(piece.motion)} samples"
            (key,) = self.add([Entry(title, piece, about, "Takes")])
        except BunrakuError as problem:
            self.notice_all(str(problem))
            return
        self.takes[key] = Take(takes.Version(piece))
        self._shelve(key)
        self.tell_all({"type": "taken", "entry": key})

    def _shelve(self, key: str) -> None:
        """Writes the current version of a take to the shelf; notifies the visitors if that fails."""
        if self._shelf is None:
            return
        try:
            self._shelf.keep(self.entries[key].title, self.takes[key].version)
        except BunrakuError as problem:
            self.notice_all(f"This take is not kept on disk: {problem}")

    def edit_take(self, key: str, wish: Plain) -> TakeHistoryJson:
        """Edits, renames or deletes the take `key`, or undoes or redoes an edit, according to the `wish` of a page.

        Raises UnknownName if there is no such take, Refusal if the wish is malformed, BunrakuError if it cannot be done.
        """
        if key not in self.takes:
            raise UnknownName("take", key, tuple(self.takes))
        take = self.takes[key]
        match wish:
            case {"edit": "undo", **rest} if not rest:
                take.undo()
            case {"edit": "redo", **rest} if not rest:
                take.redo()
            case {"edit": "rename", "title": str(title), **rest} if not rest:
                self._rename_take(key, title)
            case {"edit": "delete", **rest} if not rest:
                self._delete_take(key)
            case _:
                take.change(take_edits.edited(take.version, wish, self.limits))
        if wish["edit"] not in ("rename", "delete"):
            self._shelve(key)
        self.tell_all({"type": "entries"})
        return _history(take)

    def pose_take(self, key: str, wish: Plain) -> PoseAnswerJson:
        """A pose of the take `key` with a point dragged to a place, for the `wish` of a page. Blocks: not for the event loop.

        Raises UnknownName if there is no such take, Refusal if the wish is malformed.
        """
        if key not in self.takes:
            raise UnknownName("take", key, tuple(self.takes))
        return self._take_posing.posed(self.takes[key].piece, wish)

    def _rename_take(self, key: str, title: str) -> None:
        entry, new = self.entries[key], " ".join(title.split())
        if not 0 < len(new) <= self.limits.title_letters or not new.isprintable():
            raise BunrakuError(f"a title has 1 to {self.limits.title_letters} letters")
        if new == entry.title:
            return
        if new in {self.entries[other].title for other in self.takes}:
            raise BunrakuError(f"another take is called {new!r}")
        if self._shelf is not None:
            self._shelf.rename(entry.title, new)
        self.entries[key] = replace(entry, title=new)
        self._described.pop(key, None)

    def _delete_take(self, key: str) -> None:
        if self._shelf is not None:
            self._shelf.remove(self.entries[key].title)
        del self.takes[key], self.entries[key]
        self._described.pop(key, None)

    # -- shows ---------------------------------------------------------------------------------------------------

    def _book(self, key: str, thing: Recorded) -> EditedBook:
        return self._books.setdefault(key, EditedBook(thing))

    def edit_book(self, key: str, wish: Plain) -> BookAnswerJson:
        """Edits the script of the show `key` and makes it anew, or undoes, redoes or saves that, as the `wish` of a page says.

        Blocks: not for the event loop. Raises UnknownName if there is no such entry, Refusal if the wish is malformed, BunrakuError
        if the show cannot be played like that, or another edit is not done yet.
        """
        book = self.book(key)
        if not self._rehearsing.acquire(blocking=False):
            raise BunrakuError("an edit is being rehearsed\n  advice: wait until it is done")
        saved = ""
        try:
            match wish:
                case {"edit": "undo", **rest} if not rest:
                    book.undo()
                case {"edit": "redo", **rest} if not rest:
                    book.redo()
                case {"edit": "save", **rest} if not rest:
                    saved = book.save()
                case _:
                    book.change(book_edits.edited(book.book, wish, progress=lambda word: self.tell_progress(key, word)))
            self._things[key] = book.version
        finally:
            self._rehearsing.release()
        return {"saved": saved}

    def book(self, key: str) -> EditedBook:
        """The script of the show `key`, with its edits. Raises UnknownName if there is no such entry, BunrakuError if no script."""
        thing = self.opened(key)
        if not isinstance(thing, Recorded) or thing.book is None:
            raise BunrakuError(f"{self.entries[key].title} has no script")
        return self._book(key, thing)

    # -- visitors ------------------------------------------------------------------------------------------------

    def tell_all(self, message: StageMessageJson) -> None:
        """Sends a `message` to all visitors."""
        for visitor in self.visitors:
            visitor.tell(message)

    def notice_all(self, text: str) -> None:
        """Shows a `text` to all visitors, as a warning."""
        for visitor in self.visitors:
            visitor.notice(text, level="warning")

    def welcome(self, visitor: Visitor) -> None:
        """Adds a `visitor`; raises Refusal if there are too many."""
        if len(self.visitors) >= self.limits.visitors:
            raise Refusal(CloseCode.FULL, f"the stage is full: {self.limits.visitors} visitors")
        self.visitors.add(visitor)
        visitor.tell({"type": "welcome", "version": PROTOCOL_VERSION, "you": visitor.name})

    def goodbye(self, visitor: Visitor) -> None:
        """Removes a `visitor`."""
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
        visitor.join()
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
            await asyncio.to_thread(room.run.stop)  # two threads must not step the same figure
            if self._rooms.get(key) is room:
                del self._rooms[key]
        if key not in self._rooms:
            try:
                self._rooms[key] = Room(key, thing, on_take=self.keep_take, fps=self._fps, limits=self.limits)
            except BunrakuError as problem:
                visitor.notice(str(problem), level="error")
                return
        if visitor in self.visitors:  # it may have left meanwhile
            self._rooms[key].enter(visitor)
        elif not self._rooms[key].visitors:
            self._rooms[key].run.stop_soon()

    # -- input logs ----------------------------------------------------------------------------------------------

    def input_log(self, key: str) -> str:
        """The commands since the last reset of the live entry `key`, as JSON."""
        if key not in self._rooms:
            raise BunrakuError("no command has been given to this entry yet")
        return self._rooms[key].run.log.to_json()

    def replay_log(self, key: str, text: str) -> None:
        """Replays a saved log (`text`) in the live entry `key`; raises BunrakuError if it is not open or the log does not fit."""
        room = self._rooms.get(key)
        if room is None or not room.visitors:
            raise BunrakuError("open the live entry first")
        room.run.replay(read_log(text, room.live, limits=self.limits))

    async def close(self) -> None:
        """Stops all live entries and deletes dropped files."""
        self.uploads.close()
        for room in self._rooms.values():
            await asyncio.to_thread(room.run.stop)

    async def handle(self, visitor: Visitor, message: Plain) -> None:
        """Executes the `message` of a `visitor`. Raises Refusal if it is malformed; shows a notice if it is impossible."""
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
        """Obeys the driver only; malformed messages of others are refused as well."""
        act = _action(message)
        room = _room(visitor)
        if room.driver is not visitor:
            visitor.notice("Another visitor is driving: ask for control.")
            return
        room.drove()
        try:
            act(room)
        except BunrakuError as problem:
            visitor.notice(str(problem), level="error")


def _action(message: Plain) -> Callable[[Room], None]:
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
        raise Refusal(CloseCode.MALFORMED, str(problem)) from None
    return lambda room: room.run.push(command)


def _room(visitor: Visitor) -> Room:
    if visitor.room is None:
        raise Refusal(CloseCode.OUT_OF_ORDER, "join a live entry first")
    return visitor.room


def _history(take: Take) -> TakeHistoryJson:
    return {"undo": take.can_undo, "redo": take.can_redo}
