"""Figures that are pulled in notebooks: a stage behind messages, the widget, and what there is without it."""

from __future__ import annotations

import base64
import gzip
import importlib.util
import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bunraku
from bunraku.errors import MissingExtra
from bunraku.notebook import live_widget, play_figure, player
from bunraku.notebook.comm_server import CommServer, Head
from bunraku.stage.entry import Entry
from bunraku.stage.page_export import framed
from bunraku.stage.stage import Stage
from tests.patience import until
from tests.stage.browser import Browser
from tests.stage.toys import Swinging, puppet, recorded, waving

WIDGET = Path(bunraku.__file__).parent / "notebook" / "live_widget.js"


class Page:
    """Plays the page in a cell: sends messages, keeps answers."""

    def __init__(self, **options: Any) -> None:
        self.heard: list[tuple[Head, bytes]] = []
        entries = [Entry("Swinging", Swinging()), Entry("Waving", recorded)]
        self.stage = Stage(entries)
        self.server = CommServer(self.stage, lambda head, body: self.heard.append((head, body)), **options)
        self._count = 0

    def send(self, kind: str, key: int, body: bytes = b"", *, view: str = "a", **more: Any) -> None:
        self.server.receive({"type": kind, "view": view, "id": key, **more}, body)

    def say(self, key: int, **message: Any) -> None:
        self._count += 1
        self.send("text", key, text=json.dumps({"n": self._count, **message}))

    def wait(self, kind: str, key: int) -> tuple[Head, bytes]:
        """The next message of a kind for a request or socket; those before it are forgotten."""

        def found() -> int:
            kinds = [(head["type"], head["id"]) for head, _ in list(self.heard)]
            return kinds.index((kind, key)) + 1 if (kind, key) in kinds else 0

        k = until(found)
        head, body = self.heard[k - 1]
        del self.heard[:k]
        return head, body

    def join(self, key: int) -> None:
        self.send("open", key)
        self.wait("open", key)
        self.say(key, type="hello", version=1)
        self.say(key, type="join", entry="e0")
        self.wait("bytes", key)


@pytest.fixture
def page() -> Iterator[Page]:
    made = Page()
    yield made
    made.server.close()


def test_requests_are_answered_as_by_a_server(page: Page) -> None:
    page.send("request", 1, method="GET", path="/api/entries")
    head, body = page.wait("answer", 1)
    assert head["status"] == 200
    assert head["view"] == "a"
    assert head["headers"]["content-type"] == "application/json"
    assert [entry["title"] for entry in json.loads(body)["entries"]] == ["Swinging", "Waving"]
    page.send("request", 2, method="GET", path="/api/entries/nobody%27s")
    head, body = page.wait("answer", 2)
    assert head["status"] == 404
    assert "nobody's" in json.loads(body)["error"]
    page.send("request", 3, b'{"edit": "undo"}', method="POST", path="/api/takes/n7")
    assert page.wait("answer", 3)[0]["status"] == 404
    page.send("request", 4, method="GET", path="/api/entries/e1/samples")
    motion = recorded().motion
    np.testing.assert_array_equal(np.frombuffer(page.wait("answer", 4)[1], "<f8", len(motion)), motion.t)


def test_a_string_is_pulled_through_messages(page: Page) -> None:
    figure = puppet()
    page.join(1)
    x = figure.index("left_x")
    to = [float(figure.start[x]) + 0.2, 0.25, 1.8]
    page.say(1, type="pull", figure=0, part="spindle", name="left", to=to)

    def pulled() -> bool:
        _, sample = page.wait("bytes", 1)
        number = struct.unpack_from("<I", sample, 4)[0]
        page.send("bytes", 1, struct.pack("<BI", 1, number))
        return bool(np.frombuffer(sample, "<f4", figure.n_q, 16)[x] == np.float32(to[0]))

    assert until(pulled)


def test_nonsense_is_ignored_or_refused(page: Page) -> None:
    for head in ({}, {"type": "text"}, {"type": "text", "view": "a", "id": 5}, {"type": "open", "view": 1, "id": "x"}, {"type": 3}):
        page.server.receive(head, b"")
    page.send("open", 1)
    page.send("text", 1, text="{not JSON")
    head, _ = page.wait("close", 1)
    assert head["code"] == 4400
    page.join(2)  # others are served all the same


def test_a_view_that_leaves_stops_its_figure() -> None:
    page = Page()
    page.join(1)
    run = page.stage._rooms["e0"].run
    page.server.receive({"type": "leave", "view": "another"}, b"")
    page.wait("bytes", 1)
    assert not run.over
    page.server.receive({"type": "leave", "view": "a"}, b"")
    until(lambda: run.over)
    assert not page.server._sockets
    page.server.close()
    assert not page.server._thread.is_alive()


def test_a_page_that_vanished_is_closed_and_may_come_back() -> None:
    page = Page(patience=0.05)
    page.send("open", 1)
    head, _ = page.wait("close", 1)
    assert head["code"] < 4000  # the page opens another
    assert not page.server._sockets
    page.server.close()


