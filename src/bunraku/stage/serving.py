"""`play` and `serve`: the stage as a server."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType

import uvicorn
from rich.console import Console

from bunraku.errors import BunrakuError
from bunraku.stage.entry import Entry, Recorded
from bunraku.stage.guard import Guard
from bunraku.stage.page_export import standalone
from bunraku.stage.server import application
from bunraku.stage.stage import Exporter, Stage
from bunraku.stage.stage_limits import StageLimits
from bunraku.stage.takes import Shelf
from bunraku.stage.uploads import Opener
from bunraku.writing import writing

DEFAULT_PORT = 8360


class _Server(uvicorn.Server):
    """Calls back with the signal (Ctrl-C), before connections are closed, which may take a while."""

    heard: Callable[[int], None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.heard is not None:
            self.heard(sig)
        super().handle_exit(sig, frame)


class Serving:
    """A `stage` on the network: `with serve(entries) as served: print(served.address)`.

    host: the address to listen on
    port: 0 picks a free one
    """

    def __init__(self, stage: Stage, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.stage = stage
        self._socket = _bound(host, port)
        self.port = int(self._socket.getsockname()[1])
        self.guard = Guard(host, self.port)
        shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
        self.origin = f"http://{shown}:{self.port}"
        self.address = f"{self.origin}/?token={self.guard.token}"
        config = uvicorn.Config(
            application(stage, self.guard), log_config=None, access_log=False, ws="websockets-sansio",
            ws_max_size=8 * stage.limits.message_bytes, ws_per_message_deflate=False, ws_ping_interval=20.0, ws_ping_timeout=20.0,
            timeout_graceful_shutdown=2,
            server_header=False, date_header=False, h11_max_incomplete_event_size=32768,
        )  # fmt: skip
        # Do not print closed connections and malformed handshakes to the terminal.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._server = _Server(config)
        self._thread: threading.Thread | None = None

    def run(self, heard: Callable[[int], None] | None = None) -> None:
        """Serves until Ctrl-C; then calls `heard` with the number of the signal, before connections are closed."""
        self._server.heard = heard
        with contextlib.suppress(KeyboardInterrupt), self._socket:
            self._server.run(sockets=[self._socket])

    def over(self) -> bool:
        """Whether it has been told to stop."""
        return self._server.should_exit

    def __enter__(self) -> Serving:
        self._thread = threading.Thread(target=self._in_thread, name="bunraku-stage", daemon=True)
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise BunrakuError("the stage did not start")
            time.sleep(0.01)
        return self

    def _in_thread(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=10.0)
        self._socket.close()


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    out = socket.socket(family, socket.SOCK_STREAM)
    out.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        out.bind((host, port))
    except OSError as problem:
        out.close()
        taken = problem.errno in (errno.EADDRINUSE, errno.EACCES)
        advice = "--port 0 picks a free port" if taken else "127.0.0.1 is this machine alone, 0.0.0.0 all its addresses"
        raise BunrakuError(f"the stage cannot use {host}:{port}: {problem.strerror}\n  advice: {advice}") from None
    out.listen(64)
    return out


def serve(
    entries: Sequence[Entry], *, host: str = "127.0.0.1", port: int = 0, opener: Opener | None = None,
    exporters: Mapping[str, Exporter] | None = None, fps: float = 60.0, limits: StageLimits = StageLimits(),
) -> Serving:  # fmt: skip
    """A stage served in a thread, for notebooks, scripts and tests; a context manager.

    entries: the entries that the page lists
    host, port: where it listens; port 0 picks a free one
    opener: turns a dropped file into entries
    exporters: functions that write an entry to a path, by suffix
    fps: samples per second of live entries
    limits: limits on what visitors may send

    Raises BunrakuError if the port cannot be used.
    """
    return Serving(Stage(entries, opener=opener, exporters=exporters, fps=fps, limits=limits), host=host, port=port)


def play(
    entries: Sequence[Entry], *, host: str = "127.0.0.1", port: int = DEFAULT_PORT, opener: Opener | None = None,
    exporters: Mapping[str, Exporter] | None = None, browser: bool | None = None, out: Path | None = None,
    console: Console | None = None, heard: Callable[[int], None] | None = None, shelf: Shelf | None = None,
) -> None:  # fmt: skip
    """Opens the stage in the browser, and serves it until Ctrl-C.

    entries: the entries that the page lists
    host, port: where it listens; if the default port is taken, a free one is used
    opener, exporters: as in `serve`
    browser: whether to open a browser; by default if there is a display
    out: the folder for files that are written if there is no display; None writes none
    console: where messages are printed
    heard: called on Ctrl-C with the number of the signal, before connections are closed
    shelf: where takes are kept; None forgets them with the stage

    The address is printed. If a browser would be opened but there is no display, the recorded entries are written to `out`: all as
    show.html, which opens with a double click, and the first that moves as show.mp4 if there is an exporter for "mp4".
    """
    console = console or Console()
    serving = _served(Stage(entries, opener=opener, exporters=exporters, shelf=shelf), host, port)
    seen = has_display() if browser is None else browser
    console.print(f"The stage is at  {serving.address}", soft_wrap=True, highlight=False)
    if host in ("0.0.0.0", "::"):
        console.print(
            "It listens on every network of this machine. Anyone with the whole address can watch and drive, and the "
            f"connection is not encrypted.\nFrom elsewhere:  http://{_own_address()}:{serving.port}/?token={serving.guard.token}",
            soft_wrap=True, highlight=False,
        )  # fmt: skip
    threading.Thread(target=_prepare, args=(serving.stage,), daemon=True).start()
    if seen:
        console.print("Press Ctrl-C to stop.")
        threading.Timer(0.6, webbrowser.open, (serving.address,)).start()
    else:
        _say_no_browser(console, serving, host, "" if browser is False else "There is no display. ")
        if out is not None and browser is None:
            console.print(
                f"Meanwhile {out / 'show.html'} and a video of it are written; --no-browser writes none.", highlight=False
            )
            threading.Thread(target=_write_offline, args=(serving.stage, out, console, serving.over), daemon=True).start()
    serving.run(heard)


def _say_no_browser(console: Console, serving: Serving, host: str, why: str) -> None:
    console.print(f"{why}No browser is opened. The stage is served until Ctrl-C.", highlight=False)
    if host == "127.0.0.1":
        tunnel = f"ssh -L {serving.port}:127.0.0.1:{serving.port} {socket.gethostname()}"
        console.print(f"To see it from another machine:  {tunnel}  and open the address there.", soft_wrap=True, highlight=False)


def _served(stage: Stage, host: str, port: int) -> Serving:
    """A stage served at this port; if that is the default port and taken, at a free one."""
    try:
        return Serving(stage, host=host, port=port)
    except BunrakuError:
        if port != DEFAULT_PORT:
            raise
        return Serving(stage, host=host, port=0)


def has_display() -> bool:
    """Whether a browser window can be shown here."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _prepare(stage: Stage) -> None:
    """Opens the first entry before the page is loaded."""
    with contextlib.suppress(BunrakuError):  # reported to the visitor who opens it
        stage.opened(next(iter(stage.entries)))


