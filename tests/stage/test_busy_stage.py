"""Stalled uploads and endless orders keep nobody from anything; what orders give is kept within bounds."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from bunraku.errors import BunrakuError
from bunraku.stage import Serving, serve
from bunraku.stage.uploads import UploadLimits, Uploads
from tests.patience import PATIENCE, until
from tests.stage.test_server import bundle, cookie
from tests.stage.unconfined import Here

OPENER = "bunraku.verbs.entries:entries_of"
ENDLESS = b"simulate: marionette22\nduration: 3600\ndt: 0.001\n"
SMALL = b"scene: small\n"
GROWTH = 200 * 2**20  # of the stage's own memory while others work [bytes]


@contextmanager
def visitor(serving: Serving) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=serving.origin, headers={"Origin": serving.origin}, timeout=PATIENCE) as client:
        assert client.get(serving.address).status_code == 200
        yield client


def stalled(serving: Serving) -> socket.socket:
    """An upload that has sent a part of its body and sends no more."""
    end = socket.create_connection(("127.0.0.1", serving.port), timeout=PATIENCE)
    host = serving.origin.removeprefix("http://")
    head = f"POST /api/open HTTP/1.1\r\nHost: {host}\r\nOrigin: {serving.origin}\r\nCookie: {cookie(serving)}\r\n"
    end.sendall(f"{head}Content-Length: 1000000\r\n\r\n".encode() + b"x" * 1000)
    return end


def memory() -> int:
    """Of this process [bytes]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def busy(serving: Serving) -> Iterator[None]:
    """Two uploads stall, two orders run that would take an hour, two more wait for their turn; all are cancelled at the end."""
    with ExitStack() as stack, ThreadPoolExecutor(8) as threads:
        for _ in range(2):
            stack.enter_context(contextlib.closing(stalled(serving)))
        client = stack.enter_context(visitor(serving))
        endless = bundle(*((f"endless{k}.yaml", ENDLESS) for k in range(4)))
        keys = client.post("/api/open", content=endless).json()["opened"]
        assert len(keys) == 4
        asked = [threads.submit(client.get, f"/api/entries/{key}") for key in keys]
        until(lambda: serving.stage.uploads._orders._value == 0)  # two are running
        yield
        assert not [one for one in asked if one.done()]
        for key in keys:
            assert client.post(f"/api/entries/{key}/cancel").status_code == 200
        for one in asked:
            assert one.result().json()["error"].startswith("cancelled")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_small_upload_is_answered_while_others_stall_and_work() -> None:
    with serve([], opener=OPENER) as serving:
        before = memory()
        with busy(serving), visitor(serving) as third:
            reply = third.post("/api/open", content=bundle(("small.yaml", SMALL)))
            assert reply.status_code == 200, reply.text
            assert third.get("/api/entries").status_code == 200
            assert memory() - before < GROWTH


def test_what_orders_give_is_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    order = [("a.yaml", b"simulate: pendulum\nduration: 1\ndt: 0.001\n")]
    with contextlib.closing(Uploads(OPENER)) as uploads:
        monkeypatch.setattr(uploads, "_confined", Here())
        (entry,) = uploads.open(order)
        entry.open()
        size = uploads._results
        assert size > 0
        # One result is kept: too large by itself, too large beside it; the second of two that fit is kept too.
        for limits in (UploadLimits(result=size - 1), UploadLimits(results=2 * size - 1)):
            uploads.limits = limits
            with pytest.raises(BunrakuError, match="and the stage keeps"):
                entry.open()
            assert uploads._results == size
        uploads.limits = UploadLimits(results=2 * size)
        entry.open()
        assert uploads._results == 2 * size
