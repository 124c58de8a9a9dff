"""A slow or vanished page never slows the simulation or grows memory; coming and going leaks nothing."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import struct
import threading
from pathlib import Path

import pytest

from bunraku.stage import Entry, serve, wire
from bunraku.stage.room import Room, Visitor
from bunraku.stage.stage_limits import StageLimits
from tests.patience import until
from tests.stage.test_server import LIVE, Page
from tests.stage.toys import Swinging


def test_a_page_that_never_answers_gets_a_few_samples_and_no_more() -> None:
    async def act() -> None:
        room = Room("e", Swinging(), on_take=lambda live, samples: None, fps=200.0)
        slow, quick = Visitor(), Visitor()
        room.enter(slow)
        room.enter(quick)
        got = {"slow": 0, "quick": 0}
        while got["quick"] <= 3 * StageLimits.samples_in_flight:
            await asyncio.sleep(0.002)
            got["slow"] += slow.sample() is not None
            data = quick.sample()
            if data is not None:
                got["quick"] += 1
                quick.acknowledge(struct.unpack_from("<I", data, 4)[0])
        room.run.stop()
        assert got["slow"] == StageLimits.samples_in_flight
        # When it comes back, it gets the newest, not what it has missed.
        slow.acknowledge(slow._sent)
        data = slow.sample()
        assert data is not None
        assert room.run.latest is not None
        assert data == room.run.latest.data

    asyncio.run(act())


def test_what_waits_for_a_page_does_not_grow() -> None:
    async def act() -> None:
        visitor = Visitor()
        for k in range(10_000):
            visitor.tell({"type": "state", "k": k})
            visitor.notice(f"notice {k}")
        waiting = visitor.messages()
        assert len(waiting) <= 64
        assert {"type": "state", "k": 9999} in waiting

    asyncio.run(act())


def test_acknowledging_what_was_never_sent_counts_for_nothing() -> None:
    async def act() -> None:
        visitor = Visitor()
        visitor.acknowledge(4_000_000_000)
        assert visitor._acked == 0

    asyncio.run(act())


def test_a_page_that_stops_reading_slows_nobody() -> None:
    with serve([Entry("x", Swinging), Entry("y", Swinging)], fps=60.0) as serving, Page(serving).hello() as good:
        good.join()
        # A raw socket with a tiny buffer that joins and never reads again.
        stuck = Page(serving)
        stuck.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        stuck.hello()
        stuck.send("join", entry=LIVE)
        (visitor,) = (v for v in serving.stage.visitors if v.name == stuck.you)
        until(lambda: good.sample().size and visitor._in_flight() == StageLimits.samples_in_flight)
        for _ in range(60):
            good.sample()
        assert visitor._in_flight() == StageLimits.samples_in_flight
        stuck.socket.socket.shutdown(socket.SHUT_RDWR)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts files in /proc")
def test_a_thousand_visits_leak_nothing() -> None:
    """Raw sockets: a handshake, a hello, a join, and gone, half of them without a goodbye."""
    with serve([Entry("x", Swinging), Entry("y", Swinging)]) as serving:
        with Page(serving).hello() as page:
            page.join()

        def visit(k: int) -> None:
            with socket.create_connection(("127.0.0.1", serving.port)) as s:
                cookie = serving.guard.set_cookie.partition(";")[0]
                s.sendall(
                    f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{serving.port}\r\nOrigin: {serving.origin}\r\nCookie: {cookie}\r\n"
                    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                    "Sec-WebSocket-Version: 13\r\n\r\n".encode()
                )
                assert b"101" in s.recv(4096)
                s.sendall(frame({"n": 1, "type": "hello", "version": wire.PROTOCOL_VERSION}))
                if k % 4 == 0:
                    s.sendall(frame({"n": 2, "type": "join", "entry": LIVE}))
                s.recv(4096)
                if k % 2:
                    s.sendall(b"\x88\x80\0\0\0\0")

        for k in range(50):
            visit(k)
        until(lambda: not serving.stage.visitors)
        files, threads, objects = open_files(), threading.active_count(), count()
        for k in range(1000):
            visit(k)
        until(lambda: not serving.stage.visitors)
        until(lambda: open_files() <= files + 2)
        # A pool of workers may grow by a few threads on a busy machine, but not with the visits.
        until(lambda: threading.active_count() <= threads + 8)
        until(lambda: count() <= objects + 2)


def frame(message: dict[str, object]) -> bytes:
    data = json.dumps(message).encode()
    assert len(data) < 126
    return bytes([0x81, 0x80 | len(data), 0, 0, 0, 0]) + data


def count() -> int:
    gc.collect()
    # By its type: a proxy whose object is gone, which may be among them, cannot be asked.
    return sum(issubclass(type(o), Visitor | Room) for o in gc.get_objects())