def _write_offline(stage: Stage, out: Path, console: Console, over: Callable[[], bool] = lambda: False) -> None:
    """Writes the recorded entries for use without this server: a page with all of them, and the first as a video."""

    def wrote(path: Path, what: str) -> None:
        console.print(f"wrote {path}  {what}", highlight=False, soft_wrap=True)

    try:
        shown = _recorded(stage, console)
        if not shown:
            return
        out.mkdir(parents=True, exist_ok=True)
        with writing(out / "show.html") as temporary:
            temporary.write_bytes(standalone(shown).encode())
        wrote(out / "show.html", "(a double click plays it in any browser)")
        moving = [entry for entry in shown if isinstance(entry.shows, Recorded) and entry.shows.motion.duration > 0.0]
        if "mp4" in stage.exporters and moving:
            stage.exporters["mp4"](moving[0].open(), out / "show.mp4")
            wrote(out / "show.mp4", f"({moving[0].title})")
    except (BunrakuError, OSError) as problem:
        if over():  # Ctrl-C has ended ffmpeg, too
            return
        console.print(str(problem), style="red", highlight=False)
    console.print("The stage is still being served. Press Ctrl-C to stop.", highlight=False)


def _recorded(stage: Stage, console: Console) -> list[Entry]:
    """The recorded entries. One that fails is reported and left out."""
    out = []
    for key, entry in list(stage.entries.items()):
        try:
            thing = stage.opened(key)
        except BunrakuError as problem:
            console.print(f"{entry.title}: {problem}", style="yellow", highlight=False)
            continue
        if isinstance(thing, Recorded):
            out.append(replace(entry, shows=thing))
    return out


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; it only selects the interface
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