def fake_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1), display=SimpleNamespace(HTML=lambda text: ("HTML", text)))
    monkeypatch.setitem(sys.modules, "IPython", fake)


def test_without_anywidget_there_is_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_notebook(monkeypatch)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    kind, html = puppet().play()
    assert kind == "HTML"
    assert "data:image/png" in html
    assert "bunraku[notebook]" in html
    with pytest.raises(MissingExtra, match=r"bunraku\[notebook\]"):
        live_widget(Swinging(), title="swing")


def test_elsewhere_the_stage_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    monkeypatch.setattr(
        "bunraku.notebook.figure_player.serve_until_stopped", lambda entries, **options: served.append((entries, options))
    )
    pendulum = bunraku.library.named("pendulum")
    assert play_figure(pendulum, bunraku.Scene("hall"), dt=0.01, port=0) is None
    ((entry,), options) = served[0]
    live = entry.open()
    assert (live.figures, live.scene.name, live.dt) == ((pendulum,), "hall", 0.01)
    assert options == {"port": 0}


def test_the_widget() -> None:
    pytest.importorskip("anywidget", reason="pip install 'bunraku[notebook]'")
    widget = live_widget(Swinging(), title="swing", height=300)
    sent: list[tuple[Any, bytes]] = []
    widget.send = lambda head, buffers=None: sent.append((head, bytes(buffers[0]) if buffers else b""))
    (data, _) = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "data:image/png" in data["text/html"]
    state = widget.get_state()
    assert (state["title"], state["height"]) == ("swing", 300)
    assert len(str(state)) < 20_000  # it is stored in notebooks: the page is not part of it
    widget._handle_custom_msg({"type": "page", "view": "v"}, [])
    ((head, page),) = sent
    assert head == {"type": "page", "view": "v"}
    assert gzip.decompress(page).decode() == framed()
    widget._handle_custom_msg({"type": "request", "view": "v", "id": 1, "method": "GET", "path": "/api/entries"}, [])
    until(lambda: len(sent) > 1)
    assert json.loads(sent[1][1])["entries"][0]["title"] == "swing"
    assert widget.takes == []
    widget.close()


# -- in a browser ------------------------------------------------------------------------------------------------


def shown(browser: Browser, folder: Path, body: str, policy: str = "") -> None:
    """Opens a page with this body and looks into its frame."""
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
    (folder / "cell.html").write_text(f"<!doctype html><meta charset=utf-8>{head}<body>{body}</body>")
    browser.pictures(False)
    browser.driver.get((folder / "cell.html").as_uri())
    browser.wait("document.querySelector('iframe')")
    browser.driver.switch_to.frame(0)


def test_the_player_plays_in_a_cell(browser: Browser, tmp_path: Path) -> None:
    motion = waving(puppet())
    shown(browser, tmp_path, player(motion))
    browser.wait("window.bunraku && bunraku.ready && bunraku.time > 0.05")
    browser.js("bunraku.act('play')")
    browser.js("bunraku.seek(1.0)")
    np.testing.assert_allclose(browser.js("bunraku.q()"), motion.q[50], atol=1e-6)
    assert browser.js("document.querySelector('.notice') === null")
    assert browser.console() == []


VS_CODE = (
    "default-src 'none'; script-src https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval' data:; "
    "style-src https://*.vscode-cdn.net 'unsafe-inline'; img-src https://*.vscode-cdn.net https: http: data:; "
    "font-src https://*.vscode-cdn.net https:; connect-src https:; child-src https: data:"
)
"""The strictest policy of its notebooks; modules of widgets are imported from data: here, which needs data: among the scripts."""


def test_the_widget_runs_under_the_policy_of_vs_code(browser: Browser, tmp_path: Path) -> None:
    """A model of a widget that answers with the page, and keeps what the page asks of the kernel."""
    page = base64.b64encode(gzip.compress(framed().encode())).decode()
    module = "data:text/javascript;base64," + base64.b64encode(WIDGET.read_bytes()).decode()
    script = f"""<div id=cell></div><script>
    window.asked = []
    const listeners = []
    const page = Uint8Array.from(atob("{page}"), (c) => c.charCodeAt(0))
    const model = {{
      get: (name) => ({{ title: 'swing', height: 300 }})[name],
      on: (kind, act) => listeners.push(act),
      send: (head) => {{
        asked.push(head)
        if (head.type === 'page') for (const act of listeners) act({{ ...head }}, [new DataView(page.buffer)])
      }},
    }}
    import("{module}").then(({{ default: widget }}) => widget.render({{ model, el: document.getElementById('cell') }}))
    </script>"""
    shown(browser, tmp_path, script, VS_CODE)
    browser.wait("parent.asked.some((head) => head.type === 'request' && head.path === '/api/entries')")
    browser.wait("window.bunraku")
    assert browser.js("document.querySelector('canvas') !== null")
    refused = [line for line in browser.console() if "font" not in line]  # its letters are then those of the system
    assert refused == []
