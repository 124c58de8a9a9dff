"""CommServer: a stage that is reached through messages (the comm of a widget) instead of a network port.

Requests and sockets of the page (`transport.ts`) arrive as messages: a head, which is JSON, and bytes.

    page → kernel   request (id, method, path)   open (id)   text (id, text)   bytes (id)   alive (id)   close (id)   leave
    kernel → page   answer (id, status, headers)   open (id)   text (id, text)   bytes (id)   close (id, code, reason)

Each has the name of its view besides, since a widget may be shown in several cells.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from bunraku.stage.server import unguarded
from bunraku.stage.stage import Stage

Head = dict[str, Any]
Event = MutableMapping[str, Any]
Send = Callable[[Head, bytes], None]


@dataclass
class Socket:
    """A socket of a page: what has arrived for the stage, and when the page was last heard of [s]."""

    arrived: asyncio.Queue[Event] = field(default_factory=asyncio.Queue)
    heard: float = field(default_factory=time.monotonic)


class CommServer:
    """Serves a `stage` in a thread; `send` gives a head and bytes to the page, in that thread.

    patience: how long a page may be silent before its sockets are closed [s]; a page that is still there opens another. A browser
        wakes hidden pages once a minute.
    """

    def __init__(self, stage: Stage, send: Send, *, patience: float = 150.0) -> None:
        self._application, self._send, self._patience = unguarded(stage), send, patience
        self._sockets: dict[tuple[str, int], Socket] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._work, name="bunraku-notebook", daemon=True)
        self._thread.start()

    def receive(self, head: Head, body: bytes) -> None:
        """Takes a message of the page, from any thread: a `head` and the bytes of its `body`. Malformed ones are ignored."""
        self._in_thread(self._received, head, body)

    def close(self) -> None:
        """Closes all sockets and ends the thread."""
        self._in_thread(self._over.set)
        self._thread.join(timeout=10.0)

    def _in_thread(self, act: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # it has been closed
            self._loop.call_soon_threadsafe(act, *arguments)

    # -- in the thread -------------------------------------------------------------------------------------------

    def _work(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        async with self._application.router.lifespan_context(self._application):
            while not self._over.is_set():
                self._close_silent()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._over.wait(), self._patience / 10)
            self._leave(lambda view: True)
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _close_silent(self) -> None:
        oldest = time.monotonic() - self._patience
        for (view, key), socket in list(self._sockets.items()):
            if socket.heard < oldest:
                self._drop(view, key)
                self._send({"type": "close", "view": view, "id": key, "code": 1001, "reason": ""}, b"")

    def _leave(self, who: Callable[[str], bool]) -> None:
        for view, key in [key for key in self._sockets if who(key[0])]:
            self._drop(view, key)

    def _drop(self, view: str, key: int) -> None:
        socket = self._sockets.pop((view, key), None)
        if socket is not None:
            socket.arrived.put_nowait({"type": "websocket.disconnect", "code": 1001})

    def _received(self, head: Head, body: bytes) -> None:
        match head:
            case {"type": "leave", "view": str(view)}:
                self._leave(lambda other: other == view)
            case {"type": "request", "view": str(view), "id": int(key), "method": str(method), "path": str(path)}:
                self._begin(self._answer(view, key, method, path, body))
            case {"type": "open", "view": str(view), "id": int(key)}:
                self._drop(view, key)
                socket = self._sockets[view, key] = Socket()
                socket.arrived.put_nowait({"type": "websocket.connect"})
                self._begin(self._attend(view, key, socket))
            case {"type": str(kind), "view": str(view), "id": int(key)} if (view, key) in self._sockets:
                socket = self._sockets[view, key]
                socket.heard = time.monotonic()
                match kind:
                    case "text":
                        socket.arrived.put_nowait({"type": "websocket.receive", "text": str(head.get("text"))})
                    case "bytes":
                        socket.arrived.put_nowait({"type": "websocket.receive", "bytes": body})
                    case "close":
                        self._drop(view, key)

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, view: str, key: int, method: str, path: str, body: bytes) -> None:
        """Answers a request as a server would."""
        answer: Head = {"type": "answer", "view": view, "id": key, "status": 500, "headers": {}}
        content = bytearray()

        async def receive() -> Event:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(event: Event) -> None:
            if event["type"] == "http.response.start":
                answer["status"] = event["status"]
                answer["headers"] = {name.decode(): value.decode() for name, value in event["headers"]}
            else:
                content.extend(event.get("body", b""))

        await self._application(_scope("http", path) | {"method": method}, receive, send)
        self._send(answer, bytes(content))

    async def _attend(self, view: str, key: int, socket: Socket) -> None:
        """Serves one `socket` of a page until it is closed."""

        async def send(event: Event) -> None:
            head = {"view": view, "id": key}
            match event:
                case {"type": "websocket.accept"}:
                    self._send(head | {"type": "open"}, b"")
                case {"type": "websocket.send", "bytes": bytes(sample)}:
                    self._send(head | {"type": "bytes"}, sample)
                case {"type": "websocket.send", "text": str(text)}:
                    self._send(head | {"type": "text", "text": text}, b"")
                case {"type": "websocket.close", "code": int(code)}:
                    self._send(head | {"type": "close", "code": code, "reason": event.get("reason") or ""}, b"")

        try:
            await self._application(_scope("websocket", "/ws"), socket.arrived.get, send)
        finally:
            if self._sockets.get((view, key)) is socket:
                del self._sockets[view, key]


def _scope(kind: str, path: str) -> dict[str, Any]:
    """What ASGI says about a request."""
    return {
        "type": kind, "asgi": {"version": "3.0"}, "path": unquote(path), "raw_path": path.encode(), "query_string": b"",
        "headers": [], "root_path": "", "scheme": "notebook", "server": None, "client": None,
    }  # fmt: skip
