"""The stage as an ASGI application: the page, its data, one websocket per visitor."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from bunraku.errors import BunrakuError, UnknownName
from bunraku.stage.guard import Guard, Guarded
from bunraku.stage.messages import EntryListJson
from bunraku.stage.page_export import camera_of, export
from bunraku.stage.room import Visitor
from bunraku.stage.stage import Stage
from bunraku.stage.uploads import unpack
from bunraku.stage.wire import Ack, CloseCode, Inbox, Refusal, parse
from bunraku.writing import safe_name

LOG = logging.getLogger("bunraku.stage")
MIME_TYPES = {
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
    "woff2": "font/woff2", "svg": "image/svg+xml", "txt": "text/plain; charset=utf-8",
}  # fmt: skip


def application(stage: Stage, guard: Guard) -> ASGIApp:
    """The application that serves a `stage` to visitors whom the `guard` accepts."""
    return Guarded(unguarded(stage), guard)


def unguarded(stage: Stage) -> Starlette:
    """The application that serves a `stage` to whoever reaches it: for connections that nobody else can use."""
    page = Page()
    api = Api(stage)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(64))  # many, so that visitors who wait for an order block nobody else
        stage.attach(loop)
        yield
        await stage.close()

    routes = [
        *(Route(path, page.file) for path in page.paths),
        Route("/api/entries", api.entries),
        Route("/api/entries/{key}", api.entry),
        Route("/api/entries/{key}/samples", api.samples),
        Route("/api/entries/{key}/sound", api.sound),
        Route("/api/entries/{key}/inputs", api.inputs),
        Route("/api/entries/{key}/inputs", api.replay, methods=["POST"]),
        Route("/api/entries/{key}/export/{suffix}", api.export, methods=["POST"]),
        Route("/api/entries/{key}/cancel", api.cancel, methods=["POST"]),
        Route("/api/entries/{key}/book", api.script),
        Route("/api/entries/{key}/book", api.edit_book, methods=["POST"]),
        Route("/api/takes/{key}", api.edit, methods=["POST"]),
        Route("/api/takes/{key}/pose", api.pose, methods=["POST"]),
        Route("/api/meshes/{key}", api.mesh),
        Route("/api/open", api.open, methods=["POST"]),
        WebSocketRoute("/ws", lambda websocket: attend(websocket, stage)),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


class Page:
    """The built page, in memory: only its own files are served."""

    def __init__(self) -> None:
        folder = files("bunraku.stage") / "web"
        built = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in MIME_TYPES}
        self._files = {f"/{name}": data for name, data in built.items()}
        self._files["/"] = self._files.pop("/index.html")
        texts = {path: data for path, data in self._files.items() if path.endswith((".js", ".css"))}
        self._zipped = {path: gzip.compress(data, mtime=0) for path, data in texts.items()}
        self.paths = tuple(self._files)

    async def file(self, request: Request) -> Response:
        """The file that a `request` names."""
        path = request.url.path
        suffix = path.rpartition(".")[2] if "." in path else "html"
        headers = {"Cache-Control": "no-cache"}
        if path in self._zipped and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self._zipped[path], media_type=MIME_TYPES[suffix], headers={**headers, "Content-Encoding": "gzip"})
        return Response(self._files[path], media_type=MIME_TYPES[suffix], headers=headers)


Handler = Callable[["Api", Request], Awaitable[Response]]


def _told(handler: Handler) -> Handler:
    """Answers with the message of an error that the `handler` raises."""

    async def wrapped(self: Api, request: Request) -> Response:
        try:
            return await handler(self, request)
        except UnknownName as problem:
            return JSONResponse({"error": str(problem)}, 404)
        except Refusal as problem:
            return JSONResponse({"error": problem.reason}, problem.code - 4000)
        except BunrakuError as problem:
            return JSONResponse({"error": str(problem)}, 422)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        except Exception:
            LOG.exception("%s failed", request.url.path)
            return JSONResponse({"error": "The stage failed here. See its log."}, 500)

    return wrapped


class Api:
    """What the page fetches from a `stage` and posts to it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._exporting = asyncio.Semaphore(2)

    @_told
    async def entries(self, request: Request) -> Response:
        """The list of entries, as the answer to a `request`."""
        stage = self._stage
        listed: EntryListJson = {
            "entries": stage.listed(), "exports": [*stage.exporters, "html"], "opens": stage.uploads.opener is not None,
        }  # fmt: skip
        return JSONResponse(listed)

    @_told
    async def entry(self, request: Request) -> Response:
        """The description of the entry that a `request` names."""
        plain, _ = await asyncio.to_thread(self._stage.described, request.path_params["key"])
        return JSONResponse(plain)

    @_told
    async def samples(self, request: Request) -> Response:
        """The samples of the entry that a `request` names."""
        _, samples = await asyncio.to_thread(self._stage.described, request.path_params["key"])
        return Response(samples, media_type="application/octet-stream")

    @_told
    async def sound(self, request: Request) -> Response:
        """The sound of the entry that a `request` names, as a WAV file."""
        data = await asyncio.to_thread(self._stage.sound, request.path_params["key"])
        return Response(data, media_type="audio/wav")

    @_told
    async def mesh(self, request: Request) -> Response:
        """The triangles that a `request` names."""
        data = self._stage.meshes.data.get(request.path_params["key"])
        if data is None:
            return JSONResponse({"error": "no such mesh"}, 404)
        return Response(data, media_type="application/octet-stream")

    @_told
    async def inputs(self, request: Request) -> Response:
        """The input log of the live entry that a `request` names."""
        return Response(self._stage.input_log(request.path_params["key"]), media_type="application/json")

    @_told
    async def replay(self, request: Request) -> Response:
        """Replays the input log in a `request`."""
        text = (await _body(request, self._stage.limits.upload_bytes)).decode(errors="replace")
        self._stage.replay_log(request.path_params["key"], text)
        return JSONResponse({})

    @_told
    async def open(self, request: Request) -> Response:
        """Adds the files in a `request` to the list."""
        files = unpack(await _body(request, self._stage.limits.upload_bytes))
        left_out: list[str] = []
        entries = await asyncio.to_thread(self._stage.uploads.open, files, left_out.append)
        for text in left_out:
            self._stage.notice_all(text)
        return JSONResponse({"opened": self._stage.add(entries)})

    @_told
    async def cancel(self, request: Request) -> Response:
        """Cancels the work on the entry that a `request` names."""
        self._stage.cancel(request.path_params["key"])
        return JSONResponse({})

    @_told
    async def edit(self, request: Request) -> Response:
        """Edits the take that a `request` names."""
        return JSONResponse({"take": self._stage.edit_take(request.path_params["key"], await self._wish(request))})

    @_told
    async def script(self, request: Request) -> Response:
        """The script of the show that a `request` names, as it was edited."""
        book = (await asyncio.to_thread(self._stage.book, request.path_params["key"])).book
        name = f"{safe_name(Path(book.file).stem)}.yaml"
        return Response(book.text, media_type="application/yaml", headers=_attachment(name))

    @_told
    async def edit_book(self, request: Request) -> Response:
        """Edits the script of the show that a `request` names."""
        wish = await self._wish(request)
        answer = await asyncio.to_thread(self._stage.edit_book, request.path_params["key"], wish)
        self._stage.tell_all({"type": "entries"})
        return JSONResponse(answer)

    @_told
    async def pose(self, request: Request) -> Response:
        """A pose of the take that a `request` names, with a point dragged to a place."""
        wish = await self._wish(request)
        return JSONResponse(await asyncio.to_thread(self._stage.pose_take, request.path_params["key"], wish))

    async def _wish(self, request: Request) -> dict[str, Any]:
        return parse((await _body(request, self._stage.limits.message_bytes)).decode(errors="replace"))

    @_told
    async def export(self, request: Request) -> Response:
        """The file that a `request` asks for."""
        camera = camera_of(await self._wish(request) if int(request.headers.get("content-length", 0)) else {})
        async with self._exporting:
            key, suffix = request.path_params["key"], request.path_params["suffix"]
            name, data = await asyncio.to_thread(export, self._stage, key, suffix, camera=camera)
        return Response(data, media_type="application/octet-stream", headers=_attachment(name))


