"""LiveWidget: a live figure in a cell of a notebook. This module needs anywidget; `play_figure` imports it."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from bunraku.motion import Motion
from bunraku.notebook.comm_server import CommServer
from bunraku.stage import Entry, Live
from bunraku.stage.page_export import framed
from bunraku.stage.stage import Stage
from bunraku.stage.stage_limits import StageLimits

Base: Any = anywidget.AnyWidget


@cache
def _page() -> bytes:
    return gzip.compress(framed().encode(), 9, mtime=0)


class LiveWidget(Base):  # type: ignore[misc]
    """The page of the stage with one live entry, whose strings the mouse pulls. Messages go through the widget: it opens no port.

    While a cell is running, the kernel hears no mouse; the figure goes on moving.
    """

    _esm = Path(__file__).with_suffix(".js").read_text("utf-8")
    title = traitlets.Unicode("bunraku").tag(sync=True)
    height = traitlets.Int(460).tag(sync=True)

    def __init__(self, live: Live, *, title: str, still: str, height: int = 460, fps: float = 30.0) -> None:
        """live: what is shown and pulled
        title: its name
        still: HTML that is shown where there are no widgets
        height: of the cell [pixels]
        fps: samples per second
        """
        super().__init__(title=title, height=height)
        self._still = still
        # What the mouse did while a cell was running arrives at once.
        limits = StageLimits(message_rate=1e9, message_burst=1e9)
        self._stage = Stage([Entry(title, live)], fps=fps, limits=limits)
        self._server = CommServer(self._stage, self._tell)
        self.on_msg(self._heard)

    @property
    def takes(self) -> list[Motion]:
        """What was recorded with the button of the page, oldest first."""
        return [take.piece.motion for take in self._stage.takes.values()]

    def close(self) -> None:
        """Stops the figure and removes the widget."""
        self._server.close()
        super().close()

    def _tell(self, head: dict[str, Any], body: bytes) -> None:
        self.send(head, [body] if body else None)

    def _heard(self, widget: Any, head: dict[str, Any], buffers: list[Any]) -> None:
        if head.get("type") == "page":
            self._tell({"type": "page", "view": head.get("view")}, _page())
        else:
            self._server.receive(head, bytes(buffers[0]) if buffers else b"")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """As of any widget, with a still picture for programs without widgets."""
        shown = super()._repr_mimebundle_(**kwargs)
        data = shown[0] if isinstance(shown, tuple) else shown
        if data is not None:
            data["text/html"] = self._still
        return shown
