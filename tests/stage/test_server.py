"""The stage over HTTP and websockets: who gets in, what is refused, who drives."""

from __future__ import annotations

import contextlib
import json
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from bunraku.kernels import announce
from bunraku.kernels.apart import Job
from bunraku.stage import Entry, Recorded, Serving, serve, wire
from bunraku.stage.stage_limits import StageLimits
from tests.patience import PATIENCE, until
from tests.stage.conftest import entries
from tests.stage.toys import Failing, recorded

LIVE = "e1"


@pytest.fixture(scope="module")
def impatient() -> Iterator[Serving]:
    """A stage on which a driver who does nothing is silent at once."""
    with serve(entries(), limits=StageLimits(silent_seconds=0.05)) as served:
        yield served


@pytest.fixture
def client(serving: Serving) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=serving.origin, headers={"Origin": serving.origin}, timeout=PATIENCE) as known:
        assert known.get(serving.address).status_code == 200
        yield known


def cookie(serving: Serving) -> str:
    return serving.guard.set_cookie.partition(";")[0]


class Page:
    """A websocket client that counts its messages."""

    def __init__(self, serving: Serving, **headers: str) -> None:
        sent = {"Origin": serving.origin, "Cookie": cookie(serving), **headers}
        address = f"ws://127.0.0.1:{serving.port}/ws"
        connection = connect(
            address, additional_headers={k: v for k, v in sent.items() if v}, compression=None, max_size=None,
            open_timeout=PATIENCE, ping_interval=None,
        )  # fmt: skip
        self.socket: ClientConnection = connection.__enter__()
        self.n = 0
        self.samples: list[bytes] = []

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, kind: str, **fields: Any) -> None:
        self.n += 1
        self.socket.send(json.dumps({"n": self.n, "type": kind, **fields}))

    def hello(self) -> Page:
        self.send("hello", version=wire.PROTOCOL_VERSION)
        self.you = self.hear("welcome")["you"]
        return self

    def join(self, entry: str = LIVE) -> dict[str, Any]:
        self.send("join", entry=entry)
        return self.hear("control")

    def hear(self, kind: str, condition: Callable[[dict[str, Any]], bool] = lambda m: True) -> dict[str, Any]:
        """The next message of a kind; samples on the way are acknowledged and kept."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            message = self.socket.recv(timeout=PATIENCE)
            if isinstance(message, bytes):
                self.keep(message)
            elif (plain := json.loads(message))["type"] == kind and condition(plain):
                return plain  # type: ignore[no-any-return]
        raise AssertionError(f"no {kind}")

    def keep(self, message: bytes) -> None:
        self.samples.append(message)
        self.socket.send(struct.pack("<BI", wire.MessageKind.ACK, struct.unpack_from("<I", message, 4)[0]))

    def sample(self) -> np.ndarray:
        while isinstance(message := self.socket.recv(timeout=PATIENCE), str):
            pass
        self.keep(message)
        return np.frombuffer(message[16 : len(message) - len(message[16:]) % 4], "<f4")

    def closing(self) -> tuple[int, str]:
        """Code and reason with which the stage hangs up."""
        try:
            while True:
                self.socket.recv(timeout=PATIENCE)
        except ConnectionClosed as closed:
            frame = closed.rcvd
        assert frame is not None
        return frame.code, frame.reason


# -- who gets in -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}), ("/?token=guess", {}), ("/api/entries", {}), ("/stage.js", {}), ("/api/entries?token=TOKEN", {}),
        ("/?token=TOKEN", {"Host": "evil.example"}), ("/?token=TOKEN", {"Host": "127.0.0.1:1"}),
        ("/?token=TOKEN", {"Host": ""}),
        ("/api/entries", {"Cookie": "bunraku_stage_PORT=guess"}), ("/api/entries", {"Cookie": "=;;\x01"}),
    ],
)  # fmt: skip
def test_strangers_stay_outside(serving: Serving, path: str, headers: dict[str, str]) -> None:
    filled = {k: v.replace("PORT", str(serving.port)) for k, v in headers.items()}
    reply = httpx.get(serving.origin + path.replace("TOKEN", serving.guard.token), headers=filled, timeout=PATIENCE)
    assert reply.status_code in (400, 403)
    assert "set-cookie" not in reply.headers


def test_the_token_becomes_a_cookie(serving: Serving) -> None:
    with httpx.Client(base_url=serving.origin, timeout=PATIENCE) as visitor:
        first = visitor.get(serving.address)
        assert first.status_code == 200
        assert "HttpOnly" in first.headers["set-cookie"]
        assert "SameSite=Strict" in first.headers["set-cookie"]
        assert serving.guard.token not in first.headers["set-cookie"]
        assert visitor.get("/api/entries").status_code == 200


def test_the_policy_allows_nothing_inline_and_nobody_else(client: httpx.Client, serving: Serving) -> None:
    for path in ("/", "/stage.js", "/api/entries"):
        headers = client.get(path).headers
        policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert policy["style-src"] == "'self'"
        assert policy["connect-src"] == f"'self' ws://127.0.0.1:{serving.port}"
        assert policy["frame-ancestors"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("origin", ["", "http://evil.example", "http://127.0.0.1", "https://127.0.0.1:PORT", "null"])
def test_a_foreign_page_cannot_act(serving: Serving, origin: str) -> None:
    origin = origin.replace("PORT", str(serving.port))
    headers = {"Cookie": cookie(serving), **({"Origin": origin} if origin else {})}
    assert httpx.post(serving.origin + "/api/open", headers=headers, content=b"x", timeout=PATIENCE).status_code == 403
    with pytest.raises(InvalidStatus) as caught:
        Page(serving, Origin=origin)
    assert caught.value.response.status_code == 403


@pytest.mark.parametrize("headers", [{"Cookie": ""}, {"Cookie": "a=b"}, {"Host": "evil.example"}])
def test_a_websocket_needs_cookie_and_host(serving: Serving, headers: dict[str, str]) -> None:
    if "Host" in headers:
        reply = httpx.get(serving.origin + "/ws", headers={**headers, "Cookie": cookie(serving)}, timeout=PATIENCE)
        assert reply.status_code == 403
        return
    with pytest.raises(InvalidStatus) as caught:
        Page(serving, **headers)
    assert caught.value.response.status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/../../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/sources.sha256",
        "/index.html", "/web/stage.js", "/stage.js/../server.py", "/api/meshes/..%2f..%2fserver.py",
        "/api/entries/..%2f..%2fsecret", "/api/entries/%00", "/server.py",
    ],
)  # fmt: skip
def test_no_path_leads_out(client: httpx.Client, path: str, serving: Serving) -> None:
    reply = client.get(httpx.URL(serving.origin, raw_path=path.encode()))
    assert reply.status_code in (400, 404)
    assert "root:" not in reply.text
    assert "import" not in reply.text


def test_it_binds_to_loopback_by_default_and_says_what_all_interfaces_mean() -> None:
    with serve(entries()) as inner:
        assert inner.address.startswith("http://127.0.0.1:")
        assert inner._socket.getsockname()[0] == "127.0.0.1"
    with serve(entries(), host="0.0.0.0") as outer:
        for host, status in (("192.168.1.20", 200), ("evil.example", 403), ("[fe80::1]", 200), ("localhost", 200)):
            address = f"http://127.0.0.1:{outer.port}/?token={outer.guard.token}"
            reply = httpx.get(address, headers={"Host": f"{host}:{outer.port}"}, timeout=PATIENCE)
            assert reply.status_code == status, host


# -- entries -----------------------------------------------------------------------------------------------------


def test_a_recorded_entry_comes_with_its_samples(client: httpx.Client) -> None:
    plain = client.get("/api/entries/e0").json()
    data = client.get("/api/entries/e0/samples").content
    assert not plain["live"]
    sizes = [b["rows"] * b["columns"] * (8 if b["type"] == "f8" else 4) for b in plain["blocks"]]
    assert sum(sizes) == len(data)
    t = np.frombuffer(data, "<f8", plain["blocks"][0]["rows"])
    assert t[0] == 0.0
    assert t[-1] == pytest.approx(2.0)
    assert [t["ghost"] for t in plain["tracks"]] == [False, True]
    assert {s["name"] for s in plain["series"]} >= {"total energy", "constraint error"}


def test_the_page_hears_what_is_compiled_for_an_entry() -> None:
    heard = threading.Event()  # of two messages that wait, only the newer is sent

    def made() -> Recorded:
        job = Job("bunraku.toys", "half", b"", parts=1, expected=4)
        with announce.compiling(job):
            announce.tick(job)
            heard.wait(PATIENCE)
        return recorded()

    with serve([Entry("Slow", made)]) as serving, Page(serving).hello() as page, ThreadPoolExecutor() as beside:
        headers = {"Origin": serving.origin, "Cookie": cookie(serving)}
        reply = beside.submit(httpx.get, f"{serving.origin}/api/entries/e0", headers=headers, timeout=PATIENCE)
        first = page.hear("progress")
        heard.set()
        last = page.hear("progress")
        assert reply.result().status_code == 200
    assert (first["entry"], first["stage"], last["stage"]) == ("e0", "compile", "compile")
    assert (first["done"], last["done"]) == (0.1875, 1.0)
    assert first["text"].startswith("half for this machine, once: 0 s")


def test_an_unknown_entry_is_told_what_there_is(client: httpx.Client) -> None:
    reply = client.get("/api/entries/nothing")
    assert reply.status_code == 404
    assert "e0" in reply.json()["error"]


def bundle(*files: tuple[str, bytes]) -> bytes:
    head = json.dumps([[name, len(data)] for name, data in files]).encode()
    return struct.pack("<I", len(head)) + head + b"".join(data for _, data in files)


def test_a_dropped_file_becomes_an_entry(client: httpx.Client) -> None:
    reply = client.post("/api/open", content=bundle(("a.puppet", b"name: Ada\nname: Bob")))
    assert reply.status_code == 200
    opened = reply.json()["opened"]
    listed = {e["id"]: e for e in client.get("/api/entries").json()["entries"]}
    assert [listed[key]["title"] for key in opened] == ["Ada", "Bob"]
    assert client.get(f"/api/entries/{opened[0]}").status_code == 200


def test_a_bad_file_is_answered_in_the_loaders_words(client: httpx.Client) -> None:
    reply = client.post("/api/open", content=bundle(("../../x/bad.puppet", b"name: Ada\nnoise")))
    assert reply.status_code == 422
    error = reply.json()["error"]
    assert error.startswith("bad.puppet:2:1: expected name\n  2 | noise\n    | ^")
    assert "/tmp" not in error


@pytest.mark.parametrize("body", [b"", b"\0", b"\xff\xff\xff\xff", bundle(("a", b"x"))[:-1], bundle(), b"\x02\0\0\0[]"])
def test_a_malformed_upload_is_refused(client: httpx.Client, body: bytes) -> None:
    assert client.post("/api/open", content=body).status_code == 400


def test_an_upload_that_is_too_large_is_refused_early(client: httpx.Client) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(64):
            yield bytes(2**20)

    with contextlib.suppress(httpx.WriteError):  # the stage may hang up in the middle: as good
        assert client.post("/api/open", content=endless()).status_code == 413
    assert client.get("/api/entries").status_code == 200


def test_exports(client: httpx.Client) -> None:
    reply = client.post("/api/entries/e0/export/npz")
    assert reply.content == b"samples: 101"
    assert reply.headers["content-disposition"] == 'attachment; filename="waving.npz"'
    page = client.post("/api/entries/e0/export/html")
    assert page.headers["content-disposition"].endswith('"waving.html"')
    assert b"stage-data" in page.content
    assert client.post("/api/entries/e0/export/mp4").json() is None
    camera = {"eye": [1, -2.5, 0.5], "target": [0, 0, 1], "field": 0.5}
    assert client.post("/api/entries/e0/export/mp4", json=camera).json() == [[1, -2.5, 0.5], [0, 0, 1], 0.5]
    for wrong in ({"eye": [0, 0, 1]}, {"field": 0}, {"eye": [1, 2]}, {"eye": [1, 2, "x"]}, {"eye": [1, 2, 1e9]}, {"more": 1}):
        assert client.post("/api/entries/e0/export/mp4", json=camera | wrong).status_code == 400
    assert client.post("/api/entries/e0/export/exe").status_code == 422
    assert client.post("/api/entries/e0/export/..%2fx").status_code in (404, 422)
    assert "record a take" in client.post(f"/api/entries/{LIVE}/export/html").json()["error"]


# -- live --------------------------------------------------------------------------------------------------------


def test_a_drag_changes_the_samples(serving: Serving) -> None:
    with Page(serving).hello() as page:
        page.join()
        page.send("reset")
        before = page.sample()
        page.send("pull", figure=0, part="spindle", name="left", to=[-0.4, 0.2, 1.8])
        until(lambda: (now := page.sample())[8] != before[8] and (now == np.float32(-0.4)).any())


def test_one_drives_and_hands_over(serving: Serving) -> None:
    with Page(serving).hello() as first, Page(serving).hello() as second:
        assert first.join()["driver"] == first.you
        assert second.join()["driver"] == first.you
        second.send("reset")
        assert "ask for control" in second.hear("notice")["text"]
        second.send("ask")
        assert first.hear("control", lambda m: m["asking"] != [])["asking"] == [second.you]
        first.send("give", to=second.you)
        assert second.hear("control", lambda m: m["driver"] == second.you)["asking"] == []
        second.send("give", to="")
        first.hear("control", lambda m: m["driver"] is None)
        first.send("ask")
        assert first.hear("control", lambda m: m["driver"] == first.you)["entry"] == LIVE


def test_control_passes_from_a_silent_driver(impatient: Serving) -> None:
    with Page(impatient).hello() as first, Page(impatient).hello() as second:
        first.join()
        second.join()
        second.send("ask")
        second.hear("control", lambda m: m["driver"] == second.you)
        assert f"{second.you} is driving now" in first.hear("notice")["text"]
        first.send("ask")
        first.hear("control", lambda m: m["driver"] == first.you)


def test_who_holds_a_part_is_not_silent(impatient: Serving) -> None:
    with Page(impatient).hello() as first, Page(impatient).hello() as second:
        first.join()
        second.join()
        first.send("pull", figure=0, part="spindle", name="left", to=[-0.4, 0.2, 1.8])
        room = impatient.stage._rooms[LIVE]
        until(lambda: room.run.holding)
        second.send("ask")
        assert second.hear("control", lambda m: m["asking"] != [])["driver"] == first.you
        first.send("release", figure=0, part="spindle", name="left")
        second.hear("control", lambda m: m["driver"] == second.you)


def test_a_recording_ends_when_its_driver_leaves(serving: Serving) -> None:
    with Page(serving).hello() as watcher:
        driver = Page(serving).hello()
        driver.join()
        watcher.join()
        driver.send("record", on=True)
        watcher.hear("state", lambda m: m["recording"])
        for _ in range(5):
            watcher.sample()
        driver.socket.close()
        watcher.hear("control", lambda m: m["driver"] == watcher.you)
        assert watcher.hear("taken")["entry"] in serving.stage.takes


def test_a_sample_says_to_which_visit_it_belongs(serving: Serving) -> None:
    """Samples that were under way when a page joined another entry have another size: it must be able to tell them."""
    size = {}
    with Page(serving).hello() as page:
        for visit, entry in enumerate(("e1", "e2"), 1):
            page.join(entry)
            page.sample()
            assert struct.unpack_from("<H", page.samples[-1], 2) == (visit,)
            size[visit % 2] = len(page.samples[-1])
        assert size[0] != size[1]
        for k in range(60):  # in a hurry: nobody waits for an answer
            page.send("join", entry=("e1", "e2")[k % 2])
        last = 62
        page.samples.clear()
        while not page.samples or struct.unpack_from("<H", page.samples[-1], 2) != (last,):
            page.sample()
        assert [len(s) for s in page.samples] == [size[struct.unpack_from("<H", s, 2)[0] % 2] for s in page.samples]


def test_a_driver_who_vanishes_lets_go(serving: Serving) -> None:
    with Page(serving).hello() as watcher:
        driver = Page(serving).hello()
        driver.join()
        watcher.join()
        watcher.send("ask")
        driver.send("sticks", axes=[1.0, 1.0])
        turn = serving.stage.opened(LIVE).figures[0].index("left_arm_rz")  # type: ignore[union-attr]
        until(lambda: watcher.sample()[turn] != watcher.sample()[turn])
        driver.socket.close()
        watcher.hear("control", lambda m: m["driver"] == watcher.you)
        until(lambda: watcher.sample()[turn] == watcher.sample()[turn])


def test_a_take_is_recorded_trimmed_and_undone(serving: Serving, client: httpx.Client) -> None:
    with Page(serving).hello() as page:
        page.join()
        page.send("reset")
        page.send("record", on=True)
        page.hear("state", lambda m: m["recording"])
        for _ in range(25):
            page.sample()
        page.send("record", on=False)
        key = page.hear("taken")["entry"]
    piece = client.get(f"/api/entries/{key}").json()
    rows = piece["blocks"][0]["rows"]
    assert rows > 20
    edit = lambda **wish: client.post(f"/api/takes/{key}", content=json.dumps(wish))  # noqa: E731
    assert edit(edit="trim", start=0.05, stop=0.15).json() == {"take": {"undo": True, "redo": False}}
    assert client.get(f"/api/entries/{key}").json()["blocks"][0]["rows"] in (10, 11)
    assert edit(edit="trim", start=5, stop=6).status_code == 422
    assert edit(edit="undo").json() == {"take": {"undo": False, "redo": True}}
    assert client.get(f"/api/entries/{key}").json()["blocks"][0]["rows"] == rows
    assert edit(edit="cut").status_code == 400
    assert client.post("/api/takes/e0", content=b'{"edit": "undo"}').status_code == 404


def test_an_input_log_can_be_saved_and_replayed(serving: Serving, client: httpx.Client) -> None:
    with Page(serving).hello() as page:
        page.join()
        page.send("reset")
        page.send("winch", figure=0, string="left", by=-0.05)
        log = until(lambda: text if "winch" in (text := client.get(f"/api/entries/{LIVE}/inputs").text) else "")
        assert [command["type"] for _, command in json.loads(log)["commands"]] == ["winch"]
        assert client.post(f"/api/entries/{LIVE}/inputs", content=log).status_code == 200
        page.hear("state", lambda m: m["replaying"] or True)
        bad = client.post(f"/api/entries/{LIVE}/inputs", content="{}")
        assert bad.status_code == 422
        assert "not an input log" in bad.json()["error"]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("nonsense", wire.CloseCode.MALFORMED), ('{"n": 5, "type": "ask"}', wire.CloseCode.OUT_OF_ORDER),
        ("x" * 9000, wire.CloseCode.TOO_LARGE),
        (b"\x07", wire.CloseCode.MALFORMED), ('{"n": 2, "type": "ask"}', wire.CloseCode.OUT_OF_ORDER),
        ('{"n": 2, "type": "winch", "figure": 0, "string": "left", "by": 1e9}', wire.CloseCode.MALFORMED),
        ('{"n": 2, "type": "join"}', wire.CloseCode.MALFORMED),
        ('{"n": 2, "type": "join", "entry": "e1", "x": 1}', wire.CloseCode.MALFORMED),
    ],
)  # fmt: skip
def test_a_bad_message_gets_a_clear_close(serving: Serving, message: str | bytes, code: int) -> None:
    with Page(serving).hello() as page:
        page.socket.send(message)
        closed, reason = page.closing()
    assert closed == code
    assert reason


def test_a_flood_gets_a_clear_close() -> None:
    with serve(entries(), limits=StageLimits(message_rate=1.0, message_burst=100.0)) as serving, Page(serving).hello() as page:
        page.join()
        with contextlib.suppress(ConnectionClosed):
            for _ in range(3000):
                page.send("sticks", axes=[0.0, 0.0])
        assert page.closing()[0] == wire.CloseCode.TOO_FAST


def test_a_message_larger_than_any_is_cut_off(serving: Serving) -> None:
    with Page(serving).hello() as page:
        page.socket.send(b"x" * 2**20)
        code, _ = page.closing()
        assert code in (1009, wire.CloseCode.TOO_LARGE)


def test_the_stage_can_be_full() -> None:
    with serve([], limits=StageLimits(visitors=1)) as serving, Page(serving).hello(), Page(serving) as second:
        second.send("hello", version=wire.PROTOCOL_VERSION)
        assert second.closing()[0] == wire.CloseCode.FULL


def test_a_room_starts_again_after_everybody_left(serving: Serving) -> None:
    for _ in range(3):
        with Page(serving).hello() as page:
            page.join()
            page.sample()
    until(lambda: all(room.run.over for room in serving.stage._rooms.values()))


def test_a_room_whose_figure_broke_can_be_opened_again() -> None:
    with serve([Entry("breaks", lambda: Failing(ZeroDivisionError("inside")))]) as serving, Page(serving).hello() as page:
        page.join("e0")
        page.send("pull", figure=0, part="spindle", name="left", to=[0.0, 0.0, 0.0])
        assert "ZeroDivisionError" in page.hear("notice")["text"]
        page.send("leave")
        page.join("e0")
        page.sample()