def _attachment(name: str) -> dict[str, str]:
    """The header of an answer that the browser keeps as a file called `name`."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


async def _body(request: Request, largest: int, patience: float = 15.0) -> bytes:
    """The body of a `request`; raises Refusal if it has more than `largest` bytes, or if none come for `patience` [s]."""
    data = bytearray()
    chunks = aiter(request.stream())
    while True:
        try:
            chunk = await asyncio.wait_for(anext(chunks, None), patience)
        except TimeoutError:
            raise Refusal(CloseCode.TOO_SLOW, f"nothing came for {patience:g} s") from None
        if chunk is None:
            return bytes(data)
        data += chunk
        if len(data) > largest:
            raise Refusal(CloseCode.TOO_LARGE, f"larger than {largest / 2**20:g} MB")


# -- the websocket -----------------------------------------------------------------------------------------------


async def attend(websocket: WebSocket, stage: Stage) -> None:
    """Serves one visitor of the `stage` until its `websocket` is closed."""
    await websocket.accept()
    visitor = Visitor(stage.limits)
    sender = asyncio.create_task(_send(websocket, visitor))
    try:
        code, reason = await _listen(websocket, stage, visitor)
    finally:
        stage.goodbye(visitor)
        sender.cancel()
        await asyncio.gather(sender, return_exceptions=True)
    if code:
        try:
            await websocket.close(code, reason)
        except RuntimeError:
            LOG.debug("the connection was already closed")


async def _listen(websocket: WebSocket, stage: Stage, visitor: Visitor) -> tuple[int, str]:
    """Handles messages until the connection ends. Returns code and reason to close it with; code 0 if the page has left."""
    inbox = Inbox(stage.limits)
    while True:
        received = await websocket.receive()
        if received["type"] == "websocket.disconnect":
            return 0, ""
        message: Any = received.get("text")
        if message is None:
            message = received.get("bytes") or b""
        try:
            read = inbox.read(message, time.monotonic())
            if isinstance(read, Ack):
                visitor.acknowledge(read.number)
            else:
                await stage.handle(visitor, read)
        except Refusal as refusal:
            return refusal.code, refusal.reason
        except Exception:
            LOG.exception("a message from %s failed", visitor.name)
            return CloseCode.BROKEN, "The stage failed at this message. See its log."


async def _send(websocket: WebSocket, visitor: Visitor) -> None:
    """Sends queued messages as fast as this page accepts them; other pages do not wait for it."""
    while True:
        await visitor.wake.wait()
        visitor.wake.clear()
        try:
            for message in visitor.messages():
                await websocket.send_text(json.dumps(message))
            sample = visitor.sample()
            if sample is not None:
                await websocket.send_bytes(sample)
        except (WebSocketDisconnect, RuntimeError):
            return
