"""The protocol of the robot's socket: garbage, silence and second clients are refused in words, the owner is served."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, NotFinite
from bunraku.teleop.robot_link import RobotLink
from bunraku.teleop.robot_messages import VERSION, Refused, RobotLinkOptions
from bunraku.teleop.robot_server import RobotServer
from tests.patience import PATIENCE, until

Array = NDArray[np.float64]
PATIENT = RobotLinkOptions(handshake=PATIENCE, silence=PATIENCE, takeover=PATIENCE)
POST = b"POST /targets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 480\r\n\r\n" + b"\x00" * 480


class Recorder:
    """A robot with three motors that is always where it should be."""

    motors = ("hip", "knee", "ankle")
    dt = 0.005
    servos = (np.ones(3), np.ones(3))

    def __init__(self) -> None:
        self.q: Array = np.zeros(3)
        self.steps = 0

    def step(self, targets: Array) -> Array:
        self.steps += 1
        self.q = targets.copy()
        return self.q


@contextmanager
def serving(options: RobotLinkOptions = PATIENT) -> Iterator[RobotServer]:
    with RobotServer(Recorder(), options=options, timeout=PATIENCE) as server:
        yield server


def link_to(server: RobotServer) -> RobotLink:
    return RobotLink(server.address, server.token, timeout=PATIENCE)


def raw(server: RobotServer, data: bytes = b"") -> socket.socket:
    end = socket.create_connection(server.address, timeout=PATIENCE)
    end.sendall(data)
    return end


def hello(server: RobotServer, **fields: Any) -> bytes:
    return json.dumps({"bunraku": "robot", "version": VERSION, "token": server.token, **fields}).encode() + b"\n"


def words(end: socket.socket) -> str:
    """Everything the server says until it closes."""
    said = b""
    while part := end.recv(65536):
        said += part
    return said.decode("utf-8", "replace")


def is_served(server: RobotServer) -> None:
    with link_to(server) as link:
        assert link.step(np.array([0.1, 0.2, 0.3])).tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    "garbage",
    [POST, b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"\x00" * 24, b"{\n", b"[1]\n", b"{" + b"[" * 900 + b"\n",
     b"{}\n", b"{" * 5000, b'{"bunraku": "robot", "version": 1}\n', b"\n", "{ä}\n".encode("latin-1"),
     b"{" * 100 + b"\n" + b"T" * 100_000],
)  # fmt: skip
def test_garbage_is_refused_and_moves_nothing(garbage: bytes) -> None:
    with serving() as server:
        with raw(server, garbage) as end:
            answer = json.loads(words(end))
        assert answer["ok"] is False
        assert "advice" in answer["why"]
        assert server.robot.steps == 0  # type: ignore[attr-defined]
        is_served(server)


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"token": "guess"}, "wrong token"), ({"token": None}, "wrong token"), ({"token": "\ud800"}, "wrong token"),
     ({"version": 2}, "version"), ({"version": "1"}, "version"), ({"bunraku": "stage"}, "not a handshake")],
)  # fmt: skip
def test_strangers_are_refused_in_words(fields: dict[str, Any], why: str) -> None:
    with serving() as server:
        with raw(server, hello(server, **fields)) as end:
            assert why in json.loads(words(end))["why"]
        is_served(server)


def test_the_client_tells_why() -> None:
    with serving() as server, pytest.raises(Refused, match="wrong token"):
        RobotLink(server.address, "guess", timeout=PATIENCE)


def test_silent_clients_do_not_keep_the_owner_out() -> None:
    """They are as many as may wait and more, and their handshake would never end."""
    with serving() as server:
        silent = [raw(server) for _ in range(PATIENT.waiting + 4)]
        is_served(server)
        for end in silent:
            end.close()


def test_silence_instead_of_a_handshake_is_told() -> None:
    with serving(RobotLinkOptions(handshake=0.05)) as server, raw(server) as end:
        assert "no handshake within 0.05 s" in words(end)


def test_half_a_handshake_is_silence() -> None:
    with serving(RobotLinkOptions(handshake=0.05)) as server, raw(server, hello(server)[:20]) as end:
        assert "no handshake within 0.05 s" in words(end)


def test_a_second_client_is_refused_while_the_first_goes_on() -> None:
    with serving() as server, link_to(server) as link:
        with pytest.raises(Refused, match="another client"):
            link_to(server)
        assert link.step(np.ones(3)).tolist() == [1.0, 1.0, 1.0]


def test_when_the_first_leaves_the_next_is_served() -> None:
    with serving() as server:
        is_served(server)
        until(lambda: server._owner is None)
        is_served(server)


def test_a_silent_client_with_the_token_is_replaced() -> None:
    """It shook hands and sends no heartbeat: the next one with the token takes over, and the silent one moves nothing more."""
    with serving(RobotLinkOptions(silence=PATIENCE, takeover=0.0)) as server, raw(server, hello(server)) as silent:
        until(lambda: server._owner is not None)
        with link_to(server) as link:
            link.step(np.ones(3))
            words(silent)  # ends
            assert server.robot.steps == 1  # type: ignore[attr-defined]
            assert link.step(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_a_silent_client_with_the_token_is_let_go() -> None:
    with serving(RobotLinkOptions(handshake=PATIENCE, silence=0.05)) as server, raw(server, hello(server)) as silent:
        assert "no message came for 0.05 s" in words(silent)
        until(lambda: server._owner is None)


def test_heartbeats_keep_a_client_that_plans() -> None:
    """It says nothing for many heartbeats, and is still the owner: a second one is refused, and the robot moves for the first."""
    beats = RobotLinkOptions(handshake=PATIENCE, heartbeat=0.01, silence=PATIENCE, takeover=PATIENCE)
    with serving(beats) as server, link_to(server) as link:
        owner = server._owner
        assert owner is not None
        first = owner.heard
        until(lambda: owner.heard > first)
        later = owner.heard
        until(lambda: owner.heard > later)
        link.step(np.ones(3))
        assert server._owner is owner


@pytest.mark.parametrize(
    ("message", "why"),
    [(POST, "no message begins with b'P'"), (b"T" + np.full(3, np.nan).tobytes(), "not finite"),
     (b"T" + np.full(3, np.inf).tobytes(), "not finite")],
)  # fmt: skip
def test_an_owner_who_sends_garbage_is_refused_in_words(message: bytes, why: str) -> None:
    with serving() as server:
        with raw(server, hello(server) + message) as end:
            assert why in words(end)
        assert server.robot.steps == 0  # type: ignore[attr-defined]
        until(lambda: server._owner is None)
        is_served(server)


@pytest.mark.parametrize("bad", [[0.0], [np.nan] * 3, [[0.0] * 3]])
def test_the_client_refuses_targets_that_make_no_sense(bad: Any) -> None:
    with serving() as server, link_to(server) as link:
        with pytest.raises(NotFinite, match="3 finite targets"):
            link.step(np.array(bad))
        link.step(np.zeros(3))


def test_what_the_robot_says_arrives() -> None:
    class Broken(Recorder):
        def step(self, targets: Array) -> Array:
            raise BunrakuError("the knee is broken")

    with RobotServer(Broken(), options=PATIENT) as server, link_to(server) as link:
        for _ in range(2):
            with pytest.raises(Refused, match="the knee is broken"):
                link.step(np.zeros(3))


def test_what_is_no_robot() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, socket.create_connection(other.getsockname()) as early:
        end, _ = other.accept()
        early.close()
        end.close()

        def page() -> None:
            client, _ = other.accept()
            with client:
                client.recv(100)
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        answering = threading.Thread(target=page)
        answering.start()
        with pytest.raises(BunrakuError, match="not a robot"):
            RobotLink(other.getsockname(), "any", timeout=PATIENCE)
        answering.join()
